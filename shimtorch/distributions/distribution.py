"""The base of all distributions (torch.distributions.distribution)."""

import warnings

from .._core import Size, Tensor
from ..autograd import no_grad
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A probability distribution, or a batch of them.

    Parameters of shape *batch_shape* give as many distributions of samples of shape *event_shape*.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions check their parameters and the values they are asked about."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape = Size(batch_shape)
        self._event_shape = Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self):
        try:
            known = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize "
                "the distribution with `validate_args=False` to turn off validation.",
                stacklevel=4,
            )
            return
        for name, constraint in known.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name, None), lazy_property):
                continue  # computed from another parameter
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None):
        """The distribution with its batch shape expanded to another."""
        raise NotImplementedError

    @property
    def batch_shape(self):
        """The shape over which parameters are batched."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of a single sample."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """The constraints on the parameters, by name."""
        raise NotImplementedError

    @property
    def support(self):
        """The constraint that samples lie in."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The value of the greatest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=()):
        """Samples of shape *sample_shape* + batch shape + event shape, without gradients."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=()):
        """Samples through which gradients flow to the parameters."""
        raise NotImplementedError

    def sample_n(self, n):
        """n samples; deprecated."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample(Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at *value*."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of a sample of at most *value*."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of ``cdf``."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values of a discrete distribution along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """The entropy."""
        raise NotImplementedError

    def perplexity(self):
        """The exponential of the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=()):
        """The shape of samples."""
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        """Raise ValueError for what no sample can be."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.size()[start:] != self._event_shape:
            raise ValueError(
                f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}."
            )
        actual, expected = value.size(), self._batch_shape + self._event_shape
        for i, j in zip(reversed(actual), reversed(expected), strict=False):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please initialize the "
                "distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the "
                f"support ({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ is not cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also "
                "define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls, batch_shape, _instance, names, event_shape=None):
        """A new instance of shape *batch_shape* whose parameters *names*, those that are there, are expanded to it."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                value = getattr(self, name)
                rest = value.shape[len(value.shape) - self._parameter_dims.get(name, 0):]
                setattr(new, name, value.expand(batch_shape + rest))
        Distribution.__init__(new, batch_shape, self._event_shape if event_shape is None else event_shape,
                              validate_args=False)
        new._validate_args = self._validate_args
        return new

    _parameter_dims = {}  # how many dimensions of a parameter do not belong to the batch; 0 for those not named

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        values = [f"{name}: {self._shown(self.__dict__[name])}" for name in names]
        return f"{type(self).__name__}({', '.join(values)})"

    @staticmethod
    def _shown(value):
        return value if value.numel() == 1 else value.size()
