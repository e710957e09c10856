/* Values of entries: brought together by groups, multiplied with dense matrices, sampled. For every dtype; sums are kept in
 * the type that elements are computed in. */
#include "complexmath.h"
#include "intmath.h"
#include "numbers.h"
#include "sparse.h"

namespace shim {

template <typename S>
struct Ring { /* sums and products in which integers wrap and bools are flags */
    typedef typename number<S>::type T;
    static SHIM_BOTH T zero() {
        if constexpr (number<S>::category == COMPLEX)
            return T{0, 0};
        else
            return T(0);
    }
    static SHIM_BOTH T one() {
        if constexpr (number<S>::category == COMPLEX)
            return T{1, 0};
        else
            return T(1);
    }
    static SHIM_BOTH T add(T x, T y) {
        if constexpr (number<S>::category == BOOLEAN)
            return x | y;
        else if constexpr (number<S>::category == INTEGER)
            return wrap_add(x, y);
        else
            return x + y;
    }
    static SHIM_BOTH T times(T x, T y) {
        if constexpr (number<S>::category == BOOLEAN)
            return x & y;
        else if constexpr (number<S>::category == INTEGER)
            return wrap_mul(x, y);
        else
            return x * y;
    }
    static SHIM_BOTH T conjugate(T x) {
        if constexpr (number<S>::category == COMPLEX)
            return conj(x);
        else
            return x;
    }
    static SHIM_BOTH T of(const shim_number &x) {
        if constexpr (number<S>::category == COMPLEX)
            return T{(decltype(T::re))x.re, (decltype(T::re))x.im};
        else if constexpr (number<S>::category == FLOATING)
            return (T)x.re;
        else
            return (T)x.whole;
    }
};

template <typename S>
SHIM_BOTH typename number<S>::type brought_together(int how, typename number<S>::type x, typename number<S>::type y) {
    if (how == SHIM_SEGMENT_SUM) return Ring<S>::add(x, y);
    if (how == SHIM_SEGMENT_PROD) return Ring<S>::times(x, y);
    if constexpr (number<S>::category != COMPLEX) {
        if (x != x) return x;
        if (how == SHIM_SEGMENT_MAX) return y > x || y != y ? y : x;
        return y < x || y != y ? y : x;
    }
    return x;
}

template <typename S>
__device__ typename number<S>::type part_of_segment(int how, const S *values, int64_t width, int64_t column,
                                                    const int64_t *order, int64_t from, int64_t to, int64_t step) {
    typename number<S>::type sum = how == SHIM_SEGMENT_PROD ? Ring<S>::one() : Ring<S>::zero();
    for (int64_t i = from; i < to; i += step) {
        const auto x = number<S>::load(values[(order ? order[i] : i) * width + column]);
        sum = i == from ? x : brought_together<S>(how, sum, x);
    }
    return sum;
}

template <typename S>
__global__ void segments_by_thread(int how, const S *values, int64_t width, const int64_t *order, const int64_t *starts,
                                   int64_t count, S *out) {
    SHIM_EACH(j, count * width) {
        const int64_t g = j / width;
        out[j] = number<S>::store(
            part_of_segment<S>(how, values, width, j - g * width, order, starts[g], starts[g + 1], 1));
    }
}

enum { SEGMENT_THREADS = 128 };

template <typename S>
__global__ void segments_by_block(int how, const S *values, int64_t width, const int64_t *order, const int64_t *starts,
                                  int64_t count, S *out) {
    typedef typename number<S>::type T;
    __shared__ unsigned char raw[SEGMENT_THREADS * sizeof(T) + 16];
    T *parts = (T *)(raw + (16 - (uintptr_t)raw % 16) % 16);
    const int t = (int)threadIdx.x;
    for (int64_t j = blockIdx.x; j < count * width; j += gridDim.x) {
        const int64_t g = j / width, from = starts[g], to = starts[g + 1];
        parts[t] = part_of_segment<S>(how, values, width, j - g * width, order, from + t, to, SEGMENT_THREADS);
        __syncthreads();
        for (int half = SEGMENT_THREADS / 2; half > 0; half /= 2) {
            if (t < half && from + t + half < to) parts[t] = brought_together<S>(how, parts[t], parts[t + half]);
            __syncthreads();
        }
        if (t == 0) out[j] = number<S>::store(parts[0]);
        __syncthreads();
    }
}

template <typename S>
cudaError_t launch_segments(int how, const void *values, int64_t width, const int64_t *order, const int64_t *starts,
                            int64_t count, int64_t n, void *out, cudaStream_t stream) {
    if (n > 64 * count)
        SHIM_LAUNCH((segments_by_block<S>), blocks_for(count * width, 1), SEGMENT_THREADS, 0, stream, how,
                    (const S *)values, width, order, starts, count, (S *)out);
    else
        SHIM_LAUNCH((segments_by_thread<S>), blocks_for(count * width), THREADS, 0, stream, how, (const S *)values,
                    width, order, starts, count, (S *)out);
    return cudaGetLastError();
}

/* ---- products ---- */

template <typename S>
__global__ void multiply_rows(shim_product p) {
    typedef Ring<S> R;
    const S *values = (const S *)p.values, *other = (const S *)p.other;
    const typename R::T alpha = R::of(p.alpha), beta = R::of(p.beta);
    const bool reads = p.beta.re != 0 || p.beta.im != 0;
    SHIM_EACH(j, p.n_rows * p.width) {
        const int64_t r = j / p.width, c = j - r * p.width;
        typename R::T sum = R::zero();
        for (int64_t i = p.pointer[r]; i < p.pointer[r + 1]; i++) {
            const auto x = number<S>::load(values[p.order ? p.order[i] : i]);
            const auto y = number<S>::load(other[p.columns[i] * p.other_step + c]);
            sum = R::add(sum, R::times(p.conjugate ? R::conjugate(x) : x, y));
        }
        S *out = (S *)p.out + r * p.out_step + c;
        sum = R::times(alpha, sum);
        *out = number<S>::store(reads ? R::add(sum, R::times(beta, number<S>::load(*out))) : sum);
    }
}

template <typename S>
__global__ void sample(const int64_t *rows, const int64_t *columns, int64_t n, const S *a, int64_t a_step, const S *b,
                       int64_t b_step, int64_t width, S *out) {
    typedef Ring<S> R;
    SHIM_EACH(i, n) {
        const S *x = a + rows[i] * a_step, *y = b + columns[i] * b_step;
        typename R::T sum = R::zero();
        for (int64_t k = 0; k < width; k++) sum = R::add(sum, R::times(number<S>::load(x[k]), number<S>::load(y[k])));
        out[i] = number<S>::store(sum);
    }
}

template <typename S>
__global__ void pair_products(const S *a, const int64_t *left, const S *b, const int64_t *right, int64_t n, S *out) {
    SHIM_EACH(i, n) {
        out[i] = number<S>::store(Ring<S>::times(number<S>::load(a[left[i]]), number<S>::load(b[right[i]])));
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_segments(int how, int dtype, const void *values, int64_t width, const int64_t *order,
                                     const int64_t *starts, int64_t count, int64_t n, void *out, cudaStream_t stream) {
    if (count == 0 || width == 0) return cudaSuccess;
    if (how > SHIM_SEGMENT_PROD && (dtype == ST_COMPLEX64 || dtype == ST_COMPLEX128)) return cudaErrorNotSupported;
    switch (dtype) {
        SHIM_ALL(return launch_segments<S>(how, values, width, order, starts, count, n, out, stream))
    }
    return cudaErrorNotSupported;
}

extern "C" cudaError_t shim_multiply(int dtype, const shim_product *p, cudaStream_t stream) {
    if (p->n_rows == 0 || p->width == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_ALL(SHIM_LAUNCH((multiply_rows<S>), blocks_for(p->n_rows * p->width), THREADS, 0, stream, *p))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_sample_product(int dtype, const int64_t *rows, const int64_t *columns, int64_t n, const void *a,
                                   int64_t a_step, const void *b, int64_t b_step, int64_t width, void *out,
                                   cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_ALL(SHIM_LAUNCH((sample<S>), blocks_for(n), THREADS, 0, stream, rows, columns, n, (const S *)a, a_step,
                             (const S *)b, b_step, width, (S *)out))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_pair_products(int dtype, const void *a, const int64_t *left, const void *b,
                                          const int64_t *right, int64_t n, void *out, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_ALL(SHIM_LAUNCH((pair_products<S>), blocks_for(n), THREADS, 0, stream, (const S *)a, left, (const S *)b,
                             right, n, (S *)out))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
