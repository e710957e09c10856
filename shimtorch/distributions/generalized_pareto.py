"""The generalized Pareto distribution (torch.distributions.generalized_pareto)."""

import math

from .. import _ops
from .._core import TensorBase
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, is_number

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds *loc*, in units of *scale*, with a tail of the given *concentration*.

    Concentration 0 is the exponential distribution, -1 the uniform one; from 1 on there is no mean.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True

    def __init__(self, loc, scale, concentration, validate_args=None):
        given = (loc, scale, concentration)
        self.loc, self.scale, self.concentration = broadcast_all(*given)
        super().__init__(() if all(map(is_number, given)) else self.loc.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(GeneralizedPareto, batch_shape, _instance, ("loc", "scale", "concentration"))

    def _tail(self):
        """Where the concentration counts as 0; and the concentration, 1 there, so that nothing is divided by 0."""
        flat = _ops.isclose(self.concentration, _ops.zeros_like(self.concentration))
        return flat, _ops.where(flat, _ops.ones_like(self.concentration), self.concentration)

    def _excess(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return (value - self.loc) / self.scale

    def rsample(self, sample_shape=()):
        return self.icdf(_ops.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device))

    def log_prob(self, value):
        z = self._excess(value)
        flat, k = self._tail()
        slope = 1 / k + _ops.ones_like(z)
        return -self.scale.log() - _ops.where(flat, z, _ops.where(slope == 0, slope, slope * (k * z).log1p()))

    def log_survival_function(self, value):
        """The logarithm of the probability to exceed *value*."""
        z = self._excess(value)
        flat, k = self._tail()
        return _ops.where(flat, -z, -(k * z).log1p() / k)

    def log_cdf(self, value):
        """The logarithm of ``cdf``."""
        return (-self.log_survival_function(value).exp()).log1p()

    def cdf(self, value):
        return self.log_cdf(value).exp()

    def icdf(self, value):
        flat, k = self._tail()
        log_rest = value.neg().log1p() if isinstance(value, TensorBase) else math.log1p(-value)
        curved = self.loc + self.scale / k * (-k * log_rest).expm1()
        return _ops.where(flat, self.loc - self.scale * log_rest, curved)

    @property
    def mean(self):
        exists = self.concentration < 1
        k = _ops.where(exists, self.concentration, 0.5)
        return _ops.where(exists, self.loc + self.scale / (1 - k), math.nan)

    @property
    def variance(self):
        exists = self.concentration < 0.5
        k = _ops.where(exists, self.concentration, 0.25)
        return _ops.where(exists, self.scale ** 2 / ((1 - k) ** 2 * (1 - 2 * k)), math.nan)

    @property
    def mode(self):
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        end = _ops.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, end)

    def entropy(self):
        return (self.scale.log() + self.concentration + 1).expand(self._batch_shape)
