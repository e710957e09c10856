"""The two names of everything: ``shimtorch.nn`` is called ``torch.nn`` while shimtorch stands in for torch."""

from importlib.machinery import ModuleSpec
from types import FunctionType, ModuleType

from .._core.type_names import assign_module, is_static

OWN = "shimtorch"
ALIAS = "torch"
_PRIVATE = OWN + "._shim", OWN + ".__main__"


def is_own(name):
    """Whether a dotted name lies in shimtorch and has a torch name as well; this package and ``__main__`` have none."""
    return _within(name, OWN) and not name.startswith(_PRIVATE)


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


class BorrowedSpec(ModuleSpec):
    """A spec of one name for a module of another package, in which its relative imports still find their way."""

    def __init__(self, name, loader, parent, origin=None):
        super().__init__(name, loader, origin=origin)
        self.has_location = origin is not None
        self._parent = parent

    @property
    def parent(self):
        return self._parent


class Renaming:
    """Modules, and the classes and functions they hold, under other names; `undo` gives them back what they had.

    `concerns` says which names change, `convert` to what. A class's ``__module__`` decides its repr and under which
    name it is pickled, so it follows the name under which others can import it.
    """

    def __init__(self, concerns, convert):
        self._concerns = concerns
        self._convert = convert
        self._changes = []

    def add(self, module):
        """Rename one module and what is defined in it; what has its new name already is left alone."""
        spec = getattr(module, "__spec__", None)
        for owner, field in ((module, "__name__"), (module, "__package__"), (spec, "name")):
            self._change(owner, field)
        for loader in (getattr(spec, "loader", None), getattr(module, "__loader__", None)):
            self._change(loader, "name")
        for value in list(getattr(module, "__dict__", {}).values()):
            self._add_value(value)

    def undo(self):
        """Give everything the name it had."""
        while self._changes:
            owner, field, value = self._changes.pop()
            _assign(owner, field, value)

    def _add_value(self, value):
        if isinstance(value, type):
            if self._change(value, "__module__"):
                for member in list(vars(value).values()):
                    self._add_value(member)
        elif isinstance(value, (staticmethod, classmethod)):
            self._add_value(value.__func__)
        elif _has_own_module(value):
            self._change(value, "__module__")

    def _change(self, owner, field):
        """Whether an attribute held a name that is another one now."""
        old = getattr(owner, field, None)
        if not isinstance(old, str) or not self._concerns(old):
            return False
        try:
            _assign(owner, field, self._convert(old))
        except (AttributeError, TypeError):
            return False
        self._changes.append((owner, field, old))
        return True


def _has_own_module(value):
    """Whether an object that is no class has a ``__module__`` of its own and not its type's: functions and ops have."""
    if isinstance(value, FunctionType) or type(value).__name__ == "cython_function_or_method":
        return True
    return not isinstance(value, ModuleType) and "__module__" in getattr(value, "__dict__", ())


def _assign(owner, field, value):
    """Assign, also past a metaclass that guards its classes' attributes, and to compiled types."""
    if is_static(owner):
        assign_module(owner, value)
    elif isinstance(owner, type):
        line = vars(owner).get("__firstlineno__")
        type.__setattr__(owner, field, value)
        if line is not None:  # Python 3.13 takes a new module for a new source, and forgets the line
            type.__setattr__(owner, "__firstlineno__", line)
    else:
        setattr(owner, field, value)
