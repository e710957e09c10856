/* The arithmetic of a step of LSTM for one example, apart from its activations: its arrays do not overlap. */
#ifndef SHIMTORCH_KERNELS_GATES_H
#define SHIMTORCH_KERNELS_GATES_H

#include <stddef.h>

#define ST_GATES(t)                                                                                                    \
    /* a = x + (h + bias); without a bias a = x + h */                                                                 \
    static inline void st_add_gates_##t(t *restrict a, const t *restrict x, const t *restrict h,                       \
                                        const t *restrict bias, ptrdiff_t n) {                                         \
        if (bias == NULL)                                                                                              \
            for (ptrdiff_t j = 0; j < n; j++) a[j] = x[j] + h[j];                                                      \
        else                                                                                                           \
            for (ptrdiff_t j = 0; j < n; j++) a[j] = x[j] + (h[j] + bias[j]);                                          \
    }                                                                                                                  \
    /* the new cells, twice, from those before and the gates: input, forget, cell, output */                           \
    static inline void st_lstm_cells_##t(const t *restrict g, const t *restrict before, t *restrict cell,              \
                                         t *restrict copy, ptrdiff_t n) {                                              \
        for (ptrdiff_t j = 0; j < n; j++) copy[j] = cell[j] = g[n + j] * before[j] + g[j] * g[2 * n + j];              \
    }                                                                                                                  \
    static inline void st_lstm_out_##t(const t *restrict g, const t *restrict squashed, t *restrict out,               \
                                       ptrdiff_t n) {                                                                  \
        for (ptrdiff_t j = 0; j < n; j++) out[j] = g[3 * n + j] * squashed[j];                                         \
    }                                                                                                                  \
    /* d, the gradients of the gates before activation, from those of the output and the cell; dc becomes that of the  \
     * cell before */                                                                                                  \
    static inline void st_lstm_back_##t(const t *restrict g, const t *restrict before, const t *restrict squashed,     \
                                        const t *restrict dh, t *restrict dc, t *restrict d, ptrdiff_t n) {            \
        for (ptrdiff_t j = 0; j < n; j++) {                                                                            \
            const t in = g[j], keep = g[n + j], fresh = g[2 * n + j], open = g[3 * n + j], s = squashed[j];            \
            const t c = dc[j] + dh[j] * open * (1 - s * s);                                                            \
            d[3 * n + j] = dh[j] * s * open * (1 - open);                                                              \
            d[j] = c * fresh * in * (1 - in);                                                                          \
            d[n + j] = c * before[j] * keep * (1 - keep);                                                              \
            d[2 * n + j] = c * in * (1 - fresh * fresh);                                                               \
            dc[j] = c * keep;                                                                                          \
        }                                                                                                              \
    }
ST_GATES(float)
ST_GATES(double)

#endif
