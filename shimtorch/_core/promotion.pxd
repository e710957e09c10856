cdef int result_code(object a, object b) except -1
