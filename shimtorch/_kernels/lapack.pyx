"""LAPACK on stacks of matrices in memory: one call a matrix, without the GIL.

A stack is a C-contiguous ndarray (batch, columns, rows) of float32, float64, complex64 or complex128: each matrix lies
in column order, as LAPACK wants it. Routines overwrite the stacks that they are given. They are SciPy's, looked up when
first called.
"""
cimport cython
from cpython.pycapsule cimport PyCapsule_GetName, PyCapsule_GetPointer
from libc.stdint cimport int64_t
from libc.string cimport memset

cimport numpy as cnp

cnp.import_array()

import numpy as np

ctypedef void* P
ctypedef void (*F5)(P, P, P, P, P) noexcept nogil
ctypedef void (*F6)(P, P, P, P, P, P) noexcept nogil
ctypedef void (*F7)(P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F8)(P, P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F9)(P, P, P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F11)(P, P, P, P, P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F13)(P, P, P, P, P, P, P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F14)(P, P, P, P, P, P, P, P, P, P, P, P, P, P) noexcept nogil
ctypedef void (*F15)(P, P, P, P, P, P, P, P, P, P, P, P, P, P, P) noexcept nogil

cdef dict found = {}              # (routine, dtype number): its address


cdef P find(str name, cnp.ndarray like, str complex_name=None) except NULL:
    """The routine of a name (another one for complex numbers) for an array's dtype."""
    cdef int code = cnp.PyArray_TYPE(like)
    cdef object key = (name, code)
    if key not in found:
        found[key] = <size_t>look_up(name if complex_name is None or code < cnp.NPY_CFLOAT else complex_name, code)
    return <P><size_t>found[key]


def load():
    """Load SciPy's LAPACK now."""
    from scipy.linalg import cython_blas, cython_lapack  # noqa: F401


cdef P look_up(str name, int code) except NULL:
    from scipy.linalg import cython_blas, cython_lapack
    letter = {cnp.NPY_FLOAT: "s", cnp.NPY_DOUBLE: "d", cnp.NPY_CFLOAT: "c", cnp.NPY_CDOUBLE: "z"}[code]
    table = cython_blas.__pyx_capi__ if name == "trsm" else cython_lapack.__pyx_capi__
    capsule = table[letter + name]
    return PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule))


cdef bint is_complex(cnp.ndarray a) noexcept:
    return cnp.PyArray_TYPE(a) >= cnp.NPY_CFLOAT


cdef Py_ssize_t item(cnp.ndarray a) noexcept:
    """The bytes of one element."""
    return cnp.PyArray_ITEMSIZE(a)


cdef Py_ssize_t step(cnp.ndarray a) noexcept:
    """The bytes from one matrix, or vector, of a stack to the next."""
    cdef Py_ssize_t size = item(a)
    cdef int i
    for i in range(1, cnp.PyArray_NDIM(a)):
        size *= cnp.PyArray_DIM(a, i)
    return size


cdef int at_least_1(Py_ssize_t n) noexcept:
    return <int>n if n > 1 else 1


cdef cnp.ndarray vector(Py_ssize_t n, object dtype):
    """Working memory."""
    return np.empty(at_least_1(n), dtype)


cdef object real_dtype(cnp.ndarray a):
    return np.dtype(np.float32 if cnp.PyArray_TYPE(a) in (cnp.NPY_FLOAT, cnp.NPY_CFLOAT) else np.float64)


cdef int asked_for(cnp.ndarray work) except -1:
    """The size of working memory that a routine asks for."""
    return at_least_1(int((<object>work)[0].real))


cdef bint are_stacks(cnp.ndarray a, cnp.ndarray b) noexcept:
    """Whether both are stacks of as many matrices of one dtype."""
    return (cnp.PyArray_NDIM(a) == 3 == cnp.PyArray_NDIM(b) and cnp.PyArray_TYPE(a) == cnp.PyArray_TYPE(b)
            and cnp.PyArray_DIM(a, 0) == cnp.PyArray_DIM(b, 0))


cdef bint systems(cnp.ndarray a, cnp.ndarray b, int dim=2) noexcept:
    """Whether a are square matrices of the size that b's have in a dimension."""
    return (are_stacks(a, b) and cnp.PyArray_DIM(a, 1) == cnp.PyArray_DIM(a, 2)
            and cnp.PyArray_DIM(a, 1) == cnp.PyArray_DIM(b, dim))


cdef bint are_pivots(cnp.ndarray pivots, cnp.ndarray a) noexcept:
    """Whether there is a pivot for each column of the matrices."""
    return (cnp.PyArray_TYPE(pivots) == cnp.NPY_INT32 and cnp.PyArray_ISCARRAY(pivots)
            and cnp.PyArray_SIZE(pivots) == cnp.PyArray_DIM(a, 0) * cnp.PyArray_DIM(a, 1))


cdef bint are_scales(cnp.ndarray tau, cnp.ndarray a) noexcept:
    """Whether there are at most as many reflectors' scales as columns."""
    return (cnp.PyArray_NDIM(tau) == 2 and cnp.PyArray_TYPE(tau) == cnp.PyArray_TYPE(a)
            and cnp.PyArray_DIM(tau, 0) == cnp.PyArray_DIM(a, 0) and cnp.PyArray_DIM(tau, 1) <= cnp.PyArray_DIM(a, 1))


cdef int belong(bint together, cnp.ndarray a, cnp.ndarray b) except -1:
    """Refuse operands that do not belong together."""
    if not together:
        raise RuntimeError(f"linalg: Incompatible stacks of matrices: {(<object>a).shape} and {(<object>b).shape}")
    return 0


cdef cnp.ndarray infos(cnp.ndarray a):
    return np.zeros(cnp.PyArray_DIM(a, 0), np.int32)


# ---------------------------------------------------------------- stacks

cdef fused word:
    float
    double
    double complex


cdef void turn(const char* source, Py_ssize_t by_row, Py_ssize_t by_column, word* target, Py_ssize_t rows,
               Py_ssize_t columns) noexcept nogil:
    """Copy a matrix to column order, block by block: both sides stay in the cache."""
    cdef Py_ssize_t i, j, i0, j0
    for j0 in range(0, columns, 32):
        for i0 in range(0, rows, 32):
            for j in range(j0, min(j0 + 32, columns)):
                for i in range(i0, min(i0 + 32, rows)):
                    target[j * rows + i] = (<const word*>(source + i * by_row + j * by_column))[0]


def stacked(cnp.ndarray a):
    """A new stack with the matrices of an array (..., rows, columns) of any strides."""
    cdef int ndim = cnp.PyArray_NDIM(a), size = item(a)
    cdef Py_ssize_t rows, columns, i, batch, by, by_row, by_column, by_matrix = 0
    cdef cnp.ndarray r
    cdef char* source
    cdef char* target
    if ndim < 2:
        raise RuntimeError("linalg: The input tensor A must have at least 2 dimensions.")
    if size < 4:
        raise TypeError(f"linalg: LAPACK has no elements of {a.dtype}")
    rows, columns = cnp.PyArray_DIM(a, ndim - 2), cnp.PyArray_DIM(a, ndim - 1)
    if ndim > 3:
        a = a.reshape((int(np.prod((<object>a).shape[:ndim - 2])), rows, columns))
        ndim = 3
    batch = cnp.PyArray_DIM(a, 0) if ndim == 3 else 1
    if ndim == 3:
        by_matrix = cnp.PyArray_STRIDE(a, 0)
    by_row, by_column = cnp.PyArray_STRIDE(a, ndim - 2), cnp.PyArray_STRIDE(a, ndim - 1)
    r = np.empty((batch, columns, rows), a.dtype)
    by = step(r)
    source, target = cnp.PyArray_BYTES(a), cnp.PyArray_BYTES(r)
    with nogil:
        for i in range(batch):
            if size == 4:
                turn[float](source + i * by_matrix, by_row, by_column, <float*>(target + i * by), rows, columns)
            elif size == 8:
                turn[double](source + i * by_matrix, by_row, by_column, <double*>(target + i * by), rows, columns)
            else:
                turn[cython.doublecomplex](source + i * by_matrix, by_row, by_column,
                                           <double complex*>(target + i * by), rows, columns)
    return r


def clear_triangle(cnp.ndarray a, bint upper):
    """Zeros above (or below) the diagonals of a stack."""
    cdef Py_ssize_t i, j, batch = cnp.PyArray_DIM(a, 0), columns = cnp.PyArray_DIM(a, 1), rows = cnp.PyArray_DIM(a, 2)
    cdef Py_ssize_t size = item(a), by = step(a)
    cdef char* data = cnp.PyArray_BYTES(a)
    with nogil:
        for i in range(batch):
            for j in range(columns):
                if upper:
                    memset(data + i * by + j * rows * size, 0, min(j, rows) * size)
                elif j + 1 < rows:
                    memset(data + i * by + (j * rows + j + 1) * size, 0, (rows - j - 1) * size)


# ---------------------------------------------------------------- LU

ctypedef fused real:
    float
    double

cdef enum:
    SMALL = 8                          # matrices up to this size cost less than a call of LAPACK


cdef int small_getrf(real* a, int n, int* pivot) noexcept nogil:
    """LU factors of a matrix n x n in place, column after column; its info."""
    cdef int i, j, k, best, info = 0
    cdef real factor
    for j in range(n):
        best = j
        for i in range(j + 1, n):
            if size_of(a[j * n + i]) > size_of(a[j * n + best]):
                best = i
        pivot[j] = best + 1
        if a[j * n + best] == 0:
            info = info if info else j + 1
            continue
        if best != j:
            for k in range(n):
                a[k * n + j], a[k * n + best] = a[k * n + best], a[k * n + j]
        for i in range(j + 1, n):
            a[j * n + i] /= a[j * n + j]
        for k in range(j + 1, n):
            factor = a[k * n + j]
            for i in range(j + 1, n):
                a[k * n + i] -= a[j * n + i] * factor
    return info


cdef inline real size_of(real x) noexcept nogil:
    return x if x >= 0 else -x


cdef void small_getrfs(real* a, int n, Py_ssize_t batch, int* pivot, int* error) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(batch):
        error[i] = small_getrf(a + i * n * n, n, pivot + i * n)


cdef void small_getrs(bint transposed, const real* lu, int n, int m, const int* pivot, real* b) noexcept nogil:
    """Solutions in place of the m columns of b, from LU factors n x n and pivots."""
    cdef int i, j, c
    cdef real* x
    for c in range(m):
        x = b + c * n
        if transposed:
            for j in range(n):
                for i in range(j):
                    x[j] -= lu[j * n + i] * x[i]
                x[j] /= lu[j * n + j]
            for j in range(n - 1, -1, -1):
                for i in range(j + 1, n):
                    x[j] -= lu[j * n + i] * x[i]
            for i in range(n - 1, -1, -1):
                x[i], x[pivot[i] - 1] = x[pivot[i] - 1], x[i]
        else:
            for i in range(n):
                x[i], x[pivot[i] - 1] = x[pivot[i] - 1], x[i]
            for j in range(n):
                for i in range(j + 1, n):
                    x[i] -= lu[j * n + i] * x[j]
            for j in range(n - 1, -1, -1):
                x[j] /= lu[j * n + j]
                for i in range(j):
                    x[i] -= lu[j * n + i] * x[j]


cdef void small_getri(real* lu, int n, const int* pivot) noexcept nogil:
    """The inverse of a regular matrix n x n in place of its LU factors."""
    cdef real factors[SMALL * SMALL]
    cdef int i
    for i in range(n * n):
        factors[i] = lu[i]
        lu[i] = i % (n + 1) == 0
    small_getrs(False, factors, n, n, pivot, lu)


cdef void small_inverses(real* lu, int n, Py_ssize_t batch, const int* pivot, int* error) noexcept nogil:
    cdef Py_ssize_t i
    cdef int j
    for i in range(batch):
        error[i] = 0
        for j in range(n - 1, -1, -1):
            if lu[(i * n + j) * n + j] == 0:
                error[i] = j + 1
        if not error[i]:
            small_getri(lu + i * n * n, n, pivot + i * n)


cdef void small_solutions(bint transposed, const real* lu, int n, int m, Py_ssize_t batch, const int* pivot,
                          real* b) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(batch):
        small_getrs(transposed, lu + i * n * n, n, m, pivot + i * n, b + i * n * m)


cdef inline int small_type(cnp.ndarray a, int n):
    """The NumPy type of a where the loops above serve its matrices n x n, else -1."""
    cdef int t = cnp.PyArray_TYPE(a)
    return t if n <= SMALL and (t == cnp.NPY_FLOAT32 or t == cnp.NPY_FLOAT64) else -1


def getrf(cnp.ndarray a):
    """LU factors in place; returns pivots (from 1) and infos."""
    cdef P f = find("getrf", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a)
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), k = min(m, n)
    cdef cnp.ndarray pivots = np.empty((batch, k), np.int32), info = infos(a)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef int* pivot = <int*>cnp.PyArray_DATA(pivots)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if n == m and small_type(a, n) == cnp.NPY_FLOAT32:
        small_getrfs(<float*>data, n, batch, pivot, error)
    elif n == m and small_type(a, n) == cnp.NPY_FLOAT64:
        small_getrfs(<double*>data, n, batch, pivot, error)
    elif k:
        with nogil:
            for i in range(batch):
                (<F6>f)(&m, &n, data + i * by, &m, pivot + i * k, error + i)
    return pivots, info


def getrs(char trans, cnp.ndarray lu, cnp.ndarray pivots, cnp.ndarray b):
    """Solutions in place of b, from LU factors and pivots; trans: N, T or C."""
    cdef P f = find("getrs", lu)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(b, 0), by = step(b), by_lu = step(lu)
    cdef int n = cnp.PyArray_DIM(lu, 1), m = cnp.PyArray_DIM(b, 1), info
    cdef char* data = cnp.PyArray_BYTES(b)
    cdef char* factors = cnp.PyArray_BYTES(lu)
    cdef int* pivot = <int*>cnp.PyArray_DATA(pivots)
    belong(systems(lu, b) and are_pivots(pivots, lu), lu, b)
    if small_type(b, n) == cnp.NPY_FLOAT32:
        small_solutions(trans != c"N", <const float*>factors, n, m, batch, pivot, <float*>data)
    elif small_type(b, n) == cnp.NPY_FLOAT64:
        small_solutions(trans != c"N", <const double*>factors, n, m, batch, pivot, <double*>data)
    elif n and m:
        with nogil:
            for i in range(batch):
                (<F9>f)(&trans, &n, &m, factors + i * by_lu, &n, pivot + i * n, data + i * by, &n, &info)


def are_rows(cnp.ndarray pivots, int n):
    """Whether all int32 pivots, counted from 1, name rows of matrices that have n."""
    cdef const int* p = <const int*>cnp.PyArray_DATA(pivots)
    cdef Py_ssize_t i
    for i in range(cnp.PyArray_SIZE(pivots)):
        if not 1 <= p[i] <= n:
            return False
    return True


def permutations(cnp.ndarray pivots, int n):
    """The float32 matrices P, (batch, n, n), of A = P L U, from the exchanges of rows (batch, k) that getrf made."""
    cdef Py_ssize_t batch = pivots.shape[0], k = pivots.shape[1], _b, i
    cdef const int* p = <const int*>cnp.PyArray_DATA(pivots)
    cdef cnp.npy_intp* shape = [batch, n, n]
    cdef cnp.ndarray result = cnp.PyArray_ZEROS(3, shape, cnp.NPY_FLOAT32, 0)
    cdef float* out = <float*>cnp.PyArray_DATA(result)
    cdef int[::1] order
    if not batch or not n:
        return result
    order = np.empty(n, np.int32)
    for _b in range(batch):
        for i in range(n):
            order[i] = i
        for i in range(k):
            order[i], order[p[i] - 1] = order[p[i] - 1], order[i]
        for i in range(n):
            out[order[i] * n + i] = 1
        p += k
        out += n * n
    return result


def getri(cnp.ndarray lu, cnp.ndarray pivots):
    """Inverses in place of LU factors; returns infos."""
    cdef P f = find("getri", lu)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(lu, 0), by = step(lu)
    cdef int n = cnp.PyArray_DIM(lu, 1), size = -1
    cdef cnp.ndarray info = infos(lu), work = vector(1, lu.dtype)
    cdef char* data = cnp.PyArray_BYTES(lu)
    cdef int* pivot = <int*>cnp.PyArray_DATA(pivots)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    cdef char* w = cnp.PyArray_BYTES(work)
    belong(systems(lu, lu) and are_pivots(pivots, lu), lu, pivots)
    if small_type(lu, n) == cnp.NPY_FLOAT32:
        small_inverses(<float*>data, n, batch, pivot, error)
    elif small_type(lu, n) == cnp.NPY_FLOAT64:
        small_inverses(<double*>data, n, batch, pivot, error)
    elif n and batch:
        (<F7>f)(&n, data, &n, pivot, w, &size, error)
        size = asked_for(work)
        work = vector(size, lu.dtype)
        w = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F7>f)(&n, data + i * by, &n, pivot + i * n, w, &size, error + i)
    return info


def getrf_diagonal(cnp.ndarray a):
    """LU factors in place; returns the diagonals of U (batch, n) and the signs that exchanging rows makes (batch)."""
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), n = cnp.PyArray_DIM(a, 1), j
    cdef const int[:, ::1] pivots = getrf(a)[0]
    cdef cnp.ndarray signs = np.ones(batch, np.int64)
    cdef int64_t* sign = <int64_t*>cnp.PyArray_DATA(signs)
    for i in range(batch):
        for j in range(n):
            if pivots[i, j] != j + 1:
                sign[i] = -sign[i]
    return np.ascontiguousarray(np.diagonal(a, axis1=1, axis2=2)), signs


# ---------------------------------------------------------------- Cholesky

def potrf(char uplo, cnp.ndarray a):
    """Cholesky factors in place of one triangle; the other one is left as it is. Returns infos."""
    cdef P f = find("potrf", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a)
    cdef int n = cnp.PyArray_DIM(a, 1)
    cdef cnp.ndarray info = infos(a)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if n:
        with nogil:
            for i in range(batch):
                (<F5>f)(&uplo, &n, data + i * by, &n, error + i)
    return info


def potrs(char uplo, cnp.ndarray factor, cnp.ndarray b):
    """Solutions in place of b, from Cholesky factors."""
    cdef P f = find("potrs", factor)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(b, 0), by = step(b), by_factor = step(factor)
    cdef int n = cnp.PyArray_DIM(factor, 1), m = cnp.PyArray_DIM(b, 1), info
    cdef char* data = cnp.PyArray_BYTES(b)
    cdef char* factors = cnp.PyArray_BYTES(factor)
    belong(systems(factor, b), factor, b)
    if n and m:
        with nogil:
            for i in range(batch):
                (<F8>f)(&uplo, &n, &m, factors + i * by_factor, &n, data + i * by, &n, &info)


def potri(char uplo, cnp.ndarray factor):
    """One triangle of the inverses, in place of Cholesky factors; returns infos."""
    cdef P f = find("potri", factor)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(factor, 0), by = step(factor)
    cdef int n = cnp.PyArray_DIM(factor, 1)
    cdef cnp.ndarray info = infos(factor)
    cdef char* data = cnp.PyArray_BYTES(factor)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    belong(systems(factor, factor), factor, factor)
    if n:
        with nogil:
            for i in range(batch):
                (<F5>f)(&uplo, &n, data + i * by, &n, error + i)
    return info


def pstrf(char uplo, cnp.ndarray a, double tolerance):
    """Pivoted Cholesky factor in place of one matrix; returns pivots (from 1), the rank and info."""
    cdef P f = find("pstrf", a)
    cdef int n = cnp.PyArray_DIM(a, 1), rank = 0, info = 0
    cdef cnp.ndarray pivots = np.zeros(n, np.int32), work = vector(2 * n, real_dtype(a))
    cdef float tolerance32 = <float>tolerance
    cdef P limit = <P>&tolerance32 if real_dtype(a).itemsize == 4 else <P>&tolerance
    if n:
        (<F9>f)(&uplo, &n, cnp.PyArray_DATA(a), &n, cnp.PyArray_DATA(pivots), &rank, limit, cnp.PyArray_DATA(work),
                &info)
    return pivots, rank, info


# ---------------------------------------------------------------- triangles

def trsm(char side, char uplo, char trans, char diag, cnp.ndarray a, cnp.ndarray b):
    """Solutions in place of b of op(a) x = b (side L) or x op(a) = b (side R), for triangular a."""
    cdef P f = find("trsm", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(b, 0), by = step(b), by_a = step(a)
    cdef int n = cnp.PyArray_DIM(a, 1), columns = cnp.PyArray_DIM(b, 1), rows = cnp.PyArray_DIM(b, 2)
    cdef cnp.ndarray one = np.ones(1, a.dtype)
    cdef char* alpha = cnp.PyArray_BYTES(one)
    cdef char* data = cnp.PyArray_BYTES(b)
    cdef char* factors = cnp.PyArray_BYTES(a)
    belong(systems(a, b, 2 if side == b"L" else 1), a, b)
    if rows and columns:
        with nogil:
            for i in range(batch):
                (<F11>f)(&side, &uplo, &trans, &diag, &rows, &columns, alpha, factors + i * by_a, &n, data + i * by,
                         &rows)


# ---------------------------------------------------------------- QR

def geqrf(cnp.ndarray a):
    """QR factors in place, R above and the reflectors below the diagonal; returns their scales."""
    cdef P f = find("geqrf", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), size_ = item(a)
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), k = min(m, n), size = -1, info = 0
    cdef cnp.ndarray tau = np.zeros((batch, k), a.dtype), work = vector(1, a.dtype)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* scales = cnp.PyArray_BYTES(tau)
    cdef char* w = cnp.PyArray_BYTES(work)
    if k and batch:
        (<F8>f)(&m, &n, data, &m, scales, w, &size, &info)
        size = asked_for(work)
        work = vector(size, a.dtype)
        w = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F8>f)(&m, &n, data + i * by, &m, scales + i * k * size_, w, &size, &info)
    return tau


def orgqr(cnp.ndarray a, cnp.ndarray tau):
    """The columns of Q, in place of the reflectors that geqrf left."""
    cdef P f = find("orgqr", a, "ungqr")
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), size_ = item(a)
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), k = cnp.PyArray_DIM(tau, 1), size = -1, info = 0
    cdef cnp.ndarray work = vector(1, a.dtype)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* scales = cnp.PyArray_BYTES(tau)
    cdef char* w = cnp.PyArray_BYTES(work)
    belong(are_stacks(a, a) and are_scales(tau, a), a, tau)
    if m and n and batch:
        (<F9>f)(&m, &n, &k, data, &m, scales, w, &size, &info)
        size = asked_for(work)
        work = vector(size, a.dtype)
        w = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F9>f)(&m, &n, &k, data + i * by, &m, scales + i * k * size_, w, &size, &info)


def ormqr(char side, char trans, cnp.ndarray a, cnp.ndarray tau, cnp.ndarray c):
    """Products of c, in place, with the Q that geqrf left in a and tau."""
    cdef P f = find("ormqr", a, "unmqr")
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(c, 0), by = step(c), by_a = step(a), size_ = item(a)
    cdef int columns = cnp.PyArray_DIM(c, 1), rows = cnp.PyArray_DIM(c, 2), height = at_least_1(cnp.PyArray_DIM(a, 2))
    cdef int k = cnp.PyArray_DIM(tau, 1), size = -1, info = 0
    cdef cnp.ndarray work = vector(1, a.dtype)
    cdef char* data = cnp.PyArray_BYTES(c)
    cdef char* reflectors = cnp.PyArray_BYTES(a)
    cdef char* scales = cnp.PyArray_BYTES(tau)
    cdef char* w = cnp.PyArray_BYTES(work)
    belong(are_stacks(a, c) and are_scales(tau, a) and k <= cnp.PyArray_DIM(a, 2)
           and cnp.PyArray_DIM(a, 2) == (rows if side == b"L" else columns), a, c)
    if rows and columns and batch and k:
        (<F13>f)(&side, &trans, &rows, &columns, &k, reflectors, &height, scales, data, &rows, w, &size, &info)
        size = asked_for(work)
        work = vector(size, a.dtype)
        w = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F13>f)(&side, &trans, &rows, &columns, &k, reflectors + i * by_a, &height, scales + i * k * size_,
                         data + i * by, &rows, w, &size, &info)


# ---------------------------------------------------------------- eigenvalues and singular values

def heevd(char job, char uplo, cnp.ndarray a):
    """Eigenvalues of Hermitian matrices, in order, and with job V the eigenvectors in place; returns values, infos."""
    cdef bint with_real = is_complex(a)
    cdef P f = find("syevd", a, "heevd")
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_w
    cdef int n = cnp.PyArray_DIM(a, 1), size = -1, size_int = -1, size_real = -1
    cdef object real = real_dtype(a)
    cdef cnp.ndarray values = np.empty((batch, n), real), info = infos(a), work = vector(1, a.dtype)
    cdef cnp.ndarray work_int = vector(1, np.int32), work_real = vector(1, real)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* w = cnp.PyArray_BYTES(values)
    cdef char* space
    cdef char* space_real
    cdef int* space_int
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if not n or not batch:
        return values, info
    by_w = step(values)
    for i in range(2):                   # once to ask for the sizes, then to work
        space, space_real = cnp.PyArray_BYTES(work), cnp.PyArray_BYTES(work_real)
        space_int = <int*>cnp.PyArray_DATA(work_int)
        if i == 1:
            break
        if with_real:
            (<F13>f)(&job, &uplo, &n, data, &n, w, space, &size, space_real, &size_real, space_int, &size_int, error)
            size_real = asked_for(work_real)
            work_real = vector(size_real, real)
        else:
            (<F11>f)(&job, &uplo, &n, data, &n, w, space, &size, space_int, &size_int, error)
        size, size_int = asked_for(work), asked_for(work_int)
        work, work_int = vector(size, a.dtype), vector(size_int, np.int32)
    with nogil:
        for i in range(batch):
            if with_real:
                (<F13>f)(&job, &uplo, &n, data + i * by, &n, w + i * by_w, space, &size, space_real, &size_real,
                         space_int, &size_int, error + i)
            else:
                (<F11>f)(&job, &uplo, &n, data + i * by, &n, w + i * by_w, space, &size, space_int, &size_int,
                         error + i)
    return values, info


def geev(cnp.ndarray a, bint vectors):
    """Eigenvalues and right eigenvectors (or None), as LAPACK leaves them; a is overwritten.

    Returns (values, vectors, infos) for complex matrices, ((real, imaginary), vectors, infos) for real ones: there, a
    pair of conjugate values has the real part of the first one's vector in its column, the imaginary part in the next.
    """
    cdef bint of_complex = is_complex(a)
    cdef P f = find("geev", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_w
    cdef int n = cnp.PyArray_DIM(a, 1), size = -1, one = 1, ld = at_least_1(n) if vectors else 1
    cdef char no = b"N", job = b"V" if vectors else b"N"
    cdef cnp.ndarray w = np.empty((batch, n), a.dtype), w2 = np.empty((0 if of_complex else batch, n), a.dtype)
    cdef cnp.ndarray v = np.empty((batch if vectors else 0, n, n), a.dtype), info = infos(a)
    cdef cnp.ndarray work = vector(1, a.dtype), work_real = vector(2 * n, real_dtype(a))
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* values = cnp.PyArray_BYTES(w)
    cdef char* values2 = cnp.PyArray_BYTES(w2)
    cdef char* right = cnp.PyArray_BYTES(v)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef char* space_real = cnp.PyArray_BYTES(work_real)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if n and batch:
        by_w = step(w)
        if of_complex:
            (<F14>f)(&no, &job, &n, data, &n, values, right, &one, right, &ld, space, &size, space_real, error)
        else:
            (<F14>f)(&no, &job, &n, data, &n, values, values2, right, &one, right, &ld, space, &size, error)
        size = asked_for(work)
        work = vector(size, a.dtype)
        space = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                if of_complex:
                    (<F14>f)(&no, &job, &n, data + i * by, &n, values + i * by_w, right, &one,
                             right + i * by * vectors, &ld, space, &size, space_real, error + i)
                else:
                    (<F14>f)(&no, &job, &n, data + i * by, &n, values + i * by_w, values2 + i * by_w, right, &one,
                             right + i * by * vectors, &ld, space, &size, error + i)
    return (w if of_complex else (w, w2)), (v if vectors else None), info


def gesdd(char job, cnp.ndarray a):
    """Singular values and, unless job is N, both bases: all vectors (A) or those of the values (S). a is overwritten.

    Returns (u, s, vh, infos); u and vh are stacks, None with job N.
    """
    cdef bint of_complex = is_complex(a)
    cdef P f = find("gesdd", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_s, by_u, by_v, large, small
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), k = min(m, n), size = -1
    cdef int n_u = 0 if job == b"N" else m if job == b"A" else k, n_v = 0 if job == b"N" else n if job == b"A" else k
    cdef int ld_v = at_least_1(n_v)
    cdef object real = real_dtype(a)
    cdef cnp.ndarray u = np.empty((batch, n_u, m), a.dtype), v = np.empty((batch, n, n_v), a.dtype)
    cdef cnp.ndarray s = np.empty((batch, k), real), info = infos(a), work = vector(1, a.dtype), work_real
    cdef cnp.ndarray work_int = vector(8 * k, np.int32)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* values = cnp.PyArray_BYTES(s)
    cdef char* left = cnp.PyArray_BYTES(u)
    cdef char* right = cnp.PyArray_BYTES(v)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef char* space_real
    cdef int* space_int = <int*>cnp.PyArray_DATA(work_int)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if k and batch:
        by_s, by_u, by_v = step(s), step(u), step(v)
        large, small = max(m, n), k
        work_real = vector(max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small)
                           if of_complex else 1, real)
        space_real = cnp.PyArray_BYTES(work_real)
        if of_complex:
            (<F15>f)(&job, &m, &n, data, &m, values, left, &m, right, &ld_v, space, &size, space_real, space_int, error)
        else:
            (<F14>f)(&job, &m, &n, data, &m, values, left, &m, right, &ld_v, space, &size, space_int, error)
        size = asked_for(work)
        work = vector(size, a.dtype)
        space = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                if of_complex:
                    (<F15>f)(&job, &m, &n, data + i * by, &m, values + i * by_s, left + i * by_u, &m, right + i * by_v,
                             &ld_v, space, &size, space_real, space_int, error + i)
                else:
                    (<F14>f)(&job, &m, &n, data + i * by, &m, values + i * by_s, left + i * by_u, &m, right + i * by_v,
                             &ld_v, space, &size, space_int, error + i)
    return (None, s, None, info) if job == b"N" else (u, s, v, info)


# ---------------------------------------------------------------- least squares

def gels(cnp.ndarray a, cnp.ndarray b):
    """Least squares for matrices of full rank, in place of b, which has max(m, n) rows; a becomes its QR."""
    cdef P f = find("gels", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_b = step(b)
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), r = cnp.PyArray_DIM(b, 1)
    cdef int ld = at_least_1(cnp.PyArray_DIM(b, 2)), size = -1, height = at_least_1(m)
    cdef char no = b"N"
    cdef cnp.ndarray info = infos(a), work = vector(1, a.dtype)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* right = cnp.PyArray_BYTES(b)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    belong(are_stacks(a, b) and cnp.PyArray_DIM(b, 2) >= max(m, n), a, b)
    if batch:
        (<F11>f)(&no, &m, &n, &r, data, &height, right, &ld, space, &size, error)
        size = asked_for(work)
        work = vector(size, a.dtype)
        space = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F11>f)(&no, &m, &n, &r, data + i * by, &height, right + i * by_b, &ld, space, &size, error + i)
    return info


def gels_by_values(str driver, cnp.ndarray a, cnp.ndarray b, double rcond):
    """Least squares of any rank by gelsd or gelss, in place of b; returns singular values, ranks and infos."""
    cdef bint of_complex = is_complex(a), divide = driver == "gelsd"
    cdef P f = find(driver, a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_b = step(b), by_s
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), r = cnp.PyArray_DIM(b, 1), k = min(m, n)
    cdef int ld = at_least_1(cnp.PyArray_DIM(b, 2)), size = -1, height = at_least_1(m)
    cdef object real = real_dtype(a)
    cdef float limit32 = <float>rcond
    cdef P limit = <P>&limit32 if real.itemsize == 4 else <P>&rcond
    cdef cnp.ndarray s = np.empty((batch, k), real), ranks = np.zeros(batch, np.int32), info = infos(a)
    cdef cnp.ndarray work = vector(1, a.dtype), work_real = vector(5 * k, real), work_int = vector(1, np.int32)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* right = cnp.PyArray_BYTES(b)
    cdef char* values = cnp.PyArray_BYTES(s)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef char* space_real = cnp.PyArray_BYTES(work_real)
    cdef int* space_int = <int*>cnp.PyArray_DATA(work_int)
    cdef int* rank = <int*>cnp.PyArray_DATA(ranks)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    belong(are_stacks(a, b) and cnp.PyArray_DIM(b, 2) >= max(m, n), a, b)
    cdef bint asking = True
    if not batch or not k:
        return s, ranks, info
    by_s = step(s)
    i = 0
    while i < batch:
        if divide and of_complex:
            (<F15>f)(&m, &n, &r, data + i * by, &height, right + i * by_b, &ld, values + i * by_s, limit, rank + i,
                     space, &size, space_real, space_int, error + i)
        elif divide or of_complex:
            (<F14>f)(&m, &n, &r, data + i * by, &height, right + i * by_b, &ld, values + i * by_s, limit, rank + i,
                     space, &size, <P>space_int if divide else <P>space_real, error + i)
        else:
            (<F13>f)(&m, &n, &r, data + i * by, &height, right + i * by_b, &ld, values + i * by_s, limit, rank + i,
                     space, &size, error + i)
        if asking:
            asking = False
            size = asked_for(work)
            work = vector(size, a.dtype)
            space = cnp.PyArray_BYTES(work)
            if divide:
                work_int = vector(asked_for(work_int), np.int32)
                space_int = <int*>cnp.PyArray_DATA(work_int)
                if of_complex:
                    work_real = vector(asked_for(work_real), real)
                    space_real = cnp.PyArray_BYTES(work_real)
        else:
            i += 1
    return s, ranks, info


def gelsy(cnp.ndarray a, cnp.ndarray b, double rcond):
    """Least squares of any rank by a complete orthogonal factorisation, in place of b; returns ranks and infos."""
    cdef bint of_complex = is_complex(a), asking = True
    cdef P f = find("gelsy", a)
    cdef Py_ssize_t i = 0, batch = cnp.PyArray_DIM(a, 0), by = step(a), by_b = step(b)
    cdef int n = cnp.PyArray_DIM(a, 1), m = cnp.PyArray_DIM(a, 2), r = cnp.PyArray_DIM(b, 1)
    cdef int ld = at_least_1(cnp.PyArray_DIM(b, 2)), size = -1, height = at_least_1(m)
    cdef float limit32 = <float>rcond
    cdef P limit = <P>&limit32 if real_dtype(a).itemsize == 4 else <P>&rcond
    cdef cnp.ndarray ranks = np.zeros(batch, np.int32), info = infos(a), order = vector(n, np.int32)
    cdef cnp.ndarray work = vector(1, a.dtype), work_real = vector(2 * n, real_dtype(a))
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* right = cnp.PyArray_BYTES(b)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef char* space_real = cnp.PyArray_BYTES(work_real)
    cdef int* pivot = <int*>cnp.PyArray_DATA(order)
    cdef int* rank = <int*>cnp.PyArray_DATA(ranks)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    belong(are_stacks(a, b) and cnp.PyArray_DIM(b, 2) >= max(m, n), a, b)
    if not m or not n:
        return ranks, info
    while i < batch:
        order.fill(0)                    # no column is fixed
        if of_complex:
            (<F14>f)(&m, &n, &r, data + i * by, &height, right + i * by_b, &ld, pivot, limit, rank + i, space, &size,
                     space_real, error + i)
        else:
            (<F13>f)(&m, &n, &r, data + i * by, &height, right + i * by_b, &ld, pivot, limit, rank + i, space, &size,
                     error + i)
        if asking:
            asking = False
            size = asked_for(work)
            work = vector(size, a.dtype)
            space = cnp.PyArray_BYTES(work)
        else:
            i += 1
    return ranks, info


# ---------------------------------------------------------------- symmetric indefinite

def sytrf(bint hermitian, cnp.ndarray a):
    """LDL factors in place of the lower triangles; returns pivots and infos."""
    cdef P f = find("sytrf", a) if not hermitian or not is_complex(a) else find("hetrf", a)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(a, 0), by = step(a)
    cdef int n = cnp.PyArray_DIM(a, 1), size = -1
    cdef char lower = b"L"
    cdef cnp.ndarray pivots = np.zeros((batch, n), np.int32), info = infos(a), work = vector(1, a.dtype)
    cdef char* data = cnp.PyArray_BYTES(a)
    cdef char* space = cnp.PyArray_BYTES(work)
    cdef int* pivot = <int*>cnp.PyArray_DATA(pivots)
    cdef int* error = <int*>cnp.PyArray_DATA(info)
    if n and batch:
        (<F8>f)(&lower, &n, data, &n, pivot, space, &size, error)
        size = asked_for(work)
        work = vector(size, a.dtype)
        space = cnp.PyArray_BYTES(work)
        with nogil:
            for i in range(batch):
                (<F8>f)(&lower, &n, data + i * by, &n, pivot + i * n, space, &size, error + i)
    return pivots, info


def sytrs(bint hermitian, cnp.ndarray ld, cnp.ndarray pivots, cnp.ndarray b):
    """Solutions in place of b, from LDL factors in the lower triangles."""
    cdef P f = find("sytrs", ld) if not hermitian or not is_complex(ld) else find("hetrs", ld)
    cdef Py_ssize_t i, batch = cnp.PyArray_DIM(b, 0), by = step(b), by_ld = step(ld)
    cdef int n = cnp.PyArray_DIM(ld, 1), m = cnp.PyArray_DIM(b, 1), info
    cdef char lower = b"L"
    cdef char* data = cnp.PyArray_BYTES(b)
    cdef char* factors = cnp.PyArray_BYTES(ld)
    cdef int* pivot = <int*>cnp.PyArray_DATA(pivots)
    belong(systems(ld, b) and are_pivots(pivots, ld), ld, b)
    if n and m:
        with nogil:
            for i in range(batch):
                (<F9>f)(&lower, &n, &m, factors + i * by_ld, &n, pivot + i * n, data + i * by, &n, &info)
