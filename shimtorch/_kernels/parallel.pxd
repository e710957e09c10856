# The declarations of parallel.h; other modules take st_parallel from table.pxd.

cdef extern from "parallel.h" nogil:
    ctypedef void (*st_body)(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    void st_parallel(Py_ssize_t n, Py_ssize_t grain, st_body body, void* context) noexcept
    void st_set_threads(int n) noexcept
    int st_threads() noexcept
    int st_threaded() noexcept
