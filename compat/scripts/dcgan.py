"""A small DCGAN on handwritten digits (PyTorch 0.4)."""
from __future__ import print_function

import random

import torch
import torch.nn as nn
import torch.optim as optim
import torch.utils.data
from sklearn.datasets import load_digits

seed = 7
random.seed(seed)
torch.manual_seed(seed)
torch.set_default_tensor_type('torch.DoubleTensor')  # a game of two that rounding errors would soon decide
device = torch.device("cpu")
nz, ngf, ndf, nc = 10, 12, 12, 1

images = torch.from_numpy(load_digits().images).double().unsqueeze(1) / 8 - 1
dataset = torch.utils.data.TensorDataset(images)
dataloader = torch.utils.data.DataLoader(dataset, batch_size=64, shuffle=True, drop_last=True)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find('Conv') != -1:
        m.weight.data.normal_(0.0, 0.02)
    elif classname.find('BatchNorm') != -1:
        m.weight.data.normal_(1.0, 0.02)
        m.bias.data.fill_(0)


class Generator(nn.Module):
    def __init__(self):
        super(Generator, self).__init__()
        self.main = nn.Sequential(
            nn.ConvTranspose2d(nz, ngf * 2, 2, 1, 0, bias=False),
            nn.BatchNorm2d(ngf * 2),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf * 2, ngf, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ngf),
            nn.ReLU(True),
            nn.ConvTranspose2d(ngf, nc, 4, 2, 1, bias=False),
            nn.Tanh()
        )

    def forward(self, input):
        return self.main(input)


class Discriminator(nn.Module):
    def __init__(self):
        super(Discriminator, self).__init__()
        self.main = nn.Sequential(
            nn.Conv2d(nc, ndf, 4, 2, 1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf, ndf * 2, 4, 2, 1, bias=False),
            nn.BatchNorm2d(ndf * 2),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(ndf * 2, 1, 2, 1, 0, bias=False),
            nn.Sigmoid()
        )

    def forward(self, input):
        return self.main(input).view(-1, 1).squeeze(1)


netG = Generator().to(device)
netG.apply(weights_init)
netD = Discriminator().to(device)
netD.apply(weights_init)

criterion = nn.BCELoss(size_average=True)
fixed_noise = torch.randn(64, nz, 1, 1, device=device)
optimizerD = optim.Adam(netD.parameters(), lr=0.0005, betas=(0.5, 0.999))
optimizerG = optim.Adam(netG.parameters(), lr=0.0005, betas=(0.5, 0.999))

for epoch in range(1, 6):
    total = 0
    for i, (real,) in enumerate(dataloader):
        real = real.to(device)
        batch_size = real.size(0)
        netD.zero_grad()
        label = torch.full((batch_size,), 1, device=device)
        errD_real = criterion(netD(real), label)
        errD_real.backward()
        noise = torch.randn(batch_size, nz, 1, 1, device=device)
        fake = netG(noise)
        label.fill_(0)
        errD_fake = criterion(netD(fake.detach()), label)
        errD_fake.backward()
        errD = errD_real + errD_fake
        optimizerD.step()

        netG.zero_grad()
        label.fill_(1)
        errG = criterion(netD(fake), label)
        errG.backward()
        optimizerG.step()
        total += errD.item() + errG.item()
    print('epoch {} loss: {:.4f}'.format(epoch, total / len(dataloader)))

with torch.no_grad():
    scores = netD(netG(fixed_noise))
print('final loss: {:.6f} accuracy: {:.4f}'.format(errG.item(), (scores < 0.5).float().mean().item()))
