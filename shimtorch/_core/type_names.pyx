"""Where compiled types say that they are defined; a class statement in Cython gives them the module's own name."""
from cpython.object cimport Py_TPFLAGS_HEAPTYPE, PyTypeObject

cdef dict _names = {}                  # dotted name: its bytes, which the types point to from then on


def is_static(cls):
    """Whether `cls` is a compiled type whose attributes cannot be assigned."""
    return isinstance(cls, type) and not (<PyTypeObject*>cls).tp_flags & Py_TPFLAGS_HEAPTYPE


def assign_module(cls, module):
    """Let ``cls.__module__`` be `module`, in reprs and pickles too, for a compiled type `cls`; returns `cls`."""
    if not is_static(cls):
        raise TypeError(f"assign_module(): {cls!r} is no compiled type")
    name = f"{module}.{cls.__qualname__}"
    cdef bytes kept = _names.setdefault(name, name.encode())
    (<PyTypeObject*>cls).tp_name = kept
    return cls
