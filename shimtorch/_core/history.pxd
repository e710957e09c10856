from .autograd cimport Node
from .tensor cimport TensorBase

# What a parameter of a derivative rule is.
cdef enum Kind:
    K_G, K_OUT, K_ARG, K_SHAPE, K_DTYPE, K_AUX, K_NEEDS

cdef class Rule:
    cdef object f
    cdef bint joint                    # gives a tuple, one gradient per slot
    cdef int n_slots, n_params
    cdef int slots[16]                 # the differentiable arguments whose gradients it gives
    cdef int kinds[16]                 # what each of its parameters is
    cdef int indices[16]

cdef class Differentiable:
    cdef public str __name__
    cdef public tuple params           # names, positional then keyword-only, then *name
    cdef int n_params
    cdef public tuple aux              # names of further results of forward that only the rules see
    cdef list rules                    # None: composite
    cdef public bint materialize_grads  # rules get zeros, else None, for results that no gradient came from
    cdef int n_diff
    cdef int diff_args[16]             # positions of the differentiable arguments
    cdef object node_class
    cdef public str backward_name
    cdef object choose_name            # gives backward_name from some of the arguments, where it depends on them
    cdef tuple name_args               # their positions

cdef class OpNode(Node):
    cdef Differentiable op
    cdef list values
    cdef list versions
    cdef object out
    cdef bint saves_tensors            # then backward can run only until they are let go
    cdef list shapes_of
    cdef list dtypes_of
    cdef tuple spans
    cdef object aux_values

    cdef object call_rule(self, Rule rule, object g)
    cdef object unpack(self, int index)
    cdef list materialize(self, list g)

cdef bint recording(int flags) noexcept
cdef object strip_aux(object result, Py_ssize_t n)
cdef object node_class(Differentiable op, list values)
cdef OpNode record(Differentiable op, list values, object result, bint inplace)
cdef object record_aux(Differentiable op, list values, object result)
