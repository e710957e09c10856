"""Sparse tensors through files, and to and from other processes: layout, parts and flags come back as they were."""
import io
import multiprocessing

import pytest

import shimtorch as torch

from .._ops.sparse_cases import random_sparse

KINDS = {
    "uncoalesced": lambda: random_sparse(nnz=12),
    "coalesced": lambda: random_sparse(coalesced=True),
    "hybrid": lambda: random_sparse((3, 4), (2,), 5),
    "empty": lambda: torch.sparse_coo_tensor((3, 0, 2)),
    "three dimensions": lambda: random_sparse((3, 4, 2), nnz=7, dtype=torch.float32),
    "complex": lambda: random_sparse(dtype=torch.complex64),
    "bool": lambda: random_sparse(coalesced=True) > 0,
    "half": lambda: random_sparse().half(),
    "large": lambda: torch.sparse_coo_tensor([[10 ** 12], [5]], [1.5], (2 ** 50, 2 ** 40)),
    "csr": lambda: random_sparse().to_sparse_csr(),
    "csc": lambda: random_sparse().to_sparse_csc(),
    "bsr": lambda: random_sparse().to_sparse_bsr((2, 5)),
    "bsc": lambda: random_sparse().to_sparse_bsc((4, 1)),
    "csr in batches": lambda: torch.ones(2, 3, 4).to_sparse_csr(),
    "csr of 32 bits": lambda: torch.sparse_csr_tensor(torch.tensor([0, 1, 2], dtype=torch.int32),
                                                      torch.tensor([1, 0], dtype=torch.int32), torch.ones(2), (2, 2)),
}


def parts(x):
    if x.is_sparse:
        return x._indices(), x._values()
    rows = x.layout in (torch.sparse_csr, torch.sparse_bsr)
    return (x.crow_indices(), x.col_indices(), x.values()) if rows else (x.ccol_indices(), x.row_indices(), x.values())


def check_same(got, want):
    assert got.layout is want.layout and got.shape == want.shape and got.dtype is want.dtype
    for a, b in zip(parts(got), parts(want), strict=True):
        assert a.dtype is b.dtype and a.equal(b)
    if want.is_sparse:
        assert got.is_coalesced() == want.is_coalesced() and got.sparse_dim() == want.sparse_dim()


@pytest.mark.parametrize("zipped", (True, False))
@pytest.mark.parametrize("kind", KINDS)
def test_files(kind, zipped):
    file, x = io.BytesIO(), KINDS[kind]()
    torch.save({"x": [x]}, file, _use_new_zipfile_serialization=zipped)
    file.seek(0)
    check_same(torch.load(file)["x"][0], x)


class Kinds(torch.utils.data.Dataset):
    """One tensor of each kind."""

    def __len__(self):
        return len(KINDS)

    def __getitem__(self, i):
        return list(KINDS.values())[i]()


def answer(tensors, queue):
    """In another process: what came, and whether it can be computed with."""
    queue.put([(x, x.to_dense().count_nonzero().item() if x.numel() < 1000 else None) for x in tensors])
    queue.get()                             # the memory is shared: stay until it was looked at


START_METHODS = [m for m in ("fork", "spawn") if m in multiprocessing.get_all_start_methods()]


@pytest.mark.parametrize("method", START_METHODS)
def test_workers_of_a_data_loader(method):
    loader = torch.utils.data.DataLoader(Kinds(), batch_size=None, num_workers=2, multiprocessing_context=method)
    for got, make in zip(loader, KINDS.values(), strict=True):
        check_same(got, make())


@pytest.mark.parametrize("method", START_METHODS)
def test_workers_collate(method):
    """A batch of sparse tensors is one with a dimension more."""
    rows = [random_sparse((5,), nnz=3, seed=k) for k in range(6)]
    loader = torch.utils.data.DataLoader(rows, batch_size=3, num_workers=1, multiprocessing_context=method)
    batches = list(loader)
    assert [b.layout for b in batches] == [torch.sparse_coo] * 2 and [tuple(b.shape) for b in batches] == [(3, 5)] * 2
    assert torch.cat(batches).to_dense().equal(torch.stack([row.to_dense() for row in rows]))


@pytest.mark.parametrize("method", START_METHODS)
def test_to_a_process_and_back(method):
    context = torch.multiprocessing.get_context(method)
    queue, tensors = context.Queue(), [make() for make in KINDS.values()]
    process = context.Process(target=answer, args=(tensors, queue))
    process.start()
    came = queue.get(timeout=120)
    for (got, count), want in zip(came, tensors, strict=True):
        check_same(got, want)
        assert count is None or count == want.to_dense().count_nonzero().item()
    queue.put(None)
    process.join(timeout=60)
    assert process.exitcode == 0
