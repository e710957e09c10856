"""Modules applied to their inputs (torch.nn.parallel.parallel_apply), one after another: devices work on meanwhile."""

__all__ = ["parallel_apply"]


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """``[module(*input, **kwargs) ...]``; an input that is no tuple is the only argument.

    devices: which one is to be the current one for each (None: that of its input).
    """
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
        )
    if kwargs_tup is None:
        kwargs_tup = ({},) * len(modules)
    elif len(kwargs_tup) != len(modules):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of kwargs")
    if devices is None:
        devices = [None] * len(modules)
    elif len(devices) != len(modules):
        raise AssertionError(f"The number of modules {len(modules)} is not equal to the number of devices")
    return [_apply(*each) for each in zip(modules, inputs, kwargs_tup, devices, strict=True)]


def _apply(module, input, kwargs, device):
    from ... import cuda

    arguments = input if isinstance(input, (list, tuple)) else (input,)
    if not cuda.is_available():
        return module(*arguments, **kwargs)
    with cuda.device(_index_in(arguments) if device is None else device):
        return module(*arguments, **kwargs)


def _index_in(values):
    """The device of the first tensor on one among arguments, lists and dicts of them; None if there is none."""
    for x in values:
        if isinstance(x, dict):
            x = list(x.values())
        found = _index_in(x) if isinstance(x, (list, tuple)) else getattr(x, "is_cuda", False) and x.get_device()
        if found is not None and found is not False:
            return found
    return None
