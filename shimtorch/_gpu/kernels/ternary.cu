/* Pointwise ops of three operands. */
#include "pointwise.h"
#include "pointwise_launch.h"

namespace shim {

template <typename T>
__device__ T float_ternary(int op, T x, T y, T z, const Parameters &p) {
    switch (op) { SHIM_FLOAT_TERNARY(SHIM_VALUE) }
    return x;
}
template <typename T>
__device__ T int_ternary(int op, T x, T y, T z, const Parameters &p) {
    switch (op) { SHIM_INT_TERNARY(SHIM_VALUE) }
    return x;
}
template <typename R>
__device__ complex<R> complex_ternary(int op, complex<R> x, complex<R> y, complex<R> z, const Parameters &p) {
    typedef complex<R> T;
    switch (op) { SHIM_COMPLEX_TERNARY(SHIM_VALUE) }
    return x;
}

SHIM_FAMILY(float_ternary, SHIM_FLOAT_TERNARY)
SHIM_FAMILY(int_ternary, SHIM_INT_TERNARY)
SHIM_FAMILY(complex_ternary, SHIM_COMPLEX_TERNARY)

template <typename S>
__global__ void ternary(int op, shim_nest nest, Parameters p) {
    SHIM_EACH(i, nest.count) {
        char *at[4];
        find(nest, i, at);
        const auto x = load<S>(at[1]), y = load<S>(at[2]), z = load<S>(at[3]);
        if constexpr (number<S>::category == FLOATING)
            store<S>(at[0], float_ternary(op, x, y, z, p));
        else if constexpr (number<S>::category == COMPLEX)
            store<S>(at[0], complex_ternary(op, x, y, z, p));
        else
            store<S>(at[0], int_ternary(op, x, y, z, p));
    }
}

/* operands: condition (bool or uint8), then two of S */
template <typename S>
__global__ void where(shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[4];
        find(nest, i, at);
        *(S *)at[0] = *(const S *)(*(const uint8_t *)at[1] ? at[2] : at[3]);
    }
}

bool has_ternary(int op, int dtype) {
    if (op == ST_OP_where) return true;
    switch (category_of(dtype)) {
    case FLOATING: return has_float_ternary(op);
    case COMPLEX: return has_complex_ternary(op);
    case BOOLEAN: return false;
    default: return has_int_ternary(op);
    }
}

cudaError_t run_ternary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream) {
    const unsigned grid = blocks_for(nest.count);
    if (op == ST_OP_where) {
        switch (dtype) { SHIM_ALL(SHIM_LAUNCH((where<S>), grid, THREADS, 0, stream, nest)) }
    } else {
        switch (dtype) {
            SHIM_INTEGERS(SHIM_LAUNCH((ternary<S>), grid, THREADS, 0, stream, op, nest, p))
            SHIM_FLOATS(SHIM_LAUNCH((ternary<S>), grid, THREADS, 0, stream, op, nest, p))
            SHIM_COMPLEX(SHIM_LAUNCH((ternary<S>), grid, THREADS, 0, stream, op, nest, p))
        }
    }
    return cudaGetLastError();
}

}  // namespace shim
