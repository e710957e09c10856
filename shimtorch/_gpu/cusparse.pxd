# The part of cuSPARSE that is used: its generic interface. Descriptors are plain pointers here, for which of them are
# const differs between versions.
from libc.stdint cimport int64_t

from .cudart cimport cudaStream_t

cdef extern from "cusparse.h" nogil:
    ctypedef void* cusparseHandle_t
    ctypedef void* cusparseSpMatDescr_t
    ctypedef void* cusparseDnMatDescr_t
    ctypedef void* cusparseDnVecDescr_t
    ctypedef void* cusparseSpGEMMDescr_t
    ctypedef int cusparseStatus_t
    ctypedef int cusparseOperation_t
    ctypedef int cusparseIndexType_t
    ctypedef int cusparseIndexBase_t
    ctypedef int cusparseOrder_t
    ctypedef int cusparseSpMMAlg_t
    ctypedef int cusparseSpMVAlg_t
    ctypedef int cusparseSDDMMAlg_t
    ctypedef int cusparseSpGEMMAlg_t
    ctypedef int cudaDataType
    enum:
        CUSPARSE_VERSION
        CUSPARSE_STATUS_SUCCESS
        CUSPARSE_STATUS_INSUFFICIENT_RESOURCES
        CUSPARSE_OPERATION_NON_TRANSPOSE
        CUSPARSE_OPERATION_TRANSPOSE
        CUSPARSE_INDEX_64I
        CUSPARSE_INDEX_BASE_ZERO
        CUSPARSE_ORDER_ROW
        CUSPARSE_SPMM_CSR_ALG2
        CUSPARSE_SPMM_CSR_ALG3
        CUSPARSE_SPMV_CSR_ALG2
        CUSPARSE_SDDMM_ALG_DEFAULT
        CUSPARSE_SPGEMM_DEFAULT
        CUSPARSE_SPGEMM_ALG2
        CUSPARSE_SPGEMM_ALG3
        CUDA_R_32F
        CUDA_R_64F
        CUDA_C_32F
        CUDA_C_64F
    cusparseStatus_t cusparseCreate(cusparseHandle_t* handle)
    cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream)
    cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version)
    const char* cusparseGetErrorName(cusparseStatus_t status)
    cusparseStatus_t cusparseCreateCsr(
        cusparseSpMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t nnz, void* pointer, void* indices,
        void* values, cusparseIndexType_t pointer_type, cusparseIndexType_t index_type, cusparseIndexBase_t base,
        cudaDataType type)
    cusparseStatus_t cusparseDestroySpMat(cusparseSpMatDescr_t matrix)
    cusparseStatus_t cusparseSpMatGetSize(cusparseSpMatDescr_t matrix, int64_t* rows, int64_t* columns, int64_t* nnz)
    cusparseStatus_t cusparseCsrSetPointers(cusparseSpMatDescr_t matrix, void* pointer, void* indices, void* values)
    cusparseStatus_t cusparseCreateDnMat(cusparseDnMatDescr_t* matrix, int64_t rows, int64_t columns, int64_t lead,
                                         void* values, cudaDataType type, cusparseOrder_t order)
    cusparseStatus_t cusparseDestroyDnMat(cusparseDnMatDescr_t matrix)
    cusparseStatus_t cusparseCreateDnVec(cusparseDnVecDescr_t* vector, int64_t n, void* values, cudaDataType type)
    cusparseStatus_t cusparseDestroyDnVec(cusparseDnVecDescr_t vector)
    cusparseStatus_t cusparseSpMM_bufferSize(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
        cusparseSpMMAlg_t algorithm, size_t* size)
    cusparseStatus_t cusparseSpMM(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseDnMatDescr_t b, const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
        cusparseSpMMAlg_t algorithm, void* buffer)
    cusparseStatus_t cusparseSpMV_bufferSize(
        cusparseHandle_t handle, cusparseOperation_t op_a, const void* alpha, cusparseSpMatDescr_t a,
        cusparseDnVecDescr_t x, const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
        cusparseSpMVAlg_t algorithm, size_t* size)
    cusparseStatus_t cusparseSpMV(
        cusparseHandle_t handle, cusparseOperation_t op_a, const void* alpha, cusparseSpMatDescr_t a,
        cusparseDnVecDescr_t x, const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
        cusparseSpMVAlg_t algorithm, void* buffer)
    cusparseStatus_t cusparseSDDMM_bufferSize(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseDnMatDescr_t a, cusparseDnMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSDDMMAlg_t algorithm, size_t* size)
    cusparseStatus_t cusparseSDDMM(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseDnMatDescr_t a, cusparseDnMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSDDMMAlg_t algorithm, void* buffer)
    cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* product)
    cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t product)
    cusparseStatus_t cusparseSpGEMM_workEstimation(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, size_t* size, void* buffer)
    cusparseStatus_t cusparseSpGEMM_compute(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, size_t* size, void* buffer)
    cusparseStatus_t cusparseSpGEMM_estimateMemory(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product, float chunk, size_t* size3, void* buffer3,
        size_t* size2)
    cusparseStatus_t cusparseSpGEMM_copy(
        cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
        cusparseSpMatDescr_t a, cusparseSpMatDescr_t b, const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
        cusparseSpGEMMAlg_t algorithm, cusparseSpGEMMDescr_t product)
