/* The entry points of the kernels for sparse tensors. Indices are int64, (dims, nnz) with the given strides in
 * elements; everything else is contiguous. As in kernels.h, all runs on the stream, and cudaErrorNotSupported means: no
 * such kernel. */
#pragma once
#include <cuda_runtime_api.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SHIM_SPARSE_DIMS = 64 };

typedef struct {
    const int64_t *data;
    int64_t nnz, dim_step, entry_step;
    int dims;
} shim_entries;

/* ---- order: sparse_order.cu ---- */

/* Bytes of workspace that shim_prefix needs for n numbers, and that shim_sort_keys needs. */
int64_t shim_prefix_space(int64_t n);
int64_t shim_sort_keys_space(int64_t n);
/* out[i] = in[0] + ... + in[i] (without in[i] if exclusive); out may be in */
cudaError_t shim_prefix(const int64_t *in, int64_t *out, int64_t n, int exclusive, void *space, cudaStream_t stream);
/* keys[i]: the coordinates first .. last of entry order[i] (NULL: i), packed, bits[d] of them for dimension d */
cudaError_t shim_pack(const shim_entries *e, int first, int last, const int *bits, const int64_t *order, uint64_t *keys,
                      cudaStream_t stream);
/* Keys of so many bits with numbers beside them, sorted stably; fresh: the numbers are 0 .. n - 1, not yet written. Both
 * come out in keys and order if the answer of shim_sort_keys_turns is even, else in the other two. */
int shim_sort_keys_turns(int bits);
cudaError_t shim_sort_keys(uint64_t *keys, int64_t *order, uint64_t *other_keys, int64_t *other_order, int64_t n,
                           int bits, int fresh, void *space, cudaStream_t stream);
/* heads[i] = 1 where entry order[i] has other coordinates than the one before */
cudaError_t shim_heads(const shim_entries *e, const int64_t *order, int64_t *heads, cudaStream_t stream);
/* From the cumulative sums of heads: where each group begins; starts[count] = n */
cudaError_t shim_starts(const int64_t *sums, int64_t n, int64_t count, int64_t *starts, cudaStream_t stream);
/* inverse[order[i]] = sums[i] - 1 */
cudaError_t shim_inverse(const int64_t *sums, const int64_t *order, int64_t n, int64_t *inverse, cudaStream_t stream);

/* ---- places: sparse_places.cu ---- */

/* found[0]: the least place d nnz + i whose index lies outside sizes[d]; the caller sets it to -1 (all ones) before */
cudaError_t shim_outside(const shim_entries *e, const int64_t *sizes, uint64_t *found, cudaStream_t stream);
/* out[i] = the sum of index times step */
cudaError_t shim_cells(const shim_entries *e, const int64_t *steps, int64_t *out, cudaStream_t stream);
/* the coordinates, (dims, n), of cells numbered in row-major order */
cudaError_t shim_coordinates(const int64_t *cells, int64_t n, int dims, const int64_t *sizes, int64_t *out,
                             cudaStream_t stream);
/* pointer[r] = the number of ascending rows less than r, for r in 0 .. n_rows */
cudaError_t shim_row_pointer(const int64_t *rows, int64_t step, int64_t nnz, int64_t n_rows, int64_t *pointer,
                             cudaStream_t stream);
/* rows[i] = the row whose part of 0 .. nnz i lies in */
cudaError_t shim_row_numbers(const int64_t *pointer, int64_t n_rows, int64_t nnz, int64_t *rows, cudaStream_t stream);
/* blocks of bytes (a multiple of unit, a power of two up to 16): to[i] = from[numbers[i]], or to[numbers[i]] = from[i] */
cudaError_t shim_take_blocks(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, int unit, void *to,
                             cudaStream_t stream);
cudaError_t shim_put_blocks(const void *from, const int64_t *numbers, int64_t n, int64_t bytes, int unit, void *to,
                            cudaStream_t stream);
/* For each of n chosen numbers: how many entries pointer gives it; then, from where those begin, each entry's place among
 * all entries and among the chosen. */
cudaError_t shim_row_counts(const int64_t *pointer, const int64_t *chosen, int64_t n, int64_t *counts,
                            cudaStream_t stream);
cudaError_t shim_row_entries(const int64_t *pointer, const int64_t *chosen, const int64_t *starts, int64_t n,
                             int64_t total, int64_t *entries, int64_t *numbers, cudaStream_t stream);

/* ---- values: sparse_values.cu ---- */

enum { SHIM_SEGMENT_SUM = 0, SHIM_SEGMENT_PROD = 1, SHIM_SEGMENT_MAX = 2, SHIM_SEGMENT_MIN = 3 };

/* out[g] = the values[order[i]] (order NULL: values[i]) of starts[g] <= i < starts[g + 1] brought together, of width each;
 * in the order of i, or of a tree that depends on the sizes alone */
cudaError_t shim_segments(int how, int dtype, const void *values, int64_t width, const int64_t *order,
                          const int64_t *starts, int64_t count, int64_t n, void *out, cudaStream_t stream);

/* a number in whatever dtype */
typedef struct {
    double re, im;
    int64_t whole;
} shim_number;

/* out = alpha A other + beta out (beta 0: out is not read). A by rows: pointer, columns, values[order[i]] (order NULL:
 * values[i]), conjugated if asked. other and out have adjacent columns and the given steps from row to row. */
typedef struct {
    const int64_t *pointer, *columns, *order;
    const void *values, *other;
    void *out;
    int64_t n_rows, width, other_step, out_step;
    shim_number alpha, beta;
    int conjugate;
} shim_product;

cudaError_t shim_multiply(int dtype, const shim_product *p, cudaStream_t stream);
/* out[i] = row rows[i] of a times row columns[i] of b, of width each */
cudaError_t shim_sample_product(int dtype, const int64_t *rows, const int64_t *columns, int64_t n, const void *a, int64_t a_step,
                        const void *b, int64_t b_step, int64_t width, void *out, cudaStream_t stream);
/* out[i] = a[left[i]] b[right[i]] */
cudaError_t shim_pair_products(int dtype, const void *a, const int64_t *left, const void *b, const int64_t *right,
                               int64_t n, void *out, cudaStream_t stream);

#ifdef __cplusplus
}
#endif
