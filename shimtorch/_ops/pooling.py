"""Pooling of maps (N, C, ...) with one to three spatial dimensions.

``windows`` says which: None for as many even cells as ``out`` asks for, else (kernel, stride, padding, dilation,
whether padding counts in a mean, what to divide by instead of the count or 0).
"""
from .._core import lookups, pooling
from .._core.declaring import op
from .samples import Draw, Samples, call

_SPACE = dict(namespace="torch.nn.functional", method=False)
_TWO = ((2, 2), (2, 2), (0, 0), (1, 1), True, 0)
_WIDE = ((3, 2), (2, 1), (1, 0), (1, 2), False, 0)
_names = {1: "max_pool1d", 2: "max_pool2d", 3: "max_pool3d"}


def _max_name(out, windows):
    return _names[len(out)] if windows else "adaptive_" + _names[len(out)]


def _d(*shape):
    """All elements different: which of equal ones is the largest is not the question here."""
    return Draw(*shape, distinct=True)


def _max_reference(torch):
    def f(x, out, windows):
        functional = torch.nn.functional
        if windows is None:
            return getattr(functional, f"adaptive_max_pool{len(out)}d")(x, out, True)
        return getattr(functional, f"max_pool{len(out)}d")(x, *windows[:4], return_indices=True)
    return f


def _mean_reference(torch):
    def f(x, out, windows):
        functional = torch.nn.functional
        if windows is None:
            return getattr(functional, f"adaptive_avg_pool{len(out)}d")(x, out)
        more = (windows[5] or None,) if len(out) > 1 else ()
        return getattr(functional, f"avg_pool{len(out)}d")(x, *windows[:3], False, windows[4], *more)
    return f


@op(**_SPACE, backward_name="MaxPool2DWithIndicesBackward0",
    samples=Samples([call(_d(2, 3, 4, 6), (2, 3), _TWO), call(_d(1, 2, 5, 7), (3, 5), _WIDE),
                     call(_d(2, 2, 7), (3,), ((3,), (2,), (0,), (1,), True, 0)),
                     call(_d(1, 2, 3, 4, 5), (2, 3, 2), ((2, 2, 3), (1, 1, 2), (0, 0, 0), (1, 1, 1), True, 0)),
                     call(_d(1, 2, 5, 7), (2, 3), None)], reference=_max_reference),
    grads={"self": lambda g, out, self_shape: pool_put(g, out[1], tuple(self_shape[2:]), True)})
def pool_max(self, out, windows):
    """The largest element of every window, and its place in the plane."""
    return pooling.largest(self, out, windows, True, _max_name(out, windows))


@op(**_SPACE, function=False)
def pool_highest(self, out, windows):
    """The largest element of every window alone: no places are kept where no gradient will ask for them."""
    if not lookups.is_plain(self):
        return pool_max(self, out, windows)[0]
    return pooling.largest(self, out, windows, False, _max_name(out, windows))[0]


@op(**_SPACE, backward_name="AvgPool2DBackward0",
    samples=Samples([call(Draw(2, 3, 4, 6), (2, 3), _TWO), call(Draw(2, 2, 7), (3,), ((3,), (2,), (0,), (1,), True, 0)),
                     call(Draw(1, 2, 5, 7), (3, 4), ((3, 2), (2, 2), (1, 1), (1, 1), False, 0)),
                     call(Draw(1, 2, 5, 7), (3, 4), ((3, 2), (2, 2), (1, 1), (1, 1), True, 0)),
                     call(Draw(1, 2, 5, 7), (2, 3), ((2, 2), (2, 2), (0, 0), (1, 1), True, 3)),
                     call(Draw(1, 2, 3, 4, 5), (2, 3, 2), ((2, 2, 3), (1, 1, 2), (0, 0, 0), (1, 1, 1), True, 0)),
                     call(Draw(1, 2, 5, 7), (2, 3), None), call(Draw(1, 2, 3, 4, 5), (2, 1, 3), None)],
                    reference=_mean_reference),
    grads={"self": lambda g, self_shape, windows: pool_spread_mean(g, tuple(self_shape), windows)})
def pool_mean(self, out, windows):
    """The mean of every window."""
    return pooling.mean(self, out, windows, f"avg_pool{len(out)}d" if windows else f"adaptive_avg_pool{len(out)}d")


@op(**_SPACE, function=False, grads={"grad": lambda g, grad_shape, windows: pool_mean(
    g, tuple(grad_shape[2:]), windows)})
def pool_spread_mean(grad, size, windows):
    """What every element of an input of a size gets of the gradients of its windows' means."""
    return pooling.spread_mean(grad, size, windows)


@op(**_SPACE, function=False, grads={"self": lambda g, indices: pool_take(g, indices)})
def pool_put(self, indices, out, add):
    """Planes (N, C, *out), zero but where indices put self's elements: the last one put, or the sum of all."""
    return pooling.put(self, indices, out, add)


@op(**_SPACE, function=False, grads={"self": lambda g, self_shape, indices: pool_put(
    g, indices, tuple(self_shape[2:]), True)})
def pool_take(self, indices):
    """The elements of the planes of self (N, C, ...) that indices (N, C, ...) name."""
    return pooling.take(self, indices)
