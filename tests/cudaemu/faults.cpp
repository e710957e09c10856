/* Mistakes that the emulator is there to find: `faults NAME` makes one of them. tests/cuda/test_emulator.py says what
 * must come of each. */
#include <cstdio>
#include <cstring>

#include "../../shimtorch/_gpu/kernels/launch.h"

namespace {

int *on_device(int n) {
    int *at = nullptr;
    cudaMalloc((void **)&at, n * sizeof(int));
    cudaMemsetAsync(at, 0, n * sizeof(int), nullptr);
    return at;
}

int value_of(const int *at) {
    int value = -1;
    cudaMemcpyAsync(&value, at, sizeof value, cudaMemcpyDeviceToHost, nullptr);
    cudaStreamSynchronize(nullptr);
    return value;
}

}  // namespace

/* a sum of 256 ones over shared memory, with or without the barriers it needs */
__global__ void sum(int *out, int with_barriers) {
    __shared__ int part[256];
    const unsigned t = threadIdx.x;
    part[t] = 1;
    if (with_barriers) __syncthreads();
    for (unsigned half = 128; half > 0; half /= 2) {
        if (t < half) part[t] += part[t + half];
        if (with_barriers) __syncthreads();
    }
    if (t == 0) *out = part[0];
}

__global__ void divergent(int *out) {
    if (threadIdx.x < 32)
        __syncthreads();
    else
        __syncthreads();
    *out = 1;
}

__global__ void absent_lane(int *out) {
    if (threadIdx.x < 16)
        *out = __shfl_down_sync(0xffffffffu, 1, 1);
    else
        __syncthreads();
}

__global__ void set(int *out, int i, int value) { out[i] = value; }

static void reduction(int with_barriers) {
    int *out = on_device(1);
    SHIM_LAUNCH((sum), 1, 256, 0, nullptr, out, with_barriers);
    printf("%d\n", value_of(out));
}

static void run(const char *name) {
    cudaStream_t a, b;
    cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    int *x = on_device(64);
    cudaDeviceSynchronize();
    if (!strcmp(name, "no_fault")) {
        reduction(1);
    } else if (!strcmp(name, "missing_barrier")) {
        reduction(0);
    } else if (!strcmp(name, "divergent_barrier")) {
        SHIM_LAUNCH((divergent), 1, 64, 0, nullptr, x);
        cudaDeviceSynchronize();
    } else if (!strcmp(name, "absent_lane")) {
        SHIM_LAUNCH((absent_lane), 1, 32, 0, nullptr, x);
        cudaDeviceSynchronize();
    } else if (!strcmp(name, "host_read")) {
        printf("%d\n", *(volatile int *)x);
    } else if (!strcmp(name, "large_block")) {
        SHIM_LAUNCH((set), 1, 2048, 0, nullptr, x, 0, 1);
        printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    } else if (!strcmp(name, "behind_a_block")) {
        SHIM_LAUNCH((set), 1, 1, 0, nullptr, x, 64, 1);
        cudaDeviceSynchronize();
    } else if (!strcmp(name, "missing_wait")) {
        SHIM_LAUNCH((set), 1, 1, 0, a, x, 0, 5);
        int seen = -1;
        cudaMemcpyAsync(&seen, x, sizeof seen, cudaMemcpyDeviceToHost, b);
        printf("%d\n", seen);
    } else if (!strcmp(name, "early_pinned_read")) {
        int *pinned = nullptr;
        cudaMallocHost((void **)&pinned, sizeof(int));
        *pinned = -1;
        SHIM_LAUNCH((set), 1, 1, 0, a, x, 0, 5);
        cudaMemcpyAsync(pinned, x, sizeof(int), cudaMemcpyDeviceToHost, a);
        printf("%d\n", *pinned);
    } else if (!strcmp(name, "copy_beyond")) {
        int host[128];
        printf("%s\n", cudaGetErrorName(cudaMemcpyAsync(host, x, 4096, cudaMemcpyDeviceToHost, nullptr)));
    } else if (!strcmp(name, "no_memory")) {
        void *at;
        printf("%s\n", cudaGetErrorName(cudaMalloc(&at, (size_t)1 << 40)));
    } else {
        printf("unknown\n");
    }
}

int main(int argc, char **argv) {
    run(argc > 1 ? argv[1] : "no_fault");
    return 0;
}
