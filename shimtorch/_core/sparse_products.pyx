"""Products of sparse matrices with dense ones, without autograd."""
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memset

from .._kernels.csr cimport compress, expand, take_entries
from .._kernels.csr cimport take_rows as copy_rows
from .._kernels.scratch cimport release
from .._kernels.spgemm cimport Product, begin_product, drop_product, end_product, narrowed
from .._kernels.spmm cimport coo_matmul, csr_matmul, csr_vector, has_products, sampled_matmul
from .._kernels.transposing cimport transpose
from .dtype cimport CAT_COMPLEX, CATEGORY, INT32, INT64, ITEMSIZE, dtype_of
from .iterate cimport as_code_tensor, contiguous_copy
from .dtype import scalar_type
from .sparse cimport (
    EMPTY_ROWS, CooParts, check_same_place, coo_parts, dense, kernel_code, kernel_values, new_coo, new_indices, trusted,
    with_values,
)
from .tensor cimport ON_DEVICE, TensorBase, describe_shape, empty, make_size, ptr, write_scalar

cdef object on_device():
    """What takes the place of this file's functions for tensors on a device."""
    from .._gpu import sparse_products
    return sparse_products


cdef int check_matrix(TensorBase t, CooParts p) except -1:
    if p.dims != 2 or t.ndim_ != 2:
        raise RuntimeError(f"addmm: matrices expected, got {p.dims}D tensor" if p.dims != 2 else
                           f"addmm: expected a sparse matrix without dense dimensions, got {t.ndim_ - p.dims}")
    return 0


cdef int product_code(int code) except -1:
    code = kernel_code(code)
    if not has_products(code):
        raise NotImplementedError(f"\"addmm_sparse_dense\" not implemented for '{scalar_type(dtype_of(code))}'")
    return code


cdef TensorBase row_pointer(TensorBase t, CooParts p):
    """The row pointer of a coalesced matrix, made once; None where few of its rows have entries."""
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t nnz = p.indices.shape_[1]
    if p.pointer is None and p.indices.strides_[1] == 1 and t.shape_[0] <= EMPTY_ROWS * nnz:
        shape[0] = t.shape_[0] + 1
        p.pointer = empty(INT64, 1, shape)
        compress(<const int64_t*>ptr(p.indices), nnz, t.shape_[0], <int64_t*>ptr(p.pointer))
    return p.pointer


cdef TensorBase narrow_columns(TensorBase t, CooParts p):
    """The columns of a coalesced matrix in 32 bits, made at the second product with a vector; None before.

    Products with matrices read a whole line of the dense one for each entry: with 16 columns and more, half the bytes
    for its number make no difference that could be measured.
    """
    p.vector_uses += 1
    if p.narrow is None and p.vector_uses > 1 and t.shape_[1] <= 0x7fffffff:
        p.narrow = as_code_tensor(p.indices.select(0, 1), INT32)
    return p.narrow


cdef tuple transposed_rows(TensorBase t, CooParts p):
    """Row pointer and columns of the transpose of a coalesced matrix, and the order of its entries, made once."""
    cdef TensorBase pointer = row_pointer(t, p), columns, order, out_pointer
    cdef Py_ssize_t shape[1]
    if p.transposed is None:
        shape[0] = t.shape_[1] + 1
        out_pointer = empty(INT64, 1, shape)
        shape[0] = p.indices.shape_[1]
        columns, order = empty(INT64, 1, shape), empty(INT64, 1, shape)
        if transpose(<const int64_t*>ptr(pointer), <const int64_t*>ptr(p.indices) + p.indices.strides_[0], t.shape_[0],
                     t.shape_[1], <int64_t*>ptr(out_pointer), <int64_t*>ptr(columns), <int64_t*>ptr(order)):
            raise MemoryError("no memory for a transpose")
        p.transposed = (out_pointer, columns, order)
    return p.transposed


cdef TensorBase adjacent_columns(TensorBase x, int code):
    """A matrix in a kernel's dtype whose columns are neighbours in memory."""
    if x.code != code:
        x = as_code_tensor(x, code)
    if x.shape_[1] != 1 and x.strides_[1] != 1:
        x = contiguous_copy(x)
    return x


cdef int multiply_into(TensorBase out, TensorBase t, CooParts p, TensorBase other, bint adjoint, const void* alpha,
                       bint add) except -1:
    """out = or (add) += alpha * t @ other, or t.H @ other; in one dtype that has products, other's columns adjacent."""
    cdef TensorBase values = kernel_values(p.values, out.code), indices = p.indices, pointer = None, columns, order
    cdef TensorBase ordered
    cdef Py_ssize_t nnz = indices.shape_[1], width = other.shape_[1]
    cdef const int64_t* rows
    cdef const int64_t* cols = NULL
    cdef const int32_t* few
    cdef const char* v
    cdef const char* d = ptr(other)
    cdef char* o = ptr(out)
    cdef Py_ssize_t dense_step = other.strides_[0], out_step = out.strides_[0], n_rows = out.shape_[0], size
    cdef int code = out.code, failed
    if nnz == 0 or width == 0:
        if not add:
            memset(o, 0, out.count * ITEMSIZE[code])
        return 0
    if adjoint and CATEGORY[code] == CAT_COMPLEX:
        values = values.conj()
    if p.coalesced and indices.strides_[1] == 1:
        pointer = row_pointer(t, p)
        if adjoint and pointer is not None:
            # Sorting the entries by column pays from the second product on.
            p.transposed_uses += 1
            if p.transposed_uses > 1 or p.transposed is not None:
                pointer, columns, order = transposed_rows(t, p)
                size = ITEMSIZE[code]
                ordered = empty(code, 1, values.shape_)
                take_entries(ptr(values), size, size, <const int64_t*>ptr(order), nnz, ptr(ordered))
                values, cols = ordered, <const int64_t*>ptr(columns)
            else:
                pointer = None
        elif pointer is not None:
            cols = <const int64_t*>ptr(indices) + indices.strides_[0]
    v = ptr(values)
    if pointer is not None and not adjoint and width == 1:
        columns = narrow_columns(t, p)
        if columns is not None:
            rows, few = <const int64_t*>ptr(pointer), <const int32_t*>ptr(columns)
            with nogil:
                failed = csr_vector(code, rows, few, v, n_rows, d, dense_step, alpha, add, o, out_step)
            if failed:
                raise MemoryError("no memory for a sparse product")
            return 0
    if pointer is not None:
        rows = <const int64_t*>ptr(pointer)
        with nogil:
            failed = csr_matmul(code, rows, cols, v, n_rows, d, dense_step, width, alpha, add, o, out_step)
        if failed:
            raise MemoryError("no memory for a sparse product")
        return 0
    if indices.strides_[1] != 1:
        indices = contiguous_copy(indices)
    rows = <const int64_t*>ptr(indices)
    cols = rows + indices.strides_[0]
    if adjoint:
        rows, cols = cols, rows
    if not add:
        memset(o, 0, out.count * ITEMSIZE[code])
    with nogil:
        coo_matmul(code, rows, cols, v, nnz, d, dense_step, width, alpha, o, out_step)
    return 0


def multiply(TensorBase t not None, TensorBase other not None, bint adjoint=False):
    """t @ other, or t.H @ other, for a sparse matrix and a dense one: a dense matrix."""
    cdef CooParts p = coo_parts(t)
    cdef Py_ssize_t shape[2]
    cdef int code
    cdef TensorBase out
    check_matrix(t, p)
    check_operand(t, other, t.shape_[0] if adjoint else t.shape_[1])
    code = product_code(t.code)
    if t.flags & ON_DEVICE:
        return on_device().multiply(t, other, adjoint)
    shape[0], shape[1] = t.shape_[1] if adjoint else t.shape_[0], other.shape_[1]
    out = empty(code, 2, shape)
    multiply_into(out, t, p, adjacent_columns(other, code), adjoint, NULL, False)
    return out if code == t.code else as_code_tensor(out, t.code)


cdef int check_operand(TensorBase t, TensorBase other, Py_ssize_t rows) except -1:
    dense(other)
    if other.ndim_ != 2:
        if other.ndim_ < 2:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-max(other.ndim_, 1)}, "
                             f"{max(other.ndim_, 1) - 1}], but got 1)")
        raise RuntimeError(f"addmm: 2D tensor expected, got {other.ndim_}D tensor for argument #3 (dense)")
    if other.shape_[0] != rows:
        raise RuntimeError(f"addmm: Argument #3 (dense): Expected dim 0 size {rows}, got {other.shape_[0]}")
    if other.code != t.code:
        raise RuntimeError(f"expected scalar type {scalar_type(t.dtype)} but found {scalar_type(other.dtype)}")
    return check_same_place(t, other)


def multiply_add(TensorBase base not None, TensorBase t not None, TensorBase other not None, beta, alpha):
    """beta * base + alpha * (t @ other); base broadcasts to the result."""
    cdef CooParts p = coo_parts(t)
    cdef int code
    cdef char number[16]
    cdef Py_ssize_t shape[2]
    cdef TensorBase out, r
    check_matrix(t, p)
    check_operand(t, other, t.shape_[1])
    if dense(base).code != t.code:
        raise RuntimeError(f"expected scalar type {scalar_type(t.dtype)} but found {scalar_type(base.dtype)}")
    code = product_code(t.code)
    shape[0], shape[1] = t.shape_[0], other.shape_[1]
    check_same_place(t, base)
    if base.ndim_ != 2 or base.shape_[0] != shape[0] or base.shape_[1] != shape[1]:
        base = base.expand(make_size(2, shape))
    if t.flags & ON_DEVICE:
        return on_device().multiply(t, other, False, base, beta, alpha)
    if beta == 0:                       # what is in base does not count, NaN neither
        out = empty(code, 2, shape)
    else:
        r = as_code_tensor(base, code)
        if beta != 1:
            r = r * beta
        out = r if r is not base and r.contiguous_ and r.storage is not base.storage else contiguous_copy(r)
    write_scalar(number, code, alpha)
    multiply_into(out, t, p, adjacent_columns(other, code), False, number, beta != 0)
    return out if code == t.code else as_code_tensor(out, t.code)


def sampled(TensorBase left not None, TensorBase right not None, TensorBase pattern not None):
    """left @ right.H where the sparse matrix `pattern` has entries: a sparse matrix with its indices."""
    cdef CooParts p = coo_parts(pattern)
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t nnz = p.indices.shape_[1], width, left_step, right_step
    cdef int code = product_code(left.code)
    cdef TensorBase indices = p.indices, values, a, b
    cdef const int64_t* rows
    cdef const int64_t* columns
    cdef const char* x
    cdef const char* y
    cdef char* o
    check_matrix(pattern, p)
    dense(left)
    dense(right)
    if left.ndim_ != 2 or right.ndim_ != 2 or left.shape_[0] != pattern.shape_[0] or (
            right.shape_[0] != pattern.shape_[1]) or left.shape_[1] != right.shape_[1] or left.code != right.code:
        raise RuntimeError(f"sampled product: sizes {describe_shape(left)} and {describe_shape(right)} do not fit a "
                           f"pattern of size {describe_shape(pattern)}")
    check_same_place(pattern, left)
    check_same_place(pattern, right)
    if pattern.flags & ON_DEVICE:
        return with_values(pattern, on_device().sampled(left, right, pattern))
    if CATEGORY[code] == CAT_COMPLEX:
        right = right.conj()
    if indices.strides_[1] != 1:
        indices = contiguous_copy(indices)
    a, b = adjacent_columns(left, code), adjacent_columns(right, code)
    shape[0] = nnz
    values = empty(code, 1, shape)
    rows = <const int64_t*>ptr(indices)
    columns = rows + indices.strides_[0]
    x, y, o = ptr(a), ptr(b), ptr(values)
    left_step, right_step, width = a.strides_[0], b.strides_[0], a.shape_[1]
    with nogil:
        sampled_matmul(code, rows, columns, nnz, x, left_step, y, right_step, width, o)
    if code != left.code:
        values = as_code_tensor(values, left.code)
    return with_values(pattern, values)


def multiply_sparse(TensorBase a not None, TensorBase b not None):
    """The product of two coalesced sparse matrices of one dtype that fit: coalesced.

    None where a list of the rows of either, or of b's columns, would be much longer than the list of entries.
    """
    cdef CooParts p = coo_parts(a), q = coo_parts(b)
    cdef TensorBase left, right, x, y, pointer, indices, values
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t n_rows = a.shape_[0], n_columns = b.shape_[1], nnz = q.indices.shape_[1]
    cdef int code = product_code(a.code), failed = 0
    cdef const int64_t* ap
    cdef const int64_t* ac
    cdef const int64_t* bp
    cdef const char* av
    cdef const char* bv
    cdef int32_t* bc
    cdef int64_t* starts
    cdef int64_t* target
    cdef char* out
    cdef Product* product = NULL
    check_matrix(a, p)
    check_matrix(b, q)
    if not p.coalesced or not q.coalesced or a.code != b.code or a.shape_[1] != b.shape_[0]:
        raise RuntimeError("multiply_sparse: expected coalesced matrices of one dtype that fit")
    check_same_place(a, b)
    if a.flags & ON_DEVICE:
        return on_device().multiply_sparse(a, b)
    left, right = row_pointer(a, p), row_pointer(b, q)
    if left is None or right is None or n_columns > min(EMPTY_ROWS * nnz + 1024, 0x7fffffff):
        return None
    x, y = kernel_values(p.values, code), kernel_values(q.values, code)
    ap, bp, av, bv = <const int64_t*>ptr(left), <const int64_t*>ptr(right), ptr(x), ptr(y)
    ac = <const int64_t*>ptr(p.indices) + p.indices.strides_[0]
    shape[0] = n_rows + 1
    pointer = empty(INT64, 1, shape)
    starts = <int64_t*>ptr(pointer)
    bc = narrowed(<const int64_t*>ptr(q.indices) + q.indices.strides_[0], nnz)
    try:
        if bc == NULL:
            raise MemoryError("no memory for a sparse product")
        with nogil:
            product = begin_product(code, ap, ac, av, n_rows, bp, bc, bv, n_columns, starts)
        if product == NULL:
            raise MemoryError("no memory for a sparse product")
        shape[0] = starts[n_rows]
        indices, values = new_indices(2, shape[0]), empty(code, 1, shape)
        target, out = <int64_t*>ptr(indices), ptr(values)
        with nogil:
            failed = end_product(product, target + shape[0], out)
            expand(starts, n_rows, target)
        product = NULL
        if failed:
            raise MemoryError("no memory for a sparse product")
    finally:
        drop_product(product)
        release(bc)
    if code != a.code:
        values = as_code_tensor(values, a.code)
    return product_of(indices, values, n_rows, n_columns, pointer)


cdef TensorBase product_of(TensorBase indices, TensorBase values, Py_ssize_t n_rows, Py_ssize_t n_columns,
                           TensorBase pointer):
    """A coalesced matrix whose row pointer is known."""
    cdef Py_ssize_t shape[2]
    cdef TensorBase r
    shape[0], shape[1] = n_rows, n_columns
    r = trusted(new_coo(indices, values, 2, shape, True))
    (<CooParts>r.impl).pointer = pointer
    return r


def take_rows(TensorBase t not None, TensorBase index not None):
    """The rows of a coalesced matrix that contiguous int64 numbers name: coalesced. None where most rows are empty."""
    cdef CooParts p = coo_parts(t)
    cdef TensorBase pointer, indices, values, source = p.values, out_pointer
    cdef Py_ssize_t shape[1]
    cdef Py_ssize_t n = index.count, k, m = 0, size = ITEMSIZE[t.code]
    cdef const int64_t* chosen
    cdef const int64_t* starts
    cdef const int64_t* columns
    cdef const char* v
    cdef int64_t* rows
    cdef int64_t* ends
    cdef char* out
    check_matrix(t, p)
    if not p.coalesced or index.code != INT64 or not index.contiguous_:
        raise RuntimeError("take_rows: expected a coalesced tensor and contiguous int64 numbers")
    chosen = <const int64_t*>ptr(dense(index))
    pointer = row_pointer(t, p)
    if pointer is None or not source.contiguous_:
        return None
    starts, v = <const int64_t*>ptr(pointer), ptr(source)
    columns = <const int64_t*>ptr(p.indices) + p.indices.strides_[0]
    shape[0] = n + 1
    out_pointer = empty(INT64, 1, shape)
    ends = <int64_t*>ptr(out_pointer)
    for k in range(n):
        if not 0 <= chosen[k] < t.shape_[0]:
            raise IndexError(f"take_rows: no row {chosen[k]} among {t.shape_[0]}")
        ends[k] = m
        m += starts[chosen[k] + 1] - starts[chosen[k]]
    ends[n] = m
    shape[0] = m
    indices, values = new_indices(2, m), empty(t.code, 1, shape)
    rows, out = <int64_t*>ptr(indices), ptr(values)
    with nogil:
        copy_rows(starts, p.indices.shape_[1], columns, v, size, chosen, n, ends, rows, rows + m, out)
    return product_of(indices, values, n, t.shape_[1], out_pointer)


def compressed_rows(TensorBase t not None):
    """Row pointer and columns of a coalesced sparse matrix, two int64 tensors."""
    cdef CooParts p = coo_parts(t)
    cdef TensorBase pointer
    cdef Py_ssize_t shape[1]
    check_matrix(t, p)
    if not p.coalesced:
        raise RuntimeError("compressed_rows: expected a coalesced tensor")
    if t.flags & ON_DEVICE:
        return on_device().row_pointer(t), p.indices.select(0, 1)
    pointer = row_pointer(t, p)
    if pointer is None:
        indices = p.indices if p.indices.strides_[1] == 1 else contiguous_copy(p.indices)
        shape[0] = t.shape_[0] + 1
        pointer = empty(INT64, 1, shape)
        compress(<const int64_t*>ptr(<TensorBase>indices), p.indices.shape_[1], t.shape_[0], <int64_t*>ptr(pointer))
    return pointer, p.indices.select(0, 1)
