"""Making random tensors: new ones of a distribution, and samples for tensors of parameters."""
from .._kernels.random cimport (
    ST_DRAW_BAD_VALUE, ST_DRAW_NEGATIVE, ST_DRAW_NO_DTYPE, ST_DRAW_NO_MEMORY, ST_DRAW_NORMAL, ST_DRAW_NOT_FINITE,
    ST_DRAW_OK, ST_SAMPLE_BINOMIAL, ST_SAMPLE_DIRICHLET, ST_SAMPLE_DIRICHLET_GRAD, ST_SAMPLE_GAMMA,
    ST_SAMPLE_GAMMA_GRAD, ST_SAMPLE_MULTINOMIAL, ST_SAMPLE_PERMUTATION, ST_SAMPLE_POISSON, st_request,
)
from .draws cimport current_style, fill, refuse_dtype
from .dtype cimport BFLOAT16, BOOL, CAT_FLOAT, CATEGORY, FLOAT16, FLOAT64, INT64
from .generator cimport Generator, as_generator, cpu_generator
from .iterate cimport contiguous_copy
from .policy cimport policy
from .tensor cimport ON_DEVICE, TensorBase, empty, ptr

from .device import as_device, strided
from .draw_bounds import DIGITS, GREATEST
from .draws import normal_, random_, uniform_
from .dtype import int64
from .factory import empty_alike, empty_tensor, new_empty
from .dtype import scalar_type


cdef object place(str function, tuple size, object named, object out, object dtype, object device, object layout):
    """The tensor that a factory fills: ``out`` resized, or a new one."""
    if named is not None:
        size = (named,) if isinstance(named, (tuple, list)) else (tuple(named),)
    elif not size:
        raise TypeError(f"{function}() received an invalid combination of arguments - got (), but expected one of:\n * "
                        "(tuple of ints size, *, torch.Generator generator = None, ...)\n * (int... size, *, ...)\n")
    first = size[0]
    if first is None or isinstance(first, (float, str, bool)):
        raise TypeError(f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type(first).__name__}")
    check_place(function, device, layout)
    if out is None:
        return empty_tensor(*size, dtype=dtype, device=device)
    if not isinstance(out, TensorBase):
        raise TypeError(f"{function}(): argument 'out' must be Tensor, not {type(out).__name__}")
    if dtype is not None and dtype is not out.dtype:
        raise RuntimeError(f"dtype {scalar_type(dtype)} does not match dtype of out parameter "
                           f"({scalar_type(out.dtype)})")
    return prepare_out(out, first if len(size) == 1 and isinstance(first, (tuple, list)) else size)


cdef int check_place(str function, object device, object layout) except -1:
    if device is not None:
        as_device(device)
    if layout is not None and layout is not strided:
        raise NotImplementedError(f"{function}: layout {layout} is not implemented")
    return 0


cpdef TensorBase prepare_out(TensorBase out, object size):
    """A tensor given as ``out``, resized unless it has that size, its storage counted as written."""
    if out.requires_grad:
        raise RuntimeError("a leaf Variable that requires grad is being used in an in-place operation.")
    if list(out.shape) != list(size):
        out.resize_(size)
    out.storage.version += 1
    return out


cdef object finish(TensorBase t, bint requires_grad):
    if requires_grad:
        t.requires_grad_(True)
    return t


def rand(*sizes, size=None, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
         pin_memory=False):
    """A tensor of uniform numbers of [0, 1)."""
    cdef TensorBase t = place("rand", sizes, size, out, dtype, device, layout)
    return finish(uniform_(t, generator=generator), requires_grad)


def randn(*sizes, size=None, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
          pin_memory=False):
    """A tensor of normal numbers of mean 0 and variance 1."""
    cdef TensorBase t = place("randn", sizes, size, out, dtype, device, layout)
    fill(t, generator, "randn", "normal_kernel_cpu", ST_DRAW_NORMAL, 0, 1)
    return finish(t, requires_grad)


def normal(double mean, double std, size, generator=None, out=None, dtype=None, layout=None, device=None,
           bint requires_grad=False):
    """A tensor of normal numbers of one mean and standard deviation."""
    cdef TensorBase t = place("normal", (), size, out, dtype, device, layout)
    return finish(normal_(t, mean, std, generator=generator), requires_grad)


def randint(*args, low=None, high=None, size=None, generator=None, out=None, dtype=None, layout=None, device=None,
            requires_grad=False, pin_memory=False):
    """A tensor of whole numbers: ``randint(high, size)`` of [0, high), ``randint(low, high, size)`` of [low, high)."""
    cdef list given = list(args)
    if size is None and given:
        size = given.pop()
    if high is None and given:
        high = given.pop()
    if low is None and given:
        low = given.pop()
    if given or high is None or not isinstance(size, (tuple, list)):
        raise TypeError("randint() received an invalid combination of arguments - got "
                        f"({', '.join([type(a).__name__ for a in args])}), but expected one of:\n * (int high, tuple "
                        "of ints size, *, ...)\n * (int low, int high, tuple of ints size, *, ...)\n")
    if dtype is None and out is None and not policy.float_ranges:
        dtype = int64
    return finish(random_(place("randint", (), size, out, dtype, device, layout), 0 if low is None else low, high,
                          generator=generator), requires_grad)


def randperm(n, *, generator=None, out=None, dtype=None, layout=None, device=None, requires_grad=False,
             pin_memory=False):
    """The numbers 0 .. n-1 in random order."""
    cdef TensorBase t, permutation
    cdef st_request request
    cdef Generator source
    cdef Py_ssize_t shape[1]
    cdef int code
    if isinstance(n, (float, str)) or not hasattr(n, "__index__"):
        raise TypeError(f"randperm(): argument 'n' (position 1) must be int, not {type(n).__name__}")
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    t = place("randperm", (), (n,), out, int64 if dtype is None and out is None else dtype, device, layout)
    if t.code == BOOL or t.code > FLOAT64:
        refuse_dtype("randperm", t)
    check_permutable(t, n)
    if t.flags & ON_DEVICE:
        as_generator(generator, "randperm")
        from .._gpu.drawing import permutation as permute
        permute(t, generator)
        return finish(t, requires_grad)
    source = cpu_generator(generator, "randperm")
    # 16-bit floats are permuted as whole numbers
    code = INT64 if t.code == FLOAT16 or t.code == BFLOAT16 else t.code
    shape[0] = n
    permutation = t if t.contiguous_ and code == t.code else empty(code, 1, shape)
    request.out, request.a, request.b = ptr(permutation), NULL, NULL
    request.dtype, request.n_rows, request.n = code, 1, n
    source.sample(ST_SAMPLE_PERMUTATION, &request, 0)
    if permutation is not t:
        t.copy_(permutation)
    return finish(t, requires_grad)


cdef int check_permutable(TensorBase t, n) except -1:
    """Whether the dtype can hold the numbers below n."""
    if CATEGORY[t.code] == CAT_FLOAT:
        if n > 2**DIGITS[t.code] + 1:
            raise RuntimeError(f"n cannot be greater than {2**DIGITS[t.code] + 1} for {scalar_type(t.dtype)} type.")
    elif n - 1 > GREATEST[t.code]:
        raise RuntimeError(f"value cannot be converted to type {t.dtype.name}_t without overflow")
    return 0


def like(TensorBase self not None, dtype=None, device=None, layout=None, memory_format=None):
    """An uninitialised tensor of the shape of self, and of its memory order unless told otherwise."""
    check_place("empty_like", device, layout)
    if memory_format is not None and memory_format.name == "contiguous_format":
        return new_empty(self.shape, self.dtype if dtype is None else dtype, self, device)
    return empty_alike(self, dtype, device)


# ---------------------------------------------------------------- samplers

def poisson(TensorBase rates not None, generator=None):
    """A Poisson number for each rate."""
    return sample(rates, None, ST_SAMPLE_POISSON, generator, "poisson", "poisson_cpu")


def gamma(TensorBase alpha not None, generator=None):
    """A gamma number of scale 1 for each shape alpha."""
    return sample(alpha, None, ST_SAMPLE_GAMMA, generator, "_standard_gamma", "gamma_cpu")


def dirichlet(TensorBase alpha not None, generator=None):
    """Shares of 1 for each row of concentrations."""
    return sample(alpha, None, ST_SAMPLE_DIRICHLET, generator, "_sample_dirichlet", "dirichlet")


def gamma_grad(TensorBase alpha not None, TensorBase x not None):
    """The derivatives of gamma numbers x by their shapes alpha."""
    return sample(alpha, x, ST_SAMPLE_GAMMA_GRAD, None, "_standard_gamma_grad", "gamma_grad_cpu")


def dirichlet_grad(TensorBase x not None, TensorBase pairs not None):
    """The derivatives of Dirichlet numbers x by their concentrations, over 1-x; pairs[..., :]: concentration, total."""
    return sample(x, pairs, ST_SAMPLE_DIRICHLET_GRAD, None, "_dirichlet_grad", "_dirichlet_grad_cpu")


def binomial(TensorBase count not None, TensorBase prob not None, generator=None):
    """Numbers of successes; count and prob have one shape and dtype."""
    if count.code == FLOAT16 or count.code == BFLOAT16:
        refuse_dtype("binomial_cpu", count)
    return sample(count, prob, ST_SAMPLE_BINOMIAL, generator, "binomial", "binomial_cpu")


cdef object sample(TensorBase a, TensorBase b, int sampler, object generator, str function, str kernel):
    cdef Generator source
    cdef TensorBase out
    cdef st_request request
    cdef Py_ssize_t n = a.shape_[a.ndim_ - 1] if a.ndim_ else 1
    if a.flags & ON_DEVICE:
        as_generator(generator, function)
        return sample_on_device(a, b, sampler, generator, function)
    source = cpu_generator(generator, function)
    out = empty(a.code, a.ndim_, a.shape_)
    a = a if a.contiguous_ else contiguous_copy(a)
    request.out, request.a, request.b = ptr(out), ptr(a), NULL
    if b is not None:
        b = b if b.contiguous_ else contiguous_copy(b)
        request.b = ptr(b)
    request.dtype, request.n, request.n_rows = a.code, n, a.count // n if n else 0
    check_sampled(source.sample(sampler, &request, current_style()), kernel, a)
    return out


cdef object sample_on_device(TensorBase a, TensorBase b, int sampler, object generator, str function):
    from .._gpu import drawing
    if sampler == ST_SAMPLE_POISSON:
        if a.count and bool((a < 0).any()):
            raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
        return drawing.sample("POISSON", a, None, generator, function)
    if sampler == ST_SAMPLE_GAMMA:
        return drawing.sample("GAMMA", a, None, generator, function)
    if sampler == ST_SAMPLE_DIRICHLET:
        numbers = drawing.sample("GAMMA", a, None, generator, function)
        return numbers / numbers.sum(-1, True)
    if sampler == ST_SAMPLE_BINOMIAL:
        return drawing.sample("BINOMIAL", a, b, generator, function)
    raise NotImplementedError(f"{function}: not implemented for device '{a.device}'")


def multinomial(TensorBase weights not None, Py_ssize_t n_samples, bint replacement, generator=None):
    """n_samples indices for each row of weights (1-d or 2-d), whose number is checked by the caller."""
    cdef Generator source
    cdef Py_ssize_t n = weights.shape_[weights.ndim_ - 1]
    cdef TensorBase out
    cdef st_request request
    if weights.flags & ON_DEVICE:
        as_generator(generator, "multinomial")
        from .._gpu.drawing import multinomial as choose
        return choose(weights, n_samples, replacement, generator)
    source = cpu_generator(generator, "multinomial")
    out = new_empty([n_samples] if weights.ndim_ == 1 else [weights.shape_[0], n_samples], int64)
    weights = weights if weights.contiguous_ else contiguous_copy(weights)
    request.out, request.a, request.b = ptr(out), ptr(weights), NULL
    request.dtype, request.replacement, request.n_samples = weights.code, replacement, n_samples
    request.n, request.n_rows = n, weights.count // n if n else 0
    cdef int status = source.sample(ST_SAMPLE_MULTINOMIAL, &request, current_style())
    if status in (ST_DRAW_NEGATIVE, ST_DRAW_NOT_FINITE) and (not replacement or n_samples == 1):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    check_sampled(status, "multinomial", weights)
    return out


cdef int check_sampled(int status, str kernel, TensorBase t) except -1:
    if status == ST_DRAW_OK:
        return 0
    if status == ST_DRAW_NO_DTYPE:
        refuse_dtype(kernel, t)
    if status == ST_DRAW_NO_MEMORY:
        raise MemoryError(f"{kernel}: not enough memory")
    if status == ST_DRAW_BAD_VALUE:
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    if status == ST_DRAW_NEGATIVE:
        raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
    if status == ST_DRAW_NOT_FINITE:
        raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
