/* How a pointwise op becomes an st_loop.
 *
 * An op is written once, as a kernel over contiguous arrays, which the compiler vectorises. Everything else (strides,
 * broadcast scalars, half precision, complex storage) is served by st_blocked, which moves blocks of operands through
 * small buffers around that one kernel. So an op costs one loop per element type in the binary.
 *
 * Kernels are named k_<op>_<type>, loops l_<op>_<type>. */
#ifndef SHIMTORCH_KERNELS_LOOPS_H
#define SHIMTORCH_KERNELS_LOOPS_H

#include "base.h"

#define st_blocked ISA_NAME(st_blocked)
#define st_load ISA_NAME(st_load)
#define st_store ISA_NAME(st_store)

typedef int (*st_kernel)(char *const *p, ptrdiff_t n, const void *param);

/* How an operand lies in memory and in the kernel: its size in bytes where both agree, else one of these. */
#define KIND_F16 0x20      /* float16 in memory, float32 in the kernel */
#define KIND_BF16 0x21     /* bfloat16 in memory, float32 in the kernel */
#define KIND_C64_REAL 0x22 /* output: complex64 in memory, its real part in the kernel, imaginary part 0 */
#define KIND_C128_REAL 0x23
#define KIND_U8_I32 0x24   /* input: a narrow integer in memory, a wider one in the kernel */
#define KIND_I8_I32 0x25
#define KIND_U16_I32 0x26
#define KIND_I16_I32 0x27
#define KIND_U8_I64 0x28
#define KIND_I8_I64 0x29
#define KIND_U16_I64 0x2a
#define KIND_I16_I64 0x2b
#define KIND_U32_I64 0x2c
#define KIND_I32_I64 0x2d

/* One character per operand, output first; loops concatenate them. */
#define KIND_b8 "\x01"
#define KIND_u8 "\x01"
#define KIND_i8 "\x01"
#define KIND_u16 "\x02"
#define KIND_i16 "\x02"
#define KIND_u32 "\x04"
#define KIND_i32 "\x04"
#define KIND_u64 "\x08"
#define KIND_i64 "\x08"
#define KIND_f16 "\x20"
#define KIND_bf16 "\x21"
#define KIND_f32 "\x04"
#define KIND_f64 "\x08"
#define KIND_c64 "\x08"
#define KIND_c128 "\x10"

int st_blocked(st_kernel kernel, const char *kinds, char **p, const ptrdiff_t *s, ptrdiff_t n, const void *param);

/* n elements, s bytes apart in memory, to and from a buffer in the form the kernel has them */
void st_load(int kind, char *restrict buf, const char *a, ptrdiff_t s, ptrdiff_t n);
void st_store(int kind, char *o, ptrdiff_t s, const char *buf, ptrdiff_t n);

/* ---- kernels: u is the output's type, t the inputs' ---- */

/* never inlined: a loop calls it and hands it to st_blocked, and one copy is enough */
#define KERNEL_HEAD(op, t) \
    static ST_OUTLINED int k_##op##_##t(char *const *p, ptrdiff_t n, const void *param)

#define KERNEL1(op, t, u, EXPR)                                                                                      \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1];                                                                  \
        (void)param;                                                                                                 \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i];                                                                                        \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

#define KERNEL2(op, t, u, EXPR)                                                                                      \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                              \
        (void)param;                                                                                                 \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i], y = b[i];                                                                              \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

#define KERNEL3(op, t, u, EXPR)                                                                                      \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2],                              \
                *c = (const t *)(const void *)p[3];                                                                  \
        (void)param;                                                                                                 \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i], y = b[i], z = c[i];                                                                    \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

/* The same with parameters: SETUP declares them from `param` before the loop. */
#define KERNEL1P(op, t, u, SETUP, EXPR)                                                                              \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1];                                                                  \
        SETUP;                                                                                                       \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i];                                                                                        \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

#define KERNEL2P(op, t, u, SETUP, EXPR)                                                                              \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                              \
        SETUP;                                                                                                       \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i], y = b[i];                                                                              \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

#define KERNEL3P(op, t, u, SETUP, EXPR)                                                                              \
    KERNEL_HEAD(op, t) {                                                                                             \
        u *o = (u *)(void *)p[0];                                                                                    \
        const t *a = (const t *)(const void *)p[1], *b = (const t *)(const void *)p[2],                              \
                *c = (const t *)(const void *)p[3];                                                                  \
        SETUP;                                                                                                       \
        IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                    \
            const t x = a[i], y = b[i], z = c[i];                                                                    \
            o[i] = (EXPR);                                                                                           \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

/* ---- loops: m names the loop's dtype in memory, kt the type of the kernel that serves it ---- */

#define LOOP_HEAD(op, m)                                                                                             \
    static int l_##op##_##m(char **p, const ptrdiff_t *s, ptrdiff_t n, const void *param)

#define LOOP1(op, m, kt, u)                                                                                          \
    LOOP_HEAD(op, m) {                                                                                               \
        if (s[0] == sizeof(u) && s[1] == sizeof(kt)) return k_##op##_##kt(p, n, param);                              \
        return st_blocked(k_##op##_##kt, KIND_##u KIND_##m, p, s, n, param);                                         \
    }

#define LOOP2(op, m, kt, u)                                                                                          \
    LOOP_HEAD(op, m) {                                                                                               \
        if (s[0] == sizeof(u) && s[1] == sizeof(kt) && s[2] == sizeof(kt)) return k_##op##_##kt(p, n, param);        \
        return st_blocked(k_##op##_##kt, KIND_##u KIND_##m KIND_##m, p, s, n, param);                                \
    }

#define LOOP3(op, m, kt, u)                                                                                          \
    LOOP_HEAD(op, m) {                                                                                               \
        if (s[0] == sizeof(u) && s[1] == sizeof(kt) && s[2] == sizeof(kt) && s[3] == sizeof(kt))                     \
            return k_##op##_##kt(p, n, param);                                                                       \
        return st_blocked(k_##op##_##kt, KIND_##u KIND_##m KIND_##m KIND_##m, p, s, n, param);                       \
    }

/* float16 and bfloat16 have no contiguous case: every block is converted */
#define HALF1(op, m, u) \
    LOOP_HEAD(op, m) { return st_blocked(k_##op##_f32, KIND_##u KIND_##m, p, s, n, param); }
#define HALF2(op, m, u) \
    LOOP_HEAD(op, m) { return st_blocked(k_##op##_f32, KIND_##u KIND_##m KIND_##m, p, s, n, param); }
#define HALF3(op, m, u) \
    LOOP_HEAD(op, m) { return st_blocked(k_##op##_f32, KIND_##u KIND_##m KIND_##m KIND_##m, p, s, n, param); }

/* Binary ops so common and cheap that scalar operands and strides get loops of their own. */
#define FAST2(op, t, u, EXPR)                                                                                        \
    KERNEL2(op, t, u, EXPR)                                                                                          \
    LOOP_HEAD(op, t) {                                                                                               \
        if (s[0] == sizeof(u) && s[1] == sizeof(t) && s[2] == sizeof(t)) return k_##op##_##t(p, n, param);           \
        if (n <= 0) return ST_OK;                                                                                    \
        if (s[0] == sizeof(u) && s[1] == sizeof(t) && s[2] == 0) {                                                   \
            u *o = (u *)(void *)p[0];                                                                                \
            const t *a = (const t *)(const void *)p[1], y = *(const t *)(const void *)p[2];                          \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                \
                const t x = a[i];                                                                                    \
                o[i] = (EXPR);                                                                                       \
            }                                                                                                        \
        } else if (s[0] == sizeof(u) && s[1] == 0 && s[2] == sizeof(t)) {                                            \
            u *o = (u *)(void *)p[0];                                                                                \
            const t x = *(const t *)(const void *)p[1], *b = (const t *)(const void *)p[2];                          \
            IVDEP for (ptrdiff_t i = 0; i < n; i++) {                                                                \
                const t y = b[i];                                                                                    \
                o[i] = (EXPR);                                                                                       \
            }                                                                                                        \
        } else {                                                                                                     \
            char *o = p[0], *a = p[1], *b = p[2];                                                                    \
            for (ptrdiff_t i = 0; i < n; i++, o += s[0], a += s[1], b += s[2]) {                                     \
                const t x = *(const t *)(const void *)a, y = *(const t *)(const void *)b;                            \
                *(u *)(void *)o = (EXPR);                                                                            \
            }                                                                                                        \
        }                                                                                                            \
        return ST_OK;                                                                                                \
    }

/* ---- table rows ---- */

#define ENTRY(op, m) {ST_OP_##op, CODE_##m, (st_function)l_##op##_##m},
#define ENTRY_AS(op, m, like) {ST_OP_##op, CODE_##m, (st_function)l_##op##_##like},

#endif
