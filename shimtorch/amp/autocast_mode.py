"""Autocast: within a region, matrix products and convolutions compute in bfloat16 or float16, losses in float32.

Which function does what is torch's own list: for the CPU it stands here, for CUDA in ``_cuda_lists``. Python functions
that are made of others are gone into, so that what they call is cast as well.
"""
import functools
import warnings

from .._core.dtype import bfloat16, float16, float32, float64
from .._core.protocol import Overridable
from .._core.tensor import TensorBase
from ..cuda import is_available
from ..overrides import TorchFunctionMode
from ._state import DEVICES, state

__all__ = ["autocast", "autocast_decorator", "custom_bwd", "custom_fwd", "is_autocast_available"]

LOWER = frozenset("""
    conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d convolution bmm mm baddbmm addmm
    addbmm linear matmul __matmul__ __rmatmul__ prelu scaled_dot_product_attention einsum tensordot inner multi_dot
    linalg_multi_dot chain_matmul matrix_power linalg_matrix_power vecdot linalg_vecdot
    """.split())
FULL = frozenset("""
    avg_pool3d max_pool3d adaptive_avg_pool3d max_unpool2d max_unpool3d binary_cross_entropy grid_sample grid_sampler
    polar prod quantile nanquantile stft cdist trace view_as_complex cholesky cholesky_inverse cholesky_solve inverse
    lu_solve orgqr ormqr mse_loss l1_loss smooth_l1_loss huber_loss nll_loss cross_entropy cosine_embedding_loss
    hinge_embedding_loss poisson_nll_loss margin_ranking_loss soft_margin_loss triplet_margin_loss multi_margin_loss
    ctc_loss kl_div multilabel_margin_loss binary_cross_entropy_with_logits fft_fft fft_ifft fft_fft2 fft_ifft2
    fft_fftn fft_ifftn fft_rfft fft_irfft fft_rfft2 fft_irfft2 fft_rfftn fft_irfftn fft_hfft fft_ihfft cond
    linalg_cond matrix_rank linalg_matrix_rank solve linalg_solve linalg_cholesky svdvals linalg_svdvals eigvals
    linalg_eigvals eigvalsh linalg_eigvalsh inv linalg_inv householder_product linalg_householder_product tensorinv
    linalg_tensorinv tensorsolve linalg_tensorsolve fake_quantize_per_tensor_affine geqrf lstsq linalg_lstsq eig
    linalg_eig eigh linalg_eigh qr linalg_qr svd linalg_svd triangular_solve fractional_max_pool2d
    fractional_max_pool3d symeig linalg_inv_ex linalg_cholesky_ex inv_ex cholesky_ex lu linalg_lu
    """.split())
FFT = frozenset("fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft".split())
PADS = frozenset(("reflect", "replicate"))
WIDEST = frozenset(("cat", "stack"))


def _eligible(x, kind):
    return isinstance(x, TensorBase) and x.is_floating_point() and x.dtype is not float64 and x.device.type == kind


def _cast(x, dtype, kind):
    """Tensors on a kind of device in a dtype; other things as they are."""
    if _eligible(x, kind):
        return x if x.dtype is dtype else x.to(dtype)
    if type(x) in (list, tuple):
        return type(x)([_cast(item, dtype, kind) for item in x])
    return x


def _widest(x, kind):
    """The dtype in which lists of tensors are joined: float32 where one of them has it."""
    if isinstance(x, (list, tuple)):
        found = [_widest(item, kind) for item in x]
        return float32 if float32 in found else next((d for d in found if d is not None), None)
    return x.dtype if _eligible(x, kind) else None


def _dtype_on_cpu(name, args, kwargs):
    """The dtype that a call casts its arguments on the CPU to, or None."""
    if name in LOWER:
        return state.dtypes["cpu"]
    if name in FULL or name in FFT or (name == "pad" and PADS.intersection(
            [a for a in (*args[2:3], kwargs.get("mode")) if isinstance(a, str)])):
        return float32
    return _widest(args, "cpu") if name in WIDEST else None


def _dtype_on_cuda(name, args, kwargs):
    """The dtype that a call casts its arguments on CUDA devices to, or None."""
    from . import _cuda_lists as lists
    if name in lists.LOWER:
        return state.dtypes["cuda"]
    if name in lists.FULL or (name in lists.FULL_BY_DEFAULT and kwargs.get("dtype") is None):
        return float32
    if name in lists.UNSAFE and any(_eligible(x, "cuda") for x in args):
        raise RuntimeError("torch.nn.functional.binary_cross_entropy and torch.nn.BCELoss are unsafe to autocast: "
                           "sigmoid may give 0 or 1 in float16. Use binary_cross_entropy_with_logits or "
                           "BCEWithLogitsLoss, which are safe to autocast.")
    return _widest(args, "cuda") if name in lists.WIDEST else None


_CHOOSE = {"cpu": _dtype_on_cpu, "cuda": _dtype_on_cuda}


class _Casts(TorchFunctionMode):
    """Casts the arguments of the calls that it sees, where they are on a kind of device."""

    def __init__(self, kind):
        super().__init__()
        self.kind = kind

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs, kind = kwargs or {}, self.kind
        if not state.enabled[kind]:
            return func(*args, **kwargs)
        dtype = _CHOOSE[kind](getattr(func, "__name__", ""), args, kwargs)
        if dtype is not None and "out" not in kwargs:
            return func(*[_cast(a, dtype, kind) for a in args], **{k: _cast(v, dtype, kind) for k, v in kwargs.items()})
        if isinstance(func, Overridable):
            with self:
                return func.__wrapped__(*args, **kwargs)
        return func(*args, **kwargs)


def is_autocast_available(device_type):
    """Whether there is autocast for a kind of device, in torch; the device itself need not be there."""
    return device_type in DEVICES


def autocast_decorator(autocast_instance, func):
    """*func* called within the region *autocast_instance*."""
    @functools.wraps(func)
    def decorated(*args, **kwargs):
        with autocast_instance:
            return func(*args, **kwargs)
    return decorated


class autocast:
    """A region, as a context or decorator, in which calls on *device_type* choose their dtypes.

    *dtype*: what matrix products and convolutions compute in, bfloat16 or float16 (the CPU's default: bfloat16).
    ``enabled=False``: a region in which they do not. Asked for CUDA where there is none, it warns and does nothing.
    """

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self.device = device_type
        self.fast_dtype = state.dtypes[device_type] if dtype is None else dtype
        self._cache_enabled = state.cache_enabled if cache_enabled is None else cache_enabled
        self._regions = []
        if enabled and device_type == "cuda" and not is_available():
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        elif enabled and self.fast_dtype not in (bfloat16, float16):
            warnings.warn(f"In {device_type.upper()} autocast, but the target dtype is not supported. Disabling "
                          f"autocast.\n{device_type.upper()} Autocast only supports dtypes of torch.bfloat16, "
                          "torch.float16 currently.", stacklevel=2)
            enabled = False
        self._enabled = enabled

    def __enter__(self):
        self._regions.append((state.enabled[self.device], state.dtypes[self.device], state.cache_enabled,
                              _Casts(self.device) if self._enabled and self.device in _CHOOSE else None))
        state.enabled[self.device] = self._enabled
        state.dtypes[self.device] = self.fast_dtype
        state.cache_enabled = self._cache_enabled
        state.nesting += 1
        if self._regions[-1][-1] is not None:
            self._regions[-1][-1].__enter__()
        return self

    def __exit__(self, *exc):
        enabled, dtype, cache_enabled, casts = self._regions.pop()
        if casts is not None:
            casts.__exit__(*exc)
        state.nesting -= 1
        state.enabled[self.device], state.dtypes[self.device] = enabled, dtype
        state.cache_enabled = cache_enabled
        return False

    def __call__(self, func):
        return autocast_decorator(self, func)


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates ``forward`` of a Function: within it autocast is as it was outside, or, with *cast_inputs*, off and the
    floating tensors among the arguments have that dtype."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        args[0]._dtype = state.dtypes[device_type]
        if cast_inputs is None:
            args[0]._fwd_used_autocast = state.enabled[device_type]
            return fwd(*args, **kwargs)
        on = state.enabled[device_type]
        args[0]._fwd_used_autocast = False
        if not on:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs, device_type),
                       **{k: _cast(v, cast_inputs, device_type) for k, v in kwargs.items()})
    return forward


def custom_bwd(bwd=None, *, device_type):
    """Decorates ``backward`` of a Function: autocast is as it was in its forward."""
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(*args, **kwargs):
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return backward
