/* Conversions between all dtypes, and copies with strides: a conversion of a dtype to itself. */
#include "nest.h"

namespace shim {

/* A number on its way from one dtype to another: integers keep 64 bits, the others are doubles. */
struct Carried {
    double re, im;
    uint64_t whole;
    bool integer, negative;
};

__device__ __forceinline__ int64_t whole_of(double x) { /* what an x86 processor's conversion gives */
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

__device__ __forceinline__ int32_t word_of(double x) {
    return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN;
}

template <typename S>
__device__ __forceinline__ void pick_up(Carried &c, const char *at) {
    const auto x = load<S>(at);
    if constexpr (number<S>::category == COMPLEX) {
        c = {(double)x.re, (double)x.im, 0, false, false};
    } else if constexpr (number<S>::category == FLOATING) {
        c = {(double)x, 0, 0, false, false};
    } else {
        c = {(double)x, 0, (uint64_t)(int64_t)x, true, x < 0};
    }
}

template <typename T>
__device__ __forceinline__ T integer_of(const Carried &c) {
    if (c.integer) return (T)c.whole;
    if constexpr (sizeof(T) == 8 && T(-1) > T(0)) {
        return c.re < 9223372036854775808.0    ? (T)whole_of(c.re)
               : c.re < 18446744073709551616.0 ? (T)c.re
                                               : T(0);
    } else if constexpr (sizeof(T) == 8 || (sizeof(T) <= 4 && T(-1) > T(0) && sizeof(T) != 2)) {
        return (T)whole_of(c.re);
    } else {
        return (T)word_of(c.re);
    }
}

template <typename T>
__device__ __forceinline__ T float_of(const Carried &c) {
    return c.integer ? (c.negative ? (T)(int64_t)c.whole : (T)c.whole) : (T)c.re;
}

template <typename S>
__device__ __forceinline__ void put_down(char *at, const Carried &c) {
    typedef typename number<S>::type T;
    if constexpr (number<S>::category == COMPLEX) {
        store<S>(at, T{float_of<decltype(T::re)>(c), (decltype(T::im))c.im});
    } else if constexpr (number<S>::category == FLOATING) {
        store<S>(at, float_of<T>(c));
    } else if constexpr (number<S>::category == BOOLEAN) {
        store<S>(at, c.integer ? c.whole != 0 : c.re != 0 || c.im != 0);
    } else {
        store<S>(at, integer_of<T>(c));
    }
}

template <typename T>
__global__ void convert(int from, shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[2];
        find(nest, i, at);
        Carried c = {0, 0, 0, false, false};
        switch (from) { SHIM_ALL(pick_up<S>(c, at[1])) }
        put_down<T>(at[0], c);
    }
}

struct bytes16 {
    uint64_t part[2];
};

template <typename T>
__global__ void move(shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[2];
        find(nest, i, at);
        *(T *)at[0] = *(const T *)at[1];
    }
}

}  // namespace shim

using namespace shim;

static int size_of(int dtype) {
    switch (dtype) { SHIM_ALL(return (int)sizeof(S)) }
    return 0;
}

extern "C" cudaError_t shim_cast(int from, int to, const shim_nest *nest, cudaStream_t stream) {
    if (nest->count == 0) return cudaSuccess;
    const unsigned grid = blocks_for(nest->count);
    if (from == to) {
        switch (size_of(to)) {
        case 1: SHIM_LAUNCH((move<uint8_t>), grid, THREADS, 0, stream, *nest); break;
        case 2: SHIM_LAUNCH((move<uint16_t>), grid, THREADS, 0, stream, *nest); break;
        case 4: SHIM_LAUNCH((move<uint32_t>), grid, THREADS, 0, stream, *nest); break;
        case 8: SHIM_LAUNCH((move<uint64_t>), grid, THREADS, 0, stream, *nest); break;
        default: SHIM_LAUNCH((move<bytes16>), grid, THREADS, 0, stream, *nest);
        }
        return cudaGetLastError();
    }
    switch (to) { SHIM_ALL(SHIM_LAUNCH((convert<S>), grid, THREADS, 0, stream, from, *nest)) }
    return cudaGetLastError();
}
