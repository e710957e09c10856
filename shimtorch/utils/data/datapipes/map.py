"""Pipes that are indexed (torch.utils.data.datapipes.map)."""

import copy
import random

from .datapipe import DataChunk, MapDataPipe, functional_datapipe, length_of, several

__all__ = ["Batcher", "Concater", "Mapper", "SequenceWrapper", "Shuffler", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """The items of a sequence or dict, copied first if *deepcopy*."""

    def __init__(self, sequence, deepcopy=True):
        self.sequence = copy.deepcopy(sequence) if deepcopy else sequence

    def __getitem__(self, index):
        return self.sequence[index]

    def __len__(self):
        return len(self.sequence)


def _same(item):
    return item


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """What a function makes of each item."""

    def __init__(self, datapipe, fn=_same):
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index):
        return self.fn(self.datapipe[index])

    def __len__(self):
        return length_of(self.datapipe, self)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Batches of *batch_size* items; the last may have fewer, or is left out if *drop_last*."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __getitem__(self, index):
        if not 0 <= index < len(self):
            raise IndexError(f"Index {index} is out of bound.")
        end = min((index + 1) * self.batch_size, len(self.datapipe))
        return self.wrapper_class([self.datapipe[i] for i in range(index * self.batch_size, end)])

    def __len__(self):
        length = length_of(self.datapipe, self)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """The items of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        self.datapipes = several(datapipes, MapDataPipe)

    def __getitem__(self, index):
        place = index
        for pipe in self.datapipes:
            if place < len(pipe):
                return pipe[place]
            place -= len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self):
        return sum(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the items of several pipes at an index."""

    def __init__(self, *datapipes):
        self.datapipes = several(datapipes, MapDataPipe)

    def __getitem__(self, index):
        items = []
        for pipe in self.datapipes:
            try:
                items.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(items)

    def __len__(self):
        return min(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("shuffle")
class ShufflerMapDataPipe(MapDataPipe):
    """The items in an order that Python's `random` shuffled when the pipe was made; *indices* are those of the pipe."""

    def __init__(self, datapipe, *, indices=None):
        self.datapipe = datapipe
        self.indices = list(range(len(datapipe))) if indices is None else indices
        self.index_map = {index: place for index, place in zip(self.indices, self._shuffled(), strict=True)}

    def _shuffled(self):
        order = list(self.indices)
        random.shuffle(order)
        return order

    def __getitem__(self, index):
        return self.datapipe[self.index_map[index]]

    def __len__(self):
        return length_of(self.datapipe, self)


Batcher, Concater, Mapper = BatcherMapDataPipe, ConcaterMapDataPipe, MapperMapDataPipe
SequenceWrapper, Shuffler, Zipper = SequenceWrapperMapDataPipe, ShufflerMapDataPipe, ZipperMapDataPipe
