/* Permutations and draws of indices by weight. */
#include "random_samplers.h"

#include <float.h>
#include <stdlib.h>

/* ---- permutation ---- */

/* below this length one word chooses each element, from it on two */
enum { LONG_PERMUTATION = 214748364 };

#define SHUFFLE(type)                                                                                                \
    do {                                                                                                             \
        type *r = (type *)(void *)out;                                                                               \
        if (n < LONG_PERMUTATION) {                                                                                  \
            for (ptrdiff_t i = 0; i < n; i++) r[i] = (type)i;                                                        \
            for (ptrdiff_t i = 0; i + 1 < n; i++) {                                                                  \
                const ptrdiff_t k = i + (ptrdiff_t)(draw_u32(rng) % (u32)(n - i));                                   \
                const type x = r[i];                                                                                 \
                r[i] = r[k];                                                                                         \
                r[k] = x;                                                                                            \
            }                                                                                                        \
        } else {                                                                                                     \
            for (ptrdiff_t i = 0; i < n; i++) {                                                                      \
                const ptrdiff_t k = (ptrdiff_t)(draw_u64(rng) % (u64)(i + 1));                                       \
                r[i] = (type)i;                                                                                      \
                r[i] = r[k];                                                                                         \
                r[k] = (type)i;                                                                                      \
            }                                                                                                        \
        }                                                                                                            \
        return ST_DRAW_OK;                                                                                           \
    } while (0)

int st_sample_permutation(st_rng *rng, const st_request *request, int style) {
    const ptrdiff_t n = request->n;
    char *out = request->out;
    (void)style;
    switch (request->dtype) {
    case ST_UINT8: SHUFFLE(u8);
    case ST_INT8: SHUFFLE(i8);
    case ST_INT16: SHUFFLE(i16);
    case ST_INT32: SHUFFLE(i32);
    case ST_INT64: SHUFFLE(i64);
    case ST_FLOAT32: SHUFFLE(f32);
    case ST_FLOAT64: SHUFFLE(f64);
    default: return ST_DRAW_NO_DTYPE;
    }
}

/* ---- multinomial ---- */

static void cast_all(int from, const void *a, int to, void *out, ptrdiff_t n) {
    st_convert(from, a, st_itemsize(from), to, out, st_itemsize(to), n);
}

/* x as the dtype holds it */
static f64 rounded(f64 x, int dtype) {
    if (dtype == ST_FLOAT64) return x;
    if (dtype == ST_FLOAT32) return (f64)(f32)x;
    u16 half;
    cast_all(ST_FLOAT64, &x, dtype, &half, 1);
    cast_all(dtype, &half, ST_FLOAT64, &x, 1);
    return x;
}

static int check_row(const f64 *p, ptrdiff_t n) {
    f64 sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (p[i] < 0.0) return ST_DRAW_NEGATIVE;
        if (!(p[i] <= DBL_MAX)) return ST_DRAW_NOT_FINITE;
        sum += p[i];
    }
    return sum > 0.0 ? ST_DRAW_OK : ST_DRAW_ZERO_SUM;
}

/* running sums over the total, each rounded to the precision; the last is 1 */
static void cumulate(f64 *p, ptrdiff_t n, int precision) {
    f64 sum = 0.0;
    for (ptrdiff_t i = 0; i < n; i++) p[i] = sum = rounded(sum + p[i], precision);
    for (ptrdiff_t i = 0; i < n; i++) p[i] = rounded(p[i] / sum, precision);
    p[n - 1] = 1.0;
}

/* index of the first running sum that is not below u */
static ptrdiff_t bisect(const f64 *cumulative, ptrdiff_t n, f64 u) {
    ptrdiff_t left = 0, right = n;
    while (right > left) {
        const ptrdiff_t middle = left + (right - left) / 2;
        if (cumulative[middle] < u)
            left = middle + 1;
        else
            right = middle;
    }
    return left < n ? left : n - 1;
}

/* take out the mass of one index, and rescale */
static void remove_mass(f64 *cumulative, ptrdiff_t n, ptrdiff_t index) {
    const f64 mass = index > 0 ? cumulative[index] - cumulative[index - 1] : cumulative[0];
    const f64 rest = 1.0 - mass;
    for (ptrdiff_t i = 0; i < n; i++) {
        if (i >= index) cumulative[i] -= mass;
        cumulative[i] /= rest;
    }
    cumulative[n - 1] = 1.0;
}

static void sample_by_bisection(st_rng *rng, i64 *out, f64 *p, ptrdiff_t n, ptrdiff_t n_samples, int replacement) {
    for (ptrdiff_t k = 0; k < n_samples; k++) {
        out[k] = bisect(p, n, draw_f53(rng));
        if (!replacement && k + 1 < n_samples) remove_mass(p, n, out[k]);
    }
}

/* ---- without replacement: the largest of weight over exponential number ---- */

typedef struct {
    f64 key;
    i64 index;
} st_scored;

/* whether a comes after b in descending order of keys; equal keys in ascending order of indices */
static int after(st_scored a, st_scored b) { return a.key < b.key || (a.key == b.key && a.index > b.index); }

/* restore the heap below k; its root comes last in descending order */
static void sift(st_scored *heap, ptrdiff_t n, ptrdiff_t k) {
    const st_scored item = heap[k];
    for (ptrdiff_t child; (child = 2 * k + 1) < n; k = child) {
        if (child + 1 < n && after(heap[child + 1], heap[child])) child++;
        if (!after(heap[child], item)) break;
        heap[k] = heap[child];
    }
    heap[k] = item;
}

static void sample_by_race(st_rng *rng, i64 *out, const f64 *p, ptrdiff_t n, ptrdiff_t n_samples, int dtype, int style,
                           st_scored *heap) {
    for (ptrdiff_t i = 0; i < n; i++) {
        const f64 u = draw_f53(rng);
        const f64 q = rounded(-1.0 * (style & ST_DRAW_1_X ? log(1.0 - u) : log1p(-u)), dtype);
        const st_scored scored = {rounded(p[i] / q, dtype), i};
        if (i < n_samples) {
            heap[i] = scored;
            if (i + 1 == n_samples)
                for (ptrdiff_t k = n_samples / 2; k-- > 0;) sift(heap, n_samples, k);
        } else if (after(heap[0], scored)) {
            heap[0] = scored;
            sift(heap, n_samples, 0);
        }
    }
    for (ptrdiff_t left = n_samples; left > 0; left--) {
        out[left - 1] = heap[0].index;
        heap[0] = heap[left - 1];
        sift(heap, left - 1, 0);
    }
}

int st_sample_multinomial(st_rng *rng, const st_request *r, int style) {
    const int old = (style & ST_DRAW_PLAIN) != 0;
    /* one sample is a race whether put back or not, but not so in 1.x */
    const int race = !old && (!r->replacement || (r->n_samples == 1 && !(style & ST_DRAW_1_X)));
    const ptrdiff_t n = r->n, row_bytes = n * st_itemsize(r->dtype);
    i64 *out = (i64 *)(void *)r->out;
    int status = ST_DRAW_OK;
    if (!is_float(r->dtype)) return ST_DRAW_NO_DTYPE;
    f64 *p = malloc((size_t)(n > 0 ? n : 1) * sizeof *p);
    st_scored *heap = race ? malloc((size_t)r->n_samples * sizeof *heap) : NULL;
    if (p == NULL || (race && heap == NULL)) status = ST_DRAW_NO_MEMORY;
    for (ptrdiff_t row = 0; row < r->n_rows && status == ST_DRAW_OK; row++) {
        cast_all(r->dtype, r->a + row * row_bytes, ST_FLOAT64, p, n);
        status = check_row(p, n);
    }
    for (ptrdiff_t row = 0; row < r->n_rows && status == ST_DRAW_OK; row++, out += r->n_samples) {
        cast_all(r->dtype, r->a + row * row_bytes, ST_FLOAT64, p, n);
        if (race) {
            sample_by_race(rng, out, p, n, r->n_samples, r->dtype, style, heap);
        } else {
            cumulate(p, n, old ? ST_FLOAT64 : r->dtype);
            sample_by_bisection(rng, out, p, n, r->n_samples, r->replacement);
        }
    }
    free(p);
    free(heap);
    return status;
}
