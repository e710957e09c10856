/* Convolutions of float and double. */
#include "conv.h"

#include "parallel.h"
#include "vectors.h"

#include <stdlib.h>

#define Min(a, b) ((a) < (b) ? (a) : (b))
#define Max(a, b) ((a) > (b) ? (a) : (b))
#define ROUND_UP(n, unit) (((n) + (unit) - 1) / (unit) * (unit))

static ptrdiff_t product(const ptrdiff_t *n) { return n[0] * n[1] * n[2]; }

/* carves aligned pieces out of the work memory */
static void *take(char **work, ptrdiff_t bytes) {
    void *piece = *work;
    *work += ROUND_UP(bytes, 64);
    return piece;
}

#define real f32
#include "conv_map.h"
#include "conv_weight.h"
#include "conv_flat.h"
#include "conv_run.h"
#undef real
#define real f64
#include "conv_map.h"
#include "conv_weight.h"
#include "conv_flat.h"
#include "conv_run.h"
#undef real

const st_conv_kernels ISA_NAME(st_convs)[2] = {{run_f32, work_f32}, {run_f64, work_f64}};
