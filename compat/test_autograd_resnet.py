"""The two examples of the autograd note that use a ResNet: a frozen base with a new last layer, and volatile input."""

import pytest

pytestmark = pytest.mark.eras("0.3")


def resnet18(nn):
    """ResNet-18 as the model collections of the time had it, with weights that do not matter."""

    class BasicBlock(nn.Module):
        def __init__(self, inplanes, planes, stride=1):
            super().__init__()
            self.conv1 = nn.Conv2d(inplanes, planes, kernel_size=3, stride=stride, padding=1, bias=False)
            self.bn1 = nn.BatchNorm2d(planes)
            self.relu = nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(planes, planes, kernel_size=3, stride=1, padding=1, bias=False)
            self.bn2 = nn.BatchNorm2d(planes)
            self.downsample = None
            if stride != 1 or inplanes != planes:
                shrink = nn.Conv2d(inplanes, planes, kernel_size=1, stride=stride, bias=False)
                self.downsample = nn.Sequential(shrink, nn.BatchNorm2d(planes))

        def forward(self, x):
            residual = x if self.downsample is None else self.downsample(x)
            out = self.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            out += residual
            return self.relu(out)

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1 = nn.Conv2d(3, 64, kernel_size=7, stride=2, padding=3, bias=False)
            self.bn1 = nn.BatchNorm2d(64)
            self.relu = nn.ReLU(inplace=True)
            self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
            inplanes = 64
            for i, planes in enumerate((64, 128, 256, 512)):
                blocks = BasicBlock(inplanes, planes, 2 if i else 1), BasicBlock(planes, planes)
                self.add_module(f"layer{i + 1}", nn.Sequential(*blocks))
                inplanes = planes
            self.avgpool = nn.AvgPool2d(7)
            self.fc = nn.Linear(512, 1000)

        def forward(self, x):
            x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            x = self.avgpool(x)
            return self.fc(x.view(x.size(0), -1))

    return ResNet()


def test_all_parameters_are_frozen_but_those_of_the_new_layer(torch):
    nn, Variable = torch.nn, torch.autograd.Variable
    torch.manual_seed(0)
    model = resnet18(nn)
    for param in model.parameters():
        param.requires_grad = False
    model.fc = nn.Linear(512, 100)
    optimizer = torch.optim.SGD(model.fc.parameters(), lr=1e-2, momentum=0.9)
    before = {name: p.data.clone() for name, p in model.named_parameters()}
    output = model(Variable(torch.randn(2, 3, 224, 224)))
    assert output.size() == (2, 100)
    loss = nn.CrossEntropyLoss()(output, Variable(torch.LongTensor([3, 7])))
    loss.backward()
    with_grad = {name for name, p in model.named_parameters() if p.grad is not None}
    assert with_grad == {"fc.weight", "fc.bias"}
    optimizer.step()
    changed = {name for name, p in model.named_parameters() if not torch.equal(p.data, before[name])}
    assert changed == {"fc.weight", "fc.bias"}


def test_volatile_input_runs_the_network_without_a_graph(torch):
    Variable = torch.autograd.Variable
    torch.manual_seed(0)
    regular_input = Variable(torch.randn(1, 3, 227, 227))
    volatile_input = Variable(regular_input.data, volatile=True)
    model = resnet18(torch.nn).eval()
    regular, volatile = model(regular_input), model(volatile_input)
    assert regular.requires_grad is True and regular.grad_fn is not None
    assert volatile.requires_grad is False
    assert volatile.volatile is True
    assert volatile.grad_fn is None
    assert regular.size() == volatile.size() == (1, 1000)
    assert torch.equal(regular.data, volatile.data)
    with pytest.raises(RuntimeError):
        volatile.sum().backward()
