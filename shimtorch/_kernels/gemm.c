/* Products of matrices of any strides and any dtype but bool.
 *
 * Meant for what BLAS does not do (integers, half precision) or does slowly (matrices of a few dozen rows, where the
 * call costs more than the product). Blocks of both operands are packed into the shape the inner loop wants: MR rows of
 * a by NR columns of b, padded with zeros, whose MR * NR sums stay in registers. */
#include "complexmath.h"
#include "loops.h"
#include "vecmath.h"

enum { MR = 4, MC = 32, KC = 128 };

#define PRODUCT(t, x, y, sum) MADD(x, y, sum)
#define INT_PRODUCT(t, x, y, sum) (t)((sum) + (x) * (y))
#define COMPLEX_PRODUCT(t, x, y, sum) ((sum) + cmul_##t(x, y))

/* NR: two vectors wide for the real types */
#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif

#define PACK_AND_MULTIPLY(t, NR, MUL_ADD)                                                                            \
    enum { NR_##t = NR };                                                                                            \
    /* mr x kc of a, or nr x kc of transposed b: width W, element (i, k) at out[k * W + i] */                        \
    static ST_OUTLINED void pack_##t(t *out, ptrdiff_t width, ptrdiff_t n, ptrdiff_t depth, const char *a,           \
                                     ptrdiff_t s, ptrdiff_t s_depth, int kind) {                                     \
        t line[KC];                                                                                                  \
        if (kind <= 16 && s == (ptrdiff_t)sizeof(t)) {                                                               \
            for (ptrdiff_t k = 0; k < depth; k++, out += width, a += s_depth) {                                      \
                const t *v = (const t *)(const void *)a;                                                             \
                for (ptrdiff_t i = 0; i < n; i++) out[i] = v[i];                                                     \
                for (ptrdiff_t i = n; i < width; i++) out[i] = 0;                                                    \
            }                                                                                                        \
            return;                                                                                                  \
        }                                                                                                            \
        for (ptrdiff_t i = 0; i < width; i++) {                                                                      \
            if (i < n) st_load(kind, (char *)line, a + i * s, s_depth, depth);                                       \
            for (ptrdiff_t k = 0; k < depth; k++) out[k * width + i] = i < n ? line[k] : 0;                          \
        }                                                                                                            \
    }                                                                                                                \
    static ST_OUTLINED void tile_##t(t *restrict sums, const t *restrict a, const t *restrict b, ptrdiff_t depth) {  \
        t acc[MR][NR_##t];                                                                                           \
        for (int i = 0; i < MR; i++)                                                                                 \
            for (int j = 0; j < NR_##t; j++) acc[i][j] = sums[i * NR_##t + j];                                       \
        for (ptrdiff_t k = 0; k < depth; k++, a += MR, b += NR_##t)                                                  \
            for (int i = 0; i < MR; i++)                                                                             \
                for (int j = 0; j < NR_##t; j++) acc[i][j] = MUL_ADD(t, a[i], b[j], acc[i][j]);                      \
        for (int i = 0; i < MR; i++)                                                                                 \
            for (int j = 0; j < NR_##t; j++) sums[i * NR_##t + j] = acc[i][j];                                       \
    }                                                                                                                \
    static ST_OUTLINED int gemm_kind_##t(int kind, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a,             \
                                         const ptrdiff_t *sa, const char *b, const ptrdiff_t *sb, char *c,           \
                                         const ptrdiff_t *sc) {                                                      \
        _Alignas(64) t a_pack[MC * KC], b_pack[KC * NR_##t], sums[MC * NR_##t];                                      \
        for (ptrdiff_t i0 = 0; i0 < m; i0 += MC) {                                                                   \
            const ptrdiff_t mc = m - i0 < MC ? m - i0 : MC;                                                          \
            for (ptrdiff_t j0 = 0; j0 < n; j0 += NR_##t) {                                                           \
                const ptrdiff_t nr = n - j0 < NR_##t ? n - j0 : NR_##t;                                              \
                for (ptrdiff_t i = 0; i < MC * NR_##t; i++) sums[i] = 0;                                             \
                for (ptrdiff_t k0 = 0; k0 < k; k0 += KC) {                                                           \
                    const ptrdiff_t kc = k - k0 < KC ? k - k0 : KC;                                                  \
                    pack_##t(b_pack, NR_##t, nr, kc, b + k0 * sb[0] + j0 * sb[1], sb[1], sb[0], kind);               \
                    for (ptrdiff_t i = 0; i < mc; i += MR) {                                                         \
                        if (j0 == 0 || k > KC)                                                                       \
                            pack_##t(a_pack + i * KC, MR, mc - i < MR ? mc - i : MR, kc,                             \
                                     a + (i0 + i) * sa[0] + k0 * sa[1], sa[0], sa[1], kind);                         \
                        tile_##t(sums + i * NR_##t, a_pack + i * KC, b_pack, kc);                                    \
                    }                                                                                                \
                }                                                                                                    \
                for (ptrdiff_t i = 0; i < mc; i++)                                                                   \
                    st_store(kind, c + (i0 + i) * sc[0] + j0 * sc[1], sc[1], (const char *)(sums + i * NR_##t), nr); \
            }                                                                                                        \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }
PACK_AND_MULTIPLY(f32, 2 * VECTOR_BYTES / 4, PRODUCT)
PACK_AND_MULTIPLY(f64, 2 * VECTOR_BYTES / 8, PRODUCT)
PACK_AND_MULTIPLY(c64, 4, COMPLEX_PRODUCT)
PACK_AND_MULTIPLY(c128, 4, COMPLEX_PRODUCT)
PACK_AND_MULTIPLY(u8, VECTOR_BYTES / 2, INT_PRODUCT)
PACK_AND_MULTIPLY(u16, VECTOR_BYTES, INT_PRODUCT)
PACK_AND_MULTIPLY(u32, 2 * VECTOR_BYTES / 4, INT_PRODUCT)
PACK_AND_MULTIPLY(u64, 2 * VECTOR_BYTES / 8, INT_PRODUCT)

#define GEMM(m, t)                                                                                                   \
    static int gemm_##m(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t k, const char *a, const ptrdiff_t *sa,             \
                        const char *b, const ptrdiff_t *sb, char *c, const ptrdiff_t *sc) {                          \
        return gemm_kind_##t(KIND_##m[0], rows, cols, k, a, sa, b, sb, c, sc);                                       \
    }
GEMM(f32, f32)
GEMM(f64, f64)
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
