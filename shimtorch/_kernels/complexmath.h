/* Complex arithmetic written out: C's own operators check for NaN at every product, which is slow and not what is
 * wanted. cmul_c64, cdiv_c64 and so on; the elementary functions are libm's. */
#ifndef SHIMTORCH_KERNELS_COMPLEXMATH_H
#define SHIMTORCH_KERNELS_COMPLEXMATH_H

#include "base.h"

#define REAL_c64 f32
#define REAL_c128 f64
#define REAL(t) REAL_##t

/* re + i im without the multiplication by I, which would spoil infinities and signed zeros */
static inline c64 make_c64(f32 re, f32 im) {
    union { f32 part[2]; c64 z; } u = {{re, im}};
    return u.z;
}

static inline c128 make_c128(f64 re, f64 im) {
    union { f64 part[2]; c128 z; } u = {{re, im}};
    return u.z;
}

static inline f32 re_c64(c64 z) { return crealf(z); }
static inline f32 im_c64(c64 z) { return cimagf(z); }
static inline f64 re_c128(c128 z) { return creal(z); }
static inline f64 im_c128(c128 z) { return cimag(z); }

/* A product rounded by itself. GCC 12's vectoriser fuses pairs of products (a b - c d, a d + c b) even where
 * contraction is off, and z * conj(z) would not be real. */
#ifdef __has_builtin
#if __has_builtin(__builtin_assoc_barrier)
#define ROUNDED(product) __builtin_assoc_barrier(product)
#endif
#endif
#ifndef ROUNDED
#define ROUNDED(product) (product)
#endif

#define DEFINE_ARITHMETIC(t)                                                                                         \
    static inline t cmul_##t(t x, t y) {                                                                             \
        const REAL(t) a = re_##t(x), b = im_##t(x), c = re_##t(y), d = im_##t(y);                                    \
        return make_##t(ROUNDED(a * c) - ROUNDED(b * d), ROUNDED(a * d) + ROUNDED(b * c));                           \
    }                                                                                                                \
    static inline t cconj_##t(t x) { return make_##t(re_##t(x), -im_##t(x)); }                                       \
    /* by the larger part of the divisor, so that nothing overflows on the way */                                    \
    static inline t cdiv_##t(t x, t y) {                                                                             \
        const REAL(t) a = re_##t(x), b = im_##t(x), c = re_##t(y), d = im_##t(y);                                    \
        const REAL(t) size_c = c < 0 ? -c : c, size_d = d < 0 ? -d : d;                                              \
        if (size_c >= size_d) {                                                                                      \
            if (size_c == 0) return make_##t(a / size_c, b / size_d);                                                \
            const REAL(t) ratio = d / c, scale = 1 / (c + d * ratio);                                                \
            return make_##t((a + ROUNDED(b * ratio)) * scale, (b - ROUNDED(a * ratio)) * scale);                     \
        }                                                                                                            \
        const REAL(t) ratio = c / d, scale = 1 / (c * ratio + d);                                                    \
        return make_##t((ROUNDED(a * ratio) + b) * scale, (ROUNDED(b * ratio) - a) * scale);                         \
    }
DEFINE_ARITHMETIC(c64)
DEFINE_ARITHMETIC(c128)

static inline f32 cabs_c64(c64 z) { return hypotf(crealf(z), cimagf(z)); }
static inline f64 cabs_c128(c128 z) { return hypot(creal(z), cimag(z)); }

/* powers of zero by rule (libm's go through log(0)); small whole exponents by multiplication */
#define DEFINE_POWER(t, LIBM)                                                                                        \
    static inline t st_cpow_##t(t x, t y) {                                                                          \
        const REAL(t) n = re_##t(y);                                                                                 \
        if (im_##t(y) == 0) {                                                                                        \
            if (n == 0) return 1;                                                                                    \
            if (n == 1) return x;                                                                                    \
            if (n == 2) return cmul_##t(x, x);                                                                       \
            if (n == 3) return cmul_##t(cmul_##t(x, x), x);                                                          \
            if (n == -1) return cdiv_##t(1, x);                                                                      \
        }                                                                                                            \
        if (re_##t(x) == 0 && im_##t(x) == 0 && n > 0) return 0;                                                     \
        return LIBM(x, y);                                                                                           \
    }
DEFINE_POWER(c64, cpowf)
DEFINE_POWER(c128, cpow)

#endif
