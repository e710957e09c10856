# The CUDA runtime's interface, as far as it is used.
cdef extern from "cuda_runtime_api.h" nogil:
    ctypedef int cudaError_t
    ctypedef int cudaMemcpyKind
    ctypedef void* cudaStream_t
    ctypedef void* cudaEvent_t
    enum:
        cudaSuccess
        cudaErrorMemoryAllocation
        cudaErrorInsufficientDriver
        cudaErrorNoDevice
        cudaErrorNotReady
        cudaErrorNotSupported
        cudaMemcpyHostToDevice
        cudaMemcpyDeviceToHost
        cudaMemcpyDeviceToDevice
        cudaMemcpyDefault
        cudaStreamNonBlocking
        cudaEventDefault
        cudaEventBlockingSync
        cudaEventDisableTiming
        CUDART_VERSION
    cdef struct cudaDeviceProp:
        char name[256]
        size_t totalGlobalMem
        int major
        int minor
        int multiProcessorCount
        int warpSize
        int maxThreadsPerBlock
        int maxThreadsPerMultiProcessor

    cudaError_t cudaGetDeviceCount(int* count)
    cudaError_t cudaGetDevice(int* device)
    cudaError_t cudaSetDevice(int device)
    cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device)
    cudaError_t cudaRuntimeGetVersion(int* version)
    cudaError_t cudaMemGetInfo(size_t* available, size_t* total)
    cudaError_t cudaMallocHost(void** at, size_t bytes)
    cudaError_t cudaFreeHost(void* at)
    cudaError_t cudaMemcpyAsync(void* to, const void* from_, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream)
    cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream)
    cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags)
    cudaError_t cudaStreamSynchronize(cudaStream_t stream)
    cudaError_t cudaStreamQuery(cudaStream_t stream)
    cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
    cudaError_t cudaDeviceSynchronize()
    cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags)
    cudaError_t cudaEventDestroy(cudaEvent_t event)
    cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
    cudaError_t cudaEventSynchronize(cudaEvent_t event)
    cudaError_t cudaEventQuery(cudaEvent_t event)
    cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end)
    cudaError_t cudaGetLastError()
    const char* cudaGetErrorString(cudaError_t error)
