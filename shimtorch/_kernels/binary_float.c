/* Binary pointwise ops of the floating types. */
#include "loops.h"
#include "vecmath.h"

#define F(f, t) st_##f##_##t

#define FAST_OPS(X, t)                                                                                               \
    X(add, t, x + y)                                                                                                 \
    X(sub, t, x - y)                                                                                                 \
    X(mul, t, x * y)                                                                                                 \
    X(div, t, x / y)

#define OPS(X, t)                                                                                                    \
    X(floor_divide, t, F(floor_divide, t)(x, y))                                                                     \
    X(trunc_divide, t, F(trunc, t)(x / y))                                                                           \
    X(remainder, t, F(python_mod, t)(x, y))                                                                          \
    X(fmod, t, F(rest, t)(x, y))                                                                                     \
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
    X(tanh_backward, t, x * (1 - y * y))

/* fmod, exact: what is left of x after whole times y, as long as their product fits in a double, which needs no loop
 * over the bits of the quotient. The quotient may be rounded up to the next whole number; the rest is negative then. */
static inline f32 st_rest_f32(f32 x, f32 y) {
    const double a = fabs((double)x), b = fabs((double)y), whole = trunc(a / b);
    if (!(whole < 0x1p28 && b < INFINITY)) return fmodf(x, y);
    const double rest = a - whole * b;
    return copysignf((f32)(rest < 0 ? rest + b : rest), x);
}
static inline f64 st_rest_f64(f64 x, f64 y) {
#ifdef __FMA__
    const double a = fabs(x), b = fabs(y), whole = trunc(a / b);
    if (!(whole < 0x1p52 && b < INFINITY && b > 0x1p-900)) return fmod(x, y);
    const double rest = fma(-whole, b, a);
    return copysign(rest < 0 ? rest + b : rest, x);
#else
    return fmod(x, y);
#endif
}

/* Python's modulo takes the divisor's sign; floor_divide is the quotient that belongs to it, corrected where the
 * quotient of rounded numbers is off. */
#define DEFINE_MOD(t, u, sign)                                                                                       \
    static inline t st_python_mod_##t(t x, t y) {                                                                    \
        const t r = F(rest, t)(x, y);                                                                                \
        const u unlike = -((u)(r != 0) & (bits_of_##t(r) ^ bits_of_##t(y)) >> sign); /* all ones: y is to be added */ \
        return r + t##_of_bits((bits_of_##t(y) & unlike) | ((u)1 << sign & ~unlike)); /* or -0, which changes none */ \
    }
DEFINE_MOD(f32, u32, 31)
DEFINE_MOD(f64, u64, 63)

#define DEFINE_HELPERS(t)                                                                                            \
    static inline t st_floor_divide_##t(t x, t y) {                                                                  \
        if (y == 0) return x / y;                                                                                    \
        const t r = F(rest, t)(x, y);                                                                                \
        t quotient = (x - r) / y;                                                                                    \
        quotient -= (t)((r != 0) & ((r < 0) != (y < 0)));                                                            \
        if (quotient == 0) return F(copysign, t)(0, x / y);                                                          \
        const t whole = F(floor, t)(quotient);                                                                       \
        return quotient - whole > (t)0.5 ? whole + 1 : whole;                                                        \
    }                                                                                                                \
    static inline t st_logaddexp_##t(t x, t y) {                                                                     \
        const t top = x > y || x != x ? x : y, gap = -F(fabs, t)(x - y);                                             \
        return x == y ? x + (t)0x1.62e42fefa39efp-1 : top + F(log1p, t)(F(exp, t)(gap));                             \
    }
DEFINE_HELPERS(f32)
DEFINE_HELPERS(f64)

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
#define ROWS(t) FAST_OPS(ROW, t) OPS(ROW, t) ENTRY(add_scaled, t)
const st_entry ISA_NAME(st_entries_binary_float)[] = {
    ROWS(f32) ROWS(f64) ROWS(f16) ROWS(bf16) ENTRY(nextafter, f32) ENTRY(nextafter, f64) ST_END};
