"""What sums, products, quotients and powers do to sparse operands, of one shape or broadcast.

Linear operations work on the entries as they stand. Others sum the entries of equal indices first, since
f(a + b) is not f(a) + f(b).
"""
from .._core import OPS, factory
from .._core.declaring import op
from .._core.device import strided
from .._core.dtype import bool as bool_dtype
from .._core.dtype import get_default_dtype, scalar_type
from .._core.promotion import result_type
from .._core.tensor import TensorBase
from ._rules import conj
from ._sparse_join import aligned, common_shape, expanded, matching
from ._sparse_parts import is_coo, on_sparse, parts, through_coo
from .sparse import common_entries, mask_of, same_indices, sparse_coo_from_parts
from .sparse_compressed import to_coo
from .sparse_compressed import with_values as with_compressed_values
from .sparse_shape import expand

_NO_SUM = "add(sparse, number) is not supported: the result would be dense; use to_dense() first"


def _is_number(x):
    return not isinstance(x, TensorBase) or (x.layout is strided and x.dim() == 0)


def _assign(target, result):
    """Make the sparse `target` what `result` is, in target's dtype."""
    if result.layout is strided:
        raise RuntimeError("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")
    if result.dtype is not target.dtype:
        _check_cast(result.dtype, target.dtype)
        result = cast_entries(result, target.dtype)
    return parts.become(target, result)


def _check_cast(source, target):
    from .._core.dtype import can_cast
    if not can_cast(source, target):
        raise RuntimeError(f"result type {scalar_type(source)} can't be cast to the desired output type "
                           f"{scalar_type(target)}")


@on_sparse("to_dtype", compressed=True)
def cast_entries(self, dtype):
    if not is_coo(self):
        return with_compressed_values(self, self.values().to(dtype))
    self = settled(self, dtype)
    return parts.with_values(self, parts.parts(self).values.to(dtype))


def settled(self, dtype):
    """The tensor, the entries of equal indices summed if their casts to the dtype would have another sum."""
    bools = (self.dtype is bool_dtype) != (dtype is bool_dtype)
    cut = (self.dtype.is_floating_point or self.dtype.is_complex) and not (dtype.is_floating_point or dtype.is_complex)
    return parts.coalesce(self) if bools or cut else self


def of_values(self, f, *args, **kwargs):
    """f of the summed values; differentiated through them."""
    if not self.requires_grad:
        self = parts.coalesce(self)
        return parts.with_values(self, f(parts.parts(self).values, *args, **kwargs))
    self = self.coalesce()
    return sparse_coo_from_parts(self._indices(), f(self.values(), *args, **kwargs), self.shape, True, True)


# ---------------------------------------------------------------- sums

def _add(self, other, alpha):
    if not isinstance(self, TensorBase) or not isinstance(other, TensorBase):
        raise RuntimeError(_NO_SUM)
    if self.layout is strided:
        return dense_plus_sparse(self, other, alpha)
    if other.layout is strided:
        return dense_plus_sparse(other if _is_one(alpha) else other * alpha, self, 1)
    return sparse_sum_of_two(self, other, alpha)


@op(method=False, function=False, sparse=True, backward_name="AddBackward0", grads={
    "self": lambda g: g, "other": lambda g, alpha: _times(g, alpha)})
def sparse_sum_of_two(self, other, alpha):
    """The sum of two sparse tensors, broadcast: sparse."""
    a, b, dtype = parts.parts(self), parts.parts(other), result_type(self, other)
    if self.shape != other.shape or a.sparse_dim != b.sparse_dim:
        if self.shape == other.shape and not (a.indices.shape[1] and b.indices.shape[1]):
            return _only(self, 1, dtype) if a.indices.shape[1] else _only(other, alpha, dtype)
        self, other = expanded(self, other, "add")
    self, other = settled(self, dtype), settled(other, dtype)
    a, b = parts.parts(self), parts.parts(other)
    x, y = a.values.to(dtype), b.values.to(dtype)
    if not _is_one(alpha):
        y = y * alpha
    if same_indices(a.indices, b.indices):
        return parts.with_values(self if a.coalesced >= b.coalesced else other, x + y)
    if a.coalesced and b.coalesced:
        merged = parts.merge_sum(self, x, other, y)
        if merged is not None:
            return merged
    cat = OPS["torch.cat"]
    return parts.make_coo(cat([a.indices, b.indices], 1), cat([x, y]), self.shape, False, True)


def _only(x, alpha, dtype):
    """A sum with nothing: a copy."""
    x = settled(x, dtype)
    values = parts.parts(x).values
    return parts.with_values(x, values.to(dtype) * alpha if dtype is not values.dtype or not _is_one(alpha)
                             else values.clone())


def _is_one(alpha):
    return type(alpha) is int and alpha == 1


def _times(x, factor):
    return x if _is_one(factor) else x * factor


@op(method=False, function=False, sparse=True, backward_name="AddBackward0", grads={
    "self": lambda g: g, "other": lambda g, other, alpha: mask_of(g.sum_to_size(other.shape), other) * alpha})
def dense_plus_sparse(self, other, alpha):
    """A dense tensor plus a sparse one, broadcast: dense."""
    out = self.to(result_type(self, other))
    shape = common_shape(self, other, "add")
    if shape != self.shape:
        out = out.expand(shape).clone()
    elif out is self:
        out = out.clone()
    return _add_into(out.contiguous(), _spread_over(other, shape), alpha)


def _spread_over(sparse, shape):
    return sparse if sparse.shape == shape else expand(sparse, *shape)


def _add_into(out, sparse, alpha):
    """out += alpha * sparse, for a contiguous dense tensor of the result's dtype."""
    if sparse.dtype is not out.dtype:
        sparse = cast_entries(sparse, out.dtype)
    if not _is_one(alpha):
        sparse = parts.with_values(sparse, parts.parts(sparse).values * alpha)
    if out.dtype.name in ("float16", "bfloat16"):
        return out.add_(parts.to_dense(sparse))
    return parts.add_to_dense(out, sparse)


def _add_in_place(self, other, alpha):
    if self.layout is not strided:
        return _assign(self, add(self, other, alpha=alpha))
    if not is_coo(other):
        other = to_coo(other)
    _check_written(self, common_shape(self, other, "add"))
    _check_cast(result_type(self, other), self.dtype)
    other = _spread_over(other, self.shape)
    if self.is_contiguous():
        return _add_into(self, other, alpha)
    return factory.copy_from(self, _add_into(self.contiguous(), other, alpha))


def _check_written(target, shape):
    if target.shape != shape:
        raise RuntimeError(f"output with shape {list(target.shape)} doesn't match the broadcast shape {list(shape)}")


@on_sparse("add", composed=True)
def add(self, other, *, alpha=1):
    return _add(self, other, alpha)


@on_sparse("sub", composed=True)
def sub(self, other, *, alpha=1):
    return _add(self, other, -alpha)


@on_sparse("add", inplace=True)
def add_(self, other, *, alpha=1):
    return _add_in_place(self, other, alpha)


@on_sparse("sub", inplace=True)
def sub_(self, other, *, alpha=1):
    return _add_in_place(self, other, -alpha)


# ---------------------------------------------------------------- products and quotients

@on_sparse("mul", composed=True, compressed=True)
def mul(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided:
        self, other = other, self
    return sparse_times_number(self, other) if _is_number(other) else _mul(self, other)


@through_coo
def _mul(self, other):
    if not is_coo(self):
        self, other = other, self
    return sparse_times_dense(self, other) if other.layout is strided else sparse_times_sparse(self, other)


@op(method=False, function=False, sparse=True, backward_name="MulBackward0", grads={
    "self": lambda g, other: g * conj(other), "other": lambda g, self: (g * conj(self)).sum()})
def sparse_times_number(self, other):
    """A sparse tensor of any layout times a number, or a dense tensor without dimensions."""
    if not is_coo(self):
        p = parts.compressed_parts(self)
        return parts.make_compressed(p.layout, p.pointers, p.plain, p.values * other, self.shape)
    dtype = result_type(self, other)
    self = settled(self, dtype)
    return parts.with_values(self, parts.parts(self).values.to(dtype) * other)


@op(method=False, function=False, sparse=True, backward_name="MulBackward0", grads={
    "self": lambda g, other: g * conj(other),
    "other": lambda g, self, other_shape: (g * conj(self)).sum_to_size(other_shape).to_dense()})
def sparse_times_dense(self, other):
    """A sparse tensor times a dense one, broadcast: sparse. The gradient of the dense one is dense."""
    shape = common_shape(self, other, "mul")
    if shape != self.shape:
        self = expand(parts.coalesce(self), *shape)
    dtype = result_type(self, other)
    self = settled(self, dtype)
    factors = parts.take(other.expand(shape), self)
    return parts.with_values(self, parts.parts(self).values.to(dtype) * factors.to(dtype))


@op(method=False, function=False, sparse=True, backward_name="MulBackward0", grads={
    "self": lambda g, other: g * conj(other), "other": lambda g, self: g * conj(self)})
def sparse_times_sparse(self, other):
    """The product of two sparse tensors, broadcast: sparse, coalesced."""
    dtype = result_type(self, other)
    if self.shape == other.shape and parts.unchecked_parts(self).sparse_dim == parts.unchecked_parts(other).sparse_dim:
        a, b = parts.parts(parts.coalesce(self)), parts.parts(parts.coalesce(other))
        if same_indices(a.indices, b.indices):
            return parts.with_values(parts.coalesce(self), a.values.to(dtype) * b.values.to(dtype))
        sizes = tuple(self.shape[:a.sparse_dim])
        in_a, in_b = common_entries(a.indices, b.indices, sizes)
        indices, shape = a.indices.index_select(1, in_a), self.shape
    else:
        self, other, shape = aligned(parts.coalesce(self), parts.coalesce(other), "mul")
        a, b = parts.parts(self), parts.parts(other)
        in_a, in_b, indices = matching(self, other, shape)
    values = a.values.index_select(0, in_a).to(dtype) * b.values.index_select(0, in_b).to(dtype)
    result = parts.make_coo(indices, values, shape, shape == self.shape == other.shape, True)
    return parts.coalesce(result)


@on_sparse("mul", inplace=True)
def mul_(self, other):
    if self.layout is strided:
        product = mul(self, other)
        _check_written(self, product.shape)
        return factory.copy_from(self, product.to_dense())
    if is_coo(self) and _is_number(other):
        _check_cast(result_type(self, other), self.dtype)
        parts.parts(self).values.mul_(other)        # the memory that _values() shows
        return self
    return _assign(self, mul(self, other))


def _check_divisor(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided or (
            isinstance(other, TensorBase) and other.layout is not strided):
        raise RuntimeError("Sparse division requires a scalar or a dense tensor divisor (got shape "
                           f"{list(getattr(other, 'shape', ()))} for divisor)")


def _quotient(self, other, divide):
    """self / other where self has entries; by a dense tensor only where nothing is 0 / 0."""
    self = settled(self, get_default_dtype())
    if _is_number(other):
        return parts.with_values(self, divide(parts.parts(self).values, other))
    if bool((other == 0).any()) or bool((other != other).any()):
        raise NotImplementedError("div: not implemented for a sparse tensor and a dense divisor with zeros or NaN, "
                                  "where the result would be dense; use to_dense() first")
    shape = common_shape(self, other, "div")
    if shape != self.shape:
        self = expand(self, *shape)
    return parts.with_values(self, divide(parts.parts(self).values, parts.take(other.expand(shape), self)))


@on_sparse("div", compressed=True)
def div(self, other, *, rounding_mode=None):
    _check_divisor(self, other)
    if not is_coo(self) and _is_number(other):
        return with_compressed_values(self, self.values().div(other, rounding_mode=rounding_mode))
    return _div(self, other, rounding_mode)


@through_coo
def _div(self, other, rounding_mode):
    if rounding_mode is not None:
        self = parts.coalesce(self)
    return _quotient(self, other, lambda x, y: x.div(y, rounding_mode=rounding_mode))


@on_sparse("floor_divide", "__floordiv__")
def floor_divide(self, other):
    _check_divisor(self, other)
    return _quotient(parts.coalesce(self), other, lambda x, y: x.floor_divide(y))


@on_sparse("div", inplace=True)
def div_(self, other, *, rounding_mode=None):
    _check_divisor(self, other)
    if rounding_mode is None and is_coo(self):
        parts.parts(self).values.div_(other)
        return self
    return _assign(self, div(self, other, rounding_mode=rounding_mode))


@on_sparse("floor_divide", "__floordiv__", inplace=True)
def floor_divide_(self, other):
    return _assign(self, floor_divide(self, other))


@on_sparse("pow", composed=True)
def pow(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided or not _is_number(other):
        raise NotImplementedError("pow: a sparse tensor is raised to a number only")
    if other == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    return of_values(self, lambda x: x.pow(other))


@on_sparse("pow", inplace=True)
def pow_(self, other):
    return _assign(self, pow(self, other))
