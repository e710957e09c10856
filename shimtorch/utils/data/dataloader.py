"""DataLoader (torch.utils.data.dataloader): batches of a data set, in this process."""

import warnings

from ._utils.collate import default_collate, default_convert
from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.worker import get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, draw_seed

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _InfiniteConstantSampler(Sampler):
    """None, for ever: an iterable data set is not asked by index."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Iterates over a data set in batches.

    *batch_size* samples at a time (one at a time if None) in the order of *sampler* (*shuffle* takes a random one),
    or the lists of indices that *batch_sampler* gives; *collate_fn* makes a batch of a list of samples.
    """

    _initialized = False

    def __class_getitem__(cls, item):
        return cls  # annotations such as DataLoader[int]

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        if num_workers < 0:
            raise ValueError(
                "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
            )
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers > 0:
            raise NotImplementedError(
                f"torch.utils.data.DataLoader(num_workers={num_workers}) is not implemented: there are no tensors in "
                "memory shared between processes that workers could send their batches in; use num_workers=0"
            )
        if prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if multiprocessing_context is not None:
            raise ValueError(
                "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                f"num_workers={num_workers}"
            )
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            _check_iterable(shuffle, sampler, batch_sampler)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError(
                    "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last"
                )
            batch_size = None
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with drop_last"
            )
        if sampler is None:
            if self._iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.dataset = dataset
        self.batch_size = batch_size
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.num_workers = num_workers
        self.collate_fn = collate_fn
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.drop_last = drop_last
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.generator = generator
        self.prefetch_factor = prefetch_factor
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self._reported_length = None
        self._initialized = True

    def __setattr__(self, attr, val):
        if self._initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self):
        return _SingleProcessDataLoaderIter(self)

    def __len__(self):
        if not self._iterable:
            return len(self._index_sampler)
        length = self._reported_length = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


def _check_iterable(shuffle, sampler, batch_sampler):
    for name, value in (
        ("shuffle", None if shuffle is False else shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler),
    ):
        if value is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={value}"
            )


class _SingleProcessDataLoaderIter:
    """One pass over the loader."""

    def __init__(self, loader):
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        if loader.pin_memory:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
                "be used.",
                stacklevel=3,
            )
        self._index_sampler = loader._index_sampler
        self._sampler_iter = iter(self._index_sampler)
        # Workers would be seeded with it; drawn without them too, and before the sampler draws anything.
        self._base_seed = draw_seed(loader.generator)
        fetcher = IterableFetcher if loader._iterable else MapFetcher
        self._fetch = fetcher(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last).fetch
        self._expected = loader._reported_length
        self._dataset = loader.dataset
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._fetch(next(self._sampler_iter))
        self._num_yielded += 1
        if self._expected is not None and self._num_yielded > self._expected:
            warnings.warn(
                f"Length of IterableDataset {self._dataset} was reported to be {self._expected}(when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. ",
                stacklevel=2,
            )
        return batch

    next = __next__  # the name of Python 2, which older scripts call

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)
