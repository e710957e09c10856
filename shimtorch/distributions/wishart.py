"""The Wishart distribution (torch.distributions.wishart)."""

import math
import warnings

from .. import Size, _ops
from .._ops.shape import broadcast_shapes
from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import _inverse_lower, _precision_to_scale_tril
from .utils import is_number, lazy_property, tiny_of

__all__ = ["Wishart"]


def _mvdigamma(x, p):
    """The derivative of the logarithm of the multivariate gamma function."""
    return (x.unsqueeze(-1) - _ops.arange(p, dtype=x.dtype).div(2).expand(x.shape + (-1,))).digamma().sum(-1)


class Wishart(ExponentialFamily):
    """Sums of outer products of *df* normal vectors, of *covariance_matrix*, *precision_matrix* or *scale_tril*."""

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _parameter_dims = {"covariance_matrix": 2, "scale_tril": 2, "precision_matrix": 2}

    @property
    def arg_constraints(self):
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = {name: value for name, value in given.items() if value is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = _ops.tensor(float(df), dtype=matrix.dtype) if is_number(df) else df
        batch_shape = Size(broadcast_shapes(matrix.shape[:-2], df.shape))
        event_shape = matrix.shape[-2:]
        if event_shape[0] != event_shape[1]:
            raise ValueError("the matrix must be square")
        self.df = df.expand(batch_shape)
        if self.df.le(event_shape[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event_shape[-1] - 1}.")
        setattr(self, name, matrix.expand(batch_shape + (-1, -1)))
        self._make_chi2(batch_shape, event_shape)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)
        if self.df.lt(event_shape[-1]).any():
            warnings.warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                          "ndim.", stacklevel=2)
        if name == "scale_tril":
            self._unbroadcasted_scale_tril = matrix
        elif name == "covariance_matrix":
            from .. import linalg

            self._unbroadcasted_scale_tril = linalg.cholesky(matrix)
        else:
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)

    def _make_chi2(self, batch_shape, event_shape):
        p = event_shape[-1]
        steps = _ops.arange(p, dtype=self.df.dtype).expand(tuple(batch_shape) + (-1,))
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - steps)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Wishart, batch_shape, _instance, ("df", *self._parameter_dims))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        new._make_chi2(batch_shape, self.event_shape)
        return new

    @lazy_property
    def scale_tril(self):
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        L = self._unbroadcasted_scale_tril
        return (L @ L.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self):
        inverse = _inverse_lower(self._unbroadcasted_scale_tril)
        return (inverse.mT @ inverse).expand(self._batch_shape + self._event_shape)

    @property
    def mean(self):
        return self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = factor.masked_fill(factor <= 0, math.nan)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        V = self.covariance_matrix
        diagonal = V.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self.df.view(self._batch_shape + (1, 1)) * (V.pow(2) + outer)

    def _bartlett_sampling(self, sample_shape=()):
        p = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().clamp(min=tiny_of(self.df)).diag_embed()
        rows, columns = _ops.tril_indices(p, p, -1)
        below = _ops.randn(Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,), dtype=noise.dtype)
        noise[..., rows, columns] = below
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def rsample(self, sample_shape=(), max_try_correction=None):
        """Samples; some are drawn again, until none of these is singular or *max_try_correction* (10) times.

        As in PyTorch, which draws from the same numbers, the first to be drawn again are those that are *not* singular.
        """
        sample = self._bartlett_sampling(Size(sample_shape))
        again = self._any_of_batch(self.support.check(sample))
        if again.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                fresh = self._bartlett_sampling(again[again].shape)
                sample[again] = fresh
                again[again.clone()] = self._any_of_batch(~self.support.check(fresh))
                if not again.any():
                    break
        return sample

    def _any_of_batch(self, flags):
        """Flags of samples: whether one of the distributions of the batch has it."""
        return flags.amax([-1 - i for i in range(len(self._batch_shape))]) if self._batch_shape else flags

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        from .. import linalg

        nu, p = self.df, self._event_shape[-1]
        L = self._unbroadcasted_scale_tril
        inverse = _inverse_lower(L)
        trace = (inverse.mT @ inverse @ value).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * math.log(2) / 2 + L.diagonal(dim1=-2, dim2=-1).log().sum(-1)) - (nu / 2).mvlgamma(p)
                + (nu - p - 1) / 2 * linalg.slogdet(value).logabsdet - trace / 2)

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        L = self._unbroadcasted_scale_tril
        return ((p + 1) * (p * math.log(2) / 2 + L.diagonal(dim1=-2, dim2=-1).log().sum(-1)) + (nu / 2).mvlgamma(p)
                - (nu - p - 1) / 2 * _mvdigamma(nu / 2, p) + nu * p / 2)

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        from .. import linalg

        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-linalg.slogdet(-2 * x).logabsdet + math.log(2) * p) + half.mvlgamma(p)
