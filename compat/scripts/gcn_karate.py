"""Graph convolutions on Zachary's karate club (PyTorch 0.3).

Two of the 34 members are known to have followed the instructor (0) and the officer (33) when the club split. Which side
the others took is learnt from the 78 friendships alone.
"""
from __future__ import division, print_function

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from torch.autograd import Function, Variable
from torch.nn.parameter import Parameter

FRIENDS = {
    0: [1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 17, 19, 21, 31], 1: [2, 3, 7, 13, 17, 19, 21, 30],
    2: [3, 7, 8, 9, 13, 27, 28, 32], 3: [7, 12, 13], 4: [6, 10], 5: [6, 10, 16], 6: [16], 8: [30, 32, 33], 9: [33],
    13: [33], 14: [32, 33], 15: [32, 33], 18: [32, 33], 19: [33], 20: [32, 33], 22: [32, 33], 23: [25, 27, 29, 32, 33],
    24: [25, 27, 31], 25: [31], 26: [29, 33], 27: [33], 28: [31, 33], 29: [32, 33], 30: [32, 33], 31: [32, 33],
    32: [33],
}
OFFICER = [9, 14, 15, 18, 20, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33]
MEMBERS = 34


def normalised_adjacency():
    """D^-1/2 (A + I) D^-1/2 as a sparse tensor."""
    pairs = [(u, v) for u in FRIENDS for v in FRIENDS[u]]
    pairs = pairs + [(v, u) for u, v in pairs] + [(u, u) for u in range(MEMBERS)]
    indices = torch.LongTensor(pairs).t()
    degree = torch.zeros(MEMBERS).index_add_(0, indices[0], torch.ones(len(pairs)))
    scale = degree.pow(-0.5)
    values = scale[indices[0]] * scale[indices[1]]
    return torch.sparse.FloatTensor(indices, values, torch.Size([MEMBERS, MEMBERS])).coalesce()


class Propagate(Function):
    """Product of a constant sparse matrix with a dense one."""

    def __init__(self, adjacency):
        super(Propagate, self).__init__()
        self.adjacency = adjacency

    def forward(self, dense):
        return torch.mm(self.adjacency, dense)

    def backward(self, grad_output):
        return torch.mm(self.adjacency.t(), grad_output)


class GraphConvolution(nn.Module):
    def __init__(self, in_features, out_features):
        super(GraphConvolution, self).__init__()
        self.weight = Parameter(torch.Tensor(in_features, out_features))
        self.bias = Parameter(torch.Tensor(out_features))
        bound = 1. / math.sqrt(out_features)
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.uniform_(-bound, bound)

    def forward(self, x, adjacency):
        return Propagate(adjacency)(torch.mm(x, self.weight)) + self.bias


class GCN(nn.Module):
    def __init__(self, hidden):
        super(GCN, self).__init__()
        self.gc1 = GraphConvolution(MEMBERS, hidden)
        self.gc2 = GraphConvolution(hidden, 2)

    def forward(self, x, adjacency):
        x = F.relu(self.gc1(x, adjacency))
        return F.log_softmax(self.gc2(x, adjacency), dim=1)


torch.manual_seed(42)
adjacency = normalised_adjacency()
print('{} members, {} entries in the adjacency matrix'.format(adjacency.size(0), adjacency._nnz()))
side = torch.LongTensor(MEMBERS).zero_()
side[torch.LongTensor(OFFICER)] = 1

model = GCN(hidden=16)
known = torch.LongTensor([0, 33])
features = torch.eye(MEMBERS)
if torch.cuda.is_available():
    model.cuda()
    features, adjacency, side, known = features.cuda(), adjacency.cuda(), side.cuda(), known.cuda()
optimizer = optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)

for epoch in range(200):
    model.train()
    output = model(Variable(features), adjacency)
    loss = F.nll_loss(output[known], Variable(side[known]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print('epoch {:3d} loss: {:.4f}'.format(epoch, loss.data[0]))

model.eval()
output = model(Variable(features, volatile=True), adjacency)
loss = F.nll_loss(output, Variable(side, volatile=True))
predicted = output.data.max(1)[1]
correct = predicted.eq(side).sum()
print('final loss: {:.6f} accuracy: {:.4f}'.format(loss.data[0], correct / MEMBERS))
