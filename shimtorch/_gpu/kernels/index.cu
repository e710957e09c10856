/* Elements named by index tensors: read, written, added to, multiplied, compared. One kernel serves indexing, gather, scatter and look-ups. */
#include "complexmath.h"
#include "kernels.h"
#include "numbers.h"

namespace shim {

/* The place in the source of the i-th element of the iteration; false, and the flag set, if an index is outside. */
__device__ __forceinline__ bool locate(const shim_lookup &u, int64_t i, int64_t &value_at, int64_t &source_at) {
    int64_t at[SHIM_INDICES], value = 0, source = 0;
    for (int k = 0; k < u.n_indices; k++) at[k] = 0;
    for (int d = u.ndim - 1; d >= 0; d--) {
        const int64_t rest = d > 0 ? i / u.shape[d] : 0, place = d > 0 ? i - rest * u.shape[d] : i;
        value += place * u.value_strides[d];
        source += place * u.source_strides[d];
        for (int k = 0; k < u.n_indices; k++) at[k] += place * u.index_strides[k][d];
        i = rest;
    }
    for (int k = 0; k < u.n_indices; k++) {
        int64_t index = u.indices[k][at[k]];
        const int64_t n = u.sizes[k];
        if (index < (u.wraps ? -n : 0) || index >= n) {
            u.failure[0] = k + 1;
            u.failure[1] = index;
            return false;
        }
        source += (index < 0 ? index + n : index) * u.steps[k];
    }
    value_at = value;
    source_at = source;
    return true;
}

template <typename W>
__global__ void take(shim_lookup u) {
    SHIM_EACH(i, u.count) {
        int64_t value, source;
        if (locate(u, i, value, source)) *(W *)(u.value + value) = *(const W *)(u.source + source);
    }
}

template <typename W>
__global__ void put(shim_lookup u) {
    SHIM_EACH(i, u.count) {
        int64_t value, source;
        if (locate(u, i, value, source)) *(W *)(u.source + source) = *(const W *)(u.value + value);
    }
}

/* ---- adding at one place from several threads ---- */

/* Types of one or two bytes: by exchanging the word that holds them. */
template <typename S>
__device__ void add_within_word(char *at, typename number<S>::type x) {
    unsigned *word = (unsigned *)((uintptr_t)at & ~(uintptr_t)3);
    const unsigned inside = (unsigned)((uintptr_t)at & 3);
    unsigned old = *word, seen;
    do {
        seen = old;
        unsigned fresh = seen;
        S element;
        memcpy(&element, (char *)&fresh + inside, sizeof(S));
        element = number<S>::store((typename number<S>::type)(number<S>::load(element) + x));
        memcpy((char *)&fresh + inside, &element, sizeof(S));
        old = atomicCAS(word, seen, fresh);
    } while (old != seen);
}

template <typename S>
__device__ void add_at(char *at, typename number<S>::type x) {
    typedef typename number<S>::type T;
    if constexpr (number<S>::category == COMPLEX) {
        atomicAdd(&((T *)at)->re, x.re);
        atomicAdd(&((T *)at)->im, x.im);
    } else if constexpr (number<S>::category == BOOLEAN) {
        if (x) *(uint8_t *)at = 1;
    } else if constexpr (sizeof(S) <= 2) {
        add_within_word<S>(at, x);
    } else if constexpr (number<S>::category == FLOATING) {
        atomicAdd((T *)at, x);
    } else if constexpr (sizeof(S) == 4) {
        atomicAdd((unsigned *)at, (unsigned)x);
    } else {
        atomicAdd((unsigned long long *)at, (unsigned long long)x);
    }
}

template <typename S>
__global__ void add(shim_lookup u) {
    SHIM_EACH(i, u.count) {
        int64_t value, source;
        if (locate(u, i, value, source)) add_at<S>(u.source + source, load<S>(u.value + value));
    }
}

/* ---- products and extremes: the word that holds an element is exchanged until nobody came between ---- */

template <typename T>
__device__ T combined_at(int mode, T x, T y) {
    if (mode == SHIM_MULTIPLY) return (T)(x * y);
    if (x != x || y != y) return x != x ? x : y;
    return mode == SHIM_GREATEST ? (x > y ? x : y) : (x < y ? x : y);
}

template <typename S, typename W>
__device__ void combine_within(int mode, char *at, typename number<S>::type x) {
    W *word = (W *)((uintptr_t)at & ~(uintptr_t)(sizeof(W) - 1));
    const unsigned inside = (unsigned)((uintptr_t)at & (sizeof(W) - 1));
    W old = *word, seen;
    do {
        seen = old;
        W fresh = seen;
        S element;
        memcpy(&element, (char *)&fresh + inside, sizeof(S));
        element = number<S>::store(combined_at(mode, number<S>::load(element), x));
        memcpy((char *)&fresh + inside, &element, sizeof(S));
        old = atomicCAS(word, seen, fresh);
    } while (old != seen);
}

template <typename S>
__global__ void combine(int mode, shim_lookup u) {
    SHIM_EACH(i, u.count) {
        int64_t value, source;
        if (!locate(u, i, value, source)) continue;
        if constexpr (sizeof(S) == 8)
            combine_within<S, unsigned long long>(mode, u.source + source, load<S>(u.value + value));
        else
            combine_within<S, unsigned>(mode, u.source + source, load<S>(u.value + value));
    }
}

struct word16 {
    uint64_t part[2];
};

}  // namespace shim

using namespace shim;

static int bytes_of(int dtype) {
    switch (dtype) { SHIM_ALL(return (int)sizeof(S)) }
    return 0;
}

#define SHIM_BY_SIZE(kernel)                                                                  \
    switch (bytes_of(dtype)) {                                                                \
    case 1: SHIM_LAUNCH((kernel<uint8_t>), grid, THREADS, 0, stream, *u); break;              \
    case 2: SHIM_LAUNCH((kernel<uint16_t>), grid, THREADS, 0, stream, *u); break;             \
    case 4: SHIM_LAUNCH((kernel<uint32_t>), grid, THREADS, 0, stream, *u); break;             \
    case 8: SHIM_LAUNCH((kernel<uint64_t>), grid, THREADS, 0, stream, *u); break;             \
    default: SHIM_LAUNCH((kernel<word16>), grid, THREADS, 0, stream, *u);                     \
    }

extern "C" cudaError_t shim_look_up(int mode, int dtype, const shim_lookup *u, cudaStream_t stream) {
    if (u->count == 0) return cudaSuccess;
    const unsigned grid = blocks_for(u->count);
    if (mode == SHIM_TAKE) {
        SHIM_BY_SIZE(take)
    } else if (mode == SHIM_PUT) {
        SHIM_BY_SIZE(put)
    } else if (mode == SHIM_ADD) {
        switch (dtype) { SHIM_ALL(SHIM_LAUNCH((add<S>), grid, THREADS, 0, stream, *u)) }
    } else {
        switch (dtype) {
            SHIM_CASE(ST_BOOL, boolean, SHIM_LAUNCH((combine<S>), grid, THREADS, 0, stream, mode, *u))
            SHIM_INTEGERS(SHIM_LAUNCH((combine<S>), grid, THREADS, 0, stream, mode, *u))
            SHIM_FLOATS(SHIM_LAUNCH((combine<S>), grid, THREADS, 0, stream, mode, *u))
        default: return cudaErrorNotSupported;
        }
    }
    return cudaGetLastError();
}
