"""dtypes: their attributes, the default ones, and what mixed operands give (recorded from torch 2.13)."""
import json
import pathlib
import pickle
import warnings

import numpy as np
import pytest

import shimtorch as torch

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "promotion.json").read_text())
OPS = {"result_type": torch.result_type, "mul": torch.mul, "div": torch.div, "eq": torch.eq, "pow": torch.pow,
       "where": lambda a, b: torch.where(torch.tensor([True]), a, b)}
NUMBERS = {"True": True, "2": 2, "2.0": 2.0, "2j": 2j}


def answer(f, a, b):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")          # of overflow, with small dtypes
        try:
            r = f(a, b)
        except (RuntimeError, TypeError) as error:
            return type(error).__name__
    return str(r if isinstance(r, torch.dtype) else r.dtype).partition(".")[2]


@pytest.mark.parametrize("key", ANSWERS)
def test_mixed_operands(key):
    name, first, dims = key.split()
    a = torch.ones((1,) * int(dims), dtype=getattr(torch, first))
    got = {}
    for second in ANSWERS[key]:
        if second in NUMBERS:
            got[second] = answer(OPS[name], a, NUMBERS[second])
        else:
            dtype, other = second.split()
            got[second] = answer(OPS[name], a, torch.ones((1,) * int(other), dtype=getattr(torch, dtype)))
    assert got == ANSWERS[key]


def test_attributes():
    assert (torch.float32.itemsize, torch.float32.is_floating_point, torch.float32.is_complex) == (4, True, False)
    assert (torch.complex64.itemsize, torch.complex64.is_floating_point, torch.complex64.is_complex) == (8, False, True)
    assert (torch.uint8.is_signed, torch.int8.is_signed, torch.bool.is_signed) == (False, True, False)
    assert str(torch.int64) == repr(torch.int64) == "torch.int64"
    assert torch.float is torch.float32 and torch.long is torch.int64 and torch.half is torch.float16
    assert pickle.loads(pickle.dumps(torch.int32)) is torch.int32
    assert len({torch.float32, torch.float, torch.float64}) == 2


@pytest.fixture
def restored():
    yield
    torch.set_default_dtype(torch.float32)


def test_default_dtype(restored):
    torch.set_default_dtype(torch.float64)
    assert torch.get_default_dtype() is torch.float64
    for made in (torch.tensor(1.5), torch.zeros(2), torch.Tensor([1]), torch.ones(2, dtype=torch.int64) / 2,
                 torch.rand(1), torch.linspace(0, 1, 2), torch.full((2,), 1.0), torch.eye(2)):
        assert made.dtype is torch.float64
    assert torch.tensor(1j).dtype is torch.complex128
    assert torch.tensor([1]).dtype is torch.int64 and torch.arange(3).dtype is torch.int64
    torch.set_default_tensor_type("torch.FloatTensor")
    assert torch.tensor(1.5).dtype is torch.float32
    torch.set_default_tensor_type(torch.DoubleTensor)
    assert torch.tensor(1.5).dtype is torch.float64
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(torch.int64)
    assert torch.get_default_dtype() is torch.float64


@pytest.mark.parametrize("name", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64",
                                  "complex64", "complex128", "uint16", "uint32", "uint64"])
def test_numpy_has_the_same(name):
    array = np.ones((2, 3), name)
    assert torch.from_numpy(array).dtype is getattr(torch, name)
    assert torch.from_numpy(array).numpy().dtype == array.dtype
    assert torch.from_numpy(array).tolist() == array.tolist()


def test_what_numpy_has_more():
    for array in (np.ones(2, "U1"), np.ones(2, "O"), np.zeros(2, "M8[s]"), np.ones(2, "f4,f4")):
        with pytest.raises(TypeError, match="can't convert np.ndarray of type"):
            torch.from_numpy(array)


@pytest.mark.parametrize("a, b, want", [("uint8", "int8", "int16"), ("float16", "bfloat16", "float32"),
                                        ("int64", "float16", "float16"), ("float64", "complex64", "complex128"),
                                        ("bool", "uint8", "uint8")])
def test_promote_types(a, b, want):
    assert torch.promote_types(getattr(torch, a), getattr(torch, b)) is getattr(torch, want)
    assert torch.promote_types(getattr(torch, b), getattr(torch, a)) is getattr(torch, want)


def test_can_cast():
    assert torch.can_cast(torch.int64, torch.float16) and torch.can_cast(torch.float64, torch.float32)
    assert not torch.can_cast(torch.float32, torch.int64) and not torch.can_cast(torch.complex64, torch.float32)
    assert not torch.can_cast(torch.int8, torch.bool)


def test_integers_wrap():
    assert (torch.tensor([200, 100], dtype=torch.uint8) + 100).tolist() == [44, 200]
    assert (torch.tensor([127], dtype=torch.int8) * 2).tolist() == [-2]
    assert torch.tensor([300.7, -1.5]).to(torch.int16).tolist() == [300, -1]
    assert torch.tensor([2 ** 31]).to(torch.int32).tolist() == [-2 ** 31]
