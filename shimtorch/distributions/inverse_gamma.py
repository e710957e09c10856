"""The inverse gamma distribution (torch.distributions.inverse_gamma)."""

import math

from .. import _ops
from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """The reciprocal of a gamma number of shape *concentration* and *rate*."""

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True

    def __init__(self, concentration, rate, validate_args=None):
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(exponent=-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self):
        """The shape of the gamma number."""
        return self.base_dist.concentration

    @property
    def rate(self):
        """The rate of the gamma number."""
        return self.base_dist.rate

    @property
    def mean(self):
        value = self.rate / (self.concentration - 1)
        return _ops.where(self.concentration > 1, value, _ops.full_like(value, math.inf))

    @property
    def mode(self):
        return self.rate / (self.concentration + 1)

    @property
    def variance(self):
        a = self.concentration
        value = self.rate.square() / ((a - 1).square() * (a - 2))
        return _ops.where(a > 2, value, _ops.full_like(value, math.inf))

    def entropy(self):
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
