/* Cumulative sums and products along rows: a block takes a row, piece by piece; the sums of pieces go on in order. */
#include "../../_kernels/ops.h"
#include "complexmath.h"
#include "intmath.h"
#include "kernels.h"
#include "numbers.h"

namespace shim {

enum { SCAN_THREADS = 128 };

template <typename S>
SHIM_BOTH typename number<S>::type combined(bool product, typename number<S>::type x, typename number<S>::type y) {
    if constexpr (number<S>::category == INTEGER)
        return product ? wrap_mul(x, y) : wrap_add(x, y);
    else
        return product ? x * y : x + y;
}

template <typename S>
SHIM_BOTH typename number<S>::type neutral(bool product) {
    typedef typename number<S>::type T;
    if constexpr (number<S>::category == COMPLEX)
        return T{product ? decltype(T::re)(1) : decltype(T::re)(0), 0};
    else
        return product ? T(1) : T(0);
}

/* Rows of n elements, `inner` of them interleaved: element i of row (o, j) lies at (o n + i) inner + j. */
template <typename S>
__global__ void scan_rows(bool product, const S *from, S *to, int64_t rows, int64_t n, int64_t inner) {
    typedef typename number<S>::type T;
    __shared__ unsigned char raw[2 * SCAN_THREADS * sizeof(T) + 16];
    T *here = (T *)(raw + (16 - (uintptr_t)raw % 16) % 16), *there = here + SCAN_THREADS;
    const int t = (int)threadIdx.x;
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        const int64_t first = row / inner * n * inner + row % inner;
        T before = neutral<S>(product);
        for (int64_t start = 0; start < n; start += SCAN_THREADS) {
            const int64_t i = start + t;
            T *in = here, *out = there;
            in[t] = i < n ? number<S>::load(from[first + i * inner]) : neutral<S>(product);
            __syncthreads();
            for (int reach = 1; reach < SCAN_THREADS; reach *= 2) {
                out[t] = t >= reach ? combined<S>(product, in[t - reach], in[t]) : in[t];
                __syncthreads();
                T *swap = in;
                in = out;
                out = swap;
            }
            if (i < n) to[first + i * inner] = number<S>::store(combined<S>(product, before, in[t]));
            before = combined<S>(product, before, in[SCAN_THREADS - 1]);
            __syncthreads();
        }
    }
}

/* out[k] = the place of the k-th element that is not 0; sums: the cumulative count of those */
__global__ void compact(const uint8_t *flags, const int64_t *sums, int64_t *out, int64_t n) {
    SHIM_EACH(i, n) {
        if (flags[i]) out[sums[i] - 1] = i;
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_scan(int op, int dtype, const void *from, void *to, int64_t rows, int64_t n, int64_t inner,
                                 cudaStream_t stream) {
    const bool product = op == ST_ROW_cumprod;
    if (rows == 0 || n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_INTEGERS(SHIM_LAUNCH((scan_rows<S>), blocks_for(rows, 1), SCAN_THREADS, 0, stream, product,
                                  (const S *)from, (S *)to, rows, n, inner))
        SHIM_FLOATS(SHIM_LAUNCH((scan_rows<S>), blocks_for(rows, 1), SCAN_THREADS, 0, stream, product, (const S *)from,
                                (S *)to, rows, n, inner))
        SHIM_COMPLEX(SHIM_LAUNCH((scan_rows<S>), blocks_for(rows, 1), SCAN_THREADS, 0, stream, product,
                                 (const S *)from, (S *)to, rows, n, inner))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_compact(const void *flags, const int64_t *sums, int64_t *out, int64_t n,
                                    cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    SHIM_LAUNCH((compact), blocks_for(n), THREADS, 0, stream, (const uint8_t *)flags, sums, out, n);
    return cudaGetLastError();
}
