"""Data sets, samplers and loaders against recorded answers of PyTorch 2.13 and 1.1."""

import json
import pickle
from pathlib import Path

import data_cases
import pytest
from recorded import difference

import shimtorch as torch
from shimtorch.utils.data import DataLoader, Dataset, Sampler, TensorDataset

ANSWERS = Path(__file__).parents[1] / "answers"


def recorded(name, cases):
    answers = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    return pytest.mark.parametrize("case, expected", [(case, answers[case]) for case in cases])


def as_json(value):
    text = json.dumps(value).replace("shimtorch._tensor.Tensor", "torch.Tensor").replace("shimtorch.", "torch.")
    return json.loads(text)


@recorded("utils_data", data_cases.CASES)
def test_data(case, expected):
    assert difference(expected, as_json(data_cases.run(torch, case))) is None


@recorded("utils_data_1.1", data_cases.SHUFFLED)
def test_data_1_1(case, expected):
    with torch.era("1.1"):
        assert difference(expected, as_json(data_cases.run(torch, case))) is None


def test_next_method_of_iterators():
    iterator = iter(DataLoader(range(4), batch_size=2))
    assert iterator.next().tolist() == [0, 1]
    assert next(iterator).tolist() == [2, 3]
    with pytest.raises(StopIteration):
        iterator.next()


def test_old_names_of_tensor_dataset():
    data, target = torch.zeros(3, 2), torch.ones(3)
    dataset = TensorDataset(data_tensor=data, target_tensor=target)
    assert dataset.data_tensor is data and dataset.target_tensor is target and len(dataset) == 3


def test_rows_taken_at_once_equal_rows_collated():
    class Slow(TensorDataset):
        pass

    tensors = torch.arange(12.0).view(6, 2), torch.arange(6)
    fast = list(DataLoader(TensorDataset(*tensors), batch_size=4))
    slow = list(DataLoader(Slow(*tensors), batch_size=4))
    for a, b in zip(fast, slow, strict=True):
        assert [t.tolist() for t in a] == [t.tolist() for t in b]
        assert [t.dtype for t in a] == [t.dtype for t in b]


def test_iterators_do_not_pickle():
    with pytest.raises(NotImplementedError):
        pickle.dumps(iter(DataLoader(range(3))))


def test_classes_take_annotations():
    class Typed(Dataset[int]):
        pass

    assert issubclass(Typed, Dataset) and Sampler[int] is Sampler and DataLoader[int] is DataLoader
