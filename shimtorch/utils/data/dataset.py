"""Data sets: by index or by iteration, and sets made of others (torch.utils.data.dataset)."""

import math
import warnings
from bisect import bisect_right
from itertools import accumulate

from ... import _ops

__all__ = [
    "Dataset",
    "IterableDataset",
    "TensorDataset",
    "StackDataset",
    "ConcatDataset",
    "ChainDataset",
    "Subset",
    "random_split",
]


class Dataset:
    """A set of samples by index; a subclass defines ``__getitem__`` and, for most samplers, ``__len__``.

    ``a + b`` is the concatenation.
    """

    def __class_getitem__(cls, item):
        return cls  # annotations such as Dataset[int]

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """A stream of samples; a subclass defines ``__iter__``."""

    def __add__(self, other):
        return ChainDataset([self, other])

    def __iter__(self):
        raise NotImplementedError("Subclasses of IterableDataset should implement __iter__.")


class TensorDataset(Dataset):
    """The rows of tensors of the same length: sample i is the tuple of ``tensor[i]``.

    Before 0.4 the arguments were called *data_tensor* and *target_tensor*; they still work.
    """

    def __init__(self, *tensors, data_tensor=None, target_tensor=None):
        tensors += tuple(t for t in (data_tensor, target_tensor) if t is not None)
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)

    @property
    def data_tensor(self):
        """The first tensor, under its name of 0.3."""
        return self.tensors[0]

    @property
    def target_tensor(self):
        """The second tensor, under its name of 0.3."""
        return self.tensors[1]


class StackDataset(Dataset):
    """Samples side by side: the tuple of ``dataset[i]``, or the dict of them for keyword arguments."""

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both "
                "types are given."
            )
        parts = list(args or kwargs.values())
        if not parts:
            raise ValueError("At least one dataset should be passed")
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")
        self.datasets = args or kwargs

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {key: part[index] for key, part in self.datasets.items()}
        return tuple(part[index] for part in self.datasets)

    def __getitems__(self, indices):
        keyed = isinstance(self.datasets, dict)
        columns = [_items(part, indices) for part in (self.datasets.values() if keyed else self.datasets)]
        rows = zip(*columns, strict=True)
        return [dict(zip(self.datasets, row, strict=True)) for row in rows] if keyed else list(rows)

    def __len__(self):
        return self._length


def _items(dataset, indices):
    """Several samples, all at once if the data set can do that."""
    at_once = getattr(dataset, "__getitems__", None)
    if not callable(at_once):
        return [dataset[i] for i in indices]
    items = at_once(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset):
    """Data sets one after the other."""

    @staticmethod
    def cumsum(sequence):
        """The lengths, added up."""
        return list(accumulate(len(part) for part in sequence))

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if len(self.datasets) == 0:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(part, IterableDataset) for part in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        part = bisect_right(self.cumulative_sizes, idx)
        start = self.cumulative_sizes[part - 1] if part else 0
        return self.datasets[part][idx - start]

    @property
    def cummulative_sizes(self):
        """cumulative_sizes under its old, misspelt name; deprecated."""
        warnings.warn(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`", FutureWarning, stacklevel=2
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Streams one after the other."""

    def __init__(self, datasets):
        self.datasets = datasets

    def __iter__(self):
        for part in self.datasets:
            self._check(part)
            yield from part

    def __len__(self):
        total = 0
        for part in self.datasets:
            self._check(part)
            total += len(part)
        return total

    @staticmethod
    def _check(part):
        if not isinstance(part, IterableDataset):
            raise AssertionError("ChainDataset only supports IterableDataset")


class Subset(Dataset):
    """The samples of *dataset* with the given indices."""

    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices
        cls = type(self)
        if cls.__getitem__ is not Subset.__getitem__ and cls.__getitems__ is Subset.__getitems__:
            # The loader would pass the overridden method by: let it ask for one sample at a time.
            self.__getitems__ = lambda indices: [self[i] for i in indices]

    def __getitem__(self, idx):
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        return _items(self.dataset, [self.indices[i] for i in indices])

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Split at random into Subsets of the given lengths, or of the given fractions if they add up to 1."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _lengths_of_fractions(len(dataset), lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = _ops.randperm(sum(lengths), generator=generator).tolist()
    ends = accumulate(lengths)
    return [Subset(dataset, indices[end - length : end]) for end, length in zip(ends, lengths, strict=True)]


def _lengths_of_fractions(size, fractions):
    lengths = []
    for i, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
        lengths.append(math.floor(size * fraction))
    for i in range(size - sum(lengths)):  # what rounding left over goes round
        lengths[i % len(lengths)] += 1
    for i, length in enumerate(lengths):
        if length == 0:
            warnings.warn(
                f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=3
            )
    return lengths
