cdef extern from "thin.h" nogil:
    bint st_gemm_is_thin(int dtype, Py_ssize_t m, Py_ssize_t n, Py_ssize_t k)
