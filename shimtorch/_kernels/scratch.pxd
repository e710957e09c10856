"""Temporary memory for kernels, kept for the next call."""

cdef void* scratch(Py_ssize_t size) noexcept nogil
cdef void* zeroed_scratch(Py_ssize_t size) noexcept nogil
cdef void release(void* block) noexcept nogil
