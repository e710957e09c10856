"""Small models trained for 20 steps: the loss of the last step, recorded from PyTorch."""

from recorded import grid

OPTIMIZERS = {"SGD": 0.05, "Adam": 1e-3, "RMSprop": 1e-3}
MODELS = ("mlp", "convolution", "lstm", "gru", "transformer", "norms")
CASES = [f"{model} {kind} {dtype}" for dtype in ("float32", "float64") for kind in OPTIMIZERS for model in MODELS]


def make(torch, name):
    """The model, the shape of its input (None: words), the number of classes and of examples."""
    nn = torch.nn

    class Words(nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder, self.rnn, self.decoder = nn.Embedding(50, 16), nn.LSTM(16, 24, 2), nn.Linear(24, 50)

        def forward(self, x):
            return self.decoder(self.rnn(self.encoder(x))[0]).view(-1, 50)

    class Sequences(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn, self.decoder = nn.GRU(8, 16, bidirectional=True), nn.Linear(32, 5)

        def forward(self, x):
            return self.decoder(self.rnn(x)[0][-1])

    if name == "mlp":
        return nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Dropout(0.2), nn.Linear(48, 10)), (32, 64), 10, 32
    if name == "convolution":
        first = (nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3), nn.ReLU())
        return nn.Sequential(*first, nn.Flatten(), nn.Linear(64, 10)), (32, 1, 10, 10), 10, 32
    if name == "lstm":
        return Words(), None, 50, 80
    if name == "gru":
        return Sequences(), (7, 12, 8), 5, 12
    if name == "transformer":
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        return nn.Sequential(layer, nn.Flatten(), nn.Linear(96, 10)), (16, 6, 16), 10, 16
    first = (nn.Conv1d(4, 8, 3, padding=1, groups=2), nn.GroupNorm(2, 8), nn.GELU(), nn.AvgPool1d(2))
    return nn.Sequential(
        *first, nn.ConvTranspose1d(8, 4, 2, 2), nn.LayerNorm(16), nn.Flatten(), nn.Linear(64, 7)), (16, 4, 16), 7, 16


def run(torch, case):
    """The loss after 20 steps."""
    name, kind, dtype = case.split()
    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, dtype))
    try:
        torch.manual_seed(0)
        model, shape, classes, count = make(torch, name)
        optimizer = getattr(torch.optim, kind)(model.parameters(), lr=OPTIMIZERS[kind])
        for step in range(20):
            x = torch.arange(80).view(10, 8) * (step + 3) % 50 if shape is None else grid(torch, *shape, start=step)
            y = torch.arange(count) * (step + 1) % classes
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
        return loss.item()
    finally:
        torch.set_default_dtype(before)
