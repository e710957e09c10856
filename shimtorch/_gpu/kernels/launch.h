/* One spelling of a kernel launch for nvcc and for the host emulator. */
#pragma once
#include <cuda_runtime.h>

#ifdef __CUDACC__
#define SHIM_LAUNCH(kernel, grid, block, shared, stream, ...) \
    SHIM_UNWRAP kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__)
#define SHIM_UNWRAP(...) __VA_ARGS__
#else
#include "shimemu_device.h"
#define SHIM_UNWRAP(...) __VA_ARGS__
#define SHIM_LAUNCH(kernel, grid, block, shared, stream, ...) \
    ::shimemu::launch<SHIM_UNWRAP kernel>(#kernel, (grid), (block), (shared), (stream), __VA_ARGS__)
#endif

namespace shim {

enum { THREADS = 256, MOST_BLOCKS = 4096 };

/* Blocks of THREADS for n elements; kernels stride over what is left. */
inline unsigned blocks_for(long long n, int per_block = THREADS) {
    const long long blocks = (n + per_block - 1) / per_block;
    return (unsigned)(blocks < 1 ? 1 : blocks > MOST_BLOCKS ? MOST_BLOCKS : blocks);
}

}  // namespace shim

/* for (each of this thread's elements i of n) */
#define SHIM_EACH(i, n)                                                                                   \
    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x, i##_step = (int64_t)gridDim.x * blockDim.x; \
         i < (n); i += i##_step)
