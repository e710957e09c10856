"""Settings of the torch namespace: threads, determinism, precision, warnings, the default device."""
from . import backends
from ._core.device import as_device
from ._core.threads import get_num_threads, set_num_threads

__all__ = ["get_num_threads", "set_num_threads", "get_num_interop_threads", "set_num_interop_threads",
           "use_deterministic_algorithms", "are_deterministic_algorithms_enabled",
           "is_deterministic_algorithms_warn_only_enabled", "set_deterministic_debug_mode",
           "get_deterministic_debug_mode", "get_float32_matmul_precision", "set_float32_matmul_precision",
           "set_flush_denormal", "set_warn_always", "is_warn_always_enabled", "get_default_device",
           "set_default_device", "compiled_with_cxx11_abi", "is_vulkan_available", "init_num_threads",
           "cudnn_is_acceptable", "has_cuda", "has_cudnn", "has_lapack", "has_mkl", "has_mkldnn", "has_mps",
           "has_openmp", "has_mlc", "has_spectral", "read_vitals", "set_vital", "vitals_enabled"]

# What torch says that it was built with.
has_lapack = has_spectral = True
has_mlc = False
has_cuda, has_mps = backends.cuda.is_built(), backends.mps.is_built()
has_cudnn, has_mkl, has_mkldnn, has_openmp = (
    library.is_available() for library in (backends.cudnn, backends.mkl, backends.mkldnn, backends.openmp))

_state = {"interop": None, "deterministic": False, "warn_only": False, "precision": "highest", "warn_always": False}


def get_num_interop_threads():
    """The number of threads for ops beside one another: what was set, else that of the processors. None are used."""
    return get_num_threads() if _state["interop"] is None else _state["interop"]


def set_num_interop_threads(n):
    """Remember a number of threads for ops beside one another; ops run one after another."""
    if not isinstance(n, int) or n <= 0:
        raise RuntimeError("Expected positive number of threads")
    if _state["interop"] is not None:
        raise RuntimeError("Error: cannot set number of interop threads after parallel work has started or "
                           "set_num_interop_threads called")
    _state["interop"] = n


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Remember whether only deterministic algorithms are wanted. All of them are, always."""
    _state["deterministic"], _state["warn_only"] = bool(mode), bool(mode and warn_only)


def are_deterministic_algorithms_enabled():
    """Whether deterministic algorithms were asked for."""
    return _state["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    """Whether algorithms that are not deterministic were to warn instead of to fail."""
    return _state["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    """``use_deterministic_algorithms`` by number or name: 0 default, 1 warn, 2 error."""
    modes = {"default": 0, "warn": 1, "error": 2}
    if debug_mode not in (0, 1, 2) and debug_mode not in modes:
        raise RuntimeError(f"invalid value of debug_mode, expected `default`, `warn`, or `error`, but got {debug_mode}"
                           if isinstance(debug_mode, str) else
                           f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    mode = modes.get(debug_mode, debug_mode)
    use_deterministic_algorithms(mode > 0, warn_only=mode == 1)


def get_deterministic_debug_mode():
    """0, 1 or 2, as ``set_deterministic_debug_mode`` has them."""
    return 1 if _state["warn_only"] else 2 if _state["deterministic"] else 0


def get_float32_matmul_precision():
    """The precision of products of float32 that was asked for."""
    from ._gpu import switches
    if switches.allow_tf32 != (_state["precision"] != "highest"):      # torch.backends.cuda.matmul.allow_tf32
        _state["precision"] = "high" if switches.allow_tf32 else "highest"
    return _state["precision"]


def set_float32_matmul_precision(precision):
    """Ask for a precision: "highest", or "high" or "medium", with which CUDA devices round factors to 10 bits."""
    if precision not in ("highest", "high", "medium"):
        import warnings
        warnings.warn(f"{precision} is not one of 'highest', 'high', or 'medium'; the setting is unchanged",
                      UserWarning, stacklevel=2)
        return
    from ._gpu import switches
    _state["precision"], switches.allow_tf32 = precision, precision != "highest"


def set_flush_denormal(mode):
    """Whether denormal numbers could be set to be flushed to zero: they cannot (False)."""
    return False


def set_warn_always(b):
    """Remember whether warnings are to be repeated; Python's own filters decide."""
    if not isinstance(b, bool):
        raise TypeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    _state["warn_always"] = b


def is_warn_always_enabled():
    """What ``set_warn_always`` was given."""
    return _state["warn_always"]


def get_default_device():
    """The device that tensors are made on: the CPU."""
    return as_device("cpu")


def set_default_device(device):
    """Accepts the CPU, and None for it; there is no other device to make tensors on."""
    if device is not None and as_device(device).type != "cpu":
        raise NotImplementedError(f"set_default_device: device '{device}' is not implemented")


def compiled_with_cxx11_abi():
    """Whether the C++ library was built with the C++11 ABI, as all of torch's have been since 2.6."""
    return True


def is_vulkan_available():
    """Whether Vulkan can be used: it cannot."""
    return False


def init_num_threads():
    """Accepted: threads start when they are needed."""


def cudnn_is_acceptable(tensor):
    """Whether cuDNN can take a tensor: it is not there."""
    return False


def vitals_enabled():
    """Whether torch notes down how it is used: never, here."""
    return False


def set_vital(vital, attr, value):
    """Note down a value, if that is wanted; whether it is."""
    return vitals_enabled()


def read_vitals():
    """What was noted down: nothing."""
    return ""
