"""No input may crash the interpreter: random malformed calls of every function and method raise, or answer."""
import random
import warnings

import pytest

import shimtorch as torch
from shimtorch._core import METHODS, OPS

EXPECTED = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError, AttributeError, OverflowError,
            ZeroDivisionError, MemoryError, AssertionError, KeyError)
CALLS = 10_000


def values(rng):
    """A value that some argument will not expect."""
    shape = [rng.choice((0, 1, 2, 3)) for _ in range(rng.randrange(4))]
    dtype = rng.choice((torch.float32, torch.float64, torch.int64, torch.uint8, torch.bool, torch.complex64,
                        torch.float16, torch.bfloat16, torch.int8))
    choices = (
        lambda: torch.zeros(shape, dtype=dtype),
        lambda: torch.zeros(shape, dtype=torch.int64) - rng.randrange(5),
        lambda: torch.ones(3, 4).t()[1:],
        lambda: torch.ones(1).expand(3, 3),
        lambda: torch.ones(2, 2, requires_grad=True),
        lambda: rng.choice((0, 1, -1, 2, 7, -9, 2 ** 31, -2 ** 63, 2 ** 70, 10 ** 30)),
        lambda: rng.choice((0.5, -1.5, float("nan"), float("inf"), 1e300)),
        lambda: rng.choice((None, True, False, "ij,jk->ik", "", "x", b"y", 1j, ..., slice(None, None, -1))),
        lambda: tuple(rng.choice((0, 1, -1, 2, 5, -7, 2 ** 40)) for _ in range(rng.randrange(4))),
        lambda: [torch.ones(2), torch.ones(2, 3)][:rng.randrange(3)],
        lambda: rng.choice((torch.int64, torch.device("cpu"), torch.strided, object(), {}, {1: 2})),
    )
    return rng.choice(choices)()


@pytest.mark.parametrize("part", range(4))
def test_random_calls(part):
    rng = random.Random(20170206 + part)
    functions = sorted({**{k: v for k, v in OPS.items()}, **{"Tensor." + k: v for k, v in METHODS.items()}}.items())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(CALLS // 4):
            name, f = rng.choice(functions)
            args = [values(rng) for _ in range(rng.randrange(5))]
            if name.startswith("Tensor.") and rng.random() < 0.8:
                args.insert(0, torch.ones(rng.choice(((), (2, 3), (0,), (1, 2, 3)))))
            kwargs = {k: values(rng) for k in rng.sample(("dim", "keepdim", "dtype", "out", "alpha", "value", "index"),
                                                         rng.choice((0, 0, 0, 1, 2)))}
            try:
                f(*args, **kwargs)
            except EXPECTED:
                pass
