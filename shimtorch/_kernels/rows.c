/* st_for_rows: rows as they lie in memory. Rows of half precision or of other strides than the kernels take are copied
 * through a buffer, a bundle at a time, so that neighbours in memory are read together. */
#include "rows.h"

#include <stdlib.h>

enum { BUNDLE = 16, BUNDLE_BYTES = 1 << 17 };

static int all_equal(const ptrdiff_t *strides, ptrdiff_t size, int n_operands) {
    for (int k = 0; k < n_operands; k++)
        if (strides[k] != size) return 0;
    return 1;
}

static void in_bands(st_band_kernel band, int n_operands, ptrdiff_t size, char **p, const ptrdiff_t *col_strides,
                     ptrdiff_t n_rows, ptrdiff_t n_cols) {
    char *q[MAX_ROW_OPERANDS];
    for (ptrdiff_t i = 0; i < n_rows; i += BAND) {
        for (int k = 0; k < n_operands; k++) q[k] = p[k] + i * size;
        band(q, col_strides, n_rows - i < BAND ? n_rows - i : BAND, n_cols);
    }
}

static int in_bundles(st_row_kernel row, int n_operands, int kind, ptrdiff_t size, char **p,
                      const ptrdiff_t *row_strides, const ptrdiff_t *col_strides, ptrdiff_t n_rows, ptrdiff_t n_cols) {
    const ptrdiff_t line = n_cols * size, fitting = BUNDLE_BYTES / line;
    ptrdiff_t bundle = fitting < 1 ? 1 : fitting > BUNDLE ? BUNDLE : fitting;
    bundle = bundle > n_rows ? n_rows : bundle;
    char *q[MAX_ROW_OPERANDS], *buffer[MAX_ROW_OPERANDS];
    char *memory = (char *)malloc((size_t)(bundle * line * n_operands));

    if (memory == NULL) return ST_NO_MEMORY;
    for (int k = 0; k < n_operands; k++) buffer[k] = memory + k * bundle * line;
    for (ptrdiff_t i = 0; i < n_rows; i += bundle) {
        const ptrdiff_t m = n_rows - i < bundle ? n_rows - i : bundle;
        for (int k = 1; k < n_operands; k++)
            for (ptrdiff_t r = 0; r < m; r++)
                st_load(kind, buffer[k] + r * line, p[k] + (i + r) * row_strides[k], col_strides[k], n_cols);
        for (ptrdiff_t r = 0; r < m; r++) {
            for (int k = 0; k < n_operands; k++) q[k] = buffer[k] + r * line;
            row(q, n_cols);
        }
        for (ptrdiff_t r = 0; r < m; r++)
            st_store(kind, p[0] + (i + r) * row_strides[0], col_strides[0], buffer[0] + r * line, n_cols);
    }
    free(memory);
    return ST_OK;
}

int st_for_rows(st_row_kernel row, st_band_kernel band, int n_operands, int kind, ptrdiff_t size, char **p,
                const ptrdiff_t *row_strides, const ptrdiff_t *col_strides, ptrdiff_t n_rows, ptrdiff_t n_cols) {
    char *q[MAX_ROW_OPERANDS];

    if (n_rows <= 0 || n_cols <= 0) return ST_OK;
    if (kind <= 16 && (n_cols == 1 || all_equal(col_strides, size, n_operands))) {
        for (ptrdiff_t i = 0; i < n_rows; i++) {
            for (int k = 0; k < n_operands; k++) q[k] = p[k] + i * row_strides[k];
            row(q, n_cols);
        }
        return ST_OK;
    }
    if (kind <= 16 && n_rows >= 4 && all_equal(row_strides, size, n_operands)) {
        in_bands(band, n_operands, size, p, col_strides, n_rows, n_cols);
        return ST_OK;
    }
    return in_bundles(row, n_operands, kind, size, p, row_strides, col_strides, n_rows, n_cols);
}
