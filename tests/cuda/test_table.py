"""The op table on the device: the rows of tests/_ops, whose answers real torch recorded.

An op either gives the recorded answer, on the device, or says that it is not implemented; ops that are said to work on
a device may not say so.
"""
import warnings

import pytest

import shimtorch as torch

from .._ops.table import arguments, full_name, results_of, sampled_ops, seen
from .._ops.test_table import ANSWERS, REFUSALS, array_of, cases, checked, compare, writes

if torch.cuda.is_available():
    torch.cuda.init()                  # which says what ops do on a device
OPS = sampled_ops()
# Ops whose answer is not a value: it shows memory, or how the op is called on the CPU.
LEFT_OUT = {"as_strided_scatter", "set_", "resize_", "resize_as_", "numpy", "tolist", "is_shared"}
# Calls whose result is on the CPU: they ask for that, or take a tensor as a number.
ON_THE_CPU = {"torch.Tensor.to/1", "torch.linspace/4"}
# Calls that torch answers otherwise on CUDA: there the driver of least squares is gels unless another is named.
OTHERWISE = {f"torch.linalg.lstsq/{i}" for i in range(4)}


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def on_device(array):
    return torch.from_numpy(array).cuda()


def each(ops):
    return pytest.mark.parametrize("op", ops, ids=[full_name(op) for op in ops])


def may_refuse(op, error):
    """Whether an op may say that it is not implemented: it has no form for the device, or none for the dtype."""
    words = ("dtype", " not implemented for '", "tensors on different devices", "is not implemented for device")
    return op.cuda is None or op.differentiable is None or any(w in str(error) for w in words)


def attempt(op, args, kwargs):
    """The result on the device; None where the op, or one that a composite is made of, has no form there."""
    try:
        return (op(*args, **kwargs),)
    except NotImplementedError as error:
        assert may_refuse(op, error), f"{full_name(op)}: {error}"
    except RuntimeError as error:          # a composite has made a part of it on the CPU
        if op.differentiable is not None or "same device" not in str(error):
            raise
    return None


@each([op for op in OPS if op.__name__ not in LEFT_OUT])
def test_answers(op):
    for index, dtype, key in cases(op):
        answer = ANSWERS.table.get(key)
        if answer is None or f"{full_name(op)}/{index}" in OTHERWISE:
            continue
        args, kwargs = arguments(op, index, dtype, on_device)
        if not any(isinstance(a, torch.Tensor) for a in results_of([*args, *kwargs.values()])):
            continue
        if "error" in answer:
            with pytest.raises(REFUSALS):
                op(*args, **kwargs)
            continue
        got = attempt(op, args, kwargs)
        if got is None:
            continue
        for part, r in zip(answer["parts"], results_of(seen(op, got[0])), strict=True):
            if isinstance(part, list):
                assert r.is_cuda != (f"{full_name(op)}/{index}" in ON_THE_CPU), f"{key}: {r.device}"
                compare(array_of(r.cpu()), ANSWERS.array(part), key)
            else:
                assert r == part["value"], key


def gradients(op, index, dtype, make):
    """The gradients of a sample call's float arguments; None where there are none or no form."""
    leaves = []

    def leaf(array):
        t = make(array)
        if array.dtype.kind in "fc":
            leaves.append(t.requires_grad_())
        return t
    args, kwargs = arguments(op, index, dtype, leaf)
    if writes(op):
        args[0] = args[0].clone()
    try:
        outputs = [r for r in results_of(seen(op, op(*args, **kwargs)))
                   if isinstance(r, torch.Tensor) and r.requires_grad]
        if not outputs or not leaves:
            return None
        return torch.autograd.grad(outputs, leaves, [torch.ones_like(r) for r in outputs], allow_unused=True)
    except RuntimeError as error:          # NotImplementedError is one
        if isinstance(error, NotImplementedError) or "same device" in str(error):
            return None
        raise


@each([op for op in OPS if op.samples.gradcheck and op.cuda is not None and op.__name__ not in LEFT_OUT])
def test_gradients_are_those_of_the_cpu(op):
    for index, dtype, key in cases(op):
        if dtype != "float64" or not checked(op, index) or "error" in ANSWERS.table.get(key, {}):
            continue
        if f"{full_name(op)}/{index}" in OTHERWISE:
            continue
        got = gradients(op, index, dtype, on_device)
        if got is None:
            continue
        for a, b in zip(got, gradients(op, index, dtype, torch.from_numpy), strict=True):
            assert (a is None) == (b is None), key
            if a is not None:
                assert a.is_cuda, key
                compare(array_of(a.cpu()), array_of(b), key)


@each([op for op in OPS if op.inplace_op is not None and op.cuda is not None])
def test_in_place(op):
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        args, kwargs = arguments(op, index, dtype, on_device)
        if not isinstance(args[0], torch.Tensor):
            continue
        want = attempt(op, args, kwargs)
        if want is None or want[0].shape != args[0].shape or want[0].dtype is not args[0].dtype:
            continue
        x = args[0].clone()
        version = x._version
        assert op.inplace_op(x, *args[1:], **kwargs) is x and x._version > version
        compare(array_of(x.cpu()), array_of(want[0].cpu()), key)


@each([op for op in OPS if op.has_out and op.cuda is not None])
def test_out(op):
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        args, kwargs = arguments(op, index, dtype, on_device)
        want = attempt(op, args, kwargs)
        if want is None or not isinstance(want[0], torch.Tensor) or not want[0].is_cuda:
            continue
        if op.out_needs is not None and len(args) < 2 and op.out_needs not in kwargs:
            continue  # refused, as on the CPU
        out = torch.empty(0, dtype=want[0].dtype, device="cuda")
        assert op(*args, out=out, **kwargs) is out
        compare(array_of(out.cpu()), array_of(want[0].cpu()), key)
