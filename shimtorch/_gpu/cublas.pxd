# The part of cuBLAS that is used.
from .cudart cimport cudaStream_t

cdef extern from "cublas_v2.h" nogil:
    ctypedef void* cublasHandle_t
    ctypedef int cublasStatus_t
    ctypedef int cublasOperation_t
    ctypedef int cublasComputeType_t
    ctypedef int cublasGemmAlgo_t
    ctypedef int cudaDataType
    enum:
        CUBLAS_STATUS_SUCCESS
        CUBLAS_OP_N
        CUBLAS_OP_T
        CUBLAS_COMPUTE_32F
        CUBLAS_COMPUTE_32F_FAST_TF32
        CUBLAS_COMPUTE_64F
        CUBLAS_GEMM_DEFAULT
        CUDA_R_16F
        CUDA_R_16BF
        CUDA_R_32F
        CUDA_R_64F
        CUDA_C_32F
        CUDA_C_64F
    cublasStatus_t cublasCreate(cublasHandle_t* handle)
    cublasStatus_t cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
    cublasStatus_t cublasGetVersion(cublasHandle_t handle, int* version)
    cublasStatus_t cublasGemmStridedBatchedEx(
        cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
        const void* alpha, const void* a, cudaDataType a_type, int lda, long long a_step, const void* b,
        cudaDataType b_type, int ldb, long long b_step, const void* beta, void* c, cudaDataType c_type, int ldc,
        long long c_step, int batch, cublasComputeType_t compute, cublasGemmAlgo_t algo)
