"""Dropout: elements, or whole channels, zeroed at random and the rest scaled up. The masks are those of PyTorch."""

from .._core import draws
from .._core.declaring import op
from .._core.dtype import bool as bool_dtype
from .._core.dtype import scalar_type

_ALPHA = 1.7580993408473766  # minus the limit of SELU for very negative inputs


def _draws(x, p, train):
    """Whether anything is to be drawn."""
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p:g}")
    if p == 0 or not train or x.numel() == 0:
        return False
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"result type Float can't be cast to the desired output type {scalar_type(x.dtype)}")
    return True


def _noise_shape(x, channelwise):
    """The shape of the mask: None for that of x, else one number for each (batch, channel)."""
    if not channelwise:
        return None
    if x.dim() < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    return (*x.shape[:2], *(1,) * (x.dim() - 2))


def _noise(x, p, train, channelwise):
    """What x is multiplied by; None where it stays as it is."""
    if not _draws(x, p, train):
        return None
    return x.new_zeros(()) if p == 1 else draws.keep_mask(x, _noise_shape(x, channelwise), p, True)


def _declare(name, channelwise, doc):
    """The op and its in-place form."""

    def forward(self, p, train):
        noise = _noise(self, p, train, channelwise)
        return self if noise is None else self * noise

    def forward_(self, p, train):
        noise = _noise(self, p, train, channelwise)
        return self if noise is None else self.mul_(noise)

    forward.__name__, forward_.__name__ = name, name + "_"
    forward.__doc__ = forward_.__doc__ = doc
    op(forward, method=False)
    op(forward_, method=False)


_declare("dropout", False, "Zero elements with probability p and scale the others by 1/(1-p), when ``train``.")
_declare("feature_dropout", True, "Zero whole channels with probability p and scale the others, when ``train``.")


def _declare_alpha(name, channelwise, doc):
    def parts(x, p, train):
        """Factor and summand."""
        if not _draws(x, p, train):
            return None, None
        if p == 1:
            return x.new_zeros(()), None
        a = 1.0 / ((_ALPHA * _ALPHA * p + 1) * (1 - p)) ** 0.5
        noise = draws.keep_mask(x, _noise_shape(x, channelwise), p)
        summand = (noise - 1).mul_(_ALPHA * a).add_(_ALPHA * a * p)
        return noise.mul_(a), summand

    def forward(self, p, train):
        factor, summand = parts(self, p, train)
        if factor is None:
            return self
        return self * factor if summand is None else self * factor + summand

    def forward_(self, p, train):
        factor, summand = parts(self, p, train)
        if factor is None:
            return self
        self.mul_(factor)
        return self if summand is None else self.add_(summand)

    forward.__name__, forward_.__name__ = name, name + "_"
    forward.__doc__ = forward_.__doc__ = doc
    op(forward, method=False)
    op(forward_, method=False)


_declare_alpha("alpha_dropout", False, "Dropout that keeps mean and variance of SELU activations.")
_declare_alpha("feature_alpha_dropout", True, "alpha_dropout of whole channels.")


@op(method=False)
def native_dropout(self, p, train):
    """dropout, and the mask of the elements that are kept, a bool tensor."""
    if not _draws(self, p, train is None or train):
        return self.clone(), draws.bernoulli_(self.new_empty(self.shape, dtype=bool_dtype), 1.0)
    mask = draws.bernoulli_(self.new_empty(self.shape, dtype=bool_dtype), 1 - p)
    return self * mask * (0.0 if p == 1 else 1 / (1 - p)), mask
