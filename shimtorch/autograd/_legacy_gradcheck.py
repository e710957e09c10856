"""The helpers that ``torch.autograd.gradcheck`` had up to 1.1, for scripts that use them."""
from .._core.tensor import TensorBase, from_numpy

__all__ = ["contiguous", "get_analytical_jacobian", "get_numerical_jacobian", "iter_tensors", "iter_tensors_with_grad",
           "iter_variables", "make_jacobian", "zero_gradients"]


def iter_tensors(x, only_requiring_grad=False):
    """The tensors in nested sequences; only those that require grad, if wished."""
    if isinstance(x, TensorBase):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, (list, tuple)):
        for item in x:
            yield from iter_tensors(item, only_requiring_grad)


def iter_variables(x):
    """Gradient and data of the tensors that require grad."""
    for t in iter_tensors(x, True):
        yield None if t.grad is None else t.grad.data, t.data


def iter_tensors_with_grad(x):
    """Gradient and data of the tensors that require grad."""
    return iter_variables(x)


def zero_gradients(x):
    """Set the gradients of tensors in nested sequences to zero."""
    for t in iter_tensors(x):
        if t.grad is not None:
            t.grad.detach_()
            t.grad.data.zero_()


def contiguous(x):
    """Nested sequences of tensors with each tensor contiguous."""
    if isinstance(x, TensorBase):
        return x.contiguous()
    return type(x)([contiguous(item) for item in x]) if isinstance(x, (list, tuple)) else x


def make_jacobian(input, num_out):
    """Zeros in the shape of Jacobians: (elements of the input, num_out) for each tensor that requires grad."""
    if isinstance(input, TensorBase):
        return input.new_zeros((input.numel(), num_out)).detach() if input.requires_grad else None
    made = [j for j in (make_jacobian(item, num_out) for item in input) if j is not None]
    return type(input)(made) if made else None


def get_numerical_jacobian(fn, input, target=None, eps=1e-3, grad_out=1.0):
    """The Jacobians of ``fn(input)``, a tensor, by central differences; with respect to target, if given."""
    from ._numerical import numerical_jacobians
    target = input if target is None else target
    wanted = list(iter_tensors(target, True))
    found = [from_numpy(numerical_jacobians(lambda _: fn(input), (x,), eps, False, lambda out: [out])[0][0]) * grad_out
             for x in wanted]
    return found[0] if isinstance(target, TensorBase) else found


def get_analytical_jacobian(input, output, nondet_tol=0.0, grad_out=1.0):
    """The Jacobians of an output by backward; whether two passes agree; whether each gradient has its input's size."""
    import numpy as np

    from ._numerical import analytical_jacobians
    wanted = tuple(iter_tensors(input, True))
    first, second = analytical_jacobians(output, wanted), analytical_jacobians(output, wanted)
    reentrant = all(np.allclose(a, b, 0, nondet_tol) for a, b in zip(first, second, strict=True))
    return [from_numpy(j) * grad_out for j in first], reentrant, True
