"""Splitting a tensor along a dimension; all pieces are views."""
from .._core import OPS, views
from .._core.declaring import op
from .._core.tensor import TensorBase
from .samples import Draw, Samples, call, integers
from .shape import wrap

_number = dict(dtypes="number")


@op(name="split_with_sizes", backward_name="SplitBackward0", samples=Samples([call(Draw(5, 2), [2, 3])], **_number),
    grads={"self": lambda g, dim: OPS["torch.cat"](list(g) if isinstance(g, (list, tuple)) else [g], dim)})
def split_sizes(self, split_sizes, dim=0):
    """Pieces of the listed sizes along a dimension."""
    return views.several(self, dim, split_sizes)


def _need_dims(x, name, n=1):
    if x.dim() < n:
        raise RuntimeError(f"{name} expects at least a {n}-dimensional tensor")


@op(renames={"tensor": "self", "split_size_or_sections": "split_size"},
    samples=Samples([call(Draw(5, 2), 2), call(Draw(5, 2), (1, 4)), call(Draw(5, 4), 3, 1), call(Draw(0, 2), 3)],
                    **_number))
def split(self, split_size, dim=0):
    """Pieces of a size (the last may be smaller), or of the listed sizes, along a dimension."""
    _need_dims(self, "split")
    n = self.shape[wrap(dim, self.dim())]
    if isinstance(split_size, (tuple, list)):
        if sum(split_size) != n:
            raise RuntimeError(f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at "
                               f"dimension {dim}), but got split_sizes={list(split_size)}")
        return split_sizes(self, list(split_size), dim)
    if not hasattr(split_size, "__index__"):
        raise TypeError("split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
                        f"{type(split_size).__name__}")
    if split_size < 0:
        raise RuntimeError(f"split expects split_size be non-negative, but got split_size={split_size}")
    if split_size == 0 and n:
        raise RuntimeError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {n}")
    return split_sizes(self, [min(split_size, n - i) for i in range(0, n, max(split_size, 1))] or [0], dim)


@op(renames={"tensor": "self", "n_chunks": "chunks"},
    samples=Samples([call(Draw(5, 2), 2), call(Draw(2, 4), 3, 1), call(Draw(0, 2), 2)], **_number))
def chunk(self, chunks, dim=0):
    """At most ``chunks`` pieces of equal size (the last may be smaller) along a dimension."""
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    _need_dims(self, "chunk")
    n = self.shape[wrap(dim, self.dim())]
    if n == 0:
        return split_sizes(self, [0] * chunks, dim)
    return self.split(-(-n // chunks), dim)


def _recorded_split(self, split_sizes, dim=0):
    """Pieces of the listed sizes along a dimension."""
    return self.split_with_sizes(split_sizes, dim)


for _name, _op, _call in (("unsafe_split", split, call(Draw(5, 2), 2)), ("unsafe_chunk", chunk, call(Draw(5, 2), 2)),
                          ("unsafe_split_with_sizes", split_sizes, call(Draw(5, 2), [2, 3]))):
    op(_op.forward if _op.differentiable is None else _recorded_split, name=_name, samples=Samples([_call], **_number))


@op(renames={"sections": "indices_or_sections", "indices": "indices_or_sections"}, samples=Samples([
    call(Draw(5, 2), 3), call(Draw(5, 2), (1, 3)), call(Draw(2, 5), (3, 1, 9), 1),
    call(Draw(5), integers(2, low=1, high=4))],
    **_number))
def tensor_split(self, indices_or_sections, dim=0):
    """So many pieces of nearly equal size, or pieces cut at the listed indices."""
    if self.dim() == 0:
        raise RuntimeError("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    n = self.shape[wrap(dim, self.dim())]
    cuts = indices_or_sections.tolist() if isinstance(indices_or_sections, TensorBase) else indices_or_sections
    if not isinstance(cuts, (tuple, list)):
        if cuts <= 0:
            raise RuntimeError(f"number of sections must be larger than 0, got {cuts}")
        if cuts > 1 << 32:
            raise RuntimeError(f"tensor_split: {cuts} sections are more than memory holds")
        small, extra = divmod(n, cuts)
        return split_sizes(self, [small + (i < extra) for i in range(cuts)], dim)
    starts, ends = [0, *cuts], [*cuts, n]
    return tuple(self[(slice(None),) * wrap(dim, self.dim()) + (slice(a, b),)] for a, b in zip(starts, ends))


def _along(name, least, dim, doc, samples):
    def forward(self, indices_or_sections):
        if self.dim() < least:
            raise RuntimeError(f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with "
                               f"{self.dim()} dimensions!")
        d = 0 if self.dim() == 1 else dim
        if not isinstance(indices_or_sections, (tuple, list)):
            if not hasattr(indices_or_sections, "__index__"):
                raise TypeError(f"{name}() received an invalid combination of arguments - got (Tensor, "
                                f"{type(indices_or_sections).__name__}), but expected one of:\n * (Tensor input, int "
                                "sections)\n * (Tensor input, tuple of ints indices)")
            if indices_or_sections < 1 or self.shape[d] % indices_or_sections:
                raise RuntimeError(f"torch.{name} attempted to split along dimension {d}, but the size of the "
                                   f"dimension {self.shape[d]} is not divisible by the split_size "
                                   f"{indices_or_sections}!")
        return self.tensor_split(indices_or_sections, d)
    forward.__name__, forward.__doc__ = name, doc
    op(forward, samples=Samples(samples, **_number),
       renames={"sections": "indices_or_sections", "indices": "indices_or_sections"})


_along("hsplit", 1, 1, "Pieces along the second dimension (the only one of a vector).",
       [call(Draw(3, 4), 2), call(Draw(6), 3), call(Draw(3, 4), (1, 2))])
_along("vsplit", 2, 0, "Pieces along the first dimension.", [call(Draw(4, 3), 2), call(Draw(3, 4), (1, 2))])
_along("dsplit", 3, 2, "Pieces along the third dimension.", [call(Draw(2, 2, 4), 2), call(Draw(2, 2, 3), (1, 2))])
