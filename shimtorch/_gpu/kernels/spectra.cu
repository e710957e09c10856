/* Orthogonal factors of batches of row-major matrices: reflectors as LAPACK's geqrf leaves them, a block for each matrix, and
 * rotations that make columns orthogonal (one-sided Jacobi), from which singular and eigenvalues are read. Sums are
 * taken in double. */
#include "dense.h"
#include "matrices.h"

namespace shim {

template <typename T>
struct real_of { using type = T; };
template <typename T>
struct real_of<complex<T>> { using type = T; };

/* sum += conj(a) * b */
template <typename T>
__device__ void add_product(double *sum, T a, T b) { sum[0] += (double)a * b; }
template <typename T>
__device__ void add_product(double *sum, complex<T> a, complex<T> b) {
    sum[0] += (double)a.re * b.re + (double)a.im * b.im;
    sum[1] += (double)a.re * b.im - (double)a.im * b.re;
}

template <typename T>
__device__ void set_number(T *to, double re, double im) { *to = (T)re; }
template <typename T>
__device__ void set_number(complex<T> *to, double re, double im) { *to = {(T)re, (T)im}; }

template <typename T>
__device__ double imaginary_part(T x) { return 0; }
template <typename T>
__device__ double imaginary_part(complex<T> x) { return x.im; }

/* The block's sum, for all of its threads */
__device__ inline double block_sum(double x, double *scratch) {
    const unsigned t = threadIdx.x;
    scratch[t] = x;
    __syncthreads();
    for (unsigned half = FACTOR_THREADS / 2; half > 0; half /= 2) {
        if (t < half) scratch[t] += scratch[t + half];
        __syncthreads();
    }
    const double sum = scratch[0];
    __syncthreads();
    return sum;
}

/* R above and on the diagonal, the reflectors 1 - tau v v^H below it (the first element of v is 1) */
template <typename T>
__global__ void reflectors(T *matrices, T *taus, int64_t batch, int64_t m, int64_t n) {
    __shared__ double scratch[FACTOR_THREADS];
    const int64_t k = m < n ? m : n;
    const unsigned t = threadIdx.x;
    for (int64_t b = blockIdx.x; b < batch; b += gridDim.x) {
        T *a = matrices + b * m * n;
        for (int64_t j = 0; j < k; j++) {
            double below[2] = {0, 0};
            for (int64_t i = j + 1 + t; i < m; i += FACTOR_THREADS) add_product(below, a[i * n + j], a[i * n + j]);
            const double rest = block_sum(below[0], scratch);
            const T alpha = a[j * n + j];
            const double re = (double)real_part(alpha), im = imaginary_part(alpha);
            T tau{};
            if (rest != 0 || im != 0) {
                const double size = sqrt(re * re + im * im + rest), beta = re > 0 ? -size : size;
                T divisor;
                set_number(&tau, (beta - re) / beta, -im / beta);
                set_number(&divisor, re - beta, im);
                for (int64_t i = j + 1 + t; i < m; i += FACTOR_THREADS) a[i * n + j] = a[i * n + j] / divisor;
                __syncthreads();
                if (t == 0) set_number(&a[j * n + j], beta, 0);
                for (int64_t c = j + 1 + t; c < n; c += FACTOR_THREADS) {
                    double sum[2] = {(double)real_part(a[j * n + c]), imaginary_part(a[j * n + c])};
                    for (int64_t i = j + 1; i < m; i++) add_product(sum, a[i * n + j], a[i * n + c]);
                    T share;
                    set_number(&share, sum[0], sum[1]);
                    share = conjugated(tau) * share;
                    a[j * n + c] = a[j * n + c] - share;
                    for (int64_t i = j + 1; i < m; i++) a[i * n + c] = a[i * n + c] - a[i * n + j] * share;
                }
            }
            if (t == 0) taus[b * k + j] = tau;
            __syncthreads();
        }
    }
}

/* C (m x p) becomes Q C or Q^H C, for the Q of k reflectors; a thread for each column */
template <typename T>
__global__ void reflect(const T *matrices, const T *taus, T *columns, int64_t batch, int64_t m, int64_t n, int64_t k,
                        int64_t p, int adjoint) {
    SHIM_EACH(e, batch * p) {
        const int64_t b = e / p;
        const T *a = matrices + b * m * n;
        T *x = columns + b * m * p + e % p;
        for (int64_t step = 0; step < k; step++) {
            const int64_t j = adjoint ? step : k - 1 - step;
            const T tau = adjoint ? conjugated(taus[b * k + j]) : taus[b * k + j];
            double sum[2] = {(double)real_part(x[j * p]), imaginary_part(x[j * p])};
            for (int64_t i = j + 1; i < m; i++) add_product(sum, a[i * n + j], x[i * p]);
            T share;
            set_number(&share, sum[0], sum[1]);
            share = tau * share;
            x[j * p] = x[j * p] - share;
            for (int64_t i = j + 1; i < m; i++) x[i * p] = x[i * p] - a[i * n + j] * share;
        }
    }
}

/* two columns of rows x n, turned by a rotation: p' = c p - conj(s) q, q' = s p + c q */
template <typename T, typename R>
__device__ void rotate(T *a, int64_t rows, int64_t n, int64_t p, int64_t q, R c, T s) {
    for (int64_t i = 0; i < rows; i++) {
        const T x = a[i * n + p], y = a[i * n + q];
        a[i * n + p] = x * c - conjugated(s) * y;
        a[i * n + q] = s * x + y * c;
    }
}

/* Columns of W (m x n) become orthogonal, by rotations from the right that V (n x n) takes part in. All pairs of columns
 * meet in n - 1 rounds, in which each column meets one other, and a thread has a pair; until nothing turns any more. */
template <typename T>
__global__ void orthogonalise(T *matrices, T *bases, int32_t *infos, int64_t batch, int64_t m, int64_t n, double least) {
    typedef typename real_of<T>::type R;
    __shared__ int turned[2];
    const int64_t rounds = n + n % 2 - 1;
    const unsigned t = threadIdx.x;
    for (int64_t b = blockIdx.x; b < batch; b += gridDim.x) {
        T *w = matrices + b * m * n, *v = bases + b * n * n;
        int sweep = 0;
        if (t == 0) turned[0] = turned[1] = 0;
        __syncthreads();
        for (; sweep < 60; sweep++) {
            const double noise = (sweep < 12 ? 4 : 64) * least;
            for (int64_t round = 0; round < rounds; round++) {
                for (int64_t i = t; i < (rounds + 1) / 2; i += FACTOR_THREADS) {
                    int64_t p = i == 0 ? rounds : (round + i) % rounds, q = (round - i + rounds) % rounds;
                    if (p > q) {
                        const int64_t held = p;
                        p = q;
                        q = held;
                    }
                    if (q >= n) continue;
                    double first[2] = {0, 0}, second[2] = {0, 0}, both[2] = {0, 0};
                    for (int64_t r = 0; r < m; r++) {
                        add_product(first, w[r * n + p], w[r * n + p]);
                        add_product(second, w[r * n + q], w[r * n + q]);
                        add_product(both, w[r * n + p], w[r * n + q]);
                    }
                    const double size = hypot(both[0], both[1]), x = sqrt(first[0]), y = sqrt(second[0]);
                    /* one that is as small as the rounding of the other has no direction of its own */
                    if (!(size > least * x * y) || fmin(x, y) <= noise * fmax(x, y)) continue;
                    const double zeta = (second[0] - first[0]) / (2 * size);
                    const double tangent = (zeta < 0 ? -1 : 1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
                    const double c = 1 / sqrt(1 + tangent * tangent);
                    T s;
                    set_number(&s, c * tangent * both[0] / size, c * tangent * both[1] / size);
                    rotate(w, m, n, p, q, (R)c, s);
                    rotate(v, n, n, p, q, (R)c, s);
                    atomicAdd(&turned[sweep % 2], 1);
                }
                __syncthreads();
            }
            const int again = turned[sweep % 2];
            if (t == 0) turned[(sweep + 1) % 2] = 0;
            __syncthreads();
            if (!again) break;
        }
        if (t == 0) infos[b] = sweep == 60;
        __syncthreads();
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_reflectors(int dtype, void *a, void *taus, int64_t batch, int64_t m, int64_t n,
                                       cudaStream_t stream) {
    if (batch * m * n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((reflectors<S>), blocks_for(batch, 1), FACTOR_THREADS, 0, stream, (S *)a, (S *)taus, batch,
                                m, n))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_reflect(int dtype, const void *a, const void *taus, void *columns, int64_t batch, int64_t m,
                                    int64_t n, int64_t k, int64_t p, int adjoint, cudaStream_t stream) {
    if (batch * p * k == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((reflect<S>), blocks_for(batch * p), THREADS, 0, stream, (const S *)a, (const S *)taus,
                                (S *)columns, batch, m, n, k, p, adjoint))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_orthogonalise(int dtype, void *a, void *bases, int32_t *infos, int64_t batch, int64_t m,
                                          int64_t n, double least, cudaStream_t stream) {
    if (batch == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((orthogonalise<S>), blocks_for(batch, 1), FACTOR_THREADS, 0, stream, (S *)a, (S *)bases,
                                infos, batch, m, n, least))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
