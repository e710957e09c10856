"""Super-resolution by sub-pixel convolution: handwritten digits from 4x4 to 8x8 (PyTorch 0.4)."""
from __future__ import print_function

from math import log10

import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.nn.init as init
import torch.optim as optim
from sklearn.datasets import load_digits
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(123)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


class DigitPairs(Dataset):
    """A small image and the large one that it was made of."""

    def __init__(self, images):
        super(DigitPairs, self).__init__()
        self.images = images

    def __getitem__(self, index):
        target = self.images[index]
        return F.avg_pool2d(target.unsqueeze(0), 2).squeeze(0), target

    def __len__(self):
        return len(self.images)


class Net(nn.Module):
    def __init__(self, upscale_factor):
        super(Net, self).__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 32, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(32, 16, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(16, upscale_factor ** 2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        self._initialize_weights()

    def forward(self, x):
        x = self.relu(self.conv1(x))
        x = self.relu(self.conv2(x))
        return self.pixel_shuffle(self.conv3(x))

    def _initialize_weights(self):
        init.orthogonal_(self.conv1.weight, init.calculate_gain('relu'))
        init.orthogonal_(self.conv2.weight, init.calculate_gain('relu'))
        init.orthogonal_(self.conv3.weight)


images = torch.from_numpy(load_digits().images).float().unsqueeze(1) / 16
training_data_loader = DataLoader(DigitPairs(images[:640]), batch_size=16, shuffle=True)
testing_data_loader = DataLoader(DigitPairs(images[640:800]), batch_size=40)
model = Net(2).to(device)
criterion = nn.MSELoss(size_average=True)
optimizer = optim.Adam(model.parameters(), lr=0.001)

for epoch in range(1, 5):
    epoch_loss = 0
    for input, target in training_data_loader:
        input, target = input.to(device), target.to(device)
        optimizer.zero_grad()
        loss = criterion(model(input), target)
        epoch_loss += loss.item()
        loss.backward()
        optimizer.step()
    print('epoch {} loss: {:.5f}'.format(epoch, epoch_loss / len(training_data_loader)))

avg_psnr, avg_mse = 0, 0
with torch.no_grad():
    for input, target in testing_data_loader:
        mse = criterion(model(input.to(device)), target.to(device)).item()
        avg_mse += mse / len(testing_data_loader)
        avg_psnr += 10 * log10(1 / mse) / len(testing_data_loader)
print('final loss: {:.6f} accuracy: {:.4f}'.format(avg_mse, avg_psnr))
