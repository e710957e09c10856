"""The multivariate normal distribution of covariance W W^T + D (torch.distributions.lowrank_multivariate_normal)."""

import math

from .. import _ops
from .._ops.shape import broadcast_shapes
from . import constraints
from .distribution import Distribution
from .multivariate_normal import _batch_mahalanobis, _batch_mv, _inverse_lower
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of mean *loc* and covariance *cov_factor* cov_factor^T + diag(*cov_diag*)."""

    arg_constraints = {"loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
                       "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True
    _parameter_dims = {"loc": 1, "cov_factor": 2, "cov_diag": 1}

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        from .. import linalg

        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m")
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag {cov_diag.shape}"
            ) from error
        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self._factor, self._diag = cov_factor, cov_diag
        m = cov_factor.shape[-1]
        scaled = cov_factor.mT / cov_diag.unsqueeze(-2)
        capacitance = scaled @ cov_factor + _ops.eye(m, dtype=cov_factor.dtype, device=cov_factor.device)
        self._capacitance_tril = linalg.cholesky(capacitance)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance, tuple(self._parameter_dims))
        new._factor, new._diag = self._factor, self._diag
        new._capacitance_tril = self._capacitance_tril
        return new

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        return (self._factor.pow(2).sum(-1) + self._diag).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        from .. import linalg

        root = self._diag.sqrt().unsqueeze(-1)
        scaled = self._factor / root
        n = self._event_shape[0]
        K = scaled @ scaled.mT + _ops.eye(n, dtype=scaled.dtype, device=scaled.device)
        return (root * linalg.cholesky(K)).expand(self._batch_shape + (n, n))

    @lazy_property
    def covariance_matrix(self):
        matrix = self._factor @ self._factor.mT + self._diag.diag_embed()
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        inverse = _inverse_lower(self._capacitance_tril)
        A = inverse @ (self._factor.mT / self._diag.unsqueeze(-2))
        matrix = self._diag.reciprocal().diag_embed() - A.mT @ A
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        noise_factor = _standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc.dtype, self.loc.device)
        noise_diag = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + _batch_mv(self._factor, noise_factor) + self._diag.sqrt() * noise_diag

    def _log_det(self):
        return 2 * self._capacitance_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1) + self._diag.log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diff = value - self.loc
        projected = _batch_mv(self._factor.mT / self._diag.unsqueeze(-2), diff)
        distance = (diff.pow(2) / self._diag).sum(-1) - _batch_mahalanobis(self._capacitance_tril, projected)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_det() + distance)

    def entropy(self):
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
