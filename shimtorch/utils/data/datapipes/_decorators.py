"""Decorators of data pipes: which are not deterministic, and which arguments are pipes."""

from functools import wraps

from .datapipe import IterDataPipe

__all__ = ["argument_validation", "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation",
           "runtime_validation_disabled"]

_ADVICE = "You can turn off determinism for this DataPipe if that is acceptable for your application"


class _Switch:
    """Sets the class attribute *on* when it is made, and for a ``with`` block."""

    on = False

    def __init__(self):
        self.before = type(self).on
        type(self).on = True

    def __enter__(self):
        return None

    def __exit__(self, *exception):
        type(self).on = self.before


class guaranteed_datapipes_determinism(_Switch):  # noqa: N801
    """Context manager: pipes that are not deterministic refuse to be made."""


class runtime_validation_disabled(_Switch):  # noqa: N801
    """Context manager inside which ``runtime_validation`` checks nothing."""


class non_deterministic:  # noqa: N801
    """Decorator of a class of pipes whose results are not deterministic.

    Or a function of the arguments that a pipe is made with, which says whether it is not: ``@non_deterministic(f)``.
    TypeError for anything else, and for such a pipe under ``guaranteed_datapipes_determinism``.
    """

    def __init__(self, arg):
        if isinstance(arg, type):
            if not issubclass(arg, IterDataPipe):
                raise TypeError("Only `IterDataPipe` can be decorated with `non_deterministic`, but "
                                f"{arg.__name__} is found")
            self.cls, self.deterministic_fn = arg, None
        elif callable(arg):
            self.cls, self.deterministic_fn = None, arg
        else:
            raise TypeError(f"{arg} can not be decorated by non_deterministic")

    def __call__(self, *args, **kwargs):
        if self.deterministic_fn is None:
            if guaranteed_datapipes_determinism.on:
                raise TypeError(f"{self.cls.__name__} is non-deterministic, but you set "
                                f"'guaranteed_datapipes_determinism'. {_ADVICE}")
            return self.cls(*args, **kwargs)
        cls = args[0] if args else None
        if not (isinstance(cls, type) and issubclass(cls, IterDataPipe)):
            raise TypeError(f"Only `IterDataPipe` can be decorated, but {getattr(cls, '__name__', cls)} is found")
        self.cls = cls
        return self.deterministic_wrapper_fn

    def deterministic_wrapper_fn(self, *args, **kwargs):
        """A pipe made with these arguments."""
        answer = self.deterministic_fn(*args, **kwargs)
        if not isinstance(answer, bool):
            raise TypeError("deterministic_fn of `non_deterministic` decorator is required to return a boolean value, "
                            f"but {type(answer)} is found")
        if answer and guaranteed_datapipes_determinism.on:
            raise TypeError(f"{self.cls.__name__} is non-deterministic with the inputs, but you set "
                            f"'guaranteed_datapipes_determinism'. {_ADVICE}")
        return self.cls(*args, **kwargs)


def argument_validation(f):
    """Decorator: TypeError for an argument that is no data pipe where the annotation is ``IterDataPipe``."""
    from inspect import signature

    form = signature(f)
    pipes = [name for name, parameter in form.parameters.items() if parameter.annotation is IterDataPipe]

    @wraps(f)
    def checked(*args, **kwargs):
        given = form.bind(*args, **kwargs).arguments
        for name in pipes:
            if name in given and not isinstance(given[name], IterDataPipe):
                raise TypeError(f"Expected argument '{name}' as a IterDataPipe, but found {type(given[name])}")
        return f(*args, **kwargs)
    return checked


def runtime_validation(f):
    """Decorator of ``__iter__``, and of nothing else (TypeError).

    The items of pipes have no declared types here, ``IterDataPipe[int]`` being ``IterDataPipe`` itself: all pass.
    """
    if f.__name__ != "__iter__":
        raise TypeError(f"Can not decorate function {f.__name__} with 'runtime_validation'")
    return f
