"""The op table against real torch with fresh inputs: ``pytest --live-torch`` where torch is installed.

``--live-torch=WORD`` draws the same inputs each time.
"""
import secrets
import warnings

import pytest

import shimtorch

from .table import DTYPES, arguments, for_torch, full_name, results_of, sampled_ops, torch_function
from .test_table import REFUSALS, array_of, compare

OPS = sampled_ops()
UP_TO_A_FACTOR = ("eig", "eigh", "svd", "symeig", "qr")      # libraries choose the signs of vectors
LAZY = ("conj", "adjoint")        # views with a flag in torch; here the conjugate is computed


@pytest.fixture(scope="session")
def torch(request):
    if not request.config.getoption("--live-torch"):
        pytest.skip("needs --live-torch and an installed torch")
    import torch
    return torch


@pytest.fixture(scope="session")
def salt(request):
    word = request.config.getoption("--live-torch")
    return secrets.token_hex(4) if word is True else word


def shared(result, args, kwargs):
    """For each tensor with elements in a result: which of the arguments' memory it lies in, if any."""
    def memory(x):
        return x.untyped_storage().data_ptr() if hasattr(x, "untyped_storage") and x.numel() else None
    given = [memory(a) for a in results_of([*args, *kwargs.values()])]
    return [given.index(memory(r)) if memory(r) in given else None for r in results_of(result) if memory(r)]


@pytest.mark.parametrize("op", OPS, ids=[full_name(op) for op in OPS])
def test_against_torch(op, torch, salt):
    """Values, dtypes, shapes and shared memory are real torch's, and what it refuses is refused."""
    f = torch_function(op, torch)
    if f is None:
        pytest.skip("torch has no op of that name")
    for index in range(len(op.samples.calls)):
        for dtype in DTYPES[op.samples.dtypes]:
            what = f"{full_name(op)}/{index}/{dtype} with salt {salt}"
            theirs, their_kwargs = arguments(op, index, dtype, torch.from_numpy, salt)
            ours, our_kwargs = arguments(op, index, dtype, shimtorch.from_numpy, salt)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    args, kwargs = for_torch(theirs, their_kwargs, torch)
                    want = f(*args, **kwargs)
                except Exception:
                    with pytest.raises(REFUSALS):
                        op(*ours, **our_kwargs)
                    continue
                got = op(*ours, **our_kwargs)
            if not results_of(want):                           # today's torch has nothing to compare with
                continue
            if op.__name__ not in LAZY and op.samples.reference is None:
                assert shared(got, ours, our_kwargs) == shared(want, theirs, their_kwargs), what
            for a, b in zip(results_of(got), results_of(want), strict=True):
                if isinstance(b, torch.Tensor):
                    b = b.detach().resolve_conj().resolve_neg()
                    got_array, want_array = array_of(a), (b.float() if b.dtype is torch.bfloat16 else b).numpy()
                    if op.__name__ in UP_TO_A_FACTOR:
                        got_array, want_array = abs(got_array), abs(want_array)
                    compare(got_array, want_array, what)
                else:
                    assert a == b, what
