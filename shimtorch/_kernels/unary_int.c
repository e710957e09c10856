/* Unary pointwise ops of integers and bool. Where the sign does not matter, signed types use the unsigned kernel. */
#include "loops.h"

/* op, type: kernel and loop */
#define DEFINE(op, t, EXPR) KERNEL1(op, t, t, EXPR) LOOP1(op, t, t, t)
#define DEFINE_BOOL(op, t, EXPR) KERNEL1(op, t, b8, EXPR) LOOP1(op, t, t, b8)

#define WIDTHS(X, op, EXPR) X(op, u8, EXPR) X(op, u16, EXPR) X(op, u32, EXPR) X(op, u64, EXPR)
#define SIGNED(X, op, EXPR) X(op, i8, EXPR) X(op, i16, EXPR) X(op, i32, EXPR) X(op, i64, EXPR)

WIDTHS(DEFINE, neg, -x)
WIDTHS(DEFINE, bitwise_not, ~x)
WIDTHS(DEFINE, sign, x != 0)
WIDTHS(DEFINE, copy, x)
DEFINE(square, u8, (u8)((u32)x * x))
DEFINE(square, u16, (u16)((u32)x * x))
DEFINE(square, u32, x *x)
DEFINE(square, u64, x *x)
DEFINE(bitwise_not, b8, x == 0)

DEFINE(abs, i8, x < 0 ? -x : x)
DEFINE(abs, i16, x < 0 ? -x : x)
DEFINE(abs, i32, x < 0 ? (i32)(0 - (u32)x) : x)
DEFINE(abs, i64, x < 0 ? (i64)(0 - (u64)x) : x)
SIGNED(DEFINE, sign, (x > 0) - (x < 0))
SIGNED(DEFINE, relu, x < 0 ? 0 : x)
SIGNED(DEFINE_BOOL, signbit, x < 0)

WIDTHS(DEFINE_BOOL, logical_not, x == 0)
WIDTHS(DEFINE_BOOL, never, x & 0)
WIDTHS(DEFINE_BOOL, always, (x & 0) | 1)

/* op served for type t by the loop `like` of type lt */
#define ROW(op, t, like, lt) {ST_OP_##op, CODE_##t, (st_function)l_##like##_##lt},
#define UNSIGNED_ROWS(op, like) \
    ROW(op, u8, like, u8) ROW(op, u16, like, u16) ROW(op, u32, like, u32) ROW(op, u64, like, u64)
#define BY_SIGN(op, like, like_unsigned)                                                                             \
    ROW(op, i8, like, i8) ROW(op, i16, like, i16) ROW(op, i32, like, i32) ROW(op, i64, like, i64)                    \
    UNSIGNED_ROWS(op, like_unsigned)
#define BY_WIDTH(op, like)                                                                                           \
    ROW(op, i8, like, u8) ROW(op, i16, like, u16) ROW(op, i32, like, u32) ROW(op, i64, like, u64)                    \
    UNSIGNED_ROWS(op, like)

const st_entry ISA_NAME(st_entries_unary_int)[] = {
    BY_WIDTH(neg, neg)
    BY_WIDTH(bitwise_not, bitwise_not)
    BY_WIDTH(square, square)
    BY_WIDTH(logical_not, logical_not)
    BY_WIDTH(isnan, never)
    BY_WIDTH(isinf, never)
    BY_WIDTH(isfinite, always)
    BY_WIDTH(floor, copy)
    BY_WIDTH(ceil, copy)
    BY_WIDTH(round, copy)
    BY_WIDTH(trunc, copy)
    BY_SIGN(abs, abs, copy)
    BY_SIGN(relu, relu, copy)
    BY_SIGN(sign, sign, sign)
    BY_SIGN(sgn, sign, sign)
    BY_SIGN(signbit, signbit, never)
    ROW(bitwise_not, b8, bitwise_not, b8)
    ROW(logical_not, b8, logical_not, u8)
    ROW(isnan, b8, never, u8)
    ROW(isinf, b8, never, u8)
    ROW(isfinite, b8, always, u8)
    ROW(signbit, b8, never, u8)
    ROW(sign, b8, copy, u8)
    ROW(sgn, b8, copy, u8)
    ST_END};
