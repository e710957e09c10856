"""Random numbers: in-place fills, new random tensors, samples for tensors of parameters.

The numbers are those that PyTorch draws on the CPU from the same seed, bit for bit; the era chooses the version.
"""

from .._core import draws, random_factory
from .._core.declaring import inplace_op, op
from .._core.dtype import scalar_type
from .._core.op import warn_resized
from .._core.policy import policy
from .._core.tensor import TensorBase


def _zeros(g):
    """The gradient of what a random number does not depend on smoothly."""
    return g.new_zeros(g.shape)


# ---------------------------------------------------------------- in place

for _fill in (draws.uniform_, draws.normal_, draws.exponential_, draws.cauchy_, draws.log_normal_, draws.geometric_,
              draws.bernoulli_, draws.random_):
    inplace_op(_fill, renames={"from": "from_"}, grads={"self": _zeros})


# ---------------------------------------------------------------- new tensors

for _make in (random_factory.rand, random_factory.randn, random_factory.randint, random_factory.randperm):
    op(_make, method=False)


def _like(name, fill):
    def forward(self, *, generator=None, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False,
                memory_format=None):
        t = fill(random_factory.like(self, dtype, device, layout, memory_format), generator)
        return t.requires_grad_() if requires_grad else t

    forward.__name__ = name
    forward.__doc__ = f"A random tensor of the shape of self, made as ``{name[:-5]}`` makes one."
    op(forward, method=False)


_like("rand_like", lambda t, generator: draws.uniform_(t, generator=generator))
_like("randn_like", lambda t, generator: draws.normal_(t, generator=generator))


@op(method=False)
def randint_like(self, *bounds, low=None, high=None, generator=None, dtype=None, layout=None, device=None,
                 requires_grad=False, pin_memory=False, memory_format=None):
    """Whole numbers in the shape of self: ``randint_like(x, high)`` or ``randint_like(x, low, high)``."""
    given = list(bounds)
    if high is None and given:
        high = given.pop()
    if low is None:
        low = given.pop() if given else 0
    if given or high is None:
        raise TypeError("randint_like() received an invalid combination of arguments")
    t = draws.random_(random_factory.like(self, dtype, device, layout, memory_format), low, high, generator=generator)
    return t.requires_grad_() if requires_grad else t


# ---------------------------------------------------------------- samples

def _write(out, result):
    """The result, or ``out`` with it: resized, and cast to its dtype."""
    if out is None:
        return result
    return random_factory.prepare_out(out, result.shape).copy_(result)


@op(renames={"means": "mean"}, method=False, grads={"mean": _zeros, "std": _zeros})
def normal(mean=0.0, std=1.0, size=None, *, generator=None, out=None, dtype=None, layout=None, device=None,
           requires_grad=False, pin_memory=False):
    """Normal numbers: ``normal(mean, std)`` with a tensor among them, or ``normal(mean, std, size)`` with numbers.

    Tensors broadcast; the result has the dtype of ``mean``, or of ``std`` if ``mean`` is a number.
    """
    tensors = [x for x in (mean, std) if isinstance(x, TensorBase)]
    if size is not None:
        if tensors:
            raise TypeError("normal() received an invalid combination of arguments: size= goes with numbers only")
        return random_factory.normal(mean, std, size, generator, out, dtype, layout, device, requires_grad)
    if not tensors:
        raise TypeError(f"normal() received an invalid combination of arguments - got ({type(mean).__name__}, "
                        f"{type(std).__name__}), but expected one of:\n * (Tensor mean, Tensor std, ...)\n * (Tensor "
                        "mean, float std = 1, ...)\n * (float mean, Tensor std, ...)\n * (float mean, float std, tuple "
                        "of ints size, ...)\n")
    if isinstance(std, TensorBase):
        if std.is_complex():
            raise RuntimeError("normal expects standard deviation to be non-complex")
        if std.numel() and not (std >= 0).all().item():
            raise RuntimeError("normal expects all elements of std >= 0.0")
    shape = tensors[0].shape if len(tensors) == 1 else (mean.detach() + std.detach()).shape
    if out is not None and not policy.logical_order_random:
        _check_normal_out(out, mean, std, shape)
    t = tensors[0].new_empty(shape)
    if isinstance(std, TensorBase):
        draws.normal_(t, generator=generator).mul_(std)
    else:
        draws.normal_(t, 0, std, generator=generator)
    return _write(out, t.add_(mean))


def _check_normal_out(out, mean, std, shape):
    """After 1.1, out is filled and a tensor of means added in place: it must have its shape; else it is resized."""
    if not isinstance(out, TensorBase):
        raise TypeError(f"normal(): argument 'out' must be Tensor, not {type(out).__name__}")
    if not out.is_floating_point() and not out.is_complex():
        raise NotImplementedError(f"\"normal_kernel_cpu\" not implemented for '{scalar_type(out.dtype)}'")
    if out.shape == shape:
        return
    if not isinstance(std, TensorBase):
        mean.detach().add(out.detach())                # which says how the shapes do not fit
        raise RuntimeError(f"output with shape {list(out.shape)} doesn't match the broadcast shape {list(shape)}")
    warn_resized(out, shape)


@op(grads={"self": _zeros})
def bernoulli(self, p=None, *, generator=None, out=None):
    """1 with the probability that each element gives, or with probability p for every element, else 0."""
    if p is None:
        t = draws.bernoulli_(self.new_empty(self.shape), self, generator=generator)
    elif isinstance(p, TensorBase):
        raise TypeError("bernoulli() received an invalid combination of arguments - got (Tensor, Tensor), but expected "
                        "one of:\n * (Tensor input, *, ...)\n * (Tensor input, float p, *, ...)\n")
    else:
        t = draws.bernoulli_(self.new_empty(self.shape), p, generator=generator)
    return _write(out, t)


@op
def multinomial(self, num_samples, replacement=False, *, generator=None, out=None):
    """``num_samples`` indices for each row of weights, which need not add up to 1.

    The weights are 1-d or 2-d; the result is int64, of shape (num_samples) or (rows, num_samples).
    """
    if self.dim() not in (1, 2):
        raise RuntimeError("prob_dist must be 1 or 2 dim")
    if not self.is_floating_point():
        raise RuntimeError("multinomial only supports floating-point dtypes for input, got: " + scalar_type(self.dtype))
    if out is not None and scalar_type(out.dtype) != "Long":
        raise RuntimeError("multinomial expects Long tensor out, got: " + scalar_type(out.dtype))
    if num_samples <= 0:
        raise RuntimeError("cannot sample n_sample <= 0 samples")
    if not replacement and num_samples > self.size(-1):
        raise RuntimeError("cannot sample n_sample > prob_dist.size(-1) samples without replacement")
    if self.size(-1) > 2**24:
        raise RuntimeError("number of categories cannot exceed 2^24")
    if self.dim() == 1 and self.size(0) == 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    return _write(out, random_factory.multinomial(self, num_samples, replacement, generator))


@op(method=False, grads={"self": _zeros})
def poisson(self, generator=None):
    """A Poisson number for each rate, in the dtype of the rates."""
    return random_factory.poisson(self, generator)


@op(method=False, grads={"count": _zeros, "prob": _zeros})
def binomial(count, prob, generator=None):
    """Numbers of successes in ``count`` trials of probability ``prob``; both of one floating point dtype, broadcast."""
    if not count.is_floating_point():
        raise ValueError("binomial only supports floating-point dtypes for count, got: " + scalar_type(count.dtype))
    if not prob.is_floating_point():
        raise ValueError("binomial only supports floating-point dtypes for prob, got: " + scalar_type(prob.dtype))
    if count.dtype != prob.dtype:
        raise RuntimeError(f"Found dtype {scalar_type(prob.dtype)} but expected {scalar_type(count.dtype)}")
    count, prob = count.detach(), prob.detach()
    if count.shape != prob.shape:
        shape = (count + prob).shape
        count, prob = count.expand(shape), prob.expand(shape)
    return random_factory.binomial(count, prob, generator)


# ---------------------------------------------------------------- gamma and Dirichlet numbers, with derivatives

def _same_shape(*tensors):
    shape = sum(t.detach() for t in tensors).shape
    return [t if t.shape == shape else t.expand(shape) for t in tensors]


@op(name="_standard_gamma", method=False, grads={"self": lambda g, self, out: g * standard_gamma_grad(self, out)})
def standard_gamma(self, generator=None):
    """A gamma number of scale 1 for each shape parameter, whose gradient is the implicit one."""
    return random_factory.gamma(self, generator)


@op(name="_standard_gamma_grad", method=False)
def standard_gamma_grad(self, output):
    """The derivatives of gamma numbers by their shape parameters; PyTorch's own approximate them to four digits."""
    shape, output = _same_shape(self.detach(), output.detach())
    return random_factory.gamma_grad(shape, output)


@op(name="_sample_dirichlet", method=False, grads={"self": lambda g, self, out: _dirichlet_backward(g, self, out)})
def sample_dirichlet(self, generator=None):
    """Shares of 1 for each row of concentrations (the last dimension)."""
    return random_factory.dirichlet(self, generator)


def _dirichlet_backward(g, self, out):
    return dirichlet_grad(out, self, self.sum(-1, True)) * (g - (out * g).sum(-1, True))


@op(name="_dirichlet_grad", method=False)
def dirichlet_grad(x, alpha, total):
    """The derivatives of Dirichlet numbers by their concentrations, divided by 1-x."""
    x, alpha, total = _same_shape(x.detach(), alpha.detach(), total.detach())
    pairs = x.new_empty((*x.shape, 2))
    pairs[..., 0] = alpha
    pairs[..., 1] = total
    return random_factory.dirichlet_grad(x, pairs)
