/* Random numbers: Philox 4x32-10, a function of a seed, a thread's number and how many it has drawn. Thread and element
 * are matched as PyTorch does on CUDA, so that a seed should give its numbers. */
#include "kernels.h"
#include "numbers.h"

namespace shim {

struct Four {
    uint32_t x[4];
};

/* Ten rounds on the counter (offset, thread) with the seed as the key. */
__device__ Four philox(uint64_t seed, uint64_t thread, uint64_t offset) {
    Four c = {{(uint32_t)offset, (uint32_t)(offset >> 32), (uint32_t)thread, (uint32_t)(thread >> 32)}};
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    for (int round = 0; round < 10; round++) {
        const uint64_t p = (uint64_t)0xD2511F53u * c.x[0], q = (uint64_t)0xCD9E8D57u * c.x[2];
        c = {{(uint32_t)(q >> 32) ^ c.x[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ c.x[3] ^ k1, (uint32_t)p}};
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    return c;
}

__device__ float open_unit(uint32_t x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2; } /* (0, 1] */

__device__ double open_unit_wide(uint32_t x, uint32_t y) {
    const uint64_t z = (uint64_t)x ^ ((uint64_t)y << 21);
    return (double)z * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2;
}

/* Normal numbers in pairs, from two uniform ones. */
__device__ void normal_pair(uint32_t x, uint32_t y, float &a, float &b) {
    const float size = sqrtf(-2.0f * logf(open_unit(x)));
    const float angle = y * (2.3283064e-10f * 6.2831855f) + 2.3283064e-10f * 6.2831855f / 2;
    a = sinf(angle) * size;
    b = cosf(angle) * size;
}

template <typename S>
__device__ void draw_four(int kind, const Four &r, typename number<S>::type *out) {
    typedef typename number<S>::type T;
    if constexpr (sizeof(T) == 8) { /* two doubles */
        const double u = open_unit_wide(r.x[0], r.x[1]), v = open_unit_wide(r.x[2], r.x[3]);
        if (kind == SHIM_NORMAL) {
            const double size = sqrt(-2.0 * log(u)), angle = v * 6.283185307179586;
            out[0] = sin(angle) * size;
            out[1] = cos(angle) * size;
        } else {
            out[0] = u;
            out[1] = v;
        }
    } else if (kind == SHIM_NORMAL) {
        normal_pair(r.x[0], r.x[1], out[0], out[1]);
        normal_pair(r.x[2], r.x[3], out[2], out[3]);
    } else {
        for (int k = 0; k < 4; k++) out[k] = open_unit(r.x[k]);
    }
}

template <typename S>
__global__ void draw(int kind, S *out, int64_t n, uint64_t seed, uint64_t offset, double a, double b) {
    typedef typename number<S>::type T;
    const int many = sizeof(T) == 8 ? 2 : 4;
    const int64_t threads = (int64_t)gridDim.x * blockDim.x, thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint64_t drawn = offset / 4;
    for (int64_t first = thread; first < n; first += threads * many, drawn++) {
        T values[4];
        draw_four<S>(kind, philox(seed, (uint64_t)thread, drawn), values);
        for (int k = 0; k < many; k++) {
            const int64_t i = first + k * threads;
            if (i >= n) break;
            T x = values[k];
            if (kind == SHIM_UNIFORM) {
                x = number<S>::load(number<S>::store(x * (T)(b - a) + (T)a));
                if (x == (T)b) x = (T)a; /* [a, b) */
            } else if (kind == SHIM_NORMAL) {
                x = x * (T)b + (T)a;
            } else {
                x = x < (T)a || a >= 1 ? (T)b : T(0);
            }
            out[i] = number<S>::store(x);
        }
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_draw(int kind, int dtype, void *out, int64_t n, uint64_t seed, uint64_t offset, double a,
                                 double b, int grid, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((draw<S>), (unsigned)grid, THREADS, 0, stream, kind, (S *)out, n, seed, offset, a, b))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
