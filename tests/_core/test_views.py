"""Views share memory, both ways, whatever made them; versions and storages tell so."""
import numpy as np
import pytest

import shimtorch as torch

VIEWS = {
    "view": lambda x: x.view(4, 6),
    "view(-1)": lambda x: x.view(-1),
    "reshape": lambda x: x.reshape(6, 4),
    "transpose": lambda x: x.transpose(0, 2),
    "permute": lambda x: x.permute(2, 0, 1),
    "narrow": lambda x: x.narrow(1, 1, 2),
    "select": lambda x: x.select(1, -1),
    "int": lambda x: x[1],
    "slice": lambda x: x[:, ::2, 1:],
    "None": lambda x: x[None],
    "expand": lambda x: x[:1].expand(5, 3, 4),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x[:1].squeeze(0),
    "diagonal": lambda x: x.diagonal(0, 1, 2),
    "unfold": lambda x: x.unfold(2, 2, 1),
    "split": lambda x: x.split(2, 1)[1],
    "chunk": lambda x: x.chunk(2)[1],
    "unbind": lambda x: x.unbind(2)[3],
    "as_strided": lambda x: x.as_strided((3,), (5,), 2),
    "detach": lambda x: x.detach(),
    "data": lambda x: x.data,
    "T": lambda x: x[0].T,
    "t": lambda x: x[0].t(),
    "view_as": lambda x: x.view_as(x),
    "flatten": lambda x: x.flatten(1),
    "movedim": lambda x: x.movedim(0, 2),
    "swapaxes": lambda x: x.swapaxes(0, 1),
    "numpy": lambda x: torch.from_numpy(x.numpy()),
    "real": lambda x: x.real,
    "view(dtype)": lambda x: x.view(torch.int32),
    "unflatten": lambda x: x.unflatten(1, (3, 1)),
    "contiguous": lambda x: x.contiguous(),
    "set_": lambda x: torch.empty(0).set_(x),
}


def numbers():
    return torch.arange(24, dtype=torch.float32).reshape(2, 3, 4).clone()


@pytest.mark.parametrize("name", VIEWS)
def test_memory_is_shared(name):
    x = numbers()
    v = VIEWS[name](x)
    assert v.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    before = v.clone()
    x.mul_(0)
    assert not v.any()
    x.copy_(numbers())
    assert torch.equal(v, before)
    if name != "expand":
        v.fill_(-7)
        assert (x == -7).sum().item() == len(set(before.flatten().tolist())) or name == "view(dtype)"


DETACHED = ("detach", "data", "numpy", "set_", "contiguous")


@pytest.mark.parametrize("name", [n for n in VIEWS if n not in DETACHED])
def test_writes_count_for_all(name):
    x = numbers()
    v = VIEWS[name](x)
    assert v._version == x._version
    x.add_(1)
    assert v._version == x._version
    assert v._base is x or name in ("real", "view(dtype)")


def test_copies_share_nothing():
    x = numbers()
    for copy in (x.clone(), x + 0, x[[0, 1]], x[x >= 0], x.transpose(0, 1).contiguous(), x.transpose(0, 2).reshape(-1),
                 x.to(torch.float64), x.repeat(1, 1, 1), torch.cat([x]), x.flip(0)):
        assert copy.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()


def test_strides_and_offsets():
    x = numbers()
    assert (x.stride(), x.storage_offset(), x.is_contiguous()) == ((12, 4, 1), 0, True)
    y = x[1:, :, 1::2]
    assert (tuple(y.shape), y.stride(), y.storage_offset(), y.is_contiguous()) == ((1, 3, 2), (12, 4, 2), 13, False)
    assert y.data_ptr() == x.data_ptr() + 13 * 4 and y.stride(-1) == 2 and y.size(1) == 3
    z = x.as_strided((2, 2), (1, 4), 3)
    assert z.tolist() == [[3, 7], [4, 8]]
    with pytest.raises(RuntimeError, match="out of bounds for storage"):
        x.as_strided((100,), (1,))
    with pytest.raises(RuntimeError, match=r"view size is not compatible with input tensor's size and stride"):
        x.transpose(0, 1).view(24)
    with pytest.raises(RuntimeError, match=r"shape '\[5, 5\]' is invalid for input of size 24"):
        x.view(5, 5)
    with pytest.raises(RuntimeError, match="only one dimension can be inferred"):
        x.view(-1, -1)


def test_storage():
    x = numbers()
    storage = x.storage()
    assert len(storage) == 24 and storage[3] == 3 and storage.tolist()[:3] == [0, 1, 2]
    storage[0] = 9
    assert x[0, 0, 0] == 9
    assert x.untyped_storage().nbytes() == 96 and x.element_size() == 4
    s = torch.FloatStorage([1, 2, 3])
    assert list(s) == [1, 2, 3] and s.size() == 3 and type(s).__name__ == "FloatStorage"
    assert s.clone().data_ptr() != s.data_ptr() and list(s.double()) == [1, 2, 3]
    s.fill_(4)
    assert list(s) == [4, 4, 4]
    s.resize_(5)
    assert len(s) == 5 and list(s)[:3] == [4, 4, 4]
    with pytest.raises(IndexError):
        s[5]
    y = torch.FloatTensor().set_(s, 1, (2,), (1,))
    y.fill_(0)
    assert list(s)[:3] == [4, 0, 0]


def test_numpy_keeps_its_memory():
    array = np.arange(6.0).reshape(2, 3)
    x = torch.from_numpy(array)
    x[0, 0] = 5
    assert array[0, 0] == 5
    array[1] = 0
    assert x[1].tolist() == [0, 0, 0]
    back = x.numpy()
    assert np.shares_memory(back, array)
    del array, x
    assert back[0, 0] == 5
    turned = torch.from_numpy(np.arange(6.0).reshape(2, 3).T)
    assert turned.stride() == (1, 3) and turned.tolist() == [[0, 3], [1, 4], [2, 5]]
    with pytest.raises(ValueError, match="negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(RuntimeError, match="Can't call numpy\\(\\) on Tensor that requires grad"):
        torch.ones(1, requires_grad=True).numpy()


def test_resize():
    x = torch.arange(6.0)
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]]
    assert x.resize_(6).tolist()[:4] == [0, 1, 2, 3]
    assert x.resize_(3, 4).shape == (3, 4) and x.view(-1)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    y = x[:1]
    assert y.resize_(2).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def test_ndarrays_beside_tensors():
    """What torch gives: some operators make tensors, in some NumPy refuses."""
    array, x = np.array([1.0, 2.0]), torch.tensor([1.0, 3.0])
    for result in (array == x, x == array, x == array[::-1].copy()[::-1]):
        assert isinstance(result, torch.Tensor) and result.tolist() == [True, False]
    quotient = array / x
    assert quotient.dtype is torch.float64 and quotient.tolist() == pytest.approx([1, 2 / 3])
    assert isinstance(x + array, torch.Tensor) and isinstance(np.sin(x), torch.Tensor)
    with pytest.raises(TypeError):
        array + x
    with pytest.raises(TypeError, match="can't convert np.ndarray of type"):
        x == np.array(["a", "b"])                      # noqa: B015  (it raises)


def test_resize_keeps_the_strides_of_a_size_that_stays():
    x = torch.arange(6.0).view(2, 3).t()
    assert x.resize_(3, 2).stride() == (1, 3) and x.resize_as_(torch.ones(3, 2)).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x.resize_(3, 2, memory_format=torch.contiguous_format).stride() == (2, 1)
    images = torch.ones(1, 2, 3, 4).contiguous(memory_format=torch.channels_last)
    assert torch.ones(24).resize_(1, 2, 3, 4, memory_format=torch.channels_last).stride() == images.stride()
    assert torch.ones(24).resize_as_(images).stride() == (24, 12, 4, 1)
    assert torch.ones(24).resize_as_(images, memory_format=torch.preserve_format).stride() == images.stride()
    volume = torch.ones(24).resize_(1, 1, 2, 3, 4, memory_format=torch.channels_last_3d)
    assert volume.stride() == (24, 1, 12, 4, 1)
    with pytest.raises(RuntimeError, match="required rank 4 tensor to use channels_last format"):
        x.resize_(3, 2, memory_format=torch.channels_last)
    with pytest.raises(RuntimeError, match="Unsupported memory formatPreserve"):
        x.resize_(3, 2, memory_format=torch.preserve_format)
