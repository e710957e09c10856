/* The element types as they lie in memory, and the types they are computed in. */
#pragma once
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "../../_kernels/kernels.h"
#include "launch.h"

#define SHIM_BOTH __host__ __device__ __forceinline__

namespace shim {

struct boolean { /* 0 or 1 */
    uint8_t value;
};
struct half16 {
    uint16_t bits;
};
struct bfloat {
    uint16_t bits;
};

template <typename T>
struct complex {
    T re, im;
};

/* ---- the two 16-bit formats, rounded to nearest even ---- */

SHIM_BOTH uint32_t bits_of(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

SHIM_BOTH float of_bits(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}

SHIM_BOTH float widened(bfloat h) { return of_bits((uint32_t)h.bits << 16); }

SHIM_BOTH bfloat to_bfloat(float x) {
    const uint32_t u = bits_of(x);
    bfloat h;
    h.bits = (uint16_t)(x != x ? 0x7fc0u : (u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
    return h;
}

SHIM_BOTH float widened(half16 h) {
    const uint32_t sign = (uint32_t)(h.bits & 0x8000u) << 16, rest = (uint32_t)(h.bits & 0x7fffu) << 13;
    const float scaled = of_bits(rest) * 5192296858534827628530496329220096.0f; /* 2^112 */
    return of_bits(sign | (rest >= 0x0f800000u ? (rest | 0x7f800000u) : bits_of(scaled)));
}

SHIM_BOTH half16 to_half(float x) {
    const uint32_t u = bits_of(x), sign = (u >> 16) & 0x8000u, size = u & 0x7fffffffu;
    const uint32_t small = bits_of(of_bits(size) + 0.5f) - 0x3f000000u;
    const uint32_t normal = (size - 0x38000000u + 0xfffu + ((size >> 13) & 1u)) >> 13;
    half16 h;
    h.bits = (uint16_t)(sign | (size > 0x7f800000u    ? 0x7e00u
                                : size >= 0x477ff000u ? 0x7c00u
                                : size < 0x38800000u  ? small
                                                      : normal));
    return h;
}

/* ---- what an element is computed in ---- */

enum Category { BOOLEAN, INTEGER, FLOATING, COMPLEX };

template <typename S>
struct number { /* integers, float, double: as they are */
    typedef S type;
    static constexpr Category category = S(0.5) != S(0) ? FLOATING : INTEGER;
    static SHIM_BOTH type load(S x) { return x; }
    static SHIM_BOTH S store(type x) { return x; }
};
template <>
struct number<boolean> {
    typedef uint8_t type;
    static constexpr Category category = BOOLEAN;
    static SHIM_BOTH type load(boolean x) { return x.value; }
    static SHIM_BOTH boolean store(type x) { return boolean{(uint8_t)(x != 0)}; }
};
template <>
struct number<half16> {
    typedef float type;
    static constexpr Category category = FLOATING;
    static SHIM_BOTH type load(half16 x) { return widened(x); }
    static SHIM_BOTH half16 store(type x) { return to_half(x); }
};
template <>
struct number<bfloat> {
    typedef float type;
    static constexpr Category category = FLOATING;
    static SHIM_BOTH type load(bfloat x) { return widened(x); }
    static SHIM_BOTH bfloat store(type x) { return to_bfloat(x); }
};
template <typename T>
struct number<complex<T>> {
    typedef complex<T> type;
    static constexpr Category category = COMPLEX;
    static SHIM_BOTH type load(type x) { return x; }
    static SHIM_BOTH type store(type x) { return x; }
};

template <typename S>
SHIM_BOTH typename number<S>::type load(const char *at) {
    return number<S>::load(*reinterpret_cast<const S *>(at));
}

template <typename S>
SHIM_BOTH void store(char *at, typename number<S>::type x) {
    *reinterpret_cast<S *>(at) = number<S>::store(x);
}

}  // namespace shim

/* Runs the statements with S as the storage type of a dtype; falls out of the switch for a code that is none. */
#define SHIM_CASE(code, type, ...) \
    case code: {                   \
        typedef type S;            \
        __VA_ARGS__;               \
    } break;
#define SHIM_INTEGERS(...)                         \
    SHIM_CASE(ST_UINT8, uint8_t, __VA_ARGS__)      \
    SHIM_CASE(ST_INT8, int8_t, __VA_ARGS__)        \
    SHIM_CASE(ST_INT16, int16_t, __VA_ARGS__)      \
    SHIM_CASE(ST_INT32, int32_t, __VA_ARGS__)      \
    SHIM_CASE(ST_INT64, int64_t, __VA_ARGS__)      \
    SHIM_CASE(ST_UINT16, uint16_t, __VA_ARGS__)    \
    SHIM_CASE(ST_UINT32, uint32_t, __VA_ARGS__)    \
    SHIM_CASE(ST_UINT64, uint64_t, __VA_ARGS__)
#define SHIM_FLOATS(...)                            \
    SHIM_CASE(ST_FLOAT16, ::shim::half16, __VA_ARGS__)  \
    SHIM_CASE(ST_BFLOAT16, ::shim::bfloat, __VA_ARGS__) \
    SHIM_CASE(ST_FLOAT32, float, __VA_ARGS__)       \
    SHIM_CASE(ST_FLOAT64, double, __VA_ARGS__)
#define SHIM_COMPLEX(...)                                        \
    SHIM_CASE(ST_COMPLEX64, ::shim::complex<float>, __VA_ARGS__) \
    SHIM_CASE(ST_COMPLEX128, ::shim::complex<double>, __VA_ARGS__)
#define SHIM_ALL(...) \
    SHIM_CASE(ST_BOOL, ::shim::boolean, __VA_ARGS__) SHIM_INTEGERS(__VA_ARGS__) SHIM_FLOATS(__VA_ARGS__) \
    SHIM_COMPLEX(__VA_ARGS__)
