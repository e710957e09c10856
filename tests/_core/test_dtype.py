"""dtypes: their attributes, the default ones, and what mixed operands give (recorded from torch 2.13)."""
import json
import pathlib
import pickle
import re
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


PYTHON_TYPES = {float: "float64", int: "int64", bool: "bool", complex: "complex128"}
TYPED_CALLS = {
    "zeros": lambda torch, d: torch.zeros(2, dtype=d), "full": lambda torch, d: torch.full((2,), 1, dtype=d),
    "tensor": lambda torch, d: torch.tensor([1], dtype=d), "asarray": lambda torch, d: torch.asarray([1], dtype=d),
    "ones_like": lambda torch, d: torch.ones_like(torch.ones(2), dtype=d),
    "new_tensor": lambda torch, d: torch.ones(2).new_tensor([1], dtype=d),
    "to": lambda torch, d: torch.ones(2).to(d), "to device": lambda torch, d: torch.ones(2).to("cpu", d),
    "to dtype=": lambda torch, d: torch.ones(2).to(dtype=d), "sum": lambda torch, d: torch.ones(2).sum(dtype=d),
    "prod": lambda torch, d: torch.ones(2).prod(dtype=d), "view": lambda torch, d: torch.ones(4).view(d),
    "sparse": lambda torch, d: torch.sparse_coo_tensor([[0]], [1], (2,), dtype=d),
    "frombuffer": lambda torch, d: torch.frombuffer(bytearray(16), dtype=d),
}
REAL_CALLS = {
    "arange": lambda torch, d: torch.arange(1, 5, 1, dtype=d),
    "linspace": lambda torch, d: torch.linspace(0, 1, 2, dtype=d),
    "mean": lambda torch, d: torch.ones(2).mean(dtype=d), "softmax": lambda torch, d: torch.ones(2).softmax(0, d),
    "norm": lambda torch, d: torch.linalg.norm(torch.ones(2), dtype=d),
    "module": lambda torch, d: torch.nn.Linear(1, 1).to(d).weight, "finfo": lambda torch, d: torch.finfo(d),
    "to device and dtype of a module": lambda torch, d: torch.nn.Linear(1, 1, dtype=d).to("cpu", d).bias,
}


@pytest.mark.parametrize("name", TYPED_CALLS)
@pytest.mark.parametrize("kind", PYTHON_TYPES)
def test_types_of_python_are_dtypes(name, kind):
    """float is float64 and complex complex128, whatever the default dtype is."""
    found = TYPED_CALLS[name](torch, kind).dtype
    assert found is getattr(torch, PYTHON_TYPES[kind])


@pytest.mark.parametrize("name", REAL_CALLS)
def test_float_is_a_dtype(name):
    found = REAL_CALLS[name](torch, float).dtype
    assert found in (torch.float64, "float64")


def test_promotion_of_types_of_python():
    assert torch.promote_types(float, torch.float32) is torch.float64 and torch.can_cast(float, torch.float32)
    assert torch.iinfo(int).bits == 64 and torch.ones(2).to(float, copy=True).dtype is torch.float64
    with pytest.raises(TypeError, match="only floating-point types are supported as the default type"):
        torch.set_default_dtype(float)


@pytest.mark.parametrize("call, kind, text", [
    (lambda: torch.hann_window(3, dtype=torch.int64), RuntimeError, "hann_window expects floating point dtypes"),
    (lambda: torch.kaiser_window(3, dtype=bool), RuntimeError, "kaiser_window expects floating point dtypes"),
    (lambda: torch.hamming_window(3, dtype=torch.complex64), NotImplementedError,
     "\"arange_cpu\" not implemented for 'ComplexFloat'"),
    (lambda: torch.tril_indices(2, 2, dtype=torch.uint8), NotImplementedError,
     "\"tril_indices\" not implemented for 'Byte'"),
    (lambda: torch.triu_indices(2, 2, dtype=float), NotImplementedError,
     "\"triu_indices\" not implemented for 'Double'"),
    (lambda: torch.ones(3).view(torch.float64), RuntimeError,
     "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3"),
    (lambda: torch.linalg.norm(torch.ones(2), dtype=int), RuntimeError,
     "linalg.vector_norm: dtype should be floating point or complex, but got Long"),
    (lambda: torch.linalg.matrix_norm(torch.ones(2, 2), dtype=complex), RuntimeError,
     "linalg.matrix_norm: dtype should be real for real inputs, but got ComplexDouble"),
    (lambda: torch.linalg.matrix_norm(torch.ones(2, 2, dtype=torch.complex64), dtype=float), RuntimeError,
     "linalg.matrix_norm: dtype should be complex for complex inputs, but got Double"),
    (lambda: torch.linalg.vector_norm(torch.ones(2), dtype=torch.float16), RuntimeError,
     "linalg.vector_norm: the dtype of the input (Float) should be convertible without narrowing to the specified "
     "dtype (Half)"),
    (lambda: torch.nn.Linear(1, 1).to(int), TypeError,
     "nn.Module.to only accepts floating point or complex dtypes, but got desired dtype=torch.int64"),
])
def test_dtypes_that_an_operation_has_not(call, kind, text):
    with pytest.raises(kind, match=re.escape(text)):
        call()
