"""Moving and converting modules: to, float, cuda, ..."""

from ... import _ops
from ..._core import Tensor
from ..._core.device import device as device_class
from ..._core.dtype import PYTHON_TYPES, as_dtype
from ..._core.dtype import dtype as dtype_class

_SIGNATURES = "".join(
    f" * ({what}bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)\n"
    for what in (
        "torch.device device = None, torch.dtype dtype = None, ",
        "torch.dtype dtype, ",
        "Tensor tensor, ",
    )
)


def _cast(name):
    def convert(tensor):
        return getattr(tensor, name)() if tensor.is_floating_point() else tensor

    return convert


class ConvertMethods:
    """The part of Module that applies a conversion to every parameter, gradient and buffer."""

    def _apply(self, fn, recurse=True):
        """Replace every parameter, its gradient and every buffer by ``fn`` of it, the Parameter objects kept."""
        from ... import no_grad
        from ..parameter import is_lazy

        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for param in self._parameters.values():
                if param is not None:
                    grad = param.grad
                    param.data = fn(param if is_lazy(param) else param.data)
                    if grad is not None:
                        grad.data = fn(grad.data)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    def to(self, *args, **kwargs):
        """Move and convert: ``to(device)``, ``to(dtype)``, ``to(device, dtype)``, ``to(tensor)``, memory_format=.

        The dtype must be floating point or complex (TypeError), and only such tensors are converted.
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, "
                    f"but got desired dtype={dtype}"
                )
            if dtype.is_complex:
                import warnings

                warnings.warn(
                    "Complex modules are a new feature under active development whose design may change, and some "
                    "modules might not work as expected when using complex tensors as parameters or buffers.",
                    stacklevel=2,
                )

        def convert(tensor):
            kwargs = {"non_blocking": non_blocking}
            if device is not None:
                kwargs["device"] = device
            if dtype is not None and (tensor.is_floating_point() or tensor.is_complex()):
                kwargs["dtype"] = dtype
            if memory_format is not None and tensor.dim() in (4, 5):
                kwargs["memory_format"] = memory_format
            return tensor.to(**kwargs) if len(kwargs) > 1 else tensor

        return self._apply(convert)

    def to_empty(self, *, device, recurse=True):
        """Move to *device* without copying values."""
        return self._apply(lambda t: _ops.empty_like(t, device=device), recurse=recurse)

    def cpu(self):
        """Move all parameters and buffers to the CPU."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device=None):
        """Move all parameters and buffers to a GPU."""
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device=None):
        """Move all parameters and buffers to an XPU: there is none, and a tensor says so."""
        return self._apply(lambda t: t.xpu(device))

    def type(self, dst_type):
        """Convert all parameters and buffers to *dst_type* (a dtype, a tensor type or its name)."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Convert floating point parameters and buffers to float32."""
        return self._apply(_cast("float"))

    def double(self):
        """Convert floating point parameters and buffers to float64."""
        return self._apply(_cast("double"))

    def half(self):
        """Convert floating point parameters and buffers to float16."""
        return self._apply(_cast("half"))

    def bfloat16(self):
        """Convert floating point parameters and buffers to bfloat16."""
        return self._apply(_cast("bfloat16"))

    def share_memory(self):
        """Move all parameters and buffers to shared memory."""
        return self._apply(lambda t: t.share_memory_())


def _parse_to(*args, non_blocking=False, memory_format=None, **kwargs):
    """The arguments of ``to`` as (device, dtype, non_blocking, memory_format)."""
    all_args = args
    device = dtype = None
    if args and isinstance(args[0], Tensor) or "tensor" in kwargs:
        other = kwargs.pop("tensor") if "tensor" in kwargs else args[0]
        args = args[1:] if args and args[0] is other else args
        device, dtype = other.device, other.dtype
    elif args and _is_dtype(args[0]):
        dtype, args = args[0], args[1:]
    elif args:
        device, args = args[0], args[1:]
        if args and (args[0] is None or _is_dtype(args[0])):
            dtype, args = args[0], args[1:]
    device = kwargs.pop("device", device)
    dtype = kwargs.pop("dtype", dtype)
    if args:
        non_blocking, args = args[0], args[1:]
    kwargs.pop("copy", None)
    if args or kwargs or (dtype is not None and not _is_dtype(dtype)):
        given = ", ".join(type(a).__name__ for a in all_args)
        given += "".join(f"{', ' if given else ''}{k}={type(v).__name__}, " for k, v in kwargs.items())
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({given}), but expected one of:\n{_SIGNATURES}"
        )
    dtype = None if dtype is None else as_dtype(dtype)
    return None if device is None else device_class(device), dtype, non_blocking, memory_format


def _is_dtype(x):
    return isinstance(x, dtype_class) or (isinstance(x, type) and x in PYTHON_TYPES)
