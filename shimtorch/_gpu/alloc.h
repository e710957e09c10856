/* A caching allocator of device memory, with torch's rounding and statistics. */
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHIM_POOLS = 3 }; /* all, small, large */

typedef struct {
    int64_t current, peak, allocated, freed;
} shim_counter;

typedef struct {
    shim_counter bytes[SHIM_POOLS];          /* of blocks in use */
    shim_counter blocks[SHIM_POOLS];         /* their number */
    shim_counter reserved[SHIM_POOLS];       /* bytes of segments, taken from the driver */
    shim_counter segments[SHIM_POOLS];       /* their number */
    shim_counter requested[SHIM_POOLS];      /* bytes asked for, not rounded */
    int64_t retries, failures;
} shim_memory_stats;

/* A block of at least n bytes (n > 0) that belongs to a stream. */
cudaError_t shim_allocate(int device, size_t n, cudaStream_t stream, void **at);
/* Gives a block back; never waits. Blocks that other streams used come back when these have passed. */
void shim_release(void *at);
/* Another stream uses the block: it must not be given to others before that stream has passed its release. */
void shim_used_by(void *at, cudaStream_t stream);
/* Gives segments without a block in use back to the driver. */
cudaError_t shim_empty_cache(int device);
/* Never to take more than so many bytes from the driver: what has been taken stays. */
void shim_limit_memory(int device, int64_t bytes);
void shim_memory_statistics(int device, shim_memory_stats *out);
void shim_reset_peaks(int device);
void shim_reset_totals(int device);

#ifdef __cplusplus
}
#endif
