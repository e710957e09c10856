"""Reductions: sums, means, products, extremes and spread, over all elements or along dimensions."""
import math

from .._core import OPS
from .._core.declaring import op
from .._core.dtype import get_default_dtype, scalar_type, uint8
from .._core.history import camel
from .._core.policy import policy
from .._core.reductions import extreme, reduce_all, reduction
from .._core.tensor import TensorBase
from . import samples
from ._results import named
from ._rules import conj, named_by_dim, restore_dims, where
from .samples import Draw, Samples, call

_number = samples.reduction(dtypes="number")
_real = samples.reduction(dtypes="real")


def expand_back(g, self_shape, dim, keepdim):
    """The gradient of a sum."""
    return restore_dims(g, self_shape, dim, keepdim).expand(self_shape)


def share_grad(g, x, out, dim, keepdim):
    """The gradient of an extreme, shared evenly by the elements that reach it."""
    hit = (x == restore_dims(out, x.shape, dim, keepdim)).to(g.dtype)
    return restore_dims(g, x.shape, dim, keepdim) * hit / hit.sum(dim, True)


def pick_grad(g, shape, indices, dim, keepdim):
    """The gradient of values picked along a dimension."""
    if not shape:
        return g
    if not keepdim:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(shape).scatter(dim, indices, g)


def dims_of(dim, ndim):
    """The dimensions of a reduction as a list of numbers from 0."""
    if dim is None or (isinstance(dim, (tuple, list)) and not dim):
        return list(range(ndim))
    n = max(ndim, 1)
    result = []
    for d in dim if isinstance(dim, (tuple, list)) else (dim,):
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        result.append(d % n)
    return result


def _reduced_numel(shape, dim):
    return math.prod([shape[d] for d in dims_of(dim, len(shape)) if shape])


# ---------------------------------------------------------------- sums and products

reduction("sum", overloads=True, out="dim", dtype_of_out=True, samples=_number, backward_name=named_by_dim("Sum"),
          grads={"self": expand_back})


@op(out=True, samples=samples.reduction(dtypes="real"))
def nansum(self, dim=None, keepdim=False, *, dtype=None):
    """The sum of the elements that are not NaN."""
    if self.is_complex():
        raise RuntimeError("nansum on CPU does not support complex inputs")
    if not self.is_floating_point():
        return self.sum(dim, keepdim, dtype=dtype)
    if not self.is_cuda and (dtype is None or dtype.is_floating_point):
        total = self.sum(dim, keepdim, dtype=dtype)
        if not total.isnan().any():                            # then no element was
            return total
    return where(self.isnan(), 0, self).sum(dim, keepdim, dtype=dtype)


def _check_float(x, name):
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"{name}(): could not infer output dtype. Input dtype must be either a floating point or "
                           f"complex dtype. Got: {scalar_type(x.dtype)}")


@op(out=True, overloads=True, samples=samples.reduction(dtypes="floating"), backward_name=named_by_dim("Mean"),
    grads={"self": lambda g, self_shape, dim, keepdim: expand_back(g, self_shape, dim, keepdim)
           / max(_reduced_numel(self_shape, dim), 1)})
def mean(self, dim=None, keepdim=False, *, dtype=None):
    """The mean over all elements, or over dimensions."""
    if dtype is not None:
        if not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError("mean(): could not infer output dtype. Optional dtype must be either a floating point "
                               f"or complex dtype. Got: {scalar_type(dtype)}")
        self = self.to(dtype)
    _check_float(self, "mean")
    n = _reduced_numel(self.shape, dim)
    total = self.sum(dim, keepdim)
    return total / n if n else total * math.nan


@op(out=True, samples=samples.reduction())
def nanmean(self, dim=None, keepdim=False, *, dtype=None):
    """The mean of the elements that are not NaN."""
    _check_float(self, "nanmean")
    total = self.nansum(dim, keepdim, dtype=dtype)
    return total / self.isnan().logical_not().sum(dim, keepdim).to(total.dtype)


@op(out="dim", overloads=True, dtype_of_out=True, samples=Samples([
    call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), -1, True),
                                               call(Draw()), call(Draw(2, 0), 1),
                                               call(Draw(3, 4), 1, dtype=uint8)], "number"),
    backward_name=named_by_dim("Prod"),
    grads={"self": lambda g, self, dim, keepdim: _prod_grad(g, self, dim, keepdim)})
def prod(self, dim=None, keepdim=False, *, dtype=None):
    """The product of all elements, or along a dimension."""
    if isinstance(dim, (tuple, list)):
        raise TypeError("prod() received an invalid combination of arguments - got (tuple), but expected one of:\n"
                        " * (*, torch.dtype dtype)\n * (int dim, bool keepdim, *, torch.dtype dtype)")
    if dtype is not None:
        self = self.to(dtype)
    result = reduce_all(self, "prod", dim, keepdim)
    return result if dtype is None else result.to(dtype)


def _prod_grad(g, x, dim, keepdim):
    """Products of all other elements, which needs no division and so holds at zeros too."""
    if x.dim() == 0:
        return g
    flat = x.reshape(-1) if dim is None else x.movedim(dim, -1)
    n = flat.shape[-1]
    ones = flat.new_ones(flat.shape[:-1] + (1,))
    cat = OPS["torch.cat"]
    before = cat([ones, flat[..., :-1].cumprod(-1)], -1) if n else flat
    after = cat([flat[..., 1:].flip(-1).cumprod(-1).flip(-1), ones], -1) if n else flat
    others = before * after
    others = others.reshape(x.shape) if dim is None else others.movedim(-1, dim)
    return restore_dims(g, x.shape, dim, keepdim) * (others.conj() if others.is_complex() else others)


@op(out=True,
    samples=Samples([call(Draw(3, 4), 1), call(Draw(3, 4), (0, 1), True), call(Draw(3, 4), -2), call(Draw(), 0)],
                    "number"),
    grads={"self": lambda g, self, out, dim, keepdim: restore_dims(g, self.shape, dim, keepdim)
           * conj((self - restore_dims(out, self.shape, dim, keepdim)).exp())})
def logsumexp(self, dim, keepdim=False):
    """The logarithm of the sum of exponentials along dimensions, computed without overflow."""
    if self.is_complex():
        top = self.real.amax(dim, True) if self.numel() else self.real.sum(dim, True)
        top = where(top.isinf(), 0, top)
        return (self - top).exp().sum(dim, keepdim).log() + (top if keepdim else top.reshape(
            self.real.sum(dim).shape))
    if not self.is_floating_point():
        self = self.to(get_default_dtype())
    return reduce_all(self, "logsumexp", dim, keepdim)


# ---------------------------------------------------------------- truth

_any, _all, _count = (reduction("_" + name, name, method=False, function=False)
                      for name in ("any", "all", "count_nonzero"))
_truths = Samples([call(Draw(3, 4)), call(Draw(3, 4), 0), call(Draw(3, 4), 1, True), call(Draw(3, 4), (0, 1)),
                   call(Draw()), call(Draw(0, 2), 0)], "number", gradcheck=False)


def _truth(name, kernel):
    def forward(self, dim=None, keepdim=False):
        result = kernel(self, dim, keepdim)
        return result.to(self.dtype) if self.dtype.name == "uint8" or policy.compare_uint8 else result
    forward.__name__ = name
    forward.__doc__ = f"Whether {name} of the elements are true (not 0), of all or along dimensions."
    op(forward, out=True, samples=_truths)


_truth("any", _any)
_truth("all", _all)


@op(samples=Samples(_truths.calls[:2] + _truths.calls[3:], "number", gradcheck=False))
def count_nonzero(self, dim=None):
    """How many elements are not 0, of all or along dimensions."""
    return _count(self, dim)


# ---------------------------------------------------------------- extremes

_shared = {"self": lambda g, self, out, dim, keepdim: share_grad(g, self, out, dim, keepdim)}
reduction("amax", needs_elements=True, samples=_real, grads=_shared)
reduction("amin", needs_elements=True, samples=_real, grads=_shared)

_max_result, _min_result = named("max", "values", "indices"), named("min", "values", "indices")
_picked = {"self": lambda g, self_shape, out, dim, keepdim: pick_grad(g, self_shape, out[1], dim, keepdim)}


def _extreme(self, dim, keepdim, kernel):
    """The largest or smallest elements along a dimension and where they were: of equal ones the first or last place."""
    values, places = extreme(self, dim, keepdim, kernel)
    if policy.last_of_equals and self.dim() and self.is_contiguous():
        last = self.shape[dim] - 1 - extreme(self.flip(dim), dim, keepdim, kernel)[1]
        places = where(values.isnan(), places, last) if values.is_floating_point() else last
    return values, places


@op(method=False, function=False, backward_name="MaxBackward0", grads=_picked)
def _max_dim(self, dim, keepdim):
    return _max_result(_extreme(self, dim, keepdim, "max_arg"))


@op(method=False, function=False, backward_name="MinBackward0", grads=_picked)
def _min_dim(self, dim, keepdim):
    return _min_result(_extreme(self, dim, keepdim, "min_arg"))


def _whole(name, kernel):
    @op(name=name, method=False, function=False, backward_name=f"{kernel.capitalize()}Backward1",
        grads={"self": lambda g, self, out: share_grad(g, self, out, None, False)})
    def forward(self):
        return reduce_all(self, kernel)
    return forward


def _extreme_op(name, picked, whole, pair):
    def forward(self, dim=None, keepdim=False):
        if dim is None:
            if self.numel() == 0:
                raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify "
                                   "the reduction dim with the 'dim' argument.")
            if self.is_complex():
                raise NotImplementedError(f"\"{name}_all\" not implemented for '{scalar_type(self.dtype)}'")
            return whole(self)
        if isinstance(dim, TensorBase):
            return pair(self, dim)
        if self.is_complex():
            raise RuntimeError(f"{name}(): does not support complex input")
        return picked(self, dim, keepdim)
    forward.__name__ = name
    forward.__doc__ = (f"The {'largest' if name == 'max' else 'smallest'} element; with a dimension, values and "
                       "indices along it; with another tensor, element by element.")
    return op(forward, out=True, renames={"other": "dim"}, overloads=True, samples=Samples(
        [call(Draw(3, 4)), call(Draw(3, 4, distinct=True), 1), call(Draw(3, 4, distinct=True), -2, True),
         call(Draw(3, 4), Draw(4)), call(Draw()), call(Draw(), 0), call(Draw(12, special=True)),
         call(Draw(12, special=True), 0)], dtypes="real"))


_extreme_op("max", _max_dim, _whole("_max_all", "max"), lambda a, b: a.maximum(b))
_extreme_op("min", _min_dim, _whole("_min_all", "min"), lambda a, b: a.minimum(b))


def _arg_op(name):
    def forward(self, dim=None, keepdim=False):
        if self.dtype.name == "bool" and not policy.compare_uint8:
            raise RuntimeError(f"{name}(): does not support bool input")
        if self.is_complex():
            raise RuntimeError(f"{name}(): does not support complex input")
        if self.numel() == 0 and dim is None:
            raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        if dim is None:
            result = place(self.reshape(-1), 0, False)
            return result.view([1] * self.dim()) if keepdim else result
        d = dims_of(dim, self.dim())[0]
        if self.dim() and self.shape[d] == 0:
            raise IndexError(f"{name}(): Expected reduction dim {d} to have non-zero size.")
        return place(self, dim, keepdim)

    def place(x, dim, keepdim):
        if policy.last_of_equals:
            return _extreme(x, dim, keepdim, f"{name[3:]}_arg")[1]
        return reduce_all(x, name, dim, keepdim)
    forward.__name__ = name
    forward.__doc__ = f"The index of the {'largest' if name == 'argmax' else 'smallest'} element, of all or along dim."
    return op(forward, out=True, samples=Samples(
        [call(Draw(3, 4, distinct=True)), call(Draw(3, 4, distinct=True), 1), call(Draw(3, 4, distinct=True), 0, True),
         call(Draw()), call(Draw(3, 4, distinct=True), keepdim=True)], dtypes="real", gradcheck=False))


_arg_op("argmax")
_arg_op("argmin")

_aminmax_result = named("aminmax", "min", "max")


@op(out=True,
    samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), dim=1), call(Draw(3, 4), dim=0, keepdim=True)], "real"))
def aminmax(self, *, dim=None, keepdim=False):
    """The smallest and the largest element, of all or along a dimension."""
    if self.numel() == 0 and dim is not None and self.shape[dim] == 0:
        raise IndexError(f"aminmax: Expected reduction dim {dims_of(dim, self.dim())[0]} to have non-zero size.")
    if self.numel() == 0 and dim is None:
        raise RuntimeError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no "
                           "identity.")
    return _aminmax_result((self.amin(dim, keepdim), self.amax(dim, keepdim)))


# ---------------------------------------------------------------- spread

@op(name="_var", method=False, function=False, backward_name="VarBackward0", grads={
    "self": lambda g, self, dim, correction, keepdim: restore_dims(g, self.shape, dim, keepdim)
    * (self - self.mean(dim, True)) * (2 / (_reduced_numel(self.shape, dim) - correction)
                                       if _reduced_numel(self.shape, dim) != correction else math.nan)})
def _var(self, dim, correction, keepdim):
    return reduce_all(self, "var", dim, keepdim, correction)


def _variance(x, dim, correction, keepdim):
    if x.is_complex():
        return _variance(x.real, dim, correction, keepdim) + _variance(x.imag, dim, correction, keepdim)
    if not x.is_floating_point():
        raise RuntimeError("std and var only support floating point and complex dtypes")
    return _var(x, dim, correction, keepdim)


def _warn_freedom(name, limit):
    import warnings
    warnings.warn(f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the {limit}.",
                  UserWarning, stacklevel=3)


def _spread_op(name, doc, finish, method=True):
    def forward(self, dim=None, unbiased=None, keepdim=False, *, correction=None):
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None:
            correction = int(unbiased)
        correction = 1 if correction is None else correction
        result = _variance(self, dim, correction, keepdim)
        if self.numel() <= correction * max(result.numel(), 1) and policy.freedom_warning:
            _warn_freedom(name, "reduction factor (input numel divided by output numel)")
        return finish(self, dim, result, keepdim)
    forward.__name__ = name
    forward.__doc__ = doc
    return op(forward, out=True, method=method, overloads=True, backward_name=camel(name) + "Backward0",
              samples=Samples([call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(3, 4), 0, False),
                               call(Draw(3, 4), False), call(Draw(2, 3, 4), (0, 2), True, True),
                               call(Draw(3, 4), 1, correction=0)], "floating"))


_spread_op("var", "The variance, of all elements or along dimensions; divided by n - correction (1: unbiased).",
           lambda x, dim, var, keepdim: var)
_spread_op("std", "The standard deviation: the root of ``var``.", lambda x, dim, var, keepdim: var.sqrt())
_spread_op("std_mean", "The standard deviation and the mean.",
           lambda x, dim, var, keepdim: (var.sqrt(), x.mean(dim, keepdim)), False)
_spread_op("var_mean", "The variance and the mean.", lambda x, dim, var, keepdim: (var, x.mean(dim, keepdim)), False)


def _check_weights(name, weights, n, kind):
    """Weights of observations must be a vector, one for each, of a kind of dtype, and not negative."""
    if weights is None:
        return
    if weights.dim() > 1:
        raise RuntimeError(f"cov(): expected {name} to have one or fewer dimensions but got {name} with "
                           f"{weights.dim()} dimensions")
    if weights.is_complex() or weights.is_floating_point() != (kind == "floating point"):
        raise RuntimeError(f"cov(): expected {name} to have {kind} dtype but got {name} with "
                           f"{scalar_type(weights.dtype)} dtype")
    if weights.numel() != n:
        raise RuntimeError(f"cov(): expected {name} to have the same numel as there are observations in the input but "
                           f"got {weights.numel()} != {n}")
    if weights.numel() and bool((weights < 0).any()):
        raise RuntimeError(f"cov(): {name} cannot be negative")


@op(samples=Samples([call(Draw(3, 4)), call(Draw(4)), call(Draw(3, 4), correction=0),
                     call(Draw(3, 4), fweights=samples.integers(4, low=1, high=4)),
                     call(Draw(3, 4), aweights=Draw(4, low=0.2)), call(Draw(1, 4)), call(Draw()),
                     call(samples.integers(2, 4))], gradcheck=(0, 1, 2, 3, 4, 5)))
def cov(self, *, correction=1, fweights=None, aweights=None):
    """The covariance matrix of variables (rows) over observations (columns)."""
    if self.dim() > 2:
        raise RuntimeError("cov(): expected input to have two or fewer dimensions but got an input with "
                           f"{self.dim()} dimensions")
    if self.dtype.name == "bool":
        raise RuntimeError("cov(): bool dtype is not supported for input")
    x = self if self.dim() == 2 else self.reshape(1, -1)
    _check_weights("fweights", fweights, x.shape[1], "integral")
    _check_weights("aweights", aweights, x.shape[1], "floating point")
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(get_default_dtype())
    weights = fweights
    if aweights is not None:
        weights = aweights if weights is None else weights.to(aweights.dtype) * aweights
    if weights is None:
        total, mean = x.shape[1], x.mean(1, True)
        weighted = x - mean
    else:
        weights = weights if weights.is_floating_point() else weights.to(x.real.dtype)
        total = weights.sum()
        mean = (x * weights).sum(1, True) / total
        weighted = (x - mean) * weights
    if aweights is not None and correction:
        correction = correction * (weights * aweights).sum() / total
    free = total - correction
    if free <= 0:
        _warn_freedom("cov", "number of observations")
    free = free.clamp(min=0) if isinstance(free, TensorBase) else max(free, 0)
    centred = x - mean
    product = weighted.mm((centred.conj() if x.is_complex() else centred).t()) / free
    return product.squeeze()


@op(samples=Samples([call(Draw(3, 6)), call(Draw(4)), call(Draw(1, 4)), call(samples.integers(2, 4))]))
def corrcoef(self):
    """The matrix of correlation coefficients of variables (rows) over observations (columns)."""
    c = self.cov()
    if c.dim() == 0:
        return c / c
    spread = c.diagonal().sqrt()
    result = c / spread.unsqueeze(1) / spread
    return result if result.is_complex() else result.clamp(-1, 1)
