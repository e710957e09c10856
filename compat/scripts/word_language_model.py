"""A word language model with dropout, truncated backpropagation and annealing, on the Zen of Python (PyTorch 0.3)."""
from __future__ import print_function

import codecs
import contextlib
import io
import math

import torch
import torch.nn as nn
from torch.autograd import Variable

with contextlib.redirect_stdout(io.StringIO()):
    import this

torch.manual_seed(1111)


class Dictionary(object):
    def __init__(self):
        self.word2idx = {}
        self.idx2word = []

    def add_word(self, word):
        if word not in self.word2idx:
            self.idx2word.append(word)
            self.word2idx[word] = len(self.idx2word) - 1
        return self.word2idx[word]


dictionary = Dictionary()
lines = codecs.decode(this.s, 'rot13').lower().replace('.', ' .').replace(',', ' ,').splitlines()
ids = torch.LongTensor([dictionary.add_word(w) for line in lines for w in line.split() + ['<eos>']])


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data.narrow(0, 0, nbatch * bsz).view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.2):
        super(RNNModel, self).__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        self.init_weights()
        self.nhid, self.nlayers = nhid, nlayers

    def init_weights(self):
        self.encoder.weight.data.uniform_(-0.1, 0.1)
        self.decoder.bias.data.fill_(0)
        self.decoder.weight.data.uniform_(-0.1, 0.1)

    def forward(self, input, hidden):
        emb = self.drop(self.encoder(input))
        output, hidden = self.rnn(emb, hidden)
        output = self.drop(output)
        decoded = self.decoder(output.view(output.size(0) * output.size(1), output.size(2)))
        return decoded.view(output.size(0), output.size(1), decoded.size(1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters()).data
        return (Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()),
                Variable(weight.new(self.nlayers, bsz, self.nhid).zero_()))


def repackage_hidden(h):
    return tuple(Variable(v.data) for v in h)


def get_batch(source, i, evaluation=False):
    seq_len = min(bptt, len(source) - 1 - i)
    data = Variable(source[i:i + seq_len], volatile=evaluation)
    target = Variable(source[i + 1:i + 1 + seq_len].view(-1))
    return data, target


bptt, lr, clip = 7, 5.0, 0.25
train_data = batchify(ids, 4)
ntokens = len(dictionary.idx2word)
model = RNNModel(ntokens, 24, 32, 2)
criterion = nn.CrossEntropyLoss()


def evaluate(data_source):
    model.eval()
    total_loss, correct = 0, 0
    hidden = model.init_hidden(4)
    for i in range(0, data_source.size(0) - 1, bptt):
        data, targets = get_batch(data_source, i, evaluation=True)
        output, hidden = model(data, hidden)
        output_flat = output.view(-1, ntokens)
        total_loss += len(data) * criterion(output_flat, targets).data[0]
        correct += float(output_flat.data.max(1)[1].eq(targets.data).sum())
        hidden = repackage_hidden(hidden)
    return total_loss / (len(data_source) - 1), correct / (4 * (len(data_source) - 1))


for epoch in range(1, 26):
    model.train()
    total_loss = 0
    hidden = model.init_hidden(4)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        hidden = repackage_hidden(hidden)
        model.zero_grad()
        output, hidden = model(data, hidden)
        loss = criterion(output.view(-1, ntokens), targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm(model.parameters(), clip)
        for p in model.parameters():
            p.data.add_(-lr, p.grad.data)
        total_loss += len(data) * loss.data[0]
    average = total_loss / (len(train_data) - 1)
    if epoch % 5 == 0:
        print('epoch {:2d} ppl {:8.2f} loss: {:.4f}'.format(epoch, math.exp(average), average))
    if epoch % 10 == 0:
        lr /= 2.0

print('final loss: {:.6f} accuracy: {:.4f}'.format(*evaluate(train_data)))
