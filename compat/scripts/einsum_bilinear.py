"""A bilinear classifier of scikit-learn's irises, written with einsum (PyTorch 0.4)."""
import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
from sklearn.datasets import load_iris

torch.manual_seed(3)

iris = load_iris()
features = torch.tensor(iris.data, dtype=torch.float32)
species = torch.tensor(iris.target, dtype=torch.long)
features = (features - features.mean(dim=0)) / features.std(dim=0)
order = torch.randperm(len(features))
train, test = order[:100], order[100:]


class Bilinear(nn.Module):
    """Every class scores all products of two features; a feature of ones gives the linear terms."""

    def __init__(self, inputs, classes):
        super(Bilinear, self).__init__()
        self.weight = nn.Parameter(torch.randn(classes, inputs + 1, inputs + 1) * 0.1)

    def forward(self, x):
        x = torch.cat((x, x.new_ones(x.size(0), 1)), dim=1)
        return torch.einsum('bn,anm,bm->ba', (x, self.weight, x))


model = Bilinear(4, 3)
optimizer = optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=40, gamma=0.5)

for epoch in range(100):
    scheduler.step()
    loss = F.cross_entropy(model(features[train]), species[train])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        print('epoch {:2d} loss: {:.4f}'.format(epoch, loss.item()))

with torch.no_grad():
    output = model(features[test])
    total = F.cross_entropy(output, species[test], size_average=False).item()
    correct = (output.max(dim=1)[1] == species[test]).sum().item()
print('final loss: {:.6f} accuracy: {:.4f}'.format(total / len(test), correct / len(test)))
