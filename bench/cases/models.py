"""Steps of training, and inference, of the models that scripts are about."""

from collections import deque

from . import Case, fill, tensor

CASES = []


def case(name):
    """Make the decorated builder the case of this name."""

    def add(build):
        CASES.append(Case(name, build))
        return build

    return add


def step(optimizer, loss_of):
    """A function that makes a step of training and returns the loss before it."""

    def run():
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return run


def labels(t, numbers, classes, *shape):
    return t.tensor(numbers.integers(0, classes, shape))


@case("MLP 784-256-10, batch 64: step")
def mlp(t, numbers):
    nn = t.nn
    model = fill(t, numbers, nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)))
    x, y, criterion = tensor(t, numbers, 64, 784), labels(t, numbers, 10, 64), nn.CrossEntropyLoss()
    return step(t.optim.SGD(model.parameters(), lr=0.01), lambda: criterion(model(x), y))


def convnet(t, numbers):
    nn = t.nn
    t.manual_seed(0)                      # of the dropout
    return fill(t, numbers, nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10)))


@case("convnet 28x28, batch 64: step")
def convnet_step(t, numbers):
    model, criterion = convnet(t, numbers), t.nn.CrossEntropyLoss()
    x, y = tensor(t, numbers, 64, 1, 28, 28), labels(t, numbers, 10, 64)
    return step(t.optim.Adadelta(model.parameters(), lr=0.01), lambda: criterion(model(x), y))


@case("convnet 28x28, batch 64: inference")
def convnet_inference(t, numbers):
    model, x = convnet(t, numbers).eval(), tensor(t, numbers, 64, 1, 28, 28)

    def run():
        with t.no_grad():
            return model(x)

    return run


@case("LSTM language model, 2 layers of 64, 20 steps, batch 20: step")
def language_model(t, numbers):
    nn, words = t.nn, 2000
    parts = nn.ModuleList([nn.Embedding(words, 64), nn.LSTM(64, 64, 2), nn.Linear(64, words)])
    embedding, lstm, decoder = fill(t, numbers, parts)
    x, y, criterion = labels(t, numbers, words, 20, 20), labels(t, numbers, words, 400), nn.CrossEntropyLoss()

    def run():
        parts.zero_grad()
        loss = criterion(decoder(lstm(embedding(x))[0]).view(-1, words), y)
        loss.backward()
        nn.utils.clip_grad_norm_(parts.parameters(), 0.25)
        for parameter in parts.parameters():
            parameter.data.add_(parameter.grad, alpha=-0.1)
        return loss.detach()

    return run


@case("GCN, 2708 nodes, 1433 features: step and evaluation")
def gcn(t, numbers):
    nn, nodes, known = t.nn, 2708, t.arange(140)
    edges = t.tensor(numbers.integers(0, nodes, (2, 13264)))
    adjacency = t.sparse_coo_tensor(edges, t.ones(13264) * 0.2, (nodes, nodes)).coalesce()
    x = t.tensor((numbers.random((nodes, 1433)) < 0.0127).astype("float32"))
    y, criterion = labels(t, numbers, 7, nodes), nn.CrossEntropyLoss()
    parts = fill(t, numbers, nn.ModuleList([nn.Linear(1433, 16), nn.Linear(16, 7), nn.Dropout(0.5)]))
    t.manual_seed(0)

    def scores():
        hidden = parts[2](t.sparse.mm(adjacency, parts[0](x)).relu())
        return t.sparse.mm(adjacency, parts[1](hidden))

    learn = step(t.optim.Adam(parts.parameters(), lr=0.01, weight_decay=5e-4),
                 lambda: criterion(scores()[known], y[known]))

    def run():
        parts.train()
        learn()
        parts.eval()
        return scores()

    return run


@case("ResNet18, 1x3x224x224: inference")
def resnet(t, numbers):
    nn = t.nn

    class Block(nn.Module):
        def __init__(self, inputs, outputs, stride):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs))
            self.second = nn.Sequential(nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs))
            self.short = nn.Sequential()
            if stride != 1:
                self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

        def forward(self, x):
            return (self.second(self.first(x).relu_()) + self.short(x)).relu_()

    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for inputs, outputs in ((64, 64), (64, 128), (128, 256), (256, 512)):
        layers += [Block(inputs, outputs, outputs // inputs), Block(outputs, outputs, 1)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)]
    model, x = fill(t, numbers, nn.Sequential(*layers)).eval(), tensor(t, numbers, 1, 3, 224, 224)

    def run():
        with t.no_grad():
            return model(x)

    return run


@case("transformer encoder layer, 128 wide, 64 places, batch 8: step")
def transformer(t, numbers):
    nn = t.nn
    model = fill(t, numbers, nn.TransformerEncoderLayer(128, 4, 256, dropout=0.0))
    x, want = tensor(t, numbers, 64, 8, 128), tensor(t, numbers, 64, 8, 128)
    return step(t.optim.Adam(model.parameters(), lr=0.001), lambda: (model(x) - want).pow(2).mean())


@case("DataLoader, 4096 examples of 784, batch 64: all batches")
def loader(t, numbers):
    data = t.utils.data
    examples = data.TensorDataset(tensor(t, numbers, 4096, 784), labels(t, numbers, 10, 4096))
    batches = data.DataLoader(examples, batch_size=64, shuffle=True)
    t.manual_seed(0)

    def run():
        return deque(batches, maxlen=1)[0]    # goes through all of them

    return run
