"""The CUDA runtime: devices, memory, streams, events. Linked to libcudart alone, so that asking is cheap."""
from libc.stdint cimport int64_t, uintptr_t

from .._core.storage cimport Storage, borrow
from .alloc cimport (
    shim_allocate, shim_counter, shim_empty_cache, shim_limit_memory, shim_memory_statistics, shim_memory_stats,
    shim_release, shim_reset_peaks, shim_reset_totals, shim_used_by,
)
from .cudart cimport (
    CUDART_VERSION, cudaDeviceProp, cudaDeviceSynchronize, cudaErrorInsufficientDriver, cudaErrorMemoryAllocation,
    cudaErrorNoDevice, cudaErrorNotReady, cudaEvent_t, cudaEventBlockingSync, cudaEventCreateWithFlags,
    cudaEventDefault, cudaEventDestroy, cudaEventDisableTiming, cudaEventElapsedTime, cudaEventQuery, cudaEventRecord,
    cudaEventSynchronize, cudaFreeHost, cudaGetDevice, cudaGetDeviceCount, cudaGetDeviceProperties,
    cudaGetErrorString, cudaGetLastError, cudaMallocHost, cudaMemGetInfo, cudaRuntimeGetVersion, cudaSetDevice,
    cudaStreamCreateWithFlags, cudaStreamNonBlocking, cudaStreamQuery, cudaStreamSynchronize, cudaStreamWaitEvent,
    cudaSuccess,
)

import os

from .errors import OutOfMemoryError

cdef extern from *:
    """
    #define SHIM_DEVICES 64
    static _Thread_local void *shim_current_streams[SHIM_DEVICES];   /* NULL: the legacy default stream */
    static _Thread_local int shim_current_device;
    """
    enum: SHIM_DEVICES
    void* shim_current_streams[64]
    int shim_current_device            # the user's; the runtime's is that of the last op

cdef enum:
    POOL = 32                          # user streams of a device, handed out in turn

cdef int count_error = 0               # of the last count of devices
cdef bint started = False
cdef int started_in = 0                # the process
cdef list places = []
cdef cudaStream_t stream_pool[64][32]
cdef int pool_used[64]


cdef int check(cudaError_t status) except -1:
    """Raise what a call of the runtime returned."""
    if status == cudaSuccess:
        return 0
    cudaGetLastError()
    raise RuntimeError(f"CUDA error: {cudaGetErrorString(status).decode()}")


def error_text(int status):
    """What the runtime says of an error's number."""
    return cudaGetErrorString(<cudaError_t>status).decode()


# ---------------------------------------------------------------- devices

def device_count():
    """The number of devices; 0 also where they cannot be used. Not remembered while it is 0."""
    global count_error
    cdef int n = 0
    count_error = cudaGetDeviceCount(&n)
    if count_error != cudaSuccess:
        cudaGetLastError()
        return 0
    return min(n, SHIM_DEVICES)


def no_device_reason():
    """Why there is no device, in torch's words."""
    if count_error == cudaErrorInsufficientDriver:
        return ("Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
                "driver from http://www.nvidia.com/Download/index.aspx")
    if count_error in (cudaSuccess, cudaErrorNoDevice):
        return "No CUDA GPUs are available"
    return f"CUDA error: {cudaGetErrorString(count_error).decode()}"


def is_started():
    """Whether a device was used in this process."""
    return started and started_in == os.getpid()


def start():
    """Make a Place for each device."""
    global started, started_in
    if started:
        raise RuntimeError("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must "
                           "use the 'spawn' start method")
    from ._device import make_place
    for i in range(device_count()):
        places.append(make_place(i))
    started, started_in = True, os.getpid()


def place(int index):
    """The Place of a device."""
    return places[index]


cdef int use(int device) except -1:
    """Let the runtime's further calls in this thread concern a device."""
    cdef int now = -1
    check(cudaGetDevice(&now))
    if now != device:
        check(cudaSetDevice(device))
    return 0


def current_device():
    """The index of this thread's current device."""
    return shim_current_device


def set_device(int device):
    """Make a device the current one of this thread."""
    global shim_current_device
    check(cudaSetDevice(device))
    shim_current_device = device


def properties(int device):
    """Name, memory, capability, multiprocessors, threads of each at once and warp size of a device."""
    cdef cudaDeviceProp p
    check(cudaGetDeviceProperties(&p, device))
    return (p.name.decode(), p.totalGlobalMem, (p.major, p.minor), p.multiProcessorCount,
            p.maxThreadsPerMultiProcessor, p.warpSize)


def versions():
    """The version of the runtime that was built against, and of the one in use."""
    cdef int v = 0
    check(cudaRuntimeGetVersion(&v))
    return CUDART_VERSION, v


def synchronize(int device):
    """Wait for all work of a device."""
    cdef cudaError_t status
    use(device)
    with nogil:
        status = cudaDeviceSynchronize()
    check(status)


# ---------------------------------------------------------------- memory

cdef class Allocation:
    """A block of device memory, given back when this dies: perhaps at exit, when the runtime is gone."""
    cdef void* at

    def __dealloc__(self):
        if self.at != NULL:
            shim_release(self.at)


cdef void* allocated(int device, size_t nbytes, cudaStream_t stream) except? NULL:
    """A block of a device's memory, which belongs to a stream; nbytes > 0."""
    cdef void* at = NULL
    cdef cudaError_t status
    use(device)
    status = shim_allocate(device, nbytes, stream, &at)
    if status == cudaErrorMemoryAllocation:
        raise OutOfMemoryError(shortage(device, nbytes))
    check(status)
    return at


def allocate(int device, size_t nbytes, uintptr_t stream):
    """The address of a block of a device's memory, which belongs to a stream until ``release``."""
    return <uintptr_t>allocated(device, max(nbytes, 1), <cudaStream_t>stream)


def release(uintptr_t at):
    """Give a block of ``allocate`` back."""
    shim_release(<void*>at)


cdef Storage device_storage(int device, size_t nbytes, object place):
    """A Storage on fresh memory of a device, which belongs to the current stream."""
    cdef Allocation owner = Allocation()
    cdef Storage s
    if nbytes:
        owner.at = allocated(device, nbytes, current_stream_of(device))
    s = borrow(<char*>owner.at, nbytes, owner, True)
    s.place = place
    return s


def in_units(n):
    """A number of bytes as torch's messages write it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if n >= unit:
            return f"{n / unit:.2f} {name}"
    return f"{n} bytes"


cdef str shortage(int device, size_t nbytes):
    cdef size_t available = 0, total = 0
    cdef shim_memory_stats stats
    cudaMemGetInfo(&available, &total)
    shim_memory_statistics(device, &stats)
    used, held = stats.bytes[0].current, stats.reserved[0].current
    return (f"CUDA out of memory. Tried to allocate {in_units(nbytes)}. GPU {device} has a total capacity of "
            f"{in_units(total)} of which {in_units(available)} is free. Of the allocated memory {in_units(used)} is "
            f"allocated by PyTorch, and {in_units(held - used)} is reserved by PyTorch but unallocated.")


def mem_get_info(int device):
    """Free and total bytes of a device, as the driver sees them."""
    cdef size_t available = 0, total = 0
    use(device)
    check(cudaMemGetInfo(&available, &total))
    return available, total


cdef dict counter(shim_counter c):
    return {"current": c.current, "peak": c.peak, "allocated": c.allocated, "freed": c.freed}


def memory_stats(int device):
    """The allocator's counters: {name: {pool: {current, peak, allocated, freed}}}, and the plain ones."""
    cdef shim_memory_stats s
    cdef int i
    shim_memory_statistics(device, &s)
    stats = {}
    for i, pool in enumerate(("all", "small_pool", "large_pool")):
        for name, c in (("allocated_bytes", counter(s.bytes[i])), ("allocation", counter(s.blocks[i])),
                        ("reserved_bytes", counter(s.reserved[i])), ("segment", counter(s.segments[i])),
                        ("requested_bytes", counter(s.requested[i]))):
            stats.setdefault(name, {})[pool] = c
    stats.update(num_alloc_retries=s.retries, num_ooms=s.failures)
    return stats


def empty_cache(int device):
    """Give cached memory back to the driver."""
    use(device)
    check(shim_empty_cache(device))


def limit_memory(int device, int64_t nbytes):
    """Never take more than so many bytes from the driver."""
    shim_limit_memory(device, nbytes)


def reset_peaks(int device):
    """Let the peaks start from what is used now."""
    shim_reset_peaks(device)


def reset_totals(int device):
    """Let the totals start from zero."""
    shim_reset_totals(device)


def record_stream(Storage storage not None, uintptr_t stream):
    """Another stream uses a Storage: its memory is not reused before the stream has passed the Storage's end."""
    cdef Storage root = storage.root()
    if root.data != NULL:
        shim_used_by(root.data, <cudaStream_t>stream)


cdef class PinnedBlock:
    """Memory of the CPU that the device reads and writes by itself, while the program goes on."""
    cdef void* at
    cdef readonly size_t nbytes

    def __cinit__(self, size_t nbytes):
        check(cudaMallocHost(&self.at, nbytes if nbytes else 1))
        self.nbytes = nbytes

    def __dealloc__(self):
        if self.at != NULL:
            cudaDeviceSynchronize()    # a copy that was not waited for may still be under way
            cudaFreeHost(self.at)

    def storage(self):
        """A Storage on the block."""
        return borrow(<char*>self.at, self.nbytes, self, True)


def is_pinned(Storage storage not None):
    """Whether a Storage's memory is pinned."""
    return isinstance((<Storage>storage.root()).owner, PinnedBlock)


# ---------------------------------------------------------------- streams and events

cdef cudaStream_t current_stream_of(int device) noexcept:
    return <cudaStream_t>shim_current_streams[device]


cdef int wait_for(cudaStream_t stream) except -1:
    """Wait for all work of a stream."""
    cdef cudaError_t status
    with nogil:
        status = cudaStreamSynchronize(stream)
    return check(status)


def current_stream(int device):
    """The handle of this thread's current stream of a device."""
    return <uintptr_t>current_stream_of(device)


def set_stream(int device, uintptr_t stream):
    """Make a stream this thread's current one of a device."""
    shim_current_streams[device] = <void*>stream


def new_stream(int device):
    """The handle of a stream from the device's pool."""
    cdef int i = pool_used[device] % POOL
    use(device)
    if stream_pool[device][i] == NULL:
        check(cudaStreamCreateWithFlags(&stream_pool[device][i], cudaStreamNonBlocking))
    pool_used[device] += 1
    return <uintptr_t>stream_pool[device][i]


def stream_synchronize(uintptr_t stream):
    """Wait for all work of a stream."""
    wait_for(<cudaStream_t>stream)


def stream_query(uintptr_t stream):
    """Whether all work of a stream is done."""
    cdef cudaError_t status = cudaStreamQuery(<cudaStream_t>stream)
    if status == cudaErrorNotReady:
        cudaGetLastError()
        return False
    check(status)
    return True


cdef class EventHandle:
    """An event of the runtime, made when it is first recorded."""
    cdef cudaEvent_t event
    cdef bint timing, blocking

    def __cinit__(self, bint timing, bint blocking):
        self.timing, self.blocking = timing, blocking

    def __dealloc__(self):
        if self.event != NULL:
            cudaEventDestroy(self.event)

    def record(self, uintptr_t stream):
        """Stand behind the work that the stream has now."""
        if self.event == NULL:
            check(cudaEventCreateWithFlags(&self.event, (cudaEventDefault if self.timing else cudaEventDisableTiming)
                                           | (cudaEventBlockingSync if self.blocking else 0)))
        check(cudaEventRecord(self.event, <cudaStream_t>stream))

    def wait(self, uintptr_t stream):
        """Let the stream's further work begin after the event."""
        if self.event != NULL:
            check(cudaStreamWaitEvent(<cudaStream_t>stream, self.event, 0))

    def query(self):
        """Whether the work before the event is done."""
        cdef cudaError_t status
        if self.event == NULL:
            return True
        status = cudaEventQuery(self.event)
        if status == cudaErrorNotReady:
            cudaGetLastError()
            return False
        check(status)
        return True

    def synchronize(self):
        """Wait for the event."""
        cdef cudaError_t status
        if self.event != NULL:
            with nogil:
                status = cudaEventSynchronize(self.event)
            check(status)

    def elapsed_time(self, EventHandle end not None):
        """Milliseconds from this event to another."""
        cdef float ms = 0
        if not (self.timing and end.timing):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if self.event == NULL or end.event == NULL:
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        check(cudaEventElapsedTime(&ms, self.event, end.event))
        return ms

    @property
    def handle(self):
        """The address of the event; 0 before it is recorded."""
        return <uintptr_t>self.event
