"""Recurrent layers over a whole sequence as one op.

The gradients are compiled too. Where they are to be differentiated again, the layer is run once more out of tensor ops.
"""
from .._core import OPS, recurrent
from .._core.declaring import op
from .._core.grad_mode import is_grad_enabled

_SPACE = dict(namespace="torch.nn.functional", method=False, function=False)


def _gradients(g, mode, gates, h0, c0, weight, bias, project, reverse, states, cells, activated, extra, raw, needs):
    if is_grad_enabled():
        return _differentiable(g, mode, gates, h0, c0, weight, bias, project, reverse)
    g_out, g_last = g if isinstance(g, (list, tuple)) else (g, None)
    da, dhidden, dh, dc, dout = recurrent.backward(
        mode, g_out, g_last, weight, states, cells, activated, extra, project, reverse)
    rows = dhidden.flatten(0, 1)
    if reverse:
        before = states[:-1].flip(0).flatten(0, 1)
    else:
        before = states[:-1].flatten(0, 1)
    return (da, dh if needs[1] else None, dc if c0 is not None else None, rows.t().mm(before) if needs[3] else None,
            rows.sum(0) if bias is not None else None,
            dout.flatten(0, 1).t().mm(raw.flatten(0, 1)) if project is not None else None)


def _differentiable(g, mode, gates, h0, c0, weight, bias, project, reverse):
    """The gradients as tensors with a history, by differentiating the layer made of tensor ops."""
    from ..autograd import grad
    from ..nn._functional.rnn import STEPS, scan_steps
    arguments = (gates, h0, c0, weight, bias, project)
    hidden = (h0,) if c0 is None else (h0, c0)
    outputs, last = scan_steps(STEPS[mode], gates.unbind(0), hidden, (None, weight, None, bias, project), reverse)
    results = [OPS["torch.stack"](outputs)] + ([last[1]] if c0 is not None else [])
    given = list(g) if isinstance(g, (list, tuple)) else [g]
    grads = iter(grad(results, [t for t in arguments if t is not None and t.requires_grad], given[:len(results)],
                      create_graph=True, allow_unused=True))
    return tuple(next(grads) if t is not None and t.requires_grad else None for t in arguments)


_RULES = {("gates", "h0", "c0", "weight", "bias", "project"): _gradients}


@op(**_SPACE, aux=("states", "cells", "activated", "extra", "raw"), grads=_RULES, backward_name="RnnBackward0")
def recurrent_layer(mode, gates, h0, c0, weight, bias, project, reverse):
    """The outputs (T, B, H) in the order of time, and for "LSTM" the last cell (B, H).

    *project*, of an LSTM, is (P, H): the hidden states are then what it makes of them, with P elements.
    """
    states, cells, activated, extra, raw = recurrent.forward(mode, gates, h0, c0, weight, bias, project, reverse)
    out = states[1:].flip(0) if reverse else states[1:].clone()
    results = (out,) if cells is None else (out, cells[-1].clone())
    return (*results, states, cells, activated, extra, raw)
