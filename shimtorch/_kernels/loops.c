/* st_blocked: runs a contiguous kernel over operands of any stride and storage, block by block. */
#include "loops.h"

#include "half.h"

/* elements a block has at most, and the room they need */
enum { MAX_OPERANDS = 4, BLOCK = 512, BUFFER_BYTES = BLOCK * 16 };

typedef enum { DIRECT, FILLED, BUFFERED } st_passage;

#define GATHER(type)                                                                                                 \
    do {                                                                                                             \
        type *o = (type *)(void *)buf;                                                                               \
        if (s == 0) {                                                                                                \
            const type value = *(const type *)(const void *)a;                                                       \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = value;                                                          \
        } else if (s == 2 * sizeof(type)) {                                                                          \
            const type *v = (const type *)(const void *)a;                                                           \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = v[2 * i];                                                       \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = *(const type *)(const void *)(a + i * s);                       \
        }                                                                                                            \
    } while (0)

#define SCATTER(type)                                                                                                \
    do {                                                                                                             \
        const type *b = (const type *)(const void *)buf;                                                             \
        for (ptrdiff_t i = 0; i < n; i++) *(type *)(void *)(o + i * s) = b[i];                                       \
    } while (0)

#define WIDEN(from, to)                                                                                              \
    do {                                                                                                             \
        to *o = (to *)(void *)buf;                                                                                   \
        if (s == sizeof(from)) {                                                                                     \
            const from *v = (const from *)(const void *)a;                                                           \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = v[i];                                                           \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++) o[i] = *(const from *)(const void *)(a + i * s);                       \
        }                                                                                                            \
    } while (0)

typedef struct { u64 lo, hi; } u128;

void st_load(int kind, char *restrict buf, const char *a, ptrdiff_t s, ptrdiff_t n) {
    switch (kind) {
    case 1: GATHER(u8); break;
    case 2: GATHER(u16); break;
    case 4: GATHER(u32); break;
    case 8: GATHER(u64); break;
    case 16: GATHER(u128); break;
    case KIND_U8_I32: WIDEN(u8, i32); break;
    case KIND_I8_I32: WIDEN(i8, i32); break;
    case KIND_U16_I32: WIDEN(u16, i32); break;
    case KIND_I16_I32: WIDEN(i16, i32); break;
    case KIND_U8_I64: WIDEN(u8, i64); break;
    case KIND_I8_I64: WIDEN(i8, i64); break;
    case KIND_U16_I64: WIDEN(u16, i64); break;
    case KIND_I16_I64: WIDEN(i16, i64); break;
    case KIND_U32_I64: WIDEN(u32, i64); break;
    case KIND_I32_I64: WIDEN(i32, i64); break;
    case KIND_F16: {
        f32 *o = (f32 *)(void *)buf;
        if (s == sizeof(f16)) {
            f32_from_f16s(o, (const f16 *)(const void *)a, n);
        } else {
            for (ptrdiff_t i = 0; i < n; i++) o[i] = f32_of_f16(*(const f16 *)(const void *)(a + i * s));
        }
        break;
    }
    default: {
        f32 *o = (f32 *)(void *)buf;
        if (s == sizeof(bf16)) {
            f32_from_bf16s(o, (const bf16 *)(const void *)a, n);
        } else {
            for (ptrdiff_t i = 0; i < n; i++) o[i] = f32_of_bf16(*(const bf16 *)(const void *)(a + i * s));
        }
    }
    }
}

void st_store(int kind, char *o, ptrdiff_t s, const char *buf, ptrdiff_t n) {
    const f32 *f = (const f32 *)(const void *)buf;
    switch (kind) {
    case 1: SCATTER(u8); break;
    case 2: SCATTER(u16); break;
    case 4: SCATTER(u32); break;
    case 8: SCATTER(u64); break;
    case 16: SCATTER(u128); break;
    case KIND_F16:
        if (s == sizeof(f16)) {
            f16s_from_f32((f16 *)(void *)o, f, n);
        } else {
            for (ptrdiff_t i = 0; i < n; i++) *(f16 *)(void *)(o + i * s) = f16_of_f32(f[i]);
        }
        break;
    case KIND_BF16:
        if (s == sizeof(bf16)) {
            bf16s_from_f32((bf16 *)(void *)o, f, n);
        } else {
            for (ptrdiff_t i = 0; i < n; i++) *(bf16 *)(void *)(o + i * s) = bf16_of_f32(f[i]);
        }
        break;
    case KIND_C64_REAL:
        for (ptrdiff_t i = 0; i < n; i++) *(c64 *)(void *)(o + i * s) = f[i];
        break;
    default: {
        const f64 *d = (const f64 *)(const void *)buf;
        for (ptrdiff_t i = 0; i < n; i++) *(c128 *)(void *)(o + i * s) = d[i];
    }
    }
}

int st_blocked(st_kernel kernel, const char *kinds, char **p, const ptrdiff_t *s, ptrdiff_t n, const void *param) {
    _Alignas(64) char buffer[MAX_OPERANDS][BUFFER_BYTES];
    char *q[MAX_OPERANDS];
    st_passage passage[MAX_OPERANDS];
    ptrdiff_t block = n < BLOCK ? n : BLOCK;
    int status = ST_OK, n_operands = 0;

    if (n <= 0) return ST_OK;
    for (int k = 0; kinds[k] != 0; k++, n_operands++) {
        passage[k] = kinds[k] <= 16 && s[k] == kinds[k] ? DIRECT : s[k] == 0 && k > 0 ? FILLED : BUFFERED;
        q[k] = passage[k] == DIRECT ? p[k] : buffer[k];
        if (passage[k] == FILLED) st_load(kinds[k], q[k], p[k], 0, block);
    }
    for (ptrdiff_t start = 0; start < n; start += block) {
        const ptrdiff_t m = n - start < block ? n - start : block;
        for (int k = 0; k < n_operands; k++) {
            if (passage[k] == DIRECT) q[k] = p[k] + start * kinds[k];
            else if (passage[k] == BUFFERED && k > 0) st_load(kinds[k], q[k], p[k] + start * s[k], s[k], m);
        }
        status |= kernel(q, m, param);
        if (passage[0] == BUFFERED) st_store(kinds[0], p[0] + start * s[0], s[0], buffer[0], m);
    }
    return status;
}
