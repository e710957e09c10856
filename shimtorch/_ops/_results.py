"""Named results of ops with several: ``torch.return_types.max(values=..., indices=...)``."""
from .._core.policy import policy


class _Result(tuple):
    """A tuple whose items have names; a plain tuple in eras before 1.1."""

    __slots__ = ()
    _fields = ()

    def __new__(cls, values):
        return tuple.__new__(cls, values) if policy.named_results else tuple(values)

    def __repr__(self):
        items = ",\n".join(f"{name}={value!r}" for name, value in zip(self._fields, self))
        return f"torch.return_types.{type(self).__name__}(\n{items})"

    def __reduce__(self):
        return rebuild, (type(self).__name__, tuple(self))


TYPES = {}


def named(name, *fields):
    """The class of the named result ``name``; it is called with the items, in one tuple."""
    namespace = {"__slots__": (), "_fields": fields, "__module__": "shimtorch.return_types"}
    for i, field in enumerate(fields):
        namespace[field] = property(lambda self, i=i: tuple.__getitem__(self, i))
    TYPES[name] = type(name, (_Result,), namespace)
    return TYPES[name]


def rebuild(name, values):
    return tuple.__new__(TYPES[name], values)
