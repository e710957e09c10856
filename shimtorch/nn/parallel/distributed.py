"""DistributedDataParallel (torch.nn.parallel.distributed): one module in several processes."""

from contextlib import contextmanager, nullcontext

from ... import _ops
from ..._core.grad_mode import is_grad_enabled
from ..._tensor import Tensor
from ..modules.module import Module
from .parallel_apply import parallel_apply
from .scatter_gather import gather, scatter_kwargs

__all__ = ["DistributedDataParallel", "DistributedDataParallelCPU"]


class DistributedDataParallel(Module):
    """Runs ``module``, whose gradients become the mean of those of all processes; its state_dict starts with "module.".

    Every process starts with the parameters and buffers of the first; with *broadcast_buffers* the buffers are taken
    from there before each forward, too. Each gradient is exchanged as soon as it is there, so that all processes must
    use the same parameters in the same order. With *find_unused_parameters* they may use different ones: the graph of
    the results says which, and the gradients are exchanged when the last of these has come; a process that did not use
    a parameter adds zeros to the mean, and one that nobody used is left alone.
    The arguments on devices and buckets are taken for the sake of scripts.
    Without a process group it refuses to start, as torch does; in a group of one nothing is exchanged.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, **options):
        from ... import distributed

        size = distributed.get_world_size(process_group)
        super().__init__()
        if not any(p.requires_grad for p in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that requires a "
                "gradient."
            )
        self.module = module
        self.device_ids = device_ids
        self.output_device = output_device
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True
        self._group = process_group
        self._several = size > 1
        self._expected, self._arrived = [], set()  # ids of the parameters that the last results depend on
        if self._several:
            if init_sync:
                self._take_from_first(module.state_dict(keep_vars=True).values())
            for p in module.parameters():
                if p.requires_grad:
                    p.register_post_accumulate_grad_hook(self._exchange)

    def forward(self, *inputs, **kwargs):
        if self._several and self.broadcast_buffers and self.require_backward_grad_sync:
            self._take_from_first(self.module.buffers())
        results = self.module(*inputs, **kwargs)
        if self._several and self.find_unused_parameters and self.require_backward_grad_sync and is_grad_enabled():
            self._expected, self._arrived = _reached(results), set()
            if not any(id(p) in self._expected for p in self._trained()):
                self._exchange_used()
        return results

    def to_kwargs(self, inputs, kwargs, device_id):
        """The arguments moved to a device, as tuples of one."""
        return self.scatter(inputs, kwargs, [device_id])

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments split along *dim*, a piece for each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """The results of replicas of the module, each for its own arguments."""
        return parallel_apply(replicas, inputs, kwargs)

    def gather(self, outputs, output_device):
        """The results of replicas joined along *dim*."""
        return gather(outputs, output_device, self.dim)

    def will_sync_module_buffers(self):
        """Whether the next forward takes the buffers from the first process."""
        return self.require_backward_grad_sync and self.broadcast_buffers and any(True for _ in self.module.buffers())

    def join(self, divide_by_initial_world_size=True, enable=True, throw_on_early_termination=False):
        """Training with numbers of batches that differ: not implemented; with enable=False nothing is to be done."""
        if enable and self._several:
            raise NotImplementedError("DistributedDataParallel.join is not implemented: all processes must take the "
                                      "same number of steps")
        return nullcontext()

    def register_comm_hook(self, state, hook):
        """An exchange of gradients of one's own: not implemented."""
        raise NotImplementedError("DistributedDataParallel.register_comm_hook is not implemented: gradients are "
                                  "exchanged one by one, not in buckets")

    def _trained(self):
        return [p for p in self.module.parameters() if p.requires_grad]

    @contextmanager
    def no_sync(self):
        """Gradients are summed up in each process alone inside, and exchanged by the first backward outside."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def _take_from_first(self, tensors):
        from ... import distributed

        for tensor in tensors:
            distributed.broadcast(tensor.detach(), group=self._group, group_src=0)

    def _exchange(self, parameter):
        if not self.require_backward_grad_sync:
            return
        if self.find_unused_parameters:
            self._arrived.add(id(parameter))
            if all(id(p) in self._arrived for p in self._trained() if id(p) in self._expected):
                self._arrived.clear()
                self._exchange_used()
            return
        from ... import distributed

        distributed.all_reduce(parameter.grad, distributed.ReduceOp.AVG, self._group)

    def _exchange_used(self):
        """Exchange the gradients of all parameters that some process used."""
        from ... import distributed

        trained = self._trained()
        used = _ops.tensor([id(p) in self._expected for p in trained]).int()
        distributed.all_reduce(used, group=self._group)
        for p, count in zip(trained, used.tolist(), strict=True):
            if count:
                if p.grad is None:
                    p.grad = _ops.zeros_like(p)
                distributed.all_reduce(p.grad, distributed.ReduceOp.AVG, self._group)


def _reached(results):
    """The ids of the leaves that the tensors in results, which may be nested, depend on."""
    found, seen, nodes = set(), set(), []

    def look(value):
        if isinstance(value, Tensor):
            if value.grad_fn is not None:
                nodes.append(value.grad_fn)
            elif value.requires_grad:
                found.add(id(value))
        elif isinstance(value, dict):
            look(list(value.values()))
        elif isinstance(value, (list, tuple)):
            for item in value:
                look(item)
        elif hasattr(value, "__dataclass_fields__"):
            look(vars(value))

    look(results)
    while nodes:
        node = nodes.pop()
        if node in seen:
            continue
        seen.add(node)
        leaf = getattr(node, "variable", None)
        if isinstance(leaf, Tensor):
            found.add(id(leaf))
        nodes.extend(following for following, _ in node.next_functions if following is not None)
    return found


class DistributedDataParallelCPU(DistributedDataParallel):
    """DistributedDataParallel as versions before 1.2 called it for modules on the CPU."""

    def __init__(self, module):
        super().__init__(module)
