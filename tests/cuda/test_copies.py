"""Tensors on the device: how they get there and back, what they say of themselves, and that no CPU code reads them."""
import copy

import numpy as np
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
          "complex128", "uint16", "uint32", "uint64"]


def numbers(dtype, *shape):
    n = int(np.prod(shape))
    t = torch.from_numpy((np.arange(n) % 100).reshape(shape)).to(getattr(torch, dtype))
    return t * (1 + 2j) if dtype.startswith("complex") else t


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (2, 3, 5)])
def test_there_and_back(dtype, shape):
    x = numbers(dtype, *shape)
    y = x.cuda()
    assert y.is_cuda and not y.is_cpu and y.device == torch.device("cuda:0") and y.get_device() == 0
    assert y.dtype is x.dtype and y.shape == x.shape
    back = y.cpu()
    assert not back.is_cuda and torch.equal(back.float(), x.float())
    assert y.cuda() is y and back.cpu() is back


@pytest.mark.parametrize("source", DTYPES)
@pytest.mark.parametrize("target", DTYPES)
def test_casts_are_those_of_the_cpu(source, target):
    x = numbers(source, 4, 5)
    if source in ("float32", "float64"):
        x[0] = torch.tensor([-1.5, 2.5, 300.7, -70000.3, 5e9])
    want = x.to(getattr(torch, target))
    assert torch.equal(x.cuda().to(getattr(torch, target)).cpu(), want)


@pytest.mark.parametrize("view", [
    lambda x: x.t(), lambda x: x[1:, ::2], lambda x: x[:, 1], lambda x: x[None, 2], lambda x: x.view(2, 2, 5),
    lambda x: x.expand(3, 4, 5), lambda x: x.unsqueeze(1).transpose(0, 2), lambda x: x.reshape(-1), lambda x: x[-1, -1],
    lambda x: x.diagonal(), lambda x: x.narrow(1, 2, 2), lambda x: x.permute(1, 0),
    lambda x: x.as_strided((3, 2), (1, 2)),
])
def test_views(view):
    x = torch.arange(20.).view(4, 5)
    y = x.cuda()
    assert view(y).data_ptr() - y.data_ptr() == view(x).data_ptr() - x.data_ptr()
    assert torch.equal(view(y).cpu(), view(x))


def test_writes_through_views():
    x, y = torch.zeros(4, 5), torch.zeros(4, 5, device="cuda")
    for t in (x, y):
        t[1:3, ::2] = 3
        t.t()[4] = torch.arange(4.).to(t.device)
        t[0].copy_(torch.ones(5))              # from the CPU
        t[3, 3] = 9
        t[:, 1] += 2
    assert torch.equal(y.cpu(), x)
    x.copy_(y)
    assert x.sum() == y.sum()


def test_overlapping_copy():
    x = torch.arange(10.)
    y = x.cuda()
    x[1:] = x[:-1].clone()
    y[1:] = y[:-1]
    assert torch.equal(y.cpu(), x)


def test_numbers_and_lists():
    y = torch.tensor([[1.5, 2.5]], device="cuda")
    assert y.tolist() == [[1.5, 2.5]] and y[0, 1].item() == 2.5 and float(y[0, 0]) == 1.5 and bool(y[0, 0])
    assert int(torch.tensor(7, device="cuda")) == 7 and torch.tensor(2 + 1j, device="cuda").item() == 2 + 1j
    with pytest.raises(RuntimeError, match="cannot be converted to Scalar"):
        y.item()
    with pytest.raises(RuntimeError, match="ambiguous"):
        bool(y)


def test_the_cpu_does_not_read_the_device():
    y = torch.ones(3, device="cuda")
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        y.numpy()
    with pytest.raises(TypeError):
        np.asarray(y)
    with pytest.raises(RuntimeError, match="same device"):
        y + torch.ones(3)
    with pytest.raises(RuntimeError):
        torch.ones(3).add_(y)
    with pytest.raises(NotImplementedError):
        y.share_memory_()
    assert (y + torch.tensor(2.)).tolist() == [3, 3, 3]        # a number of no dimension is taken along


def test_what_it_says():
    y = torch.tensor([1., 2.], device="cuda")
    assert repr(y) == "tensor([1., 2.], device='cuda:0')"
    assert y.type() == "torch.cuda.FloatTensor" and isinstance(y, torch.cuda.FloatTensor)
    assert not isinstance(y, torch.FloatTensor)
    assert y.type("torch.FloatTensor").device.type == "cpu"
    assert repr(y.device) == "device(type='cuda', index=0)"


def test_made_on_the_device():
    for t in (torch.zeros(2, 3, device="cuda"), torch.ones(2, 3, device=0), torch.full((2, 3), 4., device="cuda:0"),
              torch.arange(6., device="cuda").view(2, 3), torch.eye(3, device="cuda")[:2],
              torch.linspace(0, 1, 6, device="cuda").view(2, 3), torch.cuda.FloatTensor(2, 3),
              torch.cuda.FloatTensor([[1, 2, 3], [4, 5, 6]]), torch.empty(2, 3, device=torch.device("cuda"))):
        assert t.device == torch.device("cuda:0") and t.shape == (2, 3)
        for like in (torch.zeros_like(t), t.new_zeros(2, 3), torch.ones_like(t), t.new_full((2, 3), 1.),
                     torch.empty_like(t), torch.full_like(t, 2), t.new_tensor([[1, 2, 3]] * 2), t.new(2, 3)):
            assert like.device == t.device and like.shape == (2, 3), like
    assert torch.zeros_like(t, device="cpu").device.type == "cpu"
    assert torch.zeros_like(torch.ones(2), device="cuda").is_cuda
    assert torch.as_tensor([1, 2], device="cuda").is_cuda and t.clone().is_cuda


def test_to():
    x = torch.arange(4)
    assert x.to("cuda").is_cuda and x.to(0).is_cuda and x.to(torch.device("cuda"), torch.float64).dtype is torch.float64
    y = x.to("cuda", non_blocking=True)
    assert y.to(y) is y and x.to(y).is_cuda and x.type_as(y.float()).is_cuda and y.to("cuda:0") is y
    assert y.to("cpu", torch.float32).tolist() == [0, 1, 2, 3]
    with pytest.raises(RuntimeError, match="invalid device ordinal"):
        x.to("cuda:7")


def test_gradient_goes_back_to_where_the_leaf_is():
    x = torch.ones(3, requires_grad=True)
    (x.cuda() * 2).sum().backward()
    assert x.grad.device.type == "cpu" and x.grad.tolist() == [2, 2, 2]
    y = torch.ones(3, device="cuda", requires_grad=True)
    (y.cpu() * torch.arange(3.)).sum().backward()
    assert y.grad.is_cuda and y.grad.tolist() == [0, 1, 2]
    y.cpu().sum().backward()
    assert y.grad.tolist() == [1, 2, 3]


def test_data_and_deepcopy():
    y = torch.ones(3, device="cuda", requires_grad=True)
    z = copy.deepcopy(y)
    assert z.is_cuda and z.requires_grad and z.data_ptr() != y.data_ptr() and z.tolist() == [1, 1, 1]
    y.data.mul_(3)
    assert y.tolist() == [3, 3, 3]
    x = torch.zeros(2)
    x.data = y.data
    assert x.is_cuda and x.shape == (3,)


def test_module():
    net = torch.nn.Linear(3, 2).cuda()
    assert all(p.is_cuda for p in net.parameters())
    assert not any(p.is_cuda for p in net.cpu().parameters())
