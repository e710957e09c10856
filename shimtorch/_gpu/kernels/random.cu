/* Random numbers of the distributions that take one or two uniform numbers. Thread and element are matched as PyTorch
 * does on CUDA, so that a seed should give its numbers. */
#include "kernels.h"
#include "philox.h"

namespace shim {

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
        if (kind == SHIM_NORMAL || kind == SHIM_LOG_NORMAL) {
            const double size = sqrt(-2.0 * log(u)), angle = v * 6.283185307179586;
            out[0] = sin(angle) * size;
            out[1] = cos(angle) * size;
        } else {
            out[0] = u;
            out[1] = v;
        }
    } else if (kind == SHIM_NORMAL || kind == SHIM_LOG_NORMAL) {
        normal_pair(r.x[0], r.x[1], out[0], out[1]);
        normal_pair(r.x[2], r.x[3], out[2], out[3]);
    } else {
        for (int k = 0; k < 4; k++) out[k] = open_unit(r.x[k]);
    }
}

/* A number of the distribution, from a normal one or one of (0, 1]. */
template <typename S, typename T>
__device__ T shaped(int kind, T x, T a, T b) {
    const T tiny = sizeof(T) == 8 ? T(2.220446049250313e-16) : T(1.1920929e-07);
    switch (kind) {
    case SHIM_UNIFORM:
        x = number<S>::load(number<S>::store(x * (b - a) + a));
        return x == b ? a : x; /* [a, b) */
    case SHIM_NORMAL: return x * b + a;
    case SHIM_LOG_NORMAL: return exp(x * b + a);
    case SHIM_EXPONENTIAL: return (x >= 1 - tiny / 2 ? tiny / 2 : -log(x)) / a;
    case SHIM_CAUCHY: {
        const T inside = x > 1 - tiny ? 1 - tiny : x < tiny ? tiny : x;
        return a + b * tan(T(3.14159265358979323846) * (inside - T(0.5)));
    }
    case SHIM_GEOMETRIC: {
        const T trials = ceil(log(x) / log1p(-a));
        return trials < 1 ? T(1) : trials;
    }
    default: return x < a || a >= 1 ? b : T(0); /* SHIM_BERNOULLI */
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
            const T x = shaped<S>(kind, values[k], (T)a, (T)b);
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
