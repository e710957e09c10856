# cython: binding=False
"""A stream of random numbers, and the same draws on ndarrays."""

import numpy as np

cimport numpy as cnp
from cpython.pythread cimport (
    NOWAIT_LOCK, WAIT_LOCK, PyThread_acquire_lock, PyThread_allocate_lock, PyThread_free_lock, PyThread_release_lock,
)

from .table cimport st_cast

from .table import isa

cnp.import_array()
st_random_setup(st_cast, isa().encode())

ONE_X, PLAIN, LOGICAL, MCG31 = ST_DRAW_1_X, ST_DRAW_PLAIN, ST_DRAW_LOGICAL, ST_DRAW_MCG31

cdef enum:
    MAX_DIMS = 64
    QUICK = 2048      # elements that are filled without letting other threads run

_NAMES = ("bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128 uint16 uint32 "
          "uint64").split()


cdef class Stream:
    """The state of one generator. Threads that draw from it take turns, a whole request at a time."""

    def __cinit__(self, *args, **kwargs):
        self.lock = PyThread_allocate_lock()
        if self.lock == NULL:
            raise MemoryError
        st_rng_seed(&self.rng, 67280421310721)

    def __dealloc__(self):
        if self.lock != NULL:
            PyThread_free_lock(self.lock)

    cdef void acquire(self) noexcept:
        if not PyThread_acquire_lock(self.lock, NOWAIT_LOCK):
            with nogil:
                PyThread_acquire_lock(self.lock, WAIT_LOCK)

    cdef void release(self) noexcept:
        PyThread_release_lock(self.lock)

    cdef int draw(self, int distribution, const st_strided* out, const st_draw_params* params, int style) noexcept:
        """Fill a block; the status of ``st_draw``."""
        cdef int status, d
        cdef Py_ssize_t n = 1
        for d in range(out.ndim):
            n *= out.shape[d]
        if n == 0:
            return ST_DRAW_OK
        self.acquire()
        if n <= QUICK:
            status = st_draw(&self.rng, distribution, out, params, style)
        else:
            with nogil:
                status = st_draw(&self.rng, distribution, out, params, style)
        self.release()
        return status

    cdef int sample(self, int sampler, const st_request* request, int style) noexcept:
        """Run a sampler; the status of ``st_sample``."""
        cdef int status
        self.acquire()
        with nogil:
            status = st_sample(&self.rng, sampler, request, style)
        self.release()
        return status

    cdef void start(self, uint64_t seed) noexcept:
        self.acquire()
        st_rng_seed(&self.rng, seed)
        self.release()

    cdef void save(self, unsigned char* state) noexcept:
        self.acquire()
        st_rng_save(&self.rng, state)
        self.release()

    def _seed(self, uint64_t seed):
        """Start anew from a seed."""
        self.start(seed)

    def _get_state_bytes(self):
        """The state as PyTorch saves it."""
        cdef unsigned char state[ST_RNG_BYTES]
        self.save(state)
        return (<char*>state)[:ST_RNG_BYTES]

    def _set_state_bytes(self, const unsigned char[::1] state not None):
        """Go on from a saved state, of any version of PyTorch; RuntimeError where it is none."""
        cdef int status
        if state.shape[0] != ST_RNG_BYTES and state.shape[0] != ST_RNG_BYTES_1_1:
            raise RuntimeError(f"Expected a CPUGeneratorImplState of size {ST_RNG_BYTES} but found the input RNG state "
                               f"size to be {state.shape[0]}")
        self.acquire()
        status = st_rng_load(&self.rng, &state[0], state.shape[0])
        self.release()
        if status:
            raise RuntimeError("Invalid mt19937 state")

    def _u32(self):
        """The next 32 bits."""
        self.acquire()
        cdef uint32_t word = st_rng_u32(&self.rng)
        self.release()
        return word

    def _u64(self):
        """The next 64 bits."""
        self.acquire()
        cdef uint64_t word = st_rng_u64(&self.rng)
        self.release()
        return word


# ---------------------------------------------------------------- draws on ndarrays

cdef struct Block:
    st_strided block
    Py_ssize_t[MAX_DIMS] shape
    Py_ssize_t[MAX_DIMS] strides


cdef int describe(cnp.ndarray a, Block* out) except -1:
    cdef int d
    cdef Py_ssize_t itemsize = cnp.PyArray_ITEMSIZE(a)
    if a.dtype.name not in _NAMES:
        raise TypeError(f"no random numbers of dtype {a.dtype}")
    for d in range(a.ndim):
        if a.strides[d] % itemsize:
            raise ValueError("strides must be multiples of the element size")
        out.shape[d] = a.shape[d]
        out.strides[d] = a.strides[d] // itemsize
    out.block.data = <char*>cnp.PyArray_DATA(a)
    out.block.dtype = _NAMES.index(a.dtype.name)
    out.block.ndim = a.ndim
    out.block.shape = &out.shape[0]
    out.block.strides = &out.strides[0]
    return 0


cdef int check(int status) except -1:
    if status == ST_DRAW_NO_DTYPE:
        raise TypeError("the distribution is not defined for this dtype")
    if status == ST_DRAW_NO_MEMORY:
        raise MemoryError
    if status != ST_DRAW_OK:
        raise ValueError("a parameter is out of range")
    return 0


cdef fill(Stream stream, cnp.ndarray out, int distribution, st_draw_params params, int style):
    cdef Block block
    if not cnp.PyArray_ISWRITEABLE(out):
        raise ValueError("the array is read-only")
    describe(out, &block)
    check(stream.draw(distribution, &block.block, &params, style))
    return out


def uniform(Stream stream, out, double lo=0, double hi=1, int style=0):
    """Fill with numbers of [lo, hi)."""
    return fill(stream, out, ST_DRAW_UNIFORM, st_draw_params(lo, hi, 0, 0, NULL), style)


def normal(Stream stream, out, double mean=0, double std=1, int style=0):
    """Fill with normal numbers."""
    return fill(stream, out, ST_DRAW_NORMAL, st_draw_params(mean, std, 0, 0, NULL), style)


def exponential(Stream stream, out, double rate=1, int style=0):
    """Fill with exponential numbers."""
    return fill(stream, out, ST_DRAW_EXPONENTIAL, st_draw_params(rate, 0, 0, 0, NULL), style)


def cauchy(Stream stream, out, double median=0, double sigma=1, int style=0):
    """Fill with Cauchy numbers."""
    return fill(stream, out, ST_DRAW_CAUCHY, st_draw_params(median, sigma, 0, 0, NULL), style)


def log_normal(Stream stream, out, double mean=1, double std=2, int style=0):
    """Fill with numbers whose logarithm is normal."""
    return fill(stream, out, ST_DRAW_LOG_NORMAL, st_draw_params(mean, std, 0, 0, NULL), style)


def geometric(Stream stream, out, double p, int style=0):
    """Fill with numbers of trials up to the first success."""
    return fill(stream, out, ST_DRAW_GEOMETRIC, st_draw_params(p, 0, 0, 0, NULL), style)


def whole(Stream stream, out, int style=0):
    """Fill with whole numbers from 0 to the greatest of the dtype."""
    return fill(stream, out, ST_DRAW_WHOLE, st_draw_params(0, 0, 0, 0, NULL), style)


def integers(Stream stream, out, int64_t base, uint64_t range, int style=0):
    """Fill with whole numbers of [base, base + range); range 0 means 2**64."""
    return fill(stream, out, ST_DRAW_RANGE, st_draw_params(0, 0, base, range, NULL), style)


def bernoulli(Stream stream, out, p, int style=0):
    """Fill with 1 with probability p, a number or an array of the shape of ``out``, else 0."""
    cdef Block each
    if not isinstance(p, np.ndarray):
        return fill(stream, out, ST_DRAW_BERNOULLI, st_draw_params(p, 1, 0, 0, NULL), style)
    if p.shape != out.shape:
        raise ValueError(f"p has shape {p.shape}, out {out.shape}")
    describe(p, &each)
    return fill(stream, out, ST_DRAW_BERNOULLI_EACH, st_draw_params(0, 0, 0, 0, &each.block), style)


cdef sample(Stream stream, int sampler, cnp.ndarray out, a, b, bint replacement=False, int style=0):
    """Run a sampler on contiguous arrays of one dtype; out has rows where a has, and n_samples columns."""
    cdef cnp.ndarray first = out if a is None else np.ascontiguousarray(a)
    cdef cnp.ndarray second = first if b is None else np.ascontiguousarray(b)
    cdef Py_ssize_t n = first.shape[first.ndim - 1] if first.ndim else 1
    cdef Block block
    if second.dtype != first.dtype or second.size != first.size:
        raise ValueError("the parameters differ in dtype or size")
    describe(first, &block)
    cdef st_request request = st_request(
        <char*>cnp.PyArray_DATA(out), <char*>cnp.PyArray_DATA(first), <char*>cnp.PyArray_DATA(second),
        block.block.dtype, replacement, first.size // n if n else 0, n, out.shape[out.ndim - 1] if out.ndim else 1)
    check(stream.sample(sampler, &request, style))
    return out


def permutation(Stream stream, Py_ssize_t n, dtype=np.int64):
    """The numbers 0 .. n-1 in random order."""
    return sample(stream, ST_SAMPLE_PERMUTATION, np.empty(n, dtype), None, None)


def poisson(Stream stream, rate):
    """A Poisson number for each rate."""
    return sample(stream, ST_SAMPLE_POISSON, np.empty(rate.shape, rate.dtype), rate, None)


def gamma(Stream stream, alpha, int style=0):
    """A gamma number of scale 1 for each shape alpha."""
    return sample(stream, ST_SAMPLE_GAMMA, np.empty(alpha.shape, alpha.dtype), alpha, None, False, style)


def dirichlet(Stream stream, alpha, int style=0):
    """Shares that add up to 1 for each row of concentrations."""
    return sample(stream, ST_SAMPLE_DIRICHLET, np.empty(alpha.shape, alpha.dtype), alpha, None, False, style)


def binomial(Stream stream, count, prob):
    """A number of successes for each pair of a number of trials and a probability."""
    return sample(stream, ST_SAMPLE_BINOMIAL, np.empty(count.shape, count.dtype), count, prob)


def multinomial(Stream stream, weights, Py_ssize_t n_samples, bint replacement=False, int style=0):
    """n_samples indices for each row of weights."""
    *rows, n = weights.shape
    if n_samples < 1 or not (replacement or n_samples <= n):
        raise ValueError(f"cannot draw {n_samples} of {n}")
    out = np.empty((*rows, n_samples), np.int64)
    return sample(stream, ST_SAMPLE_MULTINOMIAL, out, weights, None, replacement, style)
