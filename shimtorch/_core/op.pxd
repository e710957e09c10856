from cpython.object cimport PyObject

from .history cimport Differentiable
from .tensor cimport TensorBase

ctypedef PyObject* (*vectorcallfunc)(PyObject* self, PyObject** args, size_t nargsf, PyObject* kwnames)

cdef class Op(Differentiable):
    cdef vectorcallfunc vectorcall
    cdef public object forward
    cdef public object __doc__
    cdef public tuple defaults         # of those; `missing` where there is none
    cdef readonly int n_positional
    cdef readonly bint has_varargs
    cdef public bint overloads         # torch has several forms of it; says so when a call fits none
    cdef public bint tensors_only      # numbers do not do for `other` and its like
    cdef public bint takes_list
    cdef public object sparse          # the forward for sparse operands; True: `forward` takes them too
    cdef public bint sparse_composed   # it is differentiated through the ops that it calls
    cdef public object cuda            # the forward for operands on a CUDA device; True: `forward` takes them too
    cdef public object legacy          # rewrites argument forms of old versions
    cdef int legacy_min
    cdef public dict renames           # keyword aliases
    cdef public bint has_out
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

cdef object device_forward(Op op, int flags, object impl)
cdef object call(Op op, object f, PyObject** args, Py_ssize_t n, PyObject* kwnames)
cdef object call_op(Op op, object args, object kwargs)
cdef object legacy_form(Op op, PyObject** args, Py_ssize_t n, PyObject* kwnames)
cdef bint needs_rewrite(Op op, PyObject** args, Py_ssize_t n, tuple kwnames)
cdef object rewrite_call(Op op, PyObject** args, Py_ssize_t n, tuple kwnames)
cdef int check_cast(int source, int target) except -1
cdef TensorBase checked_tensor(Op op, object x)
cdef object mark_volatile(object result)
cdef void enable_vectorcall(type t)
cdef int scan_flags(PyObject** args, Py_ssize_t n, bint lists) noexcept
