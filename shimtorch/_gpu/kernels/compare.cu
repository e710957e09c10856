/* Comparisons and logical connectives: the output is bool. */
#include "pointwise.h"
#include "pointwise_launch.h"

namespace shim {

template <typename T>
__device__ bool real_compare(int op, T x, T y) {
    switch (op) { SHIM_ORDER(SHIM_VALUE) SHIM_EQUALITY(SHIM_VALUE) }
    return false;
}
template <typename R>
__device__ bool complex_compare(int op, complex<R> x, complex<R> y) {
    typedef complex<R> T;
    switch (op) { SHIM_COMPLEX_COMPARE(SHIM_VALUE) }
    return false;
}

SHIM_FAMILY(order, SHIM_ORDER)
SHIM_FAMILY(equality, SHIM_EQUALITY)

template <typename S>
__global__ void compare(int op, shim_nest nest) {
    SHIM_EACH(i, nest.count) {
        char *at[3];
        find(nest, i, at);
        const auto x = load<S>(at[1]), y = load<S>(at[2]);
        if constexpr (number<S>::category == COMPLEX)
            *(uint8_t *)at[0] = complex_compare(op, x, y);
        else
            *(uint8_t *)at[0] = real_compare(op, x, y);
    }
}

bool has_compare(int op, int dtype) {
    return has_equality(op) || (has_order(op) && category_of(dtype) != COMPLEX);
}

cudaError_t run_compare(int op, int dtype, const shim_nest &nest, cudaStream_t stream) {
    switch (dtype) { SHIM_ALL(SHIM_LAUNCH((compare<S>), blocks_for(nest.count), THREADS, 0, stream, op, nest)) }
    return cudaGetLastError();
}

}  // namespace shim
