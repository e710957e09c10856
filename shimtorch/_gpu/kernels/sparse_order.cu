/* Entries in the order of their coordinates: packed keys, a stable radix sort, prefix sums, groups of equal coordinates. */
#include "launch.h"
#include "sparse.h"

namespace shim {

enum { SCAN_EACH = 4, SCAN_TILE = THREADS * SCAN_EACH };
enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS, SORT_ROUNDS = 8, SORT_TILE = THREADS * SORT_ROUNDS, WARPS = THREADS / 32 };

inline int64_t tiles_of(int64_t n, int64_t tile) { return (n + tile - 1) / tile; }

/* ---- prefix sums: of tiles, of the tiles' sums, and so on ---- */

/* The sum before this thread's number within the block, and in whole the sum of all. */
__device__ int64_t before_in_block(int64_t mine, int64_t *whole) {
    __shared__ int64_t ring[2][THREADS];
    const int t = (int)threadIdx.x;
    int now = 0;
    ring[0][t] = mine;
    __syncthreads();
    for (int reach = 1; reach < THREADS; reach *= 2) {
        ring[1 - now][t] = ring[now][t] + (t >= reach ? ring[now][t - reach] : 0);
        now = 1 - now;
        __syncthreads();
    }
    const int64_t through = ring[now][t];
    *whole = ring[now][THREADS - 1];
    __syncthreads();
    return through - mine;
}

__global__ void tile_sums(const int64_t *in, int64_t n, int64_t *sums) {
    const int64_t first = (int64_t)blockIdx.x * SCAN_TILE + (int64_t)threadIdx.x * SCAN_EACH;
    int64_t sum = 0, whole;
    for (int k = 0; k < SCAN_EACH; k++)
        if (first + k < n) sum += in[first + k];
    before_in_block(sum, &whole);
    if (threadIdx.x == 0) sums[blockIdx.x] = whole;
}

/* before: what comes before each tile; NULL for a single one */
__global__ void tile_prefix(const int64_t *in, int64_t *out, int64_t n, int exclusive, const int64_t *before) {
    const int64_t first = (int64_t)blockIdx.x * SCAN_TILE + (int64_t)threadIdx.x * SCAN_EACH;
    int64_t numbers[SCAN_EACH], sum = 0, whole;
    for (int k = 0; k < SCAN_EACH; k++) {
        numbers[k] = first + k < n ? in[first + k] : 0;
        sum += numbers[k];
    }
    int64_t running = before_in_block(sum, &whole) + (before ? before[blockIdx.x] : 0);
    for (int k = 0; k < SCAN_EACH; k++) {
        if (first + k < n) out[first + k] = exclusive ? running : running + numbers[k];
        running += numbers[k];
    }
}

/* ---- keys ---- */

struct Bits {
    unsigned char of[SHIM_SPARSE_DIMS];
};

__global__ void pack(shim_entries e, int first, int last, Bits bits, const int64_t *order, uint64_t *keys) {
    SHIM_EACH(i, e.nnz) {
        const int64_t *entry = e.data + (order ? order[i] : i) * e.entry_step;
        uint64_t key = 0;
        for (int d = first; d <= last; d++) {
            if (bits.of[d] < 64) key <<= bits.of[d];
            key |= (uint64_t)entry[d * e.dim_step];
        }
        keys[i] = key;
    }
}

/* ---- the sort: for each digit from the last, count it in each tile, and move the keys behind the lesser ones ---- */

/* counts[digit * tiles + tile] */
__global__ void count_digits(const uint64_t *keys, int64_t n, int shift, int64_t *counts) {
    __shared__ unsigned here[DIGITS];
    for (int d = (int)threadIdx.x; d < DIGITS; d += THREADS) here[d] = 0;
    __syncthreads();
    const int64_t first = (int64_t)blockIdx.x * SORT_TILE;
    for (int k = 0; k < SORT_ROUNDS; k++) {
        const int64_t i = first + k * THREADS + threadIdx.x;
        if (i < n) atomicAdd(&here[keys[i] >> shift & (DIGITS - 1)], 1u);
    }
    __syncthreads();
    for (int d = (int)threadIdx.x; d < DIGITS; d += THREADS) counts[(int64_t)d * gridDim.x + blockIdx.x] = here[d];
}

/* places: the prefix sums of the counts. Keys of a round are numbered warp by warp, those of a warp by lane. */
__global__ void move_by_digit(const uint64_t *keys, const int64_t *order, int64_t n, int shift, int fresh,
                              const int64_t *places, uint64_t *to_keys, int64_t *to_order) {
    __shared__ int64_t next[DIGITS];             /* where the next key of a digit goes */
    __shared__ int64_t base[WARPS][DIGITS];      /* of a round: the number of a warp's keys, then where they go */
    const int t = (int)threadIdx.x, warp = t / 32, lane = t % 32;
    for (int d = t; d < DIGITS; d += THREADS) next[d] = places[(int64_t)d * gridDim.x + blockIdx.x];
    const int64_t first = (int64_t)blockIdx.x * SORT_TILE;
    for (int k = 0; k < SORT_ROUNDS; k++) {
        const int64_t start = first + k * THREADS, i = start + t;
        if (start >= n) break;                   /* the same for the whole block */
        for (int w = 0; w < WARPS; w++)
            for (int d = t; d < DIGITS; d += THREADS) base[w][d] = 0;
        __syncthreads();
        const uint64_t key = i < n ? keys[i] : 0;
        const unsigned digit = (unsigned)(key >> shift & (DIGITS - 1));
        unsigned alike = __ballot_sync(0xffffffffu, i < n);
        for (int b = 0; b < DIGIT_BITS; b++) {
            const unsigned set = __ballot_sync(0xffffffffu, digit >> b & 1);
            alike &= digit >> b & 1 ? set : ~set;
        }
        const int rank = __popc(alike & ((1u << lane) - 1));
        if (i < n && rank == 0) base[warp][digit] = __popc(alike);
        __syncthreads();
        for (int d = t; d < DIGITS; d += THREADS)
            for (int w = 0; w < WARPS; w++) {
                const int64_t count = base[w][d];
                base[w][d] = next[d];
                next[d] += count;
            }
        __syncthreads();
        if (i < n) {
            const int64_t to = base[warp][digit] + rank;
            to_keys[to] = key;
            to_order[to] = fresh ? i : order[i];
        }
        __syncthreads();
    }
}

__global__ void count_up(int64_t *out, int64_t n) {
    SHIM_EACH(i, n) out[i] = i;
}

/* ---- groups ---- */

__global__ void find_heads(shim_entries e, const int64_t *order, int64_t *heads) {
    SHIM_EACH(i, e.nnz) {
        int64_t head = i == 0;
        if (i > 0) {
            const int64_t *mine = e.data + order[i] * e.entry_step, *last = e.data + order[i - 1] * e.entry_step;
            for (int d = 0; d < e.dims; d++) head |= mine[d * e.dim_step] != last[d * e.dim_step];
        }
        heads[i] = head;
    }
}

__global__ void find_starts(const int64_t *sums, int64_t n, int64_t count, int64_t *starts) {
    SHIM_EACH(i, n) {
        if (i == 0 || sums[i] != sums[i - 1]) starts[sums[i] - 1] = i;
        if (i == 0) starts[count] = n;
    }
}

__global__ void invert(const int64_t *sums, const int64_t *order, int64_t n, int64_t *inverse) {
    SHIM_EACH(i, n) inverse[order[i]] = sums[i] - 1;
}

}  // namespace shim

using namespace shim;

extern "C" int64_t shim_prefix_space(int64_t n) {
    int64_t numbers = 0;
    while (n > SCAN_TILE) numbers += n = tiles_of(n, SCAN_TILE);
    return numbers * 8 + 16;
}

extern "C" cudaError_t shim_prefix(const int64_t *in, int64_t *out, int64_t n, int exclusive, void *space,
                                   cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    const unsigned tiles = (unsigned)tiles_of(n, SCAN_TILE);
    int64_t *sums = tiles > 1 ? (int64_t *)space : nullptr;
    if (sums) {
        SHIM_LAUNCH((tile_sums), tiles, THREADS, 0, stream, in, n, sums);
        const cudaError_t status = shim_prefix(sums, sums, tiles, 1, sums + tiles, stream);
        if (status != cudaSuccess) return status;
    }
    SHIM_LAUNCH((tile_prefix), tiles, THREADS, 0, stream, in, out, n, exclusive, (const int64_t *)sums);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_pack(const shim_entries *e, int first, int last, const int *bits, const int64_t *order,
                                 uint64_t *keys, cudaStream_t stream) {
    if (e->nnz == 0) return cudaSuccess;
    Bits packed = {};
    for (int d = first; d <= last; d++) packed.of[d] = (unsigned char)bits[d];
    SHIM_LAUNCH((pack), blocks_for(e->nnz), THREADS, 0, stream, *e, first, last, packed, order, keys);
    return cudaGetLastError();
}

extern "C" int64_t shim_sort_keys_space(int64_t n) {
    const int64_t counts = tiles_of(n, SORT_TILE) * DIGITS;
    return counts * 8 + shim_prefix_space(counts);
}

extern "C" int shim_sort_keys_turns(int bits) { return (bits + DIGIT_BITS - 1) / DIGIT_BITS; }

extern "C" cudaError_t shim_sort_keys(uint64_t *keys, int64_t *order, uint64_t *other_keys, int64_t *other_order, int64_t n,
                                 int bits, int fresh, void *space, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    const int turns = shim_sort_keys_turns(bits);
    if (turns == 0 && fresh) SHIM_LAUNCH((count_up), blocks_for(n), THREADS, 0, stream, order, n);
    const unsigned tiles = (unsigned)tiles_of(n, SORT_TILE);
    int64_t *counts = (int64_t *)space;
    for (int turn = 0; turn < turns; turn++) {
        SHIM_LAUNCH((count_digits), tiles, THREADS, 0, stream, (const uint64_t *)keys, n, turn * DIGIT_BITS, counts);
        const cudaError_t status =
            shim_prefix(counts, counts, (int64_t)tiles * DIGITS, 1, counts + (int64_t)tiles * DIGITS, stream);
        if (status != cudaSuccess) return status;
        SHIM_LAUNCH((move_by_digit), tiles, THREADS, 0, stream, (const uint64_t *)keys, (const int64_t *)order, n,
                    turn * DIGIT_BITS, (int)(fresh && turn == 0), (const int64_t *)counts, other_keys, other_order);
        uint64_t *swap_keys = keys;
        int64_t *swap_order = order;
        keys = other_keys;
        order = other_order;
        other_keys = swap_keys;
        other_order = swap_order;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_heads(const shim_entries *e, const int64_t *order, int64_t *heads, cudaStream_t stream) {
    if (e->nnz == 0) return cudaSuccess;
    SHIM_LAUNCH((find_heads), blocks_for(e->nnz), THREADS, 0, stream, *e, order, heads);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_starts(const int64_t *sums, int64_t n, int64_t count, int64_t *starts,
                                   cudaStream_t stream) {
    if (n == 0) return cudaMemsetAsync(starts, 0, 8, stream);
    SHIM_LAUNCH((find_starts), blocks_for(n), THREADS, 0, stream, sums, n, count, starts);
    return cudaGetLastError();
}

extern "C" cudaError_t shim_inverse(const int64_t *sums, const int64_t *order, int64_t n, int64_t *inverse,
                                    cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    SHIM_LAUNCH((invert), blocks_for(n), THREADS, 0, stream, sums, order, n, inverse);
    return cudaGetLastError();
}
