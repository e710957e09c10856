"""Data pipes: what their steps give, in PyTorch 1.11 and 2.13."""

import pickle
import random

import pytest

import shimtorch as torch
from shimtorch.utils import data
from shimtorch.utils.data import DataChunk, DataLoader, IterDataPipe, MapDataPipe, functional_datapipe
from shimtorch.utils.data.datapipes import iter as pipes
from shimtorch.utils.data.datapipes import map as maps


def numbers(count=10):
    return pipes.IterableWrapper(range(count))


def odd(x):
    return x % 2


def third(x):
    return x % 3


# What 1.11 gives; 2.13 gives the same where no other answer stands in MODERN.
ANSWERS = {
    "numbers(3)": [0, 1, 2],
    "numbers().map(lambda x: x * 2).filter(lambda x: x > 13)": [14, 16, 18],
    "numbers(5).batch(2)": [[0, 1], [2, 3], [4]],
    "numbers(5).batch(2, drop_last=True)": [[0, 1], [2, 3]],
    "numbers(6).batch(2).batch(2).unbatch()": [[0, 1], [2, 3], [4, 5]],
    "numbers(6).batch(2).batch(2).unbatch(2)": [0, 1, 2, 3, 4, 5],
    "numbers(6).batch(2).batch(2).unbatch(-1)": [0, 1, 2, 3, 4, 5],
    "numbers(4).batch(2).collate(sum)": [1, 5],
    "numbers(2).concat(numbers(3))": [0, 1, 0, 1, 2],
    "numbers(2).zip(numbers(3))": [(0, 0), (1, 1)],
    "numbers(2).mux(numbers(4))": [0, 0, 1, 1, 2, 3],
    "numbers(5).fork(2)[1]": [0, 1, 2, 3, 4],
    "numbers(6).demux(2, odd)[1]": [1, 3, 5],
    "numbers(6).demux(2, lambda x: None if x == 3 else x % 2, drop_none=True)[1]": [1, 5],
    "numbers().groupby(third)": [[0, 3, 6, 9], [1, 4, 7], [2, 5, 8]],
    "numbers().groupby(third, group_size=2)": [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]],
    "numbers().groupby(third, group_size=3, drop_remaining=True)": [[0, 3, 6], [1, 4, 7], [2, 5, 8], [9]],
    "numbers().groupby(third, buffer_size=4, group_size=3, guaranteed_group_size=2)":
        [[0, 3], [1, 4], [2, 5], [6, 9], [7], [8]],
    "numbers().shuffle()": [3, 8, 2, 7, 4, 9, 0, 6, 5, 1],
    "numbers().shuffle(buffer_size=3)": [0, 2, 4, 3, 1, 5, 7, 8, 6, 9],
    "numbers(3).shuffle().set_shuffle(False)": [0, 1, 2],
    "pipes.Sampler(numbers(3))": [0, 1, 2],
    "pipes.Mapper(pipes.IterableWrapper([(1, 2)]), lambda x: -x, input_col=0)": [(-1, 2)],
    "pipes.Mapper(pipes.IterableWrapper([(1, 2)]), lambda x, y: x + y, input_col=[0, 1], output_col=-1)": [(1, 2, 3)],
    "pipes.Mapper(pipes.IterableWrapper([{'a': 1}]), lambda x: -x, input_col='a', output_col='b')": [{"a": 1, "b": -1}],
    "pipes.Mapper(pipes.IterableWrapper([[1, 2]]), lambda x, y: x * y, input_col=(0, 1))": [[2]],
}
MODERN = {
    "numbers(2).mux(numbers(4))": [0, 0, 1, 1],
}


CASES = [(source, "1.11", expected) for source, expected in ANSWERS.items()]
CASES += [(source, "modern", {**ANSWERS, **MODERN}[source]) for source in ANSWERS if "shuffle" not in source]


@pytest.mark.parametrize("source, era, expected", CASES)
def test_steps(source, era, expected):
    with torch.era(era):
        pipe = eval(source)
        random.seed(3)
        assert list(pipe) == expected
        try:
            length = len(pipe)
        except TypeError:
            return
        assert length == len(expected)


def test_shuffling_is_seeded_by_torch():
    torch.manual_seed(3)
    first = list(numbers().shuffle())
    assert first == MODERN_SHUFFLE and sorted(first) == list(range(10))
    assert list(numbers().shuffle().set_seed(5)) == list(numbers().shuffle().set_seed(5))


MODERN_SHUFFLE = [3, 4, 8, 2, 7, 9, 6, 0, 1, 5]


@pytest.mark.parametrize("call, error, message", [
    (lambda: list(numbers().unbatch(-2)), ValueError, "unbatch_level must be -1 or >= 0"),
    (lambda: list(numbers().unbatch()), IndexError, "unbatch_level 1 exceeds the depth of the DataPipe"),
    (lambda: list(numbers().filter(odd)), ValueError, "Boolean output is required for `filter_fn`"),
    (lambda: len(numbers().filter(bool)), TypeError, "object of type 'FilterIterDataPipe' has no len"),
    (lambda: numbers().batch(0), AssertionError, "Batch size is required to be larger than 0!"),
    (lambda: list(numbers().fork(2, buffer_size=3)[0]), BufferError, "Forker.*buffer size 3 is insufficient"),
    (lambda: list(numbers().demux(2, odd, buffer_size=1)[0]), BufferError, "Demultiplexer.* buffer size 1 is"),
    (lambda: list(numbers().demux(2, lambda x: 5)[0]), ValueError, "should be between 0 and 1. 5 is returned"),
    (lambda: numbers().fork(0), ValueError, "larger than 0, but 0 is found"),
    (lambda: list(numbers().groupby(third, buffer_size=4, group_size=4)), RuntimeError, "Failed to group items"),
    (lambda: numbers().groupby(third, group_size=1, guaranteed_group_size=2), AssertionError, "guaranteed_group_size"),
    (lambda: numbers().shuffle(buffer_size=0), AssertionError, "buffer_size should be larger than 0"),
    (lambda: pipes.Concater(), ValueError, "Expected at least one DataPipe, but got nothing"),
    (lambda: pipes.Concater([1]), TypeError, "Expected all inputs to be `IterDataPipe`"),
    (lambda: pipes.Zipper(1), TypeError, "All inputs are required to be `IterDataPipe`"),
    (lambda: pipes.Mapper(numbers(), odd, output_col=1), ValueError, "`output_col` must be None when `input_col`"),
    (lambda: numbers().foo, AttributeError, "'IterableWrapperIterDataPipe' object has no attribute 'foo'"),
    (lambda: pipes.FileOpener([], mode="z"), ValueError, "Invalid mode z"),
    (lambda: list(pipes.FileOpener([1])), TypeError, "Expected string type for pathname"),
    (lambda: len(pipes.FileLister(".")), TypeError, "FileListerIterDataPipe instance doesn't have valid length"),
    (lambda: functional_datapipe("map")(pipes.Mapper), Exception, "function name map as it is already taken"),
    (lambda: functional_datapipe("x", enable_df_api_tracing=True), NotImplementedError, "data frames"),
    (lambda: maps.SequenceWrapper([1]).batch(2)[1], IndexError, "Index 1 is out of bound"),
    (lambda: maps.SequenceWrapper([1]).concat(maps.SequenceWrapper([1]))[2], IndexError, "Index 2 is out of range"),
    (lambda: maps.SequenceWrapper([1]).zip(maps.SequenceWrapper([]))[0], IndexError, "one of the input MapDataPipes"),
])
def test_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_children_share_a_pass():
    first, second = numbers(5).fork(2)
    one, other = iter(first), iter(second)
    assert [next(one), next(one), next(other), next(one)] == [0, 1, 0, 2]
    assert list(first) == [0, 1, 2, 3, 4] and list(second) == [0, 1, 2, 3, 4]
    assert numbers(5).fork(1).iterable == range(5)


def test_sharding():
    pipe = numbers().sharding_filter()
    assert pipe.is_shardable() and list(pipe) == list(range(10))
    pipe.apply_sharding(3, 1)
    assert list(pipe) == [1, 4, 7] and len(pipe) == 3


def test_maps():
    pipe = maps.SequenceWrapper(list(range(6)))
    assert pipe.map(lambda x: x * 2)[2] == 4 and len(pipe.map()) == 6
    batches = pipe.batch(4)
    assert (batches[1], len(batches), type(batches[0])) == ([4, 5], 2, DataChunk)
    assert len(pipe.batch(4, drop_last=True)) == 1
    both = pipe.concat(maps.SequenceWrapper([7, 8]))
    assert (both[7], len(both)) == (8, 8)
    assert (pipe.zip(both)[1], len(pipe.zip(both))) == ((1, 1), 6)
    random.seed(3)
    assert sorted(pipe.shuffle()[i] for i in range(6)) != [] and len(pipe.shuffle()) == 6
    assert isinstance(pipe, MapDataPipe) and maps.SequenceWrapper({"a": 1})["a"] == 1


def test_steps_of_ones_own_and_loaders():
    @functional_datapipe("plus_for_this_test")
    class Plus(IterDataPipe):
        def __init__(self, source, k=1):
            self.source, self.k = source, k

        def __iter__(self):
            for x in self.source:
                yield x + self.k

    try:
        assert list(numbers(3).plus_for_this_test(5)) == [5, 6, 7]
        assert list(Plus([0]) + Plus([1])) == [1, 2]
        assert [b.tolist() for b in DataLoader(numbers(5).plus_for_this_test(), batch_size=2)] == [[1, 2], [3, 4], [5]]
    finally:
        del IterDataPipe.functions["plus_for_this_test"]
    assert list(pickle.loads(pickle.dumps(numbers(3).batch(2).unbatch()))) == [0, 1, 2]


def test_files(tmp_path):
    (tmp_path / "a.txt").write_text("x\ny\n")
    (tmp_path / "b.csv").write_text("1")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "d.txt").write_text("q")

    def names(*args, **kwargs):
        return [path.replace(str(tmp_path), "") for path in pipes.FileLister(str(tmp_path), *args, **kwargs)]
    assert names() == ["/a.txt", "/b.csv"] and names("*.txt") == ["/a.txt"]
    assert names(["*.csv", "*.txt"], recursive=True) == ["/a.txt", "/b.csv", "/c/d.txt"]
    path = str(tmp_path / "a.txt")
    for mode, chunk, expected in (("r", None, ["x\ny\n"]), ("b", None, [b"x\ny\n"]), ("b", 3, [b"x\ny", b"\n"])):
        assert [part for _, part in pipes.StreamReader(pipes.FileOpener([path], mode=mode), chunk)] == expected


def test_chunks():
    chunk = DataChunk([1, [2]])
    assert (chunk.as_str("  "), list(chunk.raw_iterator()), chunk) == ("  [1, [2]]", [1, [2]], [1, [2]])


class Drawn(IterDataPipe):
    def __init__(self, count=1, shuffled=True):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def test_pipes_that_are_not_deterministic():
    Always = data.non_deterministic(Drawn)
    Sometimes = data.non_deterministic(lambda count, shuffled: shuffled)(Drawn)
    assert list(Always(2)) == list(Sometimes(2, True)) == [0, 1]
    with data.guaranteed_datapipes_determinism():
        assert list(Sometimes(3, False)) == [0, 1, 2]
        with pytest.raises(TypeError, match="Drawn is non-deterministic, but you set 'guaranteed_datapipes_det"):
            Always(2)
        with pytest.raises(TypeError, match="Drawn is non-deterministic with the inputs, but you set"):
            Sometimes(2, True)
    assert list(Always(1)) == [0]
    with pytest.raises(TypeError, match="3 can not be decorated by non_deterministic"):
        data.non_deterministic(3)
    with pytest.raises(TypeError, match="Only `IterDataPipe` can be decorated with `non_deterministic`, but int"):
        data.non_deterministic(int)
    with pytest.raises(TypeError, match="Only `IterDataPipe` can be decorated, but int is found"):
        data.non_deterministic(len)(int)
    with pytest.raises(TypeError, match="required to return a boolean value, but <class 'int'> is found"):
        data.non_deterministic(lambda count: count)(Drawn)(2)


def test_arguments_that_are_pipes():
    @data.argument_validation
    def both(first: IterDataPipe, second=None):
        return list(first), second

    assert both(Drawn(2), second=3) == ([0, 1], 3)
    with pytest.raises(TypeError, match="Expected argument 'first' as a IterDataPipe, but found <class 'int'>"):
        both(5)

    def __iter__(self):  # noqa: N807
        return iter(())

    with data.runtime_validation_disabled():
        assert data.runtime_validation(__iter__) is __iter__
    with pytest.raises(TypeError, match="Can not decorate function both with 'runtime_validation'"):
        data.runtime_validation(both)


def test_hooks_of_pickling():
    pipe = Drawn(4)
    IterDataPipe.set_getstate_hook(lambda state: {**state, "count": 2})
    try:
        assert list(pickle.loads(pickle.dumps(pipe))) == [0, 1]
        with pytest.raises(Exception, match="Attempt to override existing getstate_hook"):
            IterDataPipe.set_getstate_hook(len)
    finally:
        IterDataPipe.set_getstate_hook(None)
    IterDataPipe.set_reduce_ex_hook(lambda pipe: (Drawn, (3,)))
    try:
        assert list(pickle.loads(pickle.dumps(pipe))) == [0, 1, 2]
        with pytest.raises(Exception, match="Attempt to override existing reduce_ex_hook"):
            IterDataPipe.set_reduce_ex_hook(len)
    finally:
        IterDataPipe.set_reduce_ex_hook(None)
    assert list(pickle.loads(pickle.dumps(pipe))) == [0, 1, 2, 3]
