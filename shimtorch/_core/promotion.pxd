cdef int number_code(object x) except -1
cdef int result_code(object a, object b) except -1
