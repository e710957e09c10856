"""What ops refuse, and with which words; and what they take that looks odd. All as torch 2.13 answers."""
import math

import pytest

import shimtorch as torch

ONES, TWO, PLACES, MASK = torch.ones(2, 3), torch.ones(2), torch.tensor([0]), torch.ones(2, 3, dtype=torch.bool)
LEARNT = torch.ones(2, requires_grad=True)


def empty(*shape, **dtype):
    return torch.empty(*shape, **dtype)


REFUSED = {
    # out= of the wrong dtype, or where no form has it
    "abs(double)": (lambda: torch.abs(TWO, out=empty(2, dtype=torch.float64)), RuntimeError,
                    "Found dtype Double but expected Float"),
    "neg(long)": (lambda: torch.neg(TWO.int(), out=empty(2, dtype=torch.int64)), RuntimeError,
                  "Found dtype Long but expected Int"),
    "all(int)": (lambda: torch.all(TWO, out=empty((), dtype=torch.int32)), RuntimeError,
                 "all only supports bool tensor for result, got: Int"),
    "cat(int)": (lambda: torch.cat([TWO], out=empty(2, dtype=torch.int32)), TypeError,
                 "input types can't be cast to the desired output type Int"),
    "sum(out)": (lambda: torch.sum(TWO, out=empty(())), TypeError, "sum"),
    "median(out)": (lambda: torch.median(TWO, out=empty(())), TypeError, 'missing 1 required .* "dim"'),
    "isnan(out)": (lambda: torch.isnan(TWO, out=empty(2, dtype=torch.bool)), TypeError, "unexpected keyword .*'out'"),
    "zeros_like(out)": (lambda: torch.zeros_like(TWO, out=empty(2)), TypeError, "unexpected keyword argument 'out'"),
    "trace(out)": (lambda: torch.trace(ONES, out=empty(())), TypeError, "unexpected keyword argument 'out'"),
    "add(out) of a parameter": (lambda: torch.add(LEARNT, 1, out=empty(2)), RuntimeError,
                                "don't support automatic differentiation"),
    # nothing where sizes or dimensions are asked for
    "view()": (lambda: torch.ones(()).view(), TypeError, "view"),
    "permute()": (lambda: torch.ones(()).permute(), TypeError, 'missing 1 required positional arguments: "dims"'),
    "expand()": (lambda: torch.ones(()).expand(), TypeError, 'missing 1 required positional arguments: "size"'),
    "repeat()": (lambda: torch.ones(()).repeat(), TypeError, 'missing 1 required positional arguments: "repeats"'),
    "flip()": (lambda: ONES.flip(), TypeError, 'missing 1 required positional arguments: "dims"'),
    "new_zeros()": (lambda: ONES.new_zeros(), TypeError, 'missing 1 required positional arguments: "size"'),
    "view([3], 2)": (lambda: ONES.view([3], 2), TypeError, "must be tuple of ints|invalid combination"),
    # types
    "scatter(1.5)": (lambda: ONES.scatter_add(1.5, torch.zeros(2, 3, dtype=torch.int64), ONES), TypeError,
                     "must be int, not float"),
    "gather(1.5)": (lambda: ONES.gather(0.0, torch.zeros(2, 3, dtype=torch.int64)), TypeError,
                    "argument 'dim' \\(position 2\\) must be int, not float"),
    "include_self=1": (lambda: ONES.index_reduce(0, PLACES, ONES[:1], "prod", include_self=1), TypeError,
                       "argument 'include_self' must be bool, not int"),
    "as_tuple=1": (lambda: ONES.nonzero(as_tuple=1), TypeError, "argument 'as_tuple' must be bool, not int"),
    "upper=1": (lambda: torch.linalg.solve_triangular(torch.eye(2), torch.eye(2), upper=1), TypeError,
                "must be bool, not int"),
    "tril_indices(1.5)": (lambda: torch.tril_indices(1.5, 2), TypeError, "argument 'row' .* must be int, not float"),
    "rot90(1.5)": (lambda: torch.rot90(ONES, 1.5), TypeError, "int"),
    "atleast_1d(None)": (lambda: torch.atleast_1d(None), TypeError, "NoneType"),
    "block_diag('x')": (lambda: torch.block_diag(ONES, "x"), TypeError, "element 1 in argument 0, but got str"),
    "resolve_conj('x')": (lambda: torch.resolve_conj("x"), TypeError, "must be Tensor, not str"),
    "arange(None)": (lambda: torch.arange(None), TypeError, "must be Number, not NoneType"),
    "isin(1, 2)": (lambda: torch.isin(1, 2), TypeError, "got \\(int, int\\)"),
    "isin('x')": (lambda: torch.isin("x", TWO), TypeError, "got \\(str, Tensor\\)"),
    # dtypes
    "argmax of complex": (lambda: TWO.cfloat().argmax(), RuntimeError,
                          "argmax\\(\\): does not support complex input"),
    "max of complex": (lambda: TWO.cfloat().max(0), RuntimeError, "max\\(\\): does not support complex input"),
    "maximum of complex": (lambda: torch.maximum(TWO.cfloat(), TWO), RuntimeError,
                           "maximum not implemented for complex"),
    "median of bool": (lambda: MASK.median(), NotImplementedError, "median_cpu.*Bool"),
    "kthvalue of complex": (lambda: TWO.cfloat().kthvalue(1), NotImplementedError, "kthvalue_cpu.*ComplexFloat"),
    "topk of bool": (lambda: MASK.topk(1), RuntimeError, "topk does not support bool"),
    "cross of two dtypes": (lambda: torch.cross(torch.ones(3), torch.ones(3).double(), dim=0), RuntimeError,
                            "expected scalar type Float but found Double"),
    "frexp of int": (lambda: TWO.int().frexp(), RuntimeError, "only supports floating-point"),
    "nansum of complex": (lambda: TWO.cfloat().nansum(), RuntimeError, "does not support complex"),
    "relu of bool": (lambda: MASK.relu(), RuntimeError, "Boolean inputs not supported for relu"),
    "cumsum in bool": (lambda: TWO.cumsum(0, dtype=torch.bool), NotImplementedError, "cumsum_out_cpu.*Bool"),
    # shapes
    "index_add of a number": (lambda: torch.zeros(()).index_add(0, PLACES, torch.ones(1)), RuntimeError,
                              "source tensor shape must match"),
    "index_add": (lambda: ONES.index_add(0, PLACES + 9, torch.ones(1, 4)), RuntimeError, "source tensor shape must"),
    "index_select of a number": (lambda: torch.zeros(()).index_select(0, PLACES.repeat(2)), RuntimeError,
                                 "only 1 value, got 2 value"),
    "mT of a vector": (lambda: TWO.mT, RuntimeError, "on matrices or batches of matrices. Got 1-D"),
    "H of a stack": (lambda: torch.ones(2, 3, 4).H, RuntimeError, "only supported on matrices .* Got 3-D"),
    "slice_scatter": (lambda: torch.slice_scatter(ONES, ONES, 0, 0, 2, -1), RuntimeError,
                      "slice step must be positive"),
    "fftfreq(-9)": (lambda: torch.fft.fftfreq(-9), RuntimeError, "negative dimension -9"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    call, error, words = REFUSED[name]
    with pytest.raises(error, match=words) as raised:
        call()
    assert raised.type is error


def test_out_of_what_has_no_history():
    """Results that never have a gradient are written whatever the operands are."""
    for call in (torch.eq, torch.lt, torch.logical_and):
        out = empty(2, dtype=torch.bool)
        assert call(LEARNT, TWO, out=out) is out and out.tolist() == call(LEARNT.detach(), TWO).tolist()
    out = empty(2, requires_grad=True)
    assert torch.eq(TWO, TWO, out=out).tolist() == [1, 1] and out.requires_grad and out.is_leaf
    assert torch.special.bessel_j0(LEARNT, out=empty(2)).tolist() == torch.special.bessel_j0(TWO).tolist()


def test_sums_in_the_dtype_of_out():
    x = torch.tensor([1.5, 1.5])
    for call, want in ((torch.sum, 2), (torch.prod, 1)):
        assert call(x, 0, out=empty((), dtype=torch.int32)).item() == want
    assert torch.cumsum(x, 0, out=empty(2, dtype=torch.int32)).tolist() == [1, 2]
    assert torch.cumprod(x, 0, out=empty(2, dtype=torch.int64)).tolist() == [1, 1]
    large = torch.tensor([2.0 ** 24, 1, 1])
    assert torch.sum(large, 0, out=empty((), dtype=torch.float64)).item() == 2 ** 24 + 2


@pytest.mark.parametrize("call", [
    lambda: torch.ones(()).std(), lambda: torch.var(torch.ones(1, 3), 0), lambda: torch.std_mean(torch.ones(1)),
    lambda: torch.var(torch.ones(3), 0, correction=3), lambda: torch.var(torch.ones(0, 3), 1),
    lambda: torch.ones(()).cov()])
def test_too_few_for_a_variance(call):
    with pytest.warns(UserWarning, match="degrees of freedom is <= 0"):
        result = call()
    result = result[0] if isinstance(result, tuple) else result
    assert result.isnan().all()


def test_a_mask_takes_a_number_of_any_dtype():
    x = torch.zeros(2, 3)
    assert torch.equal(x.index_put((MASK,), torch.tensor(2)), x + 2)
    assert torch.equal(x.index_put((MASK[:, 0],), torch.tensor([2])), x + 2)
    assert torch.equal(x.long().index_put((MASK,), torch.tensor(2.5)), x.long() + 2)
    for index, value, accumulate in ((PLACES, 2, False), (MASK, 2, True), (MASK, 2.5j, False)):
        with pytest.raises(RuntimeError):
            x.long().index_put((index,), torch.tensor(value + 0.5 if accumulate else value).to(
                torch.complex64 if value == 2.5j else torch.float64), accumulate)


def test_equal_looks_at_numbers():
    nan = torch.tensor([math.nan])
    assert not torch.equal(nan, nan) and torch.equal(PLACES, PLACES) and torch.equal(TWO, TWO)


@pytest.mark.parametrize("many", [3, 40])
def test_isin(many):
    x, tests = torch.arange(12.0).reshape(3, 4), torch.arange(many) * 2
    want = [[float(n) in tests.tolist() for n in row] for row in x.tolist()]
    assert torch.isin(x, tests).tolist() == want
    assert torch.isin(x, tests, invert=True).tolist() == [[not n for n in row] for row in want]
    assert torch.isin(x.t(), tests.reshape(1, -1)).tolist() == torch.tensor(want).t().tolist()
    assert torch.isin(2, tests).item() and not torch.isin(1, tests).item()
    nan = torch.cat([tests.double(), torch.tensor([math.nan]).double()])
    assert not torch.isin(torch.tensor([math.nan]), nan).item()
    assert torch.isin(torch.tensor([2.0 ** 24 + 1]), torch.cat([tests, torch.tensor([2 ** 24 + 1])])).item()
    assert torch.isin(x, torch.tensor([])).any().item() is False
