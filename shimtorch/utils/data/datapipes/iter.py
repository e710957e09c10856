"""Pipes that are iterated (torch.utils.data.datapipes.iter)."""

import copy
import random
from collections import defaultdict

from ...._core.policy import policy
from .._utils.collate import default_collate
from ..sampler import SequentialSampler
from ._files import FileListerIterDataPipe, FileOpenerIterDataPipe, StreamReaderIterDataPipe
from ._splitting import DemultiplexerIterDataPipe, ForkerIterDataPipe
from .datapipe import DataChunk, IterDataPipe, functional_datapipe, length_of, several

__all__ = ["Batcher", "Collator", "Concater", "Demultiplexer", "FileLister", "FileLoader", "FileOpener", "Filter",
           "Forker", "Grouper", "IterableWrapper", "Mapper", "Multiplexer", "Sampler", "ShardingFilter", "Shuffler",
           "StreamReader", "UnBatcher", "Zipper"]

for _name, _cls in (("fork", ForkerIterDataPipe), ("demux", DemultiplexerIterDataPipe)):
    IterDataPipe.register_datapipe_as_function(_name, _cls)


class IterableWrapperIterDataPipe(IterDataPipe):
    """The items of an iterable, of a copy of it in each pass if *deepcopy*."""

    def __init__(self, iterable, deepcopy=True):
        self.iterable = iterable
        self.deepcopy = deepcopy

    def __iter__(self):
        yield from copy.deepcopy(self.iterable) if self.deepcopy else self.iterable

    def __len__(self):
        return len(self.iterable)


def _columns(item, columns):
    """The parts of an item that a function is called with: all of it, a column, or several."""
    if columns is None:
        return [item]
    return [item[c] for c in columns] if isinstance(columns, (list, tuple)) else [item[columns]]


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function makes of each item, or of the columns *input_col* of it, put into the column *output_col*.

    Without *output_col* it takes the place of the (first) input; -1 appends it to a tuple or list.
    """

    def __init__(self, datapipe, fn, input_col=None, output_col=None):
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        if isinstance(output_col, (list, tuple)):
            if len(output_col) > 1:
                raise ValueError("`output_col` must be a single-element list or tuple")
            output_col = output_col[0]
        self.datapipe, self.fn, self.input_col, self.output_col = datapipe, fn, input_col, output_col

    def __iter__(self):
        for item in self.datapipe:
            yield self._apply(item)

    def __len__(self):
        return length_of(self.datapipe, self)

    def _apply(self, item):
        columns = self.input_col
        if columns is None:
            return self.fn(item)
        several = isinstance(columns, (list, tuple))
        result = self.fn(*_columns(item, columns))
        kept = list(item) if isinstance(item, tuple) else copy.copy(item)
        if self.output_col is None:
            if several:
                kept[columns[0]] = result
                for column in sorted(columns[1:], reverse=True):
                    del kept[column]
            else:
                kept[columns] = result
        elif self.output_col == -1:
            kept.append(result)
        else:
            kept[self.output_col] = result
        return tuple(kept) if isinstance(item, tuple) else kept


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as tensors, by *collate_fn*."""

    def __init__(self, datapipe, collate_fn=default_collate):
        super().__init__(datapipe, collate_fn)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The items for which a function, of the columns *input_col* if given, is true.

    Without empty batches if *drop_empty_batches*.
    """

    def __init__(self, datapipe, filter_fn, drop_empty_batches=True, *, input_col=None):
        self.datapipe, self.filter_fn, self.drop_empty_batches = datapipe, filter_fn, drop_empty_batches
        self.input_col = input_col

    def __iter__(self):
        for item in self.datapipe:
            kept = self.filter_fn(*_columns(item, self.input_col))
            if not isinstance(kept, bool):
                raise ValueError("Boolean output is required for `filter_fn` of FilterIterDataPipe, got", type(kept))
            if kept and not (self.drop_empty_batches and isinstance(item, list) and not item):
                yield item


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Batches of *batch_size* items; the last may have fewer, or is left out if *drop_last*."""

    def __init__(self, datapipe, batch_size, drop_last=False, wrapper_class=DataChunk):
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last
        self.wrapper_class = wrapper_class

    def __iter__(self):
        batch = []
        for item in self.datapipe:
            batch.append(item)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self):
        length = length_of(self.datapipe, self)
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The items of batches, of batches in batches for a higher *unbatch_level*, down to the last for -1."""

    def __init__(self, datapipe, unbatch_level=1):
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self):
        if self.unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        for item in self.datapipe:
            yield from self._items(item, self.unbatch_level)

    def _items(self, item, level):
        if level == 0 or level == -1 and not isinstance(item, list):
            yield item
        elif isinstance(item, list):
            for inner in item:
                yield from self._items(inner, level if level == -1 else level - 1)
        else:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe):
    """Lists of items with one key, of *group_size* if given; at most *buffer_size* items are held back.

    When the buffer is full, the largest group comes out if it has *guaranteed_group_size*, or is dropped if
    *drop_remaining*; RuntimeError otherwise. At the end the rest comes out.
    """

    def __init__(self, datapipe, group_key_fn, *, buffer_size=10000, group_size=None, guaranteed_group_size=None,
                 drop_remaining=False):
        if guaranteed_group_size is None:
            guaranteed_group_size = group_size if group_size is not None and buffer_size is not None else None
        elif group_size is None or not 0 < guaranteed_group_size <= group_size:
            raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
        self.datapipe, self.group_key_fn, self.buffer_size = datapipe, group_key_fn, buffer_size
        self.group_size, self.guaranteed_group_size = group_size, guaranteed_group_size
        self.drop_remaining = drop_remaining

    def __iter__(self):
        groups, held = defaultdict(list), 0
        for item in self.datapipe:
            key = self.group_key_fn(item)
            groups[key].append(item)
            held += 1
            if self.group_size is not None and len(groups[key]) == self.group_size:
                held -= self.group_size
                yield groups.pop(key)
            if held == self.buffer_size:
                largest = max(groups, key=lambda key: len(groups[key]))
                group = groups.pop(largest)
                held -= len(group)
                if self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size:
                    if not self.drop_remaining:
                        raise RuntimeError("Failed to group items", str(group))
                elif self.guaranteed_group_size is not None or not self.drop_remaining:
                    yield group
        yield from groups.values()


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """The items of several pipes, one pipe after the other."""

    def __init__(self, *datapipes):
        self.datapipes = several(datapipes, IterDataPipe)

    def __iter__(self):
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self):
        return sum(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of an item of each of several pipes, until the first is at its end."""

    def __init__(self, *datapipes):
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        self.datapipes = datapipes

    def __iter__(self):
        yield from zip(*self.datapipes, strict=False)

    def __len__(self):
        return min(length_of(pipe, self) for pipe in self.datapipes)


@functional_datapipe("mux")
class MultiplexerIterDataPipe(IterDataPipe):
    """An item of each of several pipes in turn until one is at its end; up to 1.11 until all are."""

    def __init__(self, *datapipes):
        self.datapipes = datapipes

    def __iter__(self):
        if policy.datapipes_of_2:
            for items in zip(*self.datapipes, strict=False):
                yield from items
            return
        left = [iter(pipe) for pipe in self.datapipes]
        while left:
            for pipe in list(left):
                try:
                    item = next(pipe)
                except StopIteration:
                    left.remove(pipe)
                else:
                    yield item

    def __len__(self):
        lengths = [length_of(pipe, self) for pipe in self.datapipes]
        return min(lengths) * len(lengths) if policy.datapipes_of_2 else sum(lengths)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """The items in random order: each is drawn from the next *buffer_size* ones.

    The numbers come from Python's `random`, which a pass seeds by a number that torch draws; up to 1.11 they come from
    the module's own state. With *unbatch_level* batches are taken apart first. ``set_shuffle(False)`` turns it off.
    """

    def __init__(self, datapipe, *, default=True, buffer_size=10000, unbatch_level=0):
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level)
        if unbatch_level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        self.buffer_size, self._enabled, self._seed = buffer_size, default, None

    def set_shuffle(self, shuffle=True):
        """Turn shuffling on or off."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed):
        """Seed the next pass."""
        self._seed = seed
        return self

    def __iter__(self):
        if not self._enabled:
            yield from self.datapipe
            return
        own = policy.datapipes_of_2
        numbers = random.Random(self._next_seed()) if own else random
        buffer = []
        for item in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(item)
                continue
            place = numbers.randint(0, len(buffer) - 1)
            buffer[place], item = item, buffer[place]
            yield item
        if not own:
            numbers.shuffle(buffer)
        while buffer:
            yield buffer.pop(numbers.randint(0, len(buffer) - 1) if own else -1)

    def __len__(self):
        return length_of(self.datapipe, self)

    def _next_seed(self):
        from .... import empty, int64

        seed, self._seed = self._seed, None
        return int(empty((), dtype=int64).random_().item()) if seed is None else seed


class SamplerIterDataPipe(IterDataPipe):
    """What a sampler draws from a pipe."""

    def __init__(self, datapipe, sampler=SequentialSampler, sampler_args=None, sampler_kwargs=None):
        self.datapipe = datapipe
        self.sampler = sampler(*(sampler_args or ()), data_source=datapipe, **(sampler_kwargs or {}))

    def __iter__(self):
        return iter(self.sampler)

    def __len__(self):
        return length_of(self.sampler, self)


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """Every n-th item, after ``apply_sharding(n, first)``; all of them before."""

    def __init__(self, source_datapipe):
        self.source_datapipe, self.num_of_instances, self.instance_id = source_datapipe, 1, 0

    def is_shardable(self):
        """Whether it can be divided: it can."""
        return True

    def apply_sharding(self, num_of_instances, instance_id):
        """Keep the items of one of several instances."""
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self):
        for i, item in enumerate(self.source_datapipe):
            if i % self.num_of_instances == self.instance_id:
                yield item

    def __len__(self):
        count = length_of(self.source_datapipe, self)
        return count // self.num_of_instances + (self.instance_id < count % self.num_of_instances)


Batcher, Collator, Concater = BatcherIterDataPipe, CollatorIterDataPipe, ConcaterIterDataPipe
Demultiplexer, Forker = DemultiplexerIterDataPipe, ForkerIterDataPipe
FileLister, FileOpener, StreamReader = FileListerIterDataPipe, FileOpenerIterDataPipe, StreamReaderIterDataPipe
FileLoader = FileOpener
Filter, Grouper, IterableWrapper = FilterIterDataPipe, GrouperIterDataPipe, IterableWrapperIterDataPipe
Mapper, Multiplexer, Sampler = MapperIterDataPipe, MultiplexerIterDataPipe, SamplerIterDataPipe
ShardingFilter, Shuffler = ShardingFilterIterDataPipe, ShufflerIterDataPipe
UnBatcher, Zipper = UnBatcherIterDataPipe, ZipperIterDataPipe
