/* Loops on raw memory, public C interface.
 *
 * Every kernel exists once per instruction set; the best one the processor has is picked at first use.
 * Strides are in bytes. Nothing here allocates tensors, takes the GIL or knows what a tensor is. */
#ifndef SHIMTORCH_KERNELS_H
#define SHIMTORCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum st_dtype {
    ST_BOOL,
    ST_UINT8,
    ST_INT8,
    ST_INT16,
    ST_INT32,
    ST_INT64,
    ST_FLOAT16,
    ST_BFLOAT16,
    ST_FLOAT32,
    ST_FLOAT64,
    ST_COMPLEX64,
    ST_COMPLEX128,
    ST_UINT16,
    ST_UINT32,
    ST_UINT64,
    ST_NDTYPES
};

enum st_status {
    ST_OK = 0,
    ST_ZERO_DIVISION = 1, /* an integer was divided by zero; the other elements are computed */
    ST_NO_MEMORY = 2,
    ST_NOT_IMPLEMENTED = 3
};

/* ---- pointwise: one inner loop over n elements; ptrs[0] is the output, then the inputs ----
 * An input may be the output itself (same pointer and stride); a stride of 0 repeats a scalar. */

typedef int (*st_loop)(char **ptrs, const ptrdiff_t *strides, ptrdiff_t n, const void *param);

int st_op(const char *name);          /* code of a pointwise op, or -1 */
const char *st_op_name(int op);       /* its name, or NULL */
st_loop st_find(int op, int dtype);   /* loop for that input dtype (`where`: dtype of the values), or NULL */
st_loop st_cast(int from, int to);    /* conversion loop; NULL only for a code that is no dtype */

/* Parameters of pointwise ops (`param`); ops not listed take none. The struct is read as is for every dtype. */
typedef struct { /* add_scaled, addcmul, addcdiv: the factor; integers use i, the others re (+ im) */
    double re, im;
    int64_t i;
} st_factor;

typedef struct { /* clamp: integers use ilo and ihi (as uint64 for uint64), the others lo and hi */
    double lo, hi;
    int64_t ilo, ihi;
    int has_lo, has_hi;
} st_bounds;
/* pow_scalar: st_factor with the exponent; leaky_relu, celu, hardshrink, softshrink, huber: double[1]; softplus,
 * threshold: double[2]; elu: double[3] (alpha, scale, input_scale); nan_to_num: double[3] (for NaN, inf, -inf);
 * lerp_scaled: st_factor with the weight. Gradients (slopes.c): as what they are of; threshold_backward,
 * shrink_backward: double[1]; hardtanh_backward: double[2] */

/* ---- reductions: out[j*s_out] = reduction over i < n_red of a[j*s_in + i*s_red], for j < n_out ----
 * Of no elements sum is 0, prod 1, any 0, all 1, logsumexp -inf; max, min and their indices have no answer, and the
 * caller must not ask. */

typedef void (*st_reduce)(char *out, const char *a, ptrdiff_t n_red, ptrdiff_t s_red, ptrdiff_t n_out, ptrdiff_t s_in,
                          ptrdiff_t s_out, const void *param);

int st_reduce_op(const char *name);
st_reduce st_find_reduce(int op, int dtype); /* by input dtype, or NULL */
int st_reduce_dtype(int op, int dtype);      /* dtype of its output, or -1 */

typedef struct { /* max_arg, min_arg: where the int64 indices go */
    char *idx;
    ptrdiff_t s_idx;
} st_index_out;
/* var: double[1] (correction); norm_p: double[1] (p) */

/* ---- rows: ptrs[0] the output, then the inputs; a row is n_cols elements, col_strides apart ---- */

typedef int (*st_rows)(char **ptrs, const ptrdiff_t *row_strides, const ptrdiff_t *col_strides, ptrdiff_t n_rows,
                       ptrdiff_t n_cols);

int st_rows_op(const char *name);
st_rows st_find_rows(int op, int dtype);

/* ---- products: c = a @ b for any strides; returns ST_OK, ST_NO_MEMORY or ST_NOT_IMPLEMENTED (bool) ---- */

int st_gemm(int dtype, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, ptrdiff_t sa_row, ptrdiff_t sa_col,
            const char *b, ptrdiff_t sb_row, ptrdiff_t sb_col, char *c, ptrdiff_t sc_row, ptrdiff_t sc_col);

/* ---- contraction: operands[0][...] += the product of all factors, summed over the dimensions it lacks ----
 * strides[0] is the output's, in bytes; 0 where an operand lacks the dimension. Not for bool and half precision. */

enum { ST_NEST_DIMS = 64, ST_NEST_FACTORS = 8, ST_SMALL_DEPTH = 128 };

typedef struct {
    ptrdiff_t size, strides[ST_NEST_FACTORS + 1];
} st_nest_dim;

typedef int (*st_nest_fn)(int factors, int ndim, const st_nest_dim *dims, char *const *operands);
typedef void (*st_small_fn)(int add, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, const ptrdiff_t *sa,
                            const char *b, const ptrdiff_t *sb, char *c, ptrdiff_t sc, int ndim,
                            const st_nest_dim *loops);

st_nest_fn st_find_nest(int dtype); /* two factors and more, one dimension and more; or NULL */

/* c = a @ b (add: c += a @ b) for matrices of a depth k <= ST_SMALL_DEPTH, at every place of the loops; the rows of c
 * are contiguous. float32 and float64; NULL for others */
st_small_fn st_find_small(int dtype);

/* Instruction set in use: "x86-64-v4", "x86-64-v3" or "baseline". The environment variable SHIMTORCH_ISA names a
 * lower one to use; it is read once and never selects one the processor lacks. */
const char *st_isa(void);

#ifdef __cplusplus
}
#endif
#endif
