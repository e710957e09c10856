"""Coordinate-list kernels against dense NumPy arrays: sorting, coalescing, merging, scattering, gathering, softmax."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shimtorch._kernels import coalesce, coo, keysort, merge, scratch, sparsesoftmax

unhurried = settings(deadline=None)
DTYPES = ("float32", "float64", "complex64", "complex128", "int64", "int32", "int16", "int8", "uint8", "bool")
SHAPES = ((), (1,), (7,), (3, 4), (1000,), (5, 1, 6), (2, 3, 2, 2), (4, 0))


def draw_values(rng, dtype, shape):
    """Values that add exactly, so that results compare equal whatever the order of a reference's additions."""
    if dtype == "bool":
        return np.asarray(rng.random(shape) < 0.5)
    values = rng.integers(-8, 8, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-8, 8, shape)
    return np.asarray(values).astype(dtype)


def draw_indices(rng, sizes, nnz):
    return np.stack([rng.integers(0, max(n, 1), nnz) for n in sizes]) if sizes else np.zeros((0, nnz), np.int64)


def dense_of(indices, values, sizes):
    out = np.zeros((*sizes, *values.shape[1:]), values.dtype)
    add = np.logical_or if values.dtype == bool else np.add
    add.at(out, tuple(indices), values) if len(sizes) else [add(out, v, out=out) for v in values]
    return out


@st.composite
def entries(draw, dense=((), (2,), (3, 2), (40,), (0,)), dtypes=DTYPES, least=0):
    """Indices, values and sizes of an uncoalesced list."""
    sizes = draw(st.lists(st.integers(1, 9), min_size=least, max_size=4))
    nnz = draw(st.integers(0, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    values = draw_values(rng, draw(st.sampled_from(dtypes)), (nnz, *draw(st.sampled_from(dense))))
    return draw_indices(rng, sizes, nnz), values, tuple(sizes)


# ---------------------------------------------------------------- sorting

@unhurried
@given(st.integers(0, 64), st.integers(0, 3000), st.integers(0, 2**32))
def test_sort_is_numpys_stable_sort(bits, n, seed):
    keys = np.random.default_rng(seed).integers(0, 2**64, n, dtype=np.uint64) >> np.uint64(min(64 - bits, 63))
    if bits == 0:
        keys[:] = 0
    out, positions = keysort.stable_sort(keys, 0, bits)
    expected = np.argsort(keys, kind="stable")
    np.testing.assert_array_equal(positions, expected)
    np.testing.assert_array_equal(out, keys[expected])


@pytest.mark.parametrize("bits", (8, 20, 40, 64))
@pytest.mark.parametrize("power", (1, 8))
def test_sort_many_keys_even_or_skewed(bits, power):
    rng = np.random.default_rng(bits)
    keys = (rng.random(200_000) ** power * 2.0 ** min(bits, 53)).astype(np.uint64) << np.uint64(max(bits - 53, 0))
    keys = np.minimum(keys, np.uint64(2**bits - 1))
    out, positions = keysort.stable_sort(keys, 0, bits)
    np.testing.assert_array_equal(positions, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(out, np.sort(keys))


def test_sort_from_a_low_bit_needs_the_lower_ones_in_order():
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, 1000, 5000))
    keys = (rng.integers(0, 50, 5000) << 10 | columns).astype(np.uint64)
    out, positions = keysort.stable_sort(keys, 10, 16)
    np.testing.assert_array_equal(positions, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(out, np.sort(keys))


@pytest.mark.parametrize("low, high", ((-1, 4), (5, 4), (0, 65), (0, 2)))
def test_sort_refuses_bits_that_would_overrun(low, high):
    with pytest.raises(ValueError):
        keysort.stable_sort(np.arange(10), low, high)


def test_scratch_memory_is_reused_and_can_be_cleared():
    keysort.stable_sort(np.arange(100_000)[::-1])
    assert scratch.kept() > 0
    scratch.clear()
    assert scratch.kept() == 0


# ---------------------------------------------------------------- coalescing

def check_coalesced(indices, values, sizes, result):
    found, sums = result
    assert found.dtype == np.int64 and sums.dtype == values.dtype and sums.shape[1:] == values.shape[1:]
    assert found.flags.c_contiguous and sums.flags.c_contiguous
    expected = np.unique(indices, axis=1) if indices.size else indices[:, :len(sums)]
    np.testing.assert_array_equal(found, expected)
    assert sums.shape[0] == found.shape[1]
    np.testing.assert_array_equal(dense_of(found, sums, sizes), dense_of(indices, values, sizes))


@unhurried
@given(entries())
def test_coalesce(case):
    indices, values, sizes = case
    check_coalesced(indices, values, sizes, coalesce.coalesce(indices, values, sizes))
    grouping = coalesce.Grouping(indices, sizes)
    check_coalesced(indices, values, sizes, (grouping.indices(), grouping.sum(values)))


@unhurried
@given(entries(dense=((), (2,)), dtypes=("int64",), least=1))
def test_coalesce_of_strided_indices(case):
    indices, values, sizes = case
    for layout in (np.asfortranarray(indices), np.repeat(indices, 2, axis=1)[:, ::2], indices[:, ::-1]):
        given_values = values[::-1].copy() if layout.base is indices else values
        check_coalesced(layout, given_values, sizes, coalesce.coalesce(layout, given_values, sizes))


@unhurried
@given(entries(dense=((),), dtypes=("float64",)))
def test_coalesce_is_idempotent(case):
    indices, values, sizes = case
    once = coalesce.coalesce(indices, values, sizes)
    grouping = coalesce.Grouping(once[0], sizes)
    assert grouping.distinct and grouping.count == once[0].shape[1]
    twice = coalesce.coalesce(*once, sizes)
    np.testing.assert_array_equal(once[0], twice[0])
    np.testing.assert_array_equal(once[1], twice[1])


@unhurried
@given(entries(dense=((),), dtypes=("float64",)))
def test_grouping_orders_and_inverse(case):
    indices, _, sizes = case
    grouping = coalesce.Grouping(indices, sizes)
    order, starts, inverse = grouping.order(), grouping.starts(), grouping.inverse()
    assert starts[0] == 0 and starts[-1] == indices.shape[1] and (np.diff(starts) > 0).all()
    np.testing.assert_array_equal(np.sort(order), np.arange(indices.shape[1]))
    np.testing.assert_array_equal(grouping.indices()[:, inverse], indices)
    for begin, end in zip(starts, starts[1:], strict=False):
        assert (np.diff(order[begin:end]) > 0).all()        # as given within a group


@unhurried
@given(st.integers(1, 6), st.integers(0, 150), st.integers(0, 2**32))
def test_coordinates_that_do_not_fit_in_64_bits(dims, nnz, seed):
    rng = np.random.default_rng(seed)
    sizes = (2**62, 2**40, 3, 2**50, 2**62, 5)[:dims]
    indices = draw_indices(rng, [min(n, 3) for n in sizes], nnz) * np.array([[n // 3] for n in sizes])
    values = draw_values(rng, "int64", (nnz,))
    found, sums = coalesce.coalesce(indices, values, sizes)
    expected, inverse = np.unique(indices, axis=1, return_inverse=True)
    np.testing.assert_array_equal(found, expected.reshape(dims, -1))
    totals = np.zeros(expected.shape[1], np.int64)
    np.add.at(totals, inverse.ravel(), values)
    np.testing.assert_array_equal(sums, totals)


@pytest.mark.parametrize("n", (2**12, 2**18))
@pytest.mark.parametrize("sizes", ((7, 9), (300, 1000), (10**6, 10**6), (2**40,)))
def test_coalesce_many(n, sizes):
    rng = np.random.default_rng(n)
    indices = draw_indices(rng, [min(s, 1200) for s in sizes], n)
    values = draw_values(rng, "float32", (n,))
    found, sums = coalesce.coalesce(indices, values, sizes)
    expected, inverse = np.unique(indices, axis=1, return_inverse=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(sums, np.bincount(inverse.ravel(), values).astype("float32"))


def test_a_transposed_list_needs_one_dimension_sorted():
    rng = np.random.default_rng(5)
    indices, _ = coalesce.coalesce(rng.integers(0, 500, (2, 20_000)), np.ones(20_000), (500, 500))
    values = rng.standard_normal(indices.shape[1])
    found, sums = coalesce.coalesce(indices[::-1], values, (500, 500))
    order = np.lexsort(indices)
    np.testing.assert_array_equal(found, indices[::-1][:, order])
    np.testing.assert_array_equal(sums, values[order])


@pytest.mark.parametrize("size", (1, 2**40))
def test_many_duplicates_sum_exactly_in_float32(size):
    n = 20_000_000
    indices = np.broadcast_to(np.int64(size - 1), (1, n))
    _, sums = coalesce.coalesce(indices, np.ones(n, np.float32), (size,))
    assert sums.tolist() == [n]


def test_sums_wrap_as_their_dtype_does():
    _, sums = coalesce.coalesce(np.zeros((1, 3), np.int64), np.full(3, 100, np.uint8), (1,))
    assert sums.tolist() == [300 % 256]
    _, sums = coalesce.coalesce(np.zeros((1, 3), np.int64), np.full(3, 100, np.int8), (2**40,))
    assert sums.tolist() == [300 - 256]


def test_zero_sparse_dimensions():
    found, sums = coalesce.coalesce(np.zeros((0, 3), np.int64), np.array([1.0, 2.0, 4.0]), ())
    assert found.shape == (0, 1) and sums.tolist() == [7]


# ---------------------------------------------------------------- dense memory

@unhurried
@given(entries())
def test_add_to_dense(case):
    indices, values, sizes = case
    out = np.zeros((*sizes, *values.shape[1:]), values.dtype)
    coo.add_to_dense(out, indices, values)
    np.testing.assert_array_equal(out, dense_of(indices, values, sizes))


@unhurried
@given(entries(dtypes=(*DTYPES, "float16")))
def test_spread_ascending(case):
    indices, values, sizes = case
    indices = np.unique(indices, axis=1) if indices.size else indices[:, :min(values.shape[0], 1)]
    values = values[:indices.shape[1]].copy()
    expected = np.zeros((*sizes, *values.shape[1:]), values.dtype)
    expected[tuple(indices)] = values if sizes else values.reshape(expected.shape) if len(values) else expected
    np.testing.assert_array_equal(coo.spread_ascending(indices, values, sizes), expected)


def test_spread_over_many_pieces():
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((300, 400)) < 0.05, rng.random((300, 400)), 0)
    dense[100:200] = 0
    indices, values = coo.nonzero(dense, 2)
    np.testing.assert_array_equal(coo.spread_ascending(indices, values, dense.shape), dense)
    for wrong in (indices[:, ::-1], indices + 300):
        with pytest.raises(ValueError):
            coo.spread_ascending(wrong, values, dense.shape)


def test_add_to_transposed_dense():
    rng = np.random.default_rng(1)
    indices, values = draw_indices(rng, (4, 6), 30), draw_values(rng, "float64", (30, 2))
    out = np.zeros((6, 4, 2)).transpose(1, 0, 2)
    coo.add_to_dense(out, indices, values)
    np.testing.assert_array_equal(out, dense_of(indices, values, (4, 6)))


@unhurried
@given(entries(dtypes=(*DTYPES, "float16", "uint64")))
def test_take_from_dense(case):
    indices, values, sizes = case
    dense = draw_values(np.random.default_rng(0), values.dtype.name, (*sizes, *values.shape[1:]))
    np.testing.assert_array_equal(coo.take_from_dense(dense, indices), dense[tuple(indices)] if sizes else
                                  np.broadcast_to(dense, values.shape))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_nonzero(dtype, shape):
    rng = np.random.default_rng(len(shape))
    for dims in range(len(shape) + 1):
        dense = np.asarray(draw_values(rng, dtype, shape) * np.asarray(rng.random(shape) < 0.3).astype(dtype))
        indices, values = coo.nonzero(dense, dims)
        mask = (dense != 0).any(axis=tuple(range(dims, len(shape)))) if dims < len(shape) else dense != 0
        expected = np.argwhere(mask).T if dims else np.zeros((0, int(mask)), np.int64)
        np.testing.assert_array_equal(indices, expected)
        np.testing.assert_array_equal(values, dense[mask])


def test_nonzero_keeps_nan_and_drops_negative_zero():
    indices, values = coo.nonzero(np.array([0.0, -0.0, np.nan, 1.0]), 1)
    assert indices.tolist() == [[2, 3]] and math.isnan(values[0])


def test_bounds_and_checks():
    indices = np.array([[0, 3, 2], [1, -1, 5]])
    assert coo.index_bounds(indices) == ([0, -1], [3, 5])
    assert coo.check_indices(indices, (4, 6)) == 4
    assert coo.check_indices(indices, (3, 6)) == 1
    assert coo.check_indices(np.abs(indices), (4, 6)) == -1
    assert coo.check_indices(np.zeros((1, 0), np.int64), (0,)) == -1
    assert coo.check_indices(np.asfortranarray(indices), (4, 5)) == 4
    with pytest.raises(ValueError):
        coo.index_bounds(np.zeros((2, 0), np.int64))


@pytest.mark.parametrize("call", (
    lambda: coo.check_indices(np.zeros((2, 3), np.int32), (2, 2)),
    lambda: coo.check_indices(np.zeros(3, np.int64), (2,)),
    lambda: coo.check_indices(np.zeros((2, 3), np.int64), (2,)),
    lambda: coo.check_indices(np.zeros((1, 3), np.int64), (-2,)),
    lambda: coo.add_to_dense(np.zeros(3, np.float32), np.zeros((1, 2), np.int64), np.zeros(2)),
    lambda: coo.add_to_dense(np.zeros(3), np.zeros((1, 2), np.int64), np.zeros(3)),
    lambda: coo.add_to_dense(np.zeros(3), np.zeros((2, 2), np.int64), np.zeros(2)),
    lambda: coo.add_to_dense(np.zeros((3, 4))[:, ::2], np.zeros((1, 2), np.int64), np.zeros((2, 2))),
    lambda: coo.nonzero(np.zeros((3, 4)), 3),
    lambda: coo.nonzero(np.zeros((3, 4)).T, 2),
    lambda: coalesce.coalesce(np.zeros((1, 2), np.int64), np.zeros(3), (4,)),
    lambda: coalesce.coalesce(np.zeros((1, 2), np.int64), np.zeros(2, object), (4,)),
    lambda: coalesce.Grouping(np.zeros((1, 2), np.int64), (4,)).sum(np.zeros(3)),
    lambda: coalesce.Grouping(np.zeros((1, 2), np.int64), (1,) * 65),
))
def test_what_does_not_fit_is_refused(call):
    with pytest.raises((TypeError, ValueError)):
        call()


# ---------------------------------------------------------------- merging

@st.composite
def coalesced_pairs(draw, dense=((), (3,))):
    indices, values, sizes = draw(entries(dense=dense))
    nnz = draw(st.integers(0, 200))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    other = draw_indices(rng, sizes, nnz), draw_values(rng, values.dtype.name, (nnz, *values.shape[1:]))
    return coalesce.coalesce(indices, values, sizes), coalesce.coalesce(*other, sizes), sizes


@unhurried
@given(coalesced_pairs())
def test_union_is_the_coalesced_join(case):
    a, b, sizes = case
    indices, values = merge.union(*a, *b, sizes)
    expected = coalesce.coalesce(np.concatenate((a[0], b[0]), 1), np.concatenate((a[1], b[1])), sizes)
    np.testing.assert_array_equal(indices, expected[0])
    np.testing.assert_array_equal(values, expected[1])


@unhurried
@given(coalesced_pairs(dense=((),)))
def test_intersection(case):
    (a, _), (b, _), sizes = case
    in_a, in_b = merge.intersection(a, b, sizes)
    np.testing.assert_array_equal(a[:, in_a], b[:, in_b])
    common = set(map(tuple, a.T.tolist())) & set(map(tuple, b.T.tolist()))
    assert len(in_a) == len(common) == len(set(in_a.tolist()))
    assert (np.diff(in_a) > 0).all() and (np.diff(in_b) > 0).all()


@pytest.mark.parametrize("sizes", ((300, 300), (90_000,), (30, 30, 100)))
def test_union_of_many(sizes):
    rng = np.random.default_rng(3)
    lists = [coalesce.coalesce(draw_indices(rng, sizes, n), draw_values(rng, "float32", (n,)), sizes)
             for n in (20_000, 3_000)]
    for a, b in (lists, lists[::-1], (lists[0], lists[0])):
        indices, values = merge.union(*a, *b, sizes)
        expected = coalesce.coalesce(np.concatenate((a[0], b[0]), 1), np.concatenate((a[1], b[1])), sizes)
        np.testing.assert_array_equal(indices, expected[0])
        np.testing.assert_array_equal(values, expected[1])


def test_which_sizes_pack():
    assert merge.fits((2**32, 2**31))
    assert not merge.fits((2**40, 2**40))
    with pytest.raises(OverflowError):
        merge.intersection(np.zeros((2, 1), np.int64), np.zeros((2, 1), np.int64), (2**40, 2**40))


# ---------------------------------------------------------------- softmax

@unhurried
@given(entries(dense=((), (3,)), dtypes=("float32", "float64"), least=1), st.booleans())
def test_softmax_and_its_gradient(case, logarithm):
    indices, values, sizes = case
    grouping = coalesce.Grouping(indices[:1], sizes[:1])
    grad = draw_values(np.random.default_rng(1), values.dtype.name, values.shape)
    out = sparsesoftmax.softmax(grouping, values, logarithm)
    back = sparsesoftmax.softmax_backward(grouping, grad, out, logarithm)
    for row in range(sizes[0]):
        here = indices[0] == row
        if here.any():
            x = values[here].astype("float64")
            y = np.exp(x - x.max(0)) / np.exp(x - x.max(0)).sum(0)
            np.testing.assert_allclose(out[here], np.log(y) if logarithm else y, rtol=2e-6, atol=2e-6)
            expected = grad[here] - y * grad[here].sum(0) if logarithm else y * (grad[here] - (grad[here] * y).sum(0))
            np.testing.assert_allclose(back[here], expected, rtol=1e-4, atol=1e-4)
