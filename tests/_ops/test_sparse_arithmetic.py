"""Arithmetic on sparse operands against the same arithmetic on the dense tensors they stand for."""
import numpy as np
import pytest

import shimtorch as torch

from .sparse_cases import check_gradients, check_parts, dense, random_sparse, random_values, same

KINDS = {"repeated": dict(coalesced=False), "coalesced": dict(coalesced=True), "hybrid": dict(dense=(3,)),
         "hybrid coalesced": dict(dense=(2, 2), coalesced=True), "empty": dict(nnz=0)}
every_kind = pytest.mark.parametrize("kind", KINDS)


def sparse(kind, seed=0, **kwargs):
    return random_sparse(**KINDS[kind], seed=seed, **kwargs)


# ---------------------------------------------------------------- sums

@every_kind
@pytest.mark.parametrize("alpha", (1, 3, -0.5))
def test_sums_of_sparse_tensors(kind, alpha):
    x, y = sparse(kind), sparse(kind, 1)
    a, b = x.to_dense(), y.to_dense()
    same(torch.add(x, y, alpha=alpha), a + alpha * b)
    same(torch.sub(x, y, alpha=alpha), a - alpha * b)
    same(x + x, 2 * a)
    assert (x + y).is_coalesced() == (x.is_coalesced() and y.is_coalesced())
    z = x.clone()
    assert z.add_(y, alpha=alpha) is z
    same(z, a + alpha * b)
    z = x.clone()
    z -= y
    same(z, a - b)


@every_kind
def test_dense_plus_sparse(kind):
    y = sparse(kind)
    x = random_values(tuple(y.shape))
    b = y.to_dense()
    same(x + y, x + b)
    same(torch.add(x, y, alpha=2), x + 2 * b)
    same(x - y, x - b)
    for layout in (x.clone(), x.transpose(0, -1).contiguous().transpose(0, -1)):
        version = layout._version
        layout.add_(y, alpha=3)
        same(layout, x + 3 * b)
        assert layout._version > version
    same(x.clone().sub_(y), x - b)
    with pytest.warns(UserWarning, match="deprecated"):
        same(x.clone().add_(2, y), x + 2 * b)
    same(y.spadd(x), x + b)
    same(torch.spadd(x, 2, y), x + 2 * b)


def test_sums_promote():
    x, y = random_sparse(dtype=torch.float32), random_sparse(seed=1)
    assert (x + y).dtype is torch.float64
    assert (torch.ones(4, 5, dtype=torch.int64) + x).dtype is torch.float32
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(4, 5, dtype=torch.int64).add_(x)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.to(torch.int64).add_(y)


@every_kind
def test_sparse_plus_dense(kind):
    x = sparse(kind)
    y = random_values(tuple(x.shape))
    same(x + y, x.to_dense() + y)
    same(torch.sub(x, y, alpha=2), x.to_dense() - 2 * y)
    same(x - y[:1, :1], x.to_dense() - y[:1, :1])


@pytest.mark.parametrize("a, b", (((4, 5), (5,)), ((4, 1), (1, 5)), ((1,), (4, 5)), ((2, 1, 5), (4, 1)),
                                  ((3, 4, 5), ())))
def test_sums_broadcast(a, b):
    for x, y in ((a, b), (b, a)):
        x, y = random_values(x), random_values(y)
        s, t = x.to_sparse(), y.to_sparse()
        for got in (s + t, s + y, x + t):
            same(got, x + y)
        same(s - t, x - y)


def test_sums_of_different_sparse_dimensions():
    x, y = random_sparse(), random_sparse((4,), (5,))
    same(x + y, x.to_dense() + y.to_dense())
    same(y - x, y.to_dense() - x.to_dense())
    same(x * y, y.to_dense() * x.to_dense())


@pytest.mark.parametrize("message, call", (
    (r"add\(sparse, number\) is not supported", lambda x: x + 1),
    (r"add\(sparse, dense\) is not supported", lambda x: x.add_(torch.ones(4, 5))),
    (r"add\(sparse, dense\) is not supported", lambda x: x.sub_(torch.ones(4, 5))),
    (r"match, but \[4, 5\] != \[4, 6\]", lambda x: x + random_sparse((4, 6))),
    (r"match, but \[4, 5\] != \[4, 6\]", lambda x: x * random_sparse((4, 6))),
    (r"match, but \[4, 6\] != \[4, 5\]", lambda x: torch.ones(4, 6) + x),
    (r"doesn't match the broadcast shape \[4, 5\]", lambda x: torch.ones(1, 5).add_(x)),
))
def test_sums_that_are_refused(message, call):
    with pytest.raises(RuntimeError, match=message):
        call(random_sparse())


# ---------------------------------------------------------------- products, quotients, powers

@every_kind
def test_products(kind):
    x, y = sparse(kind), sparse(kind, 1)
    a, b = x.to_dense(), y.to_dense()
    same(x * y, a * b)
    same(x * b, a * b)
    same(b * x, a * b)
    same(x * 2.5, a * 2.5)
    same(3 * x, a * 3)
    same(x * torch.tensor(2.0), a * 2)
    same(x.clone().mul_(2), a * 2)
    same(x.clone().mul_(y), a * b)
    same(x.clone().mul_(b), a * b)
    same(b.clone().mul_(x), a * b)


@pytest.mark.parametrize("shape", ((5,), (1, 5), (4, 1), (1, 1), (3, 4, 5), (2, 1, 5)))
def test_products_with_dense_tensors_broadcast(shape):
    for x in (random_sparse(), random_sparse(coalesced=True)):
        y = random_values(shape)
        same(x * y, x.to_dense() * y)


def test_scaling_in_place_writes_to_the_values():
    values = torch.tensor([1.0, 2.0])
    x = torch.sparse_coo_tensor([[0, 1]], values, (3,))
    x.mul_(3)
    assert values.tolist() == [3, 6]
    x.detach().div_(3)
    assert values.tolist() == [1, 2]
    x.neg_()
    assert values.tolist() == [-1, -2]


@every_kind
def test_quotients_and_powers(kind):
    x = sparse(kind)
    a = x.to_dense()
    same(x / 2, a / 2)
    same(x / torch.tensor(4.0), a / 4)
    same(x.clone().div_(4), a / 4)
    same(torch.div(x * 7, 2, rounding_mode="floor"), torch.div(a * 7, 2, rounding_mode="floor"))
    same(x * 7 // 2, a * 7 // 2)
    same(x ** 2, a ** 2)
    same(x.pow(3), a ** 3)
    same(x.coalesce().clone().pow_(2), a ** 2)
    y = random_values(tuple(x.shape))
    same(x / y, a / y)
    same(x / y[:1], a / y[:1])
    with pytest.raises(NotImplementedError, match="dense divisor with zeros"):
        x / (y * 0)
    for wrong in (lambda: a / x, lambda: x / x, lambda: 1 / x):
        with pytest.raises(RuntimeError, match="Sparse division requires a scalar or a dense tensor divisor"):
            wrong()
    with pytest.raises(RuntimeError, match="cannot raise to zeroth power"):
        x ** 0


def test_integers_divide_as_dense_ones_do():
    x = random_sparse(dtype=torch.int64)
    assert (x / 2).dtype is torch.float32
    same(x / 2, x.to_dense() / 2)
    assert (x * 2.5).dtype is torch.float32


# ---------------------------------------------------------------- functions that keep zeros

UNARY = ("neg abs angle asin asinh atan atanh ceil conj_physical erf expm1 floor frac isinf isnan log1p positive relu "
         "round sgn sign signbit sin sinh sqrt square tan tanh trunc conj").split()
ACTIVATIONS = ("celu elu gelu hardshrink hardswish hardtanh leaky_relu mish relu6 selu silu softshrink softsign "
               "tanhshrink").split()


@every_kind
@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_functions_of_the_summed_values(kind, name):
    x = sparse(kind) * 0.4
    a = x.to_dense()
    got = getattr(x, name)()
    want = getattr(a, name)()
    assert got.dtype is want.dtype
    same(got, want)


@every_kind
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations(kind, name):
    x, f = sparse(kind), getattr(torch.nn.functional, name)
    assert f(x).is_sparse
    same(f(x), f(x.to_dense()))


@every_kind
@pytest.mark.parametrize("f", (
    lambda x: x.clamp(-0.7, 0.2), lambda x: x.clamp(max=0), lambda x: x.clamp_min(-1), lambda x: x.clamp_max(0.5),
    lambda x: x % 0.7, lambda x: x.fmod(0.7), lambda x: x.float_power(2),
    lambda x: torch.nn.functional.dropout(x, 0.0)))
def test_functions_with_numbers_that_keep_zeros(kind, f):
    x = sparse(kind)
    assert f(x).is_sparse
    same(f(x), f(x.to_dense()))


@pytest.mark.parametrize("name, f", (
    ("clamp", lambda x: x.clamp(0.1)), ("clamp_max", lambda x: x.clamp_max(-1)), ("remainder", lambda x: x % 0.0),
    ("hardtanh", lambda x: torch.nn.functional.hardtanh(x, 1, 2)), ("dropout", lambda x: torch.dropout(x, 1.0, True)),
    ("avg_pool", lambda x: torch.nn.functional.avg_pool1d(x, 2)),
    ("layer_norm", lambda x: torch.nn.functional.layer_norm(x, (5,))), ("inverse", lambda x: x[:, :4].inverse())))
def test_refusals_name_what_was_called(name, f):
    with pytest.raises(NotImplementedError, match=f"^{name}.*not implemented for sparse tensors"):
        f(random_sparse())


def test_dropout_scales_what_it_keeps():
    x = random_sparse((50, 50), nnz=2000)
    got = torch.nn.functional.dropout(x, 0.25).to_dense()
    kept = got != 0
    assert 0.6 < kept.sum() / (x.to_dense() != 0).sum() < 0.9
    same(got[kept], x.to_dense()[kept] / 0.75)


@pytest.mark.parametrize("name", ("abs", "sqrt", "sin", "floor"))
def test_functions_in_place_need_coalesced_tensors(name):
    x = random_sparse()
    with pytest.raises(RuntimeError, match=f"{name}_ requires coalesced input"):
        getattr(x, name + "_")()
    x = x.coalesce() * x.coalesce()
    want = getattr(x.to_dense(), name)()
    assert getattr(x, name + "_")() is x
    same(x, want)


@pytest.mark.parametrize("name", ("exp cos log sigmoid reciprocal rsqrt logical_not isfinite cumsum"
                                  " argmax clamp median").split())
def test_what_fills_zeros_is_refused(name):
    x = random_sparse()
    with pytest.raises(NotImplementedError, match=name):
        getattr(x, name)(*{"cumsum": (0,), "clamp": (0.5, 1)}.get(name, ()))


@pytest.mark.parametrize("name", ("eq", "ne", "lt", "le", "gt", "ge"))
@pytest.mark.parametrize("number", (0.7, 0, -0.7))
def test_comparisons_with_numbers(name, number):
    x = random_sparse()
    got, want = getattr(x, name)(number), getattr(x.to_dense(), name)(number)
    assert got.is_sparse != bool(getattr(torch.zeros(()), name)(number))
    same(got, want)


TWO = ("eq ne lt le gt ge maximum minimum fmax fmin logical_and logical_or logical_xor atan2 hypot").split()


@pytest.mark.parametrize("name", TWO)
@pytest.mark.parametrize("kind", ("repeated", "hybrid", "empty"))
def test_functions_of_two_tensors(name, kind):
    x, y = sparse(kind), sparse(kind, 1)
    f = getattr(torch, name)
    want = f(x.to_dense(), y.to_dense())
    got = f(x, y)
    assert got.is_sparse != (name in ("eq", "le", "ge"))
    same(got, want)
    same(f(x, y.to_dense()), want)
    same(f(x.to_dense(), y), want)
    same(f(x[:1], y), f(x.to_dense()[:1], y.to_dense()))


@pytest.mark.parametrize("name", ("maximum", "minimum", "hypot", "fmin"))
def test_gradients_of_functions_of_two_tensors(name):
    check_gradients(lambda u, v: getattr(torch, name)(build(u), build(v, 1)), random_values((9,)),
                    random_values((9,), seed=1), second=False)


def test_bits():
    x, y = random_sparse(dtype=torch.int64), random_sparse(seed=1, dtype=torch.int64)
    for f in (torch.bitwise_and, torch.bitwise_or, torch.bitwise_xor):
        same(f(x, y), f(x.to_dense(), y.to_dense()))


def test_where():
    x, y, m = random_sparse(), random_sparse(seed=1), random_sparse(seed=2) > 0
    a, b, n = x.to_dense(), y.to_dense(), m.to_dense()
    for args, is_sparse in (((m, x, y), True), ((m, 3, y), True), ((m, x, 0), True), ((n, x, y), True),
                            ((n, 3, y), False), ((m, x, 2), False), ((m, a, y), True), ((m, x, b), False),
                            ((x > 0, x[:1], y), True)):
        got = torch.where(*args)
        assert got.is_sparse == is_sparse
        same(got, torch.where(*[t.to_dense() if isinstance(t, torch.Tensor) else t for t in args]))
    check_gradients(lambda u, v: torch.where(m, build(u), build(v, 1)), random_values((9,)),
                    random_values((9,), seed=1))


def test_equal_to_a_dense_tensor():
    x = random_sparse()
    for y in (x, x.to_sparse_csr()):
        assert torch.equal(y, x.to_dense()) and torch.equal(x.to_dense(), y) and torch.equal(x, y)
        assert not torch.equal(y, x.to_dense() * 2) and not torch.equal(y, torch.ones(3))


def test_equal():
    x = random_sparse()
    assert x.equal(x.coalesce()) and torch.equal(x, x.clone()) and torch.allclose(x, x * (1 + 1e-9))
    assert not x.equal(x * 2) and not x.equal(random_sparse((5, 4)))
    zeros = torch.sparse_coo_tensor([[0], [0]], torch.zeros(1, dtype=torch.float64), (4, 5))
    assert (x + zeros).coalesce().equal(x) and torch.isclose(x, x + zeros).all() and not torch.allclose(x, x * 2)
    assert not torch.allclose(zeros, x) and torch.allclose(zeros, zeros * 0)


# ---------------------------------------------------------------- fresh tensors, casts, in place

def test_fresh_tensors():
    x = random_sparse((4, 5), (2,))
    for y in (torch.zeros_like(x), torch.empty_like(x), x.clone().zero_()):
        assert (y.shape, y._nnz(), y.sparse_dim(), y.dtype) == (x.shape, 0, 2, x.dtype)
    assert torch.zeros_like(x, dtype=torch.int64).dtype is torch.int64
    assert torch.zeros_like(x, layout=torch.strided).layout is torch.strided
    assert x.new_zeros(2, 3).is_sparse and x.new_zeros((2, 3)).shape == (2, 3)
    assert x.new(2, 3).shape == (2, 3) and x.new().shape == (0,)
    i = torch.tensor([[0, 1]])
    assert x.new(i, torch.tensor([1.0, 2])).to_dense().tolist() == [1, 2]


def test_filled_tensors():
    x = random_sparse((4, 5), (2,), coalesced=True)
    for y in (torch.full_like(x, 0), x.clone().fill_(0), torch.fill(x, 0)):
        assert y.shape == x.shape and y._nnz() == 0
    assert torch.full_like(x, 3, layout=torch.strided, dtype=torch.int64).tolist() == torch.full((4, 5, 2), 3).tolist()
    for name, f in (("full_like", lambda: torch.full_like(x, 3)), ("ones_like", lambda: torch.ones_like(x)),
                    ("fill_", lambda: x.fill_(3))):
        with pytest.raises(NotImplementedError, match=f"^{name}: not implemented for"):
            f()
    rows = random_sparse(coalesced=True).to_sparse_csr()
    pattern = (rows.to_dense() != 0).double()
    for y in (torch.full_like(rows, 3), torch.fill(rows, 3), rows.clone().fill_(3)):
        assert y.layout is torch.sparse_csr
        same(y, pattern * 3)
    same(torch.ones_like(rows), pattern)
    assert torch.full_like(rows, 0, dtype=torch.int32).dtype is torch.int32
    same(torch.full_like(rows, 0), pattern * 0)


def test_new_tensors_are_copies():
    x = random_sparse()
    for y in (x.new_tensor(x), torch.ones(1).new_tensor(x, dtype=torch.float32)):
        same(y, x, 1e-6)
        assert y._values().data_ptr() != x._values().data_ptr()
    assert y.dtype is torch.float32


def test_casts():
    x = random_sparse(dtype=torch.float32)
    for y in (x.double(), x.to(torch.float64), x.type(torch.float64)):
        assert y.dtype is torch.float64 and not y.is_coalesced()
        same(y, x.to_dense().double(), 1e-6)
    assert x.to(torch.float32) is x and x.float() is x and x.cpu() is x


@pytest.mark.parametrize("dtype", (torch.bool, torch.float64, torch.complex64, torch.int64))
@pytest.mark.parametrize("f", (
    lambda x: x.float(), lambda x: x.int(), lambda x: x.bool(), lambda x: x * 2, lambda x: x / 2, lambda x: x.sum(),
    lambda x: x.sum(0), lambda x: x.sum_to_size(1, 3), lambda x: x + torch.ones(2, 3).to_sparse(),
    lambda x: x * torch.ones(2, 3), lambda x: x * torch.ones(2, 3).to_sparse(), lambda x: x.norm(dtype=torch.float64),
    lambda x: torch.ones(2, 3) + x, lambda x: torch.einsum("ij->j", x)))
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_entries_are_summed_before_a_cast_that_would_change_their_sum(dtype, f):
    x = torch.sparse_coo_tensor([[0, 0, 1], [1, 1, 0]], torch.tensor([0.6, 0.6, 1]).to(dtype), (2, 3))
    if dtype is torch.complex64 and f(torch.ones(2, 3).to_sparse()).dtype is torch.float64:
        return                                          # a norm is asked for as a real number
    got, want = f(x), f(x.to_dense())
    assert got.dtype is want.dtype
    same(got, want, 1e-6)


def test_copy_in_place():
    x, y = random_sparse(), random_sparse((3, 3), seed=1, coalesced=True)
    assert x.copy_(y) is x and x.is_coalesced() and x.shape == (3, 3)
    same(x, y)
    assert x._values().data_ptr() != y._values().data_ptr()
    for a, b in ((x, torch.ones(3, 3)), (torch.ones(3, 3), x)):
        with pytest.raises(RuntimeError, match="between dense and sparse Tensors is not implemented"):
            a.copy_(b)


# ---------------------------------------------------------------- derivatives

def build(values, seed=0):
    """A tensor with repeated indices made from values that require grad."""
    return torch.sparse_coo_tensor(random_sparse(seed=seed)._indices(), values, (4, 5))


@pytest.mark.parametrize("f", (
    lambda x: -x, lambda x: x * 2.5, lambda x: x / 3, lambda x: x + x, lambda x: x - x * 0.5, lambda x: x * x,
    lambda x: x ** 2, lambda x: x ** 3, lambda x: x.abs(), lambda x: x.square(), lambda x: x.relu(),
    lambda x: x.clone(), lambda x: x.coalesce() * x, lambda x: x * x.to_dense(), lambda x: x.to_dense() + x,
))
def test_gradients_of_one(f):
    check_gradients(lambda v: f(build(v)), random_values((9,)))


def test_gradients_through_casts():
    v = random_values((9,)).requires_grad_()
    (build(v).float() * 2).double().to_dense().sum().backward()
    assert v.grad.dtype is torch.float64 and v.grad.eq(2).all()


@pytest.mark.parametrize("f", (lambda x, y: x * y, lambda x, y: x + y, lambda x, y: torch.sub(x, y, alpha=3)))
def test_gradients_of_two_sparse_tensors(f):
    check_gradients(lambda u, v: f(build(u), build(v, 1)), random_values((9,)), random_values((9,), seed=1))


@pytest.mark.parametrize("shape", ((4, 5), (5,), (4, 1), ()))
def test_gradients_of_products_with_dense_tensors(shape):
    check_gradients(lambda v, d: build(v) * d, random_values((9,)), random_values(shape, seed=1))


def test_gradients_of_dense_sums():
    check_gradients(lambda d, v: torch.add(d, build(v), alpha=2), random_values((4, 5)), random_values((9,)))


def test_gradients_of_leaves_are_sparse():
    x = random_sparse(dtype=torch.float64).requires_grad_()
    (x * 2).to_dense().sum().backward()
    assert x.grad.is_sparse and x.grad.is_coalesced()
    same(x.grad, (x.detach().to_dense() != 0) * 2.0)
    (x * 2).to_dense().sum().backward()
    same(x.grad, (x.detach().to_dense() != 0) * 4.0)
    check_parts(x.grad)


def test_a_sparse_gradient_given_to_backward():
    x = random_sparse().requires_grad_()
    (x * 2).backward(random_sparse(seed=3))
    same(x.grad, random_sparse(seed=3).to_dense() * 2 * (x.detach().to_dense() != 0))
    assert x.grad.is_coalesced() and x.grad._indices().equal(x.detach().coalesce()._indices())


def test_dense_and_sparse_gradients_add_up():
    w = random_values((4, 5)).requires_grad_()
    pattern = random_sparse(coalesced=True)
    w.sparse_mask(pattern).to_dense().sum().backward()
    assert not w.grad.is_sparse
    w.sum().backward()
    same(w.grad, 1.0 + (pattern.to_dense() != 0).double())


def test_in_place_on_what_requires_grad_is_refused():
    x = random_sparse().requires_grad_()
    with pytest.raises((RuntimeError, NotImplementedError)):
        x.mul_(2)
    with torch.no_grad():
        x.mul_(2)
    np.testing.assert_allclose(dense(x), dense(random_sparse()) * 2)
