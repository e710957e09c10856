"""Sparse tensors on the device: whatever is done to them gives what it gives on the CPU, entry by entry."""
import copy
import io
import pickle

import numpy as np
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64",
          "complex128"]


def values_of(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return torch.from_numpy(rng.random(shape) < 0.7)
    if "int" in dtype:
        return torch.from_numpy(rng.integers(1 if dtype[0] == "u" else -3, 4, shape)).to(getattr(torch, dtype))
    x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    return torch.from_numpy(np.asarray(x)).to(getattr(torch, dtype))


def sparse(size, nnz, n_sparse=None, dtype="float64", seed=0):
    """A sparse tensor of random entries, some of which meet."""
    n_sparse = len(size) if n_sparse is None else n_sparse
    rng = np.random.default_rng(seed)
    indices = torch.from_numpy(np.array([rng.integers(0, n, nnz) for n in size[:n_sparse]], dtype=np.int64).reshape(
        n_sparse, nnz))
    return torch.sparse_coo_tensor(indices, values_of((nnz, *size[n_sparse:]), dtype, seed + 1), size)


KINDS = {
    "repeated": lambda dtype: sparse((4, 5), 13, None, dtype),
    "coalesced": lambda dtype: sparse((4, 5), 9, None, dtype).coalesce(),
    "hybrid": lambda dtype: sparse((4, 5, 3), 7, 2, dtype),
    "long": lambda dtype: sparse((700,), 900, None, dtype),
    "three": lambda dtype: sparse((3, 4, 5), 20, None, dtype),
    "nothing": lambda dtype: sparse((4, 5), 0, None, dtype),
    "hybrid nothing": lambda dtype: sparse((4, 5, 3), 0, 2, dtype),
    "no elements": lambda dtype: sparse((4, 5, 0), 3, 2, dtype),
    "wide": lambda dtype: torch.sparse_coo_tensor([[2**40, 3, 3, 2**40], [7, 2**40, 0, 7]], values_of((4,), dtype, 3),
                                                  (2**41, 2**41)),
}


def same(got, want, tolerance=1e-12):
    """Whether a result of the device is one of the CPU: layout, size, dtype, entries."""
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want, strict=True):
            same(g, w, tolerance)
        return
    if not isinstance(want, torch.Tensor):
        assert got == want
        return
    assert got.is_cuda and got.layout is want.layout and got.dtype is want.dtype and got.shape == want.shape
    if want.layout is torch.sparse_coo:
        assert got.sparse_dim() == want.sparse_dim() and got.is_coalesced() == want.is_coalesced()
        got, want = got.coalesce(), want.coalesce()
        assert torch.equal(got.indices().cpu(), want.indices())
        got, want = got.values(), want.values()
    elif want.layout is not torch.strided:
        same(got.to_sparse()._indices(), want.to_sparse()._indices())
        got, want = got.values(), want.values()
    if want.dtype in (torch.float16, torch.bfloat16, torch.float32, torch.complex64):
        tolerance = {torch.float16: 2e-2, torch.bfloat16: 1e-1}.get(want.dtype, 1e-5)
    if want.dtype.is_floating_point or want.dtype.is_complex:
        assert torch.allclose(got.cpu(), want, tolerance, tolerance, equal_nan=True)
    else:
        assert torch.equal(got.cpu(), want)


def both(f, *operands):
    """f on the CPU and on the device give the same, or the same error."""
    there = [x.cuda() if isinstance(x, torch.Tensor) else x for x in operands]
    try:
        want = f(*operands)
    except (RuntimeError, IndexError, TypeError, ValueError) as error:
        with pytest.raises(type(error)) as caught:
            f(*there)
        assert str(caught.value).replace("cuda:0", "cpu").replace("torch.cuda.", "torch.") == str(error)
        return
    same(f(*there), want)


ONE = {
    "coalesce": lambda x: x.coalesce(),
    "clone": lambda x: x.clone(),
    "transpose": lambda x: x.transpose(0, 1),
    "to_dense": lambda x: x.to_dense(),
    "twice": lambda x: x * 2,
    "half": lambda x: x / 2,
    "negative": lambda x: -x,
    "sum": lambda x: x.sum(),
    "sum 0": lambda x: torch.sparse.sum(x, 0),
    "sum -1": lambda x: torch.sparse.sum(x, -1),
    "square": lambda x: x * x,
    "added": lambda x: x + x,
    "less": lambda x: x - x.transpose(0, 1).transpose(0, 1),
    "first": lambda x: x[0],
    "last": lambda x: x[..., -1],
    "slice": lambda x: x[1:3],
    "step": lambda x: x[::2],
    "narrow": lambda x: x.narrow(1, 1, 3),
    "rows": lambda x: x.index_select(0, torch.tensor([2, 0, 2, -1]).to(x.device)),
    "columns": lambda x: x.index_select(1, torch.tensor([1, 3]).to(x.device)),
    "unsqueeze": lambda x: x.unsqueeze(1),
    "squeeze": lambda x: x.unsqueeze(0).squeeze(0),
    "reshape": lambda x: x.unsqueeze(0).reshape(x.shape),
    "cat": lambda x: torch.cat([x, x], 0),
    "cat 1": lambda x: torch.cat([x, x * 3], 1),
    "stack": lambda x: torch.stack([x, x]),
    "abs": lambda x: x.abs(),
    "power": lambda x: x.pow(2),
    "relu": lambda x: x.relu(),
    "sign": lambda x: x.sign(),
    "sqrt": lambda x: x.abs().sqrt(),
    "isnan": lambda x: x.isnan(),
    "indices": lambda x: x.coalesce().indices(),
    "values": lambda x: x.coalesce().values(),
    "nnz": lambda x: x._nnz(),
    "zeros_like": lambda x: torch.zeros_like(x),
    "new": lambda x: x.new_zeros(2, 3),
    "mask": lambda x: x.sparse_mask(x.coalesce()),
    "mean": lambda x: x.mean(),
    "norm": lambda x: x.norm(),
    "amax": lambda x: x.amax(),
    "amax 0": lambda x: x.amax(0),
    "amin 1": lambda x: x.amin(1, True),
    "prod": lambda x: x.prod(0),
    "any": lambda x: x.any(1),
    "all": lambda x: x.all(),
    "count": lambda x: x.count_nonzero(),
    "nonzero": lambda x: x.nonzero(),
    "expand": lambda x: x.unsqueeze(0).expand(3, *x.shape),
    "equal": lambda x: torch.equal(x, x + x - x),
    "float": lambda x: x.float(),
    "long": lambda x: x.to(torch.int64),
    "softmax": lambda x: torch.sparse.softmax(x, 0),
    "log_softmax": lambda x: torch.sparse.log_softmax(x, 1),
    "softmax -1": lambda x: torch.sparse.softmax(x, -1),
    "chunk": lambda x: x.chunk(2),
    "unbind": lambda x: x.unbind(),
    "pairs": lambda x: x[torch.tensor([[0, 2], [1, 0]]).to(x.device)],
    "permute": lambda x: x.permute(1, 0, *range(2, x.dim())),
    "t": lambda x: x.t(),
    "zero": lambda x: x.clone().zero_(),
    "in place": lambda x: x.clone().mul_(3),
    "add_": lambda x: x.clone().add_(x),
    "type": lambda x: x.type().replace("cuda.", ""),
    "gt": lambda x: x > 1,
    "eq": lambda x: x == x,
    "maximum": lambda x: torch.maximum(x, -x),
    "numel": lambda x: (x.numel(), x.sparse_dim(), x.dense_dim(), x.is_sparse),
    "deepcopy": copy.deepcopy,
    "copy": lambda x: x.clone().copy_(x * 2),
    "diagonal": lambda x: x.diagonal(),
    "tril": lambda x: x.tril(1),
    "triu": lambda x: x.triu(),
    "flip": lambda x: x.flip(0),
    "roll": lambda x: x.roll(1, 0),
    "repeat": lambda x: x.repeat(2, *[1] * (x.dim() - 1)),
    "diag_embed": lambda x: x.diag_embed(),
    "kron": lambda x: torch.kron(x, x.to_dense()[:2]) if x.numel() < 1000 else None,
    "block_diag": lambda x: torch.block_diag(x, x),
    "interleaved": lambda x: x.repeat_interleave(2, 0) if x.numel() < 1000 else None,
    "resize": lambda x: x.clone().sparse_resize_([n + (d < x.sparse_dim()) for d, n in enumerate(x.shape)],
                                                 x.sparse_dim(), x.dense_dim()),
}


@pytest.mark.parametrize("name", ONE)
def test_one_operand(name):
    for kind, make in KINDS.items():
        if kind != "wide" or name not in ("to_dense", "unbind", "eq"):  # which no memory holds
            both(ONE[name], make("float64"))


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    for kind in ("repeated", "hybrid", "nothing"):
        x = KINDS[kind](dtype)
        for name in ("coalesce", "to_dense", "sum", "sum 0", "square", "added", "transpose", "rows", "twice", "cat",
                     "mask", "amax 0", "prod", "any", "clone", "softmax", "first"):
            if name != "amax 0" or not x.is_complex():
                both(ONE[name], x)
        both(lambda d, n: d.to_sparse(n), x.to_dense(), x.sparse_dim())


TWO = {
    "sum": lambda x, y, d: x + y,
    "difference": lambda x, y, d: x - y,
    "product": lambda x, y, d: x * y,
    "alpha": lambda x, y, d: x.add(y, alpha=3),
    "with dense": lambda x, y, d: x * d,
    "dense plus": lambda x, y, d: d + x,
    "dense less": lambda x, y, d: d.sub(x, alpha=2),
    "into dense": lambda x, y, d: d.clone().add_(y),
    "broadcast": lambda x, y, d: x * d[:1],
    "broadcast sparse": lambda x, y, d: x * y[:1],
    "column": lambda x, y, d: x * d[:, :1],
    "mask": lambda x, y, d: d.sparse_mask(x.coalesce()),
    "sparse mask": lambda x, y, d: x.sparse_mask(y.coalesce()),
    "divided": lambda x, y, d: x / (d.abs() + 1),
    "maximum": lambda x, y, d: torch.maximum(x, y),
    "differ": lambda x, y, d: x != y,
    "cat": lambda x, y, d: torch.cat([x, y]),
    "in place": lambda x, y, d: x.clone().add_(y),
    "where": lambda x, y, d: torch.where(d > 0, x, y),
    "equal": lambda x, y, d: torch.equal(x, y),
    "allclose": lambda x, y, d: torch.allclose(x, y),
    "dense times": lambda x, y, d: d * x,
    "unlike sizes": lambda x, y, d: x + y[1:],
    "dense in place": lambda x, y, d: x.clone().add_(d),
}


@pytest.mark.parametrize("name", TWO)
def test_two_operands(name):
    for kind in ("repeated", "hybrid", "three", "nothing"):
        x = KINDS[kind]("float64")
        y = sparse(tuple(x.shape), 6, x.sparse_dim(), seed=9)
        both(TWO[name], x, y, values_of(tuple(x.shape), "float64", 5))
        both(TWO[name], x.coalesce(), y.coalesce(), values_of(tuple(x.shape), "float64", 5))


def test_wide_coordinates():
    x, y = KINDS["wide"]("float64"), torch.sparse_coo_tensor([[3, 3], [0, 5]], [1.0, 2.0], (2**41, 2**41)).double()
    for f in (lambda x, y: x + y, lambda x, y: x * y, lambda x, y: y.sparse_mask(x.coalesce())):
        both(f, x, y)


# ---------------------------------------------------------------- making and moving

def test_constructors():
    i, v = torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0])
    want = torch.sparse_coo_tensor(i, v, (2, 3))
    for made in (torch.sparse_coo_tensor(i.cuda(), v.cuda(), (2, 3)), torch.sparse_coo_tensor(i, v.cuda(), (2, 3)),
                 torch.sparse_coo_tensor(i, v, (2, 3), device="cuda"), torch.sparse_coo_tensor(i.cuda(), v.cuda()),
                 torch.sparse_coo_tensor(i.tolist(), v.tolist(), device="cuda:0"), want.cuda(), want.to("cuda"),
                 torch.cuda.sparse.FloatTensor(i.cuda(), v.cuda(), torch.Size([2, 3])),
                 torch.cuda.sparse.FloatTensor(i.cuda(), v.cuda()), want.to(torch.zeros(1, device="cuda"))):
        same(made, want)
        assert isinstance(made, torch.cuda.sparse.FloatTensor) and not isinstance(made, torch.sparse.FloatTensor)
        same(made.cuda(), want)
        assert made.cuda() is made and not made.cpu().is_cuda and torch.equal(made.cpu().to_dense(), want.to_dense())
    same(torch.cuda.sparse.DoubleTensor(2, 3), torch.sparse.DoubleTensor(2, 3))
    same(torch.zeros(2, 3, layout=torch.sparse_coo, device="cuda"), torch.zeros(2, 3, layout=torch.sparse_coo))
    same(torch.sparse_coo_tensor((2, 3), device="cuda"), torch.sparse_coo_tensor((2, 3)))
    same(want.cuda().to(torch.float64), want.double())
    same(want.to("cuda", torch.float64), want.double())
    x = want.cuda().requires_grad_()
    x.to_dense().sum().backward()
    assert x.grad.is_cuda and x.grad.is_sparse
    y = want.clone().requires_grad_()
    y.cuda().to_dense().sum().backward()
    assert not y.grad.is_cuda


def test_every_typed_constructor():
    for name in ("Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double", "Bool", "BFloat16"):
        cls, plain = getattr(torch.cuda.sparse, name + "Tensor"), getattr(torch, name + "Tensor")
        x = cls(torch.cuda.LongTensor([[0, 2]]), plain([1, 1]).cuda(), torch.Size([3]))
        assert isinstance(x, cls) and x.type() == f"torch.cuda.sparse.{name}Tensor"
        assert x.to_dense().tolist() == [1, 0, 1]


def test_printing():
    x = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    want = repr(x).replace("       size=", "       device='cuda:0', size=")
    assert repr(x.cuda()) == want and "device='cuda:0'" in want
    assert "device='cuda:0'" in repr(x.to_sparse_csr().cuda())


def test_files_and_pickles():
    for x in (KINDS["hybrid"]("float32"), KINDS["coalesced"]("float32").to_sparse_csr()):
        file = io.BytesIO()
        torch.save(x.cuda(), file)
        file.seek(0)
        same(torch.load(file), x)
        same(pickle.loads(pickle.dumps(x.cuda())), x)
        file.seek(0)
        assert not torch.load(file, map_location="cpu").is_cuda


def test_layouts_and_devices_that_do_not_fit():
    i, v = torch.tensor([[0, 1]]), torch.ones(2)
    x = torch.sparse_coo_tensor(i, v, (3,))
    for f in (lambda: x + x.cuda(), lambda: x.cuda() * torch.ones(3),
              lambda: x.cuda().unsqueeze(0).mm(torch.ones(3, 2)),
              lambda: torch.ones(3).sparse_mask(x.cuda().coalesce())):
        with pytest.raises(RuntimeError, match="same device|must match device|different devices"):
            f()


def test_what_has_no_form_is_named():
    x = torch.eye(3).to_sparse().cuda()
    with pytest.raises(NotImplementedError, match="device 'cuda:0'"):
        torch.sparse.spsolve(x, torch.ones(3, device="cuda"))
    with pytest.raises(NotImplementedError, match="device 'cuda:0'"):
        x[0, 0] = 3


# ---------------------------------------------------------------- wrong input

@pytest.mark.parametrize("indices, values, size", [
    ([[0, 5]], [1.0, 2.0], (3,)), ([[0, -1]], [1.0, 2.0], (3,)), ([[0, 1], [0, 9]], [1.0, 2.0], (3, 3)),
    ([[0, 1, 2]], [1.0, 2.0], (3,)), ([[0, 1]], [1.0, 2.0], (3, 3)), ([0, 1], [1.0, 2.0], (3,)),
    ([[0, 1]], [[1.0, 2.0], [3.0, 4.0]], (3, 3)), ([[-4, 1]], [1.0, 2.0], None), ([[0.5, 1.0]], [1.0, 2.0], (3,)),
])
def test_parts_that_do_not_fit(indices, values, size):
    both(lambda i, v: torch.sparse_coo_tensor(i, v, size) if size else torch.sparse_coo_tensor(i, v),
         torch.tensor(indices), torch.tensor(values))


def test_many_indices_of_which_one_is_outside():
    indices = torch.zeros(2, 20000, dtype=torch.int64)
    indices[1, 17777] = 12
    both(lambda i, v: torch.sparse_coo_tensor(i, v, (3, 5)).coalesce(), indices, torch.ones(20000))
    both(lambda i, v, d: torch.sparse_coo_tensor(i, v, (3, 5)).mm(d), indices, torch.ones(20000), torch.ones(5, 1))


@pytest.mark.parametrize("index", [[0, 9], [-6], [4]])
def test_rows_that_are_not_there(index):
    both(lambda x, i: x.index_select(0, i), KINDS["coalesced"]("float64"), torch.tensor(index))
    both(lambda x, i: x.index_select(2, i), KINDS["hybrid"]("float64"), torch.tensor([0, 3]))


# ---------------------------------------------------------------- compressed layouts

LAYOUTS = {
    "csr": lambda x: x.to_sparse_csr(),
    "csc": lambda x: x.to_sparse_csc(),
    "bsr": lambda x: x.to_sparse_bsr((2, 3)),
    "bsc": lambda x: x.to_sparse_bsc((2, 3)),
}
COMPRESSED = {
    "to_dense": lambda x: x.to_dense(),
    "to coo": lambda x: x.to_sparse(),
    "product": lambda x: x.matmul(torch.ones(6, 2, dtype=x.dtype, device=x.device)),
    "twice": lambda x: x * 2,
    "clone": lambda x: x.clone(),
    "t": lambda x: x.t(),
    "csc": lambda x: x.to_sparse_csc() if x.layout is torch.sparse_csr else x,
    "abs": lambda x: x.abs(),
    "sum": lambda x: x.sum(),
    "add": lambda x: x + x,
    "first": lambda x: x[0].to_dense(),
    "zeros": torch.zeros_like,
    "sparse": lambda x: x.to_sparse().mm(x.to_sparse().t()),
    "double": lambda x: x.double(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_compressed(layout):
    for x in (sparse((4, 6), 11), sparse((4, 6), 0)):
        both(LAYOUTS[layout], x)
        both(LAYOUTS[layout], x.to_dense())
        for f in COMPRESSED.values():
            both(f, LAYOUTS[layout](x))


def test_batches():
    x = torch.stack([torch.eye(3), torch.eye(3).roll(1, 0) * 2, torch.ones(3, 1) * torch.tensor([1.0, 0, 0])])
    both(lambda x: x.to_sparse_csr(), x)
    both(lambda x: x.to_sparse_csc().to_dense(), x)
    both(lambda x: x.to_sparse_csr().to_dense(), x.to_sparse(2))
    uneven = x.clone()
    uneven[0, 0, 1] = 1
    both(lambda x: x.to_sparse_csr(), uneven)


def test_compressed_constructors():
    p, c, v = torch.tensor([0, 1, 3]), torch.tensor([2, 0, 2]), torch.tensor([3.0, 4.0, 5.0])
    want = torch.sparse_csr_tensor(p, c, v, (2, 3))
    for made in (torch.sparse_csr_tensor(p.cuda(), c.cuda(), v.cuda(), (2, 3)), torch.sparse_csr_tensor(
            p, c, v, (2, 3), device="cuda"), torch.sparse_csr_tensor(p.cuda(), c.cuda(), v.cuda())):
        same(made, want)
        same(made.crow_indices(), p)
        same(made.col_indices(), c)
        assert made.values().is_cuda
    for pointers, columns in (([0, 1, 4], [2, 0, 2]), ([1, 1, 3], [2, 0, 2]), ([0, 1, 3], [2, 0, 3]), (
            [0, 1, 3], [2, -1, 2])):
        both(lambda p, c, v: torch.sparse_csr_tensor(p, c, v, (2, 3)), torch.tensor(pointers), torch.tensor(columns), v)
