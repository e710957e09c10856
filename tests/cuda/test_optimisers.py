"""Every optimiser on the device takes the steps that it takes on the CPU, and its state can be saved and loaded."""
import io

import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")
OPTIMISERS = {
    "Adadelta": {"lr": 0.5}, "Adafactor": {"lr": 0.05}, "Adagrad": {"lr": 0.1, "lr_decay": 0.01},
    "Adam": {"amsgrad": True},
    "AdamW": {"weight_decay": 0.1}, "Adamax": {"lr": 0.05}, "ASGD": {"lr": 0.05}, "LBFGS": {"max_iter": 3},
    "Muon": {"lr": 0.05}, "NAdam": {"lr": 0.05}, "RAdam": {"lr": 0.05}, "RMSprop": {"centered": True, "momentum": 0.5},
    "Rprop": {"lr": 0.05}, "SGD": {"lr": 0.1, "momentum": 0.9}, "SparseAdam": {"lr": 0.05},
}


def net_on(device, name):
    torch.manual_seed(1)
    if name == "SparseAdam":
        return torch.nn.Embedding(6, 3, sparse=True).to(device)
    layers = [torch.nn.Linear(4, 3, bias=name != "Muon"), torch.nn.Tanh(), torch.nn.Linear(3, 3, bias=name != "Muon")]
    return torch.nn.Sequential(*layers).to(device)


def loss_of(net, step, device):
    torch.manual_seed(step)
    if isinstance(net, torch.nn.Embedding):
        return net(torch.randint(0, 6, (4,)).to(device)).square().sum()
    return (net(torch.randn(5, 4).to(device)) - torch.randn(5, 3).to(device)).square().mean()


def trained(name, options, device, steps=6):
    net = net_on(device, name)
    optimiser = getattr(torch.optim, name)(net.parameters(), **options)
    for step in range(steps):
        def closure(step=step, optimiser=optimiser):
            optimiser.zero_grad()
            loss = loss_of(net, step, device)
            loss.backward()
            return loss
        optimiser.step(closure)
        if step == steps // 2:             # goes on from a file
            file = io.BytesIO()
            torch.save((net.state_dict(), optimiser.state_dict()), file)
            file.seek(0)
            weights, state = torch.load(file, weights_only=False)
            net.load_state_dict(weights)
            optimiser = getattr(torch.optim, name)(net.parameters(), **options)
            optimiser.load_state_dict(state)
    return [p.detach().cpu() for p in net.parameters()]


def test_none_is_forgotten():
    names = {n for n, c in vars(torch.optim).items() if isinstance(c, type) and issubclass(c, torch.optim.Optimizer)}
    assert names - {"Optimizer"} == set(OPTIMISERS)


@pytest.mark.parametrize("foreach", [None, True])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_steps(name, foreach):
    options = dict(OPTIMISERS[name])
    if foreach:
        if name in ("LBFGS", "Muon", "SparseAdam"):
            return
        options["foreach"] = True
    for got, want in zip(trained(name, options, "cuda"), trained(name, options, "cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam",
                                  "RMSprop"])
@pytest.mark.parametrize("options", [{"maximize": True}, {"weight_decay": 0.1}])
def test_options(name, options):
    for got, want in zip(trained(name, options, "cuda"), trained(name, options, "cpu"), strict=True):
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["SGD", "Adam", "RMSprop", "Rprop"])
def test_many_parameters(name):
    """More than one launch takes, of two types, some on the same memory."""
    options, found = {"lr": 0.05}, {}
    for device in ("cpu", "cuda"):
        torch.manual_seed(3)
        whole = torch.randn(60).to(device)
        parameters = [torch.randn(1 + i % 7, dtype=(torch.float32, torch.float64)[i % 3 == 0]).to(device)
                      for i in range(70)] + [whole[:40], whole[20:], torch.randn(0).to(device)]
        parameters = [p.requires_grad_() for p in parameters]
        optimiser = getattr(torch.optim, name)(parameters, **options)
        for _ in range(3):
            for p in parameters:
                p.grad = torch.randn(p.shape).to(device, p.dtype)
            optimiser.step()
        assert all(p._version == 3 for p in parameters[:70])
        found[device] = [p.detach().cpu() for p in parameters]
    for got, want in zip(found["cuda"], found["cpu"], strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
