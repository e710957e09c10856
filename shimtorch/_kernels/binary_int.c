/* Binary pointwise ops of integers and bool. Where the sign does not matter, signed types use the unsigned kernel. */
#include "intmath.h"
#include "loops.h"

#define DEFINE(op, t, EXPR) KERNEL2(op, t, t, EXPR) LOOP2(op, t, t, t)
#define DEFINE_FAST(op, t, EXPR) FAST2(op, t, t, EXPR)

#define WIDTHS(op, EXPR) DEFINE(op, u8, EXPR) DEFINE(op, u16, EXPR) DEFINE(op, u32, EXPR) DEFINE(op, u64, EXPR)

/* add, sub, mul: the wide types, which carry indices and counts, get loops for scalars and strides too */
#define ARITHMETIC(D, t)             \
    D(add, t, (t)(x + y))            \
    D(sub, t, (t)(x - y))            \
    D(mul, t, wrap_mul_##t(x, y))
ARITHMETIC(DEFINE, u8)
ARITHMETIC(DEFINE, u16)
ARITHMETIC(DEFINE_FAST, u32)
ARITHMETIC(DEFINE_FAST, u64)

WIDTHS(bitwise_and, x &y)
WIDTHS(bitwise_or, x | y)
WIDTHS(bitwise_xor, x ^ y)

#define DEFINE_WIDTH_FUNCTIONS(t)                                                                                    \
    DEFINE(lshift, t, lshift_##t(x, y))                                                                              \
    KERNEL2P(add_scaled, t, t, const t alpha = (t)((const st_factor *)param)->i, (t)(x + wrap_mul_##t(alpha, y)))    \
    LOOP2(add_scaled, t, t, t)
UNSIGNED_INTEGERS(DEFINE_WIDTH_FUNCTIONS)
KERNEL2P(add_scaled, b8, b8, const b8 alpha = ((const st_factor *)param)->i != 0, x | (alpha & y))
LOOP2(add_scaled, b8, b8, b8)

/* division by zero gives 0 and is reported */
#define DIVISION(op, t)                                                                                              \
    KERNEL_HEAD(op, t) {                                                                                             \
        t *o = (t *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                              \
        int status = ST_OK;                                                                                          \
        (void)param;                                                                                                 \
        for (ptrdiff_t i = 0; i < n; i++) {                                                                          \
            const t x = a[i], y = b[i];                                                                              \
            if (y == 0) status = ST_ZERO_DIVISION;                                                                   \
            o[i] = y == 0 ? 0 : op##_##t(x, y);                                                                      \
        }                                                                                                            \
        return status;                                                                                               \
    }                                                                                                                \
    LOOP2(op, t, t, t)

#define DEFINE_SIGN_FUNCTIONS(t)                                                                                     \
    DIVISION(floor_divide, t)                                                                                        \
    DIVISION(trunc_divide, t)                                                                                        \
    DIVISION(remainder, t)                                                                                           \
    DIVISION(fmod, t)                                                                                                \
    DEFINE(pow, t, int_pow_##t(x, (i64)y))                                                                           \
    DEFINE(maximum, t, x > y ? x : y)                                                                                \
    DEFINE(minimum, t, x < y ? x : y)                                                                                \
    DEFINE(rshift, t, rshift_##t(x, y))                                                                              \
    DEFINE(gcd, t, gcd_##t(x, y))                                                                                    \
    DEFINE(lcm, t, lcm_##t(x, y))
INTEGERS(DEFINE_SIGN_FUNCTIONS)

#define ROW(op, t, like, lt) {ST_OP_##op, CODE_##t, (st_function)l_##like##_##lt},
#define BY_WIDTH(op)                                                                                                 \
    ENTRY(op, u8) ENTRY(op, u16) ENTRY(op, u32) ENTRY(op, u64)                                                       \
    ENTRY_AS(op, i8, u8) ENTRY_AS(op, i16, u16) ENTRY_AS(op, i32, u32) ENTRY_AS(op, i64, u64)
#define BY_SIGN(t)                                                                                                   \
    ENTRY(floor_divide, t) ENTRY(trunc_divide, t) ENTRY(remainder, t) ENTRY(fmod, t) ENTRY(pow, t) ENTRY(maximum, t) \
    ENTRY(minimum, t) ROW(fmax, t, maximum, t) ROW(fmin, t, minimum, t) ENTRY(rshift, t) ENTRY(gcd, t) ENTRY(lcm, t)

const st_entry ISA_NAME(st_entries_binary_int)[] = {
    BY_WIDTH(add) BY_WIDTH(sub) BY_WIDTH(mul) BY_WIDTH(bitwise_and) BY_WIDTH(bitwise_or) BY_WIDTH(bitwise_xor)
    BY_WIDTH(lshift) BY_WIDTH(add_scaled)
    INTEGERS(BY_SIGN)
    ROW(add, b8, bitwise_or, u8) ROW(mul, b8, bitwise_and, u8)
    ROW(maximum, b8, bitwise_or, u8) ROW(minimum, b8, bitwise_and, u8)
    ROW(fmax, b8, bitwise_or, u8) ROW(fmin, b8, bitwise_and, u8)
    ROW(bitwise_and, b8, bitwise_and, u8) ROW(bitwise_or, b8, bitwise_or, u8) ROW(bitwise_xor, b8, bitwise_xor, u8)
    ENTRY(add_scaled, b8)
    ST_END};
