/* Pointwise ops of two operands. */
#include "pointwise.h"
#include "pointwise_launch.h"

namespace shim {

template <typename T>
__device__ T float_binary(int op, T x, T y, const Parameters &p) {
    switch (op) { SHIM_FLOAT_BINARY(SHIM_VALUE) }
    return x;
}
template <typename T>
__device__ T int_binary(int op, T x, T y, const Parameters &p) {
    switch (op) { SHIM_INT_BINARY(SHIM_VALUE) }
    return x;
}
__device__ uint8_t bool_binary(int op, uint8_t x, uint8_t y, const Parameters &p) {
    switch (op) { SHIM_BOOL_BINARY(SHIM_VALUE) }
    return x;
}
template <typename R>
__device__ complex<R> complex_binary(int op, complex<R> x, complex<R> y, const Parameters &p) {
    typedef complex<R> T;
    switch (op) { SHIM_COMPLEX_BINARY(SHIM_VALUE) }
    return x;
}

SHIM_FAMILY(float_binary, SHIM_FLOAT_BINARY)
SHIM_FAMILY(int_binary, SHIM_INT_BINARY)
SHIM_FAMILY(bool_binary, SHIM_BOOL_BINARY)
SHIM_FAMILY(complex_binary, SHIM_COMPLEX_BINARY)

template <typename S>
__global__ void binary(int op, shim_nest nest, Parameters p) {
    SHIM_EACH(i, nest.count) {
        char *at[3];
        find(nest, i, at);
        const auto x = load<S>(at[1]), y = load<S>(at[2]);
        if constexpr (number<S>::category == FLOATING)
            store<S>(at[0], float_binary(op, x, y, p));
        else if constexpr (number<S>::category == COMPLEX)
            store<S>(at[0], complex_binary(op, x, y, p));
        else if constexpr (number<S>::category == BOOLEAN)
            store<S>(at[0], bool_binary(op, x, y, p));
        else
            store<S>(at[0], int_binary(op, x, y, p));
    }
}

bool has_binary(int op, int dtype) {
    switch (category_of(dtype)) {
    case FLOATING: return has_float_binary(op);
    case COMPLEX: return has_complex_binary(op);
    case BOOLEAN: return has_bool_binary(op);
    default: return has_int_binary(op);
    }
}

cudaError_t run_binary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream) {
    switch (dtype) { SHIM_ALL(SHIM_LAUNCH((binary<S>), blocks_for(nest.count), THREADS, 0, stream, op, nest, p)) }
    return cudaGetLastError();
}

}  // namespace shim
