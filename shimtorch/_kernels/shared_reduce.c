/* Reductions shared among threads: by outputs, or where these are few in pieces of what is reduced.
 *
 * Pieces are reduced to partial results of the output's dtype, and these by a kernel that combines them. Half precision
 * would lose digits so: its sums and products are cut by outputs only. */
#include "shared.h"

#include "ops.h"
#include "parallel.h"

#include <stdlib.h>

enum {
    COLUMNS = 1024, /* outputs side by side that the kernels reduce at once */
    FEW = 8,       /* so few tasks are not enough: what is reduced is cut too */
    PIECE = 1 << 15
};

typedef struct {
    st_reduce kernel;
    char *out, *index;
    const char *a;
    ptrdiff_t n_red, s_red, s_out;
    int n_kept;
    const ptrdiff_t *kept, *kept_strides;
    const void *param;
    ptrdiff_t n, s_in, blocks, length; /* the innermost kept dimension, and its blocks */
    ptrdiff_t outputs, chunk;          /* all outputs; of the reduced elements, how many make a piece */
} reduction;

/* ---- by outputs: a task is a block of the innermost kept dimension ---- */

static void run_outputs(const reduction *c, ptrdiff_t begin, ptrdiff_t end) {
    for (; begin < end; begin++) {
        const ptrdiff_t place = begin / c->blocks, start = begin % c->blocks * c->length, left = c->n - start;
        const ptrdiff_t at = place * c->n + start;
        st_index_out index = {c->index + at * (ptrdiff_t)sizeof(int64_t), sizeof(int64_t)};
        const char *a = c->a + start * c->s_in;
        ptrdiff_t rest = place;
        for (int i = 1; i < c->n_kept; rest /= c->kept[i++]) a += rest % c->kept[i] * c->kept_strides[i];
        c->kernel(c->out + at * c->s_out, a, c->n_red, c->s_red, left < c->length ? left : c->length, c->s_in,
                  c->s_out, c->index != NULL ? &index : c->param);
    }
}

static void outputs_task(void *context, ptrdiff_t begin, ptrdiff_t end) {
    run_outputs((const reduction *)context, begin, end);
}

/* ---- in pieces: a task reduces a piece of every output; `out` and `index` have a line of outputs for each piece ---- */

static void pieces_task(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const reduction *const c = (const reduction *)context;
    for (; begin < end; begin++) {
        reduction piece = *c;
        const ptrdiff_t start = begin * c->chunk, left = c->n_red - start, line = begin * c->outputs;
        piece.a += start * c->s_red;
        piece.n_red = left < c->chunk ? left : c->chunk;
        piece.out += line * c->s_out;
        if (c->index != NULL) piece.index += line * (ptrdiff_t)sizeof(int64_t);
        run_outputs(&piece, 0, c->outputs / c->n);
    }
}

static const ptrdiff_t sizes[ST_NDTYPES] = {
    [ST_BOOL] = 1,    [ST_UINT8] = 1,    [ST_INT8] = 1,    [ST_INT16] = 2,   [ST_INT32] = 4,
    [ST_INT64] = 8,   [ST_FLOAT16] = 2,  [ST_BFLOAT16] = 2, [ST_FLOAT32] = 4, [ST_FLOAT64] = 8,
    [ST_COMPLEX64] = 8, [ST_COMPLEX128] = 16, [ST_UINT16] = 2, [ST_UINT32] = 4, [ST_UINT64] = 8};

/* The code of the op that kernel serves for dtype, or -1. */
static int op_of(st_reduce kernel, int dtype) {
    for (int op = 0; op < ST_N_REDUCTIONS; op++)
        if (st_find_reduce(op, dtype) == kernel) return op;
    return -1;
}

/* The op that makes one of the partial results of op; -1 where there is none. */
static int combining(int op, int dtype) {
    const int half = dtype == ST_FLOAT16 || dtype == ST_BFLOAT16;
    switch (op) {
    case ST_RED_sum:
    case ST_RED_sumsq:
    case ST_RED_sumabs:
    case ST_RED_norm_p: return half ? -1 : ST_RED_sum;
    case ST_RED_count_nonzero: return ST_RED_sum;
    case ST_RED_prod: return half ? -1 : ST_RED_prod;
    case ST_RED_max:
    case ST_RED_amax: return ST_RED_max;
    case ST_RED_min:
    case ST_RED_amin: return ST_RED_min;
    case ST_RED_argmax:
    case ST_RED_max_arg: return ST_RED_max_arg;
    case ST_RED_argmin:
    case ST_RED_min_arg: return ST_RED_min_arg;
    case ST_RED_any:
    case ST_RED_all: return op;
    default: return -1;
    }
}

int st_any_order(st_reduce kernel, int dtype) {
    const int op = op_of(kernel, dtype), combined = op < 0 ? -1 : combining(op, dtype);
    return combined != ST_RED_max_arg && combined != ST_RED_min_arg;
}

st_reduce st_combining(st_reduce kernel, int dtype) {
    const int op = op_of(kernel, dtype), combined = op < 0 ? -1 : combining(op, dtype);
    return combined < 0 ? NULL : st_find_reduce(combined, st_reduce_dtype(op, dtype));
}

/* Whether it was done: not where the kernel's results can't be combined, or without memory. */
static int in_pieces(const reduction *c, int dtype) {
    const int op = op_of(c->kernel, dtype), combined = op < 0 ? -1 : combining(op, dtype);
    const int only_index = op == ST_RED_argmax || op == ST_RED_argmin;
    if (combined < 0 || (c->index != NULL) != (op == ST_RED_max_arg || op == ST_RED_min_arg)) return 0;
    reduction parts = *c;
    const ptrdiff_t share = (PIECE / c->outputs + 1023) / 1024 * 1024, m = c->outputs;
    parts.chunk = share < 1024 ? 1024 : share;
    const ptrdiff_t pieces = (c->n_red + parts.chunk - 1) / parts.chunk;
    if (pieces < 2) return 0;
    const int indexed = only_index || c->index != NULL;
    const size_t most = sizeof(int64_t) * 2; /* bytes of an element of any dtype, and more than those of an index */
    char *memory = (char *)malloc((size_t)(pieces + 1) * (size_t)m * most * 2);
    if (memory == NULL) return 0;

    const int partial = only_index ? dtype : st_reduce_dtype(op, dtype);
    const ptrdiff_t size = only_index || indexed ? sizes[dtype] : c->s_out;
    parts.kernel = indexed ? st_find_reduce(combined, dtype) : c->kernel;
    parts.s_out = size;
    parts.out = memory;
    parts.index = indexed ? memory + (size_t)(pieces + 1) * (size_t)m * most : NULL;
    parts.blocks = 1;
    parts.length = c->n;
    st_parallel(pieces, 1, pieces_task, &parts);
    if (!indexed) {
        st_find_reduce(combined, partial)(c->out, memory, pieces, m * size, m, size, c->s_out, NULL);
    } else {
        const int64_t *places = (const int64_t *)(const void *)parts.index;
        int64_t *best = (int64_t *)(void *)(parts.index + pieces * m * (ptrdiff_t)sizeof(int64_t));
        int64_t *index = (int64_t *)(void *)(only_index ? c->out : c->index);
        char *values = only_index ? memory + pieces * m * size : c->out;
        st_index_out winners = {(char *)best, sizeof(int64_t)};
        parts.kernel(values, memory, pieces, m * size, m, size, size, &winners);
        for (ptrdiff_t j = 0; j < m; j++) index[j] = best[j] * parts.chunk + places[best[j] * m + j];
    }
    free(memory);
    return 1;
}

void st_shared_reduce(st_reduce kernel, int dtype, char *out, ptrdiff_t s_out, const char *a, ptrdiff_t n_red,
                      ptrdiff_t s_red, int n_kept, const ptrdiff_t *kept, const ptrdiff_t *kept_strides,
                      const void *param, char *index) {
    reduction c = {kernel, out, index, a, n_red, s_red, s_out, n_kept, kept, kept_strides, param,
                   n_kept ? kept[0] : 1, n_kept ? kept_strides[0] : 0, 1, n_kept ? kept[0] : 1, 1, 0};
    ptrdiff_t places = 1;
    for (int i = 1; i < n_kept; i++) places *= kept[i];
    c.outputs = places * c.n;
    if (c.outputs * n_red < ST_SHARED_FROM) {
        run_outputs(&c, 0, places);
        return;
    }
    const ptrdiff_t step_red = s_red < 0 ? -s_red : s_red, step_out = c.s_in < 0 ? -c.s_in : c.s_in;
    const ptrdiff_t side_by_side = step_out < step_red || n_red < 16 ? COLUMNS : 1, fitting = ST_GRAIN / 4 / n_red;
    c.length = fitting < side_by_side ? side_by_side : fitting / side_by_side * side_by_side;
    c.blocks = (c.n + c.length - 1) / c.length;
    if (places * c.blocks < FEW && in_pieces(&c, dtype)) return;
    const ptrdiff_t task = (c.n < c.length ? c.n : c.length) * n_red;
    st_parallel(places * c.blocks, (ST_GRAIN + task - 1) / task, outputs_task, &c);
}
