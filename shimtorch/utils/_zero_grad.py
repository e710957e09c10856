"""Clearing gradients, for modules and optimisers alike."""


def zero_grads(params, set_to_none=None):
    """Set the gradient of every parameter to None, or fill it with zeros; None asks the era which."""
    if set_to_none is None:
        from .._core.policy import policy

        set_to_none = policy.zero_grad_set_to_none
    if set_to_none:
        for param in params:
            param.grad = None
        return
    for param in params:
        grad = param.grad
        if grad is not None:
            if grad.grad_fn is not None:
                grad.detach_()
            else:
                grad.requires_grad_(False)
            grad.zero_()
