"""A small network on scikit-learn's handwritten digits (PyTorch 0.3)."""
from __future__ import print_function

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)

digits = load_digits()
images = torch.from_numpy(digits.data).float() / 16
labels = torch.from_numpy(digits.target).long()
order = torch.randperm(len(images))
images, labels = images[order], labels[order]
train_loader = DataLoader(TensorDataset(images[:1440], labels[:1440]), batch_size=64, shuffle=True)
test_loader = DataLoader(TensorDataset(images[1440:], labels[1440:]), batch_size=100)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.fc1 = nn.Linear(64, 48)
        self.fc2 = nn.Linear(48, 10)

    def forward(self, x):
        x = F.relu(self.fc1(x))
        return F.log_softmax(self.fc2(x), dim=1)


model = Net()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def train(epoch):
    model.train()
    total = 0
    for data, target in train_loader:
        data, target = Variable(data), Variable(target)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.data[0] * len(data)
    print('epoch {:2d} train loss: {:.4f}'.format(epoch, total / len(train_loader.dataset)))


def test():
    model.eval()
    total = 0
    correct = 0
    for data, target in test_loader:
        data, target = Variable(data, volatile=True), Variable(target)
        output = model(data)
        total += F.nll_loss(output, target, size_average=False).data[0]
        predicted = output.data.max(1, keepdim=True)[1]
        correct += predicted.eq(target.data.view_as(predicted)).cpu().sum()
    return total / len(test_loader.dataset), correct / float(len(test_loader.dataset))


for epoch in range(1, 16):
    train(epoch)
print('final loss: {:.6f} accuracy: {:.4f}'.format(*test()))
