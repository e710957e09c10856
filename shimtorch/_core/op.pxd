from cpython.object cimport PyObject

from .autograd cimport Node
from .tensor cimport TensorBase

ctypedef PyObject* (*vectorcallfunc)(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames)

cdef class Rule:
    cdef object f
    cdef bint joint                    # gives a tuple, one gradient per slot
    cdef int n_slots, n_params
    cdef int slots[16]                 # the differentiable arguments whose gradients it gives
    cdef int kinds[16]                 # what each of its parameters is
    cdef int indices[16]

cdef class Op:
    cdef vectorcallfunc vectorcall
    cdef public object forward
    cdef public str __name__
    cdef public object __doc__
    cdef public tuple params           # names, positional then keyword-only, then *name
    cdef public tuple defaults         # of those; `missing` where there is none
    cdef readonly int n_positional
    cdef int n_params
    cdef readonly bint has_varargs
    cdef public bint overloads         # torch has several forms of it; says so when a call fits none
    cdef public bint tensors_only      # numbers do not do for `other` and its like
    cdef public bint takes_list
    cdef public object sparse          # the forward for sparse operands; True: `forward` takes them too
    cdef public bint sparse_composed   # it is differentiated through the ops that it calls
    cdef public object cuda            # the forward for operands on a CUDA device; True: `forward` takes them too
    cdef public object cuda_sparse     # the same for sparse operands; True: what serves those on the CPU
    cdef public object legacy          # rewrites argument forms of old versions
    cdef int legacy_min
    cdef public dict renames           # keyword aliases
    cdef public bint has_out
    cdef public tuple aux              # names of further results of forward that only the rules see
    cdef list rules                    # None: composite
    cdef int n_diff
    cdef int diff_args[16]             # positions of the differentiable arguments
    cdef object node_class
    cdef public str backward_name
    cdef object choose_name            # gives backward_name from some of the arguments, where it depends on them
    cdef tuple name_args               # their positions
    cdef bint names_composite          # the last node of what the composite calls gets the name
    cdef public object samples
    cdef public object inplace_op
    cdef public tuple aliases
    cdef public bint is_method, is_function
    cdef public str namespace
    cdef dict __dict__

    cdef object invoke(self, PyObject** args, Py_ssize_t n, PyObject* kwnames)
    cdef object invoke_volatile(self, object impl, PyObject** args, Py_ssize_t n, PyObject* kwnames)
    cdef object recorded(self, object impl, PyObject** args, Py_ssize_t n, PyObject* kwnames)
    cdef list bind(self, PyObject** args, Py_ssize_t n, PyObject* kwnames)

cdef class InplaceOp(Op):
    cdef public Op base                # computes what is then copied in; None: forward itself writes
    cdef bint uses_self
    cdef bint minds_history            # the forward itself sees to tensors that require grad

    cdef object invoke_composite(self, TensorBase t, PyObject** args, Py_ssize_t n, PyObject* kwnames)
    cdef object invoke_sparse(self, TensorBase t, int flags, PyObject** args, Py_ssize_t n, PyObject* kwnames)

cdef class OpNode(Node):
    cdef Op op
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

cdef OpNode record(Op op, list values, object result, bint inplace)
cdef void enable_vectorcall(type t)
cdef int scan_flags(PyObject** args, Py_ssize_t n, bint lists) noexcept
cdef bint recording(int flags) noexcept
