/* Copies of elements of any size, contiguous or not. */
#include "base.h"
#include "move.h"

typedef struct { u64 part[2]; } w16;

#define COPY(t)                                                                                                      \
    static int copy_##t(char **p, const ptrdiff_t *s, ptrdiff_t n, const void *param) {                              \
        const ptrdiff_t size = sizeof(t), so = s[0], sa = s[1];                                                      \
        char *o = p[0];                                                                                              \
        const char *a = p[1];                                                                                        \
        (void)param;                                                                                                 \
        if (n <= 0) return ST_OK;                                                                                    \
        if (so == size && sa == size) {                                                                              \
            if (o != a) st_move(o, a, (size_t)n * sizeof(t));                                                        \
        } else if (so == size && sa == 0) {                                                                          \
            const t value = *(const t *)(const void *)a;                                                             \
            for (ptrdiff_t i = 0; i < n; i++) ((t *)(void *)o)[i] = value;                                           \
        } else if (so == size && sa == -size) {                                                                      \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) ((t *)(void *)o)[i] = ((const t *)(const void *)a)[-i];          \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++) *(t *)(void *)(o + i * so) = *(const t *)(const void *)(a + i * sa);   \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }
COPY(u8)
COPY(u16)
COPY(u32)
COPY(u64)
COPY(w16)

const st_loop ISA_NAME(st_copies)[ST_NDTYPES] = {
    [ST_BOOL] = copy_u8,     [ST_UINT8] = copy_u8,     [ST_INT8] = copy_u8,       [ST_INT16] = copy_u16,
    [ST_INT32] = copy_u32,   [ST_INT64] = copy_u64,    [ST_FLOAT16] = copy_u16,   [ST_BFLOAT16] = copy_u16,
    [ST_FLOAT32] = copy_u32, [ST_FLOAT64] = copy_u64,  [ST_COMPLEX64] = copy_u64, [ST_COMPLEX128] = copy_w16,
    [ST_UINT16] = copy_u16,  [ST_UINT32] = copy_u32,   [ST_UINT64] = copy_u64};
