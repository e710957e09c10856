"""What can be done to tensors: one family of ops a file. Importing this package declares them all."""
from .._core import METHODS, OPS, engine, window
from .._core.factory import as_tensor, empty_tensor, full, ones, tensor, zeros  # noqa: F401
from .._tensor import Tensor
from . import (  # noqa: F401  (declarations)
    activation,
    along,
    arithmetic,
    arranging,
    bags,
    bilinear,
    callbacks,
    chains,
    columns,
    comparison,
    contraction,
    convolution,
    copying,
    counting,
    creation,
    ctc,
    distances,
    dropout,
    exchange,
    geometry,
    indexing,
    joining,
    later,
    masking,
    members,
    nn,
    normalisation,
    norms,
    order,
    pointwise,
    pooling,
    products,
    random,
    recurrent,
    reduction,
    resampling,
    scan,
    scattering,
    shape,
    sparse,
    sparse_methods,
    special,
    splitting,
)

for _name, _method in METHODS.items():
    setattr(Tensor, _name, _method)
for _name, _family in later.METHODS.items():
    setattr(Tensor, _name, later.LaterMethod(_name, _family))

Tensor.real, Tensor.imag = property(OPS["torch.real"]), property(OPS["torch.imag"])
Tensor.T = property(lambda self: self.permute(tuple(range(self.dim() - 1, -1, -1))), doc="The dimensions reversed.")
Tensor.mT, Tensor.H, Tensor.mH = property(shape.mT), property(shape.H), property(shape.mH)

Tensor.__rdiv__ = Tensor.__rtruediv__

for _name, _member in (*members.METHODS.items(), *members.ATTRIBUTES.items()):
    setattr(Tensor, _name, _member)

Tensor.__dlpack__, Tensor.__dlpack_device__ = exchange.dlpack, exchange.dlpack_device

engine.bind_ops({name: OPS["torch." + name] for name in ("add", "to", "clone", "zeros_like")} | {
    name: METHODS[name] for name in ("add_", "sum_to_size")})
window.bind_ops({name: OPS["torch." + name] for name in (
    "as_strided", "as_strided_scatter", "as_strided_backward", "clone", "view_as_complex", "view_as_real")})


empty = empty_tensor


def __getattr__(name):
    for space in ("torch.", "torch.nn.functional."):
        if space + name in OPS:
            return OPS[space + name]
    if (found := later.function(name)) is not None:
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
