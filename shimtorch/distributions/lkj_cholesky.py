"""Cholesky factors of random correlation matrices (torch.distributions.lkj_cholesky)."""

import math

from .. import _ops
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all, tiny_of

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower Cholesky factors of *dim* x *dim* correlation matrices M, of density proportional to det(M)**(eta-1).

    eta is *concentration*. Samples are made row by row ("onion").
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = _ops.arange(dim - 1, dtype=self.concentration.dtype)
        offset = _ops.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), (dim, dim), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(LKJCholesky, batch_shape, _instance, ("concentration",))
        new.dim = self.dim
        new._beta = self._beta.expand(tuple(batch_shape) + (self.dim,))
        return new

    def sample(self, sample_shape=()):
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        normal = _ops.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
        sphere = normal / normal.norm(dim=-1, keepdim=True)
        sphere[..., 0, :].fill_(0.0)
        w = y.sqrt() * sphere
        diagonal = (1 - (w**2).sum(-1)).clamp(min=tiny_of(w)).sqrt()
        return w + diagonal.diag_embed()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = _ops.arange(2, self.dim + 1, dtype=self.concentration.dtype)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - order
        unnormalized = (order * diagonal.log()).sum(-1)
        n = self.dim - 1
        alpha = self.concentration + 0.5 * n
        denominator = alpha.lgamma() * n
        numerator = (alpha - 0.5).mvlgamma(n)
        return unnormalized - (0.5 * n * math.log(math.pi) + numerator - denominator)
