"""Diagonals, triangles, turning and repeating of sparse tensors against the dense ones, and the derivatives."""
import pytest

import shimtorch as torch

from .sparse_cases import check_gradients, check_parts, random_sparse, random_values, same

PLAIN = random_sparse((4, 5, 3), nnz=20)
HYBRID = random_sparse((4, 5), (3, 2), nnz=12)
MATRIX = random_sparse((4, 5), nnz=12)
ROWS = random_sparse((4,), (5,), nnz=5)
BATCH = random_sparse((3,), (4, 5), nnz=4)
TENSORS = {"plain": PLAIN, "hybrid": HYBRID, "matrix": MATRIX, "rows": ROWS, "batch": BATCH}
OTHER = random_sparse((2, 3), nnz=4, seed=3)
THICK = random_values((2, 1, 2), seed=5)

EVERY = {
    "diagonal": lambda x: x.diagonal(), "diagonal 1": lambda x: x.diagonal(1), "diagonal -2": lambda x: x.diagonal(-2),
    "diagonal of the last": lambda x: x.diagonal(1, -2, -1), "diagonal turned": lambda x: x.diagonal(1, 1, 0),
    "diagonal far away": lambda x: x.diagonal(9), "diagonal far below": lambda x: torch.diagonal(x, -9),
    "tril": lambda x: x.tril(), "tril 1": lambda x: x.tril(1), "triu": lambda x: x.triu(),
    "triu -1": lambda x: torch.triu(x, -1), "tril_": lambda x: x.clone().tril_(-1),
    "triu_": lambda x: x.clone().triu_(),
    "diag_embed": lambda x: torch.diag_embed(x), "diag_embed 1": lambda x: torch.diag_embed(x, 1, 0, -1),
    "diag_embed -2": lambda x: torch.diag_embed(x, -2, -1, 0), "flip": lambda x: x.flip(0),
    "flip all": lambda x: torch.flip(x, tuple(range(x.dim()))), "flip last": lambda x: x.flip([-1]),
    "fliplr": lambda x: torch.fliplr(x), "flipud": lambda x: x.flipud(),
    "rot90 twice": lambda x: torch.rot90(x, 2), "roll": lambda x: x.roll(1, 0),
    "roll two": lambda x: torch.roll(x, (-2, 7), (0, 1)), "roll last": lambda x: x.roll(-1, -1),
    "repeat": lambda x: x.repeat(2, *[1] * (x.dim() - 1)), "repeat all": lambda x: x.repeat(*range(2, x.dim() + 2)),
    "repeat in front": lambda x: x.repeat(3, *[1] * (x.dim() - 1), 2), "repeat none": lambda x: x.repeat(
        0, *[2] * (x.dim() - 1)), "tile": lambda x: x.tile(2), "tile list": lambda x: torch.tile(x, (2, 1, 1, 2, 1)),
    "repeat_interleave": lambda x: x.repeat_interleave(2, 0), "repeat_interleave by": lambda x: torch.repeat_interleave(
        x, torch.tensor([1, 0, 3, 2, 1])[:x.shape[-1]], -1), "kron": lambda x: torch.kron(x, OTHER.to_dense()
        if x.layout is torch.strided else OTHER), "kron dense": lambda x: torch.kron(x, THICK),
    "dense kron": lambda x: torch.kron(THICK, x), "kron itself": lambda x: x.kron(x),
}
MATRICES = {
    "diag": lambda x: x.diag(), "diag 1": lambda x: torch.diag(x, 1), "trace": lambda x: x.trace(),
    "diag of a vector": lambda x: torch.diag(x[1], -1), "rot90 once": lambda x: torch.rot90(x),
    "rot90 back": lambda x: torch.rot90(x, -1), "roll flat": lambda x: x.roll(3),
    "diagflat": lambda x: torch.diagflat(x, 1), "block_diag": lambda x: torch.block_diag(x, x * 2, x[0]),
    "block_diag dense": lambda x: torch.block_diag(THICK[0], x), "repeat_interleave flat": lambda x: (
        x.repeat_interleave(3)), "repeat_interleave one": lambda x: x.repeat_interleave(torch.tensor([2]), 1),
    "roll over": lambda x: x.roll((1, 1), (0, 0)),
}
CASES = [(kind, name) for kind in TENSORS for name in EVERY] + [("matrix", name) for name in MATRICES]
IN_PLACE = ("tril_", "triu_")


def function(name):
    return EVERY.get(name) or MATRICES[name]


@pytest.mark.parametrize(("kind", "name"), CASES)
@pytest.mark.parametrize("coalesced", (False, True))
def test_as_dense_tensors(kind, name, coalesced):
    x, f = TENSORS[kind], function(name)
    x = x.coalesce() if coalesced else x
    got, want = f(x), f(x.to_dense())
    assert got.shape == want.shape and got.dtype is want.dtype
    if want.dim():
        assert got.layout is torch.sparse_coo
        check_parts(got)
    same(got, want)


@pytest.mark.parametrize(("kind", "name"), [case for case in CASES if case[1] not in IN_PLACE])
def test_gradients(kind, name):
    x, f = TENSORS[kind], function(name)
    indices, values = x._indices(), x._values()
    check_gradients(lambda v: f(torch.sparse_coo_tensor(indices, v, x.shape)), values, second=kind == "matrix")


@pytest.mark.parametrize("name", [name for name in (*EVERY, *MATRICES) if "embed" not in name])
@pytest.mark.parametrize("layout", (torch.sparse_csr, torch.sparse_csc))
def test_compressed(name, layout):
    x, f = MATRIX.coalesce(), function(name)
    got, want = f(x.to_sparse(layout=layout)), f(x.to_dense())
    assert got.shape == want.shape and (got.layout is not torch.strided or not want.dim())
    same(got, want)


@pytest.mark.parametrize("name", ["diagonal", "tril", "flip", "roll", "repeat", "kron itself"])
def test_gradient_of_a_sparse_leaf_has_its_pattern(name):
    x = MATRIX.coalesce().requires_grad_()
    y = function(name)(x).to_dense()
    weights = random_values(y.shape, seed=2)
    (y * weights).sum().backward()
    assert x.grad.layout is torch.sparse_coo and torch.equal(x.grad.coalesce().indices(), MATRIX.coalesce().indices())
    d = MATRIX.to_dense().requires_grad_()
    (function(name)(d) * weights).sum().backward()
    same(x.grad, d.grad * (MATRIX.to_dense() != 0))


@pytest.mark.parametrize("dtype", (torch.bool, torch.int64, torch.float16, torch.complex64), ids=str)
@pytest.mark.parametrize("name", [name for name in (*EVERY, *MATRICES) if "dense" not in name and name != "trace"])
def test_dtypes(dtype, name):
    x, f = (MATRIX * 3).coalesce().to(dtype), function(name)
    got, want = f(x), f(x.to_dense())
    assert got.dtype is want.dtype and got.shape == want.shape
    same(got.to_dense().to(torch.complex128), want.to(torch.complex128))


def test_nothing_stored_and_no_size():
    for shape in ((0, 3), (3, 0), (2, 2)):
        x = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), shape)
        for f in (lambda x: x.diagonal(), lambda x: x.tril(), lambda x: x.flip(0, 1), lambda x: x.roll(1, 0),
                  lambda x: x.repeat(2, 3), lambda x: torch.kron(x, x), lambda x: torch.block_diag(x, x)):
            same(f(x), f(x.to_dense()))


@pytest.mark.parametrize(("f", "error"), [
    (lambda x: x.diagonal(0, 1, 1), RuntimeError), (lambda x: x.diagonal(0, 0, 4), IndexError),
    (lambda x: x[0].diagonal(), IndexError), (lambda x: x[0].tril(), RuntimeError),
    (lambda x: x.flip(0, 0), RuntimeError), (lambda x: x.flip(5), IndexError),
    (lambda x: x.roll((1, 2), 0), RuntimeError), (lambda x: x.roll(()), RuntimeError),
    (lambda x: x.repeat(2), RuntimeError), (lambda x: x.repeat(-1, 2), RuntimeError),
    (lambda x: torch.diag_embed(x, 0, 1, 1), RuntimeError),
    (lambda x: torch.block_diag(x, torch.zeros(1, 1, 1)), RuntimeError)])
def test_errors_are_those_of_dense_tensors(f, error):
    with pytest.raises(error) as wanted:
        f(MATRIX.to_dense())
    with pytest.raises(error) as raised:
        f(MATRIX)
    assert str(raised.value) == str(wanted.value)
