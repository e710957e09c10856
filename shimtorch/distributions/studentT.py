"""Student's t distribution (torch.distributions.studentT)."""

import math

from .. import _ops
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import broadcast_all, is_number

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's distribution of *df* degrees of freedom, moved by *loc* and stretched by *scale*."""

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(() if is_number(df) else self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(StudentT, batch_shape, _instance, ("df", "loc", "scale"))
        new._chi2 = self._chi2.expand(batch_shape)
        return new

    @property
    def mean(self):
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        spread = self.scale.pow(2) * self.df / (self.df - 2)
        spread = _ops.where(self.df > 2, spread, _ops.full_like(spread, math.inf))
        return spread.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        noise = self.df.new_empty(shape).normal_()
        spread = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (noise * (spread / self.df).rsqrt())

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalization = (self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi) + (0.5 * self.df).lgamma()
                         - (0.5 * (self.df + 1.0)).lgamma())
        return -0.5 * (self.df + 1.0) * (y**2.0 / self.df).log1p() - normalization

    def entropy(self):
        beta = (0.5 * self.df).lgamma() + math.lgamma(0.5) - (0.5 * (self.df + 1)).lgamma()
        change = (0.5 * (self.df + 1)).digamma() - (0.5 * self.df).digamma()
        return self.scale.log() + 0.5 * (self.df + 1) * change + 0.5 * self.df.log() + beta
