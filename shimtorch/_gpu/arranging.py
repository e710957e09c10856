"""Rearrangements on a device: reversing, rolling, triangles, repeating."""
from .._core import OPS, factory
from .._core.dtype import int64
from .._core.pointwise import chosen
from .._ops.arranging import flipped_dims, rolled_dims
from .._ops.shape import wrap
from . import _dense


def _counting(n, device):
    return OPS["torch.arange"](n, dtype=int64, device=device)


def flip(self, *dims):
    """The order of the elements reversed along dimensions."""
    places = flipped_dims(dims, self.dim())
    result = OPS["torch.empty_like"](self)
    _dense.flip_into(result, self, set(places) if self.dim() else ())
    return result


def roll(self, shifts, dims=()):
    """Elements moved along dimensions; what leaves at one end comes in at the other."""
    shifts, dims = rolled_dims(shifts, dims, self.dim())
    if not dims:
        return roll(self.reshape(-1), shifts, (0,)).reshape(self.shape)
    x = self
    for shift, dim in zip(shifts, dims):
        n = x.shape[wrap(dim, x.dim())]
        start = -shift % n if n else 0
        x = factory.cat([x.narrow(dim, start, n - start), x.narrow(dim, 0, start)], dim)
    return x


def _places(size, before, after, mode, device):
    """For every place of a padded dimension the one of the unpadded dimension that it comes from."""
    places = OPS["torch.arange"](-before, size + after, dtype=int64, device=device)
    if mode == "replicate":
        return places.clamp(0, size - 1)
    if mode == "circular":
        return places.remainder(size)
    return size - 1 - (size - 1 - places.abs()).abs()


def pad_edges(self, before, after, mode):
    """The last dimensions continued beyond their ends."""
    for dim, (b, a) in enumerate(zip(before, after), self.dim() - len(before)):
        if b or a:
            self = OPS["torch.index_select"](self, dim, _places(self.shape[dim], b, a, mode, self.device))
    return self


def pad_fold(grad, before, after, mode):
    """The gradient of pad_edges."""
    for dim, (b, a) in enumerate(zip(before, after), grad.dim() - len(before)):
        if b or a:
            size = list(grad.shape)
            size[dim] -= b + a
            places = _places(size[dim], b, a, mode, grad.device)
            grad = OPS["torch.index_add_"](grad.new_zeros(size), dim, places, grad)
    return grad


def _triangle(x, diagonal, lower, name):
    if x.dim() < 2:
        raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
    diagonal = max(min(diagonal, 1 << 40), -1 << 40)
    rows, columns = _counting(x.shape[-2], x.device).unsqueeze(1), _counting(x.shape[-1], x.device)
    kept = columns <= rows + diagonal if lower else columns >= rows + diagonal
    return chosen(kept, x.contiguous(), x.new_zeros(()))


def tril(self, diagonal=0):
    """The lower triangle of matrices; the rest is 0."""
    return _triangle(self, diagonal, True, "tril")


def triu(self, diagonal=0):
    """The upper triangle of matrices; the rest is 0."""
    return _triangle(self, diagonal, False, "triu")


def repeat_interleave(self, repeats=None, dim=None, *, output_size=None):
    """Each element repeated, so often or as often as a tensor says; with one argument, each index so often."""
    if repeats is None:
        self, repeats = _counting(self.numel(), self.device), self
    if dim is None:
        self, dim = self.reshape(-1), 0
    n = self.shape[wrap(dim, self.dim())] if self.dim() else 1
    if isinstance(repeats, type(self)) and repeats.dim() <= 1 and repeats.numel() == 1:
        repeats = repeats.item()
    if not isinstance(repeats, type(self)):
        if repeats < 0:
            raise RuntimeError("Repeats must be non-negative")
        places = _counting(n * repeats, self.device).div(max(repeats, 1), rounding_mode="trunc")
        return self.index_select(dim, places)
    if repeats.dim() > 1 or repeats.dtype.name not in ("int64", "int32"):
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat" if repeats.dim() > 1 else
                           "repeats has to be Long or Int tensor")
    if len(repeats) != n:
        raise RuntimeError("repeats must have the same size as input along dim, but got repeats.size(0) = "
                           f"{len(repeats)} and input.size({dim}) = {n}")
    if n and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    ends = repeats.to(int64).cumsum(0)
    total = int(ends[-1]) if n else 0
    places = _dense.search(ends, _counting(total, self.device), True)
    return self.index_select(dim, places)
