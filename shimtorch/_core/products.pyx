"""Matrix products and row kernels (softmax, cumulative sums) on tensors: the forwards of their ops."""
from libc.string cimport memcpy, memset

import numpy as np

from .._kernels.blas cimport blas_lies, blas_product, blas_serves
from .._kernels.table cimport (
    ST_NO_MEMORY, ST_NOT_IMPLEMENTED, ST_SMALL_DEPTH, st_find_rows, st_find_small, st_gemm, st_nest_dim, st_parallel,
    st_rows, st_rows_op, st_shared_rows, st_small_fn,
)
from .._kernels.thin cimport st_gemm_is_thin
from .destination cimport make_beside, make_result
from .dtype cimport BOOL, COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, ITEMSIZE, dtype_of
from .iterate cimport contiguous_copy
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, TensorBase, as_ndarray, describe_shape, empty, empty_at, place_of, ptr, same_shape,
    strided_alias, wrap_dim,
)

from .dtype import scalar_type

cdef object matmul_numpy = np.matmul
# The dtypes, by code, as C++ has them.
C_NAMES = ("bool", "unsigned char", "signed char", "short", "int", "long int", "c10::Half", "c10::BFloat16", "float",
           "double", "c10::complex<float>", "c10::complex<double>", "short unsigned int", "unsigned int",
           "long unsigned int")

cdef enum:
    SMALL = 32 * 32 * 32               # multiplications, up to which a kernel beats the call of a BLAS


def unlike_matrices(TensorBase a not None, TensorBase b not None):
    """What is wrong with two matrices of different dtypes."""
    return RuntimeError(f"expected m1 and m2 to have the same dtype, but got: {C_NAMES[a.code]} != {C_NAMES[b.code]}")


def unlike_vector(TensorBase mat not None, TensorBase vec not None):
    """What is wrong with a matrix and a vector of different dtypes."""
    a, b = scalar_type(mat.dtype), scalar_type(vec.dtype)
    return RuntimeError(f"addmv input tensors must have the same dtype, but got {b}, {a}, and {b}")


cdef bint by_numpy(int code) noexcept:
    """Whether NumPy multiplies matrices of a dtype by a BLAS that only it can call."""
    return code == FLOAT32 or code == FLOAT64 or code == COMPLEX64 or code == COMPLEX128


cdef int gemm(TensorBase a, TensorBase b, TensorBase c, bint add=False) except -1:
    """c = a @ b for matrices (any strides, c contiguous); add: c += a @ b, where `adds` says yes."""
    return gemms(1, a.shape_[0], b.shape_[1], a.shape_[1], a, 0, a.strides_, b, 0, b.strides_, c, add)


cdef bint is_small(Py_ssize_t m, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """Whether the kernel for small matrices beats the call of a BLAS."""
    return m * n * k <= (SMALL if m > 1 and n > 1 else 256) and k <= ST_SMALL_DEPTH


cdef bint by_blas(int code, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """Whether a BLAS is there and worth its call."""
    return blas_serves(code) and m * n * k > 64 and not st_gemm_is_thin(code, m, n, k)


cdef bint adds(int code, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
    """Whether a product of these sizes can be added to what the result holds."""
    return (code == FLOAT32 or code == FLOAT64) and k > 0 and (is_small(m, n, k) or by_blas(code, m, n, k))


# Products of a batch: matrices m x k and k x n, their strides, and the bytes from one to the next.
ctypedef struct Batch:
    st_small_fn small
    bint add
    int code
    Py_ssize_t m, n, k
    char* a
    char* b
    char* c
    Py_ssize_t sa0, sa1, sb0, sb1, a_step, b_step

cdef enum:
    GRAIN = 1 << 16                    # products of numbers that are worth a thread
    BLAS_ALONE = 1 << 18               # a BLAS multiplies matrices of so little work in one thread,
    BLAS_ALONE_MV = 1 << 13            # and a matrix by a vector


cdef void some_small(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Batch* c = <const Batch*>context
    cdef Py_ssize_t size = ITEMSIZE[c.code]
    cdef Py_ssize_t sa[2]
    cdef Py_ssize_t sb[2]
    cdef st_nest_dim loop
    sa[0], sa[1], sb[0], sb[1] = c.sa0, c.sa1, c.sb0, c.sb1
    loop.size = end - begin
    loop.strides[0], loop.strides[1], loop.strides[2] = c.m * c.n * size, c.a_step, c.b_step
    c.small(c.add, c.m, c.n, c.k, c.a + begin * c.a_step, sa, c.b + begin * c.b_step, sb,
            c.c + begin * c.m * c.n * size, c.n * size, 1, &loop)


cdef void some_by_blas(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef const Batch* c = <const Batch*>context
    cdef Py_ssize_t i, step = c.m * c.n * ITEMSIZE[c.code]
    for i in range(begin, end):
        blas_product(c.code, c.add, c.m, c.n, c.k, c.a + i * c.a_step, c.sa0, c.sa1, c.b + i * c.b_step, c.sb0, c.sb1,
                     c.c + i * step, c.n)


cdef int gemms(Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, TensorBase a, Py_ssize_t a_step,
               const Py_ssize_t* a_strides, TensorBase b, Py_ssize_t b_step, const Py_ssize_t* b_strides,
               TensorBase c, bint add) except -1:
    """c = a @ b (or c += a @ b) for a batch of matrices, a_step and b_step elements apart; c is contiguous."""
    cdef Py_ssize_t s = ITEMSIZE[a.code], i
    cdef st_small_fn small
    cdef Batch share
    cdef char* pa
    cdef char* pb
    cdef char* pc
    cdef int status = 0
    if c.count == 0:
        return 0
    if c.flags & ON_DEVICE:
        return on_device(batch, m, n, k, a, a_step, a_strides, b, b_step, b_strides, c)
    pa, pb, pc = ptr(a), ptr(b), ptr(c)
    if k == 0:
        memset(pc, 0, c.count * s)
        return 0
    if is_small(m, n, k):
        small = st_find_small(a.code)
        if small != NULL:
            share = Batch(small, add, a.code, m, n, k, pa, pb, pc, a_strides[0] * s, a_strides[1] * s, b_strides[0] * s,
                          b_strides[1] * s, a_step * s, b_step * s)
            if m * n * k * batch < 2 * GRAIN:
                some_small(&share, 0, batch)
            else:
                with nogil:
                    st_parallel(batch, GRAIN // (m * n * k) + 1, some_small, &share)
            return 0
    if by_blas(a.code, m, n, k):
        if not blas_lies(m, k, a_strides[0], a_strides[1]):
            a = contiguous_copy(a)
            return gemms(batch, m, n, k, a, m * k, a.strides_ + a.ndim_ - 2, b, b_step, b_strides, c, add)
        if not blas_lies(k, n, b_strides[0], b_strides[1]):
            b = contiguous_copy(b)
            return gemms(batch, m, n, k, a, a_step, a_strides, b, k * n, b.strides_ + b.ndim_ - 2, c, add)
        share = Batch(NULL, add, a.code, m, n, k, pa, pb, pc, a_strides[0], a_strides[1], b_strides[0], b_strides[1],
                      a_step * s, b_step * s)
        with nogil:
            if m * n * k > (BLAS_ALONE if m > 1 and n > 1 else BLAS_ALONE_MV):
                some_by_blas(&share, 0, batch)          # the BLAS has threads
            else:
                st_parallel(batch, GRAIN // (m * n * k) + 1, some_by_blas, &share)
        return 0
    if by_numpy(a.code) and m * n * k > SMALL and not st_gemm_is_thin(a.code, m, n, k):
        matmul_numpy(as_ndarray(a), as_ndarray(b), as_ndarray(c))
        return 0
    with nogil:
        for i in range(batch):
            status |= st_gemm(a.code, m, n, k, pa + i * a_step * s, a_strides[0] * s, a_strides[1] * s,
                              pb + i * b_step * s, b_strides[0] * s, b_strides[1] * s, pc + i * m * n * s, n * s, s)
    if status == ST_NOT_IMPLEMENTED:
        raise NotImplementedError(f"\"addmm_impl_cpu_\" not implemented for '{scalar_type(dtype_of(a.code))}'")
    if status == ST_NO_MEMORY:
        raise MemoryError
    return 0


cdef int on_device(Py_ssize_t batch, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, TensorBase a, Py_ssize_t a_step,
                   const Py_ssize_t* a_strides, TensorBase b, Py_ssize_t b_step, const Py_ssize_t* b_strides,
                   TensorBase c) except -1:
    """The same for operands on a device."""
    from .._gpu.load import libraries
    libraries().products(batch_of(c, batch, m, n, m * n, n, 1),
                         batch_of(a, batch, m, k, a_step, a_strides[0], a_strides[1]),
                         batch_of(b, batch, k, n, b_step, b_strides[0], b_strides[1]))
    return 0


cdef TensorBase batch_of(TensorBase t, Py_ssize_t batch, Py_ssize_t rows, Py_ssize_t columns, Py_ssize_t step,
                         Py_ssize_t by_row, Py_ssize_t by_column):
    cdef Py_ssize_t[3] shape = [batch, rows, columns]
    cdef Py_ssize_t[3] strides = [step, by_row, by_column]
    return strided_alias(t, 3, shape, strides, t.offset)


def mm(TensorBase self not None, TensorBase mat2 not None):
    """The product of two matrices."""
    cdef Py_ssize_t shape[2]
    cdef TensorBase r
    if self.ndim_ != 2:
        raise RuntimeError("self must be a matrix")
    if mat2.ndim_ != 2:
        raise RuntimeError("mat2 must be a matrix")
    if self.shape_[1] != mat2.shape_[0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape_[0]}x{self.shape_[1]} and "
                           f"{mat2.shape_[0]}x{mat2.shape_[1]})")
    if self.code != mat2.code:
        raise unlike_matrices(self, mat2)
    shape[0], shape[1] = self.shape_[0], mat2.shape_[1]
    r = make_beside(self, mat2, self.code, 2, shape)
    gemm(self, mat2, r)
    return r


def mv(TensorBase self not None, TensorBase vec not None):
    """The product of a matrix and a vector."""
    cdef TensorBase column, r
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    if self.ndim_ != 2 or vec.ndim_ != 1:
        raise RuntimeError(f"vector + matrix @ vector expected, got {1}, {self.ndim_}, {vec.ndim_}")
    if self.shape_[1] != vec.shape_[0]:
        raise RuntimeError(f"size mismatch, got input ({self.shape_[0]}), mat ({self.shape_[0]}x{self.shape_[1]}), vec "
                           f"({vec.shape_[0]})")
    if self.code != vec.code:
        raise unlike_vector(self, vec)
    shape[0], shape[1] = vec.shape_[0], 1
    strides[0], strides[1] = vec.strides_[0], 1
    column = strided_alias(vec, 2, shape, strides, vec.offset)
    shape[0] = self.shape_[0]
    r = empty_at(place_of(self, vec), self.code, 2, shape)
    gemm(self, column, r)
    return strided_alias(r, 1, shape, r.strides_, 0)


def dot(TensorBase self not None, TensorBase tensor not None):
    """The inner product of two vectors of one size."""
    cdef TensorBase row, column, r
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    if self.ndim_ != 1 or tensor.ndim_ != 1:
        raise RuntimeError(f"1D tensors expected, but got {self.ndim_}D and {tensor.ndim_}D tensors")
    if self.code != tensor.code:
        raise RuntimeError(f"dot : expected both vectors to have same dtype, but found "
                           f"{scalar_type(self.dtype)} and {scalar_type(tensor.dtype)}")
    if self.code == BOOL:
        raise NotImplementedError("\"dot\" not implemented for 'Bool'")
    if self.shape_[0] != tensor.shape_[0]:
        raise RuntimeError(f"inconsistent tensor size, expected tensor [{self.shape_[0]}] and src [{tensor.shape_[0]}] "
                           "to have the same number of elements, but got "
                           f"{self.shape_[0]} and {tensor.shape_[0]} elements respectively")
    shape[0], shape[1] = 1, self.shape_[0]
    strides[0], strides[1] = 1, self.strides_[0]
    row = strided_alias(self, 2, shape, strides, self.offset)
    shape[0], shape[1] = tensor.shape_[0], 1
    strides[0], strides[1] = tensor.strides_[0], 1
    column = strided_alias(tensor, 2, shape, strides, tensor.offset)
    shape[0] = shape[1] = 1
    r = empty_at(place_of(self, tensor), self.code, 2, shape)
    gemm(row, column, r)
    return strided_alias(r, 0, shape, strides, 0)


def bmm(TensorBase self not None, TensorBase mat2 not None):
    """The products of two batches of matrices, (b, n, m) and (b, m, p)."""
    cdef Py_ssize_t shape[3]
    cdef TensorBase r
    if self.ndim_ != 3 or mat2.ndim_ != 3:
        raise RuntimeError("batch1 must be a 3D tensor" if self.ndim_ != 3 else "batch2 must be a 3D tensor")
    if self.shape_[0] != mat2.shape_[0] or self.shape_[2] != mat2.shape_[1]:
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{self.shape_[0]}, "
                           f"{self.shape_[2]}] but got: [{mat2.shape_[0]}, {mat2.shape_[1]}].")
    if self.code != mat2.code:
        raise RuntimeError(f"expected scalar type {scalar_type(self.dtype)} but found {scalar_type(mat2.dtype)}")
    shape[0], shape[1], shape[2] = self.shape_[0], self.shape_[1], mat2.shape_[2]
    r = make_beside(self, mat2, self.code, 3, shape)
    gemms(shape[0], shape[1], shape[2], self.shape_[2], self, self.strides_[0], self.strides_ + 1, mat2,
          mat2.strides_[0], mat2.strides_ + 1, r, False)
    return r


def linear_product(TensorBase input not None, TensorBase weight not None, TensorBase bias):
    """input (..., k) @ weight (n, k) transposed, plus the bias (None or anything that broadcasts)."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[2]
    cdef TensorBase a = input, b, r
    cdef bint add
    cdef int i
    if weight.ndim_ != 2 or input.ndim_ == 0 or input.shape_[input.ndim_ - 1] != weight.shape_[1]:
        raise RuntimeError(
            "mat1 and mat2 shapes cannot be multiplied "
            f"({input.count // max(input.shape_[input.ndim_ - 1], 1) if input.ndim_ else 1}x"
            f"{input.shape_[input.ndim_ - 1] if input.ndim_ else 1} and "
            f"{'x'.join([str(s) for s in reversed(describe_shape(weight))])})")
    if input.code != weight.code:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {scalar_type(input.dtype)} and "
                           f"{scalar_type(weight.dtype)}")
    for i in range(input.ndim_ - 1):
        shape[i] = input.shape_[i]
    shape[input.ndim_ - 1] = weight.shape_[0]
    r = empty_at(place_of(input, weight), input.code, input.ndim_, shape)
    shape[0], shape[1] = weight.shape_[1], weight.shape_[0]
    strides[0], strides[1] = weight.strides_[1], weight.strides_[0]
    b = strided_alias(weight, 2, shape, strides, weight.offset)
    if a.ndim_ != 2:
        if not a.contiguous_:
            a = contiguous_copy(a)
        a = as_rows(a)
    # a bias in every row of the result, to which the product is added, saves a pass over the result
    add = (bias is not None and bias.code == r.code and bias.ndim_ == 1 and bias.shape_[0] == weight.shape_[0] and
           bias.contiguous_ and not (r.flags | bias.flags) & ON_DEVICE and
           adds(r.code, a.shape_[0], weight.shape_[0], weight.shape_[1]))
    if add:
        fill_rows(r, bias)
    gemm(a, b, r if r.ndim_ == 2 else as_rows(r), add)
    return r if add or bias is None else r.add_(bias)


cdef void fill_rows(TensorBase r, TensorBase row) noexcept:
    """The row in every row of a contiguous tensor."""
    cdef Py_ssize_t size = row.count * ITEMSIZE[row.code], i
    for i in range(r.count // row.count if row.count else 0):
        memcpy(ptr(r) + i * size, ptr(row), size)


cdef TensorBase as_rows(TensorBase t):
    """A contiguous tensor as a matrix of its last dimension's rows."""
    cdef Py_ssize_t shape[2]
    cdef Py_ssize_t strides[2]
    shape[1] = t.shape_[t.ndim_ - 1]
    shape[0] = t.count // shape[1] if shape[1] else 0
    strides[0], strides[1] = shape[1], 1
    return strided_alias(t, 2, shape, strides, t.offset)


cdef TensorBase tensor_of(object x):
    if not isinstance(x, TensorBase):
        raise TypeError(f"expected a Tensor, got {type(x).__name__}")
    return <TensorBase>x


cpdef TensorBase by_rows(str kernel, tensors, dim):
    """A row kernel (softmax, log_softmax, their backwards, cumsum, cumprod) along one dimension."""
    cdef TensorBase f = tensor_of(tensors[0]), r, t
    cdef st_rows loop = st_find_rows(st_rows_op(kernel.encode()), f.code)
    cdef char* ptrs[3]
    cdef Py_ssize_t rows[3]
    cdef Py_ssize_t cols[3]
    cdef Py_ssize_t outer = 1, inner = 1, n, s = ITEMSIZE[f.code]
    cdef int d = wrap_dim(dim, f.ndim_), i, k, n_in = len(tensors), status
    cdef list inputs = []
    if loop == NULL:
        last = "lastdim_" if kernel.endswith("softmax") and d == max(f.ndim_ - 1, 0) else ""
        raise NotImplementedError(f"\"{kernel}_{last}kernel_impl\" not implemented for '{scalar_type(f.dtype)}'")
    for x in tensors:
        t = tensor_of(x)
        if not same_shape(t, f) or t.code != f.code:
            raise RuntimeError(f"{kernel}: expected tensors of one shape and dtype")
        inputs.append(t if t.contiguous_ else contiguous_copy(t))
    if f.flags & ON_DEVICE:
        from .._gpu.rows import by_rows as on_device_rows
        return on_device_rows(kernel, inputs, d)
    r = make_result(f.code, f.ndim_, f.shape_)
    if r.count == 0:
        return r
    n = f.shape_[d] if f.ndim_ else 1
    for i in range(d):
        outer *= f.shape_[i]
    for i in range(d + 1, f.ndim_):
        inner *= f.shape_[i]
    ptrs[0] = ptr(r)
    for k in range(n_in):
        ptrs[k + 1] = ptr(<TensorBase>inputs[k])
    for k in range(n_in + 1):
        rows[k], cols[k] = (s, inner * s) if inner > 1 else (n * s, s)
    if inner == 1:
        outer, inner = 1, outer
    with nogil:
        status = st_shared_rows(loop, n_in + 1, ptrs, rows, cols, outer, n * inner * s, inner, n)
    if status == ST_NO_MEMORY:
        raise MemoryError(f"{kernel}: no memory for rows of {n} elements")
    return r
