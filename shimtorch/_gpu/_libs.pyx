"""The libraries of CUDA: products of matrices by cuBLAS."""
from .._core.dtype cimport (
    BFLOAT16, COMPLEX64, COMPLEX128, FLOAT16, FLOAT32, FLOAT64, dtype_of,
)
from .._core.iterate cimport contiguous_copy
from .._core.tensor cimport TensorBase, device_ptr
from ._device cimport DevicePlace
from .cublas cimport (
    CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_64F, CUBLAS_GEMM_DEFAULT, CUBLAS_OP_N,
    CUBLAS_OP_T, CUBLAS_STATUS_SUCCESS, CUDA_C_32F, CUDA_C_64F, CUDA_R_16BF, CUDA_R_16F, CUDA_R_32F, CUDA_R_64F,
    cublasCreate, cublasGemmStridedBatchedEx, cublasGetVersion, cublasHandle_t, cublasOperation_t, cublasSetStream,
)

from .._core.dtype import scalar_type
from .._core.tensor import DeviceDtypeError
from . import switches

cdef extern from *:
    """
    /* a handle for each thread and device, as the library wants it */
    static _Thread_local cublasHandle_t shim_blas_handles[64];
    """
    void* shim_blas_handles[64]

cdef extern from "limits.h":
    enum: INT_MAX

cdef dict _STATUS = {
    1: "NOT_INITIALIZED", 3: "ALLOC_FAILED", 7: "INVALID_VALUE", 8: "ARCH_MISMATCH", 11: "MAPPING_ERROR",
    13: "EXECUTION_FAILED", 14: "INTERNAL_ERROR", 15: "NOT_SUPPORTED",
}

cdef int check_blas(int status, str call) except -1:
    if status != CUBLAS_STATUS_SUCCESS:
        raise RuntimeError(f"CUDA error: CUBLAS_STATUS_{_STATUS.get(status, status)} when calling `{call}`")
    return 0


cdef cublasHandle_t blas(DevicePlace place) except NULL:
    """This thread's handle for a device, on the current stream."""
    cdef int i = place.index
    cdef void* stream = place.stream()
    if shim_blas_handles[i] == NULL:
        check_blas(cublasCreate(<cublasHandle_t*>&shim_blas_handles[i]), "cublasCreate(handle)")
    check_blas(cublasSetStream(<cublasHandle_t>shim_blas_handles[i], stream), "cublasSetStream(handle, stream)")
    return <cublasHandle_t>shim_blas_handles[i]


def blas_version(DevicePlace place not None):
    """The version of cuBLAS."""
    cdef int version = 0
    check_blas(cublasGetVersion(blas(place), &version), "cublasGetVersion(handle, version)")
    return version


cdef int data_type(int code) except -1:
    if code == FLOAT32:
        return CUDA_R_32F
    if code == FLOAT64:
        return CUDA_R_64F
    if code == FLOAT16:
        return CUDA_R_16F
    if code == BFLOAT16:
        return CUDA_R_16BF
    if code == COMPLEX64:
        return CUDA_C_32F
    if code == COMPLEX128:
        return CUDA_C_64F
    raise DeviceDtypeError(f"\"addmm_cuda\" not implemented for '{scalar_type(dtype_of(code))}'")


# A factor as cuBLAS takes it: column-major, so a matrix of contiguous rows is its transpose.
ctypedef struct Factor:
    cublasOperation_t op
    int lead
    long long step


cdef bint describe(TensorBase t, Factor* f) noexcept:
    """Whether a batch of matrices (b, rows, columns) can be read as it lies."""
    cdef Py_ssize_t rows = t.shape_[1], columns = t.shape_[2], by_row = t.strides_[1], by_column = t.strides_[2]
    f.step = t.strides_[0] if t.shape_[0] > 1 else 0
    if (by_column == 1 or columns == 1) and (by_row >= max(columns, 1) or rows == 1):
        f.op = CUBLAS_OP_N
        f.lead = <int>max(by_row, columns, 1) if rows > 1 else <int>max(columns, 1)
        return by_row <= INT_MAX
    if (by_row == 1 or rows == 1) and (by_column >= max(rows, 1) or columns == 1):
        f.op = CUBLAS_OP_T
        f.lead = <int>max(by_column, rows, 1) if columns > 1 else <int>max(rows, 1)
        return by_column <= INT_MAX
    return False


def products(TensorBase c not None, TensorBase a not None, TensorBase b not None):
    """c = a @ b for batches (b, m, k) and (b, k, n) of one dtype on one device; c is contiguous."""
    cdef Factor fa, fb
    cdef float[2] one32 = [1, 0]
    cdef float[2] zero32 = [0, 0]
    cdef double[2] one64 = [1, 0]
    cdef double[2] zero64 = [0, 0]
    cdef bint wide = c.code == FLOAT64 or c.code == COMPLEX128
    cdef int kind = data_type(c.code)
    cdef Py_ssize_t m = c.shape_[1], n = c.shape_[2], k = a.shape_[2]
    if a.impl is not c.impl or b.impl is not c.impl:
        raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                           f"{a.device} and {b.device}!")
    if max(m, n, k, c.shape_[0]) > INT_MAX:
        raise NotImplementedError(f"products of matrices with more than {INT_MAX} rows or columns are not implemented "
                                  f"for device '{c.device}'")
    if not describe(a, &fa):
        a = contiguous_copy(a)
        describe(a, &fa)
    if not describe(b, &fb):
        b = contiguous_copy(b)
        describe(b, &fb)
    check_blas(cublasGemmStridedBatchedEx(
        blas(<DevicePlace>c.impl), fb.op, fa.op, <int>n, <int>m, <int>k,
        <void*>one64 if wide else <void*>one32, device_ptr(b), kind, fb.lead, fb.step,
        device_ptr(a), kind, fa.lead, fa.step,
        <void*>zero64 if wide else <void*>zero32, device_ptr(c), kind, <int>n, m * n, <int>c.shape_[0],
        CUBLAS_COMPUTE_64F if wide else CUBLAS_COMPUTE_32F_FAST_TF32 if c.code == FLOAT32 and switches.allow_tf32
        else CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
        f"cublasGemmStridedBatchedEx(m={n}, n={m}, k={k}, batch={c.shape_[0]})")
