"""Parts that several distributions have in common."""

import math

from .. import _ops
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform
from .utils import lazy_property, logits_to_probs, probs_to_logits


class ParameterShape:
    """Of a distribution given by *probs* or by *logits*: which of them it was, and its shape."""

    @property
    def _param(self):
        return self.__dict__.get("probs", self.__dict__.get("logits"))

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._param.size()


class BinaryOdds:
    """A probability as *probs* or as log-odds *logits*: whichever was not given follows from the other."""

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)


class Half(TransformedDistribution):
    """The absolute value of numbers of a distribution that is symmetric around 0, and has a *scale*."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base, validate_args=None):
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self):
        """The scale of the symmetric distribution."""
        return self.base_dist.scale

    @property
    def mode(self):
        return self.scale.new_zeros(self.scale.shape)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = self._as_value(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return _ops.where(value >= 0, log_prob, _ops.full_like(log_prob, -math.inf))

    def _as_value(self, value):
        return value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
