"""Convolutions and pooling on a device. Maps are unfolded into columns, which cuBLAS multiplies; nothing is unfolded
where each window is one element of the map."""
from math import prod

from .._core.dtype import int64, scalar_type
from . import _dense, combining, indexing, load

# How many elements the columns of one product may have; more examples are taken in turn.
_MOST = 1 << 25


def _ready(*tensors):
    return [t if t is None or t.is_contiguous() else t.contiguous() for t in tensors]


def _is_plain(size, kernel, out, stride, before):
    """Whether the map is its own columns."""
    return prod(kernel) == 1 and set(stride) == {1} and not any(before) and tuple(size) == tuple(out)


def _pieces(n, columns):
    """The examples in runs whose columns are not too many."""
    step = max(1, _MOST // max(columns, 1))
    return [(first, min(step, n - first)) for first in range(0, n, step)]


def _multiply(weight, columns):
    """weight (G, a, k) times columns (N, G, k, p): (N, G, a, p), in as few calls as the shorter of N and G allows."""
    n, groups, k, p = columns.shape
    result = columns.new_empty((n, groups, weight.shape[1], p))
    if 0 in result.shape:
        return result
    if groups <= n:
        for g in range(groups):
            part = result[:, g] if groups == 1 else result.new_empty((n, weight.shape[1], p))
            load.libraries().products(part, weight[g].expand(n, -1, -1), columns[:, g])
            if groups > 1:
                result[:, g] = part
    else:
        for i in range(n):
            load.libraries().products(result[i], weight, columns[i])
    return result


def conv_gather(big, weight, bias, out, stride, before, dilation, groups):
    """(N, groups * b, *big) seen through the weight (groups * s, b, *kernel): (N, groups * s, *out)."""
    big, weight = _ready(big, weight)
    kernel, n, p = tuple(weight.shape[2:]), big.shape[0], prod(out)
    k = weight.shape[1] * prod(kernel)
    weights, parts = weight.reshape(groups, weight.shape[0] // groups, k), []
    for first, count in _pieces(n, groups * k * p):
        maps = big.narrow(0, first, count)
        if _is_plain(big.shape[2:], kernel, out, stride, before):
            columns = maps
        else:
            columns = _dense.unfold(maps, kernel, out, stride, before, dilation, False)
        parts.append(_multiply(weights, columns.reshape(count, groups, k, p)))
    if not parts:
        return big.new_empty((0, weight.shape[0], *out))
    result = _joined(parts).reshape(n, weight.shape[0], *out)
    return result if bias is None else result.add_(bias.reshape(-1, *(1,) * len(out)))


def conv_spread(small, weight, bias, out, stride, before, dilation, groups):
    """(N, groups * s, *small) spread through the weight (groups * s, b, *kernel): (N, groups * b, *out)."""
    small, weight = _ready(small, weight)
    kernel, n, p = tuple(weight.shape[2:]), small.shape[0], prod(small.shape[2:])
    k = weight.shape[1] * prod(kernel)
    each, channels = weight.shape[0] // groups, weight.shape[1] * groups
    turned = weight.reshape(groups, each, k).transpose(1, 2)
    parts = []
    for first, count in _pieces(n, groups * k * p):
        maps = small.narrow(0, first, count)
        columns = _multiply(turned, maps.reshape(count, groups, each, p))
        if _is_plain(out, kernel, small.shape[2:], stride, before):
            parts.append(columns.reshape(count, channels, *out))
        else:
            parts.append(_dense.fold(columns.reshape(count, groups * k, p), (count, channels, *out), kernel,
                                     tuple(small.shape[2:]), stride, before, dilation))
    result = _joined(parts) if parts else small.new_empty((0, channels, *out))
    return result if bias is None else result.add_(bias.reshape(-1, *(1,) * len(out)))


def conv_weigh(small, big, kernel, stride, before, dilation, groups):
    """The products of a small and a big map summed up for every element of the weight."""
    small, big = _ready(small, big)
    n, p, b = small.shape[0], prod(small.shape[2:]), big.shape[1] // groups
    k, each, shape = b * prod(kernel), small.shape[1] // groups, (small.shape[1], b, *kernel)
    result = None
    for first, count in _pieces(n, groups * k * p):
        columns = _dense.unfold(big.narrow(0, first, count), kernel, tuple(small.shape[2:]), stride, before, dilation,
                                True).reshape(groups, k, count * p)
        maps = small.narrow(0, first, count).reshape(count, groups, each, p).permute(1, 2, 0, 3)
        part = small.new_empty((groups, each, k))
        if part.numel():
            load.libraries().products(part, maps.reshape(groups, each, count * p), columns.transpose(1, 2))
        result = part if result is None else result.add_(part)
    return small.new_zeros(shape) if result is None else result.reshape(shape)


def _joined(parts):
    if len(parts) == 1:
        return parts[0]
    from .._core.factory import cat
    return cat(parts)


# ---------------------------------------------------------------- pooling

def pool_max(self, out, windows):
    """The largest element of every window, and its place in the plane."""
    if self.dtype.name == "bool":
        raise NotImplementedError("\"max_pool\" not implemented for 'Bool'")
    name = f"max_pool{len(out)}d"
    return _dense.pool_max(*_ready(self), tuple(out), windows, name if windows else "adaptive_" + name)


def pool_mean(self, out, windows):
    """The mean of every window."""
    name = f"avg_pool{len(out)}d" if windows else f"adaptive_avg_pool{len(out)}d"
    if not self.is_floating_point() and self.dtype is not int64:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_type(self.dtype)}'")
    return _dense.pool_mean(*_ready(self), tuple(out), windows, name)


def pool_spread_mean(grad, size, windows):
    """What every element of an input of a size gets of the gradients of its windows' means."""
    return _dense.pool_spread(*_ready(grad), tuple(size), windows)


def _planes(t, leading):
    return t.reshape(prod(t.shape[:leading]), prod(t.shape[leading:]))


def _with_places(look_up, *args):
    try:
        return look_up(*args)
    except IndexError as error:
        raise RuntimeError(f"Found an invalid max index: {error}") from None


def pool_put(self, indices, out, add):
    """Planes (N, C, *out), zero but where indices put self's elements: one that was put, or the sum of all."""
    leading = self.dim() - len(out)
    wide = self.float() if add and self.dtype.itemsize < 4 else self
    result = wide.new_zeros((*self.shape[:leading], *out))
    scatter = indexing.scatter_add_ if add else combining.scatter_
    if self.numel():
        _with_places(scatter, _planes(result, leading), 1, _planes(indices, leading), _planes(wide, leading))
    return result if wide is self else result.to(self.dtype)


def pool_take(self, indices):
    """The elements of the planes of self (N, C, ...) that indices (N, C, ...) name."""
    if not indices.numel():
        return self.new_empty(indices.shape)
    return _with_places(indexing.gather, _planes(self, 2), 1, _planes(indices, 2)).reshape(indices.shape)
