from .._kernels.table cimport st_loop, st_nest_dim, st_nest_fn, st_reduce, st_small_fn
from .tensor cimport TensorBase

cdef class Step:
    cdef readonly int out              # the slot of its result
    cdef tuple sources                 # the slots that it reads
    cdef tuple frees                   # the slots that nothing after it reads
    cdef int kind, code, ndim, n_out
    cdef st_nest_dim* dims
    cdef Py_ssize_t* shape             # of the result
    cdef Py_ssize_t m, n, k
    cdef Py_ssize_t sa[2]
    cdef Py_ssize_t sb[2]
    cdef Py_ssize_t sc[2]
    cdef Py_ssize_t work               # products, or elements, of all loops
    cdef bint sums_alike               # sums of the dtype have the dtype
    cdef bint tiled                    # a copy that turns a matrix
    cdef bint add                      # several products are added up: the result starts from zeros
    cdef st_loop loop
    cdef st_nest_fn nest
    cdef st_small_fn small
    cdef st_reduce reduce

    cdef TensorBase run(self, list slots, bint final)
    cdef int run_shared(self, int n, char** p) noexcept nogil
    cdef int run_part(self, int n, char** p, int d, Py_ssize_t begin, Py_ssize_t end) noexcept nogil
    cdef int run_loops(self, int n, char** p, const st_nest_dim* dims) noexcept nogil

cdef class Plan:
    cdef int n_operands, n_slots, code, result_code, ndim
    cdef bint is_view, is_zero, casts
    cdef Py_ssize_t* seen              # dtype, rank, shape and strides of every operand
    cdef Py_ssize_t n_seen
    cdef Py_ssize_t* shape             # of the result
    cdef Py_ssize_t* strides           # ... where it is a view
    cdef readonly list steps
    cdef readonly tuple tree           # (slot, slot or -1, slot of the result): what the steps contract, for gradients
    cdef readonly tuple rows           # labels of every slot, without repetitions
    cdef readonly tuple slot_strides   # ... and how it lies in memory
    cdef readonly object terms         # labels of every operand as given
    cdef readonly object output
    cdef readonly dict sizes           # of every label
    cdef readonly object info          # the path as people read it
    cdef object stages                 # makes the result of operands, where one dtype is not enough
    cdef str form                      # what torch's node for an einsum is
    cdef readonly dict back                  # equations of the gradients
    cdef readonly int last             # the slot of the result before its dimensions were put in order

    cdef bint fits(self, tuple operands) noexcept
    cdef object run(self, tuple operands, list kept)

cdef class Equation:
    cdef readonly object source        # the string, or lists of labels
    cdef readonly object options       # (optimize, path)
    cdef list plans                    # the most recent first
    cdef Plan plan_for(self, tuple operands, bint grads)

cdef Equation labelled(tuple rows, tuple output)
cdef Equation find_equation(object source, object options)
