"""What arithmetic and copying do to sparse operands.

Linear operations work on the entries as they stand. Others sum the entries of equal indices first, since
f(a + b) is not f(a) + f(b). Functions that would fill the zeros are left refused.
"""
from .._core import METHODS, OPS, factory
from .._core.device import strided
from .._core.kinds import result_type
from .._core.op import scalar_type
from .._core.tensor import TensorBase
from ._sparse_parts import is_coo, on_sparse, parts
from .sparse import empty_sparse, intersect_wide, same_indices

_NO_SUM = "add(sparse, dense) is not supported. Use add(dense, sparse) instead."


def _is_number(x):
    return not isinstance(x, TensorBase) or (x.layout is strided and x.dim() == 0)


def _assign(target, result):
    """Make the sparse `target` what `result` is, in target's dtype."""
    if result.dtype is not target.dtype:
        _check_cast(result.dtype, target.dtype)
        result = cast_entries(result, target.dtype)
    return parts.become(target, result)


def _check_cast(source, target):
    from .._core.dtype import can_cast
    if not can_cast(source, target):
        raise RuntimeError(f"result type {scalar_type(source)} can't be cast to the desired output type "
                           f"{scalar_type(target)}")


@on_sparse("to_dtype")
def cast_entries(self, dtype):
    if not is_coo(self):
        from .sparse_compressed import with_values
        return with_values(self, self.values().to(dtype))
    return parts.with_values(self, parts.parts(self).values.to(dtype))


# ---------------------------------------------------------------- sums

def _add(self, other, alpha):
    if not isinstance(self, TensorBase) or not is_coo(self):
        return _add_to_dense(self, other, alpha)
    if not isinstance(other, TensorBase) or not is_coo(other):
        raise RuntimeError(_NO_SUM)
    if self.shape != other.shape:
        raise RuntimeError(f"add: expected sizes of 'self' and 'other' to match, but {list(self.shape)} != "
                           f"{list(other.shape)}")
    a, b, dtype = parts.parts(self), parts.parts(other), result_type(self, other)
    if a.sparse_dim != b.sparse_dim:
        if not a.indices.shape[1] or not b.indices.shape[1]:        # what has no entries fits any
            return _only(self, 1, dtype) if a.indices.shape[1] else _only(other, alpha, dtype)
        raise RuntimeError(f"add: expected 'self' and 'other' to have same number of sparse dimensions, but "
                           f"{a.sparse_dim} != {b.sparse_dim}")
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
    values = parts.parts(x).values
    return parts.with_values(x, values.to(dtype) * alpha if dtype is not values.dtype or not _is_one(alpha)
                             else values.clone())


def _is_one(alpha):
    return type(alpha) is int and alpha == 1


def _add_to_dense(self, other, alpha):
    if not isinstance(self, TensorBase):
        raise RuntimeError(_NO_SUM)
    if self.layout is not strided or not is_coo(other):
        raise NotImplementedError(f"add: not implemented for layouts {self.layout} and {other.layout}")
    _same_size(self, other)
    out = self.to(result_type(self, other))
    out = out.clone().contiguous() if out is self else out.contiguous()
    return _add_into(out, other, alpha)


def _same_size(dense, sparse):
    if dense.shape != sparse.shape:
        raise RuntimeError(f"add: expected 'self' and 'other' to have same size, but self has size {list(dense.shape)} "
                           f"while other has size {list(sparse.shape)} (FYI: dense-sparse addition does not currently "
                           "support broadcasting)")


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
        return _assign(self, _add(self, other, alpha))
    _same_size(self, other)
    _check_cast(result_type(self, other), self.dtype)
    if self.is_contiguous():
        return _add_into(self, other, alpha)
    return factory.copy_from(self, _add_into(self.contiguous(), other, alpha))


@on_sparse("add")
def add(self, other, *, alpha=1):
    return _add(self, other, alpha)


@on_sparse("sub")
def sub(self, other, *, alpha=1):
    return _add(self, other, -alpha)


@on_sparse("add", inplace=True)
def add_(self, other, *, alpha=1):
    return _add_in_place(self, other, alpha)


@on_sparse("sub", inplace=True)
def sub_(self, other, *, alpha=1):
    return _add_in_place(self, other, -alpha)


# ---------------------------------------------------------------- products and quotients

@on_sparse("mul")
def mul(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided:
        self, other = other, self
    if not is_coo(self):
        from .sparse_compressed import scale
        return scale(self, other)
    if _is_number(other):
        p = parts.parts(self)
        values = p.values.to(result_type(self, other)) * other
        return parts.with_values(self, values)
    if other.layout is strided:
        return _mul_dense(self, other)
    if not is_coo(other):
        raise NotImplementedError(f"mul: not implemented for layouts {self.layout} and {other.layout}")
    return _mul_sparse(self, other)


def _mul_dense(self, dense):
    from .shape import broadcast_shapes
    from .sparse_shape import expand
    shape = broadcast_shapes(self.shape, dense.shape)
    if shape != self.shape:
        self = expand(parts.coalesce(self), *shape)
    dtype = result_type(self, dense)
    factors = parts.take(dense.expand(shape), self)
    return parts.with_values(self, parts.parts(self).values.to(dtype) * factors.to(dtype))


def _mul_sparse(self, other):
    from .._core.tensor import wrap_ndarray
    from .._kernels import merge
    if self.shape != other.shape:
        raise RuntimeError(f"mul: expected 'self' and 'other' to have same sizes, but {list(self.shape)} != "
                           f"{list(other.shape)}")
    if parts.unchecked_parts(self).sparse_dim != parts.unchecked_parts(other).sparse_dim:
        return _mul_dense(self, parts.to_dense(other))
    dtype = result_type(self, other)
    a, b = parts.parts(parts.coalesce(self)), parts.parts(parts.coalesce(other))
    sizes = tuple(self.shape[:a.sparse_dim])
    find = merge.intersection if merge.fits(sizes) else intersect_wide
    in_a, in_b = map(wrap_ndarray, find(a.indices._ndarray(), b.indices._ndarray(), sizes))
    values = a.values.index_select(0, in_a).to(dtype) * b.values.index_select(0, in_b).to(dtype)
    return parts.make_coo(a.indices.index_select(1, in_a), values, self.shape, True, True)


@on_sparse("mul", inplace=True)
def mul_(self, other):
    if self.layout is strided:
        return factory.copy_from(self, parts.to_dense(mul(self, other)))
    if is_coo(self) and _is_number(other):
        _check_cast(result_type(self, other), self.dtype)
        parts.parts(self).values.mul_(other)        # the memory that _values() shows
        return self
    return _assign(self, mul(self, other))


def _check_divisor(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided or not _is_number(other):
        raise RuntimeError("Sparse division requires a scalar or zero-dim dense tensor divisor (got shape "
                           f"{list(getattr(other, 'shape', ()))} for divisor)")


@on_sparse("div")
def div(self, other, *, rounding_mode=None):
    _check_divisor(self, other)
    if not is_coo(self):
        from .sparse_compressed import with_values
        return with_values(self, self.values().div(other, rounding_mode=rounding_mode))
    if rounding_mode is not None:
        self = parts.coalesce(self)
    return parts.with_values(self, parts.parts(self).values.div(other, rounding_mode=rounding_mode))


@on_sparse("floor_divide")
def floor_divide(self, other):
    _check_divisor(self, other)
    self = parts.coalesce(self)
    return parts.with_values(self, parts.parts(self).values.floor_divide(other))


@on_sparse("div", inplace=True)
def div_(self, other, *, rounding_mode=None):
    _check_divisor(self, other)
    if rounding_mode is None and is_coo(self):
        parts.parts(self).values.div_(other)
        return self
    return _assign(self, div(self, other, rounding_mode=rounding_mode))


@on_sparse("floor_divide", inplace=True)
def floor_divide_(self, other):
    return _assign(self, floor_divide(self, other))


@on_sparse("pow")
def pow(self, other):
    if not isinstance(self, TensorBase) or self.layout is strided or not _is_number(other):
        raise NotImplementedError("pow: a sparse tensor is raised to a number only")
    if other == 0:
        raise RuntimeError("pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense")
    self = parts.coalesce(self)
    return parts.with_values(self, parts.parts(self).values.pow(other))


@on_sparse("pow", inplace=True)
def pow_(self, other):
    return _assign(self, pow(self, other))


# ---------------------------------------------------------------- functions that keep zeros

def _on_values(name, linear):
    """The op applied to the values, after summing what shares an index unless the function is linear."""
    op = METHODS.get(name) or OPS["torch." + name]

    def forward(self, *args, **kwargs):
        if not is_coo(self):
            from .sparse_compressed import with_values
            return with_values(self, op(self.values(), *args, **kwargs))
        if not linear:
            self = parts.coalesce(self)
        return parts.with_values(self, op(parts.parts(self).values, *args, **kwargs))

    def in_place(self, *args, **kwargs):
        if not linear and not parts.parts(self).coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        inplace(parts.parts(self).values, *args, **kwargs)
        return self
    on_sparse(name, composite=op.differentiable is None)(forward)
    inplace = METHODS.get(name + "_")
    if inplace is not None:
        inplace.sparse = in_place


for _name in ("neg", "positive", "conj", "real", "imag"):
    _on_values(_name, True)
for _name in ("abs asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p "
              "nan_to_num rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc").split():
    if _name in METHODS or "torch." + _name in OPS:
        _on_values(_name, False)


def _compared(name, zero_gives):
    """A comparison with a number that is false at 0, so that what is not stored stays so."""
    op = METHODS[name]

    def forward(self, other):
        if not isinstance(self, TensorBase) or not is_coo(self) or not _is_number(other) or zero_gives(other):
            raise NotImplementedError(f"{name}: not implemented for sparse tensors where 0 compares true, or with "
                                      "tensors; use to_dense() first")
        self = parts.coalesce(self)
        return parts.with_values(self, op(parts.parts(self).values, other))
    on_sparse(name, composite=True)(forward)


@on_sparse("threshold_backward")
def threshold_backward(self, result, threshold):
    """The gradient of relu: that of the result, where the result exceeds the threshold."""
    if threshold < 0:
        raise NotImplementedError("threshold_backward: not implemented for sparse tensors with a threshold below 0")
    return mul(self, cast_entries(result.gt(threshold), self.dtype))


_compared("ne", lambda x: x != 0)
_compared("eq", lambda x: x == 0)
_compared("gt", lambda x: not x >= 0)
_compared("ge", lambda x: not x > 0)
_compared("lt", lambda x: not x <= 0)
_compared("le", lambda x: not x < 0)


# ---------------------------------------------------------------- copies and fresh tensors

@on_sparse("clone")
def clone(self, *, memory_format=None):
    if not is_coo(self):
        from .sparse_compressed import copy
        return copy(self)
    p = parts.parts(self)
    return parts.make_coo(p.indices.clone(), p.values.clone(), self.shape, p.coalesced, True)


@on_sparse("contiguous")
def contiguous(self, memory_format=None):
    return self


@on_sparse("is_contiguous", composite=True)
def is_contiguous(self, memory_format=None):
    return False


@on_sparse("zero", inplace=True)
def zero_(self):
    return parts.become(self, empty_sparse(self.shape, self.dtype, parts.unchecked_parts(self).sparse_dim))


@on_sparse("copy", inplace=True)
def copy_(self, src, non_blocking=False):
    if not isinstance(src, TensorBase) or is_coo(self) != is_coo(src):
        if isinstance(src, TensorBase):
            from .._typed import type_name
            raise RuntimeError("copy_() between dense and sparse Tensors is not implemented! Found self type = "
                               f"{type_name(self)} and src type = {type_name(src)}")
        raise TypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    return parts.become(self, cast_entries(clone(src), self.dtype))


def _like(self, *, dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None):
    from .._core.device import as_device
    if device is not None:
        as_device(device)
    dtype = self.dtype if dtype is None else dtype
    if layout is strided or not is_coo(self):
        t = factory.zero(factory.new_empty(self.shape, dtype))
    else:
        t = empty_sparse(self.shape, dtype, parts.unchecked_parts(self).sparse_dim)
    return t.requires_grad_() if requires_grad else t


on_sparse("zeros_like", "empty_like", composite=True)(_like)


def _new(self, *size, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    if layout is strided:
        t = factory.zero(factory.new_empty(size, self.dtype if dtype is None else dtype))
    else:
        t = empty_sparse(size, self.dtype if dtype is None else dtype)
    return t.requires_grad_() if requires_grad else t


on_sparse("new_zeros", "new_empty", composite=True)(_new)


@on_sparse("new", composite=True)
def new(self, *args):
    from .sparse import legacy_sparse_tensor
    return legacy_sparse_tensor(self.dtype, args, {})


@on_sparse("equal", composite=True)
def equal(self, other):
    if self.shape != other.shape or is_coo(self) != is_coo(other):
        return False
    if not is_coo(self):
        return bool(self.to_dense().equal(other.to_dense()))
    a, b = parts.parts(parts.coalesce(self)), parts.parts(parts.coalesce(other))
    if a.sparse_dim != b.sparse_dim:
        return bool(parts.to_dense(self).equal(parts.to_dense(other)))
    return bool(a.indices.equal(b.indices) and a.values.equal(b.values))


@on_sparse("allclose", composite=True)
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return self.to_dense().allclose(other.to_dense(), rtol, atol, equal_nan)
