"""The Kullback-Leibler divergence of two distributions, by their classes (torch.distributions.kl)."""

import warnings

from .distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_KL_REGISTRY = {}  # (class of p, class of q) -> function
_KL_MEMOIZE = {}  # the same for classes that were asked for
_filled = False


def register_kl(type_p, type_q):
    """Register the decorated function of p and q for distributions of these classes, and of classes under them."""
    if not (isinstance(type_p, type) and issubclass(type_p, Distribution)):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not (isinstance(type_q, type) and issubclass(type_q, Distribution)):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def register(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _distance(cls, base):
    """How far up a class's line of inheritance a base stands."""
    return cls.__mro__.index(base)


def _dispatch_kl(type_p, type_q):
    """The function for two classes: the one registered for the nearest classes above them; None if there is none.

    Where the nearest for p and the nearest for q are not the same, p decides, with a warning.
    """
    matches = [(a, b) for a, b in _KL_REGISTRY if issubclass(type_p, a) and issubclass(type_q, b)]
    if not matches:
        return None
    left = min(matches, key=lambda pair: (_distance(type_p, pair[0]), _distance(type_q, pair[1])))
    right = min(matches, key=lambda pair: (_distance(type_q, pair[1]), _distance(type_p, pair[0])))
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left[0].__name__}, "
            f"{right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p, q):
    """KL(p || q), of the batch shape. NotImplementedError if no function is registered for the classes of p and q."""
    global _filled
    if not _filled:
        from . import _divergences  # noqa: F401  registers those of this package

        _filled = True
    key = type(p), type(q)
    if key not in _KL_MEMOIZE:
        _KL_MEMOIZE[key] = _dispatch_kl(*key)
    function = _KL_MEMOIZE[key]
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}"
        )
    return function(p, q)
