"""The logistic-normal distribution (torch.distributions.logistic_normal)."""

from . import constraints
from .independent import Independent
from .normal import Normal
from .transformed_distribution import TransformedDistribution
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(TransformedDistribution):
    """Vectors of the simplex that a stick, broken by normal numbers of mean *loc* and deviation *scale*, gives."""

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, loc, scale, validate_args=None):
        base = Normal(loc, scale, validate_args=validate_args)
        if not base.batch_shape:
            base = base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(LogisticNormal, _instance))

    def _normal(self):
        return self.base_dist.base_dist if isinstance(self.base_dist, Independent) else self.base_dist

    @property
    def loc(self):
        """The mean of the normal numbers."""
        return self._normal().loc

    @property
    def scale(self):
        """The standard deviation of the normal numbers."""
        return self._normal().scale
