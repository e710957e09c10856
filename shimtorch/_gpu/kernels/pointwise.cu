/* The choice among the families of pointwise kernels. */
#include "pointwise_launch.h"

using namespace shim;

extern "C" int shim_has_loop(int op, int dtype) {
    return has_unary(op, dtype) || has_binary(op, dtype) || has_compare(op, dtype) || has_ternary(op, dtype);
}

extern "C" cudaError_t shim_loop(int op, int dtype, const shim_nest *nest, const shim_params *params,
                                 cudaStream_t stream) {
    Parameters p;
    memcpy(p.d, params->d, sizeof p.d);
    if (nest->count == 0) return cudaSuccess;
    if (has_unary(op, dtype)) return run_unary(op, dtype, *nest, p, stream);
    if (has_binary(op, dtype)) return run_binary(op, dtype, *nest, p, stream);
    if (has_compare(op, dtype)) return run_compare(op, dtype, *nest, stream);
    if (has_ternary(op, dtype)) return run_ternary(op, dtype, *nest, p, stream);
    return cudaErrorNotSupported;
}
