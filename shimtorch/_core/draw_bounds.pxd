from .._kernels.random cimport st_draw_params
from .tensor cimport TensorBase

cdef int set_range(TensorBase t, object low, object high, st_draw_params* params) except -1
