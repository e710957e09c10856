"""The multivariate normal distribution (torch.distributions.multivariate_normal)."""

import math

from .. import _ops
from .._ops.shape import broadcast_shapes
from . import constraints
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]


def _batch_mv(matrix, vector):
    """Batches of matrices by batches of vectors."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def _solve_lower(L, x):
    """L^-1 x for lower triangular L and a vector x, broadcast."""
    from .. import linalg

    shape = broadcast_shapes(L.shape[:-2], x.shape[:-1])
    n = L.shape[-1]
    columns = x.unsqueeze(-1).expand(shape + (n, 1))
    return linalg.solve_triangular(L.expand(shape + (n, n)), columns, upper=False).squeeze(-1)


def _batch_mahalanobis(L, x):
    """The squared length of L^-1 x."""
    return _solve_lower(L, x).pow(2).sum(-1)


def _inverse_lower(L):
    from .. import linalg

    identity = _ops.eye(L.shape[-1], dtype=L.dtype, device=L.device).expand(L.shape)
    return linalg.solve_triangular(L, identity, upper=False)


def _precision_to_scale_tril(P):
    """The Cholesky factor of the inverse of P."""
    from .. import linalg

    factor = linalg.cholesky(P.flip((-2, -1)))
    return _inverse_lower(factor.flip((-2, -1)).mT)


class MultivariateNormal(Distribution):
    """Normal vectors of mean *loc* and one of *covariance_matrix*, *precision_matrix*, Cholesky factor *scale_tril*."""

    arg_constraints = {"loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
                       "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self.loc = loc.expand(batch_shape + (-1,))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            from .. import linalg

            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    _parameter_dims = {"loc": 1, "covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(MultivariateNormal, batch_shape, _instance, tuple(self._parameter_dims))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @lazy_property
    def scale_tril(self):
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        L = self._unbroadcasted_scale_tril
        return (L @ L.mT).expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        inverse = _inverse_lower(self._unbroadcasted_scale_tril)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape + self._event_shape)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        noise = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, noise)

    def _half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self._half_log_det()

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._half_log_det()
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
