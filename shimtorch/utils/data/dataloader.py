"""DataLoader (torch.utils.data.dataloader): batches of a data set, made in this process or by workers."""

import warnings

from ..._core.policy import policy
from ...cuda import is_available
from ._utils.collate import default_collate, default_convert
from ._utils.fetch import IterableFetcher, MapFetcher
from ._utils.pin_memory import pin_memory
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
            prefetch_factor = 2 if prefetch_factor is None else prefetch_factor
            if prefetch_factor < 0:
                raise ValueError("prefetch_factor option should be non-negative")
        elif prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
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
        self._iterator = None  # of persistent workers
        self._initialized = True
        if policy.sampler_own_generator:  # loaders of 1.11 and later
            _warn_of_many(num_workers)

    def __setattr__(self, attr, val):
        if self._initialized and attr in _FIXED:
            raise ValueError(f"{attr} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(attr, val)

    @property
    def multiprocessing_context(self):
        """The context that makes the workers; None for the default one."""
        return self._multiprocessing_context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None:
            import multiprocessing

            if self.num_workers == 0:
                raise ValueError(
                    "multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got "
                    f"num_workers={self.num_workers}"
                )
            if isinstance(context, str):
                known = multiprocessing.get_all_start_methods()
                if context not in known:
                    raise ValueError(
                        "multiprocessing_context option should specify a valid start method in "
                        f"{known!r}, but got multiprocessing_context={context!r}"
                    )
                context = multiprocessing.get_context(context)
            if not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(
                    "multiprocessing_context option should be a valid context object or a string specifying the start "
                    f"method, but got multiprocessing_context={context}"
                )
        self._multiprocessing_context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.sampler if self.batch_sampler is None else self.batch_sampler

    def __iter__(self):
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers:
            return _MultiProcessingDataLoaderIter(self)
        if self._iterator is None:
            self._iterator = _MultiProcessingDataLoaderIter(self)
        else:
            self._iterator._reset(self)
        return self._iterator

    def __getstate__(self):
        return {**self.__dict__, "_iterator": None}

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


def _warn_of_many(num_workers):
    """Warn of more workers than the machine can run at a time."""
    import os

    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count()
    if processors is not None and num_workers > processors:
        warnings.warn(
            f"This DataLoader will create {num_workers} worker processes in total. Our suggested max number of worker "
            f"in current system is {processors}, which is smaller than what this DataLoader is going to create. "
            "Please be aware that excessive worker creation might get DataLoader running slow or even freeze, lower "
            "the worker number to avoid potential slowness/freeze if necessary.",
            stacklevel=3,
        )


class _BaseDataLoaderIter:
    """One pass over the loader."""

    def __init__(self, loader):
        self._pins = loader.pin_memory and is_available()
        if loader.pin_memory and not self._pins:
            warnings.warn(
                "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't "
                "be used.",
                stacklevel=4,
            )
        self._index_sampler = loader._index_sampler
        self._sampler_iter = iter(self._index_sampler)
        # Workers are seeded with it; drawn without them too, and before the sampler draws anything.
        self._base_seed = draw_seed(loader.generator)
        self._dataset = loader.dataset
        self._begin(loader)

    def _begin(self, loader):
        self._expected = loader._reported_length
        self._num_yielded = 0

    def __iter__(self):
        return self

    def __next__(self):
        batch = self._next_data()
        if self._pins:
            batch = pin_memory(batch)
        self._num_yielded += 1
        if self._expected is not None and self._num_yielded > self._expected:
            text = (
                f"Length of IterableDataset {self._dataset} was reported to be {self._expected}(when accessing "
                f"len(dataloader)), but {self._num_yielded} samples have been fetched. "
            )
            warnings.warn(text + self._length_hint, stacklevel=2)
        return batch

    next = __next__  # the name of Python 2, which older scripts call

    def __len__(self):
        return len(self._index_sampler)

    def __getstate__(self):
        raise NotImplementedError("{} cannot be pickled", type(self).__name__)


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """A pass that makes the batches when they are asked for."""

    _length_hint = ""

    def __init__(self, loader):
        if loader.timeout != 0:
            raise AssertionError("_SingleProcessDataLoaderIter requires timeout == 0")
        super().__init__(loader)
        fetcher = IterableFetcher if loader._iterable else MapFetcher
        self._fetch = fetcher(loader.dataset, loader._auto_collation, loader.collate_fn, loader.drop_last).fetch

    def _next_data(self):
        return self._fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """A pass whose batches are made by worker processes, some ahead of being asked for."""

    _length_hint = (
        "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset "
        "replica at each worker. Please see "
        "https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
    )
    _workers = None

    def __init__(self, loader):
        from ._utils.parallel import Workers

        super().__init__(loader)
        self._persistent = loader.persistent_workers
        self._workers = Workers(loader, self._base_seed)
        self._workers.start(self._sampler_iter)

    def _reset(self, loader):
        """Begin another pass with the same processes."""
        self._sampler_iter = iter(self._index_sampler)
        self._begin(loader)
        self._workers.restart(self._sampler_iter)

    def _next_data(self):
        if self._workers is None:
            raise StopIteration
        try:
            return self._workers.next()
        except StopIteration:
            if not self._persistent:
                self._shutdown_workers()
            raise

    def _shutdown_workers(self):
        workers, self._workers = self._workers, None
        if workers is not None:
            workers.shut_down()

    def __del__(self):
        self._shutdown_workers()
