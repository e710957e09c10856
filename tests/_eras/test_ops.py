"""What an op computes is the same in every era, but for what the eras say: dtypes, memory order, division."""
import warnings

import numpy as np
import pytest

import shimtorch as torch
from tests._ops.test_table import OPS, arguments, cases, each, results_of, seen

# Ops whose values or errors follow a policy: division of integers, refused mixtures, numbers that change no dtype,
# which of equal elements is named.
FOLLOW_POLICY = {"add", "sub", "mul", "div", "rsub", "pow", "floor_divide", "fmod", "remainder", "clamp",
                 "clamp_min", "clamp_max", "where", "ldexp", "xlogy", "bitwise_left_shift", "bitwise_right_shift",
                 "bitwise_or", "bitwise_xor", "arange", "bernoulli", "multinomial", "rand_like", "randn_like",
                 "randint_like", "empty_like", "poisson", "binomial", "rrelu", "trapezoid", "cumulative_trapezoid",
                 "max", "min"}


def outcome(op, index, dtype):
    """The results and gradients of one case, as arrays."""
    args, kwargs = arguments(op, index, dtype, torch.from_numpy)
    leaves = [a.requires_grad_() for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")                       # what some of the eras deprecate
        results = [r for r in results_of(seen(op, op(*args, **kwargs))) if isinstance(r, torch.Tensor)]
    differentiable = [r for r in results if r.requires_grad]
    grads = torch.autograd.grad(differentiable, leaves, [torch.ones_like(r) for r in differentiable],
                                allow_unused=True) if differentiable and leaves else ()
    return [r.detach() for r in results] + [g for g in grads if g is not None]


@pytest.mark.parametrize("era", ["1.1", "0.4"])
@each([op for op in OPS if op.__name__ not in FOLLOW_POLICY and "random" not in (op.forward.__module__ or "")])
def test_values_in_other_eras(op, era):
    for index, dtype, key in cases(op):
        try:
            want = outcome(op, index, dtype)
        except (RuntimeError, NotImplementedError, TypeError, ValueError, IndexError):
            continue                                          # refused today, or without a derivative
        with torch.era(era):
            got = outcome(op, index, dtype)
        assert len(got) == len(want), key
        for a, b in zip(got, want, strict=True):
            if a.layout is torch.strided and a.dtype is not torch.bfloat16 and b.dtype is not torch.bfloat16:
                assert a.shape == b.shape, key
                np.testing.assert_allclose(a.numpy().astype(complex), b.numpy().astype(complex), 1e-5, 1e-6,
                                           err_msg=key)
