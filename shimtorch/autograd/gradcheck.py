"""``gradcheck`` and ``gradgradcheck``: gradients compared with finite differences."""
import numpy as np

from .._core.engine import grad
from .._core.grad_mode import enable_grad
from .._core.tensor import TensorBase, from_numpy
from ._legacy_gradcheck import (  # noqa: F401  (names that older versions had here)
    contiguous,
    get_analytical_jacobian,
    get_numerical_jacobian,
    iter_tensors,
    iter_tensors_with_grad,
    iter_variables,
    make_jacobian,
    zero_gradients,
)
from ._numerical import analytical_jacobians, differentiable_inputs, numerical_jacobians, tensors_of

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError", "get_numerical_jacobian", "get_analytical_jacobian"]


class GradcheckError(RuntimeError):
    """A gradient is not what finite differences say, or not what it must be."""


def gradcheck(func, inputs, eps=1e-6, atol=1e-5, rtol=1e-3, raise_exception=True, check_sparse_nnz=False,
              nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False, check_batched_grad=False,
              check_batched_forward_grad=False, check_forward_ad=False, check_backward_ad=True, fast_mode=False,
              masked=None):
    """Check the gradients of ``func`` against finite differences; True, or GradcheckError (False if not raising).

    inputs: the arguments, a tensor or a sequence; those that require grad should be of double precision. atol, rtol:
    how far the Jacobians may differ. nondet_tol: how far two backward passes may. check_undefined_grad: whether
    backward is tried with only some of the outputs' gradients. masked (or check_sparse_nnz): of a sparse input only
    the specified elements are varied. fast_mode is accepted: every element is compared all the same. Forward-mode and
    batched gradients do not exist here.
    """
    for wanted, name in ((check_batched_grad, "check_batched_grad"), (check_forward_ad, "check_forward_ad"),
                         (check_batched_forward_grad, "check_batched_forward_grad")):
        if wanted:
            raise NotImplementedError(f"gradcheck({name}=True) is not implemented")
    if not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    arguments = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    try:
        with enable_grad():
            _check(func, arguments, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes,
                   bool(masked) or check_sparse_nnz)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(func, inputs, grad_outputs=None, eps=1e-6, atol=1e-5, rtol=1e-3, gen_non_contig_grad_outputs=False,
                  raise_exception=True, nondet_tol=0.0, check_undefined_grad=True, check_grad_dtypes=False,
                  check_batched_grad=False, check_fwd_over_rev=False, check_rev_over_rev=True, fast_mode=False,
                  masked=False):
    """Check the gradients of the gradients of ``func``, also with respect to ``grad_outputs``; see ``gradcheck``.

    grad_outputs: gradients of the outputs (random ones if not given; with gen_non_contig_grad_outputs not contiguous).
    """
    if check_fwd_over_rev:
        raise NotImplementedError("gradgradcheck(check_fwd_over_rev=True) is not implemented")
    if not check_rev_over_rev:
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    arguments = (inputs,) if isinstance(inputs, TensorBase) else tuple(inputs)
    if grad_outputs is None:
        with enable_grad():
            outputs = _differentiable(func(*arguments))
        rng = np.random.default_rng(len(outputs))
        grad_outputs = tuple([_random_like(out, rng, gen_non_contig_grad_outputs) for out in outputs])
    else:
        grad_outputs = (grad_outputs,) if isinstance(grad_outputs, TensorBase) else tuple(grad_outputs)
    n = len(grad_outputs)

    def gradients(*args):
        args, weights = args[:-n], args[-n:]
        args = tuple([_as_result(a) for a in args])
        outputs = _differentiable(func(*args))
        inputs = tuple(differentiable_inputs(args))
        grads = grad(outputs, inputs, weights, create_graph=True, allow_unused=True)
        return tuple([g for g in grads if g is not None])

    return gradcheck(gradients, arguments + grad_outputs, eps, atol, rtol, raise_exception, False, nondet_tol,
                     check_undefined_grad, check_grad_dtypes, check_batched_grad, masked=masked)


def _as_result(a):
    """A leaf as a result, so that a function that writes to its input can be checked."""
    dense_leaf = isinstance(a, TensorBase) and a.requires_grad and a.is_leaf and a.layout is _strided()
    return a.view_as(a) if dense_leaf else a


def _random_like(out, rng, non_contiguous):
    shape = (*out.shape, 2) if non_contiguous else out.shape
    values = rng.uniform(-1, 1, shape)
    if out.is_complex():
        values = values + 1j * rng.uniform(-1, 1, shape)
    g = from_numpy(np.asarray(values)).to(out.device, out.dtype)
    return (g[..., 0] if non_contiguous else g).detach().requires_grad_()


def _differentiable(outputs):
    return tuple([out for out in tensors_of(outputs) if out.requires_grad])


def _check(func, args, eps, atol, rtol, nondet_tol, check_undefined_grad, check_grad_dtypes, masked):
    _check_inputs(args)
    result = func(*args)
    for out in tensors_of(result):
        if out.layout is not _strided():
            raise ValueError("Sparse output is not supported at gradcheck yet. Please call to_dense(masked_grad=...) "
                             "on the output of fn for gradcheck.")
    outputs = _differentiable(result)
    if not outputs:
        _check_constant(func, args, eps, masked)
        return
    numerical = numerical_jacobians(func, args, eps, masked, lambda r: [p.tensor for p in _parts(_same(r, result))])
    parts = _parts(outputs)
    for i, part in enumerate(parts):
        analytical = analytical_jacobians(part.tensor, args, check_grad_dtypes and GradcheckError)
        again = analytical_jacobians(part.tensor, args)
        for j, (a, n, b) in enumerate(zip(analytical, numerical[i], again, strict=True)):
            if not np.allclose(a, n, rtol, atol):
                raise GradcheckError(f"{part.preface}Jacobian mismatch for output {part.index} with "
                                     f"respect to input {j},\nnumerical:{_shown(n)}\nanalytical:{_shown(a)}\n")
            if not np.allclose(a, b, 0, nondet_tol):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times "
                    "gives different values, although analytical gradient matches numerical gradient.The tolerance for "
                    f"nondeterminism was {nondet_tol}.")
    _check_zero(outputs, args)
    if check_undefined_grad and len(outputs) > 1:
        _check_undefined(outputs, args)


class _Part:
    """An output, or the real or imaginary part of a complex one."""

    def __init__(self, tensor, index, preface=""):
        self.tensor, self.index, self.preface = tensor, index, preface


def _parts(outputs):
    """The outputs, complex ones as two real ones."""
    parts = []
    for i, out in enumerate(outputs):
        if out.is_complex():
            parts.append(_Part(out.imag, i, "While considering the imaginary part of complex outputs only, "))
            parts.append(_Part(out.real, i, "While considering the real part of complex outputs only, "))
        else:
            parts.append(_Part(out, i))
    return parts


def _same(result, first):
    """Of a new result, the outputs that were differentiable in the first."""
    return [out for out, was in zip(tensors_of(result), tensors_of(first), strict=True) if was.requires_grad]


def _strided():
    from .._core.device import strided
    return strided


def _check_inputs(args):
    found = False
    for i, x in enumerate(args):
        if not isinstance(x, TensorBase) or not x.requires_grad:
            continue
        found = True
        if x.dtype.name not in ("float64", "complex128"):
            import warnings
            warnings.warn(f"Input #{i} requires gradient and is not a double precision floating point or complex. This "
                          "check will likely fail if all the inputs are not of double precision floating point or "
                          "complex. ",
                          UserWarning, stacklevel=4)
        if x.layout is _strided() and x.numel() and any(s == 0 and n > 1
                                                        for s, n in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs that "
                               "are non-overlapping to be able to compute the numerical gradients correctly. You "
                               "should call .contiguous on the input before passing it to gradcheck.")
    if not found:
        raise ValueError("gradcheck expects at least one input tensor to require gradient, but none of them have "
                         "requires_grad=True.")


def _check_constant(func, args, eps, masked):
    """A result without history must not depend on the inputs."""
    jacobians = numerical_jacobians(
        func, args, eps, masked, lambda r: [p.tensor for p in _parts([t for t in tensors_of(r) if not _is_integer(t)])])
    if any(np.any(jacobian != 0) for row in jacobians for jacobian in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def _is_integer(t):
    return not t.is_floating_point() and not t.is_complex()


def _check_zero(outputs, args):
    """Zero gradients of the outputs must give zero gradients."""
    inputs = differentiable_inputs(args)
    grads = grad(outputs, inputs, [out.new_zeros(out.shape) for out in outputs], retain_graph=True, allow_unused=True)
    for g in grads:
        if g is not None and bool((g.to_dense() if g.layout is not _strided() else g).ne(0).any()):
            raise GradcheckError("backward not multiplied by grad_output")


def _check_undefined(outputs, args):
    """Backward must do when the gradient of one of the outputs is missing."""
    for missing in range(len(outputs)):
        rest = outputs[:missing] + outputs[missing + 1:]
        try:
            grad(rest, differentiable_inputs(args), [out.new_ones(out.shape) for out in rest], retain_graph=True,
                 allow_unused=True)
        except RuntimeError as error:
            raise GradcheckError("Expected backward function to handle undefined output grads. Please look at 'Notes "
                                 "about undefined output gradients' in 'tools/autograd/derivatives.yaml'") from error


def _shown(array):
    return repr(from_numpy(np.ascontiguousarray(array)))
