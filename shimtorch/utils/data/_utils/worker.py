"""Worker processes of a loader: what they do, and what they know of themselves."""

import os
import pickle
import random

from ...._core.policy import policy
from ...._utils import ExceptionWrapper
from . import channel, transfer
from .fetch import IterableFetcher, MapFetcher

__all__ = ["get_worker_info", "WorkerInfo"]

_worker_info = None


class WorkerInfo:
    """What a worker process knows of itself: id, num_workers, seed, dataset."""

    def __init__(self, **kwargs):
        self.__dict__.update(kwargs)
        self._keys = tuple(kwargs)
        self._fixed = True

    def __setattr__(self, name, value):
        if "_fixed" in self.__dict__:
            raise RuntimeError(f"Cannot assign attributes to {type(self).__name__} objects")
        super().__setattr__(name, value)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(f'{key}={getattr(self, key)}' for key in self._keys)})"


def get_worker_info():
    """What a worker process knows of itself; None in the main process."""
    return _worker_info


class EndOfStream:
    """Sent by a worker whose part of an iterable data set is at its end."""


class Resume:
    """Sent to workers before another pass: they start their data set anew, and answer with it."""


class Work:
    """What a worker is told when it starts."""

    def __init__(self, loader, worker_id, base_seed):
        self.dataset = loader.dataset
        self.iterable = loader._iterable
        self.fetcher_arguments = loader._auto_collation, loader.collate_fn, loader.drop_last
        self.init_fn = loader.worker_init_fn
        self.num_workers = loader.num_workers
        self.id = worker_id
        self.base_seed = base_seed
        self.era = policy.era
        self.parent = os.getpid()

    def fetcher(self):
        """A fetcher at the beginning of the data set."""
        return (IterableFetcher if self.iterable else MapFetcher)(self.dataset, *self.fetcher_arguments)


def numpy_seed(base_seed, worker_id):
    """The words that PyTorch seeds NumPy's global generator of a worker with."""
    from numpy.random import SeedSequence

    return SeedSequence([worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]).generate_state(4)


def main(work, sock):
    """The life of a worker: receives (number, indices) and answers (number, batch), until the loader is gone."""
    import signal

    channel.close_inherited()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the loader's process gets it too, and ends us
    end = channel.WorkerEnd(sock, os.getppid())
    try:
        _work(work, end)
    except channel.Closed:
        pass


def _work(work, end):
    global _worker_info
    from .... import era, set_num_threads
    from ....random import manual_seed

    if policy.era != work.era:
        era(work.era)
    set_num_threads(1)
    seed = work.base_seed + work.id
    random.seed(seed)
    manual_seed(seed)
    if policy.sampler_own_generator:  # loaders of 1.11 and later
        import numpy as np

        np.random.seed(numpy_seed(work.base_seed, work.id))
    _worker_info = WorkerInfo(id=work.id, num_workers=work.num_workers, seed=seed, dataset=work.dataset)
    where = f"in DataLoader worker process {work.id}"
    failure = fetcher = None
    try:
        if work.init_fn is not None:
            work.init_fn(work.id)
        fetcher = work.fetcher()
    except Exception:
        failure = ExceptionWrapper(where=where)
    while True:
        number, indices = pickle.loads(end.receive())
        if isinstance(indices, Resume):
            failure = None
            try:
                fetcher = work.fetcher()
            except Exception:
                failure = ExceptionWrapper(where=where)
            _send(end, number, indices, where)
            continue
        if failure is not None:
            data, failure = failure, None
        else:
            data = _fetch(fetcher, indices, work.iterable, where)
        _send(end, number, data, where)


def _fetch(fetcher, indices, iterable, where):
    try:
        return fetcher.fetch(indices)
    except Exception as error:
        if iterable and isinstance(error, StopIteration):
            return EndOfStream()
        return ExceptionWrapper(where=where)


def _send(end, number, data, where):
    try:
        payload, block = transfer.pack((number, data))
    except channel.Closed:
        raise
    except Exception:  # what cannot be pickled
        payload, block = transfer.pack((number, ExceptionWrapper(where=where)))
    end.send(payload, None if block is None else block.fd)
