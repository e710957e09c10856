/* The pointwise part of a step of recurrent cells, and of the way back: a thread does an element of the hidden state with
 * all its gates. Their order: input, forget, cell, output for LSTM; reset, update, new for GRU. */
#include "dense.h"
#include "numbers.h"

namespace shim {

template <typename T>
__device__ T squash(T x) {
    if (x >= 0) return 1 / (1 + exp(-x));
    const T e = exp(x);
    return e / (1 + e);
}

/* extra: tanh of the new cell */
template <typename T>
__global__ void lstm_step(shim_cell c) {
    const T *before = (const T *)c.before, *bias = (const T *)c.bias;
    SHIM_EACH(k, c.n * c.size) {
        const int64_t j = k % c.size, first = k / c.size * 4 * c.size + j;
        const T *x = (const T *)c.gates + first, *h = (const T *)c.share + first;
        T *active = (T *)c.active + first, gate[4];
        for (int q = 0; q < 4; q++) {
            const int64_t at = q * c.size;
            gate[q] = x[at] + (bias ? h[at] + bias[at + j] : h[at]);
            gate[q] = active[at] = q == 2 ? tanh(gate[q]) : squash(gate[q]);
        }
        const T cell = gate[1] * before[k] + gate[0] * gate[2], squashed = tanh(cell);
        ((T *)c.after)[k] = cell;
        ((T *)c.extra)[k] = squashed;
        ((T *)c.out)[k] = gate[3] * squashed;
    }
}

/* extra: what the reset gate lets through of the hidden state */
template <typename T>
__global__ void gru_step(shim_cell c) {
    const T *before = (const T *)c.before, *bias = (const T *)c.bias;
    SHIM_EACH(k, c.n * c.size) {
        const int64_t j = k % c.size, first = k / c.size * 3 * c.size + j, second = c.size, third = 2 * c.size;
        const T *x = (const T *)c.gates + first, *h = (const T *)c.share + first;
        T *active = (T *)c.active + first;
        const T reset = squash(x[0] + (bias ? h[0] + bias[j] : h[0]));
        const T update = squash(x[second] + (bias ? h[second] + bias[second + j] : h[second]));
        const T share = bias ? h[third] + bias[third + j] : h[third], fresh = tanh(x[third] + reset * share);
        active[0] = reset;
        active[second] = update;
        active[third] = fresh;
        ((T *)c.extra)[k] = share;
        ((T *)c.out)[k] = (before[k] - fresh) * update + fresh;
    }
}

template <typename T>
__global__ void lstm_step_back(shim_cell_back c) {
    T *dc = (T *)c.dc;
    SHIM_EACH(k, c.n * c.size) {
        const int64_t first = k / c.size * 4 * c.size + k % c.size, s = c.size;
        const T *g = (const T *)c.active + first;
        T *d = (T *)c.da + first;
        const T dh = ((const T *)c.dh)[k], t = ((const T *)c.extra)[k];
        const T cell = dc[k] + dh * g[3 * s] * (1 - t * t);
        d[3 * s] = dh * t * g[3 * s] * (1 - g[3 * s]);
        d[0] = cell * g[2 * s] * g[0] * (1 - g[0]);
        d[s] = cell * ((const T *)c.before)[k] * g[s] * (1 - g[s]);
        d[2 * s] = cell * g[0] * (1 - g[2 * s] * g[2 * s]);
        dc[k] = cell * g[s];
    }
}

template <typename T>
__global__ void gru_step_back(shim_cell_back c) {
    SHIM_EACH(k, c.n * c.size) {
        const int64_t first = k / c.size * 3 * c.size + k % c.size, s = c.size;
        const T *g = (const T *)c.active + first;
        T *d = (T *)c.da + first, *e = (T *)c.dshare + first;
        const T reset = g[0], update = g[s], fresh = g[2 * s], dh = ((const T *)c.dh)[k];
        const T dn = dh * (1 - update) * (1 - fresh * fresh);
        d[2 * s] = dn;
        e[2 * s] = dn * reset;
        d[0] = e[0] = dn * ((const T *)c.extra)[k] * reset * (1 - reset);
        d[s] = e[s] = dh * (((const T *)c.before)[k] - fresh) * update * (1 - update);
        ((T *)c.dc)[k] = dh * update;
    }
}

}  // namespace shim

using namespace shim;

#define SHIM_TWO_FLOATS(...) \
    SHIM_CASE(ST_FLOAT32, float, __VA_ARGS__) SHIM_CASE(ST_FLOAT64, double, __VA_ARGS__)

extern "C" cudaError_t shim_cell_step(int kind, int dtype, const shim_cell *c, cudaStream_t stream) {
    const unsigned grid = blocks_for(c->n * c->size);
    if (c->n * c->size == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_TWO_FLOATS(
            if (kind == SHIM_LSTM)
                SHIM_LAUNCH((lstm_step<S>), grid, THREADS, 0, stream, *c);
            else
                SHIM_LAUNCH((gru_step<S>), grid, THREADS, 0, stream, *c);)
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}

extern "C" cudaError_t shim_cell_step_back(int kind, int dtype, const shim_cell_back *c, cudaStream_t stream) {
    const unsigned grid = blocks_for(c->n * c->size);
    if (c->n * c->size == 0) return cudaSuccess;
    switch (dtype) {
        SHIM_TWO_FLOATS(
            if (kind == SHIM_LSTM)
                SHIM_LAUNCH((lstm_step_back<S>), grid, THREADS, 0, stream, *c);
            else
                SHIM_LAUNCH((gru_step_back<S>), grid, THREADS, 0, stream, *c);)
    default: return cudaErrorNotSupported;
    }
    return cudaGetLastError();
}
