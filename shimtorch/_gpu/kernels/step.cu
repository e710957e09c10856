/* Steps of optimisers, one pass over a parameter: the passes of _core/stepping.pyx. */
#include "dense.h"
#include "numbers.h"

namespace shim {

/* numbers: sign, decay, momentum, gain, lr; state: the momentum buffer or nothing */
template <typename T>
__global__ void sgd(shim_step s, int64_t n) {
    T *p = (T *)s.p, *b = (T *)s.state[0];
    const T *g = (const T *)s.g;
    const T sign = (T)s.numbers[0], decay = (T)s.numbers[1], momentum = (T)s.numbers[2], gain = (T)s.numbers[3];
    const T lr = (T)s.numbers[4];
    SHIM_EACH(i, n) {
        T d = sign * g[i] + decay * p[i];
        if (b) {
            const T kept = s.fresh ? d : momentum * b[i] + gain * d;
            b[i] = kept;
            d = s.nesterov ? d + momentum * kept : kept;
        }
        p[i] -= lr * d;
    }
}

/* numbers: sign, decay, shrink, beta1, beta2, eps, step, correction; state: mean, square, largest or nothing */
template <typename T>
__global__ void adam(shim_step s, int64_t n) {
    T *p = (T *)s.p, *mean = (T *)s.state[0], *square = (T *)s.state[1], *largest = (T *)s.state[2];
    const T *g = (const T *)s.g;
    const T sign = (T)s.numbers[0], decay = (T)s.numbers[1], shrink = (T)s.numbers[2], gain1 = (T)(1 - s.numbers[3]);
    const T beta2 = (T)s.numbers[4], gain2 = (T)(1 - s.numbers[4]), eps = (T)s.numbers[5], step = (T)s.numbers[6];
    const T correction = (T)s.numbers[7];
    SHIM_EACH(i, n) {
        const T d = sign * g[i] + decay * p[i], m = mean[i] + gain1 * (d - mean[i]);
        T v = square[i] * beta2 + gain2 * d * d;
        mean[i] = m;
        square[i] = v;
        if (largest) {
            if (v > largest[i] || v != v) largest[i] = v;
            v = largest[i];
        }
        p[i] = p[i] * shrink - step * m / (sqrt(v) / correction + eps);
    }
}

/* numbers: sign, decay, rho, eps, lr; state: square, delta */
template <typename T>
__global__ void adadelta(shim_step s, int64_t n) {
    T *p = (T *)s.p, *square = (T *)s.state[0], *delta = (T *)s.state[1];
    const T *g = (const T *)s.g;
    const T sign = (T)s.numbers[0], decay = (T)s.numbers[1], rho = (T)s.numbers[2], gain = (T)(1 - s.numbers[2]);
    const T eps = (T)s.numbers[3], lr = (T)s.numbers[4];
    SHIM_EACH(i, n) {
        T d = sign * g[i] + decay * p[i];
        const T v = square[i] * rho + gain * d * d;
        square[i] = v;
        d *= sqrt(delta[i] + eps) / sqrt(v + eps);
        delta[i] = delta[i] * rho + gain * d * d;
        p[i] -= lr * d;
    }
}

template <typename T>
void launch_step(int kind, const shim_step &s, int64_t n, cudaStream_t stream) {
    const unsigned grid = blocks_for(n);
    if (kind == SHIM_SGD)
        SHIM_LAUNCH((sgd<T>), grid, THREADS, 0, stream, s, n);
    else if (kind == SHIM_ADAM)
        SHIM_LAUNCH((adam<T>), grid, THREADS, 0, stream, s, n);
    else
        SHIM_LAUNCH((adadelta<T>), grid, THREADS, 0, stream, s, n);
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_take_step(int kind, int dtype, const shim_step *s, int64_t n, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_CASE(ST_FLOAT32, float, launch_step<S>(kind, *s, n, stream))
        SHIM_CASE(ST_FLOAT64, double, launch_step<S>(kind, *s, n, stream))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
