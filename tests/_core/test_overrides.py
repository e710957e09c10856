"""``__torch_function__``: classes and modes are asked as real torch 2.13 asks them, with the same results."""
import copy
import json
import pathlib
import pickle

import numpy as np
import pytest
from shimtorch._core.protocol import Overridable

import shimtorch as torch
import shimtorch.overrides

from . import override_cases

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "overrides.json").read_text())


@pytest.mark.parametrize("name", ANSWERS)
def test_as_recorded(name):
    shown = []
    override_cases.cases(torch, shown)[name]()
    assert shown == ANSWERS[name]


class Kept(torch.Tensor):
    pass


def test_subclasses_survive_copies_and_pickles():
    x = torch.ones(2).as_subclass(Kept)
    x.note = "n"
    for y in (copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x))):
        assert type(y) is Kept and y.note == "n" and y.tolist() == [1, 1]


def test_old_versions_give_plain_tensors():
    with torch.era("1.1"):
        x = torch.ones(2).as_subclass(Kept)
        assert type(x + 1) is torch.Tensor and type(x.t()) is torch.Tensor
    assert type(x + 1) is Kept


def test_mixins_are_found_before_tensors_own():
    class Mixin:
        def size(self):
            return "mine"

        @property
        def shape(self):
            return "mine too"

    class Mixed(Mixin, torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Mixed)
    assert x.size() == "mine" and x.shape == "mine too" and x.dim() == 1


def test_super_reaches_tensors_own():
    class Counted(torch.Tensor):
        def size(self, *args):
            return tuple(super().size(*args))

    assert torch.ones(2, 3).as_subclass(Counted).size() == (2, 3)


def test_override_given_later():
    class Late(torch.Tensor):
        pass

    x = torch.ones(2).as_subclass(Late)
    assert type(x + 1) is Late
    Late.__torch_function__ = classmethod(lambda cls, func, types, args=(), kwargs=None: "late")
    assert x + 1 == "late" and x.shape == "late" and torch.cat([x]) == "late"


def test_plain_method_is_deprecated():
    class Old:
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return "old"

    with pytest.warns(DeprecationWarning, match="as a plain method is deprecated"):
        assert torch.sum(Old()) == "old"


def test_mode_leaves_tensor_as_it_was():
    before = dict(vars(torch.Tensor))
    with pytest.raises(ZeroDivisionError), shimtorch.overrides.BaseTorchFunctionMode():
        raise ZeroDivisionError
    assert dict(vars(torch.Tensor)) == before


def test_errors_in_overrides_pass():
    class Broken(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError("broken")

    x = torch.ones(2).as_subclass(Broken)
    for call in (lambda: x + 1, lambda: x.shape, lambda: x[0], lambda: x.size(), lambda: torch.nn.functional.relu(x)):
        with pytest.raises(KeyError, match="broken"):
            call()
    assert torch._C._is_torch_function_enabled()


def test_functions_are_pickled_by_name():
    for f in (torch.nn.functional.relu, torch.zeros, torch.nn.init.uniform_, torch.autograd.grad):
        assert isinstance(f, Overridable) and pickle.loads(pickle.dumps(f)) is f and copy.deepcopy(f) is f


def test_built_in_functions_are_not_bound():
    class Box:
        make, act = torch.zeros, torch.nn.functional.relu

    assert Box().make(2).tolist() == [0, 0]
    with pytest.raises((TypeError, AttributeError)):
        Box().act(torch.ones(2), 1, 2)


def test_what_numpy_makes_of_a_subclass():
    x = torch.ones(2).as_subclass(Kept)
    assert type(x.numpy()) is np.ndarray and type(np.sin(x)) is Kept and type(np.asarray(x)) is np.ndarray


def test_methods_check_what_they_are_called_on():
    for method in (torch.Tensor.size, torch.Tensor.dim, torch.Tensor.stride, torch.Tensor.numel):
        with pytest.raises(TypeError, match="doesn't apply to a 'str' object"):
            method("no tensor")
