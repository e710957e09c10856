/* The matrix products of the BLAS that NumPy brought into the process, without NumPy's calls around them. */
#ifndef SHIMTORCH_KERNELS_BLAS_H
#define SHIMTORCH_KERNELS_BLAS_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <dlfcn.h>
#include <link.h>
#elif defined(__APPLE__)
#include <dlfcn.h>
#include <mach-o/dyld.h>
#elif defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#endif

enum { ST_ROW_MAJOR = 101, ST_NO_TRANS = 111, ST_TRANS = 112 };

/* [float32, float64, complex64, complex128]; NULL where none was found */
static void *st_blas_gemms[4], *st_blas_gemvs[4];
static int st_blas_wide; /* its integers have 64 bits */

/* ---- finding it among the libraries that are loaded ---- */

#if defined(__linux__) || defined(__APPLE__)
static void *st_blas_symbol(void *library, const char *name) { return dlsym(library, name); }
#elif defined(_WIN32)
static void *st_blas_symbol(void *library, const char *name) {
    return (void *)GetProcAddress((HMODULE)library, name);
}
#else
static void *st_blas_symbol(void *library, const char *name) {
    (void)library;
    (void)name;
    return NULL;
}
#endif

static int st_blas_take(void *library, const char *prefix, const char *suffix) {
    void *found[8];
    for (int i = 0; i < 8; i++) {
        char name[48];
        const char letter[2] = {"sdcz"[i & 3], 0};
        strcpy(name, prefix);
        strcat(name, letter);
        strcat(name, i < 4 ? "gemm" : "gemv");
        strcat(name, suffix);
        found[i] = st_blas_symbol(library, name);
        if (found[i] == NULL) return 0;
    }
    memcpy(st_blas_gemms, found, sizeof st_blas_gemms);
    memcpy(st_blas_gemvs, found + 4, sizeof st_blas_gemvs);
    st_blas_wide = suffix[0] != 0;
    return 1;
}

/* Whether a library that is loaded is a BLAS; a suffix says that its integers have 64 bits. */
static int st_blas_look(void *library) {
    return st_blas_take(library, "scipy_cblas_", "64_") || st_blas_take(library, "cblas_", "64_") ||
           st_blas_take(library, "scipy_cblas_", "") || st_blas_take(library, "cblas_", "");
}

#if defined(__linux__)
static int st_blas_visit(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    if (info->dlpi_name == NULL || strstr(info->dlpi_name, "blas") == NULL) return 0;
    void *library = dlopen(info->dlpi_name, RTLD_NOLOAD | RTLD_NOW);
    return library != NULL && st_blas_look(library);
}

static int st_blas_search(void) { return dl_iterate_phdr(st_blas_visit, NULL); }
#elif defined(__APPLE__)
static int st_blas_search(void) {
    for (uint32_t i = 0; i < _dyld_image_count(); i++) {
        const char *name = _dyld_get_image_name(i);
        if (name == NULL || (strstr(name, "openblas") == NULL && strstr(name, "libBLAS") == NULL)) continue;
        void *library = dlopen(name, RTLD_NOLOAD | RTLD_NOW);
        if (library != NULL && st_blas_look(library)) return 1;
    }
    return 0;
}
#elif defined(_WIN32)
static int st_blas_search(void) {
    HMODULE modules[1024];
    DWORD bytes = 0;
    if (!K32EnumProcessModules(GetCurrentProcess(), modules, sizeof modules, &bytes)) return 0;
    for (DWORD i = 0; i < bytes / sizeof modules[0] && i < 1024; i++)
        if (st_blas_look((void *)modules[i])) return 1;
    return 0;
}
#else
static int st_blas_search(void) { return 0; }
#endif

/* SHIMTORCH_BLAS=none in the environment: do without, as where none is found. */
static int st_blas_load(void) {
    const char *wish = getenv("SHIMTORCH_BLAS");
    return (wish == NULL || strcmp(wish, "none") != 0) && st_blas_search();
}

/* ---- calling it ---- */

#define ST_BLAS_ARGS(I, S) (int, int, int, I, I, I, S, const void *, I, const void *, I, S, void *, I)
#define ST_BLAS_V_ARGS(I, S) (int, int, I, I, S, const void *, I, const void *, I, S, void *, I)
#define ST_CALL_GEMM(I, S, alpha, beta)                                                                              \
    ((void(*) ST_BLAS_ARGS(I, S))st_blas_gemms[which])(ST_ROW_MAJOR, ta, tb, (I)m, (I)n, (I)k, alpha, a, (I)lda, b,  \
                                                       (I)ldb, beta, c, (I)ldc)
#define ST_CALL_GEMV(I, S, alpha, beta)                                                                              \
    ((void(*) ST_BLAS_V_ARGS(I, S))st_blas_gemvs[which])(ST_ROW_MAJOR, ta, (I)m, (I)n, alpha, a, (I)lda, x, (I)sx,   \
                                                         beta, y, (I)sy)
#define ST_BY_TYPE(CALL, I)                                                                                          \
    switch (which) {                                                                                                 \
    case 0: CALL(I, float, 1.0f, (add ? 1.0f : 0.0f)); break;                                                        \
    case 1: CALL(I, double, 1.0, (add ? 1.0 : 0.0)); break;                                                          \
    default: CALL(I, const void *, which == 2 ? (const void *)one_c : (const void *)one_z,                           \
                  !add ? (const void *)zero : which == 2 ? (const void *)one_c : (const void *)one_z);               \
    }

/* c = op(a) @ op(b), or c += ..., row-major: c is m x n; lines are lda, ldb, ldc elements apart */
static void st_blas_gemm(int which, int add, int ta, int tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const void *a,
                         ptrdiff_t lda, const void *b, ptrdiff_t ldb, void *c, ptrdiff_t ldc) {
    static const float one_c[2] = {1, 0};
    static const double one_z[2] = {1, 0}, zero[2] = {0, 0};
    if (st_blas_wide) ST_BY_TYPE(ST_CALL_GEMM, int64_t)
    else ST_BY_TYPE(ST_CALL_GEMM, int)
}

/* y = op(a) @ x, or y += ...; a is m x n in memory, row-major */
static void st_blas_gemv(int which, int add, int ta, ptrdiff_t m, ptrdiff_t n, const void *a, ptrdiff_t lda,
                         const void *x, ptrdiff_t sx, void *y, ptrdiff_t sy) {
    static const float one_c[2] = {1, 0};
    static const double one_z[2] = {1, 0}, zero[2] = {0, 0};
    if (st_blas_wide) ST_BY_TYPE(ST_CALL_GEMV, int64_t)
    else ST_BY_TYPE(ST_CALL_GEMV, int)
}

#endif
