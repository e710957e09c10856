/* Rows of a sparse matrix times a vector, several entries at a time. */
#ifndef SHIMTORCH_KERNELS_ROWDOTS_H
#define SHIMTORCH_KERNELS_ROWDOTS_H

#include "kernels.h"

#include <string.h>

/* out[r] = sum of values[x] * dense[columns[x]] over the entries x of row r, for rows first ... last; rows of more than
 * `longest` entries are left out */
typedef void (*st_row_dots)(const int64_t *pointer, const int32_t *columns, const void *values, ptrdiff_t first,
                            ptrdiff_t last, ptrdiff_t longest, const void *dense, void *out);

#ifdef ST_HAVE_V3
st_row_dots st_row_dots_v3(int dtype);
#endif

/* That of an instruction set, by st_isa()'s name for it; NULL where entries go one by one. */
static inline st_row_dots st_find_row_dots(const char *isa, int dtype) {
#ifdef ST_HAVE_V3
    if (strcmp(isa, "baseline") != 0) return st_row_dots_v3(dtype);
#endif
    (void)isa, (void)dtype;
    return NULL;
}

#endif
