/* Sorting rows, searching sorted ones, running extremes. Rows are sorted by a bitonic network over (key, place): no two
 * are equal, so ties keep their order. Steps that reach less far than a block's elements are done in shared memory. */
#include "dense.h"
#include "numbers.h"

namespace shim {

enum { NETWORK_THREADS = 256, NETWORK_SPAN = 2 * NETWORK_THREADS };

/* ---- keys: 64 bits that are in order as the elements are, NaN last ---- */

template <typename S>
__device__ uint64_t key_of(S x) {
    typedef typename number<S>::type T;
    const T v = number<S>::load(x);
    if constexpr (number<S>::category == FLOATING) {
        const double wide = (double)v + 0.0; /* -0 is 0's equal */
        uint64_t bits;
        memcpy(&bits, &wide, 8);
        if (wide != wide) return ~(uint64_t)0;
        return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
    } else if constexpr (number<S>::category == INTEGER && T(-1) < T(0)) {
        return (uint64_t)(int64_t)v ^ (uint64_t)1 << 63;
    } else {
        return (uint64_t)v;
    }
}

template <typename S>
__global__ void make_keys(const S *from, uint64_t *keys, int64_t *places, int64_t n_rows, int64_t n, int64_t padded,
                          int descending) {
    SHIM_EACH(i, n_rows * padded) {
        const int64_t row = i / padded, at = i % padded;
        uint64_t key = ~(uint64_t)0;
        if (at < n) {
            key = key_of(from[row * n + at]);
            if (descending) key = ~key;
        }
        keys[i] = key;
        places[i] = at; /* those behind the end have the greatest keys, and places behind all others */
    }
}

/* ---- the network ---- */

__device__ void exchange(uint64_t *keys, int64_t *places, int64_t a, int64_t b, bool ascending) {
    const bool swap = keys[a] != keys[b] ? keys[a] > keys[b] : places[a] > places[b];
    if (swap != ascending) return;
    const uint64_t key = keys[a];
    const int64_t place = places[a];
    keys[a] = keys[b];
    places[a] = places[b];
    keys[b] = key;
    places[b] = place;
}

/* One step: elements `reach` apart, in runs of `run` that go up and down in turn. */
__global__ void network_step(uint64_t *keys, int64_t *places, int64_t pairs, int64_t padded, int64_t run,
                             int64_t reach) {
    SHIM_EACH(i, pairs) {
        const int64_t a = i / reach * 2 * reach + i % reach;
        exchange(keys, places, a, a + reach, (a % padded & run) == 0);
    }
}

/* All steps of the runs from `run` to `last` that reach less than a block's elements. */
__global__ void network_within(uint64_t *keys, int64_t *places, int64_t padded, int64_t span, int64_t run,
                               int64_t last, int64_t blocks) {
    __shared__ uint64_t key[NETWORK_SPAN];
    __shared__ int64_t place[NETWORK_SPAN];
    const int t = (int)threadIdx.x, half = (int)(span / 2);
    for (int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
        const int64_t first = block * span;
        for (int i = t; i < span; i += NETWORK_THREADS) {
            key[i] = keys[first + i];
            place[i] = places[first + i];
        }
        __syncthreads();
        for (int64_t r = run; r <= last; r *= 2) {
            for (int64_t reach = r / 2 < half ? r / 2 : half; reach > 0; reach /= 2) {
                if (t < half) {
                    const int64_t a = t / reach * 2 * reach + t % reach;
                    exchange(key, place, a, a + reach, ((first + a) % padded & r) == 0);
                }
                __syncthreads();
            }
        }
        for (int i = t; i < span; i += NETWORK_THREADS) {
            keys[first + i] = key[i];
            places[first + i] = place[i];
        }
        __syncthreads();
    }
}

template <typename S>
__global__ void take_sorted(const S *from, const int64_t *places, S *values, int64_t *indices, int64_t n_rows,
                            int64_t n, int64_t padded) {
    SHIM_EACH(i, n_rows * n) {
        const int64_t row = i / n, place = places[row * padded + i % n];
        values[i] = from[row * n + place];
        indices[i] = place;
    }
}

cudaError_t run_network(uint64_t *keys, int64_t *places, int64_t n_rows, int64_t padded, cudaStream_t stream) {
    const int64_t total = n_rows * padded, span = padded < NETWORK_SPAN ? padded : NETWORK_SPAN;
    if (padded < 2) return cudaSuccess;
    SHIM_LAUNCH((network_within), blocks_for(total / span, 1), NETWORK_THREADS, 0, stream, keys, places, padded, span,
                (int64_t)2, span, total / span);
    for (int64_t run = 2 * span; run <= padded; run *= 2) {
        for (int64_t reach = run / 2; reach >= span; reach /= 2)
            SHIM_LAUNCH((network_step), blocks_for(total / 2), THREADS, 0, stream, keys, places, total / 2, padded, run,
                        reach);
        SHIM_LAUNCH((network_within), blocks_for(total / span, 1), NETWORK_THREADS, 0, stream, keys, places, padded,
                    span, run, run, total / span);
    }
    return cudaGetLastError();
}

/* ---- searching ---- */

template <typename S>
__global__ void search(const S *sorted, const S *values, int64_t *out, int64_t rows, int64_t n, int64_t n_values,
                       int one_row, int right) {
    SHIM_EACH(i, rows * n_values) {
        const S *row = sorted + (one_row ? 0 : i / n_values * n);
        const auto x = number<S>::load(values[i]);
        int64_t low = 0, high = n;
        while (low < high) {
            const int64_t middle = low + (high - low) / 2;
            const auto v = number<S>::load(row[middle]);
            if (right ? !(v > x) : !(v >= x)) /* so that NaN comes last */
                low = middle + 1;
            else
                high = middle;
        }
        out[i] = low;
    }
}

/* ---- running extremes ---- */

template <typename S>
__global__ void running(int largest, const S *from, S *to, int64_t *places, int64_t rows, int64_t n, int64_t inner) {
    SHIM_EACH(row, rows) {
        const int64_t first = row / inner * n * inner + row % inner;
        auto best = number<S>::load(from[first]);
        int64_t at = 0;
        for (int64_t i = 0; i < n; i++) {
            const auto x = number<S>::load(from[first + i * inner]);
            if (best == best && (x != x || (largest ? x >= best : x <= best))) {
                best = x;
                at = i;
            }
            to[first + i * inner] = number<S>::store(best);
            places[first + i * inner] = at;
        }
    }
}

}  // namespace shim

using namespace shim;

#define SHIM_REALS(...) \
    SHIM_CASE(ST_BOOL, boolean, __VA_ARGS__) SHIM_INTEGERS(__VA_ARGS__) SHIM_FLOATS(__VA_ARGS__)

extern "C" cudaError_t shim_sort(int dtype, const void *from, void *values, int64_t *indices, int64_t n_rows, int64_t n,
                                 int64_t padded, int descending, uint64_t *keys, int64_t *places,
                                 cudaStream_t stream) {
    if (n_rows == 0 || n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_REALS(SHIM_LAUNCH((make_keys<S>), blocks_for(n_rows * padded), THREADS, 0, stream, (const S *)from, keys,
                               places, n_rows, n, padded, descending))
    default: return cudaErrorNotSupported;
    }
    const cudaError_t status = run_network(keys, places, n_rows, padded, stream);
    if (status != cudaSuccess) return status;
    switch (dtype) {
        SHIM_REALS(SHIM_LAUNCH((take_sorted<S>), blocks_for(n_rows * n), THREADS, 0, stream, (const S *)from,
                               (const int64_t *)places, (S *)values, indices, n_rows, n, padded))
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_search(int dtype, const void *sorted, const void *values, int64_t *out, int64_t rows,
                                   int64_t n, int64_t n_values, int one_row, int right, cudaStream_t stream) {
    if (rows * n_values == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_REALS(SHIM_LAUNCH((search<S>), blocks_for(rows * n_values), THREADS, 0, stream, (const S *)sorted,
                               (const S *)values, out, rows, n, n_values, one_row, right))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_running(int dtype, int largest, const void *from, void *to, int64_t *places, int64_t rows,
                                    int64_t n, int64_t inner, cudaStream_t stream) {
    if (rows == 0 || n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_REALS(SHIM_LAUNCH((running<S>), blocks_for(rows), THREADS, 0, stream, largest, (const S *)from, (S *)to,
                               places, rows, n, inner))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
