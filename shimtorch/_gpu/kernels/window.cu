/* Windows over maps: unfolding for convolutions, folding back, pooling. A thread makes one element of the result, so
 * that sums are added up in a fixed order. */
#include "complexmath.h"
#include "dense.h"
#include "numbers.h"

namespace shim {

/* ---- columns ---- */

template <typename W>
__global__ void unfold(const W *maps, W *columns, shim_windows w, int64_t channels, int64_t tap_step,
                       int64_t example_step) {
    const int64_t windows = w.out[0] * w.out[1] * w.out[2], taps = w.kernel[0] * w.kernel[1] * w.kernel[2];
    const int64_t map = w.size[0] * w.size[1] * w.size[2];
    SHIM_EACH(i, w.planes * taps * windows) {
        const int64_t window = i % windows, tap = i / windows % taps, plane = i / windows / taps;
        const int64_t o[3] = {window / (w.out[1] * w.out[2]), window / w.out[2] % w.out[1], window % w.out[2]};
        const int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1], tap % w.kernel[2]};
        int64_t at = 0;
        bool inside = true;
        for (int d = 0; d < 3; d++) {
            const int64_t p = o[d] * w.stride[d] - w.before[d] + k[d] * w.dilation[d];
            inside = inside && p >= 0 && p < w.size[d];
            at = at * w.size[d] + p;
        }
        W x;
        memset(&x, 0, sizeof(W));
        if (inside) x = maps[plane * map + at];
        columns[(plane % channels * taps + tap) * tap_step + plane / channels * example_step + window] = x;
    }
}

template <typename S>
__global__ void fold(const S *columns, S *maps, shim_windows w, int64_t channels, int64_t tap_step,
                     int64_t example_step) {
    typedef typename number<S>::type T;
    const int64_t taps = w.kernel[0] * w.kernel[1] * w.kernel[2], map = w.size[0] * w.size[1] * w.size[2];
    SHIM_EACH(i, w.planes * map) {
        const int64_t place = i % map, plane = i / map;
        const int64_t at[3] = {place / (w.size[1] * w.size[2]), place / w.size[2] % w.size[1], place % w.size[2]};
        const S *from = columns + plane % channels * taps * tap_step + plane / channels * example_step;
        T sum{};
        for (int64_t tap = 0; tap < taps; tap++) {
            const int64_t k[3] = {tap / (w.kernel[1] * w.kernel[2]), tap / w.kernel[2] % w.kernel[1],
                                  tap % w.kernel[2]};
            int64_t window = 0;
            bool seen = true;
            for (int d = 0; d < 3; d++) { /* the window whose tap lies here, if there is one */
                const int64_t p = at[d] + w.before[d] - k[d] * w.dilation[d];
                seen = seen && p >= 0 && p % w.stride[d] == 0 && p / w.stride[d] < w.out[d];
                window = window * w.out[d] + p / w.stride[d];
            }
            if (seen) sum = sum + number<S>::load(from[tap * tap_step + window]);
        }
        maps[i] = number<S>::store(sum);
    }
}

/* ---- pooling ---- */

/* The first place of a window in a dimension, and the one behind its last. */
__device__ void reach(const shim_pool &p, int d, int64_t o, int64_t &start, int64_t &stop) {
    const shim_windows &w = p.w;
    if (p.even) {
        start = o * w.size[d] / w.out[d];
        stop = ((o + 1) * w.size[d] + w.out[d] - 1) / w.out[d];
        return;
    }
    start = o * w.stride[d] - w.before[d];
    stop = start + (w.kernel[d] - 1) * w.dilation[d] + 1;
    if (start < 0) start += (-start + w.dilation[d] - 1) / w.dilation[d] * w.dilation[d];
    if (stop > w.size[d]) stop = w.size[d];
}

/* What the mean of a window divides by in a dimension. */
__device__ int64_t counted(const shim_pool &p, int d, int64_t o) {
    int64_t start, stop;
    reach(p, d, o, start, stop);
    if (p.even || !p.count_padding) return stop - start;
    const int64_t first = o * p.w.stride[d] - p.w.before[d], last = first + p.w.kernel[d];
    const int64_t end = p.w.size[d] + p.w.before[d];
    return (last < end ? last : end) - first;
}

__device__ int64_t step_of(const shim_pool &p, int d) { return p.even ? 1 : p.w.dilation[d]; }

template <typename S>
__global__ void pool_max(const S *maps, S *out, int64_t *places, shim_pool p) {
    typedef typename number<S>::type T;
    const shim_windows &w = p.w;
    const int64_t windows = w.out[0] * w.out[1] * w.out[2], map = w.size[0] * w.size[1] * w.size[2];
    SHIM_EACH(i, w.planes * windows) {
        const int64_t o[3] = {i / (w.out[1] * w.out[2]) % w.out[0], i / w.out[2] % w.out[1], i % w.out[2]};
        int64_t start[3], stop[3];
        for (int d = 0; d < 3; d++) reach(p, d, o[d], start[d], stop[d]);
        const S *x = maps + i / windows * map;
        int64_t best = (start[0] * w.size[1] + start[1]) * w.size[2] + start[2];
        T most = number<S>::load(x[best]);
        for (int64_t z = start[0]; z < stop[0]; z += step_of(p, 0))
            for (int64_t y = start[1]; y < stop[1]; y += step_of(p, 1))
                for (int64_t c = start[2]; c < stop[2]; c += step_of(p, 2)) {
                    const int64_t at = (z * w.size[1] + y) * w.size[2] + c;
                    const T v = number<S>::load(x[at]);
                    if (v > most || v != v) {
                        most = v;
                        best = at;
                    }
                }
        out[i] = number<S>::store(most);
        places[i] = best;
    }
}

template <typename S>
__global__ void pool_mean(const S *maps, S *out, shim_pool p) {
    typedef typename number<S>::type T;
    const shim_windows &w = p.w;
    const int64_t windows = w.out[0] * w.out[1] * w.out[2], map = w.size[0] * w.size[1] * w.size[2];
    SHIM_EACH(i, w.planes * windows) {
        const int64_t o[3] = {i / (w.out[1] * w.out[2]) % w.out[0], i / w.out[2] % w.out[1], i % w.out[2]};
        int64_t start[3], stop[3], count = 1;
        for (int d = 0; d < 3; d++) {
            reach(p, d, o[d], start[d], stop[d]);
            count *= counted(p, d, o[d]);
        }
        const S *x = maps + i / windows * map;
        T sum{};
        for (int64_t z = start[0]; z < stop[0]; z++)
            for (int64_t y = start[1]; y < stop[1]; y++)
                for (int64_t c = start[2]; c < stop[2]; c++)
                    sum = sum + number<S>::load(x[(z * w.size[1] + y) * w.size[2] + c]);
        out[i] = number<S>::store(sum / (T)(p.divisor ? p.divisor : count));
    }
}

/* The first window in a dimension that an element may lie in, and the one behind the last. */
__device__ void seen_by(const shim_pool &p, int d, int64_t at, int64_t &low, int64_t &high) {
    const shim_windows &w = p.w;
    if (p.even) {
        low = at * w.out[d] / w.size[d];
        high = ((at + 1) * w.out[d] + w.size[d] - 1) / w.size[d];
        return;
    }
    const int64_t last = at + w.before[d], first = last - w.kernel[d];
    low = first < 0 ? 0 : first / w.stride[d] + 1;
    high = last / w.stride[d] + 1;
    if (high > w.out[d]) high = w.out[d];
}

template <typename S>
__global__ void pool_spread(const S *grads, S *maps, shim_pool p) {
    typedef typename number<S>::type T;
    const shim_windows &w = p.w;
    const int64_t windows = w.out[0] * w.out[1] * w.out[2], map = w.size[0] * w.size[1] * w.size[2];
    SHIM_EACH(i, w.planes * map) {
        const int64_t at[3] = {i / (w.size[1] * w.size[2]) % w.size[0], i / w.size[2] % w.size[1], i % w.size[2]};
        int64_t low[3], high[3];
        for (int d = 0; d < 3; d++) seen_by(p, d, at[d], low[d], high[d]);
        const S *g = grads + i / map * windows;
        T sum{};
        for (int64_t z = low[0]; z < high[0]; z++)
            for (int64_t y = low[1]; y < high[1]; y++)
                for (int64_t c = low[2]; c < high[2]; c++) {
                    const int64_t count = p.divisor ? p.divisor
                                                    : counted(p, 0, z) * counted(p, 1, y) * counted(p, 2, c);
                    sum = sum + number<S>::load(g[(z * w.out[1] + y) * w.out[2] + c]) / (T)count;
                }
        maps[i] = number<S>::store(sum);
    }
}

struct pair64 {
    uint64_t part[2];
};

inline int64_t product3(const int64_t *x) { return x[0] * x[1] * x[2]; }

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_unfold(int dtype, const void *maps, void *columns, const shim_windows *w, int64_t channels,
                                   int64_t tap_step, int64_t example_step, cudaStream_t stream) {
    const int64_t n = w->planes * product3(w->kernel) * product3(w->out);
    int bytes = 0;
    if (n == 0) return cudaSuccess;
    switch (dtype) { SHIM_ALL(bytes = (int)sizeof(S)) }
#define SHIM_UNFOLD(W)                                                                                        \
    SHIM_LAUNCH((unfold<W>), blocks_for(n), THREADS, 0, stream, (const W *)maps, (W *)columns, *w, channels, \
                tap_step, example_step)
    switch (bytes) {
    case 1: SHIM_UNFOLD(uint8_t); break;
    case 2: SHIM_UNFOLD(uint16_t); break;
    case 4: SHIM_UNFOLD(uint32_t); break;
    case 8: SHIM_UNFOLD(uint64_t); break;
    default: SHIM_UNFOLD(pair64);
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_fold(int dtype, const void *columns, void *maps, const shim_windows *w, int64_t channels,
                                 int64_t tap_step, int64_t example_step, cudaStream_t stream) {
    const int64_t n = w->planes * product3(w->size);
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((fold<S>), blocks_for(n), THREADS, 0, stream, (const S *)columns, (S *)maps, *w,
                                channels, tap_step, example_step))
        SHIM_COMPLEX(SHIM_LAUNCH((fold<S>), blocks_for(n), THREADS, 0, stream, (const S *)columns, (S *)maps, *w,
                                 channels, tap_step, example_step))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

#define SHIM_NUMBERS(...) SHIM_INTEGERS(__VA_ARGS__) SHIM_FLOATS(__VA_ARGS__)

extern "C" cudaError_t shim_pool_max(int dtype, const void *maps, void *out, int64_t *places, const shim_pool *p,
                                     cudaStream_t stream) {
    const int64_t n = p->w.planes * product3(p->w.out);
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_NUMBERS(SHIM_LAUNCH((pool_max<S>), blocks_for(n), THREADS, 0, stream, (const S *)maps, (S *)out, places,
                                 *p))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_pool_mean(int dtype, const void *maps, void *out, const shim_pool *p,
                                      cudaStream_t stream) {
    const int64_t n = p->w.planes * product3(p->w.out);
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_NUMBERS(SHIM_LAUNCH((pool_mean<S>), blocks_for(n), THREADS, 0, stream, (const S *)maps, (S *)out, *p))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_pool_spread(int dtype, const void *grads, void *maps, const shim_pool *p,
                                        cudaStream_t stream) {
    const int64_t n = p->w.planes * product3(p->w.size);
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_NUMBERS(SHIM_LAUNCH((pool_spread<S>), blocks_for(n), THREADS, 0, stream, (const S *)grads, (S *)maps,
                                 *p))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
