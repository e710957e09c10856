"""Version policies and per-thread state. The fields are written by ``shimtorch._eras`` and read everywhere."""

cdef extern from *:
    """
    typedef struct { int grad_enabled, depth, no_record; } shimtorch_thread_state;
    static _Thread_local shimtorch_thread_state shimtorch_state = {1, 0, 0};
    static shimtorch_thread_state *shimtorch_get_state(void) { return &shimtorch_state; }
    """
    ThreadState* shimtorch_get_state "(void*)shimtorch_get_state"() noexcept nogil


cdef ThreadState* thread_state() noexcept nogil:
    return shimtorch_get_state()


cdef class Policy:
    """The behaviour that differs between PyTorch versions; see ``shimtorch._eras.table``."""


class _Policy(Policy):
    """Takes the fields as well that only Python reads; they need no place in policy.pxd."""


cdef Policy _make():
    return _Policy.__new__(_Policy)


policy = _make()
globals()["policy"] = policy


cdef class inside:
    """A context in which ops run as parts of another: an era does not wrap their results."""

    def __enter__(self):
        thread_state().depth += 1

    def __exit__(self, *exc):
        thread_state().depth -= 1
