/* Factorisations of batches of row-major matrices, a block for each, and solving with triangles, a thread for each column.
 * What they compute is LAPACK's getrf, potrf and trtrs. */
#include "dense.h"
#include "matrices.h"

namespace shim {

/* P L U in place, with the largest element of the column as pivot (the first of equals) */
template <typename T>
__global__ void lu(T *matrices, int32_t *pivots, int32_t *infos, int64_t batch, int64_t m, int64_t n) {
    __shared__ double best[FACTOR_THREADS];
    __shared__ int64_t where[FACTOR_THREADS];
    const int64_t k = m < n ? m : n;
    const unsigned t = threadIdx.x;
    for (int64_t b = blockIdx.x; b < batch; b += gridDim.x) {
        T *a = matrices + b * m * n;
        int32_t info = 0;
        for (int64_t j = 0; j < k; j++) {
            best[t] = -1;
            where[t] = j;
            for (int64_t i = j + t; i < m; i += FACTOR_THREADS) {
                const double x = weight_of(a[i * n + j]);
                if (x > best[t] || (x != x && best[t] == best[t])) {
                    best[t] = x;
                    where[t] = i;
                }
            }
            __syncthreads();
            for (unsigned half = FACTOR_THREADS / 2; half > 0; half /= 2) {
                if (t < half) {
                    const double x = best[t + half];
                    const bool better = x != x ? best[t] == best[t] : x > best[t];
                    if (better || (x == best[t] && where[t + half] < where[t])) {
                        best[t] = x;
                        where[t] = where[t + half];
                    }
                }
                __syncthreads();
            }
            const int64_t p = where[0];
            if (t == 0) pivots[b * k + j] = (int32_t)(p + 1);
            if (p != j)
                for (int64_t c = t; c < n; c += FACTOR_THREADS) {
                    const T held = a[j * n + c];
                    a[j * n + c] = a[p * n + c];
                    a[p * n + c] = held;
                }
            __syncthreads();
            const T pivot = a[j * n + j];
            if (is_zero(pivot)) {
                if (info == 0) info = (int32_t)(j + 1);
            } else {
                for (int64_t i = j + 1 + t; i < m; i += FACTOR_THREADS) a[i * n + j] = a[i * n + j] / pivot;
            }
            __syncthreads();
            const int64_t rest = n - j - 1;
            for (int64_t e = t; e < (m - j - 1) * rest; e += FACTOR_THREADS) {
                const int64_t i = j + 1 + e / rest, c = j + 1 + e % rest;
                a[i * n + c] = a[i * n + c] - a[i * n + j] * a[j * n + c];
            }
            __syncthreads();
        }
        if (t == 0) infos[b] = info;
        __syncthreads();
    }
}

/* L L^H in place of the lower triangle; the upper one becomes 0 */
template <typename T>
__global__ void cholesky(T *matrices, int32_t *infos, int64_t batch, int64_t n) {
    const unsigned t = threadIdx.x;
    for (int64_t b = blockIdx.x; b < batch; b += gridDim.x) {
        T *a = matrices + b * n * n;
        int32_t info = 0;
        for (int64_t j = 0; j < n; j++) {
            const auto square = real_part(a[j * n + j]);
            __syncthreads();
            if (!(square > 0)) { /* all threads see the same */
                info = (int32_t)(j + 1);
                break;
            }
            const auto root = sqrt(square);
            T divisor{};
            if constexpr (sizeof(T) == sizeof(root))
                divisor = root;
            else
                divisor = T{root, 0};
            for (int64_t i = j + 1 + t; i < n; i += FACTOR_THREADS) a[i * n + j] = a[i * n + j] / divisor;
            if (t == 0) a[j * n + j] = divisor;
            __syncthreads();
            const int64_t rest = n - j - 1;
            for (int64_t e = t; e < rest * rest; e += FACTOR_THREADS) {
                const int64_t i = j + 1 + e / rest, c = j + 1 + e % rest;
                if (c <= i) a[i * n + c] = a[i * n + c] - a[i * n + j] * conjugated(a[c * n + j]);
            }
            __syncthreads();
        }
        for (int64_t e = t; e < n * n; e += FACTOR_THREADS)
            if (e % n > e / n) a[e] = T{};
        if (t == 0) infos[b] = info;
        __syncthreads();
    }
}

/* B (n x k) becomes the X with A X = B, for the upper or lower triangle of A */
template <typename T>
__global__ void solve_triangle(const T *triangles, T *columns, int64_t batch, int64_t n, int64_t k, int upper, int unit) {
    SHIM_EACH(e, batch * k) {
        const T *a = triangles + e / k * n * n;
        T *x = columns + e / k * n * k + e % k;
        for (int64_t step = 0; step < n; step++) {
            const int64_t i = upper ? n - 1 - step : step;
            T sum = x[i * k];
            for (int64_t j = upper ? i + 1 : 0; j < (upper ? n : i); j++) sum = sum - a[i * n + j] * x[j * k];
            x[i * k] = unit ? sum : sum / a[i * n + i];
        }
    }
}

/* The row of A that ends up in each place, for exchanges of rows as LAPACK numbers them; and the permutation's sign. */
__global__ void order_of(const int32_t *pivots, int64_t *order, int64_t *signs, int64_t batch, int64_t k, int64_t m) {
    SHIM_EACH(b, batch) {
        int64_t *place = order + b * m, sign = 1;
        for (int64_t i = 0; i < m; i++) place[i] = i;
        for (int64_t i = 0; i < k; i++) {
            const int64_t j = pivots[b * k + i] - 1, held = place[i];
            if (j < 0 || j >= m) continue; /* no pivot of such a matrix */
            place[i] = place[j];
            place[j] = held;
            if (j != i) sign = -sign;
        }
        signs[b] = sign;
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_lu(int dtype, void *a, int32_t *pivots, int32_t *infos, int64_t batch, int64_t m, int64_t n,
                               cudaStream_t stream) {
    if (batch == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((lu<S>), blocks_for(batch, 1), FACTOR_THREADS, 0, stream, (S *)a, pivots, infos, batch,
                                m, n))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_cholesky(int dtype, void *a, int32_t *infos, int64_t batch, int64_t n,
                                     cudaStream_t stream) {
    if (batch == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((cholesky<S>), blocks_for(batch, 1), FACTOR_THREADS, 0, stream, (S *)a, infos, batch,
                                n))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_solve_triangle(int dtype, const void *a, void *b, int64_t batch, int64_t n, int64_t k,
                                           int upper, int unit, cudaStream_t stream) {
    if (batch * n * k == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FIELDS(SHIM_LAUNCH((solve_triangle<S>), blocks_for(batch * k), THREADS, 0, stream, (const S *)a, (S *)b,
                                batch, n, k, upper, unit))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_order_of(const int32_t *pivots, int64_t *order, int64_t *signs, int64_t batch, int64_t k,
                                     int64_t m, cudaStream_t stream) {
    if (batch == 0) return cudaSuccess;
    SHIM_LAUNCH((order_of), blocks_for(batch), THREADS, 0, stream, pivots, order, signs, batch, k, m);
    return cudaGetLastError();
}
