"""Steps of optimisers on a device, one kernel for a parameter: what ``_core/stepping.pyx`` does on the CPU."""
from . import _dense


def _plain(p, *others):
    """Whether tensors (some may be None) are alike p, a contiguous float or double."""
    return p.dtype.name in ("float32", "float64") and all(
        t is None or (t.is_cuda and not t.is_sparse and t.dtype is p.dtype and t.shape == p.shape and t.is_contiguous()
                      and t.device == p.device) for t in (p, *others))


def _step(kind, p, grad, state, numbers, *options):
    if not _plain(p, grad, *state):
        return False
    _dense.take_step(kind, p, grad, state, numbers, *options)
    return True


def sgd(p, grad, buffer, fresh, nesterov, maximize, decay, momentum, gain, lr):
    """Gradient descent; fresh: the momentum buffer is to start with the gradient."""
    return _step(_dense.SGD, p, grad, (buffer,), (-1 if maximize else 1, decay, momentum, gain, lr), fresh, nesterov)


def adam(p, grad, mean, square, largest, maximize, decay, shrink, beta1, beta2, eps, step, correction):
    """Adam; decay is added to the gradient, shrink multiplies the parameter; correction divides the root."""
    return _step(_dense.ADAM, p, grad, (mean, square, largest),
                 (-1 if maximize else 1, decay, shrink, beta1, beta2, eps, step, correction))


def adadelta(p, grad, square, delta, maximize, decay, rho, eps, lr):
    """Adadelta."""
    return _step(_dense.ADADELTA, p, grad, (square, delta), (-1 if maximize else 1, decay, rho, eps, lr))
