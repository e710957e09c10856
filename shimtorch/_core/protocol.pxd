from cpython.object cimport PyObject

cdef extern from *:
    """
    #ifndef SHIMTORCH_PLAIN
    #define SHIMTORCH_PLAIN
    /* Whether none of the arguments can have a __torch_function__ of its own: each is a Tensor proper, or of a type
       that no class statement made (numbers, None, tuples, dtypes ...). */
    static inline int shimtorch_plain(PyObject **args, Py_ssize_t n, PyObject *tensor) {
        for (Py_ssize_t i = 0; i < n; i++) {
            PyTypeObject *t = Py_TYPE(args[i]);
            if (t != (PyTypeObject *)tensor && (t->tp_flags & Py_TPFLAGS_HEAPTYPE)) return 0;
        }
        return 1;
    }
    #endif
    """
    bint plain "shimtorch_plain"(PyObject** args, Py_ssize_t n, PyObject* tensor) noexcept

cdef PyObject* tensor_type             # torch.Tensor; borrowed
cdef int active_modes                  # TorchFunctionModes entered, in any thread

cdef bint overridden(PyObject** args, Py_ssize_t n, bint lists) noexcept
cdef object dispatch(object func, PyObject** args, Py_ssize_t n, PyObject* kwnames, bint lists)
cdef object dispatch_operator(object func, PyObject** args, Py_ssize_t n)
cdef int enter_disabled(bint modes) noexcept
cdef void leave_disabled(int before) noexcept
