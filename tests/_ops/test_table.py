"""Every op alike: values and dtypes as real torch recorded them, derivatives, memory layouts, in-place and out=."""
import pathlib
import warnings

import numpy as np
import pytest
from shimtorch._core.inplace import InplaceOp

import shimtorch as torch
from shimtorch._core import OPS as ALL_OPS

from .table import DTYPES, Answers, arguments, full_name, has_special, results_of, sampled_ops, seen

ANSWERS = Answers(pathlib.Path(__file__).parent.parent / "answers" / "ops.npz")
OPS = sampled_ops()
TOLERANCE = {"float32": (2e-5, 2e-6), "complex64": (5e-5, 5e-6), "float64": (1e-9, 1e-12), "complex128": (1e-9, 1e-12)}
SHOW_MEMORY = {"as_strided", "as_strided_copy", "as_strided_", "as_strided_scatter", "resize_", "resize_as_", "set_"}
REFUSALS = (RuntimeError, TypeError, IndexError, ValueError, NotImplementedError)


def each(ops):
    return pytest.mark.parametrize("op", ops, ids=[full_name(op) for op in ops])


def writes(op):
    """Whether an op's forward itself writes to its first argument."""
    return isinstance(op, InplaceOp)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def cases(op):
    for index in range(len(op.samples.calls)):
        for dtype in DTYPES[op.samples.dtypes]:
            yield index, dtype, f"{full_name(op)}/{index}/{dtype}"


def array_of(t):
    t = t.detach()
    return (t.float() if t.dtype is torch.bfloat16 else t).numpy()


def compare(got, want, what):
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, torch has {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, torch has {want.shape}"
    rtol, atol = TOLERANCE.get(str(want.dtype), (0, 0))
    if want.dtype.kind == "c":         # an infinity in one part says nothing about the other
        np.testing.assert_allclose(got.real, want.real, rtol, atol, err_msg=what)
        np.testing.assert_allclose(got.imag, want.imag, rtol, atol, err_msg=what)
    else:
        np.testing.assert_allclose(got, want, rtol, atol, err_msg=what)


@each(OPS)
def test_answers(op):
    for index, dtype, key in cases(op):
        if key not in ANSWERS.table:
            continue
        answer = ANSWERS.table[key]
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        if "error" in answer:
            with pytest.raises(REFUSALS):
                op(*args, **kwargs)
            continue
        before = [array_of(t).copy() for t in strided((args, kwargs))]
        for part, r in zip(answer["parts"], results_of(seen(op, op(*args, **kwargs))), strict=True):
            if isinstance(part, list):
                compare(array_of(r), ANSWERS.array(part), key)
            else:
                assert r == part["value"] and type(r) is type(part["value"]), key
        for t, kept in zip(strided((args, kwargs)), before, strict=True):
            assert writes(op) or np.array_equal(array_of(t), kept, equal_nan=kept.dtype.kind in "fc"), key


def strided(x):
    """The dense tensors among arguments."""
    if isinstance(x, torch.Tensor):
        return [x] if x.layout is torch.strided else []
    if isinstance(x, dict):
        x = list(x.values())
    return [t for item in x for t in strided(item)] if isinstance(x, (list, tuple)) else []


def every_second(array):
    """A tensor on every second element of larger memory."""
    spread = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
    view = spread[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return torch.from_numpy(view)


def reversed_order(array):
    """A tensor whose first dimension is the fastest in memory."""
    return torch.from_numpy(np.ascontiguousarray(array.T).T)


# Of these, a tensor in the place of a number is another form.
OTHER_FORMS = {"new_tensor", "max", "min", "histogram", "scatter"}


@each([op for op in OPS if op.__name__ not in OTHER_FORMS and not op.__name__.startswith("random")])
def test_whole_numbers_may_be_tensors(op):
    """A 0-dim tensor does for a whole number, and is left as it is."""
    done = set()
    for index, dtype, key in cases(op):
        if index in done or "error" in ANSWERS.table.get(key, {}):
            continue
        done.add(index)
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        numbers = []
        args2, kwargs2 = [as_tensors(x, numbers) for x in args], as_tensors(kwargs, numbers)
        if not numbers or writes(op):
            continue
        torch.manual_seed(0)
        want = op(*args, **kwargs)
        torch.manual_seed(0)
        try:
            got = op(*args2, **kwargs2)
        except TypeError:
            continue
        for a, b in zip(results_of(got), results_of(want), strict=True):
            if isinstance(b, torch.Tensor) and b.layout is torch.strided:
                compare(array_of(a), array_of(b), key)
        for t, value in numbers:
            assert t.item() == value, key


def as_tensors(x, numbers):
    """An argument, or a dict of them, with the whole numbers as tensors; numbers takes each pair."""
    if isinstance(x, dict):
        return {name: as_tensors(value, numbers) for name, value in x.items()}
    if type(x) is not int:
        return x
    numbers.append((torch.tensor(x), x))
    return numbers[-1][0]


@pytest.mark.parametrize("layout", [every_second, reversed_order])
@each([op for op in OPS if op.__name__ not in SHOW_MEMORY])
def test_memory_layouts(op, layout):
    """Non-contiguous operands give the values that contiguous ones do."""
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        args2, kwargs2 = arguments(op, index, dtype, lambda a: layout(a) if a.ndim else torch.from_numpy(a))
        want = op(*args, **kwargs)
        try:
            got = op(*args2, **kwargs2)
        except RuntimeError as error:
            assert "view" in str(error) or "stride" in str(error), key
            continue
        for a, b in zip(results_of(seen(op, got)), results_of(seen(op, want)), strict=True):
            if isinstance(b, torch.Tensor):
                compare(array_of(a), array_of(b), key)


def replaced(x, new):
    """Arguments with their leaves replaced."""
    if isinstance(x, (list, tuple)):
        return type(x)(replaced(i, new) for i in x)
    return new.get(id(x), x)


@pytest.mark.parametrize("order", [1, 2])
@each([op for op in OPS if op.samples.gradcheck])
def test_gradients(op, order):
    """Derivatives equal finite differences, and so do their own derivatives."""
    from shimtorch.autograd import gradcheck, gradgradcheck
    if order == 2 and not op.samples.gradgradcheck:
        pytest.skip("the op has no second derivative")
    check = gradcheck if order == 1 else gradgradcheck
    for index in range(len(op.samples.calls)):
        for dtype in [d for d in ("float64", "complex128") if d in DTYPES[op.samples.dtypes]]:
            if checked(op, index):
                check_case(op, index, dtype, check)


def checked(op, index):
    """Whether a sample call has a derivative to check."""
    calls = op.samples.gradcheck
    return op.samples.dtypes != "int" and not has_special(op, index) and (calls is True or index in calls)


def check_case(op, index, dtype, check):
    leaves = []

    def make(array):
        t = torch.from_numpy(array)
        if array.dtype.kind in "fc":
            leaves.append(t.requires_grad_())
        return t
    if "error" in ANSWERS.table.get(f"{full_name(op)}/{index}/{dtype}", {}):
        return
    args, kwargs = arguments(op, index, dtype, make)
    if not leaves:
        return

    def f(*values):
        new = {id(a): v for a, v in zip(leaves, values)}
        given = [replaced(a, new) for a in args]
        if writes(op):
            given[0] = given[0].clone()
        if op.samples.prepare is not None:
            given = op.samples.prepare(given)
        result = op(*given, **{k: replaced(v, new) for k, v in kwargs.items()})
        return tuple(r for r in results_of(seen(op, result))
                     if isinstance(r, torch.Tensor) and (r.is_floating_point() or r.is_complex()))
    outputs = f(*leaves)
    if not outputs:
        return
    if not any(o.requires_grad for o in outputs):
        from shimtorch.autograd import gradcheck
        assert not op.differentiable
        check = gradcheck                  # which sees whether they are constant
    assert check(f, leaves, atol=1e-4, rtol=1e-3), f"{full_name(op)}/{index}/{dtype}"


@each([op for op in OPS if op.inplace_op is not None])
def test_in_place(op):
    """The in-place form gives the same values, writes to the tensor itself, and counts the write."""
    checked = 0
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        want = op(*args, **kwargs)
        if not isinstance(args[0], torch.Tensor):
            continue
        x = args[0].clone()
        if want.shape != x.shape or want.dtype is not x.dtype:
            continue
        version = x._version
        assert op.inplace_op(x, *args[1:], **kwargs) is x
        compare(x.numpy(), want.numpy(), key)
        assert x._version > version
        checked += 1
    assert checked


@each([op for op in OPS if op.inplace_op is not None and op.samples.gradcheck])
def test_in_place_gradient(op):
    """What is written in place leads to the same gradients, for the tensor that was written to and the others."""
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        grads = []
        for f in (op, op.inplace_op):
            args, kwargs = arguments(op, index, dtype, torch.from_numpy)
            leaves = [a.requires_grad_() for a in args if isinstance(a, torch.Tensor) and a.is_floating_point()]
            if not leaves or leaves[0] is not args[0]:
                break
            result = f(args[0] * 1, *args[1:], **kwargs)
            if result.shape != args[0].shape or result.dtype is not args[0].dtype or not result.requires_grad:
                break
            grads.append(torch.autograd.grad(result, leaves, torch.ones_like(result), allow_unused=True))
        if len(grads) == 2:
            for a, b in zip(*grads, strict=True):
                assert (a is None) == (b is None)
                if a is not None:
                    compare(b.numpy(), a.numpy(), key)


@each([op for op in OPS if op.has_out])
def test_out(op):
    """``out=`` receives the result, resized when empty, and is returned."""
    for index, dtype, key in cases(op):
        if "error" in ANSWERS.table.get(key, {}):
            continue
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        want = op(*args, **kwargs)
        if op.out_needs is not None and len(args) < 2 and op.out_needs not in kwargs:
            with pytest.raises(TypeError, match=f"missing 1 required positional arguments: \"{op.out_needs}\""):
                op(*args, out=torch.empty(0, dtype=want.dtype), **kwargs)
            continue
        if isinstance(want, torch.Tensor):
            out = torch.empty(0, dtype=want.dtype)
            assert op(*args, out=out, **kwargs) is out
        else:
            out = tuple(torch.empty(0, dtype=w.dtype) for w in want)
            op(*args, out=out, **kwargs)
        for a, b in zip(results_of(out), results_of(want), strict=True):
            compare(a.numpy(), b.numpy(), key)


def test_every_public_op_has_samples():
    """An op that users can name is in the table, unless another suite tests its family."""
    elsewhere = ("sparse", "random", "dropout", "draws", "lowrank")
    missing = {full_name(op) for op in ALL_OPS.values()
               if op.samples is None and (op.is_function or op.is_method)
               and not op.__name__.startswith("_") and getattr(op, "base", None) is None
               and not any(word in op.forward.__module__ for word in elsewhere)}
    assert not missing
