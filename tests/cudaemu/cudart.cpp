/* Stand-in for libcudart: devices, memory, copies, errors. Streams and kernels are in streams.cpp and fibers.cpp. */
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "shimemu.h"

namespace shimemu {

namespace {

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

int devices() {
    static const int n = (int)setting("SHIMEMU_DEVICES", 1);
    return n;
}

std::map<char *, size_t> &pinned() {
    static auto *all = new std::map<char *, size_t>;
    return *all;
}

bool is_pinned(const void *at) {
    auto block = pinned().upper_bound((char *)at);
    if (block == pinned().begin()) return false;
    --block;
    return (char *)at < block->first + block->second;
}

/* What keeps the process from using a device: SHIMEMU_DEVICES=0 for none, -1 for no driver. */
cudaError_t unusable() { return devices() > 0 ? cudaSuccess : devices() < 0 ? cudaErrorInsufficientDriver : cudaErrorNoDevice; }

}  // namespace

cudaError_t failed(cudaError_t error) {
    if (error != cudaSuccess) last_error = error;
    return error;
}

}  // namespace shimemu

using namespace shimemu;

extern "C" {

cudaError_t cudaGetDeviceCount(int *n) {
    *n = devices() > 0 ? devices() : 0;
    return failed(unusable());
}

cudaError_t cudaGetDevice(int *device) {
    *device = current_device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
    if (device < 0 || device >= devices()) return failed(cudaErrorInvalidDevice);
    current_device = device;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int) {
    switch ((int)attribute) {
    case cudaDevAttrComputeCapabilityMajor: *value = 9; break;
    case cudaDevAttrMultiProcessorCount: *value = 4; break;
    default: *value = 0;
    }
    return cudaSuccess;
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int device) {
    if (device < 0 || device >= devices()) return failed(cudaErrorInvalidDevice);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Host emulator");
    p->totalGlobalMem = arena_size();
    p->major = 9;
    p->multiProcessorCount = 4;
    p->warpSize = 32;
    p->maxThreadsPerBlock = 1024;
    p->maxThreadsPerMultiProcessor = 2048;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *total = arena_size();
    *available = arena_size() - arena_used();
    return cudaSuccess;
}

cudaError_t cudaMalloc(void **at, size_t bytes) {
    if (unusable()) return failed(unusable());
    *at = take(bytes);
    return *at ? cudaSuccess : failed(cudaErrorMemoryAllocation);
}

cudaError_t cudaFree(void *at) {
    if (!at) return cudaSuccess;
    drain_all(); /* freeing waits for the device */
    return give(at) ? cudaSuccess : failed(cudaErrorInvalidValue);
}

cudaError_t cudaMallocHost(void **at, size_t bytes) {
    *at = malloc(bytes ? bytes : 1);
    pinned()[(char *)*at] = bytes;
    return cudaSuccess;
}

cudaError_t cudaFreeHost(void *at) {
    drain_all();
    pinned().erase((char *)at);
    free(at);
    return cudaSuccess;
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *a, const void *at) {
    memset(a, 0, sizeof *a);
    a->type = is_device(at, 1) ? cudaMemoryTypeDevice : is_pinned(at) ? cudaMemoryTypeHost : cudaMemoryTypeUnregistered;
    a->devicePointer = a->type == cudaMemoryTypeDevice ? (void *)at : nullptr;
    return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, cudaMemcpyKind kind, cudaStream_t stream) {
    if (!n) return cudaSuccess;
    const bool to_device = in_arena(to), from_device = in_arena(from);
    if ((to_device && !is_device(to, n)) || (from_device && !is_device(from, n))) {
        fail("a copy of %zu bytes leaves its block", n);
        return failed(cudaErrorInvalidValue);
    }
    const cudaMemcpyKind fits = to_device ? (from_device ? cudaMemcpyDeviceToDevice : cudaMemcpyHostToDevice)
                                          : (from_device ? cudaMemcpyDeviceToHost : cudaMemcpyHostToHost);
    if (kind != cudaMemcpyDefault && kind != fits) {
        fail("the kind of a copy does not fit its pointers");
        return failed(cudaErrorInvalidValue);
    }
    if (!from_device && !is_pinned(from)) { /* pageable memory is read at the call, pinned memory late */
        auto staged = std::make_shared<std::vector<char>>((char *)from, (char *)from + n);
        enqueue(stream, [=] { memcpy(to, staged->data(), n); }, "a copy to the device");
        return cudaSuccess;
    }
    enqueue(stream, [=] { memcpy(to, from, n); }, "a copy");
    if (!to_device && !is_pinned(to)) drain(stream);
    return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void *at, int value, size_t n, cudaStream_t stream) {
    if (n && !is_device(at, n)) return failed(cudaErrorInvalidValue);
    enqueue(stream, [=] { memset(at, value, n); }, "cudaMemsetAsync");
    return cudaSuccess;
}

cudaError_t cudaGetLastError(void) {
    const cudaError_t error = last_error;
    last_error = cudaSuccess;
    return error;
}

cudaError_t cudaPeekAtLastError(void) { return last_error; }

const char *cudaGetErrorName(cudaError_t error) {
    switch ((int)error) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorInvalidConfiguration: return "cudaErrorInvalidConfiguration";
    case cudaErrorInvalidDeviceFunction: return "cudaErrorInvalidDeviceFunction";
    case cudaErrorInvalidResourceHandle: return "cudaErrorInvalidResourceHandle";
    default: return "cudaErrorUnknown";
    }
}

const char *cudaGetErrorString(cudaError_t error) {
    switch ((int)error) {
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInsufficientDriver: return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice: return "no CUDA-capable device is detected";
    case cudaErrorInvalidDevice: return "invalid device ordinal";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInvalidValue: return "invalid argument";
    default: return cudaGetErrorName(error);
    }
}

}
