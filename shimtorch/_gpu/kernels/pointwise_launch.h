/* What the families of pointwise kernels offer to pointwise.cu, which picks among them. */
#pragma once
#include "pointwise.h"

namespace shim {

inline Category category_of(int dtype) {
    return dtype == ST_BOOL                                          ? BOOLEAN
           : dtype == ST_COMPLEX64 || dtype == ST_COMPLEX128         ? COMPLEX
           : dtype >= ST_FLOAT16 && dtype <= ST_FLOAT64              ? FLOATING
                                                                     : INTEGER;
}

bool has_unary(int op, int dtype);
cudaError_t run_unary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream);
bool has_binary(int op, int dtype);
cudaError_t run_binary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream);
bool has_compare(int op, int dtype);
cudaError_t run_compare(int op, int dtype, const shim_nest &nest, cudaStream_t stream);
bool has_ternary(int op, int dtype);
cudaError_t run_ternary(int op, int dtype, const shim_nest &nest, const Parameters &p, cudaStream_t stream);

}  // namespace shim
