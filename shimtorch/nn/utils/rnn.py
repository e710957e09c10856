"""Batches of sequences of different lengths: packing, padding and back (torch.nn.utils.rnn).

A packed batch holds, step after step, the elements of the sequences that are still running, the longest sequence
first; ``batch_sizes`` says how many those are at every step.
"""

from collections import namedtuple
from collections.abc import Iterable

from ... import _ops, arange
from ..._core import Tensor
from ..._core.dtype import float16, float32, float64, int8, int16, int32, int64, uint8
from ..._core.policy import policy

__all__ = [
    "PackedSequence",
    "invert_permutation",
    "pack_padded_sequence",
    "pad_packed_sequence",
    "pad_sequence",
    "unpad_sequence",
    "pack_sequence",
    "unpack_sequence",
]

PackedSequence_ = namedtuple("PackedSequence", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])


class PackedSequence(PackedSequence_):
    """The data (total, ...) and the batch sizes of a packed batch; made by the functions below.

    ``sorted_indices`` is the order that put the longest sequence first, None if the batch came in that order.
    """

    __slots__ = ()

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            if not (isinstance(data, (list, tuple)) and len(data) == 2):
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        elif batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be created manually. "
                "They should be instantiated by functions like pack_sequence and pack_padded_sequences in "
                "nn.utils.rnn. https://pytorch.org/docs/stable/nn.html#torch.nn.utils.rnn.pack_sequence"
            )
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """The packed batch with its data moved or converted as by Tensor.to."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        indices = [None if t is None else t.to(data.device) for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(data, self.batch_sizes, *indices)

    def cuda(self, *args, **kwargs):
        """The packed batch on a GPU."""
        if args:
            return self.to(*args, **kwargs)
        return self.to(**{"device": "cuda", **kwargs})

    def cpu(self):
        """The packed batch on the CPU."""
        return self.to("cpu")

    def double(self):
        """The packed batch as float64."""
        return self.to(dtype=float64)

    def float(self):
        """The packed batch as float32."""
        return self.to(dtype=float32)

    def half(self):
        """The packed batch as float16."""
        return self.to(dtype=float16)

    def long(self):
        """The packed batch as int64."""
        return self.to(dtype=int64)

    def int(self):
        """The packed batch as int32."""
        return self.to(dtype=int32)

    def short(self):
        """The packed batch as int16."""
        return self.to(dtype=int16)

    def char(self):
        """The packed batch as int8."""
        return self.to(dtype=int8)

    def byte(self):
        """The packed batch as uint8."""
        return self.to(dtype=uint8)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self):
        """The packed batch in pinned memory."""
        indices = [None if t is None else t.pin_memory() for t in (self.sorted_indices, self.unsorted_indices)]
        return type(self)(self.data.pin_memory(), self.batch_sizes, *indices)


def invert_permutation(permutation):
    """The permutation that undoes *permutation*; None gives None."""
    if permutation is None:
        return None
    positions = arange(0, permutation.numel(), dtype=permutation.dtype, device=permutation.device)
    return _ops.empty_like(permutation).scatter_(0, permutation, positions)


def _running(lengths, steps):
    """(flat positions in a (steps, batch) grid of the elements inside their sequence, number of them a step)."""
    inside = arange(steps, dtype=int64).unsqueeze(1) < lengths.unsqueeze(0)
    return inside.reshape(-1).nonzero().squeeze(1), inside.to(int64).sum(1)


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Pack *input* (T, B, ...), or (B, T, ...) if *batch_first*, whose sequences have the given *lengths*.

    The lengths must decrease, unless *enforce_sorted* is False.
    """
    if isinstance(lengths, Tensor):
        lengths = lengths.to(dtype=int64)
    else:
        lengths = _ops.tensor([int(n) for n in lengths], dtype=int64)
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = lengths.sort(descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if batch_first:
        input = input.transpose(0, 1)
    steps, batch = input.shape[:2]
    sizes = lengths.tolist()
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    if len(sizes) != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={batch})"
        )
    if sizes[-1] <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if any(a < b for a, b in zip(sizes, sizes[1:], strict=False)):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this requirement if "
            "you do not need ONNX exportability."
        )
    if sizes[0] > steps:
        raise RuntimeError(
            f"start (0) + length ({sizes[0]}) exceeds dimension size ({steps})."
        )
    positions, batch_sizes = _running(lengths, sizes[0])
    data = input.reshape(steps * batch, *input.shape[2:]).index_select(0, positions)
    return PackedSequence(data, batch_sizes, sorted_indices, None)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch (T, B, ...), or (B, T, ...) if *batch_first*, and the lengths of its sequences.

    The batch is as long as its longest sequence, or *total_length*.
    """
    data, batch_sizes, _, unsorted_indices = sequence
    sizes = batch_sizes.tolist()
    steps, batch = len(sizes), sizes[0]
    lengths = _ops.tensor([sum(1 for n in sizes if n > i) for i in range(batch)], dtype=int64)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in input, but got "
                f"total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    positions, _ = _running(lengths, steps)
    grid = data.new_full((steps * batch, *data.shape[1:]), padding_value)
    padded = grid.index_copy_(0, positions, data).view(steps, batch, *data.shape[1:])
    if unsorted_indices is not None:
        padded = padded.index_select(1, unsorted_indices)
        lengths = lengths[unsorted_indices]
    if policy.two_types:  # 0.3 gave a list
        lengths = lengths.tolist()
    return (padded.transpose(0, 1) if batch_first else padded), lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Tensors (L, ...) of different length L as one tensor (T, B, ...), or (B, T, ...) if *batch_first*."""
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            f"pad_sequence: Expected iterable for input sequences, but got arg of type: {type(sequences)}"
        )
    sequences = tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    longest = max(s.size(0) for s in sequences)
    rows = []
    for sequence in sequences:
        missing = longest - sequence.size(0)
        if missing:
            padding = sequence.new_full((missing, *sequence.shape[1:]), padding_value)
            sequence = _ops.cat([sequence, padding] if padding_side == "right" else [padding, sequence])
        rows.append(sequence)
    return _ops.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences in a padded batch as a list of tensors of their own *lengths*."""
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded_sequences, lengths, strict=True)]


def pack_sequence(sequences, enforce_sorted=True):
    """Pack a list of tensors (L, ...); their lengths L must decrease, unless *enforce_sorted* is False."""
    sequences = tuple(sequences)
    lengths = _ops.tensor([s.size(0) for s in sequences], dtype=int64)
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences in a packed batch as a list of tensors."""
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
