/* Steps of optimisers on float and double. */
#include "optimise.h"

#include "base.h"

#define EACH(i) IVDEP for (ptrdiff_t i = begin; i < end; i++)

#define STEP(name) static void name##_f32(const st_step *s, ptrdiff_t begin, ptrdiff_t end)
#define real f32
#define ROOT sqrtf
#include "optimise_body.h"
#undef STEP
#undef real
#undef ROOT

#define STEP(name) static void name##_f64(const st_step *s, ptrdiff_t begin, ptrdiff_t end)
#define real f64
#define ROOT sqrt
#include "optimise_body.h"

#define ALL(t)                                                                                                      \
    {sgd_##t, adam_##t, adadelta_##t, rmsprop_##t, adagrad_##t, adamax_##t, nadam_##t, radam_##t, asgd_##t, rprop_##t}
const st_step_fn ISA_NAME(st_step_fns)[2][ST_N_OPTIMISERS] = {ALL(f32), ALL(f64)};
