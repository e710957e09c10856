/* Random numbers for tensors of parameters, by rejection, and whole numbers. */
#include "dense.h"
#include "philox.h"

namespace shim {

template <typename S>
__global__ void draw_whole(S *out, int64_t n, uint64_t seed, uint64_t offset, int64_t base, uint64_t range, int wide) {
    const int64_t threads = (int64_t)gridDim.x * blockDim.x, thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const int many = wide ? 2 : 4;
    uint64_t drawn = offset / 4;
    for (int64_t first = thread; first < n; first += threads * many, drawn++) {
        const Four r = philox(seed, (uint64_t)thread, drawn);
        for (int k = 0; k < many; k++) {
            const int64_t i = first + k * threads;
            if (i >= n) break;
            uint64_t x = wide ? (uint64_t)r.x[2 * k] << 32 | r.x[2 * k + 1] : r.x[k];
            if (range) x %= range;
            const int64_t whole = (int64_t)(x + (uint64_t)base);
            out[i] = number<S>::store((typename number<S>::type)whole);
        }
    }
}

/* The numbers of one thread, as many as it asks for. */
struct Supply {
    uint64_t seed, thread, drawn;
    Four four;
    int left;

    __device__ uint32_t bits() {
        if (left == 0) {
            four = philox(seed, thread, drawn++);
            left = 4;
        }
        return four.x[--left];
    }
    __device__ double unit() { /* (0, 1] */
        const uint32_t x = bits();
        return open_unit_wide(x, bits());
    }
    __device__ double normal() {
        const double u = unit();
        return sqrt(-2.0 * log(u)) * cos(6.283185307179586 * unit());
    }
};

/* Few expected: count uniform numbers; else by transformed rejection (Hormann's PTRS). */
__device__ double poisson(Supply &s, double rate) {
    if (!(rate > 0)) return rate == 0 ? 0 : NAN;
    if (rate < 10) {
        const double floor_ = exp(-rate);
        double product = s.unit();
        int64_t k = 0;
        for (; product > floor_; k++) product *= s.unit();
        return (double)k;
    }
    const double root = sqrt(rate), b = 0.931 + 2.53 * root, a = -0.059 + 0.02483 * b;
    const double inverse_alpha = 1.1239 + 1.1328 / (b - 3.4), v_r = 0.9277 - 3.6224 / (b - 2);
    for (;;) {
        const double u = s.unit() - 0.5, v = s.unit(), us = 0.5 - fabs(u);
        const double k = floor((2 * a / us + b) * u + rate + 0.43);
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || (us < 0.013 && v > us)) continue;
        if (log(v) + log(inverse_alpha) - log(a / (us * us) + b) <= -rate + k * log(rate) - lgamma(k + 1)) return k;
    }
}

/* Marsaglia and Tsang; a shape below 1 by way of the one above. */
__device__ double gamma_number(Supply &s, double shape) {
    double scale = 1;
    if (!(shape > 0)) return shape == 0 ? 0 : NAN;
    if (shape < 1) {
        scale = pow(s.unit(), 1 / shape);
        shape += 1;
    }
    const double d = shape - 1.0 / 3, c = 1 / sqrt(9 * d);
    for (;;) {
        const double x = s.normal(), t = 1 + c * x;
        if (t <= 0) continue;
        const double v = t * t * t, u = s.unit();
        if (u < 1 - 0.0331 * x * x * x * x || log(u) < 0.5 * x * x + d * (1 - v + log(v))) return scale * d * v;
    }
}

/* For p up to 0.5. Few expected: add up geometric gaps; else by transformed rejection (Hormann's BTRS). */
__device__ double rare_successes(Supply &s, double count, double p) {
    if (count * p < 10) {
        const double gap = log1p(-p);
        double sum = 0, k = 0;
        for (;; k++) {
            sum += ceil(log(s.unit()) / gap);
            if (sum > count) return k;
        }
    }
    const double root = sqrt(count * p * (1 - p)), b = 1.15 + 2.53 * root, a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double c = count * p + 0.5, v_r = 0.92 - 4.2 / b, odds = p / (1 - p), alpha = (2.83 + 5.1 / b) * root;
    const double mode = floor((count + 1) * p);
    for (;;) {
        const double u = s.unit() - 0.5, us = 0.5 - fabs(u), k = floor((2 * a / us + b) * u + c);
        double v = s.unit();
        if (us >= 0.07 && v <= v_r) return k;
        if (k < 0 || k > count) continue;
        v = log(v * alpha / (a / (us * us) + b));
        const double bound = lgamma(mode + 1) + lgamma(count - mode + 1) - lgamma(k + 1) - lgamma(count - k + 1) +
                             (k - mode) * log(odds);
        if (v <= bound) return k;
    }
}

__device__ double binomial(Supply &s, double count, double p) {
    if (count != count || p != p || count < 0) return NAN;
    if (count == 0 || p <= 0) return 0;
    if (p >= 1) return count;
    return p <= 0.5 ? rare_successes(s, count, p) : count - rare_successes(s, count, 1 - p);
}

template <typename S>
__global__ void sample(int kind, S *out, const S *a, const S *b, int64_t n, uint64_t seed, uint64_t offset) {
    SHIM_EACH(i, n) {
        Supply s = {seed, (uint64_t)i, offset / 4, {}, 0};
        const double x = (double)number<S>::load(a[i]);
        const double r = kind == SHIM_POISSON ? poisson(s, x)
                         : kind == SHIM_GAMMA ? gamma_number(s, x)
                                              : binomial(s, x, (double)number<S>::load(b[i]));
        out[i] = number<S>::store((typename number<S>::type)r);
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_draw_whole(int dtype, void *out, int64_t n, uint64_t seed, uint64_t offset, int64_t base,
                                       uint64_t range, int wide, int grid, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
#define SHIM_WHOLE                                                                                           \
    SHIM_LAUNCH((draw_whole<S>), (unsigned)grid, THREADS, 0, stream, (S *)out, n, seed, offset, base, range, \
                wide)
    switch (dtype) {
        SHIM_CASE(ST_BOOL, boolean, SHIM_WHOLE)
        SHIM_INTEGERS(SHIM_WHOLE)
        SHIM_FLOATS(SHIM_WHOLE)
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_sample(int kind, int dtype, void *out, const void *a, const void *b, int64_t n,
                                   uint64_t seed, uint64_t offset, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((sample<S>), blocks_for(n), THREADS, 0, stream, kind, (S *)out, (const S *)a,
                                (const S *)b, n, seed, offset))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
