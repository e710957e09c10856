/* Normalisation of float and double. */
#include "norm.h"

#include "base.h"
#include "parallel.h"

#include <stdlib.h>

#define real f32
#include "norm_body.h"
#undef real
#define real f64
#include "norm_body.h"
#undef real

const st_norm_kernels ISA_NAME(st_norms)[2] = {
    {rows_f32, rows_backward_f32, moments_f32, affine_f32, sums_f32, blend_f32},
    {rows_f64, rows_backward_f64, moments_f64, affine_f64, sums_f64, blend_f64},
};
