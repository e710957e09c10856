"""Compressed-row kernels against SciPy and dense NumPy: pointers, transposes, selections and products."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from shimtorch._kernels import csr, spgemm, spmm, transposing

unhurried = settings(deadline=None)
DTYPES = ("float32", "float64", "complex64", "complex128", "int64", "int32", "int16", "int8", "uint8")
WIDTHS = (1, 2, 15, 16, 17, 64, 83, 130)


def draw(rng, dtype, shape):
    """Small whole numbers: sums of their products are exact, or wrap alike."""
    values = rng.integers(0 if dtype == "uint8" else -3, 4, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * rng.integers(-3, 4, shape)
    return values.astype(dtype)


def matrix(rng, n, m, density, dtype):
    """Pointer, columns, values of a random matrix, and the dense array it stands for."""
    mask = rng.random((n, m)) < density
    dense = np.where(mask, draw(rng, dtype, (n, m)), np.zeros((), dtype))
    rows, columns = np.nonzero(mask)
    return csr.row_pointer(rows.astype(np.int64), n), columns.astype(np.int64), dense[mask], dense


sides = st.integers(0, 12)
seeds = st.integers(0, 2**32)


@unhurried
@given(st.lists(st.integers(0, 9)), st.integers(10, 12))
def test_row_pointer_and_back(rows, n):
    rows = np.sort(np.array(rows, np.int64))
    pointer = csr.row_pointer(rows, n)
    np.testing.assert_array_equal(pointer, np.concatenate(([0], np.cumsum(np.bincount(rows, minlength=n)))))
    np.testing.assert_array_equal(csr.row_numbers(pointer), rows)


@unhurried
@given(sides, sides, st.floats(0, 1), seeds)
def test_transposed(n, m, density, seed):
    pointer, columns, values, dense = matrix(np.random.default_rng(seed), n, m, density, "float64")
    t_pointer, t_columns, order = transposing.transposed(pointer, columns, m)
    expected = sp.csr_array((values, columns, pointer), shape=(n, m)).T.tocsr()
    expected.sort_indices()
    np.testing.assert_array_equal(t_pointer, expected.indptr)
    np.testing.assert_array_equal(t_columns, expected.indices)
    np.testing.assert_array_equal(values[order], expected.data)


@unhurried
@given(st.integers(1, 9), sides, st.floats(0, 1), st.lists(st.integers(0, 8), max_size=12), seeds)
def test_selections(n, m, density, index, seed):
    pointer, columns, values, dense = matrix(np.random.default_rng(seed), n, m, density, "float64")
    index = np.array(index, np.int64) % n
    rows = csr.row_numbers(pointer)
    places, asked = csr.select(rows, n, index)
    out = np.zeros((len(index), m))
    out[asked, columns[places]] = values[places]
    np.testing.assert_array_equal(out, dense[index])
    assert (np.diff(places) >= 0).all()


@pytest.mark.parametrize("call", (
    lambda: csr.row_pointer(np.array([0, 2]), 2),
    lambda: csr.row_pointer(np.array([1, 0]), 2),
    lambda: csr.row_pointer(np.array([-1, 0]), 2),
    lambda: csr.row_pointer(np.array([0]), -1),
    lambda: csr.row_numbers(np.array([0, 2, 1])),
    lambda: csr.row_numbers(np.array([1, 2])),
    lambda: csr.row_numbers(np.array([], np.int64)),
    lambda: transposing.transposed(np.array([0, 1]), np.array([3]), 3),
    lambda: transposing.transposed(np.array([0, 2]), np.array([0]), 3),
    lambda: transposing.transposed(np.array([0, 2, 1, 2]), np.array([0, 1]), 3),
    lambda: csr.select(np.array([5]), 3, np.array([0])),
    lambda: csr.select(np.array([0]), 3, np.array([3])),
))
def test_malformed_pointers_and_indices_are_refused(call):
    with pytest.raises((ValueError, IndexError)):
        call()


# ---------------------------------------------------------------- products with dense matrices

@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", WIDTHS)
def test_sparse_times_dense(dtype, width):
    rng = np.random.default_rng(width)
    pointer, columns, values, dense = matrix(rng, 9, 14, 0.3, dtype)
    rows = csr.row_numbers(pointer)
    other = draw(rng, dtype, (14, width))
    start = draw(rng, dtype, (9, width))
    expected = (start + np.asarray(2, dtype) * (dense @ other)).astype(dtype)
    out = start.copy()
    spmm.matmul_csr(pointer, columns, values, other, out, 2)
    np.testing.assert_array_equal(out, expected)
    shuffle = rng.permutation(len(rows))
    out = start.copy()
    spmm.matmul_coo(rows[shuffle], columns[shuffle], values[shuffle], other, out, 2)
    np.testing.assert_array_equal(out, expected)
    out = np.zeros((14, width), dtype)
    spmm.matmul_coo(columns, rows, values, start, out)
    np.testing.assert_array_equal(out, (dense.T @ start).astype(dtype))


@pytest.mark.parametrize("width", (1, 3, 20, 70))
def test_products_of_rows_that_are_not_neighbours(width):
    rng = np.random.default_rng(0)
    pointer, columns, values, dense = matrix(rng, 6, 5, 0.5, "float64")
    other, out = draw(rng, "float64", (10, 2 * width))[::2, :width], np.zeros((6, 2 * width))[:, :width]
    spmm.matmul_csr(pointer, columns, values, other, out)
    np.testing.assert_array_equal(out, dense @ other)
    broadcast = np.broadcast_to(other[:1], other.shape)
    out[:] = 0
    spmm.matmul_csr(pointer, columns, values, broadcast, out)
    np.testing.assert_array_equal(out, dense @ broadcast)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("width", (0, *WIDTHS))
def test_sampled_product(dtype, width):
    rng = np.random.default_rng(width)
    left, right = draw(rng, dtype, (6, width)), draw(rng, dtype, (8, width))
    rows, columns = rng.integers(0, 6, 40), rng.integers(0, 8, 40)
    out = spmm.matmul_sampled(rows, columns, left, right)
    np.testing.assert_array_equal(out, (left @ right.T).astype(dtype)[rows, columns])


def test_infinities_pass_through_products():
    pointer, columns, values = np.array([0, 2, 2]), np.array([0, 1]), np.array([np.inf, 1.0])
    out = np.zeros((2, 1))
    spmm.matmul_csr(pointer, columns, values, np.array([[1.0], [np.nan]]), out)
    assert np.isnan(out[0, 0]) and out[1, 0] == 0


@pytest.mark.parametrize("error, change", (
    (TypeError, {"other": np.zeros((3, 2), np.float32)}),
    (TypeError, {"other": np.zeros((3, 4))[:, ::2]}),
    (TypeError, {"values": np.zeros(2, bool), "other": np.zeros((3, 2), bool), "out": np.zeros((2, 2), bool)}),
    (ValueError, {"other": np.zeros((3, 3))}),
    (ValueError, {"out": np.zeros((3, 2))}),
    (ValueError, {"values": np.zeros(3)}),
    (ValueError, {"pointer": np.array([0, 1, 3])}),
    (TypeError, {"columns": np.zeros(2, np.int32)}),
))
def test_products_that_do_not_fit_are_refused(error, change):
    given = {"pointer": np.array([0, 1, 2]), "columns": np.array([0, 2]), "values": np.zeros(2),
             "other": np.zeros((3, 2)), "out": np.zeros((2, 2))} | change
    with pytest.raises(error):
        spmm.matmul_csr(*given.values())


# ---------------------------------------------------------------- products of sparse matrices

@pytest.mark.parametrize("dtype", DTYPES)
@unhurried
@given(sides, sides, sides, st.floats(0, 1), seeds)
def test_sparse_times_sparse(dtype, n, k, m, density, seed):
    rng = np.random.default_rng(seed)
    *a, a_dense = matrix(rng, n, k, density, dtype)
    *b, b_dense = matrix(rng, k, m, density, dtype)
    pointer, columns, values = spgemm.matmul_sparse(*a, *b, m)
    rows = csr.row_numbers(pointer)
    out = np.zeros((n, m), dtype)
    out[rows, columns] = values
    np.testing.assert_array_equal(out, (a_dense @ b_dense).astype(dtype))
    keys = rows * m + columns
    assert (np.diff(keys) > 0).all()


def test_a_large_sparse_product_has_scipys_pattern_sorted():
    rng = np.random.default_rng(0)
    a, b = (sp.random_array((3000, 9000 if side else 3000), density=0.002, rng=rng, format="csr") for side in (0, 1))
    parts = [np.asarray(x, np.int64) for x in (a.indptr, a.indices, b.indptr, b.indices)]
    pointer, columns, values = spgemm.matmul_sparse(parts[0], parts[1], a.data, parts[2], parts[3], b.data, 9000)
    expected = a @ b
    expected.sort_indices()
    np.testing.assert_array_equal(pointer, expected.indptr)
    np.testing.assert_array_equal(columns, expected.indices)
    np.testing.assert_allclose(values, expected.data, rtol=1e-12)


def test_sparse_products_of_mixed_or_unsupported_types_are_refused():
    empty = np.zeros(1, np.int64), np.zeros(0, np.int64)
    with pytest.raises(TypeError):
        spgemm.matmul_sparse(*empty, np.zeros(0), *empty, np.zeros(0, np.float32), 3)
    with pytest.raises(TypeError):
        spgemm.matmul_sparse(*empty, np.zeros(0, bool), *empty, np.zeros(0, bool), 3)
    with pytest.raises(ValueError):
        spgemm.matmul_sparse(np.array([0, 1]), np.zeros(0, np.int64), np.zeros(0), *empty, np.zeros(0), 3)
