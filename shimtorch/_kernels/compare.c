/* Comparisons and logical connectives: the output is bool. */
#include "complexmath.h"
#include "intmath.h"
#include "loops.h"

#define DEFINE(op, t, EXPR) KERNEL2(op, t, b8, EXPR) LOOP2(op, t, t, b8)
#define DEFINE_HALF(op, m, EXPR) HALF2(op, m, b8)
#define ROW(op, t, EXPR) ENTRY(op, t)

#define ORDER(X, t) X(lt, t, x < y) X(le, t, x <= y)
#define REVERSED(X, t) X(gt, t, lt) X(ge, t, le)
#define EQUALITY(X, t) X(eq, t, x == y) X(ne, t, x != y)
#define LOGICAL(X, t)                                                                                                \
    X(logical_and, t, (x != 0) & (y != 0)) X(logical_or, t, (x != 0) | (y != 0)) X(logical_xor, t, (x != 0) ^ (y != 0))
#define ALL(X, t) ORDER(X, t) EQUALITY(X, t) LOGICAL(X, t)

/* x > y is y < x */
#define DEFINE_REVERSED(op, t, mirror)                                               \
    LOOP_HEAD(op, t) {                                                               \
        char *q[3] = {p[0], p[2], p[1]};                                             \
        const ptrdiff_t r[3] = {s[0], s[2], s[1]};                                   \
        return l_##mirror##_##t(q, r, n, param);                                     \
    }

ALL(DEFINE, f32)
ALL(DEFINE, f64)
ALL(DEFINE_HALF, f16)
ALL(DEFINE_HALF, bf16)
REVERSED(DEFINE_REVERSED, f32)
REVERSED(DEFINE_REVERSED, f64)
REVERSED(DEFINE_REVERSED, f16)
REVERSED(DEFINE_REVERSED, bf16)

/* integers: order needs the sign, the rest only the width */
#define DEFINE_ORDER(t) ORDER(DEFINE, t) REVERSED(DEFINE_REVERSED, t)
#define DEFINE_WIDTH(t) EQUALITY(DEFINE, t) LOGICAL(DEFINE, t)
INTEGERS(DEFINE_ORDER)
UNSIGNED_INTEGERS(DEFINE_WIDTH)

EQUALITY(DEFINE, c64)
EQUALITY(DEFINE, c128)
LOGICAL(DEFINE, c64)
LOGICAL(DEFINE, c128)

#define ORDER_ROWS(t) ORDER(ROW, t) REVERSED(ROW, t)
#define FLOAT_ROWS(t) ALL(ROW, t) REVERSED(ROW, t)
#define WIDTH_ROWS(t) EQUALITY(ROW, t) LOGICAL(ROW, t)
#define SAME_WIDTH(op) \
    ENTRY_AS(op, b8, u8) ENTRY_AS(op, i8, u8) ENTRY_AS(op, i16, u16) ENTRY_AS(op, i32, u32) ENTRY_AS(op, i64, u64)
#define BOOL_ORDER(op) ENTRY_AS(op, b8, u8)

const st_entry ISA_NAME(st_entries_compare)[] = {
    FLOAT_ROWS(f32) FLOAT_ROWS(f64) FLOAT_ROWS(f16) FLOAT_ROWS(bf16)
    INTEGERS(ORDER_ROWS) UNSIGNED_INTEGERS(WIDTH_ROWS)
    SAME_WIDTH(eq) SAME_WIDTH(ne) SAME_WIDTH(logical_and) SAME_WIDTH(logical_or) SAME_WIDTH(logical_xor)
    BOOL_ORDER(lt) BOOL_ORDER(le) BOOL_ORDER(gt) BOOL_ORDER(ge)
    WIDTH_ROWS(c64) WIDTH_ROWS(c128)
    ST_END};
