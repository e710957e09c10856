"""Every op alike: values and dtypes as real torch recorded them, derivatives, memory layouts, in-place and out forms."""
import json
import pathlib
import warnings

import numpy as np
import pytest

import shimtorch as torch

from .table import DTYPES, arguments, full_name, results_of, sampled_ops

ANSWERS = np.load(pathlib.Path(__file__).parent.parent / "answers" / "ops.npz")
TABLE = json.loads(str(ANSWERS["table"]))
OPS = sampled_ops()
IDS = [full_name(op) for op in OPS]
TOLERANCE = {"float32": (2e-5, 2e-6), "complex64": (5e-5, 5e-6), "float64": (1e-10, 1e-12), "complex128": (1e-10, 1e-12)}

every_op = pytest.mark.parametrize("op", OPS, ids=IDS)
differentiable = pytest.mark.parametrize("op", [op for op in OPS if op.samples.gradcheck],
                                         ids=[full_name(op) for op in OPS if op.samples.gradcheck])


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
    return (t.float() if t.dtype is torch.bfloat16 else t).numpy()


def compare(got, want, what):
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, torch has {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, torch has {want.shape}"
    rtol, atol = TOLERANCE.get(str(want.dtype), (0, 0))
    np.testing.assert_allclose(got, want, rtol, atol, err_msg=what)


@every_op
def test_answers(op):
    checked = 0
    for index, dtype, key in cases(op):
        if key not in TABLE:
            continue
        answer = TABLE[key]
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        if "error" in answer:
            with pytest.raises((RuntimeError, TypeError, IndexError, ValueError, NotImplementedError)):
                op(*args, **kwargs)
            continue
        for i, (part, r) in enumerate(zip(answer["parts"], results_of(op(*args, **kwargs)), strict=True)):
            if part is None:
                compare(array_of(r), ANSWERS[f"{key}/{i}"], key)
            else:
                assert r == part, key
        checked += 1
    assert checked or not any(key in TABLE for _, _, key in cases(op))


@every_op
def test_memory_layouts(op):
    """Non-contiguous operands give the values that contiguous ones do."""
    def strided(array):
        if array.ndim == 0:
            return torch.from_numpy(array)
        spread = np.zeros(tuple(2 * n for n in array.shape), array.dtype)
        view = spread[tuple(slice(None, None, 2) for _ in array.shape)]
        view[...] = array
        return torch.from_numpy(view)
    for index, dtype, key in cases(op):
        if "error" in TABLE.get(key, {}) or op.__name__ in ("as_strided", "view"):
            continue
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        args2, kwargs2 = arguments(op, index, dtype, strided)
        try:
            want = op(*args, **kwargs)
        except (RuntimeError, NotImplementedError):
            continue
        try:
            got = op(*args2, **kwargs2)
        except RuntimeError as error:
            assert "view" in str(error) or "stride" in str(error), key
            continue
        for a, b in zip(results_of(got), results_of(want), strict=True):
            if isinstance(b, torch.Tensor):
                compare(array_of(a), array_of(b), key)


@differentiable
@pytest.mark.parametrize("order", [1, 2])
def test_gradients(op, order):
    """Derivatives equal finite differences, and so do their own derivatives."""
    from shimtorch.autograd import gradcheck, gradgradcheck
    if order == 2 and not op.samples.gradgradcheck:
        pytest.skip("the op has no second derivative")
    check = gradcheck if order == 1 else gradgradcheck
    for index in range(len(op.samples.calls)):
        dtype = "complex128" if op.samples.dtypes == "complex" else "float64"
        leaves = []

        def make(array):
            t = torch.from_numpy(array)
            if array.dtype.kind in "fc":
                leaves.append(t.requires_grad_())
            return t
        args, kwargs = arguments(op, index, dtype, make)
        if not leaves:
            continue

        def f(*values, args=args, kwargs=kwargs, leaves=leaves):
            replace = {id(a): v for a, v in zip(leaves, values)}

            def swap(x):
                if isinstance(x, (list, tuple)):
                    return type(x)(swap(i) for i in x)
                return replace.get(id(x), x)
            result = op(*[swap(a) for a in args], **{k: swap(v) for k, v in kwargs.items()})
            return tuple(r for r in results_of(result) if isinstance(r, torch.Tensor) and r.is_floating_point())
        outputs = f(*leaves)
        if not outputs or not any(o.requires_grad for o in outputs):
            assert op.differentiable is None or not op.differentiable
            continue
        assert check(f, leaves, atol=1e-4, rtol=1e-3), f"{full_name(op)}/{index}"


@pytest.mark.parametrize("op", [op for op in OPS if op.inplace_op is not None],
                         ids=[full_name(op) for op in OPS if op.inplace_op is not None])
def test_in_place(op):
    """The in-place form gives the same values, writes to the tensor itself, and counts the write."""
    checked = 0
    for index, dtype, key in cases(op):
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        try:
            want = op(*args, **kwargs)
        except (RuntimeError, NotImplementedError):
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


@pytest.mark.parametrize("op", [op for op in OPS if op.has_out], ids=[full_name(op) for op in OPS if op.has_out])
def test_out(op):
    """``out=`` receives the result, resized when empty, and is returned."""
    for index, dtype, key in cases(op):
        args, kwargs = arguments(op, index, dtype, torch.from_numpy)
        try:
            want = op(*args, **kwargs)
        except (RuntimeError, NotImplementedError, IndexError):
            continue
        if not isinstance(want, torch.Tensor):
            continue
        out = torch.empty(0, dtype=want.dtype)
        assert op(*args, out=out, **kwargs) is out
        compare(out.numpy(), want.numpy(), key)
