/* Copies of elements of any size, contiguous or not; the same on every instruction set. */
#include "copy.h"

typedef struct { u64 part[2]; } w16;

#define COPY(t)                                                                                                      \
    static int copy_##t(char **p, const ptrdiff_t *s, ptrdiff_t n, const void *param) {                              \
        char *o = p[0];                                                                                              \
        const char *a = p[1];                                                                                        \
        (void)param;                                                                                                 \
        if (s[0] == sizeof(t) && s[1] == sizeof(t)) {                                                                \
            if (n > 0) memmove(o, a, (size_t)n * sizeof(t));                                                         \
            return ST_OK;                                                                                            \
        }                                                                                                            \
        for (ptrdiff_t i = 0; i < n; i++, o += s[0], a += s[1]) *(t *)(void *)o = *(const t *)(const void *)a;       \
        return ST_OK;                                                                                                \
    }
COPY(u8)
COPY(u16)
COPY(u32)
COPY(u64)
COPY(w16)

const st_loop st_copies[ST_NDTYPES] = {
    [ST_BOOL] = copy_u8,     [ST_UINT8] = copy_u8,     [ST_INT8] = copy_u8,       [ST_INT16] = copy_u16,
    [ST_INT32] = copy_u32,   [ST_INT64] = copy_u64,    [ST_FLOAT16] = copy_u16,   [ST_BFLOAT16] = copy_u16,
    [ST_FLOAT32] = copy_u32, [ST_FLOAT64] = copy_u64,  [ST_COMPLEX64] = copy_u64, [ST_COMPLEX128] = copy_w16,
    [ST_UINT16] = copy_u16,  [ST_UINT32] = copy_u32,   [ST_UINT64] = copy_u64};
