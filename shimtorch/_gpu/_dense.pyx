"""The kernels of layers, sorting, filling, sampling and optimisers, as functions of tensors on a device.

Tensors given here are contiguous, of one device and, where nothing else is said, of one dtype; callers see to that.
A dtype without a kernel raises NotImplementedError with the op's name.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from .._core.dtype cimport FLOAT32, FLOAT64, INT32, INT64, ITEMSIZE, dtype_of
from .._core.tensor cimport MAX_DIMS, ON_DEVICE, Place, TensorBase, device_ptr, empty_at, strided_alias
from .._kernels.optimise cimport ST_STEP_NUMBERS, ST_STEP_STATES, st_step
from ._device cimport DevicePlace
from ._rt cimport check
from .cudart cimport cudaErrorNotSupported
from .dense cimport (
    SHIM_BINOMIAL, SHIM_DIGAMMA, SHIM_ERFINV, SHIM_GAMMA, SHIM_GRU, SHIM_I0, SHIM_I0E,
    SHIM_I1, SHIM_I1E, SHIM_LSTM, SHIM_POISSON, SHIM_POLYGAMMA, SHIM_STEPS, SHIM_ZETA, shim_cell,
    shim_cell_back, shim_cell_step, shim_cell_step_back, shim_cholesky, shim_draw_whole, shim_fold, shim_linspace,
    shim_lu, shim_normalise_rows, shim_normalise_rows_backward, shim_order_of, shim_orthogonalise,
    shim_pool, shim_pool_max, shim_pool_mean, shim_pool_spread, shim_range, shim_range_whole, shim_reflect,
    shim_reflectors, shim_rows, shim_running, shim_sample, shim_search,
    shim_solve_triangle, shim_sort, shim_special, shim_take_steps, shim_unfold, shim_windows,
)

from .._core.dtype import scalar_type
from .._core.tensor import DeviceDtypeError

POISSON, GAMMA, BINOMIAL = SHIM_POISSON, SHIM_GAMMA, SHIM_BINOMIAL
LSTM, GRU = SHIM_LSTM, SHIM_GRU


cdef DevicePlace place_for(TensorBase first, tuple others=()):
    """The Place of tensors (some may be None), which must be the same."""
    cdef TensorBase t
    if not first.flags & ON_DEVICE:
        raise RuntimeError(f"expected a tensor on a device, got one on '{first.device}'")
    for x in others:
        t = x
        if t is not None and (not t.flags & ON_DEVICE or t.impl is not first.impl):
            raise RuntimeError("Expected all tensors to be on the same device, but found at least two devices, "
                               f"{first.device} and {t.device}!")
    return <DevicePlace>first.impl


cdef char* address(TensorBase t) noexcept:
    return NULL if t is None else device_ptr(t)


cdef int done(int status, str name, TensorBase t) except -1:
    """Raise what a kernel's status says; name: the op's."""
    if status == cudaErrorNotSupported:
        raise DeviceDtypeError(f"\"{name}\" not implemented for '{scalar_type(dtype_of(t.code))}'")
    return check(status)


cdef TensorBase made(TensorBase like, int code, tuple size):
    """An uninitialised tensor on the device of another."""
    cdef Py_ssize_t[MAX_DIMS] shape
    cdef int i, n = len(size)
    for i in range(n):
        shape[i] = size[i]
    return empty_at(<Place>like.impl, code, n, shape)


# ---------------------------------------------------------------- windows

cdef int three(int64_t* to, values, int64_t missing) except -1:
    """Up to three numbers, one a dimension; the dimensions that are not there come first."""
    cdef int i, n = len(values)
    for i in range(3):
        to[i] = values[i - 3 + n] if i >= 3 - n else missing
    return 0


cdef int describe(shim_windows* w, int64_t planes, size, out, kernel, stride, before, dilation) except -1:
    w.planes = planes
    three(w.size, size, 1)
    three(w.out, out, 1)
    three(w.kernel, kernel, 1)
    three(w.stride, stride, 1)
    three(w.before, before, 0)
    three(w.dilation, dilation, 1)
    return 0


def unfold(TensorBase maps not None, kernel, out, stride, before, dilation, bint together):
    """The columns of maps (N, C, *size): (N, C * taps, windows), or (C * taps, N * windows) if together."""
    cdef shim_windows w
    cdef DevicePlace place = place_for(maps)
    cdef tuple size = tuple(maps.size())
    cdef int64_t n = size[0], c = size[1], taps, windows
    cdef TensorBase r
    describe(&w, n * c, size[2:], out, kernel, stride, before, dilation)
    taps, windows = w.kernel[0] * w.kernel[1] * w.kernel[2], w.out[0] * w.out[1] * w.out[2]
    r = made(maps, maps.code, <tuple>(c * taps, n * windows) if together else <tuple>(n, c * taps, windows))
    done(shim_unfold(maps.code, device_ptr(maps), device_ptr(r), &w, c, n * windows if together else windows,
                     windows if together else c * taps * windows, place.stream()), "im2col", maps)
    return r


def fold(TensorBase columns not None, tuple size, kernel, out, stride, before, dilation):
    """The maps (N, C, *size) whose elements are the sums of the columns (N, C * taps, windows) that saw them."""
    cdef shim_windows w
    cdef DevicePlace place = place_for(columns)
    cdef int64_t c = size[1], taps, windows
    cdef TensorBase r = made(columns, columns.code, size)
    describe(&w, size[0] * c, size[2:], out, kernel, stride, before, dilation)
    taps, windows = w.kernel[0] * w.kernel[1] * w.kernel[2], w.out[0] * w.out[1] * w.out[2]
    done(shim_fold(columns.code, device_ptr(columns), device_ptr(r), &w, c, windows, c * taps * windows,
                   place.stream()), "col2im", columns)
    return r


cdef tuple describe_pool(shim_pool* p, tuple size, tuple out, options):
    """Fill the windows of a pooling (options as in ``_ops/pooling.py``); returns the leading sizes."""
    cdef int64_t planes = 1
    cdef int k = len(out)
    for n in size[:len(size) - k]:
        planes *= n
    p.even = options is None
    p.count_padding, p.divisor = (0, 0) if options is None else options[4:6]
    kernel, stride, before, dilation = ((1,) * k,) * 4 if options is None else options[:4]
    describe(&p.w, planes, size[len(size) - k:], out, kernel, stride, before, dilation)
    return size[:len(size) - k]


def pool_max(TensorBase x not None, tuple out, options, str name):
    """The largest element of every window, and its place in the plane."""
    cdef shim_pool p
    cdef DevicePlace place = place_for(x)
    cdef tuple leading = describe_pool(&p, tuple(x.size()), out, options)
    cdef TensorBase r = made(x, x.code, leading + out), at = made(x, INT64, leading + out)
    done(shim_pool_max(x.code, device_ptr(x), device_ptr(r), <int64_t*>device_ptr(at), &p, place.stream()), name, x)
    return r, at


def pool_mean(TensorBase x not None, tuple out, options, str name):
    """The mean of every window."""
    cdef shim_pool p
    cdef DevicePlace place = place_for(x)
    cdef TensorBase r = made(x, x.code, describe_pool(&p, tuple(x.size()), out, options) + out)
    done(shim_pool_mean(x.code, device_ptr(x), device_ptr(r), &p, place.stream()), name, x)
    return r


def pool_spread(TensorBase g not None, tuple size, options):
    """What every element of an input of a size gets of the gradients of its windows' means."""
    cdef shim_pool p
    cdef DevicePlace place = place_for(g)
    cdef TensorBase r = made(g, g.code, size)
    describe_pool(&p, size, tuple(g.size())[2:], options)
    done(shim_pool_spread(g.code, device_ptr(g), device_ptr(r), &p, place.stream()), "avg_pool", g)
    return r


# ---------------------------------------------------------------- normalisation of rows

def normalise_rows(TensorBase x not None, TensorBase weight, TensorBase bias, int64_t rows, int64_t run,
                   int64_t groups, double eps, str name):
    """The rows normalised, and the mean and the inverse standard deviation of each."""
    cdef shim_rows r
    cdef DevicePlace place = place_for(x, (weight, bias))
    cdef int code = FLOAT64 if x.code == FLOAT64 else FLOAT32
    cdef TensorBase out = made(x, x.code, tuple(x.size()))
    cdef TensorBase mean = made(x, code, (rows,)), scale = made(x, code, (rows,))
    r.rows, r.n, r.run, r.groups = rows, x.count // rows if rows else 0, run, groups
    done(shim_normalise_rows(x.code, &r, eps, device_ptr(x), address(weight), address(bias), device_ptr(mean),
                             device_ptr(scale), device_ptr(out), place.stream()), name, x)
    return out, mean, scale


def normalise_rows_backward(TensorBase g not None, TensorBase x not None, TensorBase weight, TensorBase mean not None,
                            TensorBase scale not None, int64_t rows, int64_t run, int64_t groups):
    """The gradient of what was normalised."""
    cdef shim_rows r
    cdef DevicePlace place = place_for(g, (x, weight, mean, scale))
    cdef TensorBase dx = made(x, x.code, tuple(x.size()))
    r.rows, r.n, r.run, r.groups = rows, x.count // rows if rows else 0, run, groups
    done(shim_normalise_rows_backward(x.code, &r, device_ptr(g), device_ptr(x), address(weight), device_ptr(mean),
                                      device_ptr(scale), device_ptr(dx), place.stream()), "layer_norm_backward", x)
    return dx


# ---------------------------------------------------------------- order

def sort(TensorBase x not None, bint descending):
    """The elements of the rows (the last dimension) in order, NaN as the largest, ties as they came; their places."""
    cdef DevicePlace place = place_for(x)
    cdef int64_t n = x.shape_[x.ndim_ - 1], rows = x.count // n if n else 0, padded = 1
    cdef tuple size = tuple(x.size())
    cdef TensorBase values = made(x, x.code, size), places = made(x, INT64, size), keys, scratch
    while padded < n:
        padded *= 2
    keys, scratch = made(x, INT64, (rows * padded,)), made(x, INT64, (rows * padded,))
    done(shim_sort(x.code, device_ptr(x), device_ptr(values), <int64_t*>device_ptr(places), rows, n, padded,
                   descending, <uint64_t*>device_ptr(keys), <int64_t*>device_ptr(scratch), place.stream()), "sort", x)
    return values, places


def search(TensorBase sequence not None, TensorBase values not None, bint right):
    """Where values (rows, k) belong in sorted rows (rows, n), or in one of n: int64 places."""
    cdef DevicePlace place = place_for(sequence, (values,))
    cdef int64_t n = sequence.shape_[sequence.ndim_ - 1]
    cdef bint one_row = sequence.ndim_ == 1
    cdef int64_t rows = 1 if one_row else sequence.count // n if n else values.count and 1
    cdef TensorBase r = made(values, INT64, tuple(values.size()))
    done(shim_search(values.code, device_ptr(sequence), device_ptr(values), <int64_t*>device_ptr(r), rows, n,
                     values.count // rows if rows else 0, one_row, right, place.stream()), "searchsorted", values)
    return r


def running(TensorBase x not None, int dim, bint largest, str name):
    """The running maximum or minimum along a dimension, and its place."""
    cdef DevicePlace place = place_for(x)
    cdef int64_t n = x.shape_[dim], inner = 1
    cdef int i
    cdef TensorBase r = made(x, x.code, tuple(x.size())), at = made(x, INT64, tuple(x.size()))
    for i in range(dim + 1, x.ndim_):
        inner *= x.shape_[i]
    done(shim_running(x.code, largest, device_ptr(x), device_ptr(r), <int64_t*>device_ptr(at), x.count // n if n else 0,
                      n, inner, place.stream()), name, x)
    return r, at


def flip_into(TensorBase r not None, TensorBase x not None, dims):
    """Write x, of the shape of r and not necessarily contiguous, reversed along dimensions, to r."""
    cdef Py_ssize_t[MAX_DIMS] strides
    cdef Py_ssize_t offset = x.offset
    cdef int d
    place_for(r, (x,))
    if not x.count:
        return
    for d in range(x.ndim_):
        strides[d] = x.strides_[d]
        if d in dims:
            offset += (x.shape_[d] - 1) * strides[d] * ITEMSIZE[x.code]
            strides[d] = -strides[d]
    (<DevicePlace>r.impl).convert(r, strided_alias(x, x.ndim_, x.shape_, strides, offset))


# ---------------------------------------------------------------- filling

def fill_range(TensorBase t not None, first, step):
    """Write first + i * step to the elements of t: in int64 if both are ints, else in float64."""
    cdef DevicePlace place = place_for(t)
    if isinstance(first, int) and isinstance(step, int):
        check(shim_range_whole(t.code, device_ptr(t), t.count, first, step, place.stream()))
    else:
        check(shim_range(t.code, device_ptr(t), t.count, first, step, place.stream()))


def fill_linspace(TensorBase t not None, double first, double last):
    """Write numbers from first to last, evenly spaced, to the elements of t."""
    cdef DevicePlace place = place_for(t)
    done(shim_linspace(t.code, device_ptr(t), t.count, first, last, place.stream()), "linspace_cuda", t)


def draw_whole(TensorBase t not None, uint64_t seed, uint64_t offset, int64_t base, uint64_t range_, bint wide,
               int grid):
    """Fill with whole random numbers of base ... base + range - 1, or of all 64 bits for a range of 0."""
    cdef DevicePlace place = place_for(t)
    done(shim_draw_whole(t.code, device_ptr(t), t.count, seed, offset, base, range_, wide, grid, place.stream()),
         "random_from_to", t)


def sample(int kind, TensorBase a not None, TensorBase b, uint64_t seed, uint64_t offset, str name):
    """A random number for each parameter a (and b)."""
    cdef DevicePlace place = place_for(a, (b,))
    cdef TensorBase r = made(a, a.code, tuple(a.size()))
    done(shim_sample(kind, a.code, device_ptr(r), device_ptr(a), address(b), a.count, seed, offset, place.stream()),
         name, a)
    return r


# ---------------------------------------------------------------- optimisers

cdef class Batch:
    """Steps that one launch takes: of one device and dtype, none of which writes what another one's uses."""

    cdef st_step steps[SHIM_STEPS]
    cdef int n, optimiser
    cdef TensorBase first
    cdef set used, written             # memory

    def __init__(self, int optimiser):
        self.optimiser = optimiser
        self.used, self.written = set(), set()

    cdef int launch(self) except -1:
        cdef DevicePlace place
        if self.n > 0:
            place = <DevicePlace>self.first.impl
            check(shim_take_steps(self.optimiser, self.first.code, self.steps, self.n, place.stream()))
        self.n = 0
        self.used.clear()
        self.written.clear()
        return 0

    cdef int add(self, TensorBase p, TensorBase grad, tuple state, tuple numbers, bint fresh) except -1:
        cdef st_step* s
        cdef int i
        cdef set writes = {block_of(t) for t in (p, *state) if t is not None}, read = {block_of(grad)}
        if self.n > 0 and (self.n == SHIM_STEPS or p.impl is not self.first.impl or p.code != self.first.code
                           or not self.used.isdisjoint(writes) or not self.written.isdisjoint(read)):
            self.launch()
        if self.n == 0:
            self.first = p
        s = &self.steps[self.n]
        s.p, s.g, s.n, s.fresh = device_ptr(p), device_ptr(grad), p.count, fresh
        for i in range(ST_STEP_STATES):
            s.state[i] = address(<TensorBase>state[i]) if i < len(state) else NULL
        for i in range(ST_STEP_NUMBERS):
            s.numbers[i] = numbers[i] if i < len(numbers) else 0
        self.n += 1
        self.written |= writes
        self.used |= writes | read
        return 0


cdef size_t block_of(TensorBase t) noexcept:
    return <size_t>t.storage.data


def take_steps(int optimiser, list steps):
    """Steps of an optimiser, (parameter, gradient, tensors of state, numbers, fresh) each: see _core/stepping.pyx.

    What belongs to one parameter is float or double, contiguous, and on one device.
    """
    cdef Batch batch = Batch(optimiser)
    for p, grad, state, numbers, fresh in steps:
        batch.add(p, grad, state, numbers, fresh)
    batch.launch()


# ---------------------------------------------------------------- recurrent cells

def cell_step(int kind, TensorBase gates not None, TensorBase share not None, TensorBase bias,
              TensorBase before not None, TensorBase active not None, TensorBase after, TensorBase extra not None,
              TensorBase out not None):
    """A step of LSTM or GRU for gates (n, width), written to the last four: see kernels/recurrent.cu."""
    cdef DevicePlace place = place_for(gates, (share, bias, before, active, after, extra, out))
    cdef shim_cell c
    c.n, c.size = extra.shape_[0], extra.shape_[1]
    c.gates, c.share, c.bias, c.before = device_ptr(gates), device_ptr(share), address(bias), device_ptr(before)
    c.active, c.after, c.extra, c.out = device_ptr(active), address(after), device_ptr(extra), device_ptr(out)
    done(shim_cell_step(kind, gates.code, &c, place.stream()), "_thnn_fused_cell", gates)


def cell_step_back(int kind, TensorBase active not None, TensorBase before not None, TensorBase extra not None,
                   TensorBase dh not None, TensorBase dc not None, TensorBase da not None, TensorBase dshare not None):
    """The gradients da (and dshare, of a GRU) of a step's gates; dc is replaced."""
    cdef DevicePlace place = place_for(active, (before, extra, dh, dc, da, dshare))
    cdef shim_cell_back c
    c.n, c.size = extra.shape_[0], extra.shape_[1]
    c.active, c.before, c.extra, c.dh = device_ptr(active), device_ptr(before), device_ptr(extra), device_ptr(dh)
    c.dc, c.da, c.dshare = device_ptr(dc), device_ptr(da), device_ptr(dshare)
    done(shim_cell_step_back(kind, active.code, &c, place.stream()), "_thnn_fused_cell_backward", active)


# ---------------------------------------------------------------- special functions

_SPECIAL = {
    "erfinv": SHIM_ERFINV, "digamma": SHIM_DIGAMMA, "polygamma": SHIM_POLYGAMMA, "zeta": SHIM_ZETA, "i0": SHIM_I0,
    "i0e": SHIM_I0E, "i1": SHIM_I1, "i1e": SHIM_I1E,
}


def special(str function, first, TensorBase second=None):
    """A special function of the elements of a tensor, or of two; the first argument may be a number for all."""
    cdef TensorBase x = first if isinstance(first, TensorBase) else None, like = second if x is None else x, r
    cdef DevicePlace place = place_for(like, (x, second))
    r = made(like, like.code, tuple(like.size()))
    done(shim_special(_SPECIAL[function], like.code, address(x), address(second), 0 if x is not None else first,
                      device_ptr(r), like.count, place.stream()), function, like)
    return r


# ---------------------------------------------------------------- factorisations

def lu(TensorBase a not None):
    """(pivots, infos) of a batch (b, m, n) of matrices, which become their LU factors."""
    cdef DevicePlace place = place_for(a)
    cdef int64_t b = a.shape_[0], m = a.shape_[1], n = a.shape_[2]
    cdef TensorBase pivots = made(a, INT32, (b, min(m, n))), infos = made(a, INT32, (b,))
    done(shim_lu(a.code, device_ptr(a), <int32_t*>device_ptr(pivots), <int32_t*>device_ptr(infos), b, m, n,
                 place.stream()), "lu_factor_cuda", a)
    return pivots, infos


def cholesky(TensorBase a not None):
    """The infos of a batch (b, n, n) of matrices, whose lower triangles become their Cholesky factors."""
    cdef DevicePlace place = place_for(a)
    cdef TensorBase infos = made(a, INT32, (a.shape_[0],))
    done(shim_cholesky(a.code, device_ptr(a), <int32_t*>device_ptr(infos), a.shape_[0], a.shape_[1], place.stream()),
         "cholesky_cuda", a)
    return infos


def solve_triangle(TensorBase a not None, TensorBase b not None, bint upper, bint unit):
    """Replace b (batch, n, k) by what triangles a (batch, n, n) times it is."""
    cdef DevicePlace place = place_for(a, (b,))
    done(shim_solve_triangle(a.code, device_ptr(a), device_ptr(b), b.shape_[0], b.shape_[1], b.shape_[2], upper, unit,
                             place.stream()), "triangular_solve_cuda", a)


def order_of(TensorBase pivots not None, int64_t m):
    """For exchanges of rows (batch, k), the rows (batch, m) that end up in each place, and the signs (batch)."""
    cdef DevicePlace place = place_for(pivots)
    cdef int64_t b = pivots.shape_[0]
    cdef TensorBase order = made(pivots, INT64, (b, m)), signs = made(pivots, INT64, (b,))
    check(shim_order_of(<int32_t*>device_ptr(pivots), <int64_t*>device_ptr(order), <int64_t*>device_ptr(signs), b,
                        pivots.shape_[1], m, place.stream()))
    return order, signs


def reflectors(TensorBase a not None):
    """The scales (b, min(m, n)) of the reflectors that a batch (b, m, n) of matrices becomes: LAPACK's geqrf."""
    cdef DevicePlace place = place_for(a)
    cdef int64_t b = a.shape_[0], m = a.shape_[1], n = a.shape_[2]
    cdef TensorBase taus = made(a, a.code, (b, min(m, n)))
    done(shim_reflectors(a.code, device_ptr(a), device_ptr(taus), b, m, n, place.stream()), "geqrf_cuda", a)
    return taus


def reflect(TensorBase a not None, TensorBase taus not None, TensorBase columns not None, bint adjoint):
    """Replace columns (b, m, p) by Q or Q^H times them, for the reflectors in a (b, m, n) with scales (b, k)."""
    cdef DevicePlace place = place_for(a, (taus, columns))
    done(shim_reflect(a.code, device_ptr(a), device_ptr(taus), device_ptr(columns), a.shape_[0], a.shape_[1],
                      a.shape_[2], taus.shape_[1], columns.shape_[2], adjoint, place.stream()), "ormqr_cuda", a)


def orthogonalise(TensorBase a not None, TensorBase bases not None, double least):
    """Turn the columns of a (b, m, n) until they are orthogonal, and those of bases (b, n, n) with them: infos (b)."""
    cdef DevicePlace place = place_for(a, (bases,))
    cdef TensorBase infos = made(a, INT32, (a.shape_[0],))
    done(shim_orthogonalise(a.code, device_ptr(a), device_ptr(bases), <int32_t*>device_ptr(infos), a.shape_[0],
                            a.shape_[1], a.shape_[2], least, place.stream()), "linalg_svd_cuda", a)
    return infos
