"""Products of vectors and matrices."""
from .._core import products
from .._core.op import op
from .samples import Draw, Samples, call
from ._rules import conj


def _h(x):
    """The conjugate transpose of matrices."""
    return conj(x.transpose(-1, -2))


op(products.mm, out=True, samples=Samples([call(Draw(2, 3), Draw(3, 4)), call(Draw(0, 3), Draw(3, 2)),
                                           call(Draw(2, 0), Draw(0, 3))], dtypes="number"),
   grads={"self": lambda g, mat2: g.mm(_h(mat2)), "mat2": lambda g, self: _h(self).mm(g)})
op(products.mv, out=True, samples=Samples([call(Draw(2, 3), Draw(3))], dtypes="number"),
   grads={"self": lambda g, vec: g.unsqueeze(1) * conj(vec), "vec": lambda g, self: _h(self).mv(g)})
op(products.dot, out=True, samples=Samples([call(Draw(3), Draw(3)), call(Draw(0), Draw(0))], dtypes="number"),
   grads={"self": lambda g, tensor: g * conj(tensor), "tensor": lambda g, self: g * conj(self)})
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
        return self.dot(other)
    if a == 2 and b == 1:
        return self.mv(other)
    if a == 1:
        return self.unsqueeze(0).matmul(other).squeeze(-2)
    if b == 1:
        return self.matmul(other.unsqueeze(1)).squeeze(-1)
    if b == 2:                         # one product for the whole batch
        if self.shape[-1] != other.shape[0]:
            raise RuntimeError(f"mat1 and mat2 shapes cannot be multiplied ({self.shape[:-1].numel()}x{self.shape[-1]} "
                               f"and {other.shape[0]}x{other.shape[1]})")
        return self.reshape(-1, self.shape[-1]).mm(other).view(self.shape[:-1] + other.shape[1:])
    from .shape import broadcast_shapes
    batch = broadcast_shapes(self.shape[:-2], other.shape[:-2])
    x = self.expand(batch + self.shape[-2:]).reshape((-1,) + self.shape[-2:])
    y = other.expand(batch + other.shape[-2:]).reshape((-1,) + other.shape[-2:])
    return x.bmm(y).view(batch + (self.shape[-2], other.shape[-1]))
