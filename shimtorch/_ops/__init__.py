"""What can be done to tensors: one family of ops a file. Importing this package declares them all."""
from .._core import METHODS, OPS, autograd
from .._tensor import Tensor
from . import (  # noqa: F401  (declarations)
    activation,
    comparison,
    creation,
    indexing,
    joining,
    pointwise,
    products,
    reduction,
    shape,
)

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)

autograd.bind_ops({name: OPS["torch." + name] for name in ("add", "to", "clone", "ones_like", "zeros_like")} | {
    name: METHODS[name] for name in ("add_", "sum_to_size", "as_strided", "as_strided_scatter")})


def __getattr__(name):
    try:
        return OPS["torch." + name]
    except KeyError:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None
