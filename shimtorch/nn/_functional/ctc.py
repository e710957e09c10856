"""The connectionist temporal classification loss."""

import math

from ... import _ops
from ..._core.ctc import takes
from ..._core.dtype import float32, float64, int64, scalar_type
from ..._ops.ctc import ctc_losses


def _lengths(lengths):
    return lengths.tolist() if hasattr(lengths, "tolist") else list(lengths)


def _targets(targets, lengths):
    """The target sequences as lists: from (N, S), or one after another in (sum of lengths)."""
    if targets.dim() == 2:
        return [row[:n] for row, n in zip(targets.tolist(), lengths, strict=True)]
    flat, at, result = targets.tolist(), 0, []
    for n in lengths:
        result.append(flat[at : at + n])
        at += n
    return result


def _check(log_probs, targets, input_lengths, target_lengths, blank):
    steps, examples, classes = log_probs.shape
    if not log_probs.numel():
        raise RuntimeError("log_probs tensor must not be empty")
    if log_probs.dtype not in (float32, float64):
        name = scalar_type(log_probs.dtype)
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{name}'")
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    if len(input_lengths) != examples:
        raise RuntimeError("input_lengths must be of size batch_size")
    if len(target_lengths) != examples:
        raise RuntimeError("target_lengths must be of size batch_size")
    for i, n in enumerate(input_lengths):
        if n > steps:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {steps}, but got value {n} (while checking arguments "
                "for ctc_loss_cpu)"
            )
        if n < 0 or target_lengths[i] < 0:
            raise RuntimeError("Expected input_lengths and target_lengths to have no negative values")
    if targets.dim() == 2 and max(target_lengths, default=0) > targets.size(1):
        raise RuntimeError(
            f"Expected tensor to have size at least {max(target_lengths)} at dimension 1, but got size "
            f"{list(targets.shape)} for argument #2 'targets' (while checking arguments for ctc_loss_cpu)"
        )
    if targets.dim() == 1 and targets.size(0) != sum(target_lengths):
        raise RuntimeError(
            f"Expected tensor to have size {sum(target_lengths)} at dimension 0, but got size {targets.size(0)} for "
            "argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)"
        )


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log probability of the targets, summed over all alignments with log_probs (T, N, C), or (T, C)."""
    if log_probs.dim() == 2:
        lengths = _lengths(input_lengths), _lengths(target_lengths)
        lengths = [n if isinstance(n, list) else [n] for n in lengths]
        loss = ctc_loss(log_probs.unsqueeze(1), targets.unsqueeze(0) if targets.dim() == 1 else targets, *lengths,
                        blank, "none" if reduction == "none" else reduction, zero_infinity)
        return loss.squeeze(0) if reduction == "none" else loss
    input_lengths, target_lengths = _lengths(input_lengths), _lengths(target_lengths)
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    labels = _targets(targets, target_lengths)
    states = []
    for label in labels:
        row = [blank] * (2 * max(target_lengths) + 1)
        row[1 : 2 * len(label) : 2] = label
        states.append(row)
    classes = log_probs.size(2)
    if any(label and not (0 <= min(label) and max(label) < classes) for label in labels):
        raise IndexError(f"ctc_loss: a target is out of bounds for {classes} classes")
    device = log_probs.device
    states = _ops.tensor(states, dtype=int64, device=device).view(len(labels), -1 if labels else 1)
    times, lengths = (_ops.tensor(n, dtype=int64, device=device) for n in (input_lengths, target_lengths))
    loss = (ctc_losses if takes(log_probs) else walk)(log_probs, states, times, lengths, zero_infinity)
    if zero_infinity:
        loss = _ops.where(loss == math.inf, loss.new_zeros(()), loss)
    if reduction == "mean":
        lengths = _ops.tensor([max(n, 1) for n in target_lengths], dtype=loss.dtype, device=device)
        return (loss / lengths).mean()
    return loss.sum() if reduction == "sum" else loss


def walk(log_probs, states, times, lengths, zero_infinity):
    """The op ``ctc_losses`` made of tensor ops: a step of time after the other, all examples in one go."""
    steps, examples, width = *log_probs.shape[:2], states.size(1)
    place = _ops.arange(width, dtype=int64, device=log_probs.device)
    # Over a blank between two different labels one may jump.
    closed = (place % 2 == 0) | (place < 2) | (states == states.roll(2, 1))
    emitted = log_probs.gather(2, states.unsqueeze(0).expand(steps, -1, -1))  # (T, N, states)
    alpha = emitted[0].masked_fill((place > 1).expand(examples, -1), -math.inf) if steps else None
    before = log_probs.new_full((examples, 2), -math.inf)
    final, times_left = [None] * examples, times.tolist()
    for t in range(steps):
        if t:
            shifted = _ops.cat([before, alpha], 1)
            stay, step, jump = alpha, shifted[:, 1 : width + 1], shifted[:, :width].masked_fill(closed, -math.inf)
            alpha = _log_sum(_ops.stack([stay, step, jump])) + emitted[t]
        for i in range(examples):
            if times_left[i] == t + 1:
                final[i] = alpha[i]
    losses = [_ending(*pair, log_probs) for pair in zip(final, lengths.tolist(), strict=True)]
    loss = _ops.stack(losses) if losses else log_probs.new_zeros(0)
    # torch's gradient is the one with respect to what log_softmax was taken of: exp(log_probs) comes in addition.
    lasting = _ops.arange(steps, dtype=int64, device=log_probs.device).unsqueeze(1) < times
    total = (log_probs.exp().sum(2) * lasting.to(log_probs.dtype)).sum(0)
    loss = loss + (total - total.detach())
    return loss.masked_fill(loss == math.inf, math.inf) if zero_infinity else loss


def _log_sum(x):
    """log(sum(exp(x))) along the first dimension, with a gradient of 0 where nothing is possible."""
    impossible = (x == -math.inf).all(0)
    safe = x.masked_fill(impossible.unsqueeze(0), 0.0)
    return safe.logsumexp(0).masked_fill(impossible, -math.inf)


def _ending(alpha, length, like):
    """Minus the log probability of ending in the last label, or the blank after it."""
    if alpha is None:                                  # no time at all: only an empty target is possible
        return like.new_full((), 0.0 if length == 0 else math.inf)
    if length == 0:
        return -alpha[0]
    return -_log_sum(_ops.stack([alpha[2 * length], alpha[2 * length - 1]]))
