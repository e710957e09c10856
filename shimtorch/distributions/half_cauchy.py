"""The half-Cauchy distribution (torch.distributions.half_cauchy)."""

import math

from .. import _ops
from ._shared import Half
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """The absolute value of a Cauchy number of median 0 and *scale*, its half width."""

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self):
        return self.scale.new_full(self._extended_shape(), math.inf)

    @property
    def variance(self):
        return self.base_dist.variance

    def _as_value(self, value):
        return value if hasattr(value, "dim") else _ops.tensor(value, dtype=self.scale.dtype, device=self.scale.device)
