/* Sequences of numbers that a thread knows from its place alone. */
#include "complexmath.h"
#include "dense.h"
#include "numbers.h"

namespace shim {

template <typename S>
__device__ S as_element(double x) {
    if constexpr (number<S>::category == COMPLEX)
        return S{(decltype(S::re))x, 0};
    else
        return number<S>::store((typename number<S>::type)x);
}

template <typename S>
__global__ void range_whole(S *out, int64_t n, int64_t first, int64_t step) {
    SHIM_EACH(i, n) {
        const int64_t x = (int64_t)((uint64_t)first + (uint64_t)i * (uint64_t)step);
        if constexpr (number<S>::category == COMPLEX)
            out[i] = S{(decltype(S::re))x, 0};
        else
            out[i] = number<S>::store((typename number<S>::type)x);
    }
}

template <typename S>
__global__ void range(S *out, int64_t n, double first, double step) {
    SHIM_EACH(i, n) {
#ifdef __CUDA_ARCH__
        const double product = __dmul_rn((double)i, step); /* not fused with the sum: as on the CPU */
#else
        const double product = (double)i * step;
#endif
        if constexpr (number<S>::category == INTEGER)
            out[i] = (S)(int64_t)(product + first);
        else
            out[i] = as_element<S>(product + first);
    }
}

/* T: the type in which the numbers are computed */
template <typename S, typename T>
__global__ void linspace(S *out, int64_t n, double first, double last) {
    const T a = (T)first, b = (T)last, step = n > 1 ? (b - a) / (T)(n - 1) : T(0);
    SHIM_EACH(i, n) {
        const T x = i < n / 2 || n == 1 ? fma(step, (T)i, a) : fma(-step, (T)(n - 1 - i), b);
        if constexpr (number<S>::category == INTEGER)
            out[i] = (S)(int64_t)x;
        else
            out[i] = as_element<S>((double)x);
    }
}

}  // namespace shim

using namespace shim;

extern "C" cudaError_t shim_range_whole(int dtype, void *out, int64_t n, int64_t first, int64_t step,
                                        cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_ALL(SHIM_LAUNCH((range_whole<S>), blocks_for(n), THREADS, 0, stream, (S *)out, n, first, step))
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_range(int dtype, void *out, int64_t n, double first, double step, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_ALL(SHIM_LAUNCH((range<S>), blocks_for(n), THREADS, 0, stream, (S *)out, n, first, step))
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_linspace(int dtype, void *out, int64_t n, double first, double last, cudaStream_t stream) {
    if (n == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_INTEGERS(SHIM_LAUNCH((linspace<S, double>), blocks_for(n), THREADS, 0, stream, (S *)out, n, first, last))
        SHIM_CASE(ST_FLOAT32, float,
                  SHIM_LAUNCH((linspace<S, float>), blocks_for(n), THREADS, 0, stream, (S *)out, n, first, last))
        SHIM_CASE(ST_FLOAT64, double,
                  SHIM_LAUNCH((linspace<S, double>), blocks_for(n), THREADS, 0, stream, (S *)out, n, first, last))
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
