"""``out=``: results are made in place where that is safe, and are right where it is not."""

import threading

import pytest

import shimtorch as torch
from shimtorch._core import storage

A, B = torch.arange(12.0).reshape(3, 4) - 5, torch.arange(12.0).reshape(3, 4) / 3 + 1

CASES = {
    "unary": lambda **k: torch.exp(A, **k),
    "binary": lambda **k: torch.add(A, B, **k),
    "number": lambda **k: torch.mul(A, 3, **k),
    "scaled": lambda **k: torch.add(A, B, alpha=2, **k),
    "broadcast": lambda **k: torch.sub(A, B[0], **k),
    "compare": lambda **k: torch.gt(A, B, **k),
    "promoted": lambda **k: torch.div(torch.arange(12).reshape(3, 4), B, **k),
    "strided": lambda **k: torch.mul(A.t(), B.t(), **k),
    "mixed order": lambda **k: torch.mul(A[:, :3], B[:, :3].t(), **k),
    "power": lambda **k: torch.pow(A, 2, **k),
    "clamp": lambda **k: torch.clamp(A, -1, 2, **k),
    "where": lambda **k: torch.where(A > 0, A, B, **k),
    "sum": lambda **k: torch.sum(A, 1, **k),
    "mm": lambda **k: torch.mm(A, B.t(), **k),
    "matmul": lambda **k: torch.matmul(A, B.t(), **k),
    "bmm": lambda **k: torch.bmm(A[None], B.t()[None], **k),
    "addmm": lambda **k: torch.addmm(A[:, :3], A, B.t(), beta=0.5, alpha=2, **k),
    "cumsum": lambda **k: torch.cumsum(A, 0, **k),
    "cat": lambda **k: torch.cat((A, B), 1, **k),
    "cat of columns": lambda **k: torch.cat((A.t(), B.t()), **k),
    "stack": lambda **k: torch.stack((A, B), 1, **k),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_written_where(name):
    want = CASES[name]()
    for make in (torch.empty_like, lambda w: torch.empty(w.numel() + 1, dtype=w.dtype)[1:].view(w.shape)):
        out = make(want)
        where, version = out.data_ptr(), out._version
        assert CASES[name](out=out) is out
        assert out.data_ptr() == where and out._version == version + 1 and torch.equal(out, want)


@pytest.mark.parametrize("call", [
    lambda x, **k: torch.exp(x, **k), lambda x, **k: torch.add(x, x, **k), lambda x, **k: torch.add(x, x[0], **k),
    lambda x, **k: torch.mul(x.t(), x.t(), **k), lambda x, **k: torch.add(x, x, alpha=2, **k),
    lambda x, **k: torch.clamp(x, 0, 1, **k), lambda x, **k: torch.mm(x, x, **k), lambda x, **k: torch.gt(x, 0, **k),
    lambda x, **k: torch.cumsum(x, 1, **k), lambda x, **k: torch.cat((x, x), 1, **k),
    lambda x, **k: torch.cat((x, x.t()), **k), lambda x, **k: torch.pow(x, 3, **k)])
def test_no_memory_is_taken(call):
    x = torch.ones(300, 300)
    out = call(x).contiguous()
    storage.empty_cache()
    call(x, out=out)
    assert storage.cached_memory() == 0          # a result made elsewhere would lie in the cache now


@pytest.mark.parametrize("name", CASES)
def test_any_layout_of_out(name):
    want = CASES[name]()
    wide = torch.zeros(*want.shape[:-1], 2 * want.shape[-1], dtype=want.dtype)
    for out in (wide[..., ::2], torch.empty(want.shape[::-1], dtype=want.dtype).permute(*range(want.dim())[::-1])):
        strides = out.stride()
        CASES[name](out=out)
        assert torch.equal(out, want) and out.stride() == strides
    assert not wide[..., 1::2].any()


@pytest.mark.parametrize("call", [
    lambda x, **k: torch.mm(x, x, **k), lambda x, **k: torch.sub(x, x.t(), **k), lambda x, **k: torch.add(x[0], x, **k),
    lambda x, **k: torch.add(x, x, alpha=3, **k), lambda x, **k: torch.cumsum(x, 1, **k),
    lambda x, **k: torch.addmm(x, x, x, **k), lambda x, **k: torch.addcmul(x, x, x.t(), value=2, **k),
    lambda x, **k: torch.cumprod(x, 0, **k), lambda x, **k: torch.exp(x, **k), lambda x, **k: torch.mul(x, x, **k),
    lambda x, **k: torch.stack((x[0], x[1], x[2]), 1, **k), lambda x, **k: torch.where(x.t() > 1, x, x.t(), **k),
    lambda x, **k: torch.lerp(x, x.t(), 0.3, **k), lambda x, **k: torch.matmul(x, x, **k)])
def test_operands_that_share_memory_with_out(call):
    x = torch.arange(9.0).reshape(3, 3) / 4
    want = call(x)
    for y, out in ((lambda z: (z, z))(x.clone()), (lambda z: (z, z.data))(x.clone()), (lambda z: (z[1:], z[:3]))(
            torch.cat((x[:1], x)))):
        assert torch.equal(call(y, out=out), want)


def test_out_of_another_dtype_or_shape():
    out = torch.empty(3, 4, dtype=torch.float64)
    assert torch.equal(torch.add(A, B, out=out), (A + B).double()) and out.dtype is torch.float64
    out = torch.empty(0)
    assert torch.equal(torch.add(A, B, out=out), A + B) and out.shape == (3, 4)
    with pytest.warns(UserWarning, match="was resized"):
        assert torch.equal(torch.add(A, B, out=torch.empty(5)), A + B)
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.add(A, B, out=torch.empty(3, 4, dtype=torch.int64))


def test_a_failing_call_leaves_nothing_behind():
    out = torch.zeros(3, 3)
    with pytest.raises(RuntimeError):
        torch.mm(A, B, out=out)
    torch.mm(A, B.t())
    assert not out.any()


def test_views_and_history():
    x = torch.zeros(4, 3, requires_grad=True)
    with torch.no_grad():
        torch.mul(x, 2, out=x)
        torch.add(A[:, :3], 1, out=x[1:])
    assert x.is_leaf and torch.equal(x[1:], A[:, :3] + 1)
    y = x * 1
    with pytest.raises(RuntimeError, match="don't support automatic differentiation"):
        torch.add(y, y, out=torch.empty(4, 3))


def test_saved_values_notice_the_write():
    x = torch.ones(3, requires_grad=True)
    factor = torch.ones(3)
    loss = (x * factor).sum()
    torch.add(factor, 1, out=factor)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


def test_calls_in_many_threads():
    wrong = []

    def work(k):
        x, out = torch.full((50, 50), float(k)), torch.empty(50, 50)
        for _ in range(300):
            torch.add(x, k, out=out)
            if not torch.equal(out, x + k) or not torch.equal(x, torch.full((50, 50), float(k))):
                wrong.append(k)
    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("call", (
    lambda **k: torch.mm(A, B.t(), **k), lambda **k: torch.softmax(A, 1, **k), lambda **k: torch.tril(A, **k),
    lambda **k: torch.gather(A, 1, torch.zeros(3, 1, dtype=torch.int64), **k), lambda **k: torch.linalg.norm(A, **k)))
def test_dtypes_that_must_be_the_result_s(call):
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype float, but got double instead"):
        call(out=torch.empty_like(call(), dtype=torch.float64))
    assert torch.equal(call(out=torch.empty_like(call())), call())


@pytest.mark.parametrize("call", (
    torch.diff, torch.frobenius_norm, *(getattr(torch.nn.functional, name) for name in (
        "gelu", "softplus", "hardshrink", "softshrink", "logsigmoid"))))
def test_functions_of_one_tensor(call):
    out = torch.empty(0)
    assert call(A, out=out) is out and torch.equal(out, call(A))


@pytest.mark.parametrize("bad", (None, "x"))
def test_what_is_no_tensor(bad):
    for call in (torch.linalg.det, torch.linalg.qr, torch.trapezoid, torch.pdist, torch.exp):
        with pytest.raises(TypeError, match=f"must be .*Tensor.*, not {type(bad).__name__}"):
            call(bad)
