"""The einsum language and its plans: against what real torch answered, and against a sum written out place by place."""
import itertools
import json
import re
from math import prod
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shimtorch as torch

RECORDED = json.loads((Path(__file__).parents[1] / "answers" / "einsum.json").read_text())
REFUSALS = (RuntimeError, ValueError, TypeError)


def numbers(shape):
    """Whole numbers from -3 to 3, the same ones for a shape everywhere."""
    values = [float((7 * i + 3 * len(shape)) % 11 % 7 - 3) for i in range(prod(shape))]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def shown(entry):
    return entry.get("equation") if "equation" in entry else str(entry["sublists"])


@pytest.mark.parametrize("entry", RECORDED, ids=[shown(x) for x in RECORDED])
def test_as_torch_answered(entry):
    operands = [numbers(shape).to(getattr(torch, entry["dtype"])) for shape in entry["shapes"]]
    if "equation" in entry:
        arguments = [entry["equation"], *operands]
    else:
        rows = [[... if x == -1 else x for x in row] for row in entry["sublists"]]
        arguments = [item for pair in zip(operands, rows) for item in pair] + rows[len(operands):]
    if "error" in entry:
        with pytest.raises(REFUSALS) as caught:
            torch.einsum(*arguments)
        assert type(caught.value).__name__ == entry["error"]
        message = re.sub(r" \(operand \d+\)$", "", str(caught.value))          # torch does not say with which one
        assert message == re.sub(r"(\d)has", r"\1 has", entry["message"])
        return
    result = torch.einsum(*arguments)
    assert list(result.shape) == entry["shape"]
    assert result.dtype is getattr(torch, entry["result"])
    values = torch.view_as_real(result.to(torch.complex128)) if result.is_complex() else result.to(torch.float64)
    rounding = {"bfloat16": 2e-2, "float16": 2e-3}.get(entry["result"], 0)   # torch rounds what is between, too
    scale = max(map(abs, entry["values"]), default=0)
    assert values.flatten().tolist() == pytest.approx(entry["values"], rel=rounding, abs=rounding * scale)


# ---------------------------------------------------------------- any string

@settings(max_examples=300, deadline=None)
@given(st.text(st.sampled_from("ijAz.,->  "), max_size=14),
       st.lists(st.lists(st.integers(0, 2), max_size=3), max_size=3))
def test_no_string_does_harm(equation, shapes):
    try:
        result = torch.einsum(equation, *[numbers(shape) for shape in shapes])
    except REFUSALS as error:
        assert str(error)
    else:
        assert isinstance(result, torch.Tensor)


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("ijAz.,->  "), max_size=12),
       st.lists(st.lists(st.integers(1, 2), max_size=3), max_size=3))
def test_live(request, equation, shapes):
    """What torch accepts gives torch's result, and what it refuses is refused."""
    if not request.config.getoption("--live-torch"):
        pytest.skip("needs --live-torch and an installed torch")
    import torch as real
    real.backends.opt_einsum.enabled = False
    operands = [numbers(shape) for shape in shapes]
    try:
        want = real.einsum(equation, *[real.from_numpy(x.numpy()) for x in operands])
    except Exception as error:
        with pytest.raises(REFUSALS) as caught:
            torch.einsum(equation, *operands)
        assert type(caught.value).__name__ == type(error).__name__
        return
    assert torch.einsum(equation, *operands).numpy().tolist() == want.numpy().tolist()


# ---------------------------------------------------------------- any contraction

def written_out(rows, output, arrays, sizes):
    """The contraction as the definition has it."""
    labels = list(sizes)
    result = np.zeros([sizes[x] for x in output])
    for place in itertools.product(*[range(sizes[x]) for x in labels]):
        at = dict(zip(labels, place))
        value = 1.0
        for row, a in zip(rows, arrays):
            value *= a[tuple(at[x] if n > 1 else 0 for x, n in zip(row, a.shape))]
        result[tuple(at[x] for x in output)] += value
    return result


@st.composite
def contractions(draw):
    """Rows of labels, the output, shapes, and the order in which each operand's dimensions lie in memory."""
    sizes = {x: draw(st.integers(1, 4)) for x in range(5)}
    rows = draw(st.lists(st.lists(st.sampled_from(range(5)), max_size=4), min_size=1, max_size=4))
    used = sorted({x for row in rows for x in row})
    output = draw(st.permutations(used))[:draw(st.integers(0, len(used)))]
    shapes = [[1 if row.count(x) == 1 and draw(st.integers(0, 9)) == 0 else sizes[x] for x in row] for row in rows]
    orders = [draw(st.permutations(range(len(row)))) for row in rows]
    return rows, output, shapes, orders


def laid_out(shape, order, expand=False):
    """numbers(shape) whose dimensions lie in memory in another order; or one row of them, repeated."""
    x = numbers(shape)
    if expand and shape:
        return x[:1].expand(shape)
    return x.permute(order).contiguous().permute([order.index(d) for d in range(len(order))])


@settings(max_examples=300, deadline=None)
@given(contractions(), st.sampled_from(["float64", "float32", "int64", "complex128", "float16"]), st.booleans())
def test_contractions(case, dtype, expand):
    rows, output, shapes, orders = case
    operands = [laid_out(shape, order, expand) for shape, order in zip(shapes, orders)]
    sizes = {}
    for row, shape in zip(rows, shapes):
        for x, n in zip(row, shape):
            sizes[x] = max(sizes.get(x, 1), n)
    want = written_out(rows, output, [x.numpy() for x in operands], sizes)
    if np.abs(want).max(initial=0) > 2000 and dtype == "float16":
        dtype = "float32"
    sublists = [item for x, row in zip(operands, rows) for item in (x.to(getattr(torch, dtype)), row)]
    result = torch.einsum(*sublists, output)
    assert result.dtype is getattr(torch, dtype)
    assert result.numpy().real.tolist() == pytest.approx(want.tolist()) if want.ndim == 0 else (
        np.array_equal(result.numpy().real, want))


@settings(max_examples=60, deadline=None)
@given(contractions())
def test_gradients(case):
    """The gradient of a weighted sum, by intermediates and by recorded contractions, is its directional slope."""
    rows, output, shapes, orders = case
    operands = [laid_out(shape, order).requires_grad_() for shape, order in zip(shapes, orders)]
    sublists = [item for x, row in zip(operands, rows) for item in (x, row)]
    value = torch.einsum(*sublists, output)
    weight = numbers(value.shape)
    plain = torch.autograd.grad((value * weight).sum(), operands, retain_graph=True)
    recorded = torch.autograd.grad((value * weight).sum(), operands, create_graph=True)
    for x, a, b in zip(operands, plain, recorded):
        assert a.shape == x.shape
        assert torch.equal(a, b)
        direction = numbers([n for n in x.shape])
        moved = [item for y, row in zip(operands, rows)
                 for item in ((direction if y is x else y).detach(), row)]
        slope = (torch.einsum(*moved, output) * weight).sum()    # linear in each operand
        assert torch.equal((a * direction).sum(), slope)


@pytest.mark.parametrize("equation, shapes", [
    ("bij,bjk->bik", [(600, 8, 8), (600, 8, 8)]), ("bij,bjk->bik", [(3, 70, 80), (3, 80, 90)]),
    ("bihd,bjhd->bhij", [(2, 40, 3, 32), (2, 41, 3, 32)]), ("bchw,cd->bdhw", [(2, 16, 9, 8), (16, 24)]),
    ("jk,ijkl->il", [(20, 21), (9, 20, 21, 22)]), ("ac,abc->cb", [(30, 31), (30, 32, 31)]),
    ("ij,ij->i", [(50, 300), (50, 300)]), ("ijk,k->ji", [(20, 30, 40), (40,)]), ("ij,jk->ki", [(65, 66), (66, 67)]),
    ("abcd,ebfd->acef", [(6, 7, 8, 9), (5, 7, 4, 9)]), ("i,j,k->kij", [(20,), (30,), (40,)]),
    ("ij,ij,ij->j", [(40, 50)] * 3), ("ijij->", [(12, 13, 12, 13)]), ("abab,bc->ac", [(6, 7, 6, 7), (7, 8)])])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "int32", "float16"])
def test_larger_ones(equation, shapes, dtype):
    generator = np.random.default_rng(1)
    arrays = [generator.integers(-2, 3, shape).astype("float64") for shape in shapes]
    want = np.einsum(equation, *arrays, optimize=True)
    for flip in (False, True):
        operands = [torch.tensor(a.astype(dtype)) for a in arrays]
        if flip:
            operands = [x.t().contiguous().t() if x.dim() == 2 else x.transpose(0, 1).contiguous().transpose(0, 1)
                        if x.dim() > 2 else x for x in operands]
        result = torch.einsum(equation, *operands).numpy()
        np.testing.assert_allclose(result, want, rtol=2e-3 if dtype == "float16" else 1e-6)


# ---------------------------------------------------------------- statements

def test_shapes_and_sums_of_diagonals_and_ellipses():
    x, y = numbers([2, 2, 4]), numbers([3, 4])
    assert torch.einsum("iij->ij", x).shape == (2, 4)
    assert torch.equal(torch.einsum("...ii->...i", x.permute(2, 0, 1)), torch.stack([x[0, 0], x[1, 1]], 1))
    assert torch.equal(torch.einsum("ii...->...", x), x[0, 0] + x[1, 1])
    assert torch.equal(torch.einsum("i...,j...->ij...", y, y), y[:, None] * y[None])
    assert torch.equal(torch.einsum("...,...->", y, y[0]), (y * y[0]).sum())


def test_views_share_memory_and_results_do_not():
    x = numbers([3, 3])
    for equation in ("ij->ij", "ij->ji", "ii->i", "...->..."):
        assert torch.einsum(equation, x).untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
    assert torch.einsum("ij->i", x[:, :1]).untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
    torch.einsum("ii->i", x)[:] = 0
    assert x.diagonal().tolist() == [0, 0, 0]


def test_labels_beyond_letters_and_dimensions():
    x = numbers([2, 3])
    assert torch.equal(torch.einsum(x, [100, 7], x, [10**9, 7], [10**9, 100]), x @ x.t())
    wide = numbers([2] + [1] * 20)
    result = torch.einsum(*[item for i in range(3) for item in (wide, range(20 * i, 20 * i + 21))], [])
    assert result.tolist() == wide.sum().tolist() ** 3
    with pytest.raises(RuntimeError, match="at most 64"):
        torch.einsum(*[item for i in range(4) for item in (wide, range(21 * i, 21 * i + 21))], range(84))


def test_errors_name_labels_sizes_and_operands():
    x = numbers([2, 3])
    with pytest.raises(RuntimeError, match=r"subscript j has size 2 for operand 1 .* seen size 3 \(operand 0\)"):
        torch.einsum("ij,jk->ik", x, x)
    with pytest.raises(RuntimeError, match="subscript i is repeated for operand 0 .*3 != 2"):
        torch.einsum("ii", x)
    with pytest.raises(RuntimeError, match="expected scalar type Double but found Float"):
        torch.einsum("ij,kj->ik", x, x.float())
    for arguments in ((), ("ij",), (x,), ("ij", x, 3), ("ij", [x, None]), (b"ij", x), (x, 3), (x, [0, 1.5]),
                      (x, [0, -1]), (x, [0, 1], [1, 0], [0]), ("ij", 3), ("ij", [])):
        with pytest.raises(REFUSALS):
            torch.einsum(*arguments)


def test_dtypes():
    truths, whole = torch.tensor([[True, False], [True, True]]), torch.tensor([[100, 200], [50, 6]], dtype=torch.uint8)
    assert torch.einsum("ij->i", truths).tolist() == [1, 2]
    assert torch.equal(torch.einsum("ij,ij->ij", truths, truths), truths)
    assert torch.equal(torch.einsum("ij,jk->ik", truths, truths), truths)
    assert torch.einsum("ij->", whole).tolist() == 356
    assert torch.equal(torch.einsum("ij,jk->ik", whole, whole), whole @ whole)
    assert torch.einsum("ij,kl->ij", whole, whole).dtype is torch.int64
    assert torch.einsum("ij,ij->ij", whole, whole.float()).dtype is torch.float32


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64"])
@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(70, 80), (80, 90)]), ("bij,bjk->bik", [(40, 8, 9), (40, 9, 7)]), ("i,j,k->kij", [(4,), (5,), (6,)]),
    ("ij,ij->i", [(9, 300)] * 2), ("abcd,ebfd->acef", [(4, 5, 6, 7), (3, 5, 4, 7)]),
    ("ij,jk,kl->il", [(5, 60), (60, 60), (60, 4)]), ("ac,abc->cb", [(20, 33), (20, 34, 33)])])
def test_integers_wrap(equation, shapes, dtype):
    generator, limits = np.random.default_rng(1), np.iinfo(dtype)
    arrays = [generator.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True) for shape in shapes]
    want = np.einsum(equation, *arrays, dtype=dtype, casting="unsafe")
    result = torch.einsum(equation, *[torch.tensor(a) for a in arrays])
    assert np.array_equal(result.numpy(), want)
    assert result.numpy().dtype == want.dtype


@pytest.mark.parametrize("options", [{"optimize": False}, {"optimize": "greedy"}, {"optimize": "optimal"},
                                     {"path": [(0, 2), (0, 1)]}, {"path": [(0, 1, 2)]}, {"path": [(1, 2)]},
                                     {"optimize": ["einsum_path", (0, 1), (0, 1)]}], ids=str)
def test_paths_give_one_result(options):
    x, y, z = numbers([3, 4]), numbers([4, 5]), numbers([5, 2])
    assert torch.equal(torch.einsum("ij,jk,kl->il", x, y, z, **options), x @ y @ z)
    path, report = torch.einsum_path("ij,jk,kl->il", x, y, z, **options)
    assert torch.equal(torch.einsum("ij,jk,kl->il", x, y, z, path=path), x @ y @ z)
    assert "ij,jk,kl->il" in str(report)


def test_wrong_paths_are_refused():
    x = numbers([3, 3])
    for options in ({"path": [(0, 5)]}, {"path": [(0, 0)]}, {"optimize": "fast"}, {"path": [(-1, 0)]}, {"path": [()]}):
        with pytest.raises(ValueError, match="einsum"):
            torch.einsum("ij,jk->ik", x, x, **options)


def test_backend_switches():
    x = [numbers([3, 4]), numbers([4, 5]), numbers([5, 2]), numbers([2, 1])]
    best = torch.einsum_path("ij,jk,kl,lm->im", *x)[0]
    switches = torch.backends.opt_einsum
    assert switches.is_available()
    with switches.flags(enabled=False):
        assert torch.einsum_path("ij,jk,kl,lm->im", *x)[0][1] == (0, 1) != best[1]
    with switches.flags(enabled=True, strategy="greedy"):
        assert switches.strategy == "greedy"
    assert (switches.enabled, switches.strategy) == (True, "auto")
    with pytest.raises(ValueError, match="strategy"):
        switches.strategy = "fastest"


def test_the_report_counts_as_people_do():
    x = [torch.ones(10, 20), torch.ones(20, 30), torch.ones(30)]
    path, report = torch.einsum_path("ij,jk,k->i", *x)
    assert path == ["einsum_path", (1, 2), (0, 1)]
    assert (report.cost, report.naive_cost, report.largest) == (2 * 600 + 2 * 200, 3 * 6000, 20)


# ---------------------------------------------------------------- gradients and memory

def test_only_what_gradients_need_is_saved():
    x, y, saved = numbers([2, 3]).requires_grad_(), numbers([3, 4]), []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: saved.append(t) or t, lambda t: t):
        torch.einsum("ij->j", x)
        assert not saved
        product = torch.einsum("ij,jk->ik", x, y)
        assert [t is y for t in saved] == [True]
    product.sum().backward()
    assert torch.equal(x.grad, y.sum(1).expand(2, 3))
    with pytest.raises(RuntimeError, match="second time"):
        product.sum().backward()


@pytest.mark.parametrize("equation, shapes", [
    ("ij,jk->ik", [(60, 50), (50, 40)]), ("ij,jk,kl,lm,mn->in", [(40, 9), (9, 40), (40, 9), (9, 40), (40, 9)]),
    ("abc,cde,efg,gha->bdfh", [(6, 7, 6)] * 4), ("abcd,ae,bf,cg,dh->efgh", [(9,) * 4] + [(9, 5)] * 4),
    ("ab,bcd,def,fgh,hij,jk->acegik", [(3, 4), *[(4, 3, 4)] * 4, (4, 3)]),
    ("bn,anm,bm->ba", [(20, 9), (8, 9, 7), (20, 7)]),
    ("ij,jk,kl,lm,mn,no,op,pq->iq", [(8, 8)] * 8), ("bhid,bhjd->bhij", [(2, 3, 20, 8), (2, 3, 21, 8)])])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_all_gradients_cost_about_two_forward_contractions(equation, shapes, dtype):
    """Counted in multiplications: of the pairs of the plan, and of those that the backward pass contracted."""
    operands = [torch.ones(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    result = torch.einsum(equation, *operands)
    plan = result.grad_fn.plan
    torch.autograd.grad(result, operands, numbers(result.shape).to(dtype) + 1)

    def places(*rows):
        return prod([plan.sizes[x] for x in set().union(*rows)])
    forward = sum([places(plan.rows[a], plan.rows[b]) for a, b, _ in plan.tree if b >= 0])
    (pieces, rows), = plan.back.values()
    backward = [places(rows[way[0]], plan.rows[way[1]]) for way in pieces if way[1] >= 0]
    assert len(backward) <= 2 * (len(operands) - 1)
    assert sum(backward) <= 2 * forward


def test_gradients_that_are_not_asked_for_cost_nothing():
    x, y, z = (torch.ones(8, 8, requires_grad=i == 0) for i in range(3))
    result = torch.einsum("ij,jk,kl->il", x, y, z)
    torch.autograd.grad(result, x, numbers(result.shape).float())
    (pieces, _), = result.grad_fn.plan.back.values()
    assert len(pieces) <= 2            # of the four that three operands have


def test_operands_written_to_since_are_noticed():
    x, y = numbers([2, 3]).requires_grad_(), numbers([3, 4])
    product = torch.einsum("ij,jk->ik", x, y)
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()


@pytest.mark.parametrize("equation, shapes", [
    ("ii->i", [(3, 3)]), ("iij,jk->ki", [(3, 3, 2), (2, 4)]), ("ij,jk->ik", [(2, 1), (3, 4)]),
    ("ij,kl->il", [(2, 3), (2, 2)]), ("abc,cde,efg,gha->bdfh", [(2, 2, 3), (3, 2, 3), (3, 2, 2), (2, 2, 2)]),
    ("ij,ij,ij->i", [(2, 3)] * 3)])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_second_derivatives(equation, shapes, dtype):
    torch.manual_seed(0)
    operands = [torch.randn(shape, dtype=dtype, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradgradcheck(lambda *x: torch.einsum(equation, *x), operands)


@pytest.mark.parametrize("order", list(itertools.permutations(range(5)))[::17])
def test_the_largest_intermediate_is_that_of_the_best_path(order):
    """Whatever the order of the operands."""
    terms = ["ea", "fb", "abcd", "gc", "hd"]
    shapes = [(3, 30), (3, 30), (30, 30, 30, 30), (3, 30), (3, 30)]
    equation = ",".join([terms[i] for i in order]) + "->efgh"
    _, report = torch.einsum_path(equation, *[torch.empty(shapes[i]) for i in order])
    assert report.largest == 3 * 30**3


def test_a_chain_with_one_large_core_keeps_to_small_products():
    rows = [(i, 100 + i, i + 1) for i in range(20)]
    shapes = [(3, 2, 3)] * 20
    shapes[9] = (3, 1000, 3)
    operands = [torch.ones(shape) for shape in shapes]
    generator = np.random.default_rng(0)
    for _ in range(5):
        order = generator.permutation(20)
        arguments = [item for i in order for item in (operands[i], rows[i])]
        assert torch.einsum(*arguments, [0, 109, 20]).shape == (3, 1000, 3)
        assert torch.einsum_path(*arguments, [0, 109, 20])[1].largest <= 9 * 1000
