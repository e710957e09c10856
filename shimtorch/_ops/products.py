"""Products of vectors and matrices."""
from .._core import OPS, products
from .._core.dtype import bool as bool_
from .._core.dtype import promote_types
from .._core.einsum import contract_labelled
from .._core.op import op, scalar_type
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


@op(operator="matmul", out=True, samples=Samples([
    call(Draw(3), Draw(3)), call(Draw(2, 3), Draw(3)), call(Draw(3), Draw(3, 2)), call(Draw(2, 3), Draw(3, 4)),
    call(Draw(5, 2, 3), Draw(3, 4)), call(Draw(5, 2, 3), Draw(5, 3, 4)), call(Draw(2, 1, 2, 3), Draw(5, 3, 4)),
    call(Draw(3), Draw(2, 3, 4)), call(Draw(5, 2, 3), Draw(3))], dtypes="number"))
def matmul(self, other):
    """The matrix product with broadcast batches; 1-d operands count as row and column."""
    a, b = self.dim(), other.dim()
    if a == 2 and b == 2:
        return self.mm(other)
    if a == 0 or b == 0:
        raise RuntimeError("both arguments to matmul need to be at least 1D, but they are "
                           f"{a}D and {b}D")
    if a == 1 and b == 1:
        return _vector_dot(self, other)
    if a == 2 and b == 1:
        return self.mv(other)
    rows, columns = self.shape[-2] if a > 1 else 1, other.shape[-1] if b > 1 else 1
    if self.shape[-1] != other.shape[-2 if b > 1 else 0]:
        raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape[:-1].numel() if b < 3 else rows}x"
                           f"{self.shape[-1]} and {other.shape[-2 if b > 1 else 0]}x{columns})")
    merged_shape(self.shape[:-2], other.shape[:-2])                  # refuses batches that do not broadcast
    left = [*range(-a, -2), 0, 1] if a > 1 else [1]
    right = [*range(-b, -2), 1, 2] if b > 1 else [1]
    output = [*range(-max(a, b), -2), *[0][:a > 1], *[2][:b > 1]]
    return _labelled(self, left, other, right, output)


def _labelled(self, left, other, right, output):
    """A product over labelled dimensions."""
    if self.dtype is bool_ and other.dtype is bool_:
        raise NotImplementedError("\"bmm\" not implemented for 'Bool'")
    return contract_labelled((self, other), (left, right), output)


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


def _check_dtypes(base, a, b, second):
    """Both factors and the summand have one dtype."""
    for name, x in ((second, b), ("self", base)):
        if x.dtype is not a.dtype:
            raise RuntimeError(f"self and {second} must have the same dtype, but got {scalar_type(base.dtype)} and "
                               f"{scalar_type((b if name == second else a).dtype)}")


def _added(name, multiply, names, samples_, grads):
    """An op ``beta * self + alpha * (a @ b)``."""
    code = f"def forward(self, {names[0]}, {names[1]}, *, beta=1, alpha=1):\n" \
           f"    return combine(self, {names[0]}, {names[1]}, beta, alpha)\n"

    def combine(self, a, b, beta, alpha):
        _check_dtypes(self, a, b, names[1])
        product, beta, alpha = multiply(a, b), _factor(a, beta), _factor(a, alpha)
        if self.shape != product.shape:
            self = self.expand(product.shape)
        return _add_scaled(self, product, beta, alpha)
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
        "vec": lambda g, mat, alpha: _times(_h(mat).mv(g), alpha)})
_added("baddbmm", products.bmm, ("batch1", "batch2"),
       Samples([call(Draw(2, 3, 5), Draw(2, 3, 4), Draw(2, 4, 5), beta=0.5, alpha=2)], "real"),
       {"batch1": lambda g, batch2, alpha: _times(g.bmm(_h(batch2)), alpha),
        "batch2": lambda g, batch1, alpha: _times(_h(batch1).bmm(g), alpha)})


def _outer(a, b):
    dtype = promote_types(a.dtype, b.dtype)
    a, b = a.to(dtype), b.to(dtype)
    for name, x in (("self", a), ("vec2", b)):
        if x.dim() != 1:
            raise RuntimeError(f"outer: Expected 1-D argument {name}, but got {x.dim()}-D")
    return contract_labelled((a, b), ((0,), (1,)), (0, 1))


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


_added("addbmm", lambda a, b: products.bmm(a, b).sum(0, dtype=a.dtype), ("batch1", "batch2"),
       Samples([call(Draw(3, 5), Draw(2, 3, 4), Draw(2, 4, 5), beta=0.5, alpha=2)], "real"),
       {"batch1": lambda g, batch2, alpha: _times(g.unsqueeze(0).expand(batch2.shape[0], *g.shape).bmm(_h(batch2)),
                                                  alpha),
        "batch2": lambda g, batch1, alpha: _times(_h(batch1).bmm(g.unsqueeze(0).expand(batch1.shape[0], *g.shape)),
                                                  alpha)})


@op(out=True, aliases=("ger",), samples=Samples([call(Draw(3), Draw(4))], dtypes="number"), renames={"vec2": "other"})
def outer(self, other):
    """The matrix of all products of the elements of two vectors."""
    return _outer(self, other)


@op(method=False, takes_list=True, samples=Samples([call(Draw(2, 3), Draw(3, 4), Draw(4, 2))]))
def chain_matmul(*matrices):
    """The product of several matrices."""
    if len(matrices) == 1 and isinstance(matrices[0], (tuple, list)):
        matrices = tuple(matrices[0])
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    for a in matrices:
        if a.dim() != 2:
            raise RuntimeError(f"Tensor dimension is {a.dim()}, expected 2 instead.")
    for a, b in zip(matrices, matrices[1:]):
        if a.shape[1] != b.shape[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({a.shape[0]}x{a.shape[1]} and "
                               f"{b.shape[0]}x{b.shape[1]})")
    if len(matrices) == 1:
        return matrices[0]
    return contract_labelled(matrices, [(i, i + 1) for i in range(len(matrices))], (0, len(matrices)))


@op(samples=Samples([call(Draw(3, 4), Draw(5, 4)), call(Draw(3), Draw(3)), call(Draw(2, 3), Draw())]), out=True)
def inner(self, other):
    """Products summed over the last dimension of both."""
    if self.dim() == 0 or other.dim() == 0:
        return self * other
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(f"inner() the last dimension must match on both input tensors but got shapes "
                           f"{list(self.shape)} and {list(other.shape)}")
    return tensordot(self, other, ([-1], [-1]))


@op(method=False, samples=Samples([call(Draw(2, 3, 4), Draw(3, 4, 5)), call(Draw(2, 3), Draw(3, 2), 1),
                                   call(Draw(2, 3), Draw(2, 4), ([0], [0])), call(Draw(2), Draw(3), 0),
                                   call(Draw(1, 3), Draw(2, 4), ([0], [0])), call(Draw(2, 3), Draw(1, 3), ([0], [0]))]),
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
    rows = list(range(self.dim()))
    columns = [rows[left[right.index(d)]] if d in right else self.dim() + d for d in range(other.dim())]
    output = [x for x in rows if x not in columns] + [x for x in columns if x not in rows]
    return _labelled(self, rows, other, columns, output)


# ---------------------------------------------------------------- other products

@op(out=True, samples=Samples([call(Draw(3), Draw(3))], dtypes="number"))
def vdot(self, other):
    """The inner product of two vectors, the first one conjugated."""
    return conj(self).dot(other)


@op(out=True,
    samples=Samples([call(Draw(2, 3), Draw(2, 3)), call(Draw(3, 2), Draw(3, 2), 0), call(Draw(3, 4), Draw(3, 4)),
                     call(Draw(1, 3), Draw(2, 3), dim=-1), call(Draw(3), Draw(3))], dtypes="floating"))
def cross(self, other, dim=None):
    """The cross product of vectors of three elements along a dimension (the first of size 3)."""
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
    return OPS["torch.zeros_like"](self) + OPS["torch.eye"](self.shape[-1], dtype=self.dtype)


@op(out=True,
    samples=Samples([call(Draw(3, 3), n) for n in (0, 1, 2, 3, 5)] + [call(Draw(2, 3, 3), 2)], dtypes="floating"))
def matrix_power(self, n):
    """The n-th power of square matrices; of their inverses for negative n."""
    if self.dim() < 2 or self.shape[-1] != self.shape[-2]:
        raise RuntimeError("linalg.matrix_power: A must be batches of square matrices, but they are "
                           f"{self.shape[-2] if self.dim() > 1 else 1} by {self.shape[-1] if self.dim() else 1} "
                           "matrices")
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
