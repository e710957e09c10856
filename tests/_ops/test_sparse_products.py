"""Products with sparse matrices against dense ones, and their derivatives."""
import numpy as np
import pytest

import shimtorch as torch

from .sparse_cases import check_gradients, check_parts, dense, random_sparse, random_values, same

S = dict(sizes=(4, 5), nnz=9)
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128, torch.int64, torch.int32, torch.float16,
          torch.bfloat16)


def close(got, want, dtype):
    rough = {torch.float16: 2e-2, torch.bfloat16: 0.2, torch.float32: 1e-5, torch.complex64: 1e-5}.get(dtype, 1e-12)
    got, want = (x.to_dense().to(torch.complex128).numpy() for x in (got, want))
    np.testing.assert_allclose(got, want, rough, rough)


# ---------------------------------------------------------------- values

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("coalesced", (False, True))
@pytest.mark.parametrize("width", (1, 3, 16, 70))
def test_sparse_times_dense(dtype, coalesced, width):
    x, y = random_sparse(**S, dtype=dtype, coalesced=coalesced), random_values((5, width), dtype)
    want = x.to_dense().to(torch.complex128) @ y.to(torch.complex128)
    for product in (torch.sparse.mm, torch.mm, torch.spmm, torch.dsmm, torch.matmul, lambda a, b: a @ b,
                    lambda a, b: a.mm(b)):
        got = product(x, y)
        assert got.dtype is dtype and got.layout is torch.strided and got.shape == (4, width)
        close(got, want, dtype)
    close(torch.mv(x, y[:, 0]), want[:, 0], dtype)
    close(x @ y[:, 0], want[:, 0], dtype)


@pytest.mark.parametrize("coalesced", (False, True))
def test_every_combination(coalesced):
    x, z = random_sparse(**S, coalesced=coalesced), random_sparse((5, 3), coalesced=coalesced)
    a, c = x.to_dense(), z.to_dense()
    left = random_values((2, 4))
    for mm in (torch.sparse.mm, torch.mm, lambda p, q: p @ q):
        same(mm(x, c), a @ c)
        same(mm(left, x), left @ a)
        product = mm(x, z)
        assert product.is_sparse and product.is_coalesced()
        check_parts(product)
        same(product, a @ c)
        same(mm(a, c), a @ c)
    same(left[0] @ x, left[0] @ a)
    same(torch.bmm(random_sparse((3, 4, 5), nnz=30), torch.ones(3, 5, 2, dtype=torch.float64)),
         torch.bmm(random_sparse((3, 4, 5), nnz=30).to_dense(), torch.ones(3, 5, 2, dtype=torch.float64)))


def test_dense_operands_of_any_strides():
    x = random_sparse(**S, coalesced=True)
    for y in (random_values((3, 5)).t(), random_values((10, 6))[::2, ::2], random_values((5, 1)).expand(5, 4),
              random_values((1, 3)).expand(5, 3), random_values((5, 0))):
        same(torch.sparse.mm(x, y), x.to_dense() @ y)


def test_empty_and_hypersparse_matrices():
    assert torch.sparse.mm(torch.sparse_coo_tensor((3, 4)), torch.ones(4, 2)).tolist() == [[0, 0]] * 3
    assert torch.sparse.mm(torch.sparse_coo_tensor((0, 4)), torch.ones(4, 2)).shape == (0, 2)
    n = 10**6
    x = torch.sparse_coo_tensor([[n - 1, 3], [0, 1]], [2.0, 3.0], (n, 2)).coalesce()
    y = torch.sparse.mm(x, torch.tensor([[1.0], [10.0]]))
    assert y[n - 1].item() == 2 and y[3].item() == 30 and y.sum().item() == 32
    wide = 10**9
    a = torch.sparse_coo_tensor([[wide - 1, 5], [7, 10**8]], [2.0, 3.0], (wide, wide))
    b = torch.sparse_coo_tensor([[10**8, 7, 8], [wide - 2, 0, 1]], [5.0, 7.0, 1.0], (wide, wide))
    got = torch.sparse.mm(a, b)
    assert got._indices().tolist() == [[5, wide - 1], [wide - 2, 0]] and got._values().tolist() == [15, 14]


@pytest.mark.parametrize("beta, alpha", ((1, 1), (0, 1), (2, 0.5), (0.5, 0)))
def test_addmm(beta, alpha):
    x, y = random_sparse(**S), random_values((5, 3))
    product = x.to_dense() @ y
    for base in (random_values((4, 3)), random_values((3,)), random_values((1, 3)), random_values((4, 1))):
        want = beta * base + alpha * product
        same(torch.addmm(base, x, y, beta=beta, alpha=alpha), want)
        same(torch.sparse.addmm(base, x, y, beta, alpha), want)
        with pytest.warns(UserWarning, match="deprecated"):
            same(torch.addmm(beta, base, alpha, x, y), want)
        same(base.addmm(x, y, beta=beta, alpha=alpha), want)
    base = random_values((4, 3))
    kept = base.clone()
    assert base.addmm_(x, y, beta=beta, alpha=alpha) is base
    same(base, beta * kept + alpha * product)


def test_addmm_leaves_its_operands_alone_and_ignores_a_base_times_zero():
    base = torch.full((4, 3), float("nan"), dtype=torch.float64)
    x, y = random_sparse(**S), random_values((5, 3))
    same(torch.addmm(base, x, y, beta=0), x.to_dense() @ y)
    ones = torch.ones(4, 3, dtype=torch.float64)
    torch.addmm(ones, x, y)
    assert ones.eq(1).all()


def test_sparse_results():
    x, y = random_sparse(**S), random_values((5, 3))
    product = x.to_dense() @ y
    for f in (torch.hspmm, torch.hsmm):
        hybrid = f(x, y)
        check_parts(hybrid)
        assert (hybrid.sparse_dim(), hybrid.dense_dim()) == (1, 1)
        same(hybrid, product)
    same(x.hspmm(y), product)
    for got in (torch.smm(x, y), x.smm(y), torch.sspmm(x, y), x.sspmm(y)):
        assert got.is_sparse
        same(got, product)
    base = random_sparse((4, 3), nnz=4, seed=2)
    same(torch.sspaddmm(base, x, y), base.to_dense() + product)
    same(torch.sspaddmm(base, x, y, beta=2, alpha=3), 2 * base.to_dense() + 3 * product)
    same(base.sspaddmm(x, y), base.to_dense() + product)
    with pytest.warns(UserWarning, match="deprecated"):
        same(torch.sspaddmm(2, base, 3, x, y), 2 * base.to_dense() + 3 * product)


def ones(*size):
    return torch.ones(*size, dtype=torch.float64)


@pytest.mark.parametrize("error, message, call", (
    (RuntimeError, r"Argument #3 \(dense\): Expected dim 0 size 5, got 4", lambda x: torch.sparse.mm(x, ones(4, 2))),
    (IndexError, "Dimension out of range", lambda x: torch.sparse.mm(x, ones(5))),
    (RuntimeError, "expected scalar type Double but found Float", lambda x: torch.sparse.mm(x, torch.ones(5, 2))),
    (RuntimeError, "matrices expected, got 1D", lambda x: torch.sparse.mm(random_sparse((4,), (5,)), ones(5, 2))),
    (RuntimeError, "cannot be multiplied", lambda x: torch.sparse.mm(x, random_sparse((4, 4)))),
    (NotImplementedError, "not implemented for 'Bool'", lambda x: torch.sparse.mm(x != 0, ones(5, 2) != 0)),
    (RuntimeError, "Expected dim 0 size 4, got 3", lambda x: torch.sspaddmm(random_sparse((3, 2)), x, ones(5, 2))),
    (RuntimeError, "expected argument #1 to be sparse", lambda x: torch.sspaddmm(ones(4, 2), x, ones(5, 2))),
    (RuntimeError, "Expected dim 0 size 5, got 4", lambda x: torch.hspmm(x, ones(4, 2))),
    (RuntimeError, "mv: expected", lambda x: x.mv(ones(4))),
    (RuntimeError, "must be either sum, prod, mean, amax or amin, got most",
     lambda x: torch.sparse.mm(x, ones(5, 2), "most")),
    (NotImplementedError, "reduce='amax'", lambda x: torch.sparse.mm(ones(4, 5), ones(5, 2), "amax")),
    (RuntimeError, "one floating dtype", lambda x: torch.sparse.mm(x, ones(5, 2).float(), "amax")),
    (RuntimeError, "must match, but got 1 and 2", lambda x: x.unsqueeze(0).bmm(ones(2, 5, 2))),
    (RuntimeError, "must have 3 dims", lambda x: x.bmm(ones(4, 5, 2))),
    (RuntimeError, "at least 1D", lambda x: x @ torch.tensor(1.0)),
    (RuntimeError, "square matrix", lambda x: torch.sparse.spsolve(x, ones(4))),
    (RuntimeError, "singular", lambda x: torch.sparse.spsolve(x[:, :4] * 0, ones(4))),
    (RuntimeError, "does not fit", lambda x: torch.sparse.spsolve(x[:, :4], ones(5))),
    (RuntimeError, "expected a sparse matrix and a dense", lambda x: torch.sparse.spsolve(ones(4, 4), ones(4))),
))
def test_refusals(error, message, call):
    with pytest.raises(error, match=message):
        call(random_sparse(**S))


# ---------------------------------------------------------------- derivatives

def build(values, sizes=(4, 5), seed=0):
    return torch.sparse_coo_tensor(random_sparse(sizes, seed=seed)._indices(), values, sizes)


U, Y, BASE = random_values((9,)), random_values((5, 3)), random_values((4, 3))


@pytest.mark.parametrize("f, leaves", (
    (lambda v, y: torch.sparse.mm(build(v), y), (U, Y)),
    (lambda v, y: torch.sparse.mm(build(v).coalesce(), y), (U, Y)),
    (lambda v, y: torch.mm(build(v), y), (U, Y)),
    (lambda v, y: build(v) @ y[:, 0], (U, Y)),
    (lambda v, y: torch.sparse.mm(y.t(), build(v).t()), (U, Y)),
    (lambda b, v, y: torch.sparse.addmm(b, build(v), y, 2, 3), (BASE, U, Y)),
    (lambda b, v, y: torch.addmm(b, build(v), y, beta=2, alpha=3), (BASE, U, Y)),
    (lambda b, v, y: torch.sparse.addmm(b, build(v), y), (BASE[0], U, Y)),
    (lambda u, v: torch.sparse.mm(build(u), build(v, (5, 3))), (U, random_values((9,), seed=1))),
    (lambda v, y: torch.hspmm(build(v), y), (U, Y)),
    (lambda v, y: torch.smm(build(v), y), (U, Y)),
    (lambda u, v, y: torch.sspaddmm(build(u, (4, 3)), build(v), y, beta=2, alpha=3), (U + 1, U, Y)),
))
def test_gradients(f, leaves):
    check_gradients(f, *leaves)


def test_the_gradient_of_a_sparse_operand_is_sparse_and_coalesced():
    x, y = random_sparse(**S).requires_grad_(), random_values((5, 3)).requires_grad_()
    w = random_values((4, 3))
    (torch.sparse.mm(x, y) * w).sum().backward()
    full = w @ y.detach().t()
    assert x.grad.is_coalesced() and x.grad._indices().equal(x.detach().coalesce()._indices())
    same(x.grad, full * (x.detach().to_dense() != 0))
    same(y.grad, x.detach().to_dense().t() @ w)


@pytest.mark.parametrize("f", (torch.mm, lambda x, y: x @ y, lambda x, y: torch.addmm(y.new_zeros(4, 3), x, y),
                               lambda x, y: torch.stack([x.mv(c) for c in y.unbind(1)], 1),
                               lambda x, y: (x.unsqueeze(0) @ y)[0]))
def test_no_form_of_the_product_makes_a_dense_gradient_of_a_sparse_matrix(f):
    x, y = random_sparse(**S).requires_grad_(), random_values((5, 3))
    f(x, y).sum().backward()
    assert x.grad.is_coalesced()
    same(x.grad, (torch.ones(4, 3, dtype=torch.float64) @ y.t()) * (x.detach().to_dense() != 0))


def test_complex_gradients():
    x = random_sparse(**S, dtype=torch.complex128, coalesced=True).requires_grad_()
    y = random_values((5, 3), torch.complex128).requires_grad_()
    w = random_values((4, 3), torch.complex128, 3)
    torch.sparse.mm(x, y).backward(w)
    want = w @ y.detach().t().conj()
    np.testing.assert_allclose(x.grad._values().numpy(), want.numpy()[tuple(x._indices().numpy())])
    np.testing.assert_allclose(dense(y.grad), dense(x.detach().to_dense().t().conj() @ w))


def test_repeated_backward_through_one_matrix():
    """From the second product with the transpose on, its rows are worked out and kept."""
    x = random_sparse((30, 40), nnz=300, coalesced=True)
    for seed in range(4):
        y = random_values((40, 5), seed=seed).requires_grad_()
        w = random_values((30, 5), seed=seed)
        torch.sparse.mm(x, y).backward(w)
        same(y.grad, x.to_dense().t() @ w)


# ---------------------------------------------------------------- batches, other reductions, solving

SHAPES = (((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (5, 4, 2)),
          ((4,), (2, 4, 3)), ((2, 3, 4), (4,)), ((4,), (4,)), ((4,), (4, 3)), ((3, 4), (4,)), ((0, 3, 4), (0, 4, 5)))


@pytest.mark.parametrize("shapes", SHAPES)
@pytest.mark.parametrize("which", ((True, False), (False, True), (True, True)))
def test_matmul_of_batches(shapes, which):
    a, b = (random_sparse(s, nnz=8 if 0 not in s else 0).to_dense() for s in shapes)
    x, y = (v.to_sparse() if w else v for v, w in zip((a, b), which, strict=True))
    same(x @ y, a @ b)


@pytest.mark.parametrize("which", ((True, False), (False, True), (True, True)))
def test_gradients_of_batched_products(which):
    p, q = random_sparse((2, 3, 4), nnz=7), random_sparse((2, 4, 2), nnz=6, seed=1)

    def f(u, v):
        x, y = torch.sparse_coo_tensor(p._indices(), u, p.shape), torch.sparse_coo_tensor(q._indices(), v, q.shape)
        x, y = (t if w else t.to_dense() for t, w in zip((x, y), which, strict=True))
        return torch.bmm(x, y)
    check_gradients(f, p._values(), q._values())


@pytest.mark.parametrize("reduce", ("sum", "mean", "prod", "amax", "amin"))
def test_reduced_products(reduce):
    x, y = random_sparse((6, 5), nnz=9, coalesced=True), random_values((5, 3))
    stored = torch.sparse_coo_tensor(x._indices(), torch.ones(x._nnz()), x.shape).to_dense() != 0
    want = torch.zeros(6, 3, dtype=torch.float64)
    for r in range(6):
        products = (x.to_dense()[r].unsqueeze(1) * y)[stored[r]]
        if len(products):
            want[r] = products.prod(0) if reduce == "prod" else getattr(products, reduce)(0)
    for layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc):
        same(torch.sparse.mm(x.to_sparse(layout=layout), y, reduce), want)
    check_gradients(lambda v, d: torch.sparse.mm(torch.sparse_coo_tensor(x._indices(), v, x.shape), d, reduce),
                    x._values(), y, second=reduce in ("sum", "mean"))


@pytest.mark.parametrize("layout", (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc))
@pytest.mark.parametrize("dtype", (torch.float64, torch.complex128))
def test_solving(layout, dtype):
    a = random_sparse((5, 5), nnz=9, dtype=dtype).to_dense() + 4 * torch.eye(5, dtype=dtype)
    x, b = a.to_sparse(layout=layout), random_values((5, 2), dtype)
    same(a @ torch.sparse.spsolve(x, b), b)
    same(a @ torch.sparse.spsolve(x, b[:, 0]), b[:, 0])
    same(torch.sparse.spsolve(x, b.t(), left=False) @ a, b.t())


def test_gradients_of_solving():
    a = (random_sparse((4, 4), nnz=6).to_dense() + 4 * torch.eye(4, dtype=torch.float64)).to_sparse()
    check_gradients(lambda v, b: torch.sparse.spsolve(torch.sparse_coo_tensor(a._indices(), v, a.shape), b),
                    a._values(), random_values((4, 2)))


def test_powers_of_matrices():
    x = random_sparse((5, 5), nnz=12)
    for m in (x, x.to_sparse_csr()):
        for n in (1, 2, 5):
            same(torch.linalg.matrix_power(m, n), torch.linalg.matrix_power(x.to_dense(), n))
            assert m.matrix_power(n).layout is m.layout
        with pytest.raises(NotImplementedError, match="matrix_power"):
            m.matrix_power(0)


@pytest.mark.parametrize("beta", (1, 0.5, 0))
def test_addmm_of_two_sparse_matrices(beta):
    a, b, base = random_sparse((4, 5)), random_sparse((5, 3), seed=1), random_values((4, 3))
    for x, y in ((a, b), (a.to_sparse_csr(), b.to_sparse_csr())):
        same(torch.sparse.addmm(base, x, y, beta=beta, alpha=3), beta * base + 3 * (a.to_dense() @ b.to_dense()))
    same(torch.sparse.addmm(base.to_sparse(), a, b, beta=beta), beta * base + a.to_dense() @ b.to_dense())


SUMS = {"addmv": ((4,), (4, 5), (5,)), "addmm": ((4, 3), (4, 5), (5, 3)), "baddbmm": ((2, 4, 3), (2, 4, 5), (2, 5, 3)),
        "addbmm": ((4, 3), (2, 4, 5), (2, 5, 3))}


@pytest.mark.parametrize("name", SUMS)
def test_products_added_to_something(name):
    size, left, right = SUMS[name]
    base, x, y = random_values(size), random_sparse(left, nnz=9), random_values(right)
    f = getattr(torch, name)
    for options in ({}, {"beta": 0.5, "alpha": 3}, {"beta": 0}):
        want = f(base, x.to_dense(), y, **options)
        same(f(base, x, y, **options), want)
        same(getattr(base.clone(), name + "_")(x, y, **options), want)
    if len(left) == 2:
        same(f(base, x.to_sparse_csr(), y), f(base, x.to_dense(), y))
    check_gradients(lambda b, v, y: f(b, torch.sparse_coo_tensor(x._indices(), v, left), y, beta=2, alpha=3), base,
                    x._values(), y)
