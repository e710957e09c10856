"""DataParallel (torch.nn.parallel.data_parallel): a batch shared among CUDA devices, or the module as it is."""

from ..modules.module import Module
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import device_of, gather, scatter_kwargs

__all__ = ["DataParallel", "data_parallel"]


def _indices(device_ids):
    """The numbers of devices: of those that are named, or of all."""
    from ... import cuda

    if device_ids is None:
        return list(range(cuda.device_count()))
    return [d if isinstance(d, int) else device_of(d).index for d in device_ids]


def _check_balance(device_ids):
    """Warn of devices that are much weaker than others."""
    import warnings

    from ... import cuda

    properties = [cuda.get_device_properties(i) for i in device_ids]
    for name in ("total_memory", "multi_processor_count"):
        values = [getattr(p, name) for p in properties]
        if min(values) / max(values) < 0.75:
            warnings.warn(
                f"There is an imbalance between your GPUs. You may want to exclude GPU "
                f"{device_ids[values.index(min(values))]} which has less than 75% of the memory or cores of GPU "
                f"{device_ids[values.index(max(values))]}. You can do so by setting the device_ids argument to "
                "DataParallel, or by setting the CUDA_VISIBLE_DEVICES environment variable.",
                stacklevel=3,
            )


class DataParallel(Module):
    """Runs copies of ``module`` on parts of the batch, one on each device.

    The names in its state_dict start with "module.". *device_ids* says which devices (default: all); the module's
    parameters must be on the first. The results are joined on *output_device* (default: the first). On a machine
    without CUDA the module runs as it is.
    """

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        from ... import cuda

        self.module = module
        self.dim = dim
        if not cuda.is_available():
            self.device_ids = []
            self.output_device = output_device
            return
        self.device_ids = _indices(device_ids)
        if not self.device_ids:
            raise RuntimeError("no available devices were found")
        self.output_device = _indices([self.device_ids[0] if output_device is None else output_device])[0]
        self.src_device_obj = device_of(self.device_ids[0])
        if len(self.device_ids) == 1:
            self.module.to(self.src_device_obj)
        else:
            _check_balance(self.device_ids)

    def forward(self, *inputs, **kwargs):
        if not self.device_ids:
            return self.module(*inputs, **kwargs)
        for t in (*self.module.parameters(), *self.module.buffers()):
            if t.device != self.src_device_obj:
                raise RuntimeError(
                    "module must have its parameters and buffers on device "
                    f"{self.src_device_obj} (device_ids[0]) but found one of them on device: {t.device}"
                )
        inputs, kwargs = self.scatter(inputs, kwargs, self.device_ids)
        if not inputs and not kwargs:
            inputs, kwargs = ((),), ({},)
        if len(self.device_ids) == 1:
            return self.module(*inputs[0], **kwargs[0])
        replicas = self.replicate(self.module, self.device_ids[: len(inputs)])
        return self.gather(self.parallel_apply(replicas, inputs, kwargs), self.output_device)

    def replicate(self, module, device_ids):
        """Copies of a module on devices."""
        from ..._core.grad_mode import is_grad_enabled

        return replicate(module, device_ids, not is_grad_enabled())

    def scatter(self, inputs, kwargs, device_ids):
        """The arguments for each device."""
        return scatter_kwargs(inputs, kwargs, device_ids, dim=self.dim)

    def parallel_apply(self, replicas, inputs, kwargs):
        """The results of all copies."""
        return parallel_apply(replicas, inputs, kwargs, self.device_ids[: len(replicas)])

    def gather(self, outputs, output_device):
        """The results joined on a device."""
        return gather(outputs, output_device, dim=self.dim)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    """The result of ``module(*inputs, **module_kwargs)``, shared among devices as ``DataParallel`` does."""
    from ... import cuda

    if not isinstance(inputs, tuple):
        inputs = (inputs,) if inputs is not None else ()
    if not cuda.is_available():
        return module(*inputs, **(module_kwargs or {}))
    return DataParallel(module, device_ids, output_device, dim)(*inputs, **(module_kwargs or {}))
