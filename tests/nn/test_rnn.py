"""Packed batches: every sequence comes out as if it had run alone; packing and padding undo each other."""

import pytest

import shimtorch as torch
from shimtorch import nn
from shimtorch.nn.utils import rnn

LENGTHS = [2, 5, 1, 4, 4]


def sequences(size=3):
    torch.manual_seed(0)
    return [torch.randn(n, size, dtype=torch.float64) for n in LENGTHS]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("layers, bidirectional", [(1, False), (2, False), (1, True), (2, True)])
def test_packed_batch_equals_single_sequences(kind, layers, bidirectional):
    network = getattr(nn, kind)(3, 4, layers, bidirectional=bidirectional, dtype=torch.float64)
    given = sequences()
    output, hidden = network(rnn.pack_sequence(given, enforce_sorted=False))
    outputs = rnn.unpack_sequence(output)
    hidden = hidden if kind == "LSTM" else (hidden,)
    for i, sequence in enumerate(given):
        alone, last = network(sequence.unsqueeze(1))
        assert torch.allclose(outputs[i], alone.squeeze(1))
        for part, expected in zip(hidden, last if kind == "LSTM" else (last,), strict=True):
            assert torch.allclose(part[:, i], expected[:, 0])


def test_gradients_reach_packed_inputs():
    given = [s.requires_grad_() for s in sequences()]
    network = nn.LSTM(3, 4, 2, bidirectional=True, dtype=torch.float64)
    output, (h, c) = network(rnn.pack_sequence(given, enforce_sorted=False))
    (output.data.sum() + h.sum() + c.sum()).backward()
    packed = [s.grad.clone() for s in given]
    for sequence, expected in zip(given, packed, strict=True):
        sequence.grad = None
        alone, (h, c) = network(sequence.unsqueeze(1))
        (alone.sum() + h.sum() + c.sum()).backward()
        assert torch.allclose(sequence.grad, expected)


@pytest.mark.parametrize("batch_first", [False, True])
def test_packing_and_padding_undo_each_other(batch_first):
    padded = rnn.pad_sequence(sequences(), batch_first=batch_first)
    packed = rnn.pack_padded_sequence(padded, LENGTHS, batch_first, enforce_sorted=False)
    assert packed.batch_sizes.tolist() == [5, 4, 3, 3, 1]
    again, lengths = rnn.pad_packed_sequence(packed, batch_first)
    assert torch.equal(again, padded) and lengths.tolist() == LENGTHS
    longer, _ = rnn.pad_packed_sequence(packed, batch_first, padding_value=-1.0, total_length=7)
    assert longer.shape[1 if batch_first else 0] == 7
    assert (longer == -1).sum().item() == (7 * 5 - sum(LENGTHS)) * 3


def test_errors():
    padded = rnn.pad_sequence(sequences())
    with pytest.raises(RuntimeError, match="sorted in decreasing order"):
        rnn.pack_padded_sequence(padded, LENGTHS)
    with pytest.raises(RuntimeError, match="greater than 0"):
        rnn.pack_padded_sequence(padded, [5, 4, 3, 2, 0])
    with pytest.raises(RuntimeError, match="equal to batch_size"):
        rnn.pack_padded_sequence(padded, [5, 4])
    with pytest.raises(RuntimeError, match="exceeds dimension size"):
        rnn.pack_padded_sequence(padded, [6, 4, 3, 2, 1])
    packed = rnn.pack_padded_sequence(padded, [5, 4, 3, 2, 1])
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(packed, total_length=3)


def test_packed_sequence_converts():
    packed = rnn.pack_sequence(sequences(), enforce_sorted=False)
    single = packed.float()
    assert single.data.dtype is torch.float32 and single.batch_sizes is packed.batch_sizes
    assert packed.double() is packed
    assert rnn.invert_permutation(packed.sorted_indices).tolist() == packed.unsorted_indices.tolist()


def test_forward_impl():
    """LSTM alone has it; the last state stays in the order that the sequences have."""
    torch.manual_seed(0)
    net = torch.nn.LSTM(3, 4)
    x, order = torch.randn(5, 2, 3), torch.tensor([1, 0])
    state = torch.randn(1, 2, 4), torch.randn(1, 2, 4)
    got, want = net.forward_impl(x, state, None, 2, order), net(x, tuple(s[:, order] for s in state))
    packed = torch.nn.utils.rnn.pack_padded_sequence(x, [5, 3])
    got_packed = net.forward_impl(packed.data, None, packed.batch_sizes, 2, None)
    want_packed = net(packed)
    for (out, last), (wanted, wanted_last) in ((got, want), (got_packed, (want_packed[0].data, want_packed[1]))):
        assert torch.equal(out, wanted)
        for a, b in zip(last, wanted_last):
            assert torch.equal(a, b)
