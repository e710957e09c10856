cdef extern from "move.h" nogil:
    # bytes to a place that does not overlap their own; for rows of any length rather than memcpy
    void st_move(void* to, const void* from_, size_t bytes)
