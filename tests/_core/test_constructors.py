"""Typed constructors and types of old versions, ``torch.tensor`` and its kin, ``new`` and ``type``."""
import numpy as np
import pytest

import shimtorch as torch

TYPES = {"Float": "float32", "Double": "float64", "Half": "float16", "Byte": "uint8", "Char": "int8", "Short": "int16",
         "Int": "int32", "Long": "int64", "Bool": "bool"}


@pytest.mark.parametrize("name, dtype", TYPES.items())
def test_every_form(name, dtype):
    cls = getattr(torch, name + "Tensor")
    dtype = getattr(torch, dtype)
    values = [[1, 0, 1], [0, 1, 1]]
    forms = {
        "sizes": (cls(2, 3), (2, 3)), "nothing": (cls(), (0,)), "size": (cls(torch.Size([2, 3])), (2, 3)),
        "list": (cls(values), (2, 3)), "tuple": (cls((1, 0, 1)), (3,)), "empty list": (cls([]), (0,)),
        "array": (cls(np.array(values, dtype.name)), (2, 3)), "array of lists": (cls([np.ones(2), np.ones(2)]), (2, 2)),
        "storage": (cls(getattr(torch, name + "Storage")([1, 0])), (2,)), "another": (cls(cls(values)), (2, 3)),
    }
    for form, (made, shape) in forms.items():
        assert made.dtype is dtype and tuple(made.shape) == shape, form
        assert isinstance(made, cls) and isinstance(made, torch.Tensor), form
        assert made.type() == f"torch.{name}Tensor", form
    assert cls(values).tolist() == [[bool(v) if dtype is torch.bool else v for v in row] for row in values]
    others = [t for t in TYPES if t != name]
    assert not any(isinstance(cls(1), getattr(torch, t + "Tensor")) for t in others)


def test_another_tensor_or_storage_shares_memory():
    x = torch.FloatTensor([1, 2, 3])
    torch.FloatTensor(x)[0] = 5
    assert x.tolist() == [5, 2, 3]
    storage = x.storage()
    torch.FloatTensor(storage)[1] = 7
    assert x.tolist() == [5, 7, 3] and storage[1] == 7


@pytest.mark.parametrize("make, error, message", [
    (lambda: torch.FloatTensor("abc"), TypeError, "new\\(\\): invalid data type 'str'"),
    (lambda: torch.FloatTensor([[1], [2, 3]]), ValueError, "expected sequence of length 1 at dim 1 \\(got 2\\)"),
    (lambda: torch.FloatTensor(2, -1), RuntimeError, "Trying to create tensor with negative dimension -1"),
    (lambda: torch.LongTensor(torch.FloatTensor(2)), TypeError, r"expected torch.LongTensor \(got torch.FloatTensor\)"),
    (lambda: torch.FloatTensor(torch.LongStorage(2)), RuntimeError,
     "Expected a Storage of type Float.* but got type Long"),
    (lambda: torch.tensor([[1, 2], [3]]), ValueError, "expected sequence of length 2 at dim 1 \\(got 1\\)"),
    (lambda: torch.tensor("x"), TypeError, "new\\(\\): invalid data type 'str'"),
    (lambda: torch.tensor(None), (TypeError, RuntimeError), "Could not infer dtype of NoneType"),
    (lambda: torch.tensor([1, "x"]), (TypeError, ValueError), "'str'"),
    (lambda: torch.zeros(2, -3), RuntimeError, "Trying to create tensor with negative dimension -3: \\[2, -3\\]"),
    (lambda: torch.zeros(2.5), TypeError, "zeros\\(\\)"),
    (lambda: torch.arange(0, 3, 0), RuntimeError, "step must be nonzero"),
    (lambda: torch.arange(3, 0, 1), RuntimeError, "upper bound and lower bound inconsistent with step sign"),
])
def test_wrong_arguments(make, error, message):
    with pytest.raises(error, match=message):
        make()


@pytest.mark.parametrize("data, dtype, shape", [
    (1, "int64", ()), (1.5, "float32", ()), (True, "bool", ()), (1j, "complex64", ()), ([], "float32", (0,)),
    ([[1, 2], [3, 4.5]], "float32", (2, 2)), ([[], []], "float32", (2, 0)), ([True, 2], "int64", (2,)),
    (np.float64(2), "float64", ()), (np.arange(3, dtype=np.int16), "int16", (3,)), (range(3), "int64", (3,)),
    ([np.ones(2, np.float32)] * 3, "float32", (3, 2)), (np.array(3), "int64", ()), ([[True], [False]], "bool", (2, 1)),
])
def test_what_tensor_infers(data, dtype, shape):
    made = torch.tensor(data)
    assert made.dtype is getattr(torch, dtype) and tuple(made.shape) == shape
    assert made.tolist() == (np.array(data).tolist() if shape != () or not isinstance(data, np.generic) else data)
    assert made.is_leaf and not made.requires_grad


def test_tensor_copies_and_as_tensor_shares():
    array = np.zeros(3, np.float32)
    torch.tensor(array)[0] = 1
    assert not array.any()
    for share in (torch.as_tensor, torch.from_numpy):
        share(array)[0] += 1
    assert array[0] == 2
    x = torch.ones(2)
    assert torch.as_tensor(x) is x and torch.as_tensor(x, dtype=torch.int64) is not x


def test_new():
    x = torch.LongTensor([1, 2])
    assert x.new(2, 3).shape == (2, 3) and x.new([5.0]).tolist() == [5] and x.new().shape == (0,)
    assert x.new(2, 3).dtype is torch.int64
    assert x.new_tensor([1.5]).tolist() == [1] or x.new_tensor([1.5]).dtype is torch.int64
    assert x.new_zeros(2).tolist() == [0, 0] and x.new_ones((1, 2)).tolist() == [[1, 1]]
    assert x.new_full((2,), 7).tolist() == [7, 7] and x.new_empty(3).dtype is torch.int64
    assert x.new_zeros(2, dtype=torch.float64).dtype is torch.float64


def test_type():
    x = torch.FloatTensor([1.7, -2.2])
    assert x.type("torch.LongTensor").tolist() == x.type(torch.LongTensor).tolist() == x.long().tolist() == [1, -2]
    assert x.type(torch.int8).dtype is torch.int8 and x.type(torch.float32) is x
    assert x.type_as(torch.zeros(1, dtype=torch.float64)).type() == "torch.DoubleTensor"
    for name, dtype in (("double", "float64"), ("half", "float16"), ("byte", "uint8"), ("char", "int8"),
                        ("int", "int32"), ("short", "int16"), ("bool", "bool"), ("bfloat16", "bfloat16"),
                        ("cfloat", "complex64")):
        assert getattr(x, name)().dtype is getattr(torch, dtype)
    with pytest.raises(ValueError, match="invalid type: 'torch.NoTensor'"):
        x.type("torch.NoTensor")
    assert torch.is_tensor(x) and not torch.is_tensor(1) and torch.typename(x) == "torch.FloatTensor"


def test_like_and_fill():
    x = torch.zeros(2, 3, dtype=torch.float64)
    assert torch.ones_like(x).sum().item() == 6 and torch.full_like(x, 2).dtype is torch.float64
    assert torch.empty_like(x, dtype=torch.int32).dtype is torch.int32 and torch.zeros_like(x).shape == (2, 3)
    assert torch.full((2,), 1).dtype is torch.int64 and torch.full((2,), True).dtype is torch.bool
    assert torch.eye(2, 3).tolist() == [[1, 0, 0], [0, 1, 0]]
    assert torch.arange(1, 2, 0.25).tolist() == [1, 1.25, 1.5, 1.75] and torch.arange(5, 0, -2).tolist() == [5, 3, 1]
    assert torch.linspace(0, 1, 5).tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert torch.logspace(0, 2, 3).tolist() == [1, 10, 100]
    out = torch.empty(0)
    assert torch.zeros(2, out=out) is out and out.tolist() == [0, 0]
    assert torch.ones(2, requires_grad=True).requires_grad


# What a sequence holds, and the dtype that torch 2.13 and 1.1 make of it.
MIXED = [
    ([np.float64(1)], "float64", "float32"), ([np.float32(1)], "float32", "float32"),
    ([np.float64(1), 2], "float64", "float32"), ([np.int32(3)], "int32", "int32"),
    ([np.float32(1), np.float64(2)], "float64", "float32"), ([[np.float16(1)], [np.float64(2)]], "float64", "float32"),
    ([np.array([1.0, 2.0])], "float64", "float64"), ([np.array([1, 2], np.float32)], "float32", "float32"),
    ([np.int8(1), 1.0], "float32", "float32"), ([np.float32(1), 1], "float32", "float32"),
    ([np.uint8(3), np.int8(3)], "int16", "int16"), ((np.float64(1),), "float64", "float32"),
    ([1, 2.5], "float32", "float32"), ([True, 2], "int64", "int64"), ([1, 2j], "complex64", None),
    ([torch.tensor(1.0, dtype=torch.float64)], "float64", "float64"),
    ([1.0, torch.tensor(1.0, dtype=torch.float64)], "float64", "float64"),
    ([torch.tensor(1), 2.5], "float32", "float32"), ([range(3)], "int64", "int64"), ([[], []], "float32", "float32"),
]


@pytest.mark.parametrize("data, modern, old", MIXED)
def test_dtype_of_a_sequence(data, modern, old):
    for make in (torch.tensor, torch.as_tensor, torch.asarray):
        assert make(data).dtype is getattr(torch, modern)
    if old is not None:
        with torch.era("1.1"):
            assert torch.tensor(data).dtype is getattr(torch, old)


def test_values_of_a_mixed_sequence_are_exact():
    data = [np.float64(0.1), np.float32(0.1), 3]
    assert torch.tensor(data).tolist() == [float(x) for x in data]
    assert torch.tensor([np.int64(2**62 + 1), 5]).tolist() == [2**62 + 1, 5]


@pytest.mark.parametrize("data, dtype, values", [
    ([1, 2**63 + 5], "uint64", [1, 2**63 + 5]), ([[1], [2**64 - 1]], "uint64", [[1], [2**64 - 1]]),
    ([2**53 + 1, 1.0], "int64", [2**53 + 1, 1]), ([1, 2**70], "float64", [1.0, 2.0**70]),
    ([2**63 + 5], "float64", [2.0**63]), ([True, 2**63], "uint64", [1, 2**63])])
def test_large_integers_keep_their_digits(data, dtype, values):
    assert torch.tensor(data, dtype=getattr(torch, dtype)).tolist() == values


@pytest.mark.parametrize("data, dtype, error, message", [
    ([1, 2**63 + 5], None, ValueError, "Overflow when unpacking long long"),
    ([2**63 + 5], "int64", ValueError, "Overflow when unpacking long long"),
    ([-1], "uint64", OverflowError, "can't convert negative int to unsigned"),
    ([1.5], "uint64", TypeError, "an integer is required"),
    ([2**64], "uint64", OverflowError, "int too big to convert"),
    ([1e30], "int64", RuntimeError, "value cannot be converted to type int64 without overflow"),
    ([300], "uint8", RuntimeError, "value cannot be converted to type uint8 without overflow")])
def test_what_a_dtype_cannot_hold(data, dtype, error, message):
    with pytest.raises(error, match=message):
        torch.tensor(data, dtype=None if dtype is None else getattr(torch, dtype))
