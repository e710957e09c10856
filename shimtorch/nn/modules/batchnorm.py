"""Batch normalisation (torch.nn.modules.batchnorm)."""

from ... import _ops
from ..._core.dtype import int64
from ..._core.policy import policy
from .. import init
from .._functional import normalization as F
from ..parameter import Parameter
from .lazy import LazyModuleMixin
from .module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _NormBase(Module):
    """Learnt scale and shift, and running statistics, for num_features channels."""

    _version = 2  # since num_batches_tracked
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            param = Parameter(_ops.empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, param)
        if track_running_stats:
            self.register_buffer("running_mean", _ops.zeros(num_features, device=device, dtype=dtype))
            self.register_buffer("running_var", _ops.ones(num_features, device=device, dtype=dtype))
            if policy.num_batches_tracked:
                counter = _ops.zeros((), dtype=int64, device=device)
                self.register_buffer("num_batches_tracked", counter)
            else:
                self._version = 1
        else:
            self.register_buffer("running_mean", None)
            self.register_buffer("running_var", None)
            self.register_buffer("num_batches_tracked", None)
        self.reset_parameters()

    def reset_running_stats(self):
        """Start the running statistics again at mean 0 and variance 1."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            counter = self._buffers.get("num_batches_tracked")
            if counter is not None:
                counter.zero_()

    def reset_parameters(self):
        """Start the statistics again, and set weight to ones (uniform draws before 1.2) and bias to zeros."""
        self.reset_running_stats()
        if self.affine:
            if policy.batchnorm_uniform_weight:
                init.uniform_(self.weight)
            else:
                init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        key = prefix + "num_batches_tracked"
        counter = self._buffers.get("num_batches_tracked")
        version = local_metadata.get("version", None)
        if counter is not None and (version is None or version < 2):
            state_dict.setdefault(key, counter)
        elif counter is None and self.track_running_stats:
            state_dict.pop(key, None)  # an era without the counter reads newer states too
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
        )


class _BatchNorm(_NormBase):
    def forward(self, input):
        self._check_input_dim(input)
        factor = 0.0 if self.momentum is None else self.momentum
        tracked = self.track_running_stats
        training = self.training
        running_mean, running_var = self.running_mean, self.running_var
        if training:
            if tracked:
                counter = self._buffers.get("num_batches_tracked")
                if counter is not None:
                    counter.add_(1)
                    if self.momentum is None:  # a plain average over all batches
                        factor = 1.0 / float(counter)
            else:
                running_mean = running_var = None
        else:
            training = running_mean is None and running_var is None
        return F.batch_norm(input, running_mean, running_var, self.weight, self.bias, training, factor, self.eps)


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L), over all but C."""

    def _check_input_dim(self, input):
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W), over all but C."""

    def _check_input_dim(self, input):
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W), over all but C."""

    def _check_input_dim(self, input):
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over all processes; with one process it is batch normalisation."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """*module* with every batch norm in it replaced by a SyncBatchNorm on the same tensors."""
        result = module
        if isinstance(module, _BatchNorm):
            result = SyncBatchNorm(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            if module.affine:
                result.weight = module.weight
                result.bias = module.bias
            for name, buffer in module._buffers.items():
                result._buffers[name] = buffer
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Takes ``num_features`` from the first input."""

    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        from ..parameter import UninitializedBuffer, UninitializedParameter

        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = _ops.zeros((), dtype=int64, device=device)

    def reset_parameters(self):
        """Start the statistics and the parameters again, once they have shapes."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Take the number of channels of *input*."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for value in (self.weight, self.bias, self.running_mean, self.running_var):
            if value is not None:
                value.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """A BatchNorm1d that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """A BatchNorm2d that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """A BatchNorm3d that takes ``num_features`` from its first input."""

    cls_to_become = BatchNorm3d
