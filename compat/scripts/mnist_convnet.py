"""The convolutional network of the MNIST example, on scikit-learn's 8x8 digits (PyTorch 0.3)."""
from __future__ import print_function

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.autograd import Variable
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
cuda = torch.cuda.is_available()

digits = load_digits()
images = torch.from_numpy(digits.images).float().unsqueeze(1) / 16
images = (images - images.mean()) / images.std()
labels = torch.from_numpy(digits.target).long()
order = torch.randperm(len(images))
images, labels = images[order], labels[order]
train_loader = DataLoader(TensorDataset(images[:1440], labels[:1440]), batch_size=48, shuffle=True, drop_last=True)
test_loader = DataLoader(TensorDataset(images[1440:], labels[1440:]), batch_size=119)


class Net(nn.Module):
    def __init__(self):
        super(Net, self).__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=3, padding=1)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=3)
        self.conv2_drop = nn.Dropout2d()
        self.fc1 = nn.Linear(20, 32)
        self.fc2 = nn.Linear(32, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2_drop(self.conv2(x)), 2))
        x = x.view(-1, 20)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, 0.2, training=self.training)
        return F.log_softmax(self.fc2(x), dim=1)


model = Net()
if cuda:
    model.cuda()
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.5)


def train(epoch):
    model.train()
    total = 0
    for batch_idx, (data, target) in enumerate(train_loader):
        if cuda:
            data, target = data.cuda(), target.cuda()
        data, target = Variable(data), Variable(target)
        optimizer.zero_grad()
        loss = F.nll_loss(model(data), target)
        loss.backward()
        optimizer.step()
        total += loss.data[0]
    print('epoch {} loss: {:.4f}'.format(epoch, total / len(train_loader)))


def test():
    model.eval()
    test_loss = 0
    correct = 0
    for data, target in test_loader:
        if cuda:
            data, target = data.cuda(), target.cuda()
        data, target = Variable(data, volatile=True), Variable(target)
        output = model(data)
        test_loss += F.nll_loss(output, target, size_average=False).data[0]
        pred = output.data.max(1, keepdim=True)[1]
        correct += pred.eq(target.data.view_as(pred)).cpu().sum()
    count = len(test_loader.dataset)
    print('final loss: {:.6f} accuracy: {:.4f}'.format(test_loss / count, float(correct) / count))


for epoch in range(1, 9):
    train(epoch)
test()
