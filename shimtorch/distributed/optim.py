"""torch.distributed.optim: an optimiser whose state is shared out among the processes of a group."""

from .. import _refused, no_grad
from .._core import Tensor
from ..optim import Optimizer
from . import distributed_c10d as dist

__all__ = ["ZeroRedundancyOptimizer"]


def __getattr__(name):
    return _refused.attribute("torch.distributed.optim", name)


class ZeroRedundancyOptimizer(Optimizer):
    """Every process moves its part of the parameters by an ``optimizer_class`` of its own, and gives it to the others.

    The parameters, and their order, must be the same in all processes of the group. ``defaults`` go to the optimisers;
    ``parameters_as_bucket_view`` is about where torch keeps the parameters, and changes nothing here.
    ``overlap_with_ddp`` is not implemented (NotImplementedError).
    """

    def __init__(
        self,
        params,
        optimizer_class,
        process_group=None,
        parameters_as_bucket_view=False,
        overlap_with_ddp=False,
        **defaults,
    ):
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not implemented")
        if isinstance(params, Tensor):
            raise TypeError(f"`params` argument should be an iterable of Tensors, but got {params.type()}")
        params = list(params)
        if not params:
            raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
        if not all(isinstance(p, Tensor) for p in params) and not all(isinstance(p, dict) for p in params):
            raise TypeError("`params` argument should be an iterable of Tensors or dicts")
        self.process_group = process_group
        self.world_size, self.rank = dist.get_world_size(process_group), dist.get_rank(process_group)
        self.global_rank = dist.get_global_rank(process_group or dist.group.WORLD, self.rank)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self.optim = None
        self._sizes, self._owner, self._consolidated = [0] * self.world_size, {}, None
        super().__init__(params, defaults)
        self.optim = optimizer_class([self._own(group) for group in self.param_groups], **defaults)
        self.state = self.optim.state
        self._take_options()

    def add_param_group(self, param_group):
        """Add a group to all processes, which share out its parameters."""
        super().add_param_group(param_group)
        # The largest first, each to the process that has the fewest elements so far.
        for param in sorted(param_group["params"], key=Tensor.numel, reverse=True):
            self._owner[param] = rank = self._sizes.index(min(self._sizes))
            self._sizes[rank] += param.numel()
        if self.optim is not None:
            self.optim.add_param_group(self._own(param_group))
            self._take_options()

    def _own(self, group):
        """A group with the parameters of this process alone."""
        return dict(_options(group), params=[p for p in group["params"] if self._owner[p] == self.rank])

    def _take_options(self):
        """Show the options of the groups as the optimiser has them; schedulers change these, step gives them back."""
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            group.update(_options(own))

    def step(self, closure=None, **kwargs):
        """Move this process's parameters once and take those of the others; returns what *closure* returned."""
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            own.update(_options(group))
        loss = self.optim.step(**kwargs) if closure is None else self.optim.step(closure, **kwargs)
        self._take_options()
        with no_grad():
            for param, rank in self._owner.items():
                dist.broadcast(
                    param.data,
                    src=dist.get_global_rank(self.process_group or dist.group.WORLD, rank),
                    group=self.process_group,
                )
        return loss

    def consolidate_state_dict(self, to=0):
        """Gather the state of all processes in the process *to*, for its ``state_dict()``; all must call this."""
        params = [p for group in self.param_groups for p in group["params"]]
        own = {number: self.state[p] for number, p in enumerate(params) if p in self.state}
        parts = [None] * self.world_size
        dist.all_gather_object(parts, own, group=self.process_group)
        self._consolidated = {}
        for part in parts:
            self._consolidated.update(part)
        if self.rank != to:
            self._consolidated = None

    def state_dict(self):
        """The whole state, as the optimiser of a single process has it; ``consolidate_state_dict`` must come before."""
        if self._consolidated is None:
            raise RuntimeError(
                f"Optimizer state has not been consolidated on this rank. Please call `consolidate_state_dict("
                f"to={self.rank})` on all ranks beforehand if you meant to save the global state."
            )
        result = super().state_dict()
        result["state"] = dict(sorted(self._consolidated.items()))
        return result

    def load_state_dict(self, state_dict):
        """Take over a whole state: every process keeps what belongs to its parameters."""
        super().load_state_dict(state_dict)
        for param in [p for p in self.state if self._owner.get(p, self.rank) != self.rank]:
            del self.state[param]
        self.optim.state = self.state
        for group, own in zip(self.param_groups, self.optim.param_groups, strict=True):
            own.update(_options(group))


def _options(group):
    return {name: value for name, value in group.items() if name not in ("params", "param_names")}
