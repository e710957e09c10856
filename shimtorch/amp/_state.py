"""Whether and in which dtype autocast is on, by device and thread, and torch's functions that read and set it."""
import threading

from .._core.device import device as _device
from .._core.dtype import bfloat16, float16

DEVICES = {"cpu": bfloat16, "cuda": float16, "xla": bfloat16, "ipu": float16, "hpu": bfloat16, "xpu": float16,
           "mps": float16, "mtia": float16, "maia": bfloat16}


class _State(threading.local):
    def __init__(self):
        self.enabled = dict.fromkeys(DEVICES, False)
        self.dtypes = dict(DEVICES)
        self.nesting = 0
        self.cache_enabled = True


state = _State()


def _known(device_type):
    if device_type not in DEVICES:
        _device(device_type)           # refuses what is no kind of device at all
        raise RuntimeError(f"autocast: there is none for the device type '{device_type}'")
    return device_type


def is_autocast_enabled(device_type="cuda"):
    """Whether calls on a device are cast in this thread."""
    return state.enabled[_known(device_type)]


def set_autocast_enabled(device_type, enabled=None):
    """Switch autocast of a device on or off in this thread; with one argument, that of CUDA."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    state.enabled[_known(device_type)] = bool(enabled)


def get_autocast_dtype(device_type):
    """The dtype that autocast computes in on a device."""
    return state.dtypes[_known(device_type)]


def set_autocast_dtype(device_type, dtype):
    """Set the dtype that autocast computes in on a device."""
    state.dtypes[_known(device_type)] = dtype


def is_autocast_cache_enabled():
    """Whether casts of weights may be kept within a region."""
    return state.cache_enabled


def set_autocast_cache_enabled(enabled):
    """Allow casts of weights to be kept within a region; it is kept without effect, for no cast is kept."""
    state.cache_enabled = bool(enabled)


def autocast_increment_nesting():
    """Enter a region; how many are entered."""
    state.nesting += 1
    return state.nesting


def autocast_decrement_nesting():
    """Leave a region; how many are entered still."""
    state.nesting -= 1
    return state.nesting


def clear_autocast_cache():
    """Forget casts of weights: there are none."""


def _of_device(device_type, torch_name):
    """The four functions that torch has for one kind of device, by name."""
    def is_enabled():
        return is_autocast_enabled(device_type)

    def set_enabled(enabled):
        set_autocast_enabled(device_type, enabled)

    def get_dtype():
        return get_autocast_dtype(device_type)

    def set_dtype(dtype):
        set_autocast_dtype(device_type, dtype)
    found = {f"is_autocast_{torch_name}_enabled": is_enabled, f"set_autocast_{torch_name}_enabled": set_enabled,
             f"get_autocast_{torch_name}_dtype": get_dtype, f"set_autocast_{torch_name}_dtype": set_dtype}
    for name, f in found.items():
        f.__name__ = f.__qualname__ = name
        f.__doc__ = f"``{name.replace('_' + torch_name, '')}`` of ``{device_type!r}``."
    return found


FUNCTIONS = {f.__name__: f for f in (
    is_autocast_enabled, set_autocast_enabled, get_autocast_dtype, set_autocast_dtype, is_autocast_cache_enabled,
    set_autocast_cache_enabled, autocast_increment_nesting, autocast_decrement_nesting, clear_autocast_cache)}
for _kind in ("cpu", "xla", "ipu"):
    FUNCTIONS.update(_of_device(_kind, _kind))
FUNCTIONS.update({k: v for k, v in _of_device("cuda", "gpu").items() if k.endswith("dtype")})
globals().update(FUNCTIONS)
