"""Activation functions and the softmax family."""
from .._core.kinds import unary
from .._core.op import op
from .._core.products import by_rows
from . import samples
from .samples import Draw, Samples, call

unary("relu", samples=samples.unary(away_from=0, dtypes="real"),
      grads={"self": lambda g, out: g * (out > 0).to(g.dtype)})


def _cast_input(self, dtype):
    if dtype is not None:
        return self.to(dtype)
    return self


_softmax_samples = Samples([call(Draw(3, 4), 1), call(Draw(3, 4), 0), call(Draw(2, 3, 4), 1), call(Draw(), 0)])


@op(name="_softmax", function=False, method=False, backward_name="SoftmaxBackward0",
    grads={"self": lambda g, out, dim: (g - (g * out).sum(dim, True)) * out})
def softmax_op(self, dim):
    return by_rows("softmax", (self,), dim)


@op(name="_log_softmax", function=False, method=False, backward_name="LogSoftmaxBackward0",
    grads={"self": lambda g, out, dim: g - out.exp() * g.sum(dim, True)})
def log_softmax_op(self, dim):
    return by_rows("log_softmax", (self,), dim)


@op(samples=_softmax_samples)
def softmax(self, dim=None, dtype=None):
    """``exp(x) / sum(exp(x))`` along a dimension."""
    return softmax_op(_cast_input(self, dtype), dim)


@op(samples=_softmax_samples)
def log_softmax(self, dim=None, dtype=None):
    """The logarithm of softmax along a dimension, computed without overflow."""
    return log_softmax_op(_cast_input(self, dtype), dim)
