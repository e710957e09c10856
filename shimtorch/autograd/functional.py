"""``torch.autograd.functional``: Jacobians, Hessians and their products with vectors, of Python functions."""
from .._core.engine import grad
from .._core.grad_mode import enable_grad
from .._core.tensor import TensorBase

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), vᵀJ)``: v has the structure of the outputs, the product that of the inputs.

    inputs: a Tensor or a tuple. v may be left out when the output is one element. create_graph: the result can be
    differentiated. strict: an output or product that does not depend on an input is an error, instead of zeros.
    """
    with enable_grad():
        inputs, one_input = _inputs(inputs, "vjp", create_graph)
        outputs, one_output = _outputs(func(*inputs), "vjp", strict)
        if v is not None:
            v = _vector(v, outputs, one_output, "vjp")
        elif len(outputs) != 1 or outputs[0].numel() != 1:
            raise RuntimeError("The vector v can only be None if the user-provided function returns a single Tensor "
                               "with a single element.")
        product = _grad(outputs, inputs, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "The output of the user-provided function", "input")
    return _result(outputs, one_output, create_graph), _result(product, one_input, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), J·v)``: v has the structure of the inputs, the product that of the outputs; see ``vjp``."""
    with enable_grad():
        inputs, one_input = _inputs(inputs, "jvp", create_graph)
        v = _vector_for_inputs(v, inputs, one_input, "jvp")
        outputs, one_output = _outputs(func(*inputs), "jvp", strict)
        # vᵀJ is linear in v: its derivative by v, applied to a vector, is J times that vector
        free = tuple([out.new_zeros(out.shape).requires_grad_() for out in outputs])
        linear = _grad(outputs, inputs, free, True)
        linear = _filled(linear, inputs, strict, False, "The output of the user-provided function", "input")
        product = _grad(linear, free, v, create_graph)
        product = _filled(product, outputs, strict, create_graph, "The gradient with respect to the input",
                          "entry", " in the grad_outputs when using the double backward trick to compute forward mode "
                          "gradients")
    return _result(outputs, one_output, create_graph), _result(product, one_output, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The Jacobian of ``func`` at ``inputs``: for each output and input a Tensor of the output's and input's sizes.

    A function of one Tensor to one Tensor gives one Tensor, otherwise the tuples of outputs and inputs are nested.
    vectorize is accepted: the result is the same, one row at a time.
    """
    _check_strategy(strategy, vectorize, create_graph)
    if strict and vectorize:
        raise RuntimeError("torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported "
                           "together. Please either set `strict=False` or `vectorize=False`.")
    with enable_grad():
        inputs, one_input = _inputs(inputs, "jacobian", create_graph)
        outputs, one_output = _outputs(func(*inputs), "jacobian", strict)
        rows = tuple([_jacobian_of(out, i, inputs, create_graph, strict) for i, out in enumerate(outputs)])
    rows = tuple([_result(row, one_input, create_graph) for row in rows])
    return rows[0] if one_output else rows


def _jacobian_of(output, index, inputs, create_graph, strict):
    """The Jacobian of one output with respect to every input."""
    columns = [[] for _ in inputs]
    for k in range(output.numel()):
        unit = output.new_zeros(output.numel())
        unit[k] = 1
        grads = _grad((output,), inputs, (unit.view(output.shape),), create_graph, retain=True)
        for i, (g, x) in enumerate(zip(grads, inputs, strict=True)):
            if g is None and strict:
                raise RuntimeError(f"Output {index} of the user-provided function is independent of input {i}. This is "
                                   "not allowed in strict mode.")
            if strict and create_graph and not g.requires_grad:
                raise RuntimeError(f"The jacobian of the user-provided function is independent of input {i}. This is "
                                   "not allowed in strict mode when create_graph=True.")
            columns[i].append(x.new_zeros(x.shape) if g is None else g)
    from .._ops import stack
    return tuple([stack(c).view(output.shape + x.shape) if c else x.new_zeros(output.shape + x.shape)
                  for c, x in zip(columns, inputs, strict=True)])


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The Hessian of a function to one element: for each pair of inputs a Tensor of both sizes; see ``jacobian``."""
    _check_strategy(outer_jacobian_strategy, vectorize, create_graph)
    one_input = not isinstance(inputs, tuple)

    def gradient(*args):
        jac = jacobian(lambda *xs: _one_element(func(*xs), "hessian", strict), args, create_graph=True)
        _check_dependent(jac, strict)
        return tuple([j.reshape(x.shape) for j, x in zip(jac, args, strict=True)])

    result = jacobian(gradient, (inputs,) if one_input else inputs, create_graph, strict, vectorize,
                      outer_jacobian_strategy)
    return result[0][0] if one_input else result


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), vᵀH)`` for a function to one element; v and the product have the structure of the inputs."""
    with enable_grad():
        inputs, one_input = _inputs(inputs, "vhp", create_graph)
        v = _vector_for_inputs(v, inputs, one_input, "vhp")
        output = _one_element(func(*inputs), "vhp", strict)
        jac = _gradient(output, inputs, strict)
        product = _grad(jac, inputs, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "The jacobian of the user-provided function", "input")
    return _result((output,), True, create_graph), _result(product, one_input, create_graph)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """``(func(*inputs), H·v)`` for a function to one element; where H is symmetric, ``vhp`` is faster."""
    with enable_grad():
        inputs, one_input = _inputs(inputs, "hvp", create_graph)
        v = _vector_for_inputs(v, inputs, one_input, "hvp")
        output = _one_element(func(*inputs), "hvp", strict)
        jac = _gradient(output, inputs, strict)
        free = tuple([x.new_zeros(x.shape).requires_grad_() for x in inputs])
        linear = _grad(jac, inputs, free, True)
        linear = _filled(linear, inputs, strict, False, "The jacobian of the user-provided function", "input")
        product = _grad(linear, free, v, create_graph)
        product = _filled(product, inputs, strict, create_graph, "The hessian of the user-provided function",
                          "entry", " in the grad_jacobian")
    return _result((output,), True, create_graph), _result(product, one_input, create_graph)


# ---------------------------------------------------------------- arguments and results

def _tuple_of(value, name, function):
    """A Tensor or a tuple of Tensors as a tuple, and whether it was one Tensor."""
    if isinstance(value, TensorBase):
        return (value,), True
    if not isinstance(value, tuple):
        raise TypeError(f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the given "
                        f"{name} has type {type(value)}.")
    for i, item in enumerate(value):
        if not isinstance(item, TensorBase):
            raise TypeError(f"The {name} given to {function} must be either a Tensor or a tuple of Tensors but the "
                            f"value at index {i} has type {type(item)}.")
    return value, False


def _inputs(inputs, function, create_graph):
    """The inputs as tensors to differentiate by: of their own, but with create_graph on the inputs' history."""
    inputs, one = _tuple_of(inputs, "inputs", function)
    return tuple([x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
                  for x in inputs]), one


def _outputs(outputs, function, strict):
    outputs, one = _tuple_of(outputs, "outputs of the user-provided function", function)
    if strict:
        for i, out in enumerate(outputs):
            if not out.requires_grad:
                raise RuntimeError(f"Output {i} of the user-provided function does not require gradients. The outputs "
                                   "must be computed in a differentiable manner from the input when running in strict "
                                   "mode.")
    return outputs, one


def _one_element(output, function, strict):
    outputs, one = _outputs(output, function, strict)
    if not one:
        raise RuntimeError(f"The function given to {function} should return a single Tensor")
    if output.numel() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {function} should contain a single element")
    return output.reshape(())


def _vector(v, like, one, function):
    v, _ = _tuple_of(v, "v", function)
    if len(v) != len(like):
        if one:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}.")
    for i, (a, b) in enumerate(zip(v, like, strict=True)):
        if a.shape != b.shape:
            raise RuntimeError(f"{'' if one else f'Entry {i} in '}v has invalid size: should be {b.shape} but got "
                               f"{a.shape}.")
    return tuple([a.detach() if not a.requires_grad else a for a in v])


def _vector_for_inputs(v, inputs, one, function):
    if v is not None:
        return _vector(v, inputs, one, function)
    if len(inputs) != 1 or inputs[0].numel() != 1:
        raise RuntimeError("The vector v can only be None if the input to the user-provided function is a single "
                           "Tensor with a single element.")
    return (inputs[0].new_ones(inputs[0].shape),)


def _check_strategy(strategy, vectorize, create_graph):
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function '
                             'has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, '
                             'prefer to use "reverse-mode".')
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError("torch.autograd.functional.jacobian: `create_graph=True` and "
                                      "`strategy=\"forward-mode\"` are not supported together (yet). Please either set "
                                      "`create_graph=False` or `strategy=\"reverse-mode\"`.")
        if not vectorize:
            raise NotImplementedError("Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly "
                                      "implemented for `vectorize=True`.")


def _grad(outputs, inputs, v, create_graph, retain=None):
    """Gradients with respect to inputs; outputs that have no history count as constant."""
    v = (None,) * len(outputs) if v is None else v
    pairs = [(out, g) for out, g in zip(outputs, v, strict=True) if out is not None and out.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, v = zip(*pairs, strict=True)
    return grad(outputs, inputs, v, allow_unused=True, create_graph=create_graph,
                retain_graph=create_graph if retain is None else retain)


def _gradient(output, inputs, strict):
    """The gradient of a single element, to be differentiated again."""
    jac = _grad((output,), inputs, None, True)
    jac = _filled(jac, inputs, strict, False, "The output of the user-provided function", "input")
    _check_dependent(jac, strict)
    return jac


def _check_dependent(jac, strict):
    if strict:
        for i, j in enumerate(jac):
            if not j.requires_grad:
                raise RuntimeError(
                    "While computing the hessian, found that the jacobian of the user-provided function with respect "
                    f"to input {i} is independent of the input. This is not allowed in strict mode. You should ensure "
                    "that your function is twice differentiable and that the jacobian depends on the inputs (this "
                    "would be violated by a linear function for example).")


def _filled(grads, like, strict, create_graph, what, of, where=""):
    """Gradients with zeros for those that are missing, which in strict mode is an error."""
    result = []
    for i, (g, x) in enumerate(zip(grads, like, strict=True)):
        if strict and g is None:
            raise RuntimeError(f"{what} is independent of {of} {i}{where}. This is not allowed in strict mode.")
        if strict and create_graph and not g.requires_grad:
            raise RuntimeError(f"{what} is independent of {of} {i}{where}. This is not allowed in strict mode when "
                               "create_graph=True.")
        result.append(x.new_zeros(x.shape) if g is None else g)
    return tuple(result)


def _result(values, one, create_graph):
    values = values if create_graph else tuple([v.detach() for v in values])
    return values[0] if one else values
