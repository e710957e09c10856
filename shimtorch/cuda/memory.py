"""How much memory of a device is used, by this process's tensors and by the allocator that caches freed blocks."""
from .._gpu import load as _load
from .._gpu.errors import OutOfMemoryError  # noqa: F401  (its place in torch)


def _stats(device):
    """The allocator's counters of a device; None where no device was used."""
    rt = _load.opened()
    if rt is None:
        if device is not None:
            _load.index_of(device)
        return None
    return rt.memory_stats(_load.index_of(device))


def memory_stats_as_nested_dict(device=None):
    """The allocator's counters: ``stats["allocated_bytes"]["all"]["current"]`` and so on."""
    return _stats(device) or {}


def memory_stats(device=None):
    """The allocator's counters by dotted name, such as ``"allocated_bytes.all.peak"``."""
    flat = {}

    def add(prefix, value):
        if isinstance(value, dict):
            for key, item in value.items():
                add(prefix + (key,), item)
        else:
            flat[".".join(prefix)] = value
    add((), memory_stats_as_nested_dict(device))
    return dict(sorted(flat.items()))


def _counter(what, which, device):
    stats = _stats(device)
    return 0 if stats is None else stats[what]["all"][which]


def memory_allocated(device=None):
    """Bytes of device memory that tensors hold, in blocks of 512."""
    return _counter("allocated_bytes", "current", device)


def max_memory_allocated(device=None):
    """The most that ``memory_allocated`` has been since the start or ``reset_peak_memory_stats``."""
    return _counter("allocated_bytes", "peak", device)


def memory_reserved(device=None):
    """Bytes that the allocator has taken from the driver, used or cached."""
    return _counter("reserved_bytes", "current", device)


def max_memory_reserved(device=None):
    """The most that ``memory_reserved`` has been since the start or ``reset_peak_memory_stats``."""
    return _counter("reserved_bytes", "peak", device)


memory_cached, max_memory_cached = memory_reserved, max_memory_reserved


def _if_started(f, device):
    rt = _load.opened()
    if rt is not None:
        getattr(rt, f)(_load.index_of(device))


def reset_peak_memory_stats(device=None):
    """Let the peaks start from what is used now."""
    _if_started("reset_peaks", device)


reset_max_memory_allocated = reset_max_memory_cached = reset_peak_memory_stats


def reset_accumulated_memory_stats(device=None):
    """Let the totals start from zero."""
    _if_started("reset_totals", device)


def empty_cache():
    """Give memory that no tensor uses back to the driver."""
    _if_started("empty_cache", None)


def caching_allocator_alloc(size, device=None, stream=None):
    """The address of a block of device memory for another library; it belongs to a stream, or to the current one."""
    if size < 0:
        raise RuntimeError("caching_allocator_alloc: the size must not be negative")
    rt, index = _load.runtime(), _load.index_of(device)
    if stream is None:
        stream = rt.current_stream(index)
    elif not isinstance(stream, int):
        if not hasattr(stream, "cuda_stream"):
            raise TypeError("Invalid type for stream argument, must be `torch.cuda.Stream` or `int` representing a "
                            "pointer to a existing stream")
        stream = stream.cuda_stream
    return rt.allocate(index, size, stream)


def caching_allocator_delete(mem_ptr):
    """Give back a block of ``caching_allocator_alloc``."""
    _load.runtime().release(mem_ptr)


_fractions = {}


def set_per_process_memory_fraction(fraction, device=None):
    """Let the allocator take at most a part of a device's memory: beyond it is as if there were no more."""
    if not isinstance(fraction, float):
        raise TypeError("Invalid type for fraction argument, must be `float`")
    if not 0 <= fraction <= 1:
        raise ValueError(f"Invalid fraction value: {fraction}. Allowed range: 0~1")
    index = _load.index_of(device)
    _load.runtime().limit_memory(index, int(mem_get_info(index)[1] * fraction))
    _fractions[index] = fraction


def get_per_process_memory_fraction(device=None):
    """The part of a device's memory that the allocator may take."""
    return _fractions.get(_load.index_of(device), 1.0)


def get_allocator_backend():
    """How memory is allocated: by a caching allocator over cudaMalloc."""
    return "native"


def mem_get_info(device=None):
    """Free and total bytes of a device, as the driver sees them."""
    return _load.runtime().mem_get_info(_load.index_of(device))


def memory_summary(device=None, abbreviated=False):
    """The allocator's counters as a table."""
    stats = _stats(device)
    if stats is None:
        return "CUDA was not used yet."
    from .._gpu._rt import in_units
    rows = [("Allocated memory", "allocated_bytes"), ("Requested memory", "requested_bytes"),
            ("GPU reserved memory", "reserved_bytes"), ("Allocations", "allocation"),
            ("GPU reserved segments", "segment")]
    head = f"{'Metric':<24}" + "".join([f"{c:>14}" for c in ("Cur Usage", "Peak Usage", "Tot Alloc", "Tot Freed")])
    lines = [f"PyTorch CUDA memory summary, device ID {_load.index_of(device)}",
             f"CUDA OOMs: {stats['num_ooms']}    cudaMalloc retries: {stats['num_alloc_retries']}", head]
    for title, name in rows:
        for pool in ("all",) if abbreviated else ("all", "large_pool", "small_pool"):
            values = [stats[name][pool][k] for k in ("current", "peak", "allocated", "freed")]
            shown = [in_units(v) if "bytes" in name else str(v) for v in values]
            label = title if pool == "all" else f"  from {pool.replace('_', ' ')}"
            lines.append(f"{label:<24}" + "".join([f"{v:>14}" for v in shown]))
    return "\n".join(lines)


def __getattr__(name):
    from .._refused import attribute
    return attribute("torch.cuda.memory", name)
