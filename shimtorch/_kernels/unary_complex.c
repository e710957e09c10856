/* Unary pointwise ops of complex64 and complex128. */
#include "complexmath.h"
#include "loops.h"

#define LIBM(X) X(exp) X(log) X(sqrt) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh)           \
    X(asinh) X(acosh) X(atanh)
#define WRAP(fn)                                                   \
    static inline c64 st_##fn##_c64(c64 z) { return c##fn##f(z); } \
    static inline c128 st_##fn##_c128(c128 z) { return c##fn(z); }
LIBM(WRAP)

#define F(f, t) st_##f##_##t
#define LN(t, base) ((REAL(t))(base))

#define TO_COMPLEX(X, t)                                                                                             \
    X(neg, t, make_##t(-re_##t(x), -im_##t(x)))                                                                      \
    X(conj_physical, t, cconj_##t(x))                                                                                \
    X(exp, t, F(exp, t)(x))                                                                                          \
    X(exp2, t, F(exp, t)(make_##t(re_##t(x) * LN(t, 0x1.62e42fefa39efp-1), im_##t(x) * LN(t, 0x1.62e42fefa39efp-1))))\
    X(log, t, F(log, t)(x))                                                                                          \
    X(log2, t, F(log_scaled, t)(x, LN(t, 0x1.71547652b82fep+0)))                                                     \
    X(log10, t, F(log_scaled, t)(x, LN(t, 0x1.bcb7b1526e50ep-2)))                                                    \
    X(sqrt, t, F(sqrt, t)(x))                                                                                        \
    X(rsqrt, t, cdiv_##t(1, F(sqrt, t)(x)))                                                                          \
    X(sin, t, F(sin, t)(x))                                                                                          \
    X(cos, t, F(cos, t)(x))                                                                                          \
    X(tan, t, F(tan, t)(x))                                                                                          \
    X(asin, t, F(asin, t)(x))                                                                                        \
    X(acos, t, F(acos, t)(x))                                                                                        \
    X(atan, t, F(atan, t)(x))                                                                                        \
    X(sinh, t, F(sinh, t)(x))                                                                                        \
    X(cosh, t, F(cosh, t)(x))                                                                                        \
    X(tanh, t, F(tanh, t)(x))                                                                                        \
    X(asinh, t, F(asinh, t)(x))                                                                                      \
    X(acosh, t, F(acosh, t)(x))                                                                                      \
    X(atanh, t, F(atanh, t)(x))                                                                                      \
    X(sigmoid, t, cdiv_##t(1, F(one_plus, t)(F(exp, t)(make_##t(-re_##t(x), -im_##t(x))))))                          \
    X(silu, t, cdiv_##t(x, F(one_plus, t)(F(exp, t)(make_##t(-re_##t(x), -im_##t(x))))))                             \
    X(reciprocal, t, cdiv_##t(1, x))                                                                                 \
    X(square, t, cmul_##t(x, x))                                                                                     \
    X(sgn, t, F(sgn, t)(x))

#define TO_REAL(X, t)                                                                                                \
    X(abs, t, cabs_##t(x))                                                                                           \
    X(angle, t, F(angle, t)(x))

#define TO_BOOL(X, t)                                                                                                \
    X(logical_not, t, re_##t(x) == 0 && im_##t(x) == 0)                                                              \
    X(isnan, t, re_##t(x) != re_##t(x) || im_##t(x) != im_##t(x))                                                    \
    X(isinf, t, isinf(re_##t(x)) || isinf(im_##t(x)))                                                                \
    X(isfinite, t, isfinite(re_##t(x)) && isfinite(im_##t(x)))

#define DEFINE_HELPERS(t, ATAN2)                                                                                     \
    static inline t st_one_plus_##t(t x) { return make_##t(1 + re_##t(x), im_##t(x)); }                              \
    static inline t st_log_scaled_##t(t x, REAL(t) scale) {                                                          \
        const t y = F(log, t)(x);                                                                                    \
        return make_##t(re_##t(y) * scale, im_##t(y) * scale);                                                       \
    }                                                                                                                \
    static inline t st_sgn_##t(t x) {                                                                                \
        const REAL(t) size = cabs_##t(x);                                                                            \
        return size == 0 ? 0 : make_##t(re_##t(x) / size, im_##t(x) / size);                                         \
    }                                                                                                                \
    static inline REAL(t) st_angle_##t(t x) {                                                                        \
        return ATAN2(im_##t(x), re_##t(x));                                                                          \
    }
DEFINE_HELPERS(c64, atan2f)
DEFINE_HELPERS(c128, atan2)

#define DEFINE(op, t, EXPR) KERNEL1(op, t, t, EXPR) LOOP1(op, t, t, t)
#define DEFINE_BOOL(op, t, EXPR) KERNEL1(op, t, b8, EXPR) LOOP1(op, t, t, b8)
#define DEFINE_F32(op, t, EXPR) KERNEL1(op, t, f32, EXPR) LOOP1(op, t, t, f32)
#define DEFINE_F64(op, t, EXPR) KERNEL1(op, t, f64, EXPR) LOOP1(op, t, t, f64)
TO_COMPLEX(DEFINE, c64)
TO_COMPLEX(DEFINE, c128)
TO_BOOL(DEFINE_BOOL, c64)
TO_BOOL(DEFINE_BOOL, c128)
TO_REAL(DEFINE_F32, c64)
TO_REAL(DEFINE_F64, c128)

#define ROW(op, t, EXPR) ENTRY(op, t)
#define ROWS(t) TO_COMPLEX(ROW, t) TO_REAL(ROW, t) TO_BOOL(ROW, t)
const st_entry ISA_NAME(st_entries_unary_complex)[] = {ROWS(c64) ROWS(c128) ST_END};
