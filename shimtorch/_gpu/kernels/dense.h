/* Entry points of the kernels of layers, sorting, filling and optimisers: as those of kernels.h. Tensors are contiguous. */
#pragma once
#include "../../_kernels/optimise.h"
#include "kernels.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Windows that slide over maps of three dimensions (of which some may have size 1). */
typedef struct {
    int64_t planes; /* maps: examples times channels */
    int64_t size[3], out[3], kernel[3], stride[3], before[3], dilation[3];
} shim_windows;

/* columns[plane's channel][tap][example][window] = what the tap sees there, 0 beyond the map. A map's columns lie
 * `tap_step` elements apart, those of an example `example_step`. */
cudaError_t shim_unfold(int dtype, const void *maps, void *columns, const shim_windows *w, int64_t channels,
                        int64_t tap_step, int64_t example_step, cudaStream_t stream);
/* Each element of the maps: the sum of all columns' elements that saw it. */
cudaError_t shim_fold(int dtype, const void *columns, void *maps, const shim_windows *w, int64_t channels,
                      int64_t tap_step, int64_t example_step, cudaStream_t stream);

/* even: windows share out the map evenly. divisor: of means, or 0: the number of elements, with padding or without */
typedef struct {
    shim_windows w;
    int even, count_padding;
    int64_t divisor;
} shim_pool;

cudaError_t shim_pool_max(int dtype, const void *maps, void *out, int64_t *places, const shim_pool *p,
                          cudaStream_t stream);
cudaError_t shim_pool_mean(int dtype, const void *maps, void *out, const shim_pool *p, cudaStream_t stream);
cudaError_t shim_pool_spread(int dtype, const void *grads, void *maps, const shim_pool *p, cudaStream_t stream);

/* Rows of n elements, each less its mean and times its scale; weight and bias may be NULL. `run` neighbours share a weight;
 * there are weights for each of `groups` rows. mean and scale are of the type that is computed in. */
typedef struct {
    int64_t rows, n, run, groups;
} shim_rows;

cudaError_t shim_normalise_rows(int dtype, const shim_rows *r, double eps, const void *x, const void *weight,
                                const void *bias, void *mean, void *scale, void *out, cudaStream_t stream);
cudaError_t shim_normalise_rows_backward(int dtype, const shim_rows *r, const void *g, const void *x,
                                         const void *weight, const void *mean, const void *scale, void *dx,
                                         cudaStream_t stream);

/* keys (n_rows x padded, a power of 2 of at least n) and places are scratch; ties keep their order, NaN is largest */
cudaError_t shim_sort(int dtype, const void *from, void *values, int64_t *indices, int64_t n_rows, int64_t n,
                      int64_t padded, int descending, uint64_t *keys, int64_t *places, cudaStream_t stream);
/* For each value (rows x n_values) the first place in its row of `sorted` (rows, or one, of n) before which all are
 * smaller; right: smaller or equal. */
cudaError_t shim_search(int dtype, const void *sorted, const void *values, int64_t *out, int64_t rows, int64_t n,
                        int64_t n_values, int one_row, int right, cudaStream_t stream);
/* The running maximum or minimum and its place, of rows of n elements that lie `inner` apart; a NaN stays */
cudaError_t shim_running(int dtype, int largest, const void *from, void *to, int64_t *places, int64_t rows, int64_t n,
                         int64_t inner, cudaStream_t stream);

/* out[i] = first + i * step: in int64, or in double */
cudaError_t shim_range_whole(int dtype, void *out, int64_t n, int64_t first, int64_t step, cudaStream_t stream);
cudaError_t shim_range(int dtype, void *out, int64_t n, double first, double step, cudaStream_t stream);
/* n numbers from first to last, counted from both ends */
cudaError_t shim_linspace(int dtype, void *out, int64_t n, double first, double last, cudaStream_t stream);

/* Whole random numbers: base + r % range (range 0: any r), r of 64 bits if wide, else of 32 */
cudaError_t shim_draw_whole(int dtype, void *out, int64_t n, uint64_t seed, uint64_t offset, int64_t base,
                            uint64_t range, int wide, int grid, cudaStream_t stream);

enum { SHIM_POISSON = 0, SHIM_GAMMA = 1, SHIM_BINOMIAL = 2 };

/* A number for each parameter a[i] (and b[i]), by rejection: thread i draws from offset on as often as it must. */
cudaError_t shim_sample(int kind, int dtype, void *out, const void *a, const void *b, int64_t n, uint64_t seed,
                        uint64_t offset, cudaStream_t stream);

enum { SHIM_STEPS = 31 }; /* whose arguments fit into 4096 bytes */

/* The steps of up to SHIM_STEPS parameters, none of which writes what another one's uses. */
cudaError_t shim_take_steps(int optimiser, int dtype, const st_step *s, int count, cudaStream_t stream);

/* One step of recurrent cells of `size` elements for n examples; see recurrent.cu */
enum { SHIM_LSTM = 0, SHIM_GRU = 1 };

typedef struct {
    int64_t n, size;
    const void *gates, *share, *bias; /* (n, width): the input's share; the hidden state's; (width) or NULL */
    const void *before;               /* (n, size): the cell, or the hidden state, before the step */
    void *active, *after, *extra;     /* gates after their functions; the cell; what backward needs besides */
    void *out;                        /* the hidden state after the step */
} shim_cell;

typedef struct {
    int64_t n, size;
    const void *active, *before, *extra, *dh;
    void *dc; /* in: the gradient of the cell after the step; out: before. GRU, out: what goes past the product */
    void *da, *dshare;
} shim_cell_back;

cudaError_t shim_cell_step(int kind, int dtype, const shim_cell *c, cudaStream_t stream);
cudaError_t shim_cell_step_back(int kind, int dtype, const shim_cell_back *c, cudaStream_t stream);

/* Batches of row-major matrices (m x n), factored in place: see factor.cu. infos: 0, or 1 + the first pivot that is 0 (not
 * positive). pivots: for each of the first min(m, n) rows the one it was exchanged with, from 1. */
cudaError_t shim_lu(int dtype, void *a, int32_t *pivots, int32_t *infos, int64_t batch, int64_t m, int64_t n,
                    cudaStream_t stream);
cudaError_t shim_cholesky(int dtype, void *a, int32_t *infos, int64_t batch, int64_t n, cudaStream_t stream);
cudaError_t shim_solve_triangle(int dtype, const void *a, void *b, int64_t batch, int64_t n, int64_t k, int upper,
                                int unit, cudaStream_t stream);
cudaError_t shim_order_of(const int32_t *pivots, int64_t *order, int64_t *signs, int64_t batch, int64_t k, int64_t m,
                          cudaStream_t stream);

/* Orthogonal factors: see spectra.cu. reflectors: matrices (m x n) in place, and min(m, n) scales; reflect: columns (m x p)
 * become Q columns, or Q^H columns, for k reflectors in matrices of m x n. */
cudaError_t shim_reflectors(int dtype, void *a, void *taus, int64_t batch, int64_t m, int64_t n, cudaStream_t stream);
cudaError_t shim_reflect(int dtype, const void *a, const void *taus, void *columns, int64_t batch, int64_t m, int64_t n,
                         int64_t k, int64_t p, int adjoint, cudaStream_t stream);
/* Matrices (m x n) times unitary ones (n x n, also multiplied to `bases`), whose columns are orthogonal up to `least` times
 * their lengths. infos: 1 where that was not reached. */
cudaError_t shim_orthogonalise(int dtype, void *a, void *bases, int32_t *infos, int64_t batch, int64_t m, int64_t n,
                               double least, cudaStream_t stream);

enum { SHIM_ERFINV, SHIM_DIGAMMA, SHIM_POLYGAMMA, SHIM_ZETA, SHIM_I0, SHIM_I0E, SHIM_I1, SHIM_I1E };

/* out[i] = f(x[i]) or f(x[i], y[i]); x: NULL, where the first argument is the number for all */
cudaError_t shim_special(int function, int dtype, const void *x, const void *y, double number, void *out, int64_t n,
                         cudaStream_t stream);

#ifdef __cplusplus
}
#endif
