"""Which functions ``__torch_function__`` sees, by namespace and name: the tables behind ``torch.overrides``."""
import functools
import importlib
import inspect

from ._core.op import Op
from ._core.protocol import Overridable
from ._ops import later
from ._overriding import asking, members
from ._tensor import Tensor

OWN = ("install", "uninstall", "installed", "era")      # what torch has not
SPACES = ("", "functional", "nn.functional", "nn.init", "linalg", "fft", "special")


class Tables:
    """names: {function: its full name}; overridable: {namespace: functions}; ignored; methods of Tensor."""

    def __init__(self):
        self.names, self.overridable, self.ignored, self.methods = {}, {}, set(), set()
        root = __package__
        later.load_all()
        for space in SPACES:
            module = importlib.import_module(f"{root}.{space}" if space else root)
            self.read_module(module, "torch." + space if space else "torch")
        self.read_tensor()

    def read_module(self, module, prefix):
        """The functions of a namespace."""
        found = self.overridable.setdefault(module, [])
        for name in dir(module):
            f = None if name.startswith("_") or name in OWN else getattr(module, name, None)
            if not callable(f) or isinstance(f, type):
                continue
            if isinstance(f, Op | Overridable):
                if f not in self.names:
                    found.append(f)
                    self.names[f] = f"{prefix}.{name}"
            elif getattr(f, "__module__", "").startswith(__package__):
                self.ignored.add(f)
                self.names.setdefault(f, f"{prefix}.{name}")

    def read_tensor(self):
        """Methods, and the __get__ and __set__ of attributes."""
        found = self.overridable.setdefault(Tensor, [])
        for name, member in {**vars(Tensor), **members()}.items():
            if isinstance(member, Op):
                found.append(member)
                self.methods.add(member)
                self.names.setdefault(member, f"torch.Tensor.{name}")
            elif name in members() and asking(member) is not None:
                if isinstance(asking(member), Overridable):
                    found.append(member)
                    self.methods.add(member)
                    self.names.setdefault(member, f"torch.Tensor.{name}")
                    continue
                for access in ("__get__", "__set__"):
                    f = getattr(member, access)
                    self.names[f] = f"torch.Tensor.{name}.{access}"
                    found.append(f)
        for name in ("__getitem__", "__setitem__", "__and__", "__or__", "__xor__", "__invert__", "__eq__", "__rsub__",
                     "__rdiv__", "__rpow__", "__floordiv__", "__rfloordiv__", "__rmod__", "__lshift__", "__rshift__"):
            f = getattr(Tensor, name)
            if f not in self.methods:
                found.append(f)
                self.methods.add(f)
                self.names.setdefault(f, f"torch.Tensor.{name}")


@functools.cache
def tables():
    """The tables, made when first asked for."""
    return Tables()


def signature_of(f):
    """The signature of a function that can be overridden; that of any arguments where it has none."""
    if isinstance(f, Op):
        f = f.forward
    try:
        return inspect.signature(f)
    except (TypeError, ValueError):
        return inspect.signature(lambda *args, **kwargs: None)
