"""Recurrent layers on a device: one product and one kernel a step. What is kept for backward is as on the CPU."""
from . import _dense, load

_KINDS = {"LSTM": _dense.LSTM, "GRU": _dense.GRU}


def _dense_form(t):
    return None if t is None else t.contiguous()


def _product(left, right, out):
    """out (n, m) = left (n, k) @ right (k, m)."""
    if out.numel():
        load.libraries().products(out.unsqueeze(0), left.unsqueeze(0), right.unsqueeze(0))


def forward(mode, gates, h0, c0, weight, bias, project, reverse):
    """The hidden states and cells (T + 1, B, H) in the order in which they come about, and what backward needs."""
    gates, weight, bias, project = (_dense_form(t) for t in (gates, weight, bias, project))
    steps, n, width = gates.shape
    state = weight.shape[1]
    size = state if project is None else project.shape[1]
    states, active = gates.new_empty((steps + 1, n, state)), gates.new_empty((steps, n, width))
    states[0] = h0
    share = gates.new_empty((n, width))
    cells = extra = raw = None
    if mode == "LSTM":
        cells = gates.new_empty((steps + 1, n, size))
        cells[0] = c0
    if mode in _KINDS:
        extra = gates.new_empty((steps, n, size))
    if project is not None:
        raw = gates.new_empty((steps, n, size))
    for i in range(steps):
        given = gates[steps - 1 - i if reverse else i]
        _product(states[i], weight.t(), share)
        if mode in _KINDS:
            before, after = (states[i], None) if cells is None else (cells[i], cells[i + 1])
            _dense.cell_step(_KINDS[mode], given, share, bias, before, active[i], after, extra[i],
                             states[i + 1] if project is None else raw[i])
            if project is not None:
                _product(raw[i], project.t(), states[i + 1])
        else:
            sums = given + (share if bias is None else share + bias)
            active[i] = states[i + 1] = sums.relu_() if mode == "RNN_RELU" else sums.tanh_()
    return states, cells, active, extra, raw


def backward(mode, g, g_last, weight, states, cells, active, extra, project, reverse):
    """The gradients of the gates, of the hidden state's share in them, of the initial state and cell, of what the
    projection gave (in the order of the states)."""
    g, weight, project = (_dense_form(t) for t in (g, weight, project))
    steps, n, width = active.shape
    state = weight.shape[1]
    size = state if project is None else project.shape[1]
    da = active.new_empty(active.shape)
    dhidden = active.new_empty(active.shape) if mode == "GRU" else da
    dh, back = active.new_zeros((n, state)), active.new_empty((n, state))
    dc = active.new_zeros((n, size)) if g_last is None else g_last.clone().contiguous()
    dout = None if project is None else active.new_empty((steps, n, state))
    for i in range(steps - 1, -1, -1):
        t = steps - 1 - i if reverse else i
        dh.add_(g[t])
        through = dh
        if project is not None:
            dout[i] = dh
            through = active.new_empty((n, size))
            _product(dh, project, through)
        if mode in _KINDS:
            before = states[i] if cells is None else cells[i]
            _dense.cell_step_back(_KINDS[mode], active[i], before, extra[i], through, dc, da[t], dhidden[t])
        elif mode == "RNN_RELU":
            da[t] = dh * (active[i] > 0).to(dh.dtype)
        else:
            da[t] = dh * (1 - active[i] * active[i])
        _product(dhidden[t], weight, back)
        dh.copy_(back)
        if mode == "GRU":
            dh.add_(dc)
    return da, dhidden, dh, dc, dout
