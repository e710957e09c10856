"""The continuous Bernoulli distribution (torch.distributions.continuous_bernoulli)."""

import math

from .. import _ops
from ..nn.functional import binary_cross_entropy_with_logits
from . import constraints
from ._shared import BinaryOdds, ParameterShape
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, is_number, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(BinaryOdds, ParameterShape, ExponentialFamily):
    """Numbers in [0, 1] of density proportional to probs**x (1-probs)**(1-x); by series for probs within *lims*."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        given = logits if probs is None else probs
        if probs is not None:
            (self.probs,) = broadcast_all(probs)
            if validate_args is not None and not constraints.unit_interval.check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        else:
            (self.logits,) = broadcast_all(logits)
        self._lims = lims
        super().__init__(() if is_number(given) else self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, ("probs", "logits"))
        new._lims = self._lims
        return new

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self):
        """Where the closed forms are stable."""
        return self.probs.le(self._lims[0]) | self.probs.gt(self._lims[1])

    def _cut(self):
        """The probabilities, those close to one half moved away from it."""
        return _ops.where(self._outside(), self.probs, self._lims[0] * _ops.ones_like(self.probs))

    def _cont_bern_log_norm(self):
        cut = self._cut()
        below = _ops.where(cut.le(0.5), cut, _ops.zeros_like(cut))
        above = _ops.where(cut.ge(0.5), cut, _ops.ones_like(cut))
        log_norm = ((-cut).log1p() - cut.log()).abs().log() - _ops.where(
            cut.le(0.5), (-2.0 * below).log1p(), (2.0 * above - 1.0).log())
        x = (self.probs - 0.5).pow(2)
        return _ops.where(self._outside(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        cut = self._cut()
        mean = cut / (2.0 * cut - 1.0) + 1.0 / ((-cut).log1p() - cut.log())
        x = self.probs - 0.5
        return _ops.where(self._outside(), mean, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * x.pow(2)) * x)

    @property
    def stddev(self):
        return self.variance.sqrt()

    @property
    def variance(self):
        cut = self._cut()
        variance = cut * (cut - 1.0) / (1.0 - 2.0 * cut).pow(2) + 1.0 / ((-cut).log1p() - cut.log()).pow(2)
        x = (self.probs - 0.5).pow(2)
        return _ops.where(self._outside(), variance, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        return self.icdf(_ops.rand(shape, dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        cut = self._cut()
        cdf = (cut.pow(value) * (1.0 - cut).pow(1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = _ops.where(self._outside(), cdf, value)
        inside = _ops.where(value.le(0.0), _ops.zeros_like(value), inside)
        return _ops.where(value.ge(1.0), _ops.ones_like(value), inside)

    def icdf(self, value):
        cut = self._cut()
        return _ops.where(
            self._outside(),
            ((-cut + value * (2.0 * cut - 1.0)).log1p() - (-cut).log1p()) / (cut.log() - (-cut).log1p()),
            value,
        )

    def entropy(self):
        log0, log1 = (-self.probs).log1p(), self.probs.log()
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    @property
    def _natural_params(self):
        return (self.logits,)

    def _log_normalizer(self, x):
        outside = x.le(self._lims[0] - 0.5) | x.gt(self._lims[1] - 0.5)
        cut = _ops.where(outside, x, (self._lims[0] - 0.5) * _ops.ones_like(x))
        log_norm = (cut.exp() - 1.0).abs().log() - cut.abs().log()
        return _ops.where(outside, log_norm, 0.5 * x + x.pow(2) / 24.0 - x.pow(4) / 2880.0)
