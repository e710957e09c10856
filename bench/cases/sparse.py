"""Sparse tensors: coalescing, conversions, products, sums and gradients, beside SciPy and pydata/sparse.

Patterns have about a million entries, spread evenly or with a few rows that have most of them.
"""

import numpy

from . import Case, tensor

CASES = []
SIDE, ENTRIES = 100_000, 1_000_000
CROWDED = 2_000                   # side of a matrix a quarter of whose elements are entries


def scattered(numbers, side, entries, crowded_rows=False):
    """Coordinates, in any order and some of them more than once, and float32 values."""
    rows = numbers.integers(0, side, entries)
    if crowded_rows:
        rows = numpy.minimum((side * numbers.random(entries) ** 4).astype("int64"), side - 1)
    return numpy.stack((rows, numbers.integers(0, side, entries))), numbers.standard_normal(entries).astype("float32")


def pattern(numbers, side, entries, crowded_rows=False):
    """Coordinates in order, none twice, and float32 values."""
    (rows, columns), _ = scattered(numbers, side, entries, crowded_rows)
    places = numpy.unique(rows * side + columns)
    return numpy.stack((places // side, places % side)), numbers.standard_normal(places.size).astype("float32")


def as_tensor(t, parts, side, coalesced=True):
    made = t.sparse_coo_tensor(t.tensor(parts[0]), t.tensor(parts[1]), (side, side))
    return made.coalesce() if coalesced else made


def as_scipy(scipy_sparse, parts, side, kind="csr"):
    return scipy_sparse.coo_array((parts[1], tuple(parts[0])), shape=(side, side)).asformat(kind)


def as_pydata(sparse, parts, side):
    return sparse.COO(parts[0], parts[1], shape=(side, side))


def case(name, build, **peers):
    """A case; keywords `scipy` and `pydata` build the same for these libraries."""
    names = {"scipy": "scipy.sparse", "pydata": "sparse"}
    CASES.append(Case(name, build, {names[key]: made for key, made in peers.items()}))


# ---------------------------------------------------------------- making them

def coalescing(name, side, entries):
    def build(t, numbers):
        made = as_tensor(t, scattered(numbers, side, entries), side, False)
        return lambda: made.coalesce()

    def scipy(library, numbers):
        (rows, columns), values = scattered(numbers, side, entries)

        def run():
            made = library.coo_array((values, (rows, columns)), shape=(side, side))
            made.sum_duplicates()
            return made
        return run

    def pydata(library, numbers):
        parts = scattered(numbers, side, entries)
        return lambda: as_pydata(library, parts, side)

    case(name, build, scipy=scipy, pydata=pydata)


coalescing("coalesce, few repeats", SIDE, ENTRIES)
coalescing("coalesce, half repeats", 1_000, ENTRIES)
coalescing("coalesce, small", 1_000, 10_000)


def tiny(t, numbers):
    indices, values = scattered(numbers, 8, 12)
    indices, values, other = t.tensor(indices), t.tensor(values), tensor(t, numbers, 8, 4)
    return lambda: t.sparse.mm(t.sparse_coo_tensor(indices, values, (8, 8)).coalesce(), other)


def constructed(t, numbers):
    indices, values = (t.tensor(part) for part in pattern(numbers, SIDE, ENTRIES))
    return lambda: (t.sparse_coo_tensor(indices, values, (SIDE, SIDE)), values)[1]


case("construct", constructed)
case("construct, coalesce, mm of 8x8", tiny)


def mostly_zero(numbers):
    array = numbers.standard_normal((CROWDED, CROWDED)).astype("float32")
    array[numbers.random(array.shape) < 0.9] = 0
    return array


def from_dense(method, kind):
    def build(t, numbers):
        array = t.tensor(mostly_zero(numbers))
        return lambda: getattr(array, method)()

    def scipy(library, numbers):
        array = mostly_zero(numbers)
        return lambda: getattr(library, kind)(array)

    case(method, build, scipy=scipy)


from_dense("to_sparse", "coo_array")
from_dense("to_sparse_csr", "csr_array")


# ---------------------------------------------------------------- one and two sparse matrices

def sparse_only(name, function, scipy=None, pydata=None, side=SIDE, entries=ENTRIES, kind="csr"):
    """function(t, a, b) of two sparse matrices, and what other libraries call the same: function(a, b)."""
    def build(t, numbers):
        a, b = (as_tensor(t, pattern(numbers, side, entries), side) for _ in range(2))
        return lambda: function(t, a, b)

    def peer(convert, function, *options):
        def build(library, numbers):
            a, b = (convert(library, pattern(numbers, side, entries), side, *options) for _ in range(2))
            return lambda: function(a, b)
        return build

    peers = {"scipy": peer(as_scipy, scipy, kind)} if scipy else {}
    case(name, build, **peers, **({"pydata": peer(as_pydata, pydata)} if pydata else {}))


sparse_only("to_dense", lambda t, a, b: a.to_dense(), lambda a, b: a.toarray(), side=CROWDED, kind="coo")
sparse_only("coo to csr", lambda t, a, b: a.to_sparse_csr(), lambda a, b: a.tocsr(), kind="coo")
sparse_only("add", lambda t, a, b: (a + b).coalesce(), lambda a, b: a + b, lambda a, b: a + b)
sparse_only("mul", lambda t, a, b: a * b, lambda a, b: a * b, lambda a, b: a * b)
sparse_only("mul by a number", lambda t, a, b: a * 2, lambda a, b: a * 2, lambda a, b: a * 2)
sparse_only("t, coalesce", lambda t, a, b: a.t().coalesce(), lambda a, b: a.T.tocsr(), lambda a, b: a.T)
sparse_only("sum", lambda t, a, b: t.sparse.sum(a), lambda a, b: a.sum(), lambda a, b: a.sum())
for dim in (0, 1):
    sparse_only(f"sum over {dim}", lambda t, a, b, dim=dim: t.sparse.sum(a, dim).to_dense(),
                lambda a, b, dim=dim: a.sum(dim), lambda a, b, dim=dim: a.sum(dim).todense())
sparse_only("every tenth row", lambda t, a, b: a.index_select(0, t.arange(0, SIDE, 10)), lambda a, b: a[::10],
            lambda a, b: a[::10])
sparse_only("softmax", lambda t, a, b: t.sparse.softmax(a, 1), side=SIDE // 10, entries=ENTRIES // 10)
sparse_only("sparse @ sparse", lambda t, a, b: t.sparse.mm(a, b), lambda a, b: a @ b)
sparse_only("sparse @ sparse, small", lambda t, a, b: t.sparse.mm(a, b), lambda a, b: a @ b, lambda a, b: a @ b,
            side=SIDE // 10, entries=ENTRIES // 10)


# ---------------------------------------------------------------- with dense matrices

def with_dense(name, function, scipy=None, width=16, layout=None, crowded_rows=False, side=SIDE, entries=ENTRIES,
               grad=(False, False)):
    """function(t, a, x, y) of a sparse matrix and two dense ones as high as it, and SciPy's function(a, x, y)."""
    def build(t, numbers):
        a = as_tensor(t, pattern(numbers, side, entries, crowded_rows), side)
        a = a if layout is None else a.to_sparse_csr()
        x, y = (tensor(t, numbers, side, width) for _ in range(2))
        a.requires_grad_(grad[0])
        x.requires_grad_(grad[1])
        return lambda: function(t, a, x, y)

    def of_scipy(library, numbers):
        a = as_scipy(library, pattern(numbers, side, entries, crowded_rows), side)
        x, y = (numbers.standard_normal((side, width)).astype("float32") for _ in range(2))
        return lambda: scipy(a, x, y)

    case(name, build, **({"scipy": of_scipy} if scipy else {}))


for layout in (None, "csr"):
    for crowded in (False, True):
        for width in (1, 16, 64, 256) if layout is None and not crowded else (16, 64):
            with_dense(f"{layout or 'coo'} mm, {width} columns{', crowded rows' if crowded else ''}",
                       lambda t, a, x, y: t.sparse.mm(a, x), lambda a, x, y: a @ x, width, layout, crowded)
with_dense("mv", lambda t, a, x, y: a.mv(x[:, 0]), lambda a, x, y: a @ x[:, 0], 1)
with_dense("addmm", lambda t, a, x, y: t.sparse.addmm(y, a, x), lambda a, x, y: y + a @ x)
with_dense("hspmm, mostly empty rows", lambda t, a, x, y: t.hspmm(a, x).to_dense(), width=64, entries=10_000)
with_dense("mm, gradient of the dense", lambda t, a, x, y: t.autograd.grad(t.sparse.mm(a, x), x, y)[0],
           lambda a, x, y: a.T @ y, grad=(False, True))
with_dense("mm, gradient of the sparse", lambda t, a, x, y: t.autograd.grad(t.sparse.mm(a, x), a, y)[0], side=4_000,
           entries=ENTRIES // 10, grad=(True, False))
for dim in (0, 1):
    with_dense(f"sum over {dim}, gradient",
               lambda t, a, x, y, dim=dim: t.autograd.grad(t.sparse.sum(a, dim).to_dense().sum(), a)[0],
               side=SIDE // 10, entries=ENTRIES // 10, grad=(True, False))
with_dense("sparse_mask", lambda t, a, x, y: x.sparse_mask(a), width=CROWDED, side=CROWDED)


def embedding(t, numbers):
    layer = t.nn.Embedding(SIDE, 64, sparse=True)
    with t.no_grad():
        layer.weight.copy_(tensor(t, numbers, SIDE, 64))
    optimizer = t.optim.SparseAdam(list(layer.parameters()), lr=0.01)
    words, target = t.tensor(numbers.integers(0, SIDE, 4096)), tensor(t, numbers, 4096, 64)

    def run():
        optimizer.zero_grad()
        ((layer(words) - target) ** 2).mean().backward()
        optimizer.step()
    return run


case("Embedding and SparseAdam, step", embedding)
