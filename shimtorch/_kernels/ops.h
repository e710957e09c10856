/* The op lists of each kind of kernel: an op's code is its place in its list. */
#ifndef SHIMTORCH_KERNELS_OPS_H
#define SHIMTORCH_KERNELS_OPS_H

#define ST_POINTWISE(X)                                                                                              \
    X(neg) X(abs) X(exp) X(exp2) X(expm1) X(log) X(log2) X(log10) X(log1p) X(sqrt) X(rsqrt) X(sin) X(cos) X(tan)     \
    X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) X(acosh) X(atanh) X(sigmoid) X(logsigmoid) X(relu)      \
    X(softsign) X(reciprocal) X(square) X(sign) X(sgn) X(floor) X(ceil) X(round) X(trunc) X(frac) X(erf) X(erfc)     \
    X(erfinv) X(lgamma) X(i0) X(i0e) X(i1) X(i1e) X(silu) X(gelu) X(gelu_tanh) X(mish) X(hardswish)                  \
    X(hardsigmoid) X(conj_physical) X(angle) X(bitwise_not) X(logical_not) X(isnan) X(isinf) X(isfinite)             \
    X(signbit)                                                                                                       \
    X(pow_scalar) X(clamp) X(leaky_relu) X(elu) X(softplus) X(threshold) X(celu) X(hardshrink) X(softshrink)         \
    X(huber) X(add) X(sub) X(mul) X(div) X(floor_divide) X(trunc_divide) X(remainder) X(fmod) X(pow) X(atan2)        \
    X(maximum) X(minimum) X(fmax) X(fmin) X(hypot) X(copysign) X(nextafter) X(logaddexp) X(bitwise_and)         \
    X(bitwise_or) X(bitwise_xor) X(lshift) X(rshift) X(gcd) X(lcm) X(add_scaled)                                     \
    X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(logical_and) X(logical_or) X(logical_xor)                                  \
    X(where) X(addcmul) X(addcdiv) X(lerp) X(clamp_tensor) X(threshold_backward) X(sigmoid_backward)                 \
    X(tanh_backward) X(hardswish_backward) X(nan_to_num) X(lerp_scaled) X(make_complex)                  \
    X(digamma) X(zeta) X(chebyshev_polynomial_t) X(chebyshev_polynomial_u) X(chebyshev_polynomial_v)                 \
    X(chebyshev_polynomial_w) X(shifted_chebyshev_polynomial_t) X(shifted_chebyshev_polynomial_u)                    \
    X(shifted_chebyshev_polynomial_v) X(shifted_chebyshev_polynomial_w) X(hermite_polynomial_h)                      \
    X(hermite_polynomial_he) X(laguerre_polynomial_l) X(legendre_polynomial_p)

/* name, dtype of the output: S the input's, I int64 for integers and bool else the input's, A int64, B bool,
 * R the real dtype of the input */
#define ST_REDUCTIONS(X)                                                                                             \
    X(sum, I) X(prod, I) X(max, S) X(min, S) X(amax, S) X(amin, S) X(argmax, A) X(argmin, A) X(max_arg, S)           \
    X(min_arg, S) X(any, B) X(all, B) X(sumsq, R) X(sumabs, R) X(norm_p, R) X(count_nonzero, A) X(var, R)            \
    X(logsumexp, S)

#define ST_ROW_OPS(X)                                                                                                \
    X(softmax) X(log_softmax) X(softmax_backward) X(log_softmax_backward) X(log_softmax_shared) X(cumsum) X(cumprod)

#define ST_OP_CODE(name) ST_OP_##name,
#define ST_RED_CODE(name, out) ST_RED_##name,
#define ST_ROW_CODE(name) ST_ROW_##name,
enum { ST_POINTWISE(ST_OP_CODE) ST_N_OPS };
enum { ST_REDUCTIONS(ST_RED_CODE) ST_N_REDUCTIONS };
enum { ST_ROW_OPS(ST_ROW_CODE) ST_N_ROW_OPS };
#undef ST_OP_CODE
#undef ST_RED_CODE
#undef ST_ROW_CODE

#endif
