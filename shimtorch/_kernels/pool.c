/* Pooling of float, double and int64. */
#include "pool.h"

#include "base.h"

#define Min(a, b) ((a) < (b) ? (a) : (b))
#define Max(a, b) ((a) > (b) ? (a) : (b))

enum { STRETCH = 128, RUN = 16, LONG = 16 * RUN, FEW = 4 };

#define number f32
#define place i32
#define LOWEST (-INFINITY)
#include "pool_body.h"
#undef number
#undef place
#undef LOWEST

#define number f64
#define place i64
#define LOWEST (-INFINITY)
#include "pool_body.h"
#undef number
#undef LOWEST

#define number i64
#define LOWEST INT64_MIN
#include "pool_body.h"

const st_pool_kernels ISA_NAME(st_pools)[3] = {
    {largest_f32, mean_f32, spread_mean_f32},
    {largest_f64, mean_f64, spread_mean_f64},
    {largest_i64, mean_i64, spread_mean_i64},
};
