/* Normalisation of rows: a block takes a row; the parts of its threads are joined in a fixed order. */
#include "dense.h"
#include "numbers.h"

namespace shim {

enum { NORM_THREADS = 128 };

/* The sum of a number of each thread, in all threads. */
template <typename T>
__device__ T sum_of_block(T *parts, T x) {
    parts[threadIdx.x] = x;
    __syncthreads();
    for (unsigned half = NORM_THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    x = parts[0];
    __syncthreads();
    return x;
}

/* Which weight belongs to the i-th element of a row. */
__device__ __forceinline__ int64_t weight_at(const shim_rows &r, int64_t row, int64_t i) {
    return row % r.groups * (r.n / r.run) + i / r.run;
}

template <typename S>
__global__ void normalise_rows(shim_rows r, double eps, const S *x, const S *weight, const S *bias,
                               typename number<S>::type *mean, typename number<S>::type *scale, S *out) {
    typedef typename number<S>::type T;
    __shared__ T parts[NORM_THREADS];
    for (int64_t row = blockIdx.x; row < r.rows; row += gridDim.x) {
        const S *from = x + row * r.n;
        T sum = 0, squares = 0;
        for (int64_t i = threadIdx.x; i < r.n; i += NORM_THREADS) sum += number<S>::load(from[i]);
        const T center = sum_of_block(parts, sum) / (T)r.n;
        for (int64_t i = threadIdx.x; i < r.n; i += NORM_THREADS) {
            const T d = number<S>::load(from[i]) - center;
            squares += d * d;
        }
        const T factor = T(1) / sqrt(sum_of_block(parts, squares) / (T)r.n + (T)eps);
        for (int64_t i = threadIdx.x; i < r.n; i += NORM_THREADS) {
            T y = (number<S>::load(from[i]) - center) * factor;
            if (weight) y *= number<S>::load(weight[weight_at(r, row, i)]);
            if (bias) y += number<S>::load(bias[weight_at(r, row, i)]);
            out[row * r.n + i] = number<S>::store(y);
        }
        if (threadIdx.x == 0) {
            mean[row] = center;
            scale[row] = factor;
        }
    }
}

template <typename S>
__global__ void normalise_rows_backward(shim_rows r, const S *g, const S *x, const S *weight,
                                        const typename number<S>::type *mean, const typename number<S>::type *scale,
                                        S *dx) {
    typedef typename number<S>::type T;
    __shared__ T parts[NORM_THREADS];
    for (int64_t row = blockIdx.x; row < r.rows; row += gridDim.x) {
        const T center = mean[row], factor = scale[row];
        const int64_t first = row * r.n;
        T sum = 0, product = 0;
        for (int64_t i = threadIdx.x; i < r.n; i += NORM_THREADS) {
            T k = number<S>::load(g[first + i]);
            if (weight) k *= number<S>::load(weight[weight_at(r, row, i)]);
            sum += k;
            product += k * (number<S>::load(x[first + i]) - center) * factor;
        }
        const T mean_k = sum_of_block(parts, sum) / (T)r.n, mean_kx = sum_of_block(parts, product) / (T)r.n;
        for (int64_t i = threadIdx.x; i < r.n; i += NORM_THREADS) {
            T k = number<S>::load(g[first + i]);
            if (weight) k *= number<S>::load(weight[weight_at(r, row, i)]);
            const T y = (number<S>::load(x[first + i]) - center) * factor;
            dx[first + i] = number<S>::store(factor * (k - mean_k - y * mean_kx));
        }
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_normalise_rows(int dtype, const shim_rows *r, double eps, const void *x, const void *weight,
                                           const void *bias, void *mean, void *scale, void *out,
                                           cudaStream_t stream) {
    if (r->rows == 0 || r->n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((normalise_rows<S>), blocks_for(r->rows, 1), NORM_THREADS, 0, stream, *r, eps,
                                (const S *)x, (const S *)weight, (const S *)bias, (number<S>::type *)mean,
                                (number<S>::type *)scale, (S *)out))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_normalise_rows_backward(int dtype, const shim_rows *r, const void *g, const void *x,
                                                    const void *weight, const void *mean, const void *scale, void *dx,
                                                    cudaStream_t stream) {
    if (r->rows == 0 || r->n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_FLOATS(SHIM_LAUNCH((normalise_rows_backward<S>), blocks_for(r->rows, 1), NORM_THREADS, 0, stream, *r,
                                (const S *)g, (const S *)x, (const S *)weight, (const number<S>::type *)mean,
                                (const number<S>::type *)scale, (S *)dx))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
