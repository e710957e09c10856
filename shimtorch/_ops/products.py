"""Products of vectors and matrices."""
from operator import index

from .._core import OPS, Size, products
from .._core import matmul as core_matmul
from .._core.declaring import op
from .._core.dtype import bfloat16, float16, float32, promote_types, scalar_type
from .._core.dtype import bool as bool_
from .._core.einsum import contract_labelled
from .._core.policy import policy
from .._core.tensor import TensorBase
from ._rules import conj
from .samples import Draw, Samples, call, integers
from .shape import merged_shape, wrap


def _h(x):
    """The conjugate transpose of matrices."""
    return conj(x.transpose(-1, -2))


op(products.mm, out=True, overloads=True, samples=Samples([call(Draw(2, 3), Draw(3, 4)), call(Draw(0, 3), Draw(3, 2)),
                                           call(Draw(2, 0), Draw(0, 3))], dtypes="number"),
   grads={"self": lambda g, mat2: g.mm(_h(mat2)), "mat2": lambda g, self: _h(self).mm(g)})
op(products.mv, out=True, samples=Samples([call(Draw(2, 3), Draw(3))], dtypes="number"),
   grads={"self": lambda g, vec: g.unsqueeze(1) * conj(vec), "vec": lambda g, self: _h(self).mv(g)})
_vector_dot = op(products.dot, name="_dot", function=False, method=False, backward_name="DotBackward0", grads={
    "self": lambda g, tensor: g * conj(tensor), "tensor": lambda g, self: g * conj(self)})


@op(out=True, samples=Samples([call(Draw(3), Draw(3)), call(Draw(0), Draw(0))], dtypes="number"))
def dot(self, tensor):
    """The inner product of two vectors of one size; up to 0.4 of the elements of any two tensors."""
    if policy.same_numel_pointwise and (self.dim() != 1 or tensor.dim() != 1):
        self, tensor = self.reshape(-1), tensor.reshape(-1)
    return _vector_dot(self, tensor)


op(products.bmm, out=True, samples=Samples([call(Draw(2, 3, 4), Draw(2, 4, 5))], dtypes="number"),
   grads={"self": lambda g, mat2: g.bmm(_h(mat2)), "mat2": lambda g, self: _h(self).bmm(g)})


def _refuse_matmul(a, b):
    """Say what is wrong with the operands of matmul, of which one has more than two dimensions or is a row."""
    if a.dim() == 0 or b.dim() == 0:
        raise RuntimeError(f"both arguments to matmul need to be at least 1D, but they are {a.dim()}D and {b.dim()}D")
    columns = b.shape[-1] if b.dim() > 1 else 1
    inner, outer, folded = a.shape[-1], b.shape[-2 if b.dim() > 1 else 0], a.shape[:-1].numel()
    if inner != outer and b.dim() == 1:
        raise RuntimeError(f"size mismatch, got input ({folded}), mat ({folded}x{inner}), vec ({outer})")
    if inner != outer and b.dim() == 2:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({folded}x{inner} and {outer}x{columns})")
    batch = merged_shape(a.shape[:-2], b.shape[:-2])                 # refuses those that do not broadcast
    if inner != outer:
        n = Size(batch).numel()
        raise RuntimeError(f"Expected size for first two dimensions of batch2 tensor to be: [{n}, {inner}] but got: "
                           f"[{n}, {outer}].")
    if a.dtype is not b.dtype and b.dim() == 1:
        raise products.unlike_vector(a, b)
    if a.dtype is not b.dtype and b.dim() == 2:
        raise products.unlike_matrices(a, b)
    if a.dtype is not b.dtype and a.dtype is not bool_:
        raise RuntimeError(f"expected scalar type {scalar_type(a.dtype)} but found {scalar_type(b.dtype)}")
    kernel = "bmm" if b.dim() > 2 else "addmm_impl_cpu_" if b.dim() == 2 else "addmv_impl_cpu"
    raise NotImplementedError(f"\"{kernel}\" not implemented for 'Bool'")


core_matmul.set_products(OPS["torch.mm"], OPS["torch.mv"], _vector_dot, _refuse_matmul)
matmul = op(core_matmul.matmul, operator="matmul", out=True, samples=Samples([
    call(Draw(3), Draw(3)), call(Draw(2, 3), Draw(3)), call(Draw(3), Draw(3, 2)), call(Draw(2, 3), Draw(3, 4)),
    call(Draw(5, 2, 3), Draw(3, 4)), call(Draw(5, 2, 3), Draw(5, 3, 4)), call(Draw(2, 1, 2, 3), Draw(5, 3, 4)),
    call(Draw(3), Draw(2, 3, 4)), call(Draw(5, 2, 3), Draw(3))], dtypes="number"))


# ---------------------------------------------------------------- with something added

def _numbers_first(args, kwargs):
    """``addmm(beta, M, alpha, a, b)``, ``M.addmm(beta, alpha, a, b)``: numbers before what they scale, as in 0.x."""
    tensors = [a for a in args if isinstance(a, TensorBase)]
    if len(tensors) != 3 or len(args) == 3 or not isinstance(args[-1], TensorBase):
        return None
    first = next(i for i, a in enumerate(args) if isinstance(a, TensorBase))
    before, after = args[:first], [a for a in args[first + 1:] if not isinstance(a, TensorBase)]
    numbers = dict(zip(("beta", "alpha"), [*before, *after]))
    if len(before) + len(after) > 2:
        return None
    return tensors, dict(kwargs, **numbers)


def _add_scaled(base, product, beta, alpha):
    """beta * base + alpha * product; base may be broadcast, and is not looked at when beta is 0."""
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product
    return product.add_(base if beta == 1 else base * beta)


def _times(x, factor):
    return x if factor == 1 else x * factor


def _factor(x, number):
    """A factor in the kind of number that x holds: what integers are scaled by is truncated."""
    return int(number) if isinstance(number, float) and not (x.is_floating_point() or x.is_complex()) else number


def _check_matrices(base, a, b):
    """Both factors and the summand have one dtype."""
    for (one, x), (other, y) in ((("self", base), ("mat2", b)), (("mat1", a), ("mat2", b))):
        if x.dtype is not y.dtype:
            raise RuntimeError(f"{one} and {other} must have the same dtype, but got {scalar_type(x.dtype)} and "
                               f"{scalar_type(y.dtype)}")


def _check_vector(base, mat, vec):
    if base.dtype is not mat.dtype or mat.dtype is not vec.dtype:
        raise RuntimeError(f"addmv input tensors must have the same dtype, but got {scalar_type(base.dtype)}, "
                           f"{scalar_type(mat.dtype)}, and {scalar_type(vec.dtype)}")


def _check_batches(base, a, b):
    if base.dtype is not a.dtype:
        base, a, b = (products.C_NAMES[x.dtype.code] for x in (base, a, b))
        raise RuntimeError(f"Input dtypes must be the same, got: input {base}, batch1: {a}, batch2: {b}")
    if a.dtype is not b.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(a.dtype)} but found {scalar_type(b.dtype)}")


def _added(name, multiply, names, samples_, grads, check=_check_matrices):
    """An op ``beta * self + alpha * (a @ b)``."""
    code = f"def forward(self, {names[0]}, {names[1]}, *, beta=1, alpha=1):\n" \
           f"    return combine(self, {names[0]}, {names[1]}, beta, alpha)\n"

    def combine(self, a, b, beta, alpha):
        check(self, a, b)
        dtype = a.dtype
        if dtype in (bfloat16, float16):                             # the whole is rounded once
            self, a, b = self.to(float32), a.to(float32), b.to(float32)
        product, beta, alpha = multiply(a, b), _factor(a, beta), _factor(a, alpha)
        if self.shape != product.shape:
            self = self.expand(product.shape)
        return _add_scaled(self, product, beta, alpha).to(dtype)
    scope = {"combine": combine}
    exec(code, scope)
    forward = scope["forward"]
    forward.__doc__ = f"``beta * self + alpha * product`` of {names[0]} and {names[1]}."
    grads = dict(grads, self=lambda g, beta: _times(g, beta))
    return op(forward, name=name, out=True, inplace=True, legacy=_numbers_first, legacy_min=4, samples=samples_,
              grads=grads)


_added("addmm", products.mm, ("mat1", "mat2"),
       Samples([call(Draw(2, 4), Draw(2, 3), Draw(3, 4)), call(Draw(4), Draw(2, 3), Draw(3, 4), beta=0.5, alpha=2),
                call(Draw(2, 4), Draw(2, 3), Draw(3, 4), beta=2.5, alpha=1.5)], "real"),
       {"mat1": lambda g, mat2, alpha: _times(g.mm(_h(mat2)), alpha),
        "mat2": lambda g, mat1, alpha: _times(_h(mat1).mm(g), alpha)})
_added("addmv", products.mv, ("mat", "vec"),
       Samples([call(Draw(2), Draw(2, 3), Draw(3)), call(Draw(2), Draw(2, 3), Draw(3), beta=0.5, alpha=2)],
               "real"),
       {"mat": lambda g, vec, alpha: _times(g.unsqueeze(1) * conj(vec), alpha),
        "vec": lambda g, mat, alpha: _times(_h(mat).mv(g), alpha)}, _check_vector)
_added("baddbmm", products.bmm, ("batch1", "batch2"),
       Samples([call(Draw(2, 3, 5), Draw(2, 3, 4), Draw(2, 4, 5), beta=0.5, alpha=2)], "real"),
       {"batch1": lambda g, batch2, alpha: _times(g.bmm(_h(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _times(_h(batch1).bmm(g), alpha)}, _check_batches)


def _outer(a, b):
    dtype = promote_types(a.dtype, b.dtype)
    a, b = a.to(dtype), b.to(dtype)
    for name, x in (("self", a), ("vec2", b)):
        if x.dim() != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.dim()}-D")
    return contract_labelled((a, b), ((0,), (1,)), (0, 1), "outer")


def _batch_sum(a, b):
    """The sum of the products of two batches of matrices."""
    for x in (a, b):
        if x.dim() != 3:
            raise RuntimeError(f"{'batch1' if x is a else 'batch2'} must be a 3D tensor")
    if a.shape[0] != b.shape[0]:
        raise RuntimeError("batch1 and batch2 must have same number of batches, got "
                           f"{a.shape[0]} and {b.shape[0]}")
    if a.shape[2] != b.shape[1]:
        raise RuntimeError(f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and "
                           f"{b.shape[1]}x{b.shape[2]})")
    _refuse_bool(a)
    return contract_labelled((a, b), ((0, 1, 2), (0, 2, 3)), (1, 3))


def _refuse_bool(x):
    if x.dtype is bool_:
        raise NotImplementedError("\"addmm_impl_cpu_\" not implemented for 'Bool'")


@op(out=True, inplace=True, legacy=_numbers_first, legacy_min=4, samples=Samples(
        [call(Draw(2, 3), Draw(2), Draw(3)), call(Draw(2, 3), Draw(2), Draw(3), beta=0.5, alpha=2),
         call(Draw(2, 3), Draw(2), Draw(3), beta=3, alpha=2), call(Draw(3), integers(2), Draw(3)),
         call(Draw(), Draw(2), Draw(3), beta=0)], "number"),
    grads={"self": lambda g, beta: _times(g, beta),
           "vec1": lambda g, vec2, alpha: _times(g.mv(conj(vec2).to(g.dtype)), alpha),
           "vec2": lambda g, vec1, alpha: _times(g.t().mv(conj(vec1).to(g.dtype)), alpha)})
def addr(self, vec1, vec2, *, beta=1, alpha=1):
    """``beta * self + alpha * outer(vec1, vec2)``, in the dtype that the three promote to."""
    product = _outer(vec1, vec2)
    dtype = promote_types(self.dtype, product.dtype)
    self, product = self.to(dtype), product.to(dtype)
    for name, factor in (("beta", beta), ("alpha", alpha)):
        if isinstance(factor, float) and not (dtype.is_floating_point or dtype.is_complex):
            raise RuntimeError(f"For integral input tensors, argument {name} must not be a floating point number.")
    if dtype is bool_:
        product = product if alpha else product.new_zeros(product.shape)
        return product.logical_or(self) if beta else product
    return _add_scaled(self.expand(product.shape), product, beta, alpha)


_added("addbmm", _batch_sum, ("batch1", "batch2"),
       Samples([call(Draw(3, 5), Draw(2, 3, 4), Draw(2, 4, 5), beta=0.5, alpha=2)], "real"),
       {"batch1": lambda g, batch2, alpha: _times(g.unsqueeze(0).expand(batch2.shape[0], *g.shape).bmm(_h(batch2)),
                                                  alpha),
        "batch2": lambda g, batch1, alpha: _times(_h(batch1).bmm(g.unsqueeze(0).expand(batch1.shape[0], *g.shape)),
                                                  alpha)})


@op(out=True, aliases=("ger",), samples=Samples([call(Draw(3), Draw(4))], dtypes="number"), renames={"vec2": "other"})
def outer(self, other):
    """The matrix of all products of the elements of two vectors."""
    return _outer(self, other)


@op(samples=Samples([call(Draw(3, 4), Draw(5, 4)), call(Draw(3), Draw(3)), call(Draw(2, 3), Draw())]), out=True)
def inner(self, other):
    """Products summed over the last dimension of both."""
    a, b = self.dim(), other.dim()
    if a == 0 or b == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(self.shape)} and {list(other.shape)}")
    left, right = tuple(range(1, a)), tuple(range(a, a + b - 1))
    return _labelled(self, (*left, 0), other, (*right, 0), left + right)


def _labelled(self, left, other, right, output):
    """A product over labelled dimensions, which torch makes of one of matrices."""
    if self.dtype is not other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    _refuse_bool(self)
    return contract_labelled((self, other), (left, right), output, "reshaped")


@op(method=False, out=True, samples=Samples([
    call(Draw(2, 3, 4), Draw(3, 4, 5)), call(Draw(2, 3), Draw(3, 2), 1), call(Draw(2, 3), Draw(2, 4), ([0], [0])),
    call(Draw(2), Draw(3), 0), call(Draw(1, 3), Draw(2, 4), ([0], [0])), call(Draw(2, 3), Draw(1, 3), ([0], [0]))]),
    renames={"a": "self", "b": "other"})
def tensordot(self, other, dims=2):
    """Products summed over dimensions: the last ``dims`` of self and the first of other, or two lists of them."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > self.dim() or dims > other.dim():
            raise RuntimeError(f"tensordot expects dims <= ndim_a and dims <= ndim_b, but got dims={dims}")
        left, right = list(range(self.dim() - dims, self.dim())), list(range(dims))
    else:
        left, right = ([d] if isinstance(d, int) else [int(x) for x in d] for d in dims)
    if len(left) != len(right):
        raise RuntimeError(f"both dimension lists should have same length, got {len(left)} and {len(right)}")
    left, right = [wrap(d, self.dim()) for d in left], [wrap(d, other.dim()) for d in right]
    for a, b in zip(left, right):
        if self.shape[a] == 1:                 # broadcast
            other = other.sum(b, True, dtype=other.dtype)
        elif other.shape[b] == 1:
            self = self.sum(a, True, dtype=self.dtype)
        if self.shape[a] != other.shape[b]:
            raise RuntimeError(f"contracted dimensions need to match, but first has size {self.shape[a]} in dim {a} "
                               f"and second has size {other.shape[b]} in dim {b}")
    rows = tuple(range(self.dim()))
    columns = tuple([left[right.index(d)] if d in right else self.dim() + d for d in range(other.dim())])
    output = tuple([x for x in rows if x not in columns] + [x for x in columns if x not in rows])
    return _labelled(self, rows, other, columns, output)


# ---------------------------------------------------------------- other products

@op(out=True, samples=Samples([call(Draw(3), Draw(3))], dtypes="number"), backward_name="VdotBackward0")
def vdot(self, other):
    """The inner product of two vectors, the first one conjugated."""
    return conj(self).dot(other)


@op(out=True,
    samples=Samples([call(Draw(2, 3), Draw(2, 3)), call(Draw(3, 2), Draw(3, 2), 0), call(Draw(3, 4), Draw(3, 4)),
                     call(Draw(1, 3), Draw(2, 3), dim=-1), call(Draw(3), Draw(3))], dtypes="floating"))
def cross(self, other, dim=None):
    """The cross product of vectors of three elements along a dimension (the first of size 3)."""
    if self.dtype is not other.dtype:
        raise RuntimeError(f"expected scalar type {scalar_type(self.dtype)} but found {scalar_type(other.dtype)}")
    if self.dim() != other.dim():
        raise RuntimeError("linalg.cross: inputs must have the same number of dimensions.")
    if dim is None:
        dim = next((d for d, n in enumerate(self.shape) if n == 3 == other.shape[d]), -1)
    d = wrap(dim, self.dim())
    if self.dim() == 0 or self.shape[d] != 3 or other.shape[d] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got "
                           f"{self.shape[d] if self.dim() else 1} and {other.shape[d] if other.dim() else 1}")
    a, b = self.unbind(d), other.unbind(d)
    return OPS["torch.stack"]([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]],
                              d - self.dim())


@op(method=False, function=False, backward_name="CloneBackward0", grads={"self": lambda g: g * 0})
def _unit_matrices(self):
    """Unit matrices of the shape of self."""
    return OPS["torch.zeros_like"](self) + OPS["torch.eye"](self.shape[-1], dtype=self.dtype, device=self.device)


@op(out=True,
    samples=Samples([call(Draw(3, 3), n) for n in (0, 1, 2, 3, 5)] + [call(Draw(2, 3, 3), 2)], dtypes="floating"))
def matrix_power(self, n):
    """The n-th power of square matrices; of their inverses for negative n."""
    if self.dim() < 2 or self.shape[-1] != self.shape[-2]:
        raise RuntimeError("linalg.matrix_power: A must be batches of square matrices, but they are "
                           f"{self.shape[-2] if self.dim() > 1 else 1} by {self.shape[-1] if self.dim() else 1} "
                           "matrices")
    n = index(n)
    if n < 0:
        from . import linalg_solve
        return matrix_power(linalg_solve.inv(self), -n)
    if n == 0:
        return _unit_matrices(self)
    result, square = None, self
    while n:
        if n & 1:
            result = square if result is None else result.matmul(square)
        n >>= 1
        if n:
            square = square.matmul(square)
    return result.clone() if result is self else result
