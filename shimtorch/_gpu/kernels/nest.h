/* Finding the elements of operands that are walked together. */
#pragma once
#include "kernels.h"
#include "numbers.h"

namespace shim {

/* The addresses of the i-th elements of the first N operands. */
template <int N>
__device__ __forceinline__ void find(const shim_nest &nest, int64_t i, char *(&at)[N]) {
    int64_t offset[N];
    for (int k = 0; k < N; k++) offset[k] = 0;
    for (int d = nest.ndim - 1; d >= 0; d--) {
        int64_t place = i;
        if (d > 0) {
            const int64_t rest = i / nest.shape[d];
            place = i - rest * nest.shape[d];
            i = rest;
        }
        for (int k = 0; k < N; k++) offset[k] += place * nest.strides[k][d];
    }
    for (int k = 0; k < N; k++)
        at[k] = nest.by_value >> k & 1 ? (char *)(nest.values[k]) : nest.at[k] + offset[k];
}

}  // namespace shim
