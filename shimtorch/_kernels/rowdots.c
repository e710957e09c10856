/* Rows times a vector by gathering: the last entries of a row are masked, not looped over, because how many entries a
 * row has can't be predicted. Built for x86-64-v3, which serves v4 too. */
#include "base.h"
#include "rowdots.h"

#include <immintrin.h>

static const int32_t kept[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};

static void dots_f32(const int64_t *pointer, const int32_t *columns, const void *values, ptrdiff_t first,
                     ptrdiff_t last, ptrdiff_t longest, const void *dense, void *out) {
    const float *v = (const float *)values, *d = (const float *)dense;
    for (ptrdiff_t r = first; r < last; r++) {
        ptrdiff_t x = pointer[r];
        const ptrdiff_t end = pointer[r + 1];
        __m256 sums = _mm256_setzero_ps();
        if (end - x > longest) continue;
        for (; x + 8 <= end; x += 8) {
            const __m256i places = _mm256_loadu_si256((const __m256i *)(const void *)(columns + x));
            sums = _mm256_fmadd_ps(_mm256_loadu_ps(v + x), _mm256_i32gather_ps(d, places, 4), sums);
        }
        if (x < end) {
            const __m256i mask = _mm256_loadu_si256((const __m256i *)(const void *)(kept + 8 - (end - x)));
            const __m256i places = _mm256_maskload_epi32(columns + x, mask);
            const __m256 found = _mm256_mask_i32gather_ps(_mm256_setzero_ps(), d, places, _mm256_castsi256_ps(mask), 4);
            sums = _mm256_fmadd_ps(_mm256_maskload_ps(v + x, mask), found, sums);
        }
        __m128 s = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
        s = _mm_add_ps(s, _mm_movehl_ps(s, s));
        ((float *)out)[r] = _mm_cvtss_f32(_mm_add_ss(s, _mm_shuffle_ps(s, s, 1)));
    }
}

static void dots_f64(const int64_t *pointer, const int32_t *columns, const void *values, ptrdiff_t first,
                     ptrdiff_t last, ptrdiff_t longest, const void *dense, void *out) {
    const double *v = (const double *)values, *d = (const double *)dense;
    for (ptrdiff_t r = first; r < last; r++) {
        ptrdiff_t x = pointer[r];
        const ptrdiff_t end = pointer[r + 1];
        __m256d sums = _mm256_setzero_pd();
        if (end - x > longest) continue;
        for (; x + 4 <= end; x += 4) {
            const __m128i places = _mm_loadu_si128((const __m128i *)(const void *)(columns + x));
            sums = _mm256_fmadd_pd(_mm256_loadu_pd(v + x), _mm256_i32gather_pd(d, places, 8), sums);
        }
        if (x < end) {
            const __m128i some = _mm_loadu_si128((const __m128i *)(const void *)(kept + 8 - (end - x)));
            const __m256i mask = _mm256_cvtepi32_epi64(some);
            const __m128i places = _mm_maskload_epi32(columns + x, some);
            const __m256d found = _mm256_mask_i32gather_pd(_mm256_setzero_pd(), d, places, _mm256_castsi256_pd(mask), 8);
            sums = _mm256_fmadd_pd(_mm256_maskload_pd(v + x, mask), found, sums);
        }
        const __m128d s = _mm_add_pd(_mm256_castpd256_pd128(sums), _mm256_extractf128_pd(sums, 1));
        ((double *)out)[r] = _mm_cvtsd_f64(_mm_add_sd(s, _mm_unpackhi_pd(s, s)));
    }
}

st_row_dots st_row_dots_v3(int dtype) {
    return dtype == ST_FLOAT32 ? dots_f32 : dtype == ST_FLOAT64 ? dots_f64 : NULL;
}
