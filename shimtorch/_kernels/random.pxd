"""Random numbers as PyTorch draws them: the C functions of random.h, and the stream that guards a generator's state."""

from cpython.pythread cimport PyThread_type_lock
from libc.stdint cimport int64_t, uint32_t, uint64_t

from .kernels cimport st_loop

cdef extern from "random.h" nogil:
    cdef enum:
        ST_RNG_BYTES
        ST_RNG_BYTES_1_1

    ctypedef struct st_rng:
        uint64_t seed

    cdef enum st_style:
        ST_DRAW_1_X
        ST_DRAW_PLAIN
        ST_DRAW_LOGICAL
        ST_DRAW_MCG31

    cdef enum st_draw_status:
        ST_DRAW_OK
        ST_DRAW_NO_DTYPE
        ST_DRAW_BAD_VALUE
        ST_DRAW_NO_MEMORY
        ST_DRAW_NEGATIVE
        ST_DRAW_NOT_FINITE
        ST_DRAW_ZERO_SUM

    cdef enum st_distribution:
        ST_DRAW_UNIFORM
        ST_DRAW_NORMAL
        ST_DRAW_EXPONENTIAL
        ST_DRAW_CAUCHY
        ST_DRAW_LOG_NORMAL
        ST_DRAW_GEOMETRIC
        ST_DRAW_BERNOULLI
        ST_DRAW_BERNOULLI_EACH
        ST_DRAW_RANGE
        ST_DRAW_WHOLE

    ctypedef struct st_strided:
        char *data
        int dtype
        int ndim
        const Py_ssize_t *shape
        const Py_ssize_t *strides

    ctypedef struct st_draw_params:
        double a
        double b
        int64_t base
        uint64_t range
        const st_strided *each

    void st_random_setup(st_loop (*cast)(int from_, int to) noexcept nogil, const char *isa) noexcept
    void st_rng_seed(st_rng *rng, uint64_t seed) noexcept
    void st_rng_save(const st_rng *rng, unsigned char *bytes) noexcept
    int st_rng_load(st_rng *rng, const unsigned char *bytes, size_t n) noexcept
    uint32_t st_rng_u32(st_rng *rng) noexcept
    uint64_t st_rng_u64(st_rng *rng) noexcept
    int st_draw(st_rng *rng, int distribution, const st_strided *out, const st_draw_params *params, int style) noexcept

    cdef enum st_sampler:
        ST_SAMPLE_PERMUTATION
        ST_SAMPLE_POISSON
        ST_SAMPLE_GAMMA
        ST_SAMPLE_DIRICHLET
        ST_SAMPLE_BINOMIAL
        ST_SAMPLE_MULTINOMIAL
        ST_SAMPLE_GAMMA_GRAD
        ST_SAMPLE_DIRICHLET_GRAD

    ctypedef struct st_request:
        char *out
        const char *a
        const char *b
        int dtype
        int replacement
        Py_ssize_t n_rows
        Py_ssize_t n
        Py_ssize_t n_samples

    int st_sample(st_rng *rng, int sampler, const st_request *request, int style) noexcept

cdef class Stream:
    cdef st_rng rng
    cdef PyThread_type_lock lock

    cdef void acquire(self) noexcept
    cdef void release(self) noexcept
    cdef void start(self, uint64_t seed) noexcept
    cdef void save(self, unsigned char* state) noexcept
    cdef int draw(self, int distribution, const st_strided* out, const st_draw_params* params, int style) noexcept
    cdef int sample(self, int sampler, const st_request* request, int style) noexcept
