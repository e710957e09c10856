/* Names to codes, the choice of the instruction set, and the tables filled from it at first use. */
#include "base.h"
#include "conv.h"
#include "norm.h"
#include "optimise.h"
#include "pool.h"
#include "processor.h"
#include "steps.h"
#include "thin.h"

#include <stdlib.h>

typedef struct {
    const char *name;
    const st_entry *const *pointwise, *const *reductions, *const *rows; /* lists of families that end with NULL */
    const st_loop (*casts)[ST_NDTYPES], *copies;
    const st_gemm_fn *gemm, *thin;
    const st_steps_kernels *steps; /* float, double */
    const st_conv_kernels *convs; /* float, double */
    const st_pool_kernels *pools; /* float, double, int64 */
    const st_norm_kernels *norms; /* float, double */
    const st_step_fn (*optimisers)[ST_N_OPTIMISERS]; /* float, double */
    const st_nest_fn *nests;
    const st_small_fn *smalls;
} st_build;

/* ---- what each instruction set's library offers ---- */

#define DECLARE_FAMILY_(family, isa) extern const st_entry st_entries_##family##_##isa[];
#define LIST_FAMILY_(family, isa) st_entries_##family##_##isa,
#define POINTWISE_OF(X, isa)                                                                                         \
    X(unary_float, isa) X(unary_int, isa) X(unary_complex, isa) X(parametrised, isa) X(binary_float, isa)            \
    X(binary_int, isa) X(binary_complex, isa) X(compare, isa) X(ternary, isa) X(special, isa)
#define REDUCTIONS_OF(X, isa) X(reduce_sum, isa) X(reduce_order, isa) X(reduce_moment, isa)
#define ROWS_OF(X, isa) X(rows_scan, isa) X(rows_softmax, isa)
#define BUILD(isa, title)                                                                                            \
    POINTWISE_OF(DECLARE_FAMILY_, isa)                                                                               \
    REDUCTIONS_OF(DECLARE_FAMILY_, isa)                                                                              \
    ROWS_OF(DECLARE_FAMILY_, isa)                                                                                    \
    extern const st_loop st_casts_##isa[ST_NDTYPES][ST_NDTYPES];                                                     \
    extern const st_loop st_copies_##isa[ST_NDTYPES];                                                                \
    extern const st_gemm_fn st_gemms_##isa[ST_NDTYPES];                                                              \
    extern const st_gemm_fn st_thins_##isa[ST_NDTYPES];                                                              \
    extern const st_steps_kernels st_steps_##isa[2];                                                                 \
    extern const st_conv_kernels st_convs_##isa[2];                                                                  \
    extern const st_pool_kernels st_pools_##isa[3];                                                                  \
    extern const st_norm_kernels st_norms_##isa[2];                                                                  \
    extern const st_step_fn st_step_fns_##isa[2][ST_N_OPTIMISERS];                                                   \
    extern const st_nest_fn st_nests_##isa[ST_NDTYPES];                                                              \
    extern const st_small_fn st_smalls_##isa[ST_NDTYPES];                                                            \
    static const st_entry *const pointwise_##isa[] = {POINTWISE_OF(LIST_FAMILY_, isa) NULL};                         \
    static const st_entry *const reductions_##isa[] = {REDUCTIONS_OF(LIST_FAMILY_, isa) NULL};                       \
    static const st_entry *const rows_##isa[] = {ROWS_OF(LIST_FAMILY_, isa) NULL};                                   \
    static const st_build build_##isa = {title,          pointwise_##isa, reductions_##isa, rows_##isa,              \
                                         st_casts_##isa, st_copies_##isa, st_gemms_##isa,   st_thins_##isa,          \
                                         st_steps_##isa, st_convs_##isa,  st_pools_##isa,   st_norms_##isa,          \
                                         st_step_fns_##isa, st_nests_##isa, st_smalls_##isa};

BUILD(baseline, "baseline")
#ifdef ST_HAVE_V3
BUILD(v3, "x86-64-v3")
#endif
#ifdef ST_HAVE_V4
BUILD(v4, "x86-64-v4")
#endif

/* ---- choice ---- */

/* builds this processor can run, best first */
static int runnable(const st_build **builds) {
    int n = 0;
#ifdef ST_HAVE_V4
    if (st_x86_level() >= 4) builds[n++] = &build_v4;
#endif
#ifdef ST_HAVE_V3
    if (st_x86_level() >= 3) builds[n++] = &build_v3;
#endif
    builds[n++] = &build_baseline;
    return n;
}

static const st_build *choose(void) {
    const st_build *builds[3];
    const int n = runnable(builds);
    const char *wanted = getenv("SHIMTORCH_ISA");
    for (int i = 0; wanted != NULL && i < n; i++)
        if (strcmp(builds[i]->name, wanted) == 0) return builds[i];
    return builds[0];
}

/* ---- tables ---- */

static st_loop loops[ST_N_OPS][ST_NDTYPES];
static st_reduce reductions[ST_N_REDUCTIONS][ST_NDTYPES];
static st_rows rows[ST_N_ROW_OPS][ST_NDTYPES];
static const st_build *chosen;

#define FILL(families, table, type)                                                       \
    for (const st_entry *const *family = (families); *family != NULL; family++)           \
        for (const st_entry *e = *family; e->op >= 0; e++) table[e->op][e->dtype] = (type)e->fn

/* Threads that meet here first write the same values, and `chosen` only after them. */
static const st_build *tables(void) {
    const st_build *build = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    if (build != NULL) return build;
    build = choose();
    FILL(build->pointwise, loops, st_loop);
    FILL(build->reductions, reductions, st_reduce);
    FILL(build->rows, rows, st_rows);
    __atomic_store_n(&chosen, build, __ATOMIC_RELEASE);
    return build;
}

#define NAME(name) #name,
#define REDUCTION_NAME(name, out) #name,
#define REDUCTION_OUT(name, out) #out,
static const char *const op_names[] = {ST_POINTWISE(NAME)};
static const char *const reduction_names[] = {ST_REDUCTIONS(REDUCTION_NAME)};
static const char *const reduction_outs[] = {ST_REDUCTIONS(REDUCTION_OUT)};
static const char *const row_names[] = {ST_ROW_OPS(NAME)};

static int code_of(const char *name, const char *const *names, int n) {
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static int valid(int op, int n_ops, int dtype) { return op >= 0 && op < n_ops && dtype >= 0 && dtype < ST_NDTYPES; }

/* ---- public ---- */

const char *st_isa(void) { return tables()->name; }

int st_op(const char *name) { return code_of(name, op_names, ST_N_OPS); }

const char *st_op_name(int op) { return op >= 0 && op < ST_N_OPS ? op_names[op] : NULL; }

st_loop st_find(int op, int dtype) {
    tables();
    return valid(op, ST_N_OPS, dtype) ? loops[op][dtype] : NULL;
}

st_loop st_cast(int from, int to) {
    if (!valid(from, ST_NDTYPES, to)) return NULL;
    return from == to ? tables()->copies[from] : tables()->casts[from][to];
}

int st_reduce_op(const char *name) { return code_of(name, reduction_names, ST_N_REDUCTIONS); }

st_reduce st_find_reduce(int op, int dtype) {
    tables();
    return valid(op, ST_N_REDUCTIONS, dtype) ? reductions[op][dtype] : NULL;
}

int st_reduce_dtype(int op, int dtype) {
    if (st_find_reduce(op, dtype) == NULL) return -1;
    const int is_float = dtype >= ST_FLOAT16 && dtype <= ST_COMPLEX128;
    switch (reduction_outs[op][0]) {
    case 'I': return is_float ? dtype : ST_INT64;
    case 'A': return ST_INT64;
    case 'B': return ST_BOOL;
    case 'R': return dtype == ST_COMPLEX64 ? ST_FLOAT32 : dtype == ST_COMPLEX128 ? ST_FLOAT64 : dtype;
    default: return dtype;
    }
}

int st_rows_op(const char *name) { return code_of(name, row_names, ST_N_ROW_OPS); }

st_rows st_find_rows(int op, int dtype) {
    tables();
    return valid(op, ST_N_ROW_OPS, dtype) ? rows[op][dtype] : NULL;
}

int st_gemm(int dtype, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const char *a, ptrdiff_t sa_row, ptrdiff_t sa_col,
            const char *b, ptrdiff_t sb_row, ptrdiff_t sb_col, char *c, ptrdiff_t sc_row, ptrdiff_t sc_col) {
    const st_gemm_fn gemm = valid(dtype, ST_NDTYPES, 0) ? tables()->gemm[dtype] : NULL;
    if (gemm == NULL) return ST_NOT_IMPLEMENTED;
    const ptrdiff_t sa[2] = {sa_row, sa_col}, sb[2] = {sb_row, sb_col}, sc[2] = {sc_row, sc_col};
    if (!st_gemm_is_thin(dtype, m, n, k)) return gemm(m, n, k, a, sa, b, sb, c, sc);
    const st_gemm_fn thin = tables()->thin[dtype];
    if (n <= m) return thin(m, n, k, a, sa, b, sb, c, sc);
    const ptrdiff_t at[2] = {sa_col, sa_row}, bt[2] = {sb_col, sb_row}, ct[2] = {sc_col, sc_row};
    return thin(n, m, k, b, bt, a, at, c, ct); /* the transpose is the product of the transposes */
}

const st_steps_kernels *st_find_steps(int dtype) {
    return dtype == ST_FLOAT32 ? tables()->steps : dtype == ST_FLOAT64 ? tables()->steps + 1 : NULL;
}

const st_conv_kernels *st_find_conv(int dtype) {
    return dtype == ST_FLOAT32 ? tables()->convs : dtype == ST_FLOAT64 ? tables()->convs + 1 : NULL;
}

const st_pool_kernels *st_find_pool(int dtype) {
    const st_pool_kernels *pools = tables()->pools;
    return dtype == ST_FLOAT32 ? pools : dtype == ST_FLOAT64 ? pools + 1 : dtype == ST_INT64 ? pools + 2 : NULL;
}

const st_norm_kernels *st_find_norm(int dtype) {
    return dtype == ST_FLOAT32 ? tables()->norms : dtype == ST_FLOAT64 ? tables()->norms + 1 : NULL;
}

st_step_fn st_find_step(int optimiser, int dtype) {
    if (optimiser < 0 || optimiser >= ST_N_OPTIMISERS || (dtype != ST_FLOAT32 && dtype != ST_FLOAT64)) return NULL;
    return tables()->optimisers[dtype == ST_FLOAT64][optimiser];
}

st_nest_fn st_find_nest(int dtype) { return valid(dtype, ST_NDTYPES, 0) ? tables()->nests[dtype] : NULL; }

st_small_fn st_find_small(int dtype) { return valid(dtype, ST_NDTYPES, 0) ? tables()->smalls[dtype] : NULL; }
