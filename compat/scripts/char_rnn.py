"""A character model of the Zen of Python with an LSTM and truncated backpropagation (PyTorch 0.4)."""
import codecs
import contextlib
import io

import torch
import torch.nn as nn
import torch.optim as optim

with contextlib.redirect_stdout(io.StringIO()):
    import this

torch.manual_seed(0)
device = torch.device('cuda' if torch.cuda.is_available() else 'cpu')

text = codecs.decode(this.s, 'rot13')
alphabet = sorted(set(text))
codes = torch.tensor([alphabet.index(c) for c in text], device=device)

BATCH, STEPS, EPOCHS = 8, 20, 30
columns = len(codes) // BATCH
data = codes[:columns * BATCH].view(BATCH, columns).t().contiguous()


class CharRNN(nn.Module):
    def __init__(self, symbols, hidden):
        super(CharRNN, self).__init__()
        self.embedding = nn.Embedding(symbols, 16)
        self.lstm = nn.LSTM(16, hidden)
        self.decoder = nn.Linear(hidden, symbols)

    def forward(self, x, state=None):
        output, state = self.lstm(self.embedding(x), state)
        return self.decoder(output.view(-1, output.size(2))), state


def chunks():
    for start in range(0, columns - 1, STEPS):
        stop = min(start + STEPS, columns - 1)
        yield data[start:stop], data[start + 1:stop + 1].contiguous().view(-1)


model = CharRNN(len(alphabet), 64).to(device)
criterion = nn.CrossEntropyLoss(size_average=False)
optimizer = optim.Adam(model.parameters(), lr=0.004)

for epoch in range(1, EPOCHS + 1):
    state, total = None, 0
    for x, target in chunks():
        output, state = model(x, state)
        state = tuple(s.detach() for s in state)
        loss = criterion(output, target) / target.size(0)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        optimizer.step()
        total += float(loss) * target.size(0)
    if epoch % 5 == 0:
        print('epoch {:2d} loss: {:.4f}'.format(epoch, total / (BATCH * (columns - 1))))

state, total, correct = None, 0, 0
with torch.no_grad():
    for x, target in chunks():
        output, state = model(x, state)
        total += criterion(output, target).item()
        correct += (output.argmax(dim=1) == target).sum().item()
count = BATCH * (columns - 1)
print('final loss: {:.6f} accuracy: {:.4f}'.format(total / count, correct / count))
