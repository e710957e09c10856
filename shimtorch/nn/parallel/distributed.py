"""DistributedDataParallel (torch.nn.parallel.distributed): one module in several processes."""

from contextlib import contextmanager

from ..modules.module import Module

__all__ = ["DistributedDataParallel", "DistributedDataParallelCPU"]


class DistributedDataParallel(Module):
    """Runs ``module``, whose gradients become the mean of those of all processes; its state_dict starts with "module.".

    Every process starts with the parameters and buffers of the first; with *broadcast_buffers* the buffers are taken
    from there before each forward, too. Each gradient is exchanged as soon as it is there, so that all processes must
    use the same parameters in the same order. The arguments on devices and buckets are taken for the sake of scripts.
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
        if find_unused_parameters and size > 1:
            raise NotImplementedError("DistributedDataParallel(find_unused_parameters=True) is not implemented for "
                                      "several processes")
        self.module = module
        self.device_ids = device_ids
        self.output_device = output_device
        self.dim = dim
        self.broadcast_buffers = broadcast_buffers
        self.find_unused_parameters = find_unused_parameters
        self.require_backward_grad_sync = True
        self._group = process_group
        self._several = size > 1
        if self._several:
            if init_sync:
                self._take_from_first(module.state_dict(keep_vars=True).values())
            for p in module.parameters():
                if p.requires_grad:
                    p.register_post_accumulate_grad_hook(self._exchange)

    def forward(self, *inputs, **kwargs):
        if self._several and self.broadcast_buffers and self.require_backward_grad_sync:
            self._take_from_first(self.module.buffers())
        return self.module(*inputs, **kwargs)

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
        if self.require_backward_grad_sync:
            from ... import distributed

            distributed.all_reduce(parameter.grad, distributed.ReduceOp.AVG, self._group)


class DistributedDataParallelCPU(DistributedDataParallel):
    """DistributedDataParallel as versions before 1.2 called it for modules on the CPU."""

    def __init__(self, module):
        super().__init__(module)
