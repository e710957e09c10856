from libc.stdint cimport int64_t

from .cudart cimport cudaError_t, cudaStream_t

cdef extern from "alloc.h" nogil:
    enum: SHIM_POOLS
    ctypedef struct shim_counter:
        int64_t current, peak, allocated, freed
    ctypedef struct shim_memory_stats:
        shim_counter bytes[3]
        shim_counter blocks[3]
        shim_counter reserved[3]
        shim_counter segments[3]
        shim_counter requested[3]
        int64_t retries, failures
    cudaError_t shim_allocate(int device, size_t n, cudaStream_t stream, void** at)
    void shim_release(void* at)
    void shim_used_by(void* at, cudaStream_t stream)
    cudaError_t shim_empty_cache(int device)
    void shim_limit_memory(int device, int64_t bytes)
    void shim_memory_statistics(int device, shim_memory_stats* out)
    void shim_reset_peaks(int device)
    void shim_reset_totals(int device)
