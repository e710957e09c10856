"""Recurrent layers over a whole sequence, forward and backward: what the ops of ``_ops/recurrent.py`` run on.

A sequence has T steps of B examples. Its gates (T, B, K * H) come with the input's share in them; the hidden state's
share is one product a step. Order of the gates: input, forget, cell, output for "LSTM"; reset, update, new for "GRU".
With a projection (P, H) of an LSTM the hidden state has P elements, and the cell H.
"""
from libc.string cimport memcpy, memset

from .._kernels.parallel cimport st_body
from .._kernels.table cimport st_find, st_find_steps, st_loop, st_op, st_parallel, st_steps_kernels
from .dtype cimport FLOAT32, FLOAT64, ITEMSIZE
from .iterate cimport contiguous_copy
from .tensor cimport ON_DEVICE, TensorBase, empty, ptr

cdef extern from "gates.h" nogil:
    void st_add_gates_float(float* a, const float* x, const float* h, const float* bias, Py_ssize_t n)
    void st_add_gates_double(double* a, const double* x, const double* h, const double* bias, Py_ssize_t n)
    void st_lstm_cells_float(const float* g, const float* before, float* cell, float* copy, Py_ssize_t n)
    void st_lstm_cells_double(const double* g, const double* before, double* cell, double* copy, Py_ssize_t n)
    void st_lstm_out_float(const float* g, const float* squashed, float* out, Py_ssize_t n)
    void st_lstm_out_double(const double* g, const double* squashed, double* out, Py_ssize_t n)
    void st_lstm_back_float(const float* g, const float* before, const float* squashed, const float* dh, float* dc,
                            float* d, Py_ssize_t n)
    void st_lstm_back_double(const double* g, const double* before, const double* squashed, const double* dh,
                             double* dc, double* d, Py_ssize_t n)

ctypedef fused real:
    float
    double

cdef enum Mode:
    TANH, RELU, LSTM, GRU

cdef dict MODES = {"RNN_TANH": TANH, "RNN_RELU": RELU, "LSTM": LSTM, "GRU": GRU}


def takes(TensorBase gates not None):
    """Whether the kernels take gates of this dtype."""
    return gates.code == FLOAT32 or gates.code == FLOAT64


cdef TensorBase dense(TensorBase t):
    return t if t.contiguous_ else contiguous_copy(t)


cdef TensorBase new(int code, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c):
    cdef Py_ssize_t shape[3]
    shape[0], shape[1], shape[2] = a, b, c
    return empty(code, 3, shape)


cdef class Product:
    """left[i] (n, k) @ right (k, m) into out (n, m), for the steps i of a sequence of left factors."""
    cdef TensorBase left, packed, out
    cdef const st_steps_kernels* kernels
    cdef Py_ssize_t n, k, m

    def __cinit__(self, TensorBase left, TensorBase right, TensorBase out):
        cdef int size = ITEMSIZE[left.code]
        self.left, self.out, self.kernels = left, out, st_find_steps(left.code)
        self.n, self.k, self.m = left.shape_[1], left.shape_[2], right.shape_[1]
        self.packed = new(left.code, 1, 1, self.kernels.size(self.k, self.m) // size)
        self.kernels.pack(self.k, self.m, ptr(right), right.strides_[0], right.strides_[1], ptr(self.packed))

    cdef void run(self, Py_ssize_t i) noexcept:
        cdef char* left = ptr(self.left) + i * self.n * self.k * ITEMSIZE[self.left.code]
        self.kernels.run(self.n, self.k, self.m, left, ptr(self.packed), ptr(self.out))


cdef void activate(st_loop loop, char* at, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    cdef char* ptrs[2]
    cdef Py_ssize_t strides[2]
    ptrs[0] = ptrs[1] = at
    strides[0] = strides[1] = size
    loop(ptrs, strides, n, NULL)


cdef void add_gates(real* a, const real* x, const real* h, const real* bias, Py_ssize_t n,
                    Py_ssize_t width) noexcept nogil:
    """a = x + h + bias"""
    cdef Py_ssize_t i
    for i in range(n):
        if real is float:
            st_add_gates_float(a + i * width, x + i * width, h + i * width, bias, width)
        else:
            st_add_gates_double(a + i * width, x + i * width, h + i * width, bias, width)


cdef void lstm_step(real* a, const real* before, real* cell, real* squashed, real* out, Py_ssize_t n, Py_ssize_t size,
                    st_loop sigmoid, st_loop tanh) noexcept nogil:
    """From the gates a (n, 4 * size), activated in place, and the cells before: the new cells, their tanh, and h."""
    cdef Py_ssize_t i, k
    cdef real* g
    for i in range(n):
        g, k = a + i * 4 * size, i * size
        activate(sigmoid, <char*>g, 2 * size, sizeof(real))
        activate(tanh, <char*>(g + 2 * size), size, sizeof(real))
        activate(sigmoid, <char*>(g + 3 * size), size, sizeof(real))
        if real is float:
            st_lstm_cells_float(g, before + k, cell + k, squashed + k, size)
        else:
            st_lstm_cells_double(g, before + k, cell + k, squashed + k, size)
        activate(tanh, <char*>(squashed + k), size, sizeof(real))
        if real is float:
            st_lstm_out_float(g, squashed + k, out + k, size)
        else:
            st_lstm_out_double(g, squashed + k, out + k, size)


cdef void lstm_step_back(const real* a, const real* before, const real* squashed, const real* dh, real* dc, real* da,
                         Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """From the gradients of h and of the cell (replaced by that of the cell before): those of the gates."""
    cdef Py_ssize_t i, k
    for i in range(n):
        k = i * size
        if real is float:
            st_lstm_back_float(a + 4 * k, before + k, squashed + k, dh + k, dc + k, da + 4 * k, size)
        else:
            st_lstm_back_double(a + 4 * k, before + k, squashed + k, dh + k, dc + k, da + 4 * k, size)


cdef void gru_step(real* a, const real* x, const real* hidden, const real* bias, const real* before, real* share,
                   real* out, Py_ssize_t n, Py_ssize_t size, st_loop sigmoid, st_loop tanh) noexcept nogil:
    """a: the activated gates; share: what the reset gate lets through of the hidden state."""
    cdef Py_ssize_t i, j
    cdef real* g
    cdef const real* y
    cdef const real* h
    for i in range(n):
        g, y, h = a + i * 3 * size, x + i * 3 * size, hidden + i * 3 * size
        for j in range(2 * size):
            g[j] = y[j] + (h[j] + (bias[j] if bias != NULL else 0))
        activate(sigmoid, <char*>g, 2 * size, sizeof(real))
        for j in range(size):
            share[i * size + j] = h[2 * size + j] + (bias[2 * size + j] if bias != NULL else 0)
            g[2 * size + j] = y[2 * size + j] + g[j] * share[i * size + j]
        activate(tanh, <char*>(g + 2 * size), size, sizeof(real))
        for j in range(size):
            out[i * size + j] = (before[i * size + j] - g[2 * size + j]) * g[size + j] + g[2 * size + j]


cdef void gru_step_back(const real* a, const real* before, const real* share, const real* dh, real* direct, real* da,
                        real* dhidden, Py_ssize_t n, Py_ssize_t size) noexcept nogil:
    """da: of the gates; dhidden: of the hidden state's share in them; direct: what the state before gets past them."""
    cdef Py_ssize_t i, j, k
    cdef const real* g
    cdef real* d
    cdef real* e
    cdef real r, z, v, dn
    for i in range(n):
        g, d, e = a + i * 3 * size, da + i * 3 * size, dhidden + i * 3 * size
        for j in range(size):
            k = i * size + j
            r, z, v = g[j], g[size + j], g[2 * size + j]
            dn = dh[k] * (1 - z) * (1 - v * v)
            d[2 * size + j] = dn
            e[2 * size + j] = dn * r
            d[j] = e[j] = dn * share[k] * r * (1 - r)
            d[size + j] = e[size + j] = dh[k] * (before[k] - v) * z * (1 - z)
            direct[k] = dh[k] * z


# ---------------------------------------------------------------- steps shared among threads, by examples

# What a step of LSTM or GRU reads (q) and writes (p), in the order of its function's arguments. A piece is a function
# of either type, called through st_body: its first parameter, a pointer to elements, stands for the context.
ctypedef struct Step:
    const void* x
    const void* hidden
    const void* bias
    const void* q[4]
    void* p[4]
    Py_ssize_t size, width
    st_loop sigmoid, tanh

cdef enum:
    GRAIN = 1 << 14                    # gates that are worth a thread


cdef void lstm_examples(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Step* s = <Step*>context
    cdef Py_ssize_t gates = begin * s.width, at = begin * s.size
    add_gates[real](<real*>s.p[0] + gates, <const real*>s.x + gates, <const real*>s.hidden + gates, <const real*>s.bias,
                    end - begin, s.width)
    lstm_step[real](<real*>s.p[0] + gates, <const real*>s.q[0] + at, <real*>s.p[1] + at, <real*>s.p[2] + at,
                    <real*>s.p[3] + at, end - begin, s.size, s.sigmoid, s.tanh)


cdef void gru_examples(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Step* s = <Step*>context
    cdef Py_ssize_t gates = begin * s.width, at = begin * s.size
    gru_step[real](<real*>s.p[0] + gates, <const real*>s.x + gates, <const real*>s.hidden + gates, <const real*>s.bias,
                   <const real*>s.q[0] + at, <real*>s.p[1] + at, <real*>s.p[2] + at, end - begin, s.size, s.sigmoid,
                   s.tanh)


cdef void lstm_examples_back(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Step* s = <Step*>context
    cdef Py_ssize_t gates = begin * s.width, at = begin * s.size
    lstm_step_back[real](<const real*>s.q[0] + gates, <const real*>s.q[1] + at, <const real*>s.q[2] + at,
                         <const real*>s.q[3] + at, <real*>s.p[0] + at, <real*>s.p[1] + gates, end - begin, s.size)


cdef void gru_examples_back(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Step* s = <Step*>context
    cdef Py_ssize_t gates = begin * s.width, at = begin * s.size
    gru_step_back[real](<const real*>s.q[0] + gates, <const real*>s.q[1] + at, <const real*>s.q[2] + at,
                        <const real*>s.q[3] + at, <real*>s.p[0] + at, <real*>s.p[1] + gates, <real*>s.p[2] + gates,
                        end - begin, s.size)


cdef void simple_step_back(const real* out, const real* dh, real* da, Py_ssize_t n, bint relu) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if relu:
            da[i] = dh[i] if out[i] > 0 else 0
        else:
            da[i] = dh[i] * (1 - out[i] * out[i])


cdef void add_to(real* a, const real* b, Py_ssize_t n) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        a[i] += b[i]


cdef int forward_steps(int mode, real* x, real* w_out, real* bias, real* a, real* states, real* cells, real* extra,
                       Product product, real* raw, Product projection, Py_ssize_t steps, Py_ssize_t n, Py_ssize_t size,
                       Py_ssize_t width, bint reverse) except -1:
    """states and cells (steps + 1, n, size) hold the initial ones at 0, and those of the i-th step taken at i + 1.

    With a projection, raw (steps, n, size) holds what is projected.
    """
    cdef Py_ssize_t i, t, block = n * width, one = n * size, state = one if projection is None else n * projection.m
    cdef int code = FLOAT32 if real is float else FLOAT64
    cdef st_loop sigmoid = st_find(st_op(b"sigmoid"), code), tanh = st_find(st_op(b"tanh"), code)
    cdef st_loop relu = st_find(st_op(b"relu"), code)
    cdef Step s
    s.hidden, s.bias, s.size, s.width, s.sigmoid, s.tanh = w_out, bias, size, width, sigmoid, tanh
    for i in range(steps):
        t = steps - 1 - i if reverse else i
        product.run(i)
        s.x, s.p[0] = x + t * block, a + i * block
        if mode == GRU:
            s.q[0], s.p[1], s.p[2] = states + i * one, extra + i * one, states + (i + 1) * one
            st_parallel(n, GRAIN // width + 1, <st_body>gru_examples[real], &s)
        elif mode == LSTM:
            s.q[0], s.p[1] = cells + i * one, cells + (i + 1) * one
            s.p[2], s.p[3] = extra + i * one, states + (i + 1) * one if projection is None else raw + i * one
            st_parallel(n, GRAIN // width + 1, <st_body>lstm_examples[real], &s)
            if projection is not None:
                projection.run(i)
                memcpy(states + (i + 1) * state, ptr(projection.out), state * sizeof(real))
        else:
            add_gates[real](a + i * block, x + t * block, w_out, bias, n, width)
            activate(relu if mode == RELU else tanh, <char*>(a + i * block), block, sizeof(real))
            memcpy(states + (i + 1) * one, a + i * block, one * sizeof(real))
    return 0


def forward(str mode, TensorBase gates not None, TensorBase h0 not None, TensorBase c0, TensorBase weight not None,
            TensorBase bias, TensorBase project, bint reverse):
    """The hidden states and cells (T + 1, B, H) in the order in which they come about, and what backward needs."""
    if gates.flags & ON_DEVICE:
        from .._gpu import recurrent as on_device
        return on_device.forward(mode, gates, h0, c0, weight, bias, project, reverse)
    cdef TensorBase x = dense(gates), b = None if bias is None else dense(bias), h, c = None
    cdef Py_ssize_t steps = gates.shape_[0], n = gates.shape_[1], width = gates.shape_[2]
    cdef Py_ssize_t state = weight.shape_[1], size = state if project is None else project.shape_[1]
    cdef int code = gates.code, m = MODES[mode]
    cdef TensorBase states = new(code, steps + 1, n, state), cells = None, extra = None, a = new(code, steps, n, width)
    cdef TensorBase share = new(code, 1, n, width), turned = weight.t(), raw = None
    cdef Product product = Product(states, turned, share), projection = None
    cdef Py_ssize_t s = ITEMSIZE[code]
    h = dense(h0)
    memcpy(ptr(states), ptr(h), n * state * s)
    if project is not None:
        raw = new(code, steps, n, size)
        projection = Product(raw, project.t(), new(code, 1, n, state))
    if m == LSTM:
        cells = new(code, steps + 1, n, size)
        c = dense(c0)
        memcpy(ptr(cells), ptr(c), n * size * s)
    if m == LSTM or m == GRU:
        extra = new(code, steps, n, size)
    if code == FLOAT32:
        forward_steps[float](m, <float*>ptr(x), <float*>ptr(share), <float*>at(b), <float*>ptr(a), <float*>ptr(states),
                             <float*>at(cells), <float*>at(extra), product, <float*>at(raw), projection, steps, n, size,
                             width, reverse)
    else:
        forward_steps[double](m, <double*>ptr(x), <double*>ptr(share), <double*>at(b), <double*>ptr(a),
                              <double*>ptr(states), <double*>at(cells), <double*>at(extra), product, <double*>at(raw),
                              projection, steps, n, size, width, reverse)
    return states, cells, a, extra, raw


cdef char* at(TensorBase t) except? NULL:
    return NULL if t is None else ptr(t)


cdef int backward_steps(int mode, real* g, real* a, real* states, real* cells, real* extra, real* dh, real* dc,
                        real* back, real* da, real* dhidden, Product product, real* draw, real* dout,
                        Product projection, Py_ssize_t steps, Py_ssize_t n, Py_ssize_t size, Py_ssize_t width,
                        bint reverse) except -1:
    """dh, dc: gradients of the last state and cell, in the end of the initial ones; da in the order of the input.

    With a projection, draw is the gradient of what is projected, and dout (steps, n, P) that of the results.
    """
    cdef Py_ssize_t i, t, block = n * width, one = n * size, state = n * product.m
    cdef Step s
    s.q[3], s.p[0], s.size, s.width = dh if projection is None else draw, dc, size, width
    for i in range(steps - 1, -1, -1):
        t = steps - 1 - i if reverse else i
        add_to[real](dh, g + t * state, state)
        s.q[0], s.p[1], s.p[2] = a + i * block, da + t * block, dhidden + t * block
        if mode == LSTM:
            if projection is not None:
                memcpy(dout + i * state, dh, state * sizeof(real))
                projection.run(i)
            s.q[1], s.q[2] = cells + i * one, extra + i * one
            st_parallel(n, GRAIN // width + 1, <st_body>lstm_examples_back[real], &s)
        elif mode == GRU:
            s.q[1], s.q[2] = states + i * one, extra + i * one
            st_parallel(n, GRAIN // width + 1, <st_body>gru_examples_back[real], &s)
        else:
            simple_step_back[real](a + i * block, dh, da + t * block, block, mode == RELU)
        product.run(t)
        memcpy(dh, back, state * sizeof(real))
        if mode == GRU:
            add_to[real](dh, dc, one)
    return 0


def backward(str mode, TensorBase g not None, TensorBase g_last, TensorBase weight not None, TensorBase states not None,
             TensorBase cells, TensorBase gates not None, TensorBase extra, TensorBase project, bint reverse):
    """The gradients of the gates, of the hidden state's share in them, of the initial state and cell, of what the
    projection gave (in the order of the states).

    g: those of the outputs (T, B, H); g_last: that of the last cell, or None.
    """
    if gates.flags & ON_DEVICE:
        from .._gpu import recurrent as on_device
        return on_device.backward(mode, g, g_last, weight, states, cells, gates, extra, project, reverse)
    cdef int code = gates.code, m = MODES[mode]
    cdef Py_ssize_t steps = gates.shape_[0], n = gates.shape_[1], width = gates.shape_[2]
    cdef Py_ssize_t state = weight.shape_[1], size = state if project is None else project.shape_[1]
    cdef TensorBase da = new(code, steps, n, width), dhidden = new(code, steps, n, width) if m == GRU else da
    cdef TensorBase dh = new(code, 1, n, state), dc = new(code, 1, n, size), back = new(code, 1, n, state)
    cdef TensorBase d = dense(g), last, draw = None, dout = None
    cdef Product product = Product(dhidden, weight, back), projection = None
    cdef Py_ssize_t nbytes = n * size * ITEMSIZE[code]
    if project is not None:
        draw, dout = new(code, 1, n, size), new(code, steps, n, state)
        projection = Product(dout, project, draw)
    memset(ptr(dh), 0, n * state * ITEMSIZE[code])
    memset(ptr(dc), 0, nbytes)
    if g_last is not None:
        last = dense(g_last)
        memcpy(ptr(dc), ptr(last), nbytes)
    if code == FLOAT32:
        backward_steps[float](m, <float*>ptr(d), <float*>ptr(gates), <float*>ptr(states), <float*>at(cells),
                              <float*>at(extra), <float*>ptr(dh), <float*>ptr(dc), <float*>ptr(back), <float*>ptr(da),
                              <float*>ptr(dhidden), product, <float*>at(draw), <float*>at(dout), projection, steps, n,
                              size, width, reverse)
    else:
        backward_steps[double](m, <double*>ptr(d), <double*>ptr(gates), <double*>ptr(states), <double*>at(cells),
                               <double*>at(extra), <double*>ptr(dh), <double*>ptr(dc), <double*>ptr(back),
                               <double*>ptr(da), <double*>ptr(dhidden), product, <double*>at(draw), <double*>at(dout),
                               projection, steps, n, size, width, reverse)
    return da, dhidden, dh[0], dc[0], dout
