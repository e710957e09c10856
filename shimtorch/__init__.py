"""shimtorch: PyTorch's public API on NumPy. ``import shimtorch as torch``, or ``shimtorch run script.py``."""
import math as _math

import numpy as _numpy  # noqa: F401  (first: imported from within a compiled module it takes a tenth longer)

from . import _eras, _ops, _refused, _typed
from ._core import OPS as _OPS
from ._core import autograd as _autograd
from ._core import device as _device_module  # noqa: F401
from ._core.device import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    device,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ._core.dtype import all_dtypes as _all_dtypes
from ._core.dtype import can_cast, dtype, get_default_dtype, promote_types, set_default_dtype
from ._core.factory import as_tensor, full, ones, tensor, zeros
from ._core.factory import empty_tensor as empty
from ._core.grad_mode import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from ._core.policy import policy as _policy
from ._core.promotion import result_type
from ._core.protocol import Overridable as _Overridable
from ._core.tensor import Size, from_numpy
from ._ops.creation import arange, eye, linspace, logspace
from ._ops.creation import range_ as range
from ._ops.shape import broadcast_shapes
from ._storages import *  # noqa: F403
from ._storages import storage_class as _storage_class
from ._tensor import Tensor
from ._typed import is_tensor, set_default_tensor_type
from ._version import __version__ as _shimtorch_version

era = _eras.era

for _d in _all_dtypes():
    globals()[_d.name] = _d
for _alias, _name in (("float", "float32"), ("double", "float64"), ("half", "float16"), ("short", "int16"),
                      ("int", "int32"), ("long", "int64"), ("cfloat", "complex64"), ("cdouble", "complex128")):
    globals()[_alias] = globals()[_name]
globals().update(_typed.types_of("torch"))
for _key, _op in _OPS.items():
    _space, _, _name = _key.rpartition(".")
    if _space == "torch" and _op.is_function:
        globals().setdefault(_name, _op)

for _name in "zeros ones full empty arange eye linspace logspace range result_type".split():
    globals()[_name] = _Overridable(globals()[_name], name=_name, module=__name__, builtin=True)
for _name in ("tensor", "as_tensor"):
    globals()[_name] = _Overridable(globals()[_name], name=_name, module=__name__, builtin=True, modes_only=True)

inf, nan, pi, e = _math.inf, _math.nan, _math.pi, _math.e
newaxis = None
legacy_contiguous_format = contiguous_format

for _name in _refused.NAMES["torch.Tensor"]:
    if not hasattr(Tensor, _name):
        setattr(Tensor, _name, _refused.refused("torch.Tensor", _name))
for _type in (Tensor, Size, device, layout, memory_format):
    _type.__module__ = __name__

# Parts of the namespace that are imported when they are first named.
_LAZY = ("autograd", "nn", "optim", "sparse", "utils", "random", "cuda", "jit", "multiprocessing", "distributions",
         "linalg", "fft", "special", "testing", "backends", "version", "functional", "return_types", "serialization",
         "types", "overrides", "storage", "masked", "signal", "hub", "onnx", "distributed", "_C", "__config__", "func",
         "amp", "futures", "cpu", "mps", "xpu", "accelerator", "compiler", "quasirandom", "profiler", "ops")
_LAZY_NAMES = {
    "manual_seed": "random", "seed": "random", "initial_seed": "random", "get_rng_state": "random",
    "set_rng_state": "random", "default_generator": "random", "Generator": "_core.generator",
    "set_printoptions": "_core.printing", "save": "serialization", "load": "serialization",
    "inference_mode": "autograd.grad_mode", "is_inference_mode_enabled": "autograd.grad_mode",
    "einsum_path": "_ops._einsum_report",
    "is_anomaly_enabled": "autograd.anomaly_mode", "is_anomaly_check_nan_enabled": "autograd.anomaly_mode",
    "OutOfMemoryError": "_gpu.errors",
    "set_anomaly_enabled": "autograd.anomaly_mode", "finfo": "_limits", "iinfo": "_limits",
    **dict.fromkeys(("frombuffer", "from_file", "asarray", "from_dlpack", "to_dlpack"), "_interop"),
    **dict.fromkeys((
        "get_num_threads", "set_num_threads", "get_num_interop_threads", "set_num_interop_threads",
        "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
        "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode", "get_deterministic_debug_mode",
        "get_float32_matmul_precision", "set_float32_matmul_precision", "set_flush_denormal", "set_warn_always",
        "is_warn_always_enabled", "get_default_device", "set_default_device", "compiled_with_cxx11_abi",
        "is_vulkan_available", "init_num_threads", "cudnn_is_acceptable", "has_cuda", "has_cudnn", "has_lapack",
        "has_mkl", "has_mkldnn", "has_mlc", "has_mps", "has_openmp", "has_spectral", "read_vitals", "set_vital",
        "vitals_enabled"), "_settings"),
    "autocast": "amp", "compile": "compiler", "Future": "futures", "ScriptFunction": "jit", "ScriptModule": "jit",
    "JITException": "jit",
    "Stream": "cuda.streams",
    "DisableTorchFunction": "_C", "FatalError": "_C", "classproperty": "_utils",
    **dict.fromkeys("""
        is_autocast_enabled set_autocast_enabled get_autocast_dtype set_autocast_dtype is_autocast_cache_enabled
        set_autocast_cache_enabled autocast_increment_nesting autocast_decrement_nesting clear_autocast_cache
        is_autocast_cpu_enabled set_autocast_cpu_enabled get_autocast_cpu_dtype set_autocast_cpu_dtype
        is_autocast_ipu_enabled set_autocast_ipu_enabled get_autocast_ipu_dtype set_autocast_ipu_dtype
        is_autocast_xla_enabled set_autocast_xla_enabled get_autocast_xla_dtype set_autocast_xla_dtype
        get_autocast_gpu_dtype set_autocast_gpu_dtype""".split(), "amp._state"),
    **dict.fromkeys((
        "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "bilinear",
        "cosine_similarity", "pairwise_distance", "pixel_shuffle", "pixel_unshuffle", "prelu", "rrelu", "rrelu_",
        "avg_pool1d", "adaptive_avg_pool1d", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices"),
        "nn.functional"),
    **dict.fromkeys("""
        batch_norm instance_norm layer_norm group_norm rms_norm norm_except_dim binary_cross_entropy_with_logits
        cosine_embedding_loss hinge_embedding_loss margin_ranking_loss triplet_margin_loss kl_div poisson_nll_loss
        ctc_loss embedding embedding_bag embedding_renorm_ affine_grid_generator adaptive_max_pool1d channel_shuffle
        native_channel_shuffle convolution conv_tbc lstm gru rnn_tanh rnn_relu lstm_cell gru_cell rnn_tanh_cell
        rnn_relu_cell get_device is_signed is_conj is_neg is_inference is_distributed detach_ pin_memory
        """.split(), "_layer_functions"),
    "constant_pad_nd": "nn._functional.padding",
    **dict.fromkeys((
        "native_layer_norm", "native_group_norm", "native_batch_norm", "native_dropout", "native_dropout_backward",
        "grid_sampler", "grid_sampler_2d", "grid_sampler_3d"), "nn._functional.native"),
}


_OWN_NAME, _OWN = __name__, ("install", "installed", "uninstall")          # what torch has not


def __getattr__(name):
    if name == "__version__":
        return _policy.version
    if name == "Storage":
        return _storage_class(get_default_dtype())
    import importlib
    if name in _OWN:                   # found under its own name also while this module is called torch
        return getattr(importlib.import_module("._shim.alias", _OWN_NAME), name)
    if name in _LAZY_NAMES:
        value = getattr(importlib.import_module("." + _LAZY_NAMES[name], __name__), name)
        globals()[name] = value
        return value
    if name in _LAZY:
        try:
            return importlib.import_module("." + name, __name__)
        except ModuleNotFoundError as error:
            if error.name != f"{__name__}.{name}":
                raise
    if (function := _ops.later.function(name)) is not None:
        globals()[name] = function
        return function
    return _refused.attribute("torch", name)


def __dir__():
    own = () if __name__ != _OWN_NAME else _OWN
    return sorted(set(globals()) | set(_LAZY) | set(_LAZY_NAMES) | set(_ops.later.FUNCTIONS) | set(own))


def _builtin(function):
    return _Overridable(function, builtin=True)


@_builtin
def numel(input):
    """The number of elements of a tensor."""
    return input.numel()


def is_storage(obj):
    """Whether obj is a storage."""
    return isinstance(obj, TypedStorage | UntypedStorage)  # noqa: F405


@_builtin
def is_floating_point(input):
    """Whether a tensor's dtype is a real floating point type."""
    return input.is_floating_point()


@_builtin
def is_complex(input):
    """Whether a tensor's dtype is complex."""
    return input.is_complex()


def typename(obj):
    """The name of an object's type, as torch writes it."""
    if isinstance(obj, Tensor):
        return obj.type()
    named = obj if hasattr(obj, "__qualname__") or hasattr(obj, "__name__") else type(obj)
    name = getattr(named, "__qualname__", None) or named.__name__
    module = getattr(named, "__module__", None)
    return name if module in (None, "builtins") else f"{module}.{name}"
