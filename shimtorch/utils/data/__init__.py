"""torch.utils.data: data sets, samplers and the loader."""

from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .dataloader import DataLoader
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterableDataset",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "get_worker_info",
    "random_split",
]

_PIPES = ("DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe")
_DECORATORS = ("argument_validation", "guaranteed_datapipes_determinism", "non_deterministic", "runtime_validation",
               "runtime_validation_disabled")


def __getattr__(name):
    from importlib import import_module

    if name in _PIPES:
        import_module(".datapipes", __name__)               # whose pipes are methods of all
        return getattr(import_module(".datapipes.datapipe", __name__), name)
    if name in _DECORATORS:
        return getattr(import_module(".datapipes._decorators", __name__), name)
    if name == "datapipes":
        return import_module("." + name, __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
