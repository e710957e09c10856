"""Products with one matrix that is packed once; see steps.h."""

cdef extern from "steps.h" nogil:
    ctypedef struct st_steps_kernels:
        size_t (*size)(Py_ssize_t k, Py_ssize_t m) noexcept
        void (*pack)(Py_ssize_t k, Py_ssize_t m, const void *b, Py_ssize_t row, Py_ssize_t column,
                     void *packed) noexcept
        void (*run)(Py_ssize_t n, Py_ssize_t k, Py_ssize_t m, const void *a, const void *packed, void *c) noexcept

    const st_steps_kernels *st_find_steps(int dtype) noexcept
