"""Jacobians by finite differences and by backward, as gradcheck compares them: a row per input element."""
import numpy as np

from .._core.device import strided
from .._core.engine import grad
from .._core.tensor import TensorBase, from_numpy


def tensors_of(result):
    """A function's result as a list of tensors; what else it returned is left out."""
    if isinstance(result, TensorBase):
        return [result]
    if not isinstance(result, (tuple, list)):
        raise AttributeError(f"'{type(result).__name__}' object has no attribute 'requires_grad'")
    return [r for r in result if isinstance(r, TensorBase)]


def differentiable_inputs(args):
    """The arguments that gradients are taken with respect to."""
    return [a for a in args if isinstance(a, TensorBase) and a.requires_grad]


def numerical_jacobians(func, args, eps, masked, parts_of):
    """Central differences: for each part of the outputs a list with one array per differentiable input."""
    columns = []
    for position, x in enumerate(args):
        if isinstance(x, TensorBase) and x.requires_grad:
            columns.append(_differences(func, args, position, eps, masked, parts_of))
    return [[column[i] for column in columns] for i in range(len(columns[0]))]


def _differences(func, args, position, eps, masked, parts_of):
    """For each part of the outputs the array of its derivatives by one input."""
    x = args[position]

    def outputs(shifted):
        given = args[:position] + (shifted,) + args[position + 1:]
        return [part.detach().cpu()._ndarray().reshape(-1).copy() for part in parts_of(func(*given))]

    def difference(k, step):
        above, below = _shifted(x, k, step, outputs), _shifted(x, k, -step, outputs)
        return [(a - b) / (2 * eps) for a, b in zip(above, below, strict=True)]

    sizes = [len(out) for out in outputs(x)]
    dtype = np.complex128 if x.is_complex() else np.float64
    arrays = [np.zeros((x.numel(), n), dtype) for n in sizes]
    for k in _elements(x, masked):
        for array, derivative in zip(arrays, difference(k, eps), strict=True):
            array[k] = derivative
        if x.is_complex():
            for array, derivative in zip(arrays, difference(k, eps * 1j), strict=True):
                array[k] += 1j * derivative
    return arrays


def _elements(x, masked):
    """The flat positions of the elements that are varied."""
    if x.layout is strided or not masked:
        return range(x.numel())
    if x.is_sparse and x.dense_dim() == 0:
        indices = x.detach().coalesce()._indices().cpu()._ndarray()
        return [int(i) for i in np.ravel_multi_index(tuple(indices), tuple(x.shape))]
    mask = x.detach().to_dense().cpu()._ndarray() != 0
    return [int(i) for i in np.flatnonzero(mask)]


def _shifted(x, k, step, outputs):
    """The outputs with element k of x changed: in place, so that a function sees it that holds x itself."""
    if x.layout is not strided:
        return outputs(_shifted_sparse(x.detach(), k, step))
    where = np.unravel_index(k, tuple(x.shape))
    memory = x.data if x.is_cuda else x.detach()._ndarray()          # what is written to unseen by x's version
    before = memory[where].clone() if x.is_cuda else memory[where].copy()
    memory[where] += step
    try:
        return outputs(x)
    finally:
        memory[where] = before


def _shifted_sparse(x, k, step):
    """A sparse tensor with element k changed, which is thereby among the specified ones."""
    dense = x.to_dense()
    dense.view(-1)[k] += step
    if not x.is_sparse:
        return dense.to_sparse(layout=x.layout)
    from .. import sparse_coo_tensor
    x = x.coalesce()
    specified = np.zeros(tuple(x.shape), bool)
    specified[tuple(x._indices().cpu()._ndarray())] = True
    specified.reshape(-1)[k] = True
    indices = np.stack(np.nonzero(specified))
    values = from_numpy(dense.cpu()._ndarray()[tuple(indices)])
    return sparse_coo_tensor(from_numpy(indices), values, tuple(x.shape), device=x.device).coalesce()


def analytical_jacobians(output, args, dtype_error=None):
    """For one real output: the array of its derivatives by each differentiable input, from backward."""
    inputs = differentiable_inputs(args)
    arrays = [np.zeros((x.numel(), output.numel()), np.complex128 if x.is_complex() else np.float64) for x in inputs]
    for k in range(output.numel()):
        unit = output.new_zeros(output.numel())
        unit[k] = 1
        grads = grad(output, inputs, unit.view(output.shape), retain_graph=True, allow_unused=True)
        for array, x, g in zip(arrays, inputs, grads, strict=True):
            if g is None:
                continue
            if dtype_error and g.dtype is not x.dtype:
                raise dtype_error("Gradient has dtype mismatch")
            g = g.detach() if g.layout is strided else g.detach().to_dense()
            array[:, k] = g.cpu()._ndarray().reshape(-1)
    return arrays
