from .._core.storage cimport Storage
from .cudart cimport cudaError_t, cudaStream_t

cdef int check(cudaError_t status) except -1
cdef int use(int device) except -1
cdef cudaStream_t current_stream_of(int device) noexcept
cdef Storage device_storage(int device, size_t nbytes, object place)
cdef int wait_for(cudaStream_t stream) except -1
