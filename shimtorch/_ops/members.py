"""Members of Tensor that are rarely used: other names, what other devices have, what was removed."""
import warnings

from .._core.tensor import TensorBase

METHODS, ATTRIBUTES = {}, {}


def method(f):
    """Enter a method under its name."""
    METHODS[f.__name__] = f
    return f


def attribute(f):
    """Enter a read-only attribute under its function's name."""
    ATTRIBUTES[f.__name__] = property(f)
    return f


@method
def prelu(self, weight):
    """``torch.nn.functional.prelu``."""
    from ..nn.functional import prelu
    return prelu(self, weight)


@method
def hardshrink(self, lambd=0.5):
    """Zero where the absolute value is at most lambd."""
    from ..nn.functional import hardshrink
    return hardshrink(self, lambd)


@method
def dim_order(self, *, ambiguity_check=False):
    """The dimensions from the outermost in memory to the innermost."""
    strides = self.stride()
    return tuple(sorted(range(self.dim()), key=lambda d: (-strides[d], d)))


@method
def const_data_ptr(self):
    """``data_ptr``."""
    return self.data_ptr()


@method
def has_names(self):
    """Whether dimensions have names: never."""
    return False


@method
def is_distributed(self):
    """Whether the tensor lies on several machines: never."""
    return False


@method
def resize(self, *sizes):
    """The same memory in other sizes (deprecated; ``resize_`` changes the tensor itself)."""
    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=2)
    if len(sizes) == 1 and not isinstance(sizes[0], int):
        sizes = tuple(sizes[0])
    n = 1
    for s in sizes:
        n *= s
    if n != self.numel():
        raise RuntimeError(f"requested resize to {'x'.join(map(str, sizes))} ({n} elements in total), but the given "
                           f"tensor has a size of {'x'.join(map(str, self.shape))} ({self.numel()} elements). "
                           "autograd's resize can only change the shape of a given tensor, while preserving the number "
                           "of elements. ")
    return self.contiguous().view(sizes)


@method
def resize_as(self, tensor):
    """The same memory in the sizes of another tensor (deprecated)."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"resize_as(): argument 'tensor' must be Tensor, not {type(tensor).__name__}")
    warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=2)
    if tensor.numel() != self.numel():
        return resize(self, *tensor.shape)
    return self.contiguous().view(tensor.shape)


@method
def reinforce(self, *args, **kwargs):
    """Removed in 0.4: ``torch.distributions`` is what took its place."""
    raise RuntimeError("reinforce() was removed.\nUse torch.distributions instead: make a distribution m of the "
                       "probabilities, sample an action from it, and call backward() on -m.log_prob(action) * reward.")


@method
def module_load(self, other, assign=False):
    """What ``Module.load_state_dict`` puts in the place of this tensor: other, or this tensor with other's values."""
    return other.detach() if assign else self.detach().copy_(other)


@attribute
def name(self):
    """The name given to a Variable of old; always None."""
    return None


@attribute
def grad_dtype(self):
    """The dtype that gradients of this leaf have."""
    return self.dtype


for _device in ("ipu", "maia", "mtia", "xla", "hpu"):
    ATTRIBUTES[f"is_{_device}"] = property(lambda self: False, doc="Whether the tensor lies on such a device: never.")
