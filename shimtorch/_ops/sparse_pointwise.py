"""What functions of single elements do to sparse operands: on the values, where 0 stays 0.

Of two sparse tensors the values are taken at the places where either has entries. A function that is not 0 at (0, 0)
fills all other places, and so has a dense result.
"""
from .._core import METHODS, OPS, factory
from .._core.device import strided
from .._core.dtype import uint8
from .._core.tensor import TensorBase
from ._sparse_join import common_shape, expanded
from ._sparse_parts import is_coo, on_sparse, parts
from .shape import broadcast_shapes
from .sparse import sparse_coo_from_parts, values_at
from .sparse_arithmetic import cast_entries, mul, of_values, sparse_sum_of_two
from .sparse_compressed import with_values as with_compressed_values

# ---------------------------------------------------------------- functions that keep zeros


def _on_values(name, linear=False, keeps=None):
    """The op applied to the values, after summing what shares an index unless the function is linear.

    keeps: whether with these further arguments the function of 0 is 0; None: it always is.
    """
    op = METHODS.get(name) or OPS.get("torch." + name) or OPS["torch.nn.functional." + name]

    def check(args, kwargs):
        if keeps is not None and not keeps(*args, **kwargs):
            raise NotImplementedError(f"{name}: not implemented for sparse tensors where it would change zeros; use "
                                      "to_dense() first")

    def forward(self, *args, **kwargs):
        check(args, kwargs)
        if not is_coo(self):
            return with_compressed_values(self, op(self.values(), *args, **kwargs))
        if linear:
            return parts.with_values(self, op(parts.parts(self).values, *args, **kwargs))
        return of_values(self, op, *args, **kwargs)

    def in_place(self, *args, **kwargs):
        check(args, kwargs)
        if not is_coo(self):
            values = parts.compressed_parts(self).values
            inplace(values, *args, **kwargs)
            return parts.become(self, with_compressed_values(self, values))
        if not linear and not parts.parts(self).coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input")
        inplace(parts.parts(self).values, *args, **kwargs)
        return self
    on_sparse(name, composite=op.differentiable is None, composed=not linear, compressed=True)(forward)
    inplace = METHODS.get(name + "_")
    if inplace is not None:
        inplace.sparse = in_place


def _is_number(x):
    return not isinstance(x, TensorBase)


for _name in ("neg", "positive", "conj", "conj_physical", "real", "imag"):
    _on_values(_name, linear=True)
for _name in ("abs angle asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf "
              "log1p nan_to_num rad2deg relu round sgn sign signbit sin sinh sqrt square tan tanh trunc "
              "celu elu gelu hardshrink hardswish leaky_relu mish selu silu softshrink softsign").split():
    _on_values(_name)
_on_values("clamp", keeps=lambda min=None, max=None: _is_number(min) and _is_number(max) and (
    (min is None or min <= 0) and (max is None or max >= 0)))
_on_values("clamp_min", keeps=lambda min: _is_number(min) and min <= 0)
_on_values("clamp_max", keeps=lambda max: _is_number(max) and max >= 0)
_on_values("hardtanh", keeps=lambda min_val=-1, max_val=1: min_val <= 0 <= max_val)
_on_values("fmod", keeps=lambda other: _is_number(other) and other != 0)
_on_values("remainder", keeps=lambda other: _is_number(other) and other != 0)
_on_values("dropout", keeps=lambda p, train: not train or p < 1)


@on_sparse("threshold_backward")
def threshold_backward(self, result, threshold):
    """The gradient of relu: that of the result, where the result exceeds the threshold."""
    if threshold < 0:
        raise NotImplementedError("threshold_backward: not implemented for sparse tensors with a threshold below 0")
    return mul(self, cast_entries(result.gt(threshold), self.dtype))


# ---------------------------------------------------------------- functions of two

def _together(tensors):
    """The places where any of some sparse tensors of one kind has entries: a coalesced sparse tensor."""
    first = tensors[0].detach()
    pattern = None
    for x in tensors:
        x = parts.coalesce(x.detach())
        blank = parts.with_values(x, factory.zero(factory.new_empty((x._nnz(),), uint8, x)))
        pattern = blank if pattern is None else parts.coalesce(sparse_sum_of_two.forward(pattern, blank, 1))
    return parts.make_coo(pattern._indices(), pattern._values().reshape((-1,) + (1,) * first.dense_dim()).expand(
        -1, *first.shape[first.sparse_dim():]), first.shape, True, True)


def _with_pattern(pattern, values):
    return sparse_coo_from_parts(pattern._indices(), values, pattern.shape, True, True)


def _keeps_zero(op, a, b):
    """Whether the op is 0 (False) for two zeros of the operands' dtypes, or for a zero and a number."""
    def zero(x):
        return x.detach().new_zeros((), layout=strided) if isinstance(x, TensorBase) and x.layout is not strided else x
    return not bool(op(zero(a), zero(b)))


def _of_two(name):
    op = METHODS.get(name) or OPS["torch." + name]

    def forward(self, other):
        if any(isinstance(x, TensorBase) and x.layout is strided and x.dim() for x in (self, other)):
            return op(self.to_dense(), other.to_dense())
        if not _keeps_zero(op, self, other):
            return op(*[x.to_dense() if isinstance(x, TensorBase) else x for x in (self, other)])
        if not (isinstance(self, TensorBase) and is_coo(self)):
            return _with_pattern(other.coalesce().detach(), op(self, other.coalesce().values()))
        if not (isinstance(other, TensorBase) and is_coo(other)):
            return _with_pattern(self.coalesce().detach(), op(self.coalesce().values(), other))
        a, b = _same_kind(self, other, name)
        pattern = _together((a, b))
        return _with_pattern(pattern, op(values_at(a, pattern), values_at(b, pattern)))
    on_sparse(name, composite=op.differentiable is None, composed=True)(forward)


def _same_kind(a, b, name):
    """Two sparse tensors of one shape and one number of sparse dimensions; differentiable where they are so already."""
    if a.shape == b.shape and a.sparse_dim() == b.sparse_dim():
        return a, b
    shape = common_shape(a, b, name)
    a, b = (x if x.shape == shape else x.expand(shape) for x in (a, b))
    if a.sparse_dim() == b.sparse_dim():
        return a, b
    return expanded(a, b, name)


for _name in ("eq ne lt le gt ge maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or "
              "bitwise_xor atan2 hypot").split():
    _of_two(_name)


# ---------------------------------------------------------------- choosing

@on_sparse("where_op", composed=True)
def where_op(condition, input, other):
    """``where``: sparse if it is 0 where nothing is stored, else dense."""
    op = OPS["torch.where_op"]
    tensors = [x for x in (condition, input, other) if isinstance(x, TensorBase) and x.layout is not strided]
    shape = broadcast_shapes(*[x.shape for x in (condition, input, other) if isinstance(x, TensorBase)])
    fixed = condition.layout is strided
    zero = [x.layout is not strided if isinstance(x, TensorBase) else x == 0 for x in (input, other)]
    sparse = zero[1] and (zero[0] or not fixed) and len({x.sparse_dim() for x in tensors}) == 1
    if not sparse:
        return op(*[x.to_dense() if isinstance(x, TensorBase) else x for x in (condition, input, other)])
    tensors = [x.expand(shape) for x in tensors]
    pattern = _together([x for x in tensors if x is not condition])

    def at(x):
        return values_at(x.expand(shape), pattern) if isinstance(x, TensorBase) else x
    return _with_pattern(pattern, op(at(condition), at(input), at(other)))


# ---------------------------------------------------------------- comparing whole tensors

@on_sparse("equal", composite=True)
def equal(self, other):
    if self.shape != other.shape:
        return False
    if not (is_coo(self) and is_coo(other)):
        return self.to_dense().equal(other.to_dense())
    a, b = parts.parts(parts.coalesce(self)), parts.parts(parts.coalesce(other))
    if a.indices.equal(b.indices) and a.values.equal(b.values):
        return True
    return not bool(_differences(self, other, lambda x, y: x != y).any())


def _differences(self, other, differ):
    """Where the values differ, at the places where either sparse tensor has entries."""
    a, b = expanded(parts.coalesce(self.detach()), parts.coalesce(other.detach()), "isclose")
    pattern = _together((a, b))
    return differ(values_at(a, pattern), values_at(b, pattern))


@on_sparse("isclose", composite=True)
def isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    return self.to_dense().isclose(other.to_dense(), rtol, atol, equal_nan)


@on_sparse("allclose", composite=True)
def allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if not (is_coo(self) and is_coo(other)):
        return self.to_dense().allclose(other.to_dense(), rtol, atol, equal_nan)
    if self.dtype is not other.dtype:
        return self.new_zeros(0, layout=strided).allclose(other.new_zeros(0, layout=strided), rtol, atol, equal_nan)
    return not bool(_differences(self, other, lambda x, y: ~x.isclose(y, rtol, atol, equal_nan)).any())
