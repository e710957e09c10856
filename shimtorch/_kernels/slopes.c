/* Gradients of activations: the gradient x of the result, times the slope at the argument y. */
#include "loops.h"
#include "vecmath.h"

#define Q(t, k) const t q##k = (t)((const f64 *)param)[k]

#define ROOT_2_PI 0x1.9884533d43651p-1 /* sqrt(2 / pi) */

#define DEFINE_SLOPES(t)                                                                                             \
    static inline t gelu_slope_##t(t x) {                                                                            \
        const normal_##t p = normal_at_##t(x);                                                                       \
        return MADD(x, p.density, p.below);                                                                          \
    }                                                                                                                \
    static inline t gelu_tanh_slope_##t(t x) {                                                                       \
        const t root = (t)ROOT_2_PI, cubic = (t)0.044715, square = x * x;                                            \
        const t inner = F(tanh, t)(root * x * MADD(cubic, square, (t)1));                                            \
        const t half = (t)0.5 * (1 + inner), outer = (t)0.5 * x * (1 - inner * inner);                               \
        return half + outer * (root * MADD(3 * cubic, square, (t)1));                                                \
    }                                                                                                                \
    static inline t silu_slope_##t(t x) {                                                                            \
        const t gate = F(sigmoid, t)(x);                                                                             \
        return gate * (1 + x * (1 - gate));                                                                          \
    }                                                                                                                \
    /* the hyperbolic tangent of log(1 + e^x), which is 1 beyond 20, and its slope */                                \
    static inline t mish_slope_##t(t x) {                                                                            \
        const t e = F(quick_exp, t)(20 < x ? (t)20 : x), p = e * (e + 2), inner = 20 < x ? (t)1 : p / (p + 2);       \
        return inner + x * F(sigmoid, t)(x) * (1 - inner * inner);                                                   \
    }
DEFINE_SLOPES(f32)
DEFINE_SLOPES(f64)

/* name, type, parameters, value */
#define OPS(X, t)                                                                                                    \
    X(gelu_backward, t, (void)param, x * gelu_slope_##t(y))                                                          \
    X(gelu_tanh_backward, t, (void)param, x * gelu_tanh_slope_##t(y))                                                \
    X(silu_backward, t, (void)param, x * silu_slope_##t(y))                                                          \
    X(mish_backward, t, (void)param, x * mish_slope_##t(y))                                                          \
    X(elu_backward, t, Q(t, 0); Q(t, 1); Q(t, 2), y > 0 ? x * q1 : x * F(exp, t)(y * q2) * (q0 * q1 * q2))           \
    X(softplus_backward, t, Q(t, 0); Q(t, 1), y * q0 > q1 ? x : x * F(sigmoid, t)(y * q0))                           \
    X(logsigmoid_backward, t, (void)param, x * F(sigmoid, t)(-y))                                                    \
    X(hardsigmoid_backward, t, (void)param, y > -3 && y < 3 ? x / 6 : 0)                                             \
    X(hardtanh_backward, t, Q(t, 0); Q(t, 1), y > q0 && y < q1 ? x : 0)                                              \
    X(shrink_backward, t, Q(t, 0), y >= -q0 && y <= q0 ? 0 : x)                                                      \
    X(leaky_relu_backward, t, Q(t, 0), y > 0 ? x : x * q0)                                                           \
    X(threshold_backward, t, Q(t, 0), y <= q0 ? 0 : x)

#define DEFINE(op, t, SETUP, EXPR) KERNEL2P(op, t, t, SETUP, EXPR) LOOP2(op, t, t, t)
#define DEFINE_HALF(op, m, SETUP, EXPR) HALF2(op, m, m)
OPS(DEFINE, f32)
OPS(DEFINE, f64)
OPS(DEFINE_HALF, f16)
OPS(DEFINE_HALF, bf16)

#define ROW(op, t, SETUP, EXPR) ENTRY(op, t)
const st_entry ISA_NAME(st_entries_slopes)[] = {OPS(ROW, f32) OPS(ROW, f64) OPS(ROW, f16) OPS(ROW, bf16) ST_END};
