"""Recurrent layers and cells (torch.nn.modules.rnn)."""

import math
import warnings

from ... import _ops
from .. import init
from .._functional import rnn as F
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["RNNBase", "RNN", "LSTM", "GRU", "RNNCellBase", "RNNCell", "LSTMCell", "GRUCell"]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "GRU": 3, "LSTM": 4}


def apply_permutation(tensor, permutation, dim=1):
    """``tensor.index_select(dim, permutation)``, under a deprecated name."""
    warnings.warn(
        "`apply_permutation` is deprecated, please use `tensor.index_select(dim, permutation)` instead",
        FutureWarning,
        stacklevel=2,
    )
    return tensor.index_select(dim, permutation)


def _draw_uniform(module):
    bound = 1.0 / math.sqrt(module.hidden_size) if module.hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNBase(Module):
    """What RNN, LSTM and GRU share: parameters named weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0, ...

    A second direction adds ``_reverse`` to the names, a projection (LSTM) weight_hr_l0. All are drawn from the
    uniform distribution on +-1/sqrt(hidden_size).
    """

    __constants__ = [
        "mode",
        "input_size",
        "hidden_size",
        "num_layers",
        "bias",
        "batch_first",
        "dropout",
        "bidirectional",
        "proj_size",
    ]
    _input_error = "Expected input to be 2D or 3D, got {}D instead"

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        if isinstance(dropout, bool) or not isinstance(dropout, (int, float)) or not 0 <= dropout <= 1:
            raise ValueError(
                "dropout should be a number in range [0, 1] representing the probability of an element being zeroed"
            )
        if dropout > 0 and num_layers == 1:
            warnings.warn(
                "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
                f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
                stacklevel=2,
            )
        for name, value, kind in (
            ("bias", bias, bool),
            ("batch_first", batch_first, bool),
            ("input_size", input_size, int),
            ("hidden_size", hidden_size, int),
        ):
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
        for name, value in (("input_size", input_size), ("hidden_size", hidden_size), ("num_layers", num_layers)):
            if value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        if proj_size < 0:
            raise ValueError("proj_size should be a positive integer or zero to disable projections")
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._name_weights()
        for names in self._all_weights:
            for name in names:
                self.register_parameter(name, Parameter(_ops.empty(self._shape(name), device=device, dtype=dtype)))
        self.reset_parameters()

    def _name_weights(self):
        """The names of the parameters, by layer and direction."""
        names = ["weight_ih_l{}{}", "weight_hh_l{}{}"]
        if self.bias:
            names += ["bias_ih_l{}{}", "bias_hh_l{}{}"]
        if self.proj_size > 0:
            names.append("weight_hr_l{}{}")
        suffixes = ("", "_reverse") if self.bidirectional else ("",)
        self._all_weights = [
            [name.format(layer, suffix) for name in names] for layer in range(self.num_layers) for suffix in suffixes
        ]
        self._flat_weights_names = [name for names in self._all_weights for name in names]

    def _shape(self, name):
        gates = _GATES[self.mode] * self.hidden_size
        if name.startswith("bias"):
            return (gates,)
        if name.startswith("weight_hr"):
            return (self.proj_size, self.hidden_size)
        output = self.proj_size or self.hidden_size
        if name.startswith("weight_hh"):
            return (gates, output)
        first = name in ("weight_ih_l0", "weight_ih_l0_reverse")
        return (gates, self.input_size if first else output * self._directions)

    @property
    def _directions(self):
        return 2 if self.bidirectional else 1

    @property
    def _flat_weights(self):
        return [getattr(self, name, None) for name in self._flat_weights_names]

    @property
    def all_weights(self):
        """The parameters, a list for each layer and direction."""
        params = self._parameters
        return [[params[n] if n in params else getattr(self, n) for n in names] for names in self._all_weights]

    def flatten_parameters(self):
        """Does nothing: there is no memory to rearrange on the CPU."""

    def reset_parameters(self):
        """Draw all parameters anew."""
        _draw_uniform(self)

    def _layers(self):
        """The weights of every layer and direction as (w_ih, w_hh, b_ih, b_hh, w_hr)."""
        layers = []
        for weights in self.all_weights:
            w_hr = weights[-1] if self.proj_size > 0 else None
            biases = weights[2:4] if self.bias else (None, None)
            layers.append((weights[0], weights[1], *biases, w_hr))
        return layers

    def check_input(self, input, batch_sizes):
        """RuntimeError or ValueError if *input* does not fit: its dtype, dimensions and last size."""
        dtype = getattr(self, self._flat_weights_names[0]).dtype
        if input.dtype != dtype:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({dtype}). "
                f"Convert input: input.to({dtype}), or convert model: model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )

    def _batch(self, input, batch_sizes):
        if batch_sizes is not None:
            return int(batch_sizes[0])
        return input.size(0 if self.batch_first else 1)

    def get_expected_hidden_size(self, input, batch_sizes):
        """The size of the hidden state for *input*."""
        output = self.proj_size or self.hidden_size
        return (self.num_layers * self._directions, self._batch(input, batch_sizes), output)

    def check_hidden_size(self, hx, expected_hidden_size, msg="Expected hidden size {}, got {}"):
        """RuntimeError if the hidden state has another size."""
        if tuple(hx.size()) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.size())))

    def check_forward_args(self, input, hidden, batch_sizes):
        """Check input and hidden state."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx, permutation):
        """The hidden state with its batch in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # The hidden state as the caller passes it (a tensor; for the LSTM a pair), and as a tuple of tensors.

    def _zero_hidden(self, input, batch):
        return _ops.zeros(
            self.num_layers * self._directions, batch, self.hidden_size, dtype=input.dtype, device=input.device
        )

    def _hidden_parts(self, hx):
        return (hx,)

    def _hidden_whole(self, parts):
        return parts[0]

    def _check_hidden_dim(self, parts, is_batched):
        dim = parts[0].dim()
        if is_batched and dim != 3:
            raise RuntimeError(f"For batched 3-D input, hx should also be 3-D but got {dim}-D tensor")
        if not is_batched and dim != 2:
            raise RuntimeError(f"For unbatched 2-D input, hx should also be 2-D but got {dim}-D tensor")

    def forward(self, input, hx=None):
        """Run over the sequence *input* from the hidden state *hx* (zeros if None).

        *input* is (T, B, input_size), (B, T, input_size) if batch_first, (T, input_size), or a PackedSequence.
        Returns the output in the same form, and the last hidden state.
        """
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: " + self._input_error.format(input.dim()))
        is_batched = input.dim() == 3
        batch_dim = 0 if self.batch_first else 1
        if not is_batched:
            input = input.unsqueeze(batch_dim)
        if hx is None:
            hx = self._zero_hidden(input, input.size(batch_dim))
        else:
            parts = self._hidden_parts(hx)
            self._check_hidden_dim(parts, is_batched)
            if not is_batched:
                hx = self._hidden_whole(tuple(part.unsqueeze(1) for part in parts))
        self.check_forward_args(input, hx, None)
        steps = input.transpose(0, 1) if self.batch_first else input
        output, last = self._run(steps, None, hx)
        if self.batch_first:
            output = output.transpose(0, 1)
        if not is_batched:
            output = output.squeeze(batch_dim)
            last = tuple(part.squeeze(1) for part in last)
        return output, self._hidden_whole(last)

    def _forward_packed(self, sequence, hx):
        data, batch_sizes, sorted_indices, unsorted_indices = sequence
        if hx is None:
            hx = self._zero_hidden(data, int(batch_sizes[0]))
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, last = self._run(data, batch_sizes.tolist(), hx)
        output = PackedSequence(output, batch_sizes, sorted_indices, unsorted_indices)
        return output, self.permute_hidden(self._hidden_whole(last), unsorted_indices)

    def _run(self, input, batch_sizes, hx):
        return F.rnn(
            self.mode,
            input,
            batch_sizes,
            self._hidden_parts(hx),
            self._layers(),
            self._directions,
            self.dropout,
            self.training,
        )

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, default in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != default:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

    def __getstate__(self):
        state = super().__getstate__()
        state["_flat_weights"] = self._flat_weights  # PyTorch reads its pickles with it
        return state

    def __setstate__(self, state):
        state = dict(state)
        state.pop("_flat_weights", None)
        super().__setstate__(state)
        own = self.__dict__
        own.pop("all_weights", None)
        own.setdefault("proj_size", 0)
        self._name_weights()  # pickles before 1.4 keep the parameters themselves in place of their names


class RNN(RNNBase):
    """Elman network: ``h' = tanh(W_ih x + b_ih + W_hh h + b_hh)``, or relu with nonlinearity="relu".

    ``RNN(input_size, hidden_size, num_layers=1, nonlinearity="tanh", bias=True, batch_first=False, dropout=0.0,
    bidirectional=False)``.
    """

    _input_error = "Expected input to be 2D or 3D, got {}D tensor instead"

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if len(args) > 3:
            nonlinearity = args[3]
            args = args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)


class LSTM(RNNBase):
    """Long short-term memory; the hidden state is a pair (h, c).

    ``LSTM(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False,
    proj_size=0)``.
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)

    def forward_tensor(self, input, hx=None):
        """``forward`` of a tensor, as versions 1.1 to 1.3 called it."""
        return self.forward(input, hx)

    def forward_packed(self, input, hx=None):
        """``forward`` of a PackedSequence, as versions 1.1 to 1.3 called it."""
        return self.forward(input, hx)

    def forward_impl(self, input, hx, batch_sizes, max_batch_size, sorted_indices):
        """The output and the last state, as versions 1.1 to 1.3 computed them for both kinds of *input*.

        That is a tensor, or the data of a PackedSequence whose *batch_sizes* are given. *hx* is None, or is put in the
        order of *sorted_indices*, in which the last state stays.
        """
        if hx is None:
            hx = self._zero_hidden(input, max_batch_size)
        hx = self.permute_hidden(hx, sorted_indices)
        if batch_sizes is None:
            return self.forward(input, hx)
        output, last = self._forward_packed(PackedSequence(input, batch_sizes), hx)
        return output.data, last

    def get_expected_cell_size(self, input, batch_sizes):
        """The size of the cell state for *input*."""
        return (self.num_layers * self._directions, self._batch(input, batch_sizes), self.hidden_size)

    def check_forward_args(self, input, hidden, batch_sizes):
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0], self.get_expected_hidden_size(input, batch_sizes), "Expected hidden[0] size {}, got {}"
        )
        self.check_hidden_size(
            hidden[1], self.get_expected_cell_size(input, batch_sizes), "Expected hidden[1] size {}, got {}"
        )

    def permute_hidden(self, hx, permutation):
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _zero_hidden(self, input, batch):
        count = self.num_layers * self._directions
        options = {"dtype": input.dtype, "device": input.device}
        return (
            _ops.zeros(count, batch, self.proj_size or self.hidden_size, **options),
            _ops.zeros(count, batch, self.hidden_size, **options),
        )

    def _hidden_parts(self, hx):
        return tuple(hx)

    def _hidden_whole(self, parts):
        return parts

    def _check_hidden_dim(self, parts, is_batched):
        h, c = parts[0].dim(), parts[1].dim()
        wanted, kind = (3, "batched 3-D") if is_batched else (2, "unbatched 2-D")
        if h != wanted or c != wanted:
            raise RuntimeError(
                f"For {kind} input, hx and cx should also be {wanted}-D but got ({h}-D, {c}-D) tensors"
            )


class GRU(RNNBase):
    """Gated recurrent units.

    ``GRU(input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0, bidirectional=False)``.
    """

    def __init__(self, *args, **kwargs):
        if "proj_size" in kwargs:
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        super().__init__("GRU", *args, **kwargs)


class RNNCellBase(Module):
    """What the cells share: weight_ih, weight_hh, bias_ih and bias_hh for *num_chunks* gates."""

    __constants__ = ["input_size", "hidden_size", "bias"]

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size
        self.weight_ih = Parameter(_ops.empty((gates, input_size), device=device, dtype=dtype))
        self.weight_hh = Parameter(_ops.empty((gates, hidden_size), device=device, dtype=dtype))
        for name in ("bias_ih", "bias_hh"):
            param = Parameter(_ops.empty(gates, device=device, dtype=dtype)) if bias else None
            self.register_parameter(name, param)
        self.reset_parameters()

    def reset_parameters(self):
        """Draw all parameters anew from the uniform distribution on +-1/sqrt(hidden_size)."""
        _draw_uniform(self)

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            text += f", bias={self.bias}"
        if self.__dict__.get("nonlinearity", "tanh") != "tanh":
            text += f", nonlinearity={self.nonlinearity}"
        return text

    def check_forward_input(self, input):
        """RuntimeError unless *input* has input_size columns."""
        if input.size(1) != self.input_size:
            raise RuntimeError(f"input has inconsistent input_size: got {input.size(1)}, expected {self.input_size}")

    def check_forward_hidden(self, input, hx, hidden_label=""):
        """RuntimeError unless *hx* has as many rows as *input*, and hidden_size columns."""
        if input.size(0) != hx.size(0):
            raise RuntimeError(f"Input batch size {input.size(0)} doesn't match hidden{hidden_label} batch size "
                               f"{hx.size(0)}")
        if hx.size(1) != self.hidden_size:
            raise RuntimeError(f"hidden{hidden_label} has inconsistent hidden_size: got {hx.size(1)}, expected "
                               f"{self.hidden_size}")

    def _step(self, mode, input, parts):
        """One step of a batch or of one example; *parts* are the hidden tensors, or None for zeros."""
        kind = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{kind}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        is_batched = input.dim() == 2
        if not is_batched:
            input = input.unsqueeze(0)
        if parts is None:
            zeros = _ops.zeros(input.size(0), self.hidden_size, dtype=input.dtype, device=input.device)
            parts = (zeros, zeros) if mode == "LSTM" else (zeros,)
        else:
            for i, part in enumerate(parts):
                if part.dim() not in (1, 2):
                    name = f"hx[{i}]" if mode == "LSTM" else "hidden"
                    raise ValueError(f"{kind}: Expected {name} to be 1D or 2D, got {part.dim()}D instead")
            if not is_batched:
                parts = tuple(part.unsqueeze(0) for part in parts)
        weights = (self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh, None)
        parts = F.cell(mode, input, parts, weights)
        return parts if is_batched else tuple(part.squeeze(0) for part in parts)


class RNNCell(RNNCellBase):
    """One step of an Elman network: (B, input_size) and (B, hidden_size) give (B, hidden_size)."""

    __constants__ = ["input_size", "hidden_size", "bias", "nonlinearity"]

    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return self._step(f"RNN_{self.nonlinearity.upper()}", input, None if hx is None else (hx,))[0]


class LSTMCell(RNNCellBase):
    """One step of an LSTM: (B, input_size) and a pair of (B, hidden_size) give a pair of (B, hidden_size)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        return self._step("LSTM", input, None if hx is None else tuple(hx))


class GRUCell(RNNCellBase):
    """One step of a GRU: (B, input_size) and (B, hidden_size) give (B, hidden_size)."""

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step("GRU", input, None if hx is None else (hx,))[0]
