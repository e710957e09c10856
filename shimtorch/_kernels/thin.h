/* Which products st_gemm makes by thin.c, and faster than a BLAS. */
#ifndef SHIMTORCH_KERNELS_THIN_H
#define SHIMTORCH_KERNELS_THIN_H

#include "kernels.h"

/* Whether one of the matrices m x k and k x n is big and the other thin. */
static inline int st_gemm_is_thin(int dtype, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k) {
    enum { LEAST = 4, DEPTH = 32, BIG = 1 << 18 };
    const ptrdiff_t most = dtype == ST_FLOAT32 ? 32 : dtype == ST_FLOAT64 ? 16 : 0, thin = m < n ? m : n;
    return thin >= LEAST && thin <= most && k >= DEPTH && (m < n ? n : m) >= BIG / k;
}

#endif
