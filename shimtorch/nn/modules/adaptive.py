"""The adaptive softmax (torch.nn.modules.adaptive)."""

from collections import namedtuple

from ... import _ops
from .._functional.linear import linear
from .._functional.softmax import log_softmax
from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]

_ASMoutput = namedtuple("_ASMoutput", ["output", "loss"])


class AdaptiveLogSoftmaxWithLoss(Module):
    """log_softmax over many classes sorted by frequency: rare ones, beyond the cutoffs, come in cheaper clusters.

    input (N, in_features) and target (N) give the log probabilities of the targets (N) and their mean loss.
    """

    def __init__(
        self, in_features, n_classes, cutoffs, div_value=4.0, head_bias=False, device=None, dtype=None
    ):
        super().__init__()
        cutoffs = list(cutoffs)
        if not cutoffs:
            raise ValueError("cutoffs should be a sequence of length larger than 0")
        if (
            cutoffs != sorted(cutoffs)
            or min(cutoffs) <= 0
            or max(cutoffs) > n_classes - 1
            or len(set(cutoffs)) != len(cutoffs)
            or any(int(c) != c for c in cutoffs)
        ):
            raise ValueError(
                "cutoffs should be a sequence of unique, positive integers sorted in an increasing order, where each "
                "value is between 1 and n_classes-1"
            )
        options = {"device": device, "dtype": dtype}
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size = self.cutoffs[0]
        self.n_clusters = len(self.cutoffs) - 1
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **options)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            hidden = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            first = Linear(in_features, hidden, bias=False, **options)
            self.tail.append(Sequential(first, Linear(hidden, size, bias=False, **options)))

    def reset_parameters(self):
        """Draw all weights anew."""
        self.head.reset_parameters()
        for first, second in self.tail:
            first.reset_parameters()
            second.reset_parameters()

    def forward(self, input_, target_):
        if input_.dim() not in (1, 2):
            raise AssertionError
        if input_.dim() == 2 and input_.size(0) != target_.size(0):
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if target_.dim() != input_.dim() - 1:
            raise RuntimeError(f"{input_.dim() - 1}D target tensor expected, multi-target not supported")
        input, target = (input_, target_) if input_.dim() == 2 else (input_.unsqueeze(0), target_.unsqueeze(0))
        if target.numel() and (int(target.min()) < 0 or int(target.max()) >= self.n_classes):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found. "
            )
        head = log_softmax(self.head(input), dim=1)
        cluster = target.clone()
        output = head.new_zeros(target.size(0))
        for i in range(self.n_clusters):
            low, high = self.cutoffs[i], self.cutoffs[i + 1]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            cluster = cluster.index_fill(0, rows, self.shortlist_size + i)
            scores = log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            own = scores.gather(1, (target.index_select(0, rows) - low).unsqueeze(1)).squeeze(1)
            output = output.index_add(0, rows, own)
        output = output + head.gather(1, cluster.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if input_.dim() == 2 else output.squeeze(0), loss)

    def _get_full_log_prob(self, input, head_output):
        head = log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i in range(self.n_clusters):
            scores = log_softmax(self.tail[i](input), dim=1)
            parts.append(scores + head[:, self.shortlist_size + i].unsqueeze(1))
        return _ops.cat(parts, 1)

    def log_prob(self, input):
        """The log probabilities of all classes, (N, n_classes)."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input):
        """The likeliest class of each input, (N)."""
        head = linear(input, self.head.weight, self.head.bias)
        best = head.argmax(1)
        rare = (best >= self.shortlist_size).nonzero().squeeze(1)
        if rare.numel():
            likely = self._get_full_log_prob(input.index_select(0, rare), head.index_select(0, rare)).argmax(1)
            best = best.index_copy(0, rare, likely)
        return best
