/* Pointwise ops of three operands, and interpolation by a number. */
#include "complexmath.h"
#include "intmath.h"
#include "loops.h"
#include "vecmath.h"

/* ---- where: only the size of an element matters ---- */

typedef struct { u64 part[2]; } w16;

#define WHERE(t, KIND)                                                                                               \
    KERNEL_HEAD(where, t) {                                                                                          \
        t *o = (t *)(void *)p[0];                                                                                    \
        const b8 *c = (const b8 *)(const void *)p[1];                                                                \
        const t *a = (const t *)(const void *)p[2], *b = (const t *)(const void *)p[3];                              \
        (void)param;                                                                                                 \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i], y = b[i];                                                                              \
            o[i] = c[i] ? x : y;                                                                                     \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }                                                                                                                \
    LOOP_HEAD(where, t) { return st_blocked(k_where_##t, KIND KIND_b8 KIND KIND, p, s, n, param); }
WHERE(u8, KIND_u8)
WHERE(u16, KIND_u16)
WHERE(u32, KIND_u32)
WHERE(u64, KIND_u64)
WHERE(w16, KIND_c128)

/* ---- x + value y z, x + value y / z, interpolation ---- */

#define VALUE(t) const t value = (t)((const st_factor *)param)->re
#define VALUE_INT(t) const t value = (t)((const st_factor *)param)->i
#define VALUE_COMPLEX(t)                           \
    const st_factor *q = (const st_factor *)param; \
    const t value = make_##t((REAL(t))q->re, (REAL(t))q->im)

#define FLOAT_OPS(X, t)                                                                                              \
    X(addcmul, t, VALUE(t), x + value * y * z)                                                                       \
    X(addcdiv, t, VALUE(t), x + value * y / z)                                                                       \
    X(lerp, t, (void)param, z < (t)0.5 && z > (t)-0.5 ? x + z * (y - x) : y - (y - x) * (1 - z))                     \
    X(clamp_tensor, t, (void)param, st_at_most_##t(st_at_least_##t(x, y), z))
#define INT_OPS(X, t)                                                                                                \
    X(addcmul, t, VALUE_INT(t), (t)((WIDE(t))x + (WIDE(t))value * (WIDE(t))y * (WIDE(t))z))                          \
    X(clamp_tensor, t, (void)param, (x > y ? x : y) < z ? (x > y ? x : y) : z)
#define COMPLEX_OPS(X, t)                                                                                            \
    X(addcmul, t, VALUE_COMPLEX(t), x + cmul_##t(cmul_##t(value, y), z))                                             \
    X(addcdiv, t, VALUE_COMPLEX(t), x + cdiv_##t(cmul_##t(value, y), z))                                             \
    X(lerp, t, (void)param,                                                                                          \
      cabs_##t(z) < (REAL(t))0.5 ? x + cmul_##t(z, y - x) : y - cmul_##t(y - x, 1 - z))

#define DEFINE(op, t, SETUP, EXPR) KERNEL3P(op, t, t, SETUP, EXPR) LOOP3(op, t, t, t)
#define DEFINE_HALF(op, m, SETUP, EXPR) HALF3(op, m, m)
#define DEFINE_INT(t) INT_OPS(DEFINE, t)
FLOAT_OPS(DEFINE, f32)
FLOAT_OPS(DEFINE, f64)
FLOAT_OPS(DEFINE_HALF, f16)
FLOAT_OPS(DEFINE_HALF, bf16)
INTEGERS(DEFINE_INT)
COMPLEX_OPS(DEFINE, c64)
COMPLEX_OPS(DEFINE, c128)

/* ---- interpolation by a number, from the end that is nearer ---- */

#define LERP_SCALED(t, SETUP, NEAR, SCALE)                                                                           \
    KERNEL_HEAD(lerp_scaled, t) {                                                                                    \
        t *o = (t *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                              \
        SETUP;                                                                                                       \
        const t rest = 1 - value;                                                                                    \
        if (NEAR) {                                                                                                  \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = a[i] + SCALE(b[i] - a[i], value);                         \
        } else {                                                                                                     \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) o[i] = b[i] - SCALE(b[i] - a[i], rest);                          \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }
#define TIMES(x, y) ((x) * (y))
LERP_SCALED(f32, VALUE(f32), fabsf(value) < 0.5f, TIMES)
LERP_SCALED(f64, VALUE(f64), fabs(value) < 0.5, TIMES)
LERP_SCALED(c64, VALUE_COMPLEX(c64), cabs_c64(value) < 0.5f, cmul_c64)
LERP_SCALED(c128, VALUE_COMPLEX(c128), cabs_c128(value) < 0.5, cmul_c128)
LOOP2(lerp_scaled, f32, f32, f32)
LOOP2(lerp_scaled, f64, f64, f64)
LOOP2(lerp_scaled, c64, c64, c64)
LOOP2(lerp_scaled, c128, c128, c128)
HALF2(lerp_scaled, f16, f16)
HALF2(lerp_scaled, bf16, bf16)

#define ROW(op, t, SETUP, EXPR) ENTRY(op, t)
#define FLOAT_ROWS(t) FLOAT_OPS(ROW, t) ENTRY(lerp_scaled, t)
#define INT_ROWS(t) INT_OPS(ROW, t)
const st_entry ISA_NAME(st_entries_ternary)[] = {
    ENTRY_AS(where, b8, u8)
    ENTRY(where, u8) ENTRY_AS(where, i8, u8)
    ENTRY(where, u16) ENTRY_AS(where, i16, u16) ENTRY_AS(where, f16, u16) ENTRY_AS(where, bf16, u16)
    ENTRY(where, u32) ENTRY_AS(where, i32, u32) ENTRY_AS(where, f32, u32)
    ENTRY(where, u64) ENTRY_AS(where, i64, u64) ENTRY_AS(where, f64, u64) ENTRY_AS(where, c64, u64)
    ENTRY_AS(where, c128, w16)
    FLOAT_ROWS(f32) FLOAT_ROWS(f64) FLOAT_ROWS(f16) FLOAT_ROWS(bf16)
    INTEGERS(INT_ROWS)
    COMPLEX_OPS(ROW, c64) COMPLEX_OPS(ROW, c128) ENTRY(lerp_scaled, c64) ENTRY(lerp_scaled, c128)
    ST_END};
