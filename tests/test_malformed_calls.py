"""No input may crash the interpreter: random malformed calls of every function and method raise, or answer."""
import importlib
import random
import sys
import warnings

import numpy as np
import pytest

import shimtorch as torch
from shimtorch._core import METHODS, OPS

from ._ops.table import arguments, sampled_ops

EXPECTED = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError, OverflowError,
            ZeroDivisionError, MemoryError, AssertionError, KeyError, BufferError)
CALLS = 10_000
DTYPES = (torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64, torch.complex128,
          torch.float16, torch.bfloat16, torch.int8, torch.int16, torch.uint16, torch.uint64)
NUMBERS = (0, 1, -1, 2, 7, -9, 64, 65, 2 ** 31, 2 ** 31 - 1, -2 ** 31 - 1, 2 ** 40, 2 ** 62, 2 ** 63 - 1, -2 ** 63,
           2 ** 63,
           2 ** 64 - 1, 2 ** 70, -10 ** 30)
KEYWORDS = ("dim", "keepdim", "dtype", "out", "alpha", "value", "index", "size", "beta", "min", "max", "input", "other",
            "dims", "diagonal", "reduce", "memory_format", "device", "requires_grad", "bogus")
# CPython 3.11 itself crashes where a line that has called a method of objects calls it of their class without arguments
# (`x.split()` with the class str, after strings), as Python functions that are given a class do.
CLASSES = (int, float) if sys.version_info[:2] == (3, 11) else (int, float, torch.Tensor)
MEMORY = 6 << 30                       # bytes of address space: what asks for more raises MemoryError


@pytest.fixture(autouse=True)
def bounded_memory():
    """An address space in which a size that should have been refused cannot be allocated."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


def tensors(rng):
    """Tensors of every layout: empty, expanded, transposed, strided, of many dimensions, with history, sparse."""
    shape = [rng.choice((0, 1, 2, 3)) for _ in range(rng.randrange(5))]
    dtype = rng.choice(DTYPES)
    choices = (
        lambda: torch.zeros(shape, dtype=dtype),
        lambda: torch.zeros(shape, dtype=torch.int64) - rng.randrange(5),
        lambda: torch.zeros(shape, dtype=torch.int64) + rng.choice((2, 9, 2 ** 40, -2 ** 62)),
        lambda: torch.zeros(shape, dtype=torch.bool).logical_not(),
        lambda: torch.ones(3, 4).t()[1:],
        lambda: torch.ones(4, 6)[::2, 1::2],
        lambda: torch.ones(1).expand(3, 3),
        lambda: torch.ones(1).expand(100, 1, 300),
        lambda: torch.zeros([1] * 64),
        lambda: torch.ones(2, 2, requires_grad=True),
        lambda: torch.ones(2, 2, requires_grad=True) * 2,
        lambda: torch.ones(2, 2, requires_grad=True).unbind()[0],
        lambda: torch.tensor(rng.choice((float("nan"), float("inf"), 1e300))),
        lambda: torch.eye(3).to_sparse(),
        lambda: torch.eye(3).to_sparse_csr(),
    )
    return rng.choice(choices)()


def values(rng):
    """A value that some argument will not expect."""
    choices = (
        lambda: tensors(rng), lambda: tensors(rng), lambda: tensors(rng),
        lambda: rng.choice(NUMBERS), lambda: rng.choice(NUMBERS),
        lambda: rng.choice((0.5, -1.5, float("nan"), float("inf"), 1e300, np.float32(2), np.int64(1), np.bool_(True))),
        lambda: rng.choice((None, True, False, "ij,jk->ik", "", "x", b"y", 1j, ..., slice(None, None, -1), range(3))),
        lambda: tuple(rng.choice((0, 1, -1, 2, 5, -7, 2 ** 40, 2 ** 62)) for _ in range(rng.randrange(5))),
        lambda: [rng.choice((0, 1, "x", None, 1.5, [2])) for _ in range(rng.randrange(4))],
        lambda: [tensors(rng) for _ in range(rng.randrange(4))],
        lambda: np.ones([rng.randrange(3) for _ in range(rng.randrange(3))],
                        rng.choice(("f4", "i8", "O", "U1", "M8[s]"))),
        lambda: rng.choice((torch.int64, torch.device("cpu"), torch.strided, torch.channels_last, object(), {}, {1: 2},
                            *CLASSES, len, torch.Size([2]))),
    )
    return rng.choice(choices)()


def attempt(f, args, kwargs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            f(*args, **kwargs)
        except EXPECTED:
            pass


FUNCTIONS = sorted({**OPS, **{"Tensor." + k: v for k, v in METHODS.items()}, **{
    name: getattr(torch, name) for name in ("tensor", "as_tensor", "zeros", "ones", "empty", "full", "from_numpy",
                                            "Size", "Tensor", "LongTensor", "result_type", "promote_types")}}.items())


# Namespaces whose every function is called; and those of their functions that change what all others do, or files.
SPACES = ("", "nn.functional", "nn.init", "nn.utils", "nn.utils.rnn", "linalg", "fft", "special", "sparse", "random",
          "autograd", "overrides", "utils.dlpack", "_layer_functions", "distributions.kl", "nn.utils.stateless")
APART = {"era", "install", "uninstall", "installed", "save", "load", "from_file", "seed", "set_default_tensor_type",
         "set_default_dtype", "set_default_device", "set_grad_enabled", "set_printoptions", "set_num_threads",
         "set_num_interop_threads", "set_warn_always", "set_flush_denormal", "use_deterministic_algorithms",
         "set_deterministic_debug_mode", "set_float32_matmul_precision", "set_anomaly_enabled", "set_detect_anomaly",
         "inference_mode", "get_testing_overrides", "get_overridable_functions", "get_ignored_functions",
         "resolve_name", "autocast_increment_nesting", "autocast_decrement_nesting",
         *(name for name in dir(torch) if name.startswith("set_autocast_"))}


def public_functions():
    """Every function of the namespaces, every method of Tensor, and reading and writing of its attributes."""
    found = {}
    for space in SPACES:
        home = importlib.import_module("shimtorch" + "." * bool(space) + space)
        for name in dir(home):
            f = None if name.startswith("_") or name in APART else getattr(home, name, None)
            if callable(f) and not isinstance(f, type):
                found[f"{space}.{name}"] = f
    for name, member in {**vars(torch.Tensor.__base__), **vars(torch.Tensor)}.items():
        if name in ("__new__", "__init_subclass__", "__class__", "__dict__", "__weakref__"):
            continue
        if hasattr(type(member), "__set__"):
            found[f"Tensor.{name}.__get__"], found[f"Tensor.{name}.__set__"] = member.__get__, member.__set__
        elif callable(member):
            found[f"Tensor.{name}"] = getattr(torch.Tensor, name)
    return sorted(found.items())


@pytest.mark.parametrize("part", range(4))
def test_public_functions(part):
    """Functions and members that are no ops, too."""
    rng = random.Random(20210304 + part)
    functions = public_functions()
    assert len(functions) > 1500
    for name, f in functions[part::4]:
        for _ in range(CALLS // 2000):
            args = [values(rng) for _ in range(rng.randrange(6))]
            if name.startswith("Tensor.") and rng.random() < 0.8:
                args.insert(0, tensors(rng))
            attempt(f, args, {k: values(rng) for k in rng.sample(KEYWORDS, rng.choice((0, 0, 0, 1, 2)))})


@pytest.mark.parametrize("part", range(4))
def test_random_calls(part):
    """Any function with any values."""
    rng = random.Random(20170206 + part)
    for _ in range(CALLS // 4):
        name, f = rng.choice(FUNCTIONS)
        args = [values(rng) for _ in range(rng.randrange(6))]
        if name.startswith("Tensor.") and rng.random() < 0.8:
            args.insert(0, tensors(rng))
        attempt(f, args, {k: values(rng) for k in rng.sample(KEYWORDS, rng.choice((0, 0, 0, 1, 2)))})


@pytest.mark.parametrize("part", range(4))
def test_spoilt_calls(part):
    """Calls that were right until one or two arguments were replaced."""
    rng = random.Random(20180424 + part)
    ops = sampled_ops()
    for _ in range(CALLS // 4):
        op = rng.choice(ops)
        args, kwargs = arguments(op, rng.randrange(len(op.samples.calls)),
                                 rng.choice(("float32", "int64", "complex64")),
                                 torch.from_numpy, rng.random())
        for _ in range(rng.choice((1, 1, 2))):
            if args:
                args[rng.randrange(len(args))] = values(rng)
        if kwargs and rng.random() < 0.5:
            kwargs[rng.choice(list(kwargs))] = values(rng)
        if rng.random() < 0.2:
            kwargs[rng.choice(KEYWORDS)] = values(rng)
        attempt(rng.choice((op, op.inplace_op)) or op, args, kwargs)


@pytest.mark.parametrize("part", range(2))
def test_indexing(part):
    """``x[i]``, ``x[i] = v`` and ``x[i, j]`` with anything."""
    rng = random.Random(20190501 + part)
    for _ in range(CALLS // 4):
        x = tensors(rng)
        index = values(rng) if rng.random() < 0.5 else tuple(values(rng) for _ in range(rng.randrange(4)))
        attempt(lambda x, i: x[i], (x, index), {})
        attempt(lambda x, i, v: x.__setitem__(i, v), (x, index, values(rng)), {})


def test_huge_sizes_raise():
    """Sizes beyond any memory are refused, whether they overflow or not."""
    one = torch.ones(1)
    for call in (lambda: torch.zeros(2 ** 62), lambda: torch.ones(2 ** 40, 2 ** 40), lambda: torch.empty(2 ** 70),
                 lambda: torch.eye(2 ** 40), lambda: torch.arange(2 ** 62), lambda: torch.linspace(0, 1, 2 ** 60),
                 lambda: one.expand(2 ** 62).clone(), lambda: one.expand(2 ** 62, 4), lambda: one.repeat(2 ** 62),
                 lambda: torch.zeros(2 ** 45), lambda: one.expand(2 ** 45) + 1,
                 lambda: one.resize_(2 ** 62), lambda: torch.full((2 ** 61,), 1.0), lambda: one.new_empty(2 ** 62),
                 lambda: one.as_strided((2 ** 62, 4), (2 ** 62, 1)), lambda: one.as_strided((3, 2 ** 62), (0, 1)),
                 lambda: torch.cat([one.expand(2 ** 62)] * 4), lambda: torch.tril_indices(2 ** 40, 2 ** 40)):
        with pytest.raises((RuntimeError, TypeError, ValueError, MemoryError, OverflowError)):
            call()
