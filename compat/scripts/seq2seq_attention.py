"""An encoder and a decoder with attention that turn words around, on words of the Zen of Python (PyTorch 0.3)."""
from __future__ import print_function

import codecs
import contextlib
import io
import random
import re

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import optim
from torch.autograd import Variable

with contextlib.redirect_stdout(io.StringIO()):
    import this

random.seed(3)
torch.manual_seed(3)
SOS_token, EOS_token, MAX_LENGTH = 0, 1, 8
use_cuda = torch.cuda.is_available()

text = codecs.decode(this.s, 'rot13').lower()
words = sorted(w for w in set(re.findall('[a-z]+', text)) if 2 < len(w) < MAX_LENGTH)
letters = ['<sos>', '<eos>'] + sorted(set(''.join(words)))


def variable_from_word(word):
    result = Variable(torch.LongTensor([letters.index(c) for c in word] + [EOS_token]).view(-1, 1))
    return result.cuda() if use_cuda else result


def variable_from_index(index):
    result = Variable(torch.LongTensor([[index]]))
    return result.cuda() if use_cuda else result


class EncoderRNN(nn.Module):
    def __init__(self, input_size, hidden_size):
        super(EncoderRNN, self).__init__()
        self.hidden_size = hidden_size
        self.embedding = nn.Embedding(input_size, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)

    def forward(self, input, hidden):
        embedded = self.embedding(input).view(1, 1, -1)
        return self.gru(embedded, hidden)

    def initHidden(self):
        result = Variable(torch.zeros(1, 1, self.hidden_size))
        return result.cuda() if use_cuda else result


class AttnDecoderRNN(nn.Module):
    def __init__(self, hidden_size, output_size, max_length=MAX_LENGTH):
        super(AttnDecoderRNN, self).__init__()
        self.embedding = nn.Embedding(output_size, hidden_size)
        self.attn = nn.Linear(hidden_size * 2, max_length)
        self.attn_combine = nn.Linear(hidden_size * 2, hidden_size)
        self.gru = nn.GRU(hidden_size, hidden_size)
        self.out = nn.Linear(hidden_size, output_size)

    def forward(self, input, hidden, encoder_outputs):
        embedded = self.embedding(input).view(1, 1, -1)
        attn_weights = F.softmax(self.attn(torch.cat((embedded[0], hidden[0]), 1)), dim=1)
        attn_applied = torch.bmm(attn_weights.unsqueeze(0), encoder_outputs.unsqueeze(0))
        output = torch.cat((embedded[0], attn_applied[0]), 1)
        output = F.relu(self.attn_combine(output).unsqueeze(0))
        output, hidden = self.gru(output, hidden)
        return F.log_softmax(self.out(output[0]), dim=1), hidden, attn_weights


encoder, decoder = EncoderRNN(len(letters), 24), AttnDecoderRNN(24, len(letters))
if use_cuda:
    encoder, decoder = encoder.cuda(), decoder.cuda()
encoder_optimizer = optim.SGD(encoder.parameters(), lr=0.05)
decoder_optimizer = optim.SGD(decoder.parameters(), lr=0.05)
criterion = nn.NLLLoss()


def encode(input_variable):
    hidden = encoder.initHidden()
    encoder_outputs = Variable(torch.zeros(MAX_LENGTH, encoder.hidden_size))
    encoder_outputs = encoder_outputs.cuda() if use_cuda else encoder_outputs
    for ei in range(input_variable.size()[0]):
        output, hidden = encoder(input_variable[ei], hidden)
        encoder_outputs[ei] = output[0][0]
    return encoder_outputs, hidden


def train(input_variable, target_variable, teacher_forcing):
    encoder_optimizer.zero_grad()
    decoder_optimizer.zero_grad()
    encoder_outputs, hidden = encode(input_variable)
    decoder_input = variable_from_index(SOS_token)
    loss = 0
    target_length = target_variable.size()[0]
    for di in range(target_length):
        output, hidden, attention = decoder(decoder_input, hidden, encoder_outputs)
        loss += criterion(output, target_variable[di])
        if teacher_forcing:
            decoder_input = target_variable[di]
        else:
            topv, topi = output.data.topk(1)
            ni = int(topi[0][0])
            decoder_input = variable_from_index(ni)
            if ni == EOS_token:
                break
    loss.backward()
    encoder_optimizer.step()
    decoder_optimizer.step()
    return loss.data[0] / target_length


pairs = [(variable_from_word(w), variable_from_word(w[::-1])) for w in words]
for epoch in range(1, 7):
    random.shuffle(pairs)
    total = 0
    for source, target in pairs:
        total += train(source, target, random.random() < 0.5)
    print('epoch {} loss: {:.4f}'.format(epoch, total / len(pairs)))

total, right, count = 0, 0, 0
for source, target in pairs:
    encoder_outputs, hidden = encode(source)
    decoder_input = variable_from_index(SOS_token)
    for di in range(target.size()[0]):
        output, hidden, attention = decoder(decoder_input, hidden, encoder_outputs)
        total += criterion(output, target[di]).data[0]
        right += int(output.data.max(1)[1][0]) == int(target.data[di][0])
        count += 1
        decoder_input = target[di]
print('final loss: {:.6f} accuracy: {:.4f}'.format(total / count, right / float(count)))
