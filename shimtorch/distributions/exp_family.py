"""Distributions of the exponential family (torch.distributions.exp_family)."""

from ..autograd import grad
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A distribution with density h(x) exp(<t(x), p> - F(p)) of natural parameters p, *_natural_params*.

    A subclass gives F as ``_log_normalizer`` and the mean of log h as ``_mean_carrier_measure``.
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """The entropy, by the gradient of the log normaliser."""
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = grad(normalizer.sum(), params, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for param, gradient in zip(params, gradients, strict=True):
            result -= (param * gradient).reshape(self._batch_shape + (-1,)).sum(-1)
        return result
