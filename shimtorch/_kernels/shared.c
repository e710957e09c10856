/* Pointwise loops, rows and plain memory shared among threads. Reductions are in shared_reduce.c. */
#include "shared.h"

#include "move.h"
#include "parallel.h"

#include <string.h>

enum {
    LENGTH = 1 << 14,   /* elements of an inner loop that are run at once: whole blocks of the kernels */
    ROW_BLOCK = 64,     /* rows side by side that the kernels take at once */
    STRETCH = 1 << 17   /* bytes of plain memory that are worth a thread */
};

/* ---- loops: a task is one block of one inner loop ---- */

typedef struct {
    st_loop loop;
    int operands, ndim, status;
    const ptrdiff_t *shape, *strides;
    char *const *ptrs;
    const void *param;
    ptrdiff_t blocks, length; /* of an inner loop */
} nest;

static void run_nest(void *context, ptrdiff_t begin, ptrdiff_t end) {
    nest *const c = (nest *)context;
    ptrdiff_t counter[ST_LOOP_DIMS], inner[ST_LOOP_OPERANDS], block = begin % c->blocks, place = begin / c->blocks;
    char *p[ST_LOOP_OPERANDS], *q[ST_LOOP_OPERANDS];
    int status = ST_OK;

    for (int k = 0; k < c->operands; k++) {
        p[k] = c->ptrs[k];
        inner[k] = c->strides[k * ST_LOOP_DIMS];
    }
    for (int i = 1; i < c->ndim; place /= c->shape[i++]) {
        counter[i] = place % c->shape[i];
        for (int k = 0; k < c->operands; k++) p[k] += counter[i] * c->strides[k * ST_LOOP_DIMS + i];
    }
    for (; begin < end; begin++) {
        const ptrdiff_t start = block * c->length, left = c->shape[0] - start;
        for (int k = 0; k < c->operands; k++) q[k] = p[k] + start * inner[k];
        status |= c->loop(q, inner, left < c->length ? left : c->length, c->param);
        if (++block < c->blocks) continue;
        block = 0;
        for (int i = 1; i < c->ndim; i++) {
            const ptrdiff_t back = ++counter[i] < c->shape[i] ? 0 : c->shape[i];
            for (int k = 0; k < c->operands; k++) p[k] += (1 - back) * c->strides[k * ST_LOOP_DIMS + i];
            if (back == 0) break;
            counter[i] = 0;
        }
    }
    if (status != ST_OK) __atomic_fetch_or(&c->status, status, __ATOMIC_RELAXED);
}

/* An output that repeats an element is written in order. */
static int repeats(const nest *c) {
    for (int i = 0; i < c->ndim; i++)
        if (c->strides[i] == 0 && c->shape[i] > 1) return 1;
    return 0;
}

int st_shared_loop(st_loop loop, int operands, int ndim, const ptrdiff_t *shape, const ptrdiff_t *strides,
                   char *const *ptrs, const void *param) {
    nest c = {loop, operands, ndim, ST_OK, shape, strides, ptrs, param, 1, shape[0]};
    ptrdiff_t places = 1;
    for (int i = 1; i < ndim; i++) places *= shape[i];
    if (places * shape[0] < ST_SHARED_FROM || repeats(&c)) {
        run_nest(&c, 0, places);
        return c.status;
    }
    if (shape[0] > LENGTH) {
        c.length = LENGTH;
        c.blocks = (shape[0] + LENGTH - 1) / LENGTH;
    }
    st_parallel(places * c.blocks, (ST_GRAIN + c.length - 1) / c.length, run_nest, &c);
    return c.status;
}

int st_shared_flat(st_loop loop, int operands, ptrdiff_t n, const ptrdiff_t *strides, char *const *ptrs,
                   const void *param) {
    ptrdiff_t spread[ST_LOOP_OPERANDS * ST_LOOP_DIMS];
    for (int k = 0; k < operands; k++) spread[k * ST_LOOP_DIMS] = strides[k];
    return st_shared_loop(loop, operands, 1, &n, spread, ptrs, param);
}

/* ---- rows: a task is a block of rows at one of the outer places ---- */

typedef struct {
    st_rows kernel;
    int operands, status;
    char *const *ptrs;
    const ptrdiff_t *row_strides, *col_strides;
    ptrdiff_t outer_step, n_rows, n_cols, blocks, length;
} rows;

static void run_rows(void *context, ptrdiff_t begin, ptrdiff_t end) {
    rows *const c = (rows *)context;
    char *p[ST_LOOP_OPERANDS];
    int status = ST_OK;
    for (; begin < end; begin++) {
        const ptrdiff_t start = begin % c->blocks * c->length, left = c->n_rows - start;
        for (int k = 0; k < c->operands; k++)
            p[k] = c->ptrs[k] + begin / c->blocks * c->outer_step + start * c->row_strides[k];
        status |= c->kernel(p, c->row_strides, c->col_strides, left < c->length ? left : c->length, c->n_cols);
    }
    if (status != ST_OK) __atomic_fetch_or(&c->status, status, __ATOMIC_RELAXED);
}

int st_shared_rows(st_rows kernel, int operands, char *const *ptrs, const ptrdiff_t *row_strides,
                   const ptrdiff_t *col_strides, ptrdiff_t n_outer, ptrdiff_t outer_step, ptrdiff_t n_rows,
                   ptrdiff_t n_cols) {
    rows c = {kernel, operands, ST_OK, ptrs, row_strides, col_strides, outer_step, n_rows, n_cols, 1, n_rows};
    if (n_outer * n_rows * n_cols < ST_SHARED_FROM) {
        run_rows(&c, 0, n_outer);
        return c.status;
    }
    const ptrdiff_t fitting = ST_GRAIN / 4 / n_cols / ROW_BLOCK * ROW_BLOCK;
    c.length = fitting < ROW_BLOCK ? ROW_BLOCK : fitting;
    c.blocks = (n_rows + c.length - 1) / c.length;
    if (n_outer * c.blocks < 8 && n_cols >= ST_GRAIN / 8) { /* a few long rows */
        c.length = 1;
        c.blocks = n_rows;
    }
    const ptrdiff_t task = (n_rows < c.length ? n_rows : c.length) * n_cols;
    st_parallel(n_outer * c.blocks, (ST_GRAIN + task - 1) / task, run_rows, &c);
    return c.status;
}

/* ---- plain memory ---- */

typedef struct {
    char *to;
    const char *from;
    size_t bytes;
} stretch;

static void run_stretch(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const stretch *const c = (const stretch *)context;
    const size_t start = (size_t)begin * STRETCH, last = (size_t)end * STRETCH;
    const size_t stop = last < c->bytes ? last : c->bytes;
    if (c->from != NULL) st_move(c->to + start, c->from + start, stop - start);
    else memset(c->to + start, 0, stop - start);
}

static void share_stretch(stretch c) {
    st_parallel((ptrdiff_t)((c.bytes + STRETCH - 1) / STRETCH), 1, run_stretch, &c);
}

void st_shared_copy(void *to, const void *from, size_t bytes) {
    share_stretch((stretch){(char *)to, (const char *)from, bytes});
}

void st_shared_zero(void *to, size_t bytes) { share_stretch((stretch){(char *)to, NULL, bytes}); }

typedef struct {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    size_t bytes;
} lines;

static void copy_lines(void *context, ptrdiff_t begin, ptrdiff_t end) {
    const lines *const c = (const lines *)context;
    for (; begin < end; begin++) st_move(c->to + begin * c->to_step, c->from + begin * c->from_step, c->bytes);
}

void st_shared_copy_rows(char *to, ptrdiff_t to_step, const char *from, ptrdiff_t from_step, ptrdiff_t n,
                         size_t bytes) {
    lines c = {to, from, to_step, from_step, bytes};
    if (n == 1) st_shared_copy(to, from, bytes);
    else if (bytes > 0) st_parallel(n, (ptrdiff_t)(STRETCH / bytes) + 1, copy_lines, &c);
}
