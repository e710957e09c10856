/* What the emulator's parts know of one another. */
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>

namespace shimemu {

long setting(const char *name, long otherwise); /* a whole number from the environment */
void fail(const char *format, ...);             /* report misuse; SHIMEMU_STRICT=1 aborts */
cudaError_t failed(cudaError_t error);          /* remember an error for cudaGetLastError */

std::recursive_mutex &lock(); /* one thread at a time works in the emulator */

/* ---- device memory ---- */
void *take(size_t bytes);                        /* NULL: there is no room */
bool give(void *at);                             /* false: no block begins there */
bool in_arena(const void *at);                   /* lies in the range that all device memory comes from */
bool is_device(const void *at, size_t bytes);    /* lies wholly in one live block */
size_t arena_size();
size_t arena_used();
void check_canaries(const char *what);           /* report bytes written behind a block */

struct Open { /* while one lives, device memory is accessible */
    Open();
    ~Open();
};

/* ---- streams ---- */
void enqueue(cudaStream_t stream, std::function<void()> work, const char *what);
void drain(cudaStream_t stream); /* run all that is queued on it */
void drain_all();

/* ---- kernels ---- */
cudaError_t run_grid(dim3 grid, dim3 block, size_t shared, cudaStream_t stream, std::function<void()> body,
                     const char *name);

}  // namespace shimemu
