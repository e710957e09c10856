"""``torch.cuda`` of a build without CUDA: it says that there is no device, and refuses what would need one."""
from .. import _typed

globals().update(_typed.types_of("torch.cuda"))
has_magma = has_half = False


def _needs_cuda(name):
    def refuse(*args, **kwargs):
        raise RuntimeError(f"torch.cuda.{name}: shimtorch was built without CUDA")
    refuse.__name__ = name
    refuse.__doc__ = "Needs a CUDA device: raises RuntimeError in this build."
    return refuse


for _name in ("current_device", "get_device_name", "get_device_capability", "get_device_properties", "set_device",
              "synchronize", "current_stream", "default_stream", "set_stream", "stream", "Stream", "Event",
              "get_rng_state", "set_rng_state", "get_rng_state_all", "set_rng_state_all", "current_blas_handle",
              "ipc_collect", "init", "memory_stats", "mem_get_info", "utilization"):
    globals()[_name] = _needs_cuda(_name)


def is_available():
    """Whether a CUDA device can be used: False in this build."""
    return False


def is_initialized():
    """Whether CUDA was started: never in this build."""
    return False


def device_count():
    """The number of CUDA devices: 0 in this build."""
    return 0


def empty_cache():
    """Does nothing without a device."""


def manual_seed(seed):
    """Accepted and ignored: there is no CUDA generator to seed."""
    int(seed)


manual_seed_all = manual_seed


def seed():
    """Accepted and ignored: there is no CUDA generator to seed."""


seed_all = seed


def memory_allocated(device=None):
    """Bytes of device memory held by tensors: 0."""
    return 0


max_memory_allocated = memory_reserved = max_memory_reserved = memory_cached = max_memory_cached = memory_allocated


def reset_peak_memory_stats(device=None):
    """Does nothing without a device."""


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


class device:
    """A context that would choose a device; with none, or a negative index, it does nothing."""

    def __init__(self, device):
        self.device = device

    def __enter__(self):
        if self.device is not None and self.device != -1:
            _needs_cuda("device")()

    def __exit__(self, *exc):
        return False


class device_of(device):
    """A context that would choose the device of a tensor; on a CPU tensor it does nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def __getattr__(name):
    if name in ("sparse", "random", "comm", "nccl", "nvtx", "amp", "memory", "streams"):
        import importlib
        try:
            return importlib.import_module("." + name, __name__)
        except ModuleNotFoundError:
            pass
    raise AttributeError(f"module 'torch.cuda' has no attribute '{name}'")
