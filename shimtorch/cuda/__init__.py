"""``torch.cuda``: devices, streams, memory and random numbers. Nothing of CUDA is opened before it is asked for."""
from .. import _typed
from .._gpu import load as _load
from .memory import (
    OutOfMemoryError,
    caching_allocator_alloc,
    caching_allocator_delete,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    get_stream_from_external,
    set_stream,
    stream,
)

globals().update(_typed.types_of("torch.cuda"))
# Names whose modules are imported when they are first asked for.
_ELSEWHERE = {
    "_storages": ("BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage",
                  "ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage", "LongStorage",
                  "ShortStorage"),
    "graphs": ("CUDAGraph", "graph", "graph_pool_handle", "make_graphed_callables"),
    "_errors": ("CudaError", "DeferredCudaCallError", "check_error", "cudaStatus"),
}
has_magma, has_half = False, _load.built()


def is_available():
    """Whether a CUDA device can be used."""
    return _load.device_count() > 0


def device_count():
    """The number of CUDA devices."""
    return _load.device_count()


def is_initialized():
    """Whether a CUDA device was used in this process."""
    return _load.opened() is not None


def init():
    """Start CUDA, which the first use of a device does anyway; raises where there is none."""
    _load.runtime()


def is_bf16_supported(including_emulation=True):
    """Whether bfloat16 can be computed with on the current device."""
    return True


def current_device():
    """The index of this thread's current device."""
    return _load.runtime().current_device()


def set_device(device):
    """Make a device the current one of this thread; a negative index leaves it."""
    if not isinstance(device, int) or device >= 0:
        _load.runtime().set_device(_load.index_of(device))


def get_device_name(device=None):
    """The name of a device."""
    return get_device_properties(device).name


def get_device_capability(device=None):
    """The compute capability of a device: (major, minor)."""
    p = get_device_properties(device)
    return p.major, p.minor


class _CudaDeviceProperties:
    """What a device is."""

    def __init__(self, name, total_memory, capability, multi_processor_count, max_threads, warp_size):
        self.name, self.total_memory = name, total_memory
        self.major, self.minor = capability
        self.multi_processor_count, self.warp_size = multi_processor_count, warp_size
        self.max_threads_per_multi_processor = max_threads

    def __repr__(self):
        return (f"_CudaDeviceProperties(name='{self.name}', major={self.major}, minor={self.minor}, "
                f"total_memory={self.total_memory // (1 << 20)}MB, "
                f"multi_processor_count={self.multi_processor_count})")


def get_device_properties(device=None):
    """Name, memory, capability and number of multiprocessors of a device."""
    return _CudaDeviceProperties(*_load.runtime().properties(_load.index_of(device)))


def synchronize(device=None):
    """Wait for all work of a device."""
    _load.runtime().synchronize(_load.index_of(device))


def get_arch_list():
    """The architectures that kernels were compiled for are not recorded: an empty list."""
    return []


def get_gencode_flags():
    """nvcc's flags for ``get_arch_list``: none."""
    return ""


def is_tf32_supported():
    """Whether the current device has the 19-bit floats of TF32."""
    return is_available() and get_device_capability()[0] >= 8


def is_current_stream_capturing():
    """Whether work is being recorded for a graph: never."""
    return False


def get_sync_debug_mode():
    """Whether operations that wait for the device warn or raise: 0, they do neither."""
    return 0


def set_sync_debug_mode(debug_mode):
    """Takes 0 or "default" alone: what waits for the device does not say so."""
    if debug_mode not in (0, "default"):
        raise NotImplementedError("torch.cuda.set_sync_debug_mode: only \"default\" is implemented")


def ipc_collect():
    """Does nothing: memory is not shared between processes."""


def can_device_access_peer(device, peer_device):
    """Whether one device can read another's memory by itself: copies go through the runtime, which knows."""
    _load.index_of(device), _load.index_of(peer_device)
    return False


class device:
    """A context in which a device is the current one: an index, ``torch.device``, name, or None to change nothing."""

    def __init__(self, device):
        self.device = device
        self.before = -1

    def __enter__(self):
        if self.device is None or self.device == -1:
            return self
        self.before = current_device()
        set_device(self.device)
        return self

    def __exit__(self, *exc):
        if self.before >= 0:
            set_device(self.before)
        return False


class device_of(device):
    """A context in which the device of a tensor is the current one; a CPU tensor changes nothing."""

    def __init__(self, obj):
        super().__init__(obj.get_device() if obj.is_cuda else -1)


def __getattr__(name):
    if name in ("sparse", "random", "comm", "nvtx", "amp", "memory", "streams", "graphs", "nccl", "profiler"):
        import importlib
        return importlib.import_module("." + name, __name__)
    for module, names in _ELSEWHERE.items():
        if name in names:
            import importlib
            return getattr(importlib.import_module("." + module, __name__), name)
    from .._refused import attribute
    return attribute("torch.cuda", name)
