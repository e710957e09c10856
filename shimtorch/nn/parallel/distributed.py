"""DistributedDataParallel (torch.nn.parallel.distributed): the module of a single process."""

from contextlib import contextmanager

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Runs ``module``; the names in its state_dict start with "module.".

    There is one process, so there are no gradients to exchange; the arguments on devices and buckets are taken for the
    sake of scripts. Without a process group of one it refuses to start, as torch does.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, init_sync=True,
                 process_group=None, bucket_cap_mb=None, find_unused_parameters=False, check_reduction=False,
                 gradient_as_bucket_view=False, static_graph=False, **options):
        from ... import distributed

        started = getattr(distributed, "is_initialized", None)
        if started is None or not started():
            raise RuntimeError(
                "Default process group has not been initialized, please make sure to call init_process_group."
            )
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

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)

    @contextmanager
    def no_sync(self):
        """Gradients are not exchanged inside; here they never are."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before
