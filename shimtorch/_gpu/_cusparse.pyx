"""cuSPARSE: products with sparse matrices in compressed rows, of float32, float64, complex64 and complex128.

Row pointers and columns are int64, dense matrices have adjacent columns. A matrix is never transposed by the library,
whose results would then depend on how its blocks run.
"""
from libc.stdint cimport int64_t

from .._core.dtype cimport COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, INT64, ITEMSIZE, UINT8
from .._core.iterate cimport contiguous_copy
from .._core.tensor cimport TensorBase, device_ptr, empty_at, write_scalar
from ._device cimport DevicePlace
from .cusparse cimport *

cdef extern from *:
    """
    /* a handle for each thread and device */
    static _Thread_local cusparseHandle_t shim_sparse_handles[64];
    """
    void* shim_sparse_handles[64]

cdef enum:
    LEAST_SPACE = 16                   # bytes of a workspace, also where the library asks for none
    MOST_COLUMNS = 1048560             # of a dense factor, for versions before 12.7.2, whose grids overflow

cdef int version = 0                   # of the library in use, once asked


cdef int check_sparse(int status, str call) except -1:
    if status != CUSPARSE_STATUS_SUCCESS:
        raise RuntimeError(f"CUDA error: {cusparseGetErrorName(status).decode()} when calling `{call}`")
    return 0


cdef cusparseHandle_t handle_on(DevicePlace place) except NULL:
    """This thread's handle for a device, on the current stream."""
    global version
    cdef int i = place.index
    cdef void* stream = place.stream()
    if shim_sparse_handles[i] == NULL:
        check_sparse(cusparseCreate(<cusparseHandle_t*>&shim_sparse_handles[i]), "cusparseCreate(handle)")
        if version == 0:
            check_sparse(cusparseGetVersion(<cusparseHandle_t>shim_sparse_handles[i], &version),
                         "cusparseGetVersion(handle, version)")
            if version < CUSPARSE_VERSION:
                import warnings
                warnings.warn(f"shimtorch was built with cuSPARSE {CUSPARSE_VERSION}, but {version} is in use: another "
                              "package may have opened it first", stacklevel=2)
    check_sparse(cusparseSetStream(<cusparseHandle_t>shim_sparse_handles[i], stream),
                 "cusparseSetStream(handle, stream)")
    return <cusparseHandle_t>shim_sparse_handles[i]


def versions(DevicePlace place not None):
    """The version of cuSPARSE that was built against, and of the one in use."""
    handle_on(place)
    return CUSPARSE_VERSION, version


cdef int data_type(int code) except -1:
    if code == FLOAT32:
        return CUDA_R_32F
    if code == FLOAT64:
        return CUDA_R_64F
    if code == COMPLEX64:
        return CUDA_C_32F
    if code == COMPLEX128:
        return CUDA_C_64F
    raise RuntimeError(f"cuSPARSE is not used for dtype code {code}")


cdef TensorBase space(DevicePlace place, size_t size):
    """A workspace on the current stream."""
    cdef Py_ssize_t n = max(size, LEAST_SPACE)
    return empty_at(place, UINT8, 1, &n)


cdef class Descriptor:
    """A descriptor of the library's, given back when this dies."""
    cdef cusparseSpMatDescr_t matrix
    cdef cusparseDnMatDescr_t dense
    cdef cusparseDnVecDescr_t vector
    cdef cusparseSpGEMMDescr_t product
    cdef object kept                   # the tensors whose memory it names

    def __dealloc__(self):
        if self.matrix != NULL:
            cusparseDestroySpMat(self.matrix)
        if self.dense != NULL:
            cusparseDestroyDnMat(self.dense)
        if self.vector != NULL:
            cusparseDestroyDnVec(self.vector)
        if self.product != NULL:
            cusparseSpGEMM_destroyDescr(self.product)


cdef Descriptor rows_of(TensorBase pointer, TensorBase columns, TensorBase values, int64_t n_columns):
    """A matrix in compressed rows."""
    cdef Descriptor d = Descriptor()
    if not columns.contiguous_:
        columns = contiguous_copy(columns)
    if pointer.code != INT64 or columns.code != INT64 or not (
            pointer.contiguous_ and values.contiguous_) or columns.count != values.count:
        raise RuntimeError("a matrix in compressed rows for cuSPARSE has parts that do not fit")
    d.kept = pointer, columns, values
    check_sparse(cusparseCreateCsr(
        &d.matrix, pointer.count - 1, n_columns, values.count, device_ptr(pointer), device_ptr(columns),
        device_ptr(values), CUSPARSE_INDEX_64I, CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, data_type(values.code)),
        f"cusparseCreateCsr(rows={pointer.count - 1}, cols={n_columns}, nnz={values.count})")
    return d


cdef Descriptor dense_of(TensorBase t, int64_t first, int64_t width):
    """Some columns of a matrix whose columns are neighbours."""
    cdef Descriptor d = Descriptor()
    cdef int64_t lead = t.strides_[0] if t.shape_[0] > 1 else max(t.shape_[1], 1)
    d.kept = t
    check_sparse(cusparseCreateDnMat(
        &d.dense, t.shape_[0], width, lead, device_ptr(t) + first * ITEMSIZE[t.code], data_type(t.code),
        CUSPARSE_ORDER_ROW), f"cusparseCreateDnMat(rows={t.shape_[0]}, cols={width}, ld={lead})")
    return d


cdef Descriptor vector_of(TensorBase t):
    cdef Descriptor d = Descriptor()
    d.kept = t
    check_sparse(cusparseCreateDnVec(&d.vector, t.count, device_ptr(t), data_type(t.code)),
                 f"cusparseCreateDnVec(size={t.count})")
    return d


def multiply_rows(TensorBase pointer not None, TensorBase columns not None, TensorBase values not None,
                  TensorBase other not None, TensorBase out not None, alpha=1, beta=0, bint deterministic=False):
    """out = alpha * A @ other + beta * out, A given by rows; nothing in it is empty.

    deterministic: by an algorithm that gives the same bits every time.
    """
    cdef DevicePlace place = <DevicePlace?>out.impl
    cdef char[16] a
    cdef char[16] b
    cdef cusparseHandle_t handle = handle_on(place)
    cdef Descriptor matrix, x, y
    cdef size_t size = 0
    cdef int kind = data_type(out.code)
    cdef int algorithm = CUSPARSE_SPMM_CSR_ALG3 if deterministic else CUSPARSE_SPMM_CSR_ALG2
    cdef int64_t width = out.shape_[1], step = width, first = 0
    write_scalar(a, out.code, alpha)
    write_scalar(b, out.code, beta)
    matrix = rows_of(pointer, columns, values, other.shape_[0])
    if width == 1 and other.contiguous_ and out.contiguous_:
        x, y = vector_of(other), vector_of(out)
        call = f"cusparseSpMV(rows={out.shape_[0]}, cols={other.shape_[0]}, nnz={values.count})"
        check_sparse(cusparseSpMV_bufferSize(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, a, matrix.matrix, x.vector, b,
                                             y.vector, kind, CUSPARSE_SPMV_CSR_ALG2, &size), call + " (bufferSize)")
        work = space(place, size)
        check_sparse(cusparseSpMV(handle, CUSPARSE_OPERATION_NON_TRANSPOSE, a, matrix.matrix, x.vector, b, y.vector,
                                  kind, CUSPARSE_SPMV_CSR_ALG2, device_ptr(<TensorBase>work)), call)
        return out
    if version < 12720 and width > MOST_COLUMNS:
        step = MOST_COLUMNS
    while first < width:
        step = min(step, width - first)
        x, y = dense_of(other, first, step), dense_of(out, first, step)
        call = f"cusparseSpMM(rows={out.shape_[0]}, cols={step}, nnz={values.count})"
        check_sparse(cusparseSpMM_bufferSize(
            handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, a, matrix.matrix, x.dense, b,
            y.dense, kind, algorithm, &size), call + " (bufferSize)")
        work = space(place, size)
        check_sparse(cusparseSpMM(
            handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_NON_TRANSPOSE, a, matrix.matrix, x.dense, b,
            y.dense, kind, algorithm, device_ptr(<TensorBase>work)), call)
        first += step
    return out


def sample(TensorBase pointer not None, TensorBase columns not None, TensorBase a not None, TensorBase b not None):
    """a @ b.T at the entries of a matrix given by rows; nothing in it is empty."""
    cdef DevicePlace place = <DevicePlace?>a.impl
    cdef char[16] one
    cdef char[16] zero
    cdef cusparseHandle_t handle = handle_on(place)
    cdef Py_ssize_t nnz = columns.count
    cdef TensorBase values = empty_at(place, a.code, 1, &nnz)
    cdef Descriptor matrix = rows_of(pointer, columns, values, b.shape_[0])
    cdef Descriptor x = dense_of(a, 0, a.shape_[1]), y = dense_of(b, 0, b.shape_[1])
    cdef size_t size = 0
    cdef int kind = data_type(a.code)
    write_scalar(one, a.code, 1)
    write_scalar(zero, a.code, 0)
    call = f"cusparseSDDMM(rows={a.shape_[0]}, cols={b.shape_[0]}, k={a.shape_[1]}, nnz={nnz})"
    check_sparse(cusparseSDDMM_bufferSize(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, one, x.dense, y.dense, zero,
        matrix.matrix, kind, CUSPARSE_SDDMM_ALG_DEFAULT, &size), call + " (bufferSize)")
    work = space(place, size)
    check_sparse(cusparseSDDMM(
        handle, CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE, one, x.dense, y.dense, zero,
        matrix.matrix, kind, CUSPARSE_SDDMM_ALG_DEFAULT, device_ptr(<TensorBase>work)), call)
    return values


def multiply_sparse(a, b, int64_t inner, int64_t n_columns):
    """The product of two matrices given by rows, (pointer, columns, values): the same of it, columns in any order.

    inner: the columns of a; n_columns: those of b. Where the memory of one algorithm does not do, the next is tried.
    """
    for algorithm in (CUSPARSE_SPGEMM_DEFAULT, CUSPARSE_SPGEMM_ALG2, CUSPARSE_SPGEMM_ALG3):
        result = product_by(a, b, inner, n_columns, algorithm)
        if result is not None:
            return result
    raise RuntimeError("CUDA error: CUSPARSE_STATUS_INSUFFICIENT_RESOURCES when calling `cusparseSpGEMM_compute(...)`")


cdef object product_by(a, b, int64_t inner, int64_t n_columns, int algorithm):
    """The product by one algorithm; None where its resources do not do."""
    cdef TensorBase values = a[2], pointer, columns, out, first, second, third
    cdef DevicePlace place = <DevicePlace?>values.impl
    cdef char[16] one
    cdef char[16] zero
    cdef cusparseHandle_t handle = handle_on(place)
    cdef Descriptor x = rows_of(a[0], a[1], a[2], inner), y = rows_of(b[0], b[1], b[2], n_columns), z, product
    cdef Py_ssize_t n = (<TensorBase>a[0]).count
    cdef int64_t rows = 0, width = 0, nnz = 0
    cdef size_t size = 0, size3 = 0
    cdef int kind = data_type(values.code), status, none = CUSPARSE_OPERATION_NON_TRANSPOSE
    write_scalar(one, values.code, 1)
    write_scalar(zero, values.code, 0)
    pointer = empty_at(place, INT64, 1, &n)
    product, z = Descriptor(), Descriptor()
    call = f"(rows={n - 1}, inner={inner}, cols={n_columns})"
    check_sparse(cusparseCreateCsr(&z.matrix, n - 1, n_columns, 0, device_ptr(pointer), NULL, NULL, CUSPARSE_INDEX_64I,
                                   CUSPARSE_INDEX_64I, CUSPARSE_INDEX_BASE_ZERO, kind), "cusparseCreateCsr" + call)
    check_sparse(cusparseSpGEMM_createDescr(&product.product), "cusparseSpGEMM_createDescr")
    status = cusparseSpGEMM_workEstimation(handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm,
                                           product.product, &size, NULL)
    if status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
        return None
    check_sparse(status, "cusparseSpGEMM_workEstimation" + call)
    first = space(place, size)
    check_sparse(cusparseSpGEMM_workEstimation(handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind,
                                               algorithm, product.product, &size, device_ptr(first)),
                 "cusparseSpGEMM_workEstimation" + call)
    if algorithm == CUSPARSE_SPGEMM_DEFAULT:
        status = cusparseSpGEMM_compute(handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm,
                                        product.product, &size, NULL)
        if status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
            return None
        check_sparse(status, "cusparseSpGEMM_compute" + call)
    else:                                       # which say by another call how much they need
        check_sparse(cusparseSpGEMM_estimateMemory(
            handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm, product.product, 0.2, &size3,
            NULL, NULL), "cusparseSpGEMM_estimateMemory" + call)
        third = space(place, size3)
        check_sparse(cusparseSpGEMM_estimateMemory(
            handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm, product.product, 0.2, &size3,
            device_ptr(third), &size), "cusparseSpGEMM_estimateMemory" + call)
    second = space(place, size)
    status = cusparseSpGEMM_compute(handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm,
                                    product.product, &size, device_ptr(second))
    if status == CUSPARSE_STATUS_INSUFFICIENT_RESOURCES:
        return None
    check_sparse(status, "cusparseSpGEMM_compute" + call)
    check_sparse(cusparseSpMatGetSize(z.matrix, &rows, &width, &nnz), "cusparseSpMatGetSize")
    n = nnz
    columns, out = empty_at(place, INT64, 1, &n), empty_at(place, values.code, 1, &n)
    check_sparse(cusparseCsrSetPointers(z.matrix, device_ptr(pointer), device_ptr(columns), device_ptr(out)),
                 "cusparseCsrSetPointers")
    check_sparse(cusparseSpGEMM_copy(handle, none, none, one, x.matrix, y.matrix, zero, z.matrix, kind, algorithm,
                                     product.product), "cusparseSpGEMM_copy" + call)
    return pointer, columns, out
