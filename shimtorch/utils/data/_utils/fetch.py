"""Fetching the samples of one batch."""

from .... import _ops
from ...._core import Tensor
from ..dataset import TensorDataset
from .collate import default_collate


class IterableFetcher:
    """Takes the next samples of a stream."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.samples = iter(dataset)
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, places):
        """The next sample, or a batch of as many samples as there are *places*; StopIteration at the end."""
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.samples))
        batch = []
        for _ in places:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(places)):
            raise StopIteration
        return self.collate_fn(batch)


class MapFetcher:
    """Asks a data set for samples by index."""

    def __init__(self, dataset, auto_collation, collate_fn, drop_last):
        self.dataset = dataset
        self.auto_collation = auto_collation
        self.collate_fn = collate_fn
        if auto_collation and collate_fn is default_collate and _is_rows_of_tensors(dataset):
            self.fetch = self._fetch_rows

    def fetch(self, index):
        """The sample *index*, or the batch of samples of a list of indices."""
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        at_once = getattr(self.dataset, "__getitems__", None)
        samples = at_once(index) if at_once else [self.dataset[i] for i in index]
        return self.collate_fn(samples)

    def _fetch_rows(self, indices):
        rows = _ops.tensor(indices)
        return [tensor[rows] for tensor in self.dataset.tensors]


def _is_rows_of_tensors(dataset):
    """Whether indexing the tensors with the whole batch gives what collating single rows would.

    A row of a 1-d tensor may be a Python number (0.3), which collates to another dtype.
    """
    return (
        type(dataset) is TensorDataset
        and len(dataset) > 0
        and all(isinstance(t, Tensor) and not t.is_sparse and isinstance(t[0], Tensor) for t in dataset.tensors)
    )
