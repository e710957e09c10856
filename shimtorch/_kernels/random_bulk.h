/* Many random numbers at once; built for each instruction set, with the same results. */
#ifndef SHIMTORCH_RANDOM_BULK_H
#define SHIMTORCH_RANDOM_BULK_H

#include "random_engine.h"

typedef struct {
    void (*words)(st_rng *rng, u32 *out, ptrdiff_t n);
    void (*f24)(st_rng *rng, f32 *out, ptrdiff_t n);
    void (*f53)(st_rng *rng, f64 *out, ptrdiff_t n);
    /* out = value where a 53-bit uniform number times 2^53 is below the threshold, else 0 */
    void (*below)(st_rng *rng, f32 *out, ptrdiff_t n, u64 threshold, f32 value);
    /* x = x * width + lo, rounded once where fused, else twice */
    void (*stretch)(f32 *x, ptrdiff_t n, f32 width, f32 lo, int fused);
    /* uniform numbers to normal ones, in blocks of 16; not fused as PyTorch 1.1 computed */
    void (*normal)(f32 *x, ptrdiff_t blocks, f32 mean, f32 std, int fused);
} st_bulk;

const st_bulk *st_find_bulk(void); /* of the instruction set in use */

#endif
