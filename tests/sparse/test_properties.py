"""Whatever the shape, the dimensions, the repetitions, the order and the dtype: the answer is the dense one."""
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import shimtorch as torch

from .._ops.sparse_cases import check_parts, random_values

DTYPES = [torch.float64, torch.float32, torch.int64, torch.int32, torch.complex128]

SOME, FEW = st.integers(1, 3), st.integers(0, 2)


@st.composite
def sparse_tensors(draw, sparse=SOME, dense=FEW, dtypes=DTYPES, shape=None, least=0):
    """A sparse tensor of up to five dimensions with entries in any order, some of them repeated."""
    if shape is None:
        n = draw(sparse)
        shape = draw(st.lists(st.integers(least, 4), min_size=n, max_size=n)) + draw(
            st.lists(st.integers(least, 3), max_size=draw(dense)))
    else:
        n = min(draw(sparse), len(shape))
    sizes, inner = shape[:n], shape[n:]
    nnz = draw(st.integers(0, 12)) if all(sizes) else 0
    rng = np.random.default_rng(draw(st.integers(0, 10 ** 6)))
    indices = np.stack([rng.integers(0, max(k, 1), nnz) for k in sizes]) if sizes else np.zeros((0, nnz), np.int64)
    values = random_values((nnz, *inner), draw(st.sampled_from(dtypes)), int(rng.integers(0, 10 ** 6)))
    x = torch.sparse_coo_tensor(torch.from_numpy(indices), values, tuple(shape))
    return x.coalesce() if draw(st.booleans()) else x


def check(got, want):
    assert got.shape == want.shape and got.dtype is want.dtype, (got.shape, want.shape, got.dtype, want.dtype)
    if got.layout is not torch.strided:
        check_parts(got)
        got = got.to_dense()
    if got.dtype in (torch.float16, torch.bfloat16):        # NumPy has no bfloat16
        got, want = got.float(), want.float()
    single = got.dtype in (torch.float32, torch.complex64)
    np.testing.assert_allclose(got.numpy(), want.numpy(), 1e-4 if single else 1e-9, 1e-4 if single else 1e-9)


quick = settings(deadline=None, max_examples=60)


@quick
@given(sparse_tensors(), st.data())
def test_one_operand(x, data):
    a = x.to_dense()
    d, e = (data.draw(st.integers(-x.dim(), x.dim() - 1)) for _ in range(2))
    check(x.coalesce(), a)
    check(-x, -a)
    check(x * 3, a * 3)
    check(x.abs(), a.abs())
    check(x * x, a * a)
    check(x + x, a + a)
    check(x.unsqueeze(d), a.unsqueeze(d))
    check(x.squeeze(), a.squeeze())
    check(torch.cat([x, x], d), torch.cat([a, a], d))
    check(torch.stack([x, x], d), torch.stack([a, a], d))
    check(torch.sparse.sum(x, d), a.sum(d, dtype=a.dtype if x.dim() > 1 else None))
    check(x.sum(d, True), a.sum(d, True))
    check(x.any(d), a.any(d))
    check(x.all(d), a.all(d))
    n = x.sparse_dim()
    if (d % x.dim() < n) == (e % x.dim() < n):
        check(x.transpose(d, e), a.transpose(d, e))
    if a.dtype.is_floating_point:
        check(x.mean(), a.mean()) if a.numel() else None
    if a.shape[d] and not a.dtype.is_complex:
        check(x.amax(d), a.amax(d))
        check(x.amin(d), a.amin(d))
    if a.shape[d]:
        i = data.draw(st.integers(-a.shape[d], a.shape[d] - 1))
        check(x.select(d, i), a.select(d, i))
        twice = torch.tensor([i % a.shape[d]] * 2)
        check(x.index_select(d, twice), a.index_select(d, twice))


EVERY = [*DTYPES, torch.complex64, torch.float16, torch.bfloat16, torch.int16, torch.int8, torch.uint8, torch.bool]


@quick
@given(sparse_tensors(dtypes=EVERY))
def test_every_dtype(x):
    a = x.coalesce().to_dense()
    check(x.clone(), a)
    check(x.flatten() if not x.dense_dim() else x.coalesce(), a.flatten() if not x.dense_dim() else a)
    check(x.unsqueeze(0).squeeze(0), a)
    check(torch.cat([x, x]), torch.cat([a, a]))
    check(x.nonzero(), a.nonzero())
    wide = torch.complex128 if a.dtype.is_complex else torch.float64
    check(x.coalesce().to(wide), a.to(wide))
    check(x != 0, a != 0)
    check(x.any(), a.any())
    check(x.count_nonzero(), a.count_nonzero())
    check(a.to_sparse(), a)
    check(torch.zeros_like(x), torch.zeros_like(a))
    if not x.dense_dim() and x.dim() == 2:
        check(x.to_sparse_csr(), a)
        check(x.to_sparse_csc(), a)


@quick
@given(sparse_tensors(dtypes=[torch.float64, torch.int64]), st.data())
def test_more_of_one_operand(x, data):
    a, n = x.to_dense(), x.sparse_dim()
    d = data.draw(st.integers(0, x.dim() - 1))
    order = data.draw(st.permutations(range(n))) + [n + k for k in data.draw(st.permutations(range(x.dim() - n)))]
    check(x.permute(order), a.permute(order))
    check(x.reshape((1, *x.shape)), a.reshape((1, *x.shape)))
    check(x.expand(2, *x.shape), a.expand(2, *x.shape))
    check(x.sum(), a.sum())
    check(x.prod(d), a.prod(d))
    check(x.count_nonzero(d), a.count_nonzero(d))
    check(x > 1, a > 1)
    check(x.sign() * 2 - x / 2, a.sign() * 2 - a / 2)
    check(torch.where(x > 0, x, 0), torch.where(a > 0, a, 0))
    check(x[..., :1], a[..., :1])
    start = data.draw(st.integers(0, x.shape[d]))
    check(x.narrow_copy(d, start, x.shape[d] - start), a.narrow(d, start, x.shape[d] - start))
    for got, want in zip(x.unbind(d), a.unbind(d), strict=True):
        check(got, want)
    if a.dtype is torch.float64:
        check(x.norm(), a.norm())
        check(x.norm(1, d), a.norm(1, d))
        check(x.tanh(), a.tanh())


@quick
@given(sparse_tensors(dtypes=EVERY), st.data())
def test_other_places(x, data):
    a, number = x.coalesce().to_dense(), st.integers(-5, 5)
    d, e = (data.draw(st.integers(-x.dim(), x.dim() - 1)) for _ in range(2))
    check(x.flip(d), a.flip(d))
    shift, offset = data.draw(number), data.draw(number)
    check(x.roll(shift, d), a.roll(shift, d))
    copies = data.draw(st.lists(FEW, min_size=x.dim(), max_size=x.dim() + 1))
    check(x.repeat(*copies), a.repeat(*copies))
    check(x.tile(*copies[:2]), a.tile(*copies[:2]))
    check(torch.diag_embed(x, offset), torch.diag_embed(a, offset))
    if d % x.dim() != e % x.dim():
        check(x.diagonal(offset, d, e), a.diagonal(offset, d, e))
    if x.dim() > 1:
        check(x.tril(offset), a.tril(offset))
        check(x.triu(offset), a.triu(offset))


@quick
@given(sparse_tensors(dense=st.just(0)), sparse_tensors(dense=st.just(1)))
def test_kron(x, y):
    a, b = x.to_dense(), y.to_dense()
    check(torch.kron(x, y), torch.kron(a, b))
    check(torch.kron(x, b), torch.kron(a, b))


@quick
@given(sparse_tensors(dense=st.just(1), dtypes=[torch.float64]), st.data())
def test_assignment(x, data):
    index = tuple([data.draw(index_for(n)) for n in x.shape[:data.draw(st.integers(0, x.dim()))]])
    index = tuple([slice(None) if isinstance(i, slice) and (i.step or 1) < 0 else i for i in index])
    a, y = x.to_dense(), x.clone()
    try:
        shape = a[index].shape
    except (IndexError, RuntimeError):
        return
    value = random_values(tuple(shape)) * data.draw(st.sampled_from((0, 1)))
    a[index] = value
    y[index] = value
    check(y, a)
    assert y.is_coalesced() and bool((y._values() != 0).any() or not y._nnz())


def index_for(size):
    some = [st.slices(size), st.just(slice(None))]
    if size:
        some += [st.integers(-size, size - 1), st.lists(st.integers(-size, size - 1), min_size=1, max_size=3)]
        some += [st.lists(st.booleans(), min_size=size, max_size=size).map(torch.tensor)]
    return st.one_of(some)


@quick
@given(sparse_tensors(dense=st.just(0), dtypes=[torch.float64]), st.data())
def test_indexing(x, data):
    index = tuple([data.draw(index_for(n)) for n in x.shape[:data.draw(st.integers(0, x.dim()))]])
    index = tuple([slice(None) if isinstance(i, slice) and (i.step or 1) < 0 else i for i in index])
    if data.draw(st.booleans()):
        index += (Ellipsis,)
    if data.draw(st.booleans()):
        index = (None,) + index
    a = x.to_dense()
    try:
        want = a[index]
    except (IndexError, RuntimeError) as error:
        try:
            x[index]
        except type(error):
            return
        raise
    check(x[index], want)


@quick
@given(st.data())
def test_two_operands(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    other = [1 if data.draw(st.booleans()) else n for n in shape][data.draw(st.integers(0, len(shape) - 1)):]
    x, y = (data.draw(sparse_tensors(shape=s, dtypes=[torch.float64, torch.int64])) for s in (shape, other))
    a, b = x.to_dense(), y.to_dense()
    for f in (torch.add, torch.sub, torch.mul, torch.maximum, torch.minimum, torch.eq, torch.ne, torch.lt, torch.ge):
        check(f(x, y), f(a, b))
        check(f(y, x), f(b, a))
        check(f(x, b), f(a, b))
        check(f(a, y), f(a, b))
    assert torch.allclose(x, x.clone()) and x.equal(x.coalesce())


@quick
@given(st.data())
def test_products(data):
    batch = data.draw(st.sampled_from(((), (2,), (0,))))
    n, k, m = (data.draw(st.integers(1 if batch else 0, 5)) for _ in range(3))
    x = data.draw(sparse_tensors(sparse=st.just(3), shape=[*batch, n, k], dtypes=[torch.float64]))
    y = data.draw(sparse_tensors(sparse=st.just(3), shape=[*batch, k, m], dtypes=[torch.float64]))
    a, b = x.to_dense(), y.to_dense()
    check(x @ y, a @ b)
    check(x @ b, a @ b)
    check(a @ y, a @ b)
    if not batch:
        for layout in (torch.sparse_csr, torch.sparse_csc):
            check(x.to_sparse(layout=layout) @ b, a @ b)
            check(x.to_sparse(layout=layout) @ y.to_sparse(layout=layout), a @ b)


@quick
@given(sparse_tensors(sparse=st.just(2), dense=st.just(0), least=1, dtypes=[torch.float64, torch.int32]), st.data())
def test_layouts(x, data):
    if x.dim() != 2:
        return
    a = x.to_dense()
    block = tuple([data.draw(st.sampled_from([b for b in range(1, n + 1) if n % b == 0])) for n in a.shape])
    for layout, options in ((torch.sparse_csr, {}), (torch.sparse_csc, {}), (torch.sparse_bsr, {"blocksize": block}),
                            (torch.sparse_bsc, {"blocksize": block})):
        y = x.to_sparse(layout=layout, **options)
        check(y, a)
        check(y.t(), a.t())
        check(y * 2 + y, a * 2 + a)
        check(y.to_sparse(), a)
        check(y[0], a[0])


@quick
@given(sparse_tensors(least=1, dtypes=[torch.float64]), st.data())
def test_gradients_lie_on_the_pattern(x, data):
    d = data.draw(st.integers(0, x.dim() - 1))
    for f in (lambda t: t * 2, lambda t: t * t, lambda t: t + t.detach() * 0.5, lambda t: t.sum(d), lambda t: t.sin(),
              lambda t: t.select(d, 0), lambda t: torch.cat([t, t], d), lambda t: t.unsqueeze(d), lambda t: t.mean(d)):
        leaf, whole = x.detach().requires_grad_(), x.to_dense().requires_grad_()
        f(leaf).to_dense().sum().backward()
        f(whole).sum().backward()
        pattern = x.coalesce()
        assert leaf.grad.is_coalesced() and leaf.grad._indices().equal(pattern._indices())
        np.testing.assert_allclose(leaf.grad._values().numpy(), whole.grad.sparse_mask(pattern)._values().numpy(), 1e-9,
                                   1e-12)
