"""Running a module on several devices (torch.nn.parallel)."""

from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel, DistributedDataParallelCPU
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter

__all__ = ["DataParallel", "DistributedDataParallel", "DistributedDataParallelCPU", "data_parallel", "gather",
           "parallel_apply", "replicate", "scatter"]
