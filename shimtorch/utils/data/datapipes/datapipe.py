"""What data pipes are, and how a step becomes a method of all of them."""

from functools import partial

from ..dataset import Dataset, IterableDataset

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe"]


class _Steps:
    """Steps that are methods: ``pipe.name(*args)`` makes the step registered as *name*, reading from the pipe."""

    functions = {}

    def __getattr__(self, name):
        if name in self.functions:
            return partial(self.functions[name], self)
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    @classmethod
    def register_function(cls, function_name, function):
        """Make a function a method."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(cls, function_name, cls_to_register, enable_df_api_tracing=False):
        """Make a class of pipes a method."""
        if function_name in cls.functions:
            raise Exception(f"Unable to add DataPipe function name {function_name} as it is already taken")
        cls.functions[function_name] = cls_to_register


class IterDataPipe(_Steps, IterableDataset):
    """A pipe that is iterated: a subclass defines ``__iter__``, and ``__len__`` if the length is known."""

    functions = {}
    getstate_hook = None
    reduce_ex_hook = None

    def reset(self):
        """Begin anew; for subclasses that keep something between two passes."""

    def __getstate__(self):
        return self.__dict__ if IterDataPipe.getstate_hook is None else IterDataPipe.getstate_hook(self.__dict__)

    def __reduce_ex__(self, protocol):
        if IterDataPipe.reduce_ex_hook is not None:
            try:
                return IterDataPipe.reduce_ex_hook(self)
            except NotImplementedError:
                pass
        return super().__reduce_ex__(protocol)

    @classmethod
    def set_getstate_hook(cls, hook_fn):
        """Make a function give what is pickled of a pipe's ``__dict__``; None takes it back."""
        if IterDataPipe.getstate_hook is not None and hook_fn is not None:
            raise Exception("Attempt to override existing getstate_hook")
        IterDataPipe.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn):
        """Make a function give what is pickled of a pipe, unless it raises NotImplementedError; None takes it back."""
        if IterDataPipe.reduce_ex_hook is not None and hook_fn is not None:
            raise Exception("Attempt to override existing reduce_ex_hook")
        IterDataPipe.reduce_ex_hook = hook_fn


class MapDataPipe(_Steps, Dataset):
    """A pipe that is indexed: a subclass defines ``__getitem__``, and ``__len__`` if the length is known."""

    functions = {}


class functional_datapipe:  # noqa: N801
    """Decorator that makes a class of pipes a method of all pipes of its kind."""

    def __init__(self, name, enable_df_api_tracing=False):
        if enable_df_api_tracing:
            raise NotImplementedError("functional_datapipe(enable_df_api_tracing=True) is not implemented: there are "
                                      "no data frames")
        self.name = name

    def __call__(self, cls):
        if isinstance(cls, type) and issubclass(cls, MapDataPipe):
            MapDataPipe.register_datapipe_as_function(self.name, cls)
        elif isinstance(cls, type) and issubclass(cls, IterDataPipe):
            IterDataPipe.register_datapipe_as_function(self.name, cls)
        else:
            raise TypeError("functional_datapipe can only decorate IterDataPipe")
        return cls


class DataChunk(list):
    """A batch of items: a list."""

    def __init__(self, items):
        items = list(items)
        super().__init__(items)
        self.items = items

    def as_str(self, indent=""):
        """The items as text."""
        return f"{indent}[{', '.join(str(i) for i in self)}]"

    def raw_iterator(self):
        """The items as they are."""
        yield from self.items


def length_of(pipe, owner):
    """The length of the pipe that another reads; TypeError that names the other if it has none."""
    if hasattr(type(pipe), "__len__"):
        return len(pipe)
    raise TypeError(f"object of type '{type(owner).__name__}' has no len()")


def several(pipes, kind):
    """The pipes that another joins: at least one (ValueError), all of that kind (TypeError)."""
    if not pipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, kind) for pipe in pipes):
        raise TypeError(f"Expected all inputs to be `{kind.__name__}`")
    return pipes
