/* Pointwise ops of one operand. */
#include "pointwise.h"
#include "pointwise_launch.h"

namespace shim {

template <typename T>
__device__ T float_unary(int op, T x, const Parameters &p) {
    switch (op) { SHIM_FLOAT_UNARY(SHIM_VALUE) }
    return x;
}
template <typename T>
__device__ bool float_test(int op, T x) {
    switch (op) { SHIM_FLOAT_TEST(SHIM_VALUE) }
    return false;
}
template <typename T>
__device__ T int_unary(int op, T x, const Parameters &p) {
    switch (op) { SHIM_INT_UNARY(SHIM_VALUE) }
    return x;
}
template <typename T>
__device__ bool int_test(int op, T x) {
    switch (op) { SHIM_INT_TEST(SHIM_VALUE) }
    return false;
}
__device__ uint8_t bool_unary(int op, uint8_t x) {
    switch (op) { SHIM_BOOL_UNARY(SHIM_VALUE) }
    return x;
}
template <typename R>
__device__ complex<R> complex_unary(int op, complex<R> x, const Parameters &p) {
    typedef complex<R> T;
    switch (op) { SHIM_COMPLEX_UNARY(SHIM_VALUE) }
    return x;
}
template <typename R>
__device__ R complex_real(int op, complex<R> x) {
    switch (op) { SHIM_COMPLEX_REAL(SHIM_VALUE) }
    return x.re;
}
template <typename R>
__device__ bool complex_test(int op, complex<R> x) {
    switch (op) { SHIM_COMPLEX_TEST(SHIM_VALUE) }
    return false;
}

SHIM_FAMILY(float_unary, SHIM_FLOAT_UNARY)
SHIM_FAMILY(float_test, SHIM_FLOAT_TEST)
SHIM_FAMILY(int_unary, SHIM_INT_UNARY)
SHIM_FAMILY(int_test, SHIM_INT_TEST)
SHIM_FAMILY(bool_unary, SHIM_BOOL_UNARY)
SHIM_FAMILY(complex_unary, SHIM_COMPLEX_UNARY)
SHIM_FAMILY(complex_real, SHIM_COMPLEX_REAL)
SHIM_FAMILY(complex_test, SHIM_COMPLEX_TEST)

template <typename S>
__global__ void unary(int op, shim_nest nest, Parameters p) {
    SHIM_EACH(i, nest.count) {
        char *at[2];
        find(nest, i, at);
        const auto x = load<S>(at[1]);
        if constexpr (number<S>::category == FLOATING)
            store<S>(at[0], float_unary(op, x, p));
        else if constexpr (number<S>::category == COMPLEX)
            store<S>(at[0], complex_unary(op, x, p));
        else if constexpr (number<S>::category == BOOLEAN)
            store<S>(at[0], bool_unary(op, x));
        else
            store<S>(at[0], int_unary(op, x, p));
    }
}

template <typename S>
__global__ void unary_test(int op, shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[2];
        find(nest, i, at);
        const auto x = load<S>(at[1]);
        if constexpr (number<S>::category == FLOATING)
            *(uint8_t *)at[0] = float_test(op, x);
        else if constexpr (number<S>::category == COMPLEX)
            *(uint8_t *)at[0] = complex_test(op, x);
        else
            *(uint8_t *)at[0] = int_test(op, x);
    }
}

template <typename R>
__global__ void unary_real(int op, shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[2];
        find(nest, i, at);
        *(R *)at[0] = complex_real(op, *(const complex<R> *)at[1]);
    }
}

bool has_unary(int op, int dtype) {
    switch (category_of(dtype)) {
    case FLOATING: return has_float_unary(op) || has_float_test(op);
    case COMPLEX: return has_complex_unary(op) || has_complex_test(op) || has_complex_real(op);
    case BOOLEAN: return has_bool_unary(op) || has_int_test(op);
    default: return has_int_unary(op) || has_int_test(op);
    }
}

cudaError_t run_unary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream) {
    const unsigned grid = blocks_for(nest.count);
    if (has_int_test(op)) { /* the tests are the same for all kinds of numbers */
        switch (dtype) { SHIM_ALL(SHIM_LAUNCH((unary_test<S>), grid, THREADS, 0, stream, op, nest)) }
    } else if (category_of(dtype) == COMPLEX && has_complex_real(op)) {
        if (dtype == ST_COMPLEX64)
            SHIM_LAUNCH((unary_real<float>), grid, THREADS, 0, stream, op, nest);
        else
            SHIM_LAUNCH((unary_real<double>), grid, THREADS, 0, stream, op, nest);
    } else {
        switch (dtype) { SHIM_ALL(SHIM_LAUNCH((unary<S>), grid, THREADS, 0, stream, op, nest, p)) }
    }
    return cudaGetLastError();
}

}  // namespace shim
