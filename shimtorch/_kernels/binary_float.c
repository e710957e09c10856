/* Binary pointwise ops of the floating types. */
#include "loops.h"
#include "vecmath.h"


#define FAST_OPS(X, t)                                                                                               \
    X(add, t, x + y)                                                                                                 \
    X(sub, t, x - y)                                                                                                 \
    X(mul, t, x * y)                                                                                                 \
    X(div, t, x / y)

#define OPS(X, t)                                                                                                    \
    X(trunc_divide, t, F(trunc, t)(x / y))                                                                           \
    X(pow, t, F(pow, t)(x, y))                                                                                       \
    X(atan2, t, F(atan2, t)(x, y))                                                                                   \
    X(maximum, t, x > y || x != x ? x : y)                                                                           \
    X(minimum, t, x < y || x != x ? x : y)                                                                           \
    X(fmax, t, x >= y || y != y ? x : y)                                                                             \
    X(fmin, t, x <= y || y != y ? x : y)                                                                             \
    X(hypot, t, F(hypot, t)(x, y))                                                                                   \
    X(copysign, t, F(copysign, t)(x, y))                                                                             \
    X(logaddexp, t, F(logaddexp, t)(x, y))                                                                           \
    X(sigmoid_backward, t, x * (1 - y) * y)                                                                          \
    X(hardswish_backward, t, y < -3 ? 0 : y <= 3 ? x * (y / 3 + (t)0.5) : x)                                         \
    X(tanh_backward, t, x * (1 - y * y))

/* fmod, exact: what is left of x after whole times y, as long as their product fits in a double, which needs no loop
 * over the bits of the quotient. The quotient may be rounded up to the next whole number; the rest is negative then.
 * far_: where it is not so. */
static inline int far_f32(f32 x, f32 y) { return !(fabs((f64)x / (f64)y) < 0x1p28 && fabsf(y) < INFINITY); }
static inline f32 near_fmod_f32(f32 x, f32 y) {
    const f64 a = fabs((f64)x), b = fabs((f64)y), rest = a - trunc(a / b) * b;
    return copysignf((f32)(rest < 0 ? rest + b : rest), x);
}
#ifdef __FMA__
static inline int far_f64(f64 x, f64 y) {
    return !(fabs(x / y) < 0x1p52 && fabs(y) < (f64)INFINITY && fabs(y) > 0x1p-900);
}
static inline f64 near_fmod_f64(f64 x, f64 y) {
    const f64 a = fabs(x), b = fabs(y), rest = fma(-trunc(a / b), b, a);
    return copysign(rest < 0 ? rest + b : rest, x);
}
#else
static inline int far_f64(f64 x, f64 y) { return (void)x, (void)y, 1; }
static inline f64 near_fmod_f64(f64 x, f64 y) { return fmod(x, y); }
#endif

/* Python's modulo takes the divisor's sign; floor_divide is the quotient that belongs to it, corrected where the
 * quotient of rounded numbers is off. All three are made of the rest of the division, r. */
#define DEFINE_MOD(t, u, sign)                                                                                       \
    static inline t of_rest_fmod_##t(t r, t x, t y) { return (void)x, (void)y, r; }                                  \
    static inline t of_rest_remainder_##t(t r, t x, t y) {                                                           \
        (void)x;                                                                                                     \
        const u unlike = -((u)(r != 0) & (bits_of_##t(r) ^ bits_of_##t(y)) >> sign); /* all ones: y is to be added */ \
        return r + t##_of_bits((bits_of_##t(y) & unlike) | ((u)1 << sign & ~unlike)); /* or -0, which changes none */ \
    }
DEFINE_MOD(f32, u32, 31)
DEFINE_MOD(f64, u64, 63)

#define DEFINE_HELPERS(t)                                                                                            \
    static inline t of_rest_floor_divide_##t(t r, t x, t y) {                                                        \
        const t ratio = x / y, towards = (x - r) / y;                                                                \
        const t quotient = towards - ((r != 0) & ((r < 0) != (y < 0)) ? (t)1 : (t)0);                                \
        const t whole = F(floor, t)(quotient), nearest = quotient - whole > (t)0.5 ? whole + 1 : whole;              \
        const t signed_ = quotient == 0 ? F(copysign, t)(0, ratio) : nearest;                                        \
        return y == 0 ? ratio : signed_;                                                                             \
    }                                                                                                                \
    static inline t st_logaddexp_##t(t x, t y) {                                                                     \
        const t top = x > y || x != x ? x : y, gap = -F(fabs, t)(x - y);                                             \
        return x == y ? x + (t)0x1.62e42fefa39efp-1 : top + F(log1p, t)(F(exp, t)(gap));                             \
    }
DEFINE_HELPERS(f32)
DEFINE_HELPERS(f64)

/* Piece by piece: one that has a far pair in it goes to libm. */
#define DIVISION(op, t)                                                                                              \
    KERNEL_HEAD(op, t) {                                                                                             \
        t *o = (t *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                              \
        (void)param;                                                                                                 \
        for (ptrdiff_t start = 0; start < n; start += 64) {                                                          \
            const ptrdiff_t stop = n - start < 64 ? n : start + 64;                                                  \
            t rest[64];                                                                                              \
            int far = 0;                                                                                             \
            for (ptrdiff_t i = start; i < stop; i++) {                                                               \
                rest[i - start] = near_fmod_##t(a[i], b[i]);                                                         \
                far |= far_##t(a[i], b[i]);                                                                          \
            }                                                                                                        \
            for (ptrdiff_t i = start; far && i < stop; i++)                                                          \
                if (far_##t(a[i], b[i])) rest[i - start] = F(fmod, t)(a[i], b[i]);                                   \
            IVDEP for (ptrdiff_t i = start; i < stop; i++) o[i] = of_rest_##op##_##t(rest[i - start], a[i], b[i]);   \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }                                                                                                                \
    LOOP2(op, t, t, t)
#define DIVISIONS(X, t) X(fmod, t) X(remainder, t) X(floor_divide, t)
#define DIVISION_HALF(op, m) HALF2(op, m, m)
DIVISIONS(DIVISION, f32)
DIVISIONS(DIVISION, f64)
DIVISIONS(DIVISION_HALF, f16)
DIVISIONS(DIVISION_HALF, bf16)

#define DEFINE_FAST(op, t, EXPR) FAST2(op, t, t, EXPR)
#define DEFINE(op, t, EXPR) KERNEL2(op, t, t, EXPR) LOOP2(op, t, t, t)
#define DEFINE_HALF(op, m, EXPR) HALF2(op, m, m)
FAST_OPS(DEFINE_FAST, f32)
FAST_OPS(DEFINE_FAST, f64)
OPS(DEFINE, f32)
OPS(DEFINE, f64)
FAST_OPS(DEFINE_HALF, f16)
FAST_OPS(DEFINE_HALF, bf16)
OPS(DEFINE_HALF, f16)
OPS(DEFINE_HALF, bf16)
DEFINE(nextafter, f32, nextafterf(x, y))
DEFINE(nextafter, f64, nextafter(x, y))

/* x + alpha y */
#define ALPHA(t) const t alpha = (t)((const st_factor *)param)->re
KERNEL2P(add_scaled, f32, f32, ALPHA(f32), x + alpha * y)
KERNEL2P(add_scaled, f64, f64, ALPHA(f64), x + alpha * y)
LOOP2(add_scaled, f32, f32, f32)
LOOP2(add_scaled, f64, f64, f64)
HALF2(add_scaled, f16, f16)
HALF2(add_scaled, bf16, bf16)

#define ROW(op, t, EXPR) ENTRY(op, t)
#define ROWS(t) FAST_OPS(ROW, t) OPS(ROW, t) DIVISIONS(ENTRY, t) ENTRY(add_scaled, t)
const st_entry ISA_NAME(st_entries_binary_float)[] = {
    ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) ENTRY(nextafter, f32) ENTRY(nextafter, f64) ST_END};
