/* Products of matrices of any strides and any dtype but bool.
 *
 * Meant for what BLAS does not do (integers, half precision) or does slowly (matrices of a few dozen rows, where the
 * call costs more than the product). The inner loop keeps the sums of a tile, MR rows of a by NR columns of b, in
 * registers. What does not lie as it wants is packed block by block into that shape, padded with zeros. */
#include "loops.h"
#include "vectors.h"

enum { MR = 4, MC = 32, KC = 128, TINY = 100, DIRECT = 64 };

/* ---- NV vectors make the NR columns of a tile ---- */

#define MATRIX_PRODUCT(t, NV)                                                                                        \
    enum { NR_##t = NV * sizeof(vec_##t) / sizeof(t) };                                                              \
    /* n lines of `depth` elements into a width of lines side by side: element k of line i at out[k * width + i] */  \
    static ST_OUTLINED void pack_##t(t *restrict out, ptrdiff_t width, ptrdiff_t n, ptrdiff_t depth, const char *a,  \
                                     ptrdiff_t s, ptrdiff_t s_depth, int kind) {                                     \
        t line[KC];                                                                                                  \
        for (ptrdiff_t k = 0; k < depth && n < width; k++)                                                           \
            for (ptrdiff_t i = n; i < width; i++) out[k * width + i] = 0;                                            \
        if (kind > 16) {                                                                                             \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                      \
                st_load(kind, (char *)line, a + i * s, s_depth, depth);                                              \
                for (ptrdiff_t k = 0; k < depth; k++) out[k * width + i] = line[k];                                  \
            }                                                                                                        \
        } else if (s == (ptrdiff_t)sizeof(t)) {                                                                      \
            for (ptrdiff_t k = 0; k < depth; k++) memcpy(out + k * width, a + k * s_depth, (size_t)n * sizeof(t));   \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++)                                                                        \
                for (ptrdiff_t k = 0; k < depth; k++)                                                                \
                    out[k * width + i] = *(const t *)(const void *)(a + i * s + k * s_depth);                        \
        }                                                                                                            \
    }                                                                                                                \
    /* strides in bytes: sa of a's rows, ak and bk along the sum */                                                  \
    static ST_OUTLINED void tile_##t(t *sums, int fresh, ptrdiff_t depth, const char *a, ptrdiff_t sa, ptrdiff_t ak, \
                                     const char *b, ptrdiff_t bk) {                                                  \
        vec_##t acc[MR][NV], *const s = (vec_##t *)(void *)sums;                                                     \
        for (int i = 0; i < MR; i++)                                                                                 \
            for (int j = 0; j < NV; j++) acc[i][j] = fresh ? SPREAD(t, (t)0) : s[i * NV + j];                        \
        for (ptrdiff_t k = 0; k < depth; k++, a += ak, b += bk) {                                                    \
            const loose_##t *v = (const loose_##t *)(const void *)b;                                                 \
            for (int i = 0; i < MR; i++) {                                                                           \
                const vec_##t x = SPREAD(t, *(const t *)(const void *)(a + i * sa));                                 \
                for (int j = 0; j < NV; j++) acc[i][j] = VECTOR_PRODUCT_##t(x, v[j], acc[i][j]);                     \
            }                                                                                                        \
        }                                                                                                            \
        for (int i = 0; i < MR; i++)                                                                                 \
            for (int j = 0; j < NV; j++) s[i * NV + j] = acc[i][j];                                                  \
    }                                                                                                                \
    static int product_##t(int kind, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, const ptrdiff_t *sa,      \
                           const char *b, const ptrdiff_t *sb, char *c, const ptrdiff_t *sc) {                       \
        const ptrdiff_t size = sizeof(t), nr_size = NR_##t * size;                                                   \
        const int a_lies_well = kind <= 16 && n <= DIRECT, b_lies_well = kind <= 16 && m <= DIRECT && sb[1] == size; \
        _Alignas(64) t a_pack[MC * KC], b_pack[KC * NR_##t], sums[MC * NR_##t];                                      \
        for (ptrdiff_t i0 = 0; i0 < m; i0 += MC) {                                                                   \
            const ptrdiff_t mc = m - i0 < MC ? m - i0 : MC;                                                          \
            for (ptrdiff_t j0 = 0; j0 < n; j0 += NR_##t) {                                                           \
                const ptrdiff_t nr = n - j0 < NR_##t ? n - j0 : NR_##t;                                              \
                for (ptrdiff_t k0 = 0; k0 < k || k0 == 0; k0 += KC) {                                                \
                    const ptrdiff_t kc = k - k0 < KC ? k - k0 : KC;                                                  \
                    const char *b_block = b + k0 * sb[0] + j0 * sb[1];                                               \
                    const int b_packed = !(b_lies_well && nr == NR_##t);                                             \
                    if (b_packed) pack_##t(b_pack, NR_##t, nr, kc, b_block, sb[1], sb[0], kind);                     \
                    for (ptrdiff_t i = 0; i < mc; i += MR) {                                                         \
                        const ptrdiff_t mr = mc - i < MR ? mc - i : MR;                                              \
                        const char *a_block = a + (i0 + i) * sa[0] + k0 * sa[1];                                     \
                        const int a_packed = !(a_lies_well && mr == MR);                                             \
                        if (a_packed && (j0 == 0 || k > KC))                                                         \
                            pack_##t(a_pack + i * KC, MR, mr, kc, a_block, sa[0], sa[1], kind);                      \
                        tile_##t(sums + i * NR_##t, k0 == 0, kc, a_packed ? (const char *)(a_pack + i * KC) : a_block,\
                                 a_packed ? size : sa[0], a_packed ? MR * size : sa[1],                              \
                                 b_packed ? (const char *)b_pack : b_block, b_packed ? nr_size : sb[0]);             \
                    }                                                                                                \
                }                                                                                                    \
                for (ptrdiff_t i = 0; i < mc; i++) {                                                                 \
                    char *line = c + (i0 + i) * sc[0] + j0 * sc[1];                                                  \
                    if (kind <= 16 && sc[1] == size) memcpy(line, sums + i * NR_##t, (size_t)(nr * size));           \
                    else st_store(kind, line, sc[1], (const char *)(sums + i * NR_##t), nr);                         \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }
MATRIX_PRODUCT(f32, 2)
MATRIX_PRODUCT(f64, 2)
MATRIX_PRODUCT(c64, 4)
MATRIX_PRODUCT(c128, 4)
MATRIX_PRODUCT(u8, 1)
MATRIX_PRODUCT(u16, 2)
MATRIX_PRODUCT(u32, 2)
MATRIX_PRODUCT(u64, 2)

/* ---- by dtype; a handful of float32 or float64 is multiplied where it lies ---- */

#define GEMM_HEAD(m)                                                                                                 \
    static int gemm_##m(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t k, const char *a, const ptrdiff_t *sa,             \
                        const char *b, const ptrdiff_t *sb, char *c, const ptrdiff_t *sc)
#define GEMM(m, t) GEMM_HEAD(m) { return product_##t(KIND_##m[0], rows, cols, k, a, sa, b, sb, c, sc); }
#define GEMM_WITH_TINY(t)                                                                                            \
    GEMM_HEAD(t) {                                                                                                   \
        if (rows * cols * k > TINY) return product_##t(KIND_##t[0], rows, cols, k, a, sa, b, sb, c, sc);             \
        for (ptrdiff_t i = 0; i < rows; i++)                                                                         \
            for (ptrdiff_t j = 0; j < cols; j++) {                                                                   \
                const char *x = a + i * sa[0], *y = b + j * sb[1];                                                   \
                t sum = 0;                                                                                           \
                for (ptrdiff_t l = 0; l < k; l++, x += sa[1], y += sb[0])                                            \
                    sum += *(const t *)(const void *)x * *(const t *)(const void *)y;                                \
                *(t *)(void *)(c + i * sc[0] + j * sc[1]) = sum;                                                     \
            }                                                                                                        \
        return ST_OK;                                                                                                \
    }
GEMM_WITH_TINY(f32)
GEMM_WITH_TINY(f64)
GEMM(f16, f32)
GEMM(bf16, f32)
GEMM(c64, c64)
GEMM(c128, c128)
GEMM(u8, u8)
GEMM(u16, u16)
GEMM(u32, u32)
GEMM(u64, u64)

const st_gemm_fn ISA_NAME(st_gemms)[ST_NDTYPES] = {
    [ST_UINT8] = gemm_u8,    [ST_INT8] = gemm_u8,       [ST_INT16] = gemm_u16,     [ST_INT32] = gemm_u32,
    [ST_INT64] = gemm_u64,   [ST_FLOAT16] = gemm_f16,   [ST_BFLOAT16] = gemm_bf16, [ST_FLOAT32] = gemm_f32,
    [ST_FLOAT64] = gemm_f64, [ST_COMPLEX64] = gemm_c64, [ST_COMPLEX128] = gemm_c128,
    [ST_UINT16] = gemm_u16,  [ST_UINT32] = gemm_u32,    [ST_UINT64] = gemm_u64};
