"""einsum with sparse operands: values, layouts and gradients against those of the dense tensors."""
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shimtorch as torch

from .test_einsum import contractions, numbers


def operand(spec, generator):
    """(tensor, the same one dense) of a spec such as "coo 4 5", "csr 4 5", "dense 5", "hybrid 4 5"."""
    layout, *sizes = spec.split()
    sizes = [int(n) for n in sizes]
    x = torch.randn(sizes, dtype=torch.float64, generator=generator)
    if layout == "dense":
        return x.requires_grad_(), x.detach().requires_grad_()
    if layout == "hybrid":
        x[1] = 0
        return x.to_sparse(1).requires_grad_(), x.detach().requires_grad_()
    x = x * (torch.rand(sizes, generator=generator) < 0.4).to(x.dtype)
    s = x.to_sparse() if layout == "coo" else x.to_sparse_csr()
    return s.requires_grad_(), x.detach().requires_grad_()


DENSE, SPARSE = torch.strided, torch.sparse_coo
CASES = [
    ("ij,j->i", "coo 4 5, dense 5", DENSE),
    ("ij,jk->ik", "coo 4 5, dense 5 3", DENSE),
    ("ij,jk->ki", "coo 4 5, dense 5 3", DENSE),
    ("ij,jk->ik", "dense 4 5, coo 5 3", DENSE),
    ("ij,jk->ik", "coo 4 5, coo 5 3", SPARSE),
    ("ij,ik,jk->", "coo 4 5, dense 4 3, dense 5 3", DENSE),
    ("bij,bjk->bik", "coo 2 4 5, dense 2 5 3", DENSE),
    ("bij,bjk->bik", "coo 2 4 5, coo 2 5 3", SPARSE),
    ("ij,ik,jk->ij", "coo 4 5, dense 4 3, dense 5 3", SPARSE),
    ("ij,kj,ki->ij", "coo 4 5, dense 3 5, dense 3 4", SPARSE),
    ("bij,bik,bjk->bij", "coo 2 4 5, dense 2 4 3, dense 2 5 3", SPARSE),
    ("ij,i,j->ij", "coo 4 5, dense 4, dense 5", SPARSE),
    ("ij,ij->ij", "coo 4 5, dense 4 5", SPARSE),
    ("ij,ij->ij", "coo 4 5, coo 4 5", SPARSE),
    ("ij,ij->ij", "coo 4 5, dense 1 5", SPARSE),
    ("ij,ij->", "coo 4 5, coo 4 5", DENSE),
    ("ij,j->ji", "coo 4 5, dense 5", SPARSE),
    ("ij,k->ijk", "coo 4 5, dense 3", SPARSE),
    ("ij->ji", "coo 4 5", SPARSE),
    ("ij->i", "coo 4 5", SPARSE),
    ("ij->", "coo 4 5", DENSE),
    ("ii->i", "coo 4 4", SPARSE),
    ("ii", "coo 4 4", DENSE),
    ("iij->j", "coo 4 4 3", SPARSE),
    ("ij,jk,kl->il", "coo 4 5, coo 5 3, coo 3 4", SPARSE),
    ("ij,jk,kl->il", "coo 4 5, dense 5 3, coo 3 4", DENSE),
    ("ij,kl->ijkl", "coo 2 3, coo 2 2", SPARSE),
    ("...ij,jk->...ik", "coo 2 3 4, dense 4 5", DENSE),
    ("ijk,jl->ikl", "coo 2 3 4, dense 3 5", DENSE),
    ("ij,jk->ik", "csr 4 5, dense 5 3", DENSE),
    ("ij,jk->ik", "csr 4 5, csr 5 3", SPARSE),
    ("ij,ik,jk->ij", "csr 4 5, dense 4 3, dense 5 3", SPARSE),
    ("ij,jk->ik", "hybrid 4 5, dense 5 3", DENSE),
    ("ij,ij->ij", "hybrid 4 5, dense 4 5", SPARSE),
]


@pytest.mark.parametrize("equation, specs, layout", CASES, ids=[f"{e} {s}" for e, s, _ in CASES])
def test_as_dense(equation, specs, layout):
    generator = torch.Generator().manual_seed(1)
    pairs = [operand(spec, generator) for spec in specs.split(", ")]
    result = torch.einsum(equation, *[x for x, _ in pairs])
    want = torch.einsum(equation, *[x for _, x in pairs])
    assert result.layout is layout
    full = result if layout is DENSE else result.to_dense()
    assert torch.allclose(full, want)
    weight = torch.randn(want.shape, dtype=torch.float64, generator=generator)
    pattern = 1 if layout is DENSE else (full.detach() != 0).to(torch.float64)
    (full * weight).sum().backward()
    (want * weight * pattern).sum().backward()
    for x, dense in pairs:
        if x.layout is DENSE:
            assert torch.allclose(x.grad, dense.grad)
            continue
        assert x.grad.layout is x.layout
        there = (x.detach().to_dense() != 0).to(torch.float64)
        assert torch.allclose(x.grad.to_dense() * there, dense.grad * there)
        assert not (x.grad.to_dense() * (1 - there)).any()


@settings(max_examples=150, deadline=None)
@given(contractions(), st.data())
def test_any_contraction(case, data):
    """Every operand of any layout, with entries that are zero, absent or given twice."""
    rows, output, shapes, _ = case
    sizes = {x: max([shape[row.index(x)] for row, shape in zip(rows, shapes) if x in row]) for row in rows for x in row}
    pairs = []
    for shape, row in zip(shapes, rows):
        whole = [n for n, x in zip(shape, row) if n != sizes[x]] == []    # dense if it is spread over a larger label
        layouts = ["dense"] + ["coo", "twice"] * (len(shape) > 0 and whole) + ["csr"] * (len(shape) == 2 and whole)
        layout = data.draw(st.sampled_from(layouts))
        x = numbers(shape) * (numbers(shape[::-1]).permute(list(range(len(shape)))[::-1]) > 0)
        s = x.clone() if layout == "dense" else x.to_sparse_csr() if layout == "csr" else x.to_sparse()
        if layout == "twice":
            values = torch.cat([s.values() * 2, -s.values()])
            s = torch.sparse_coo_tensor(torch.cat([s.indices()] * 2, 1), values, shape)
        pairs.append((s.requires_grad_(), x.requires_grad_()))
    sparse, dense = ([item for pair, row in zip(pairs, rows) for item in (pair[i], row)] for i in range(2))
    result, want = torch.einsum(*sparse, output), torch.einsum(*dense, output)
    full = result if result.layout is DENSE else result.to_dense()
    assert torch.equal(full, want)
    pattern = 1 if result.layout is DENSE else torch.sparse_coo_tensor(
        result.detach().indices(), torch.ones(result._nnz(), dtype=torch.float64), result.shape).to_dense()
    weight = numbers(want.shape)
    (full * weight).sum().backward()
    (want * weight * pattern).sum().backward()
    for s, x in pairs:
        if s.layout is DENSE:
            assert torch.equal(s.grad, x.grad)
            continue
        assert s.grad.layout is s.layout
        assert s.grad.shape == x.shape
        there = (s.detach().to_dense() != 0).to(torch.float64)
        assert torch.equal(s.grad.to_dense() * there, x.grad * there)


def test_duplicates_and_large_sizes():
    n = 10**6
    indices, values = torch.tensor([[5, 5, 7], [n - 1, n - 1, 2]]), torch.tensor([1.0, 2.0, 3.0])
    s = torch.sparse_coo_tensor(indices, values, (n, n))
    x, y = torch.ones(n, 2), torch.ones(n, 2)
    result = torch.einsum("ij,ik,jk->ij", s, x, y)
    assert result.shape == (n, n)
    assert result.indices().tolist() == [[5, 7], [n - 1, 2]]
    assert result.values().tolist() == [6.0, 6.0]
    assert torch.einsum("ij,ik,jk->", s, x, y).item() == 12.0
    assert torch.einsum("ij,jk->ik", s, s)._nnz() == 0
    assert torch.einsum("ij,kj->ik", s, s).to_sparse().values().tolist() == [9.0, 9.0]


def test_refusals():
    s = torch.eye(3).to_sparse()
    with pytest.raises(RuntimeError, match="expected scalar type Float but found Double"):
        torch.einsum("ij,jk->ik", s, torch.eye(3, dtype=torch.float64))
    with pytest.raises(RuntimeError, match="subscript j has size 4"):
        torch.einsum("ij,jk->ik", s, torch.ones(4, 3))
