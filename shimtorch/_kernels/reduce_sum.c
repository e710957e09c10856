/* Reductions that add, multiply or connect: sum, prod, sumsq, sumabs, norm_p, count_nonzero, any, all. */
#include "complexmath.h"
#include "reduce.h"
#include "vecmath.h"

#define ITSELF(t, x) (x)
#define SQUARED(t, x) ((x) * (x))
#define ABSOLUTE(t, x) st_fabs_##t(x)
#define POWER(t, x) st_pow_##t(st_fabs_##t(x), (t)((const f64 *)param)[0])
#define NONZERO(t, x) ((x) != 0)
#define CSQUARED(t, x) (re_##t(x) * re_##t(x) + im_##t(x) * im_##t(x))
#define CABSOLUTE(t, x) cabs_##t(x)
#define CPOWER(t, x) st_pow_f64(cabs_##t(x), ((const f64 *)param)[0])
#define CNONZERO(t, x) (re_##t(x) != 0 || im_##t(x) != 0)

/* ---- floating types ---- */

#define FLOAT_OPS(X, t)                                                                                              \
    X(sum, t, 0, ITSELF, ADD)                                                                                        \
    X(prod, t, 1, ITSELF, MUL)                                                                                       \
    X(sumsq, t, 0, SQUARED, ADD)                                                                                     \
    X(sumabs, t, 0, ABSOLUTE, ADD)                                                                                   \
    X(norm_p, t, 0, POWER, ADD_SINGLY)
#define DEFINE(op, t, INIT, MAP, FOLD) REDUCTION(op, t, t, f64, INIT, MAP, FOLD) REDUCE_LOOP(op, t, t, f64, t, PLAIN(t))
#define DEFINE_HALF(op, m, INIT, MAP, FOLD) REDUCE_LOOP(op, m, f32, f64, m, PLAIN(m))
FLOAT_OPS(DEFINE, f32)
FLOAT_OPS(DEFINE, f64)
FLOAT_OPS(DEFINE_HALF, f16)
FLOAT_OPS(DEFINE_HALF, bf16)

/* ---- complex types ---- */

#define COMPLEX_OPS(X, t)                                                                                            \
    X(sum, t, t, c128, t, 0, ITSELF, ADD)                                                                            \
    X(prod, t, t, c128, t, 1, ITSELF, CMUL)                                                                          \
    X(sumsq, t, REAL(t), f64, REAL(t), 0, CSQUARED, ADD_SINGLY)                                                      \
    X(sumabs, t, REAL(t), f64, REAL(t), 0, CABSOLUTE, ADD_SINGLY)                                                    \
    X(norm_p, t, REAL(t), f64, REAL(t), 0, CPOWER, ADD_SINGLY)
#define DEFINE_COMPLEX(op, t, L, A, u, INIT, MAP, FOLD)                                                              \
    REDUCTION(op, t, L, A, INIT, MAP, FOLD)                                                                          \
    COMPLEX_LOOP(op, t, A, u)
#define COMPLEX_LOOP(op, t, A, u) REDUCE_LOOP(op, t, t, A, u, PLAIN(t))
COMPLEX_OPS(DEFINE_COMPLEX, c64)
COMPLEX_OPS(DEFINE_COMPLEX, c128)

/* ---- integers: widened to 64 bits, wrapping ---- */

REDUCTION(sum, u64, u64, u64, 0, ITSELF, ADD)
REDUCTION(prod, u64, u64, u64, 1, ITSELF, MUL)
#define DEFINE_INT(m, KIND) REDUCE_LOOP(sum, m, u64, u64, u64, KIND) REDUCE_LOOP(prod, m, u64, u64, u64, KIND)
DEFINE_INT(u8, KIND_U8_I64)
DEFINE_INT(i8, KIND_I8_I64)
DEFINE_INT(u16, KIND_U16_I64)
DEFINE_INT(i16, KIND_I16_I64)
DEFINE_INT(u32, KIND_U32_I64)
DEFINE_INT(i32, KIND_I32_I64)
DEFINE_INT(u64, PLAIN(u64))

/* ---- truth: any and all follow from the count ---- */

#define TRUTH(t, L, MAP) REDUCTION(count, t, L, i64, 0, MAP, ADD_SINGLY) TRUTH_LOOPS(t, t, PLAIN(t))
#define TRUTH_LOOPS(m, t, KIND)                                                                                      \
    REDUCE_AS(count_nonzero, count, m, t, i64, put_i64, KIND)                                                        \
    REDUCE_AS(any, count, m, t, i64, put_any, KIND)                                                                  \
    REDUCE_AS(all, count, m, t, i64, put_all, KIND)
#define put_any(o, count) put_truth(o, (count) != 0)
#define put_all(o, count) put_truth(o, (count) == n_red)
static ST_OUTLINED void put_truth(char *o, int truth) { *(b8 *)o = (b8)truth; }
TRUTH(u8, u32, NONZERO)
TRUTH(u32, u32, NONZERO)
TRUTH(u64, u64, NONZERO)
TRUTH(f32, u32, NONZERO)
TRUTH(f64, u64, NONZERO)
TRUTH(c64, u32, CNONZERO)
TRUTH(c128, u64, CNONZERO)
TRUTH_LOOPS(u16, u32, KIND_U16_I32)
TRUTH_LOOPS(f16, f32, PLAIN(f16))
TRUTH_LOOPS(bf16, f32, PLAIN(bf16))

#define FLOAT_ROW(op, t, INIT, MAP, FOLD) RED_ENTRY(op, t)
#define COMPLEX_ROW(op, t, L, A, u, INIT, MAP, FOLD) RED_ENTRY(op, t)
#define INT_ROW(m, like) RED_ENTRY_AS(sum, m, sum, like) RED_ENTRY_AS(prod, m, prod, like)
#define TRUTH_ROW(m, like) \
    RED_ENTRY_AS(any, m, any, like) RED_ENTRY_AS(all, m, all, like) RED_ENTRY_AS(count_nonzero, m, count_nonzero, like)

const st_entry ISA_NAME(st_entries_reduce_sum)[] = {
    FLOAT_OPS(FLOAT_ROW, f32) FLOAT_OPS(FLOAT_ROW, f64) FLOAT_OPS(FLOAT_ROW, f16) FLOAT_OPS(FLOAT_ROW, bf16)
    COMPLEX_OPS(COMPLEX_ROW, c64) COMPLEX_OPS(COMPLEX_ROW, c128)
    RED_ENTRY_AS(sum, b8, count_nonzero, u8) RED_ENTRY_AS(prod, b8, prod, u8)
    INT_ROW(u8, u8) INT_ROW(i8, i8) INT_ROW(u16, u16) INT_ROW(i16, i16) INT_ROW(u32, u32) INT_ROW(i32, i32)
    INT_ROW(u64, u64) INT_ROW(i64, u64)
    TRUTH_ROW(b8, u8) TRUTH_ROW(u8, u8) TRUTH_ROW(i8, u8) TRUTH_ROW(u16, u16) TRUTH_ROW(i16, u16)
    TRUTH_ROW(u32, u32) TRUTH_ROW(i32, u32) TRUTH_ROW(u64, u64) TRUTH_ROW(i64, u64)
    TRUTH_ROW(f16, f16) TRUTH_ROW(bf16, bf16) TRUTH_ROW(f32, f32) TRUTH_ROW(f64, f64)
    TRUTH_ROW(c64, c64) TRUTH_ROW(c128, c128)
    ST_END};
