"""Filling tensors with random numbers: each call draws what PyTorch draws, bit for bit."""
from .._kernels.random cimport (
    ST_DRAW_1_X, ST_DRAW_BAD_VALUE, ST_DRAW_BERNOULLI, ST_DRAW_BERNOULLI_EACH, ST_DRAW_CAUCHY, ST_DRAW_EXPONENTIAL,
    ST_DRAW_GEOMETRIC, ST_DRAW_LOG_NORMAL, ST_DRAW_LOGICAL, ST_DRAW_MCG31, ST_DRAW_NO_DTYPE, ST_DRAW_NORMAL,
    ST_DRAW_PLAIN, ST_DRAW_RANGE, ST_DRAW_UNIFORM, ST_DRAW_WHOLE, st_draw_params, st_strided,
)
from .draw_bounds cimport set_range
from .dtype cimport CAT_FLOAT, CATEGORY, COMPLEX64, FLOAT32, FLOAT64, INT64
from .generator cimport Generator, as_generator, cpu_generator
from .iterate cimport alloc_result
from .policy cimport policy
from .tensor cimport ON_DEVICE, SPARSE, TensorBase, ptr, same_shape

from .draw_bounds import C_NAMES, GREATEST
from .factory import new_empty
from .dtype import scalar_type


cdef int current_style() noexcept:
    """How the PyTorch version of the current era draws."""
    cdef int style = 0
    if not policy.random_threshold_28:
        style |= ST_DRAW_1_X
    if not policy.random_fused:
        style |= ST_DRAW_PLAIN | ST_DRAW_1_X
    if policy.logical_order_random:
        style |= ST_DRAW_LOGICAL
    if policy.mkl_bernoulli:
        style |= ST_DRAW_MCG31
    return style


cdef void describe(TensorBase t, st_strided* block) except *:
    block.data = ptr(t)
    block.dtype = t.code
    block.ndim = t.ndim_
    block.shape = t.shape_
    block.strides = t.strides_


cdef object refuse_dtype(str kernel, TensorBase t):
    raise NotImplementedError(f'"{kernel}" not implemented for \'{scalar_type(t.dtype)}\'')


cdef int fill(TensorBase t, object generator, str function, str kernel, int distribution, double a, double b) except -1:
    """Fill t with a distribution of one or two real parameters."""
    cdef st_draw_params params
    params.a, params.b = a, b
    return run(t, generator, function, kernel, distribution, &params)


cdef int run(TensorBase t, object generator, str function, str kernel, int distribution,
             const st_draw_params* params) except -1:
    cdef Generator source
    cdef st_strided block
    cdef int d, status
    if not t.contiguous_:
        for d in range(t.ndim_):
            if t.strides_[d] == 0 and t.shape_[d] > 1:
                raise RuntimeError("unsupported operation: more than one element of the written-to tensor refers to a "
                                   "single memory location. Please clone() the tensor before performing the operation.")
    if t.flags & ON_DEVICE:
        as_generator(generator, function)
        return run_on_device(t, generator, function, distribution, params)
    source = cpu_generator(generator, function)
    describe(t, &block)
    status = source.draw(distribution, &block, params, current_style())
    if status == ST_DRAW_NO_DTYPE:
        refuse_dtype(kernel, t)
    if status == ST_DRAW_BAD_VALUE:
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
                           "improved?  If so, please report an enhancement request to PyTorch.)")
    return 0


cdef int run_on_device(TensorBase t, object generator, str function, int distribution,
                       const st_draw_params* params) except -1:
    from .._gpu import drawing
    if distribution == ST_DRAW_WHOLE:
        drawing.draw_any(t, generator)
    elif distribution == ST_DRAW_RANGE:
        drawing.draw_whole(t, generator, params.base, params.range)
    else:
        drawing.draw(t, generator, function, DEVICE_KINDS[distribution], params.a, params.b)
    return 0


# The distributions as the kernels for devices number them (see _gpu/kernels/kernels.h).
cdef dict DEVICE_KINDS = {
    ST_DRAW_UNIFORM: 0, ST_DRAW_NORMAL: 1, ST_DRAW_BERNOULLI: 2, ST_DRAW_EXPONENTIAL: 3, ST_DRAW_CAUCHY: 4,
    ST_DRAW_LOG_NORMAL: 5, ST_DRAW_GEOMETRIC: 6,
}


cdef double real(object value, str function, str name, int position) except? -1:
    """A parameter of a distribution as a C number."""
    if isinstance(value, (float, int)):
        return value
    if isinstance(value, complex) or not hasattr(value, "__float__"):
        raise TypeError(f"{function}(): argument '{name}' (position {position}) must be float, not "
                        f"{type(value).__name__}")
    return float(value)


# ---------------------------------------------------------------- in place

def uniform_(TensorBase self not None, from_=0, to=1, *, generator=None):
    """Fill with numbers of [from, to)."""
    cdef double low = real(from_, "uniform_", "from", 1), high = real(to, "uniform_", "to", 2)
    if CATEGORY[self.code] < CAT_FLOAT:
        refuse_dtype("check_uniform_bounds", self)
    if not (low == 0 and high == 1):
        check_range(self, low, high)
    fill(self, generator, "uniform_", "check_uniform_bounds", ST_DRAW_UNIFORM, low, high)
    return self


cdef int check_range(TensorBase t, double low, double high) except -1:
    """Whether the bounds of uniform numbers, and their distance, are numbers of the dtype, and in order."""
    cdef int code = t.code if CATEGORY[t.code] == CAT_FLOAT else FLOAT32 + (t.code - COMPLEX64)
    cdef double greatest = GREATEST[code]
    for name, bound in (("from", low), ("to", high)):
        if not -greatest <= bound <= greatest:
            raise RuntimeError(f"{name} is out of bounds for {C_NAMES[code]}")
    if low > high:
        raise RuntimeError(f"uniform_ expects to return a [from, to) range, but found from={low:g} > to={high:g}")
    if high - low > greatest:
        raise RuntimeError(f"uniform_ expects to-from <= std::numeric_limits<{scalar_type(t.dtype)}>::max(), but "
                           f"found to={high:g} and from={low:g} which result in to-from to exceed the limit")
    return 0


def normal_(TensorBase self not None, mean=0, std=1, *, generator=None):
    """Fill with normal numbers."""
    cdef double center = real(mean, "normal_", "mean", 1), spread = real(std, "normal_", "std", 2)
    if not spread >= 0:
        raise RuntimeError(f"normal expects std >= 0.0, but found std {spread:g}")
    fill(self, generator, "normal_", "normal_kernel_cpu", ST_DRAW_NORMAL, center, spread)
    return self


def exponential_(TensorBase self not None, lambd=1, *, generator=None):
    """Fill with exponential numbers of rate ``lambd``."""
    cdef double rate = real(lambd, "exponential_", "lambd", 1)
    if not rate > 0:
        raise RuntimeError(f"exponential_ expects lambda > 0.0, but found lambda={rate:g}")
    if CATEGORY[self.code] != CAT_FLOAT:
        raise RuntimeError("Exponential distribution is a continuous probability distribution. dtype must be a "
                           f"floating point but you specified {scalar_type(self.dtype)}")
    fill(self, generator, "exponential_", "exponential_cpu", ST_DRAW_EXPONENTIAL, rate, 0)
    return self


def cauchy_(TensorBase self not None, median=0, sigma=1, *, generator=None):
    """Fill with Cauchy numbers."""
    cdef double center = real(median, "cauchy_", "median", 1), spread = real(sigma, "cauchy_", "sigma", 2)
    if not spread > 0:
        raise RuntimeError(f"cauchy_ expects sigma > 0.0, but found sigma={spread:g}")
    if CATEGORY[self.code] != CAT_FLOAT:
        raise RuntimeError("Cauchy distribution is a continuous probability distribution. dtype must be a floating "
                           f"point but you specified {C_NAMES[self.code]}{' int' if self.code == INT64 else ''}")
    fill(self, generator, "cauchy_", "cauchy_cpu", ST_DRAW_CAUCHY, center, spread)
    return self


def log_normal_(TensorBase self not None, mean=1, std=2, *, generator=None):
    """Fill with numbers whose logarithm is normal with the given mean and standard deviation."""
    cdef double center = real(mean, "log_normal_", "mean", 1), spread = real(std, "log_normal_", "std", 2)
    if not spread > 0:
        raise RuntimeError(f"log_normal_ expects std > 0.0, but found std={spread:g}")
    fill(self, generator, "log_normal_", "log_normal_cpu", ST_DRAW_LOG_NORMAL, center, spread)
    return self


def geometric_(TensorBase self not None, p, *, generator=None):
    """Fill with the numbers of trials up to the first success, which has probability p."""
    cdef double probability = real(p, "geometric_", "p", 1)
    if not 0 < probability < 1:
        raise RuntimeError(f"geometric_ expects p to be in (0, 1), but got p={probability:g}")
    fill(self, generator, "geometric_", "geometric_cpu", ST_DRAW_GEOMETRIC, probability, 0)
    return self


def bernoulli_(TensorBase self not None, p=0.5, *, generator=None):
    """Fill with 1 with probability p, a number or a tensor that broadcasts to this one, else 0."""
    cdef double probability
    cdef st_draw_params params
    cdef st_strided each
    cdef TensorBase probabilities
    if isinstance(p, TensorBase):
        probabilities = p if same_shape(p, self) else p.detach().expand(self.shape)
        if probabilities.flags & SPARSE:
            raise NotImplementedError("bernoulli_: not implemented for sparse probabilities")
        if CATEGORY[probabilities.code] != CAT_FLOAT:
            refuse_dtype("bernoulli_tensor_cpu_p_", probabilities)
        if self.flags & ON_DEVICE:
            as_generator(generator, "bernoulli_")
            from .._gpu.drawing import draw_each
            draw_each(self, probabilities, generator)
            return self
        describe(probabilities, &each)
        params.each = &each
        run(self, generator, "bernoulli_", "bernoulli_tensor_cpu_self_", ST_DRAW_BERNOULLI_EACH, &params)
        return self
    probability = real(p, "bernoulli_", "p", 1)
    if not 0 <= probability <= 1:
        raise RuntimeError(f"bernoulli_ expects p to be in [0, 1], but got p={probability:g}")
    fill(self, generator, "bernoulli_", "bernoulli_scalar_cpu_", ST_DRAW_BERNOULLI, probability, 1)
    return self


def keep_mask(TensorBase x not None, shape, double p, bint scaled=False):
    """Zeros with probability p, else ones, or 1/(1-p) in the precision of x if ``scaled``: the noise of dropout.

    shape: that of the noise, if it is not that of x.
    """
    cdef TensorBase noise
    cdef double keep = 1 - p, value = 1
    noise = alloc_result(x.code, x.ndim_, x.shape_, x, None) if shape is None else new_empty(shape, x.dtype, x)
    if scaled:
        value = 1 / keep if x.code == FLOAT64 else 1 / <double><float>keep
    fill(noise, None, "dropout", "bernoulli_scalar_cpu_", ST_DRAW_BERNOULLI, keep, value)
    return noise


# ---------------------------------------------------------------- whole numbers

def random_(TensorBase self not None, *bounds, from_=None, to=None, generator=None):
    """Fill with whole numbers of [from, to): ``random_()``, ``random_(to)``, ``random_(from, to)``.

    Without ``to``, up to the greatest value of the dtype (for floats: the greatest that all whole numbers up to are
    exact).
    """
    cdef st_draw_params params
    cdef Py_ssize_t n = len(bounds)
    for bound in bounds + (from_, to):
        if bound is not None and (isinstance(bound, (float, str)) or not hasattr(bound, "__index__")):
            raise TypeError("random_() received an invalid combination of arguments - got "
                            f"({', '.join([type(b).__name__ for b in bounds])}), but expected one of:\n * (*, "
                            "torch.Generator generator = None)\n * (int from, int to, *, torch.Generator generator = "
                            "None)\n * (int to, *, torch.Generator generator = None)\n")
    if n > 2 or (n == 2 and (from_ is not None or to is not None)) or (n and from_ is not None):
        raise TypeError(f"random_() takes at most 2 bounds, got {n}")
    if n == 0 and from_ is None and to is None:
        run(self, generator, "random_", "random_kernel_cpu", ST_DRAW_WHOLE, NULL)
        return self
    if n == 2:
        low, high = bounds
    elif n == 1:
        low, high = (0, bounds[0]) if to is None else (bounds[0], to)
    else:
        low, high = 0 if from_ is None else from_, to
    set_range(self, low, high, &params)
    run(self, generator, "random_", "random_from_to_in_range_cpu", ST_DRAW_RANGE, &params)
    return self
