"""Softmax and its kin, and cumulative sums, on a device: what the row kernels are on the CPU, made of device ops."""
from ._device import scan


def _softmax(x, dim):
    e = (x - x.amax(dim, True)).exp()
    return e / e.sum(dim, True)


def _log_softmax(x, dim):
    x = x - x.amax(dim, True)
    return x - x.exp().sum(dim, True).log()


def _softmax_backward(g, out, dim):
    return (g - (g * out).sum(dim, True)) * out


def _log_softmax_backward(g, out, dim):
    return g - out.exp() * g.sum(dim, True)


_COMPOSED = {
    "softmax": _softmax, "log_softmax": _log_softmax, "softmax_backward": _softmax_backward,
    "log_softmax_backward": _log_softmax_backward,
}


def by_rows(kernel, tensors, dim):
    """A row kernel along a dimension, on contiguous tensors of one shape and dtype."""
    if kernel in ("cumsum", "cumprod"):
        return scan(kernel, tensors[0], dim)
    dtype = tensors[0].dtype
    if not tensors[0].numel():
        return tensors[0].clone()
    if dtype.itemsize == 2:            # in float32, as the kernels of the CPU do
        return _COMPOSED[kernel](*[t.float() for t in tensors], dim).to(dtype)
    return _COMPOSED[kernel](*tensors, dim)
