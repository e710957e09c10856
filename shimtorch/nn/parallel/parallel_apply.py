"""Modules applied to their inputs (torch.nn.parallel.parallel_apply), one after another on one device."""

__all__ = ["parallel_apply"]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """``[module(*input, **kwargs) ...]``; an input that is no tuple is the only argument."""
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
        )
    if kwargs_tup is None:
        kwargs_tup = ({},) * len(modules)
    elif len(kwargs_tup) != len(modules):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of kwargs")
    return [
        module(*(input if isinstance(input, (list, tuple)) else (input,)), **kwargs)
        for module, input, kwargs in zip(modules, inputs, kwargs_tup, strict=True)
    ]
