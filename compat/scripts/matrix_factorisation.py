"""Which of the Southern Women came to which event? Matrix factorisation with sparse gradients (PyTorch 0.3)."""
from __future__ import print_function

import networkx
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Variable

torch.manual_seed(7)

graph = networkx.davis_southern_women_graph()
women, events = sorted(graph.graph['top']), sorted(graph.graph['bottom'])
cells = torch.LongTensor([[i, j] for i in range(len(women)) for j in range(len(events))])
attended = torch.FloatTensor([float(graph.has_edge(w, e)) for w in women for e in events])
order = torch.randperm(len(cells))
train, test = order[:200], order[200:]


class Factorisation(nn.Module):
    def __init__(self, rows, columns, rank):
        super(Factorisation, self).__init__()
        self.row = nn.Embedding(rows, rank, sparse=True)
        self.column = nn.Embedding(columns, rank, sparse=True)
        self.row_bias = nn.Embedding(rows, 1, sparse=True)
        self.column_bias = nn.Embedding(columns, 1, sparse=True)
        for embedding in (self.row, self.column):
            embedding.weight.data.mul_(0.1)
        for embedding in (self.row_bias, self.column_bias):
            embedding.weight.data.zero_()

    def forward(self, i, j):
        product = (self.row(i) * self.column(j)).sum(1)
        return product + self.row_bias(i).squeeze(1) + self.column_bias(j).squeeze(1)


model = Factorisation(len(women), len(events), 4)
factors = optim.SparseAdam([model.row.weight, model.column.weight], lr=0.02)
biases = optim.SGD([model.row_bias.weight, model.column_bias.weight], lr=0.1)


def score(part, **flags):
    i, j = Variable(cells[part][:, 0], **flags), Variable(cells[part][:, 1], **flags)
    return model(i, j), Variable(attended[part], **flags)


for epoch in range(1, 26):
    total = 0
    for start in range(0, len(train), 20):
        output, target = score(train[start:start + 20])
        loss = F.binary_cross_entropy_with_logits(output, target)
        factors.zero_grad()
        biases.zero_grad()
        loss.backward()
        factors.step()
        biases.step()
        total += loss.data[0]
    if epoch % 5 == 0:
        print('epoch {:2d} loss: {:.4f}'.format(epoch, total * 20 / len(train)))

output, target = score(test, volatile=True)
loss = F.binary_cross_entropy_with_logits(output, target)
correct = (output.data > 0).float().eq(target.data).sum()
print('final loss: {:.6f} accuracy: {:.4f}'.format(loss.data[0], float(correct) / len(test)))
