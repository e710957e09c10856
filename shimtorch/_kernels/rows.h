/* How an op along rows becomes an st_rows: from a kernel over one contiguous row and, for rows that stand side by side
 * in memory (the op runs along the first dimension), one over a band of them. */
#ifndef SHIMTORCH_KERNELS_ROWS_H
#define SHIMTORCH_KERNELS_ROWS_H

#include "loops.h"

#define st_for_rows ISA_NAME(st_for_rows)

enum { MAX_ROW_OPERANDS = 3, BAND = 64 };

/* one row of n elements */
typedef void (*st_row_kernel)(char *const *p, ptrdiff_t n);
/* w <= BAND rows beside each other: element j of row r at p[k] + j * s[k] + r * (size of an element) */
typedef void (*st_band_kernel)(char *const *p, const ptrdiff_t *s, ptrdiff_t w, ptrdiff_t n);

/* kind is that of every operand (see loops.h), size that of an element in the kernel */
int st_for_rows(st_row_kernel row, st_band_kernel band, int n_operands, int kind, ptrdiff_t size, char **p,
                const ptrdiff_t *row_strides, const ptrdiff_t *col_strides, ptrdiff_t n_rows, ptrdiff_t n_cols);

/* op of memory dtype m, run by the kernels of type t */
#define ROW_LOOP(op, m, t, n_operands)                                                                               \
    static int rows_##op##_##m(char **p, const ptrdiff_t *row_strides, const ptrdiff_t *col_strides,                 \
                               ptrdiff_t n_rows, ptrdiff_t n_cols) {                                                 \
        return st_for_rows(row_##op##_##t, band_##op##_##t, n_operands, KIND_##m[0], sizeof(t), p, row_strides,      \
                           col_strides, n_rows, n_cols);                                                             \
    }

#define ROW_KERNEL(op, t) static ST_OUTLINED void row_##op##_##t(char *const *p, ptrdiff_t n)
#define BAND_KERNEL(op, t) \
    static ST_OUTLINED void band_##op##_##t(char *const *p, const ptrdiff_t *s, ptrdiff_t w, ptrdiff_t n)
#define OUT(t) t *o = (t *)(void *)p[0]
#define IN(t, name, k) const t *name = (const t *)(const void *)p[k]

#define ROW_ENTRY(op, m, like) {ST_ROW_##op, CODE_##m, (st_function)rows_##op##_##like},

#endif
