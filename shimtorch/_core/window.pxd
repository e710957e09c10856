from .tensor cimport TensorBase

cdef class Window:
    cdef object size, stride           # of the view, in elements of its dtype
    cdef Py_ssize_t offset             # from the base's first element
    cdef int code
    cdef bint overlapping              # the view shows an element more than once
    cdef object order                  # the base's dimensions as they lie in memory; None: as they are
    cdef object back                   # ... and the way back
    cdef object opened_size            # of the base's memory, as the view sees it
    cdef int between                   # views of another dtype: parts of complex numbers, or pairs as complex numbers
    cdef object ordered_size           # of the base in the order of its memory

    cdef object opened(self, object g)
    cdef object closed(self, object g)
    cdef object take(self, object g)
    cdef object put(self, object g, object piece)
    cdef object spread(self, object piece)

cdef Window window_of(TensorBase view)
cdef object dense_order(TensorBase t)
