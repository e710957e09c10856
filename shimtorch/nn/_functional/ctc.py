"""The connectionist temporal classification loss."""

import math

from ... import _ops
from ..._core.dtype import int64


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


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """Minus the log probability of the targets, summed over all alignments with log_probs (T, N, C), or (T, C).

    The lattice of all examples is walked in one go, a step of time after the other; its states are the target's labels
    with blanks around each.
    """
    if log_probs.dim() == 2:
        lengths = _lengths(input_lengths), _lengths(target_lengths)
        lengths = [n if isinstance(n, list) else [n] for n in lengths]
        loss = ctc_loss(log_probs.unsqueeze(1), targets.unsqueeze(0) if targets.dim() == 1 else targets, *lengths,
                        blank, "none" if reduction == "none" else reduction, zero_infinity)
        return loss.squeeze(0) if reduction == "none" else loss
    input_lengths, target_lengths = _lengths(input_lengths), _lengths(target_lengths)
    _check(log_probs, targets, input_lengths, target_lengths, blank)
    steps, examples, classes = log_probs.shape
    labels = _targets(targets, target_lengths)
    states = 2 * max(target_lengths, default=0) + 1
    extended, jumps = [], []
    for label in labels:
        row = [blank] * states
        row[1 : 2 * len(label) : 2] = label
        extended.append(row)
        # Over a blank between two different labels one may jump.
        jumps.append([s % 2 == 1 and s > 1 and row[s] != row[s - 2] for s in range(states)])
    lowest = -math.inf
    device = log_probs.device
    extended = _ops.tensor(extended, dtype=int64, device=device)
    closed = _ops.tensor(jumps, device=device).logical_not()
    emitted = log_probs.gather(2, extended.unsqueeze(0).expand(steps, -1, -1))  # (T, N, states)
    closed_start = _ops.arange(states, dtype=int64, device=device).unsqueeze(0).expand(examples, -1) > 1
    alpha = emitted[0].masked_fill(closed_start, lowest) if steps else None
    before = log_probs.new_full((examples, 2), lowest)
    final = [None] * examples
    for t in range(steps):
        if t:
            shifted = _ops.cat([before, alpha], 1)
            stay, step, jump = alpha, shifted[:, 1 : states + 1], shifted[:, :states].masked_fill(closed, lowest)
            alpha = _log_sum(_ops.stack([stay, step, jump])) + emitted[t]
        for i in range(examples):
            if input_lengths[i] == t + 1:
                final[i] = alpha[i]
    losses = [_ending(final[i], target_lengths[i], log_probs) for i in range(examples)]
    loss = _ops.stack(losses) if losses else log_probs.new_zeros(0)
    # torch's gradient is the one with respect to what log_softmax was taken of: exp(log_probs) comes in addition.
    times = _ops.arange(steps, dtype=int64, device=device).unsqueeze(1)
    lasting = times < _ops.tensor(input_lengths, device=device).unsqueeze(0)
    total = (log_probs.exp().sum(2) * lasting.to(log_probs.dtype)).sum(0)
    loss = loss + (total - total.detach())
    if zero_infinity:
        loss = _ops.where(loss == math.inf, loss.new_zeros(()), loss)
    if reduction == "mean":
        lengths = _ops.tensor([max(n, 1) for n in target_lengths], dtype=loss.dtype, device=device)
        return (loss / lengths).mean()
    return loss.sum() if reduction == "sum" else loss


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
