/* Special functions, computed in double: the inverse error function, derivatives of the logarithm of gamma, modified Bessel
 * functions of the first kind. Few programs need them fast, and their series need the digits. */
#include "dense.h"
#include "numbers.h"

namespace shim {

/* A first guess good to 0.2 %, then Halley's method; near 1 by the complement, which keeps its digits. */
__device__ double inverse_erf(double y) {
    const double size = fabs(y), shape = 0.147, slope = 1.1283791670955126;
    if (!(size < 1)) return size == 1 ? copysign(INFINITY, y) : NAN;
    if (size == 0) return y;
    const double l = log1p(-size) + log1p(size), t = 2 / (3.14159265358979323846 * shape) + l / 2;
    double x = sqrt(sqrt(t * t - l / shape) - t);
    for (int i = 0; i < 3; i++) {
        const double miss = size > 0.5 ? (1 - size) - erfc(x) : erf(x) - size, step = miss / (slope * exp(-x * x));
        x -= step / (1 + x * step);
    }
    return copysign(x, y);
}

__device__ double digamma(double x) {
    if (x == 0) return -copysign(INFINITY, x);
    double sum = 0;
    if (x < 0) {
        if (x == floor(x)) return NAN;
        sum = -3.14159265358979323846 / tan(3.14159265358979323846 * (x - floor(x)));
        x = 1 - x;
    }
    for (; x < 10; x += 1) sum -= 1 / x;
    const double r = 1 / (x * x);
    const double tail = r * (1.0 / 12 - r * (1.0 / 120 - r * (1.0 / 252 - r * (1.0 / 240 - r * (1.0 / 132 -
                        r * (691.0 / 32760 - r / 12))))));
    return sum + log(x) - 0.5 / x - tail;
}

/* The sum of (k + q)^-s over k >= 0: some terms, then Euler and Maclaurin's formula for the rest. */
__device__ double hurwitz_zeta(double s, double q) {
    if (s == 1) return INFINITY;
    if (!(s > 1)) return NAN;
    if (q <= 0) {
        if (q == floor(q)) return INFINITY;
        if (s != floor(s)) return NAN;
    }
    double sum = 0;
    int k = 0;
    for (; k < 10 || q < 10; k++, q += 1) sum += pow(q, -s);
    const double power = pow(q, -s), r = 1 / (q * q);
    const double ratio[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600, 1.0 / 47900160, -691.0 / 1307674368000.0,
                            1.0 / 74724249600.0}; /* Bernoulli numbers over factorials */
    double factor = s * power / q;
    sum += power * q / (s - 1) + power / 2;
    for (int j = 0; j < 7; j++) {
        sum += ratio[j] * factor;
        factor *= (s + 2 * j + 1) * (s + 2 * j + 2) * r;
    }
    return sum;
}

__device__ double polygamma(double n, double x) {
    const double value = tgamma(n + 1) * hurwitz_zeta(n + 1, x);
    return fmod(n, 2.0) == 0 ? -value : value;
}

/* exp(-|x|) I_n(|x|) for n of 0 or 1: by the series of powers, or the asymptotic one */
__device__ double scaled_bessel(int n, double x) {
    const double size = fabs(x);
    if (size <= 30) {
        const double quarter = size * size / 4;
        double term = n ? size / 2 : 1, sum = term;
        for (int k = 1; k < 200 && term > sum * 1e-17; k++) {
            term *= quarter / ((double)k * (k + n));
            sum += term;
        }
        return exp(-size) * sum;
    }
    if (isinf(size)) return 0;
    double term = 1, sum = 1;
    for (int k = 1; k < 40; k++) {
        const double next = -term * (4.0 * n * n - (2.0 * k - 1) * (2.0 * k - 1)) / (8.0 * k * size);
        if (fabs(next) < 1e-17 || fabs(next) > fabs(term)) break;
        sum += term = next;
    }
    return sum / sqrt(6.283185307179586 * size);
}

__device__ double special_value(int function, double x, double y) {
    switch (function) {
    case SHIM_ERFINV: return inverse_erf(x);
    case SHIM_DIGAMMA: return digamma(x);
    case SHIM_POLYGAMMA: return polygamma(x, y);
    case SHIM_ZETA: return hurwitz_zeta(x, y);
    case SHIM_I0E: return x != x ? x : scaled_bessel(0, x);
    case SHIM_I1E: return x != x ? x : copysign(scaled_bessel(1, x), x);
    case SHIM_I0: return scaled_bessel(0, x) * exp(fabs(x)); /* NaN at infinity, as torch has it */
    default: return copysign(scaled_bessel(1, x) * exp(fabs(x)), x); /* SHIM_I1 */
    }
}

/* x: the elements, or one number for all where y has the elements */
template <typename S>
__global__ void special(int function, const S *x, const S *y, double number_, S *out, int64_t n) {
    SHIM_EACH(i, n) {
        const double first = x ? (double)number<S>::load(x[i]) : number_;
        const double second = y ? (double)number<S>::load(y[i]) : 0;
        out[i] = number<S>::store((typename number<S>::type)special_value(function, first, second));
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_special(int function, int dtype, const void *x, const void *y, double number_, void *out,
                                    int64_t n, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((special<S>), blocks_for(n), THREADS, 0, stream, function, (const S *)x, (const S *)y,
                                number_, (S *)out, n))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
