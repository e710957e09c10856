/* Binary pointwise ops of complex64 and complex128. */
#include "complexmath.h"
#include "loops.h"

#define OPS(X, t)                                                                                                    \
    X(add, t, x + y)                                                                                                 \
    X(sub, t, x - y)                                                                                                 \
    X(mul, t, cmul_##t(x, y))                                                                                        \
    X(div, t, cdiv_##t(x, y))                                                                                        \
    X(pow, t, st_cpow_##t(x, y))                                                                                     \
    X(sigmoid_backward, t, cmul_##t(x, cconj_##t(cmul_##t(1 - y, y))))                                               \
    X(tanh_backward, t, cmul_##t(x, cconj_##t(1 - cmul_##t(y, y))))

#define DEFINE(op, t, EXPR) KERNEL2(op, t, t, EXPR) LOOP2(op, t, t, t)
OPS(DEFINE, c64)
OPS(DEFINE, c128)

#define ADD_SCALED(t)                                                                                                \
    KERNEL2P(add_scaled, t, t, const st_factor *q = (const st_factor *)param;                                        \
             const t alpha = make_##t((REAL(t))q->re, (REAL(t))q->im), x + cmul_##t(alpha, y))                       \
    LOOP2(add_scaled, t, t, t)
ADD_SCALED(c64)
ADD_SCALED(c128)

/* of its parts */
KERNEL2(make_complex, f32, c64, make_c64(x, y))
KERNEL2(make_complex, f64, c128, make_c128(x, y))
LOOP2(make_complex, f32, f32, c64)
LOOP2(make_complex, f64, f64, c128)

#define ROW(op, t, EXPR) ENTRY(op, t)
const st_entry ISA_NAME(st_entries_binary_complex)[] = {
    OPS(ROW, c64) OPS(ROW, c128) ENTRY(add_scaled, c64) ENTRY(add_scaled, c128)
    ENTRY(make_complex, f32) ENTRY(make_complex, f64) ST_END};
