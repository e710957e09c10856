"""The losses of connectionist temporal classification as one op.

The gradient is compiled too. Where it is to be differentiated again, the lattice is walked once more by tensor ops.
"""
from .._core.declaring import op
from .._core.grad_mode import is_grad_enabled


def _gradient(g, log_probs, states, times, lengths, zero_infinity, out, alpha):
    if is_grad_enabled():
        from ..autograd import grad
        from ..nn._functional.ctc import walk
        return grad(walk(log_probs, states, times, lengths, zero_infinity), log_probs, g, create_graph=True)[0]
    from .._core import ctc
    return ctc.backward(g, log_probs, states, times, lengths, out, alpha, zero_infinity)


@op(namespace="torch.nn.functional", method=False, function=False, aux=("alpha",), backward_name="CtcLossBackward0",
    grads={"log_probs": _gradient})
def ctc_losses(log_probs, states, times, lengths, zero_infinity):
    """Of log_probs (T, N, C): minus the log probability of every example's labels, (N).

    *states* (N, S) are classes: the labels with a blank around each. *times* and *lengths* (N) count the steps and the
    labels. Losses are infinite where the labels are impossible; *zero_infinity* makes the gradient of those 0.
    """
    from .._core import ctc
    return ctc.forward(log_probs, states, times, lengths)
