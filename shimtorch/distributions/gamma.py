"""The gamma distribution (torch.distributions.gamma)."""

from .. import _ops
from .._core import OPS
from . import constraints
from .exp_family import ExponentialFamily
from .utils import broadcast_all, is_number, tiny_of

__all__ = ["Gamma"]


def _standard_gamma(concentration):
    """Gamma numbers of rate 1; their derivative by *concentration* is known."""
    return OPS["torch._standard_gamma"](concentration)


class Gamma(ExponentialFamily):
    """The gamma distribution of shape *concentration* and *rate*."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, concentration, rate, validate_args=None):
        self.concentration, self.rate = broadcast_all(concentration, rate)
        shape = () if is_number(concentration) and is_number(rate) else self.concentration.size()
        super().__init__(shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Gamma, batch_shape, _instance, ("concentration", "rate"))

    @property
    def mean(self):
        return self.concentration / self.rate

    @property
    def mode(self):
        return ((self.concentration - 1) / self.rate).clamp(min=0)

    @property
    def variance(self):
        return self.concentration / self.rate.pow(2)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        value = _standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
        value.detach().clamp_(min=tiny_of(value))
        return value

    def log_prob(self, value):
        value = value if hasattr(value, "dim") else _ops.tensor(value, dtype=self.rate.dtype, device=self.rate.device)
        if self._validate_args:
            self._validate_sample(value)
        a, rate = self.concentration, self.rate
        return a.xlogy(rate) + (a - 1).xlogy(value) - rate * value - a.lgamma()

    def entropy(self):
        a = self.concentration
        return a - self.rate.log() + a.lgamma() + (1.0 - a) * a.digamma()

    @property
    def _natural_params(self):
        return self.concentration - 1, -self.rate

    def _log_normalizer(self, x, y):
        return (x + 1).lgamma() + (x + 1) * (-y.reciprocal()).log()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return _ops.igamma(self.concentration, self.rate * value)
