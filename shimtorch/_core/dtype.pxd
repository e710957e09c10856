# The codes are those of ST_* in _kernels/kernels.h: one numbering for tensors and loops.
cdef enum:
    BOOL = 0
    UINT8 = 1
    INT8 = 2
    INT16 = 3
    INT32 = 4
    INT64 = 5
    FLOAT16 = 6
    BFLOAT16 = 7
    FLOAT32 = 8
    FLOAT64 = 9
    COMPLEX64 = 10
    COMPLEX128 = 11
    UINT16 = 12
    UINT32 = 13
    UINT64 = 14
    NDTYPES = 15

# What kind of numbers a dtype holds; a higher category wins in promotion.
cdef enum:
    CAT_BOOL = 0
    CAT_INT = 1
    CAT_FLOAT = 2
    CAT_COMPLEX = 3

cdef class dtype:
    cdef readonly str name
    cdef readonly int code
    cdef readonly int itemsize
    cdef int category
    cdef int npnum          # NumPy's type number, -1 for bfloat16
    cdef object np          # NumPy's dtype, made when first asked for

cdef int ITEMSIZE[15]
cdef int CATEGORY[15]
cdef int NPNUM[15]

cdef dtype dtype_of(int code)
cdef object numpy_dtype(int code)
cdef int code_of_numpy(object np_dtype) except -1
cdef int as_code(object obj) except -1
cdef int promote(int a, int b) noexcept nogil
cdef int default_code() noexcept
cdef int promote_checked(int a, int b) except -1
cdef int default_complex_code() noexcept
cdef int real_code(int code) noexcept
