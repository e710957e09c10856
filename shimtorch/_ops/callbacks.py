"""Python functions applied element by element, in place: slow, and differentiated by nothing."""
from .._core.declaring import inplace_op
from .._core.tensor import wrap_ndarray
from .samples import Draw, Samples, call


def _apply(self, f, *others):
    """Set every element to f of it and the elements of others at its place."""
    import numpy as np
    if self.requires_grad or any(o.requires_grad for o in others):
        raise RuntimeError("Can't call apply_(), map_() or map2_() on Variable that requires grad. Use "
                           "var.detach().apply_() instead.")
    if not callable(f):
        raise TypeError(f"'{type(f).__name__}' object is not callable")
    for other in others:
        if other.dtype is not self.dtype:
            raise TypeError(f"map_: expected {self.type()} for argument 'other', got {other.type()}")
    elements = zip(self.reshape(-1).tolist(), *(o.expand(self.shape).reshape(-1).tolist() for o in others))
    values = [f(*e) for e in elements]
    result = np.array(values, dtype=self._ndarray().dtype).reshape(self.shape)
    return self.copy_(wrap_ndarray(result))


@inplace_op(renames={"callable": "f"}, samples=Samples([call(Draw(2, 3), lambda x: x * 2), call(Draw(), lambda x: 1)],
                                                       gradcheck=False))
def apply_(self, f):
    """Replace every element by ``f(element)``, a Python number."""
    return _apply(self, f)


@inplace_op(renames={"callable": "f"},
            samples=Samples([call(Draw(2, 3), Draw(3), lambda x, y: x - y)], gradcheck=False))
def map_(self, tensor, f):
    """Replace every element by ``f(element, other)``, with the other at its place in a tensor."""
    return _apply(self, f, tensor)


@inplace_op(renames={"callable": "f"}, samples=Samples([
    call(Draw(2, 3), Draw(2, 3), Draw(3), lambda x, y, z: x - y * z)], gradcheck=False))
def map2_(self, x, y, f):
    """Replace every element by ``f(element, a, b)``, with a and b at its place in two tensors."""
    return _apply(self, f, x, y)
