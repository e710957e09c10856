"""The two names of everything: ``shimtorch.nn`` is called ``torch.nn`` while shimtorch stands in for torch."""

from types import FunctionType, ModuleType

OWN = "shimtorch"
ALIAS = "torch"
_PRIVATE = OWN + "._shim", OWN + ".__main__"


def is_own(name):
    """Whether a dotted name lies in shimtorch and has a torch name as well; this package and ``__main__`` have none."""
    return _within(name, OWN) and not any(_within(name, private) for private in _PRIVATE)


def is_alias(name):
    """Whether a dotted name lies in torch."""
    return _within(name, ALIAS)


def as_alias(name):
    """``shimtorch.nn`` -> ``torch.nn``."""
    return ALIAS + name[len(OWN):]


def as_own(name):
    """``torch.nn`` -> ``shimtorch.nn``."""
    return OWN + name[len(ALIAS):]


def _within(name, package):
    return name == package or name.startswith(package + ".")


class Renaming:
    """Modules of shimtorch, and the classes and functions they hold, under their torch names until `undo`.

    A class's ``__module__`` decides its repr and under which name it is pickled, so it follows the name by which
    its module can be imported elsewhere. Types compiled without a ``__module__`` of their own keep their name.
    """

    def __init__(self):
        self._changes = []

    def add(self, module):
        """Rename one module and what is defined in it; what has its torch name already is left alone."""
        self._rename_field(module, "__name__")
        self._rename_field(module, "__package__")
        self._rename_field(getattr(module, "__loader__", None), "name")
        for value in list(vars(module).values()):
            self._rename(value)

    def change(self, owner, field, value):
        """Set an attribute; `undo` gives it its old value."""
        old = getattr(owner, field)
        _assign(owner, field, value)
        self._changes.append((owner, field, old))

    def undo(self):
        """Give everything the name it had."""
        while self._changes:
            owner, field, value = self._changes.pop()
            _assign(owner, field, value)

    def _rename(self, value):
        if isinstance(value, type):
            if self._rename_field(value, "__module__"):
                for member in list(vars(value).values()):
                    self._rename(member)
        elif isinstance(value, (staticmethod, classmethod)):
            self._rename(value.__func__)
        elif _has_own_module(value):
            self._rename_field(value, "__module__")

    def _rename_field(self, owner, field):
        """Whether an attribute held a name of shimtorch, which is torch's now."""
        old = getattr(owner, field, None)
        if not isinstance(old, str) or not is_own(old):
            return False
        try:
            self.change(owner, field, as_alias(old))
        except (AttributeError, TypeError):
            return False
        return True


def _has_own_module(value):
    """Whether an object that is no class has a ``__module__`` of its own and not its type's: functions and ops have."""
    if isinstance(value, FunctionType) or type(value).__name__ == "cython_function_or_method":
        return True
    return not isinstance(value, ModuleType) and "__module__" in getattr(value, "__dict__", ())


def _assign(owner, field, value):
    """Assign past a metaclass that guards its classes' attributes."""
    if isinstance(owner, type):
        type.__setattr__(owner, field, value)
    else:
        setattr(owner, field, value)
