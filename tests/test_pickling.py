"""Pickles and copies of tensors and what belongs to them, between processes of one version."""
import copy
import pickle
from collections import OrderedDict

import pytest

import shimtorch as torch
from shimtorch import _utils


def again(obj, protocol=2):
    return pickle.loads(pickle.dumps(obj, protocol))


class Tagged(torch.Tensor):
    pass


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", [d.name for d in map(torch.__dict__.get, (
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128", "uint16", "uint32", "uint64"))])
def test_every_dtype(name, protocol):
    x = torch.tensor([[0, 1], [1, 0]]).to(getattr(torch, name)).t()
    y = again(x, protocol)
    assert y.dtype is x.dtype and y.stride() == x.stride() and y.tolist() == x.tolist()


def test_views_keep_their_place_in_the_storage():
    x = torch.arange(12.0).view(3, 4)[1:, ::2]
    y = again(x)
    assert y.tolist() == x.tolist() and y.stride() == x.stride() and y.storage_offset() == 4
    assert len(y.storage()) == 12


def test_leaves_and_results():
    leaf = torch.ones(2, requires_grad=True)
    assert again(leaf).requires_grad and again(leaf * 2).requires_grad and again(leaf * 2).is_leaf
    leaf.grad = torch.ones(2)
    assert again(leaf).grad is None and copy.deepcopy(leaf).grad.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(leaf * 2)


def test_hooks_are_left_out_with_a_warning():
    leaf = torch.ones(2, requires_grad=True)
    leaf.register_hook(lambda g: g)
    with pytest.warns(UserWarning, match="will not be serialized"):
        data = pickle.dumps(leaf)
    assert not pickle.loads(data)._backward_hooks


def test_parameters_subclasses_and_attributes():
    p = torch.nn.Parameter(torch.ones(2), requires_grad=False)
    p.note = "kept"
    q = again(p)
    assert type(q) is torch.nn.Parameter and q.note == "kept" and not q.requires_grad
    t = torch.ones(2).as_subclass(Tagged)
    t.note = [1]
    u = again(t)
    assert type(u) is Tagged and u.note == [1]
    assert copy.deepcopy(t).note == [1] and copy.copy(t).data_ptr() == t.data_ptr()


def test_the_same_object_twice_is_one_object():
    p = torch.nn.Parameter(torch.ones(2))
    a, b = again([p, p])
    assert a is b


def test_deep_copies_share_what_was_shared():
    x = torch.zeros(4)
    a, b, c = copy.deepcopy([x, x[1:3], x.data])
    a.fill_(7)
    assert b.tolist() == [7, 7] and c.tolist() == [7] * 4 and x.tolist() == [0] * 4


@pytest.mark.parametrize("make", [
    lambda: torch.Size([2, 3]), lambda: torch.device("cpu"), lambda: torch.float32, lambda: torch.strided,
    lambda: torch.channels_last, lambda: torch.Tensor, lambda: torch.FloatTensor, lambda: torch.sparse.LongTensor,
    lambda: torch.FloatStorage, lambda: torch.nn.Parameter,
])
def test_what_is_no_tensor(make):
    assert again(make()) == make() and type(again(make())) is type(make())
    assert copy.deepcopy(make()) == make()


def test_storages():
    x = torch.arange(3.0)
    assert again(x.storage()).tolist() == [0, 1, 2] and type(again(x.storage())) is torch.FloatStorage
    assert again(x.untyped_storage()).tolist() == x.untyped_storage().tolist()


def test_generators_go_on_where_they_were():
    g = torch.Generator().manual_seed(3)
    torch.rand(5, generator=g)
    h, c = again(g), copy.deepcopy(g)
    drawn = [torch.rand(3, generator=each).tolist() for each in (g, h, c)]
    assert drawn[0] == drawn[1] == drawn[2]


@pytest.mark.parametrize("make", [
    lambda: torch.eye(3).to_sparse(), lambda: torch.eye(3).to_sparse_csr(), lambda: torch.eye(3).to_sparse_csc(),
    lambda: torch.sparse_coo_tensor([[0, 0]], [1.0, 2.0], (2,)),
])
def test_sparse_tensors(make):
    x, y = make(), again(make())
    assert y.layout is x.layout and y.to_dense().tolist() == x.to_dense().tolist()
    assert y.layout is not torch.sparse_coo or y.is_coalesced() == x.is_coalesced()


@pytest.mark.parametrize("offset, size, stride, message", [
    (0, (4,), (1,), "Trying to resize storage that is not resizable"),
    (1, (3,), (1,), "Trying to resize storage that is not resizable"),
    (0, (2, 2), (2, 2), "Trying to resize storage that is not resizable"),
    (-2, (1,), (1,), "invalid storage offset -2"),
    (0, (2, 1), (1,), r"unequal size length \(2\) and stride length \(1\)"),
    (0, (2,), (-1,), "Storage size calculation overflowed"),
    (0, (-1,), (1,), "numel: integer multiplication overflow"),
    (0, (1 << 62, 1 << 62), (1, 1), "."),
])
def test_geometry_is_checked(offset, size, stride, message):
    with pytest.raises(RuntimeError, match=message):
        _utils._rebuild_tensor_v2(torch.zeros(3).storage(), offset, size, stride, False, OrderedDict())


def test_sparse_indices_are_checked():
    with pytest.raises(RuntimeError, match="found index 9"):
        _utils._rebuild_sparse_tensor(torch.sparse_coo, (torch.tensor([[9]]), torch.ones(1), torch.Size([2])))


def test_setstate_of_old_pickles():
    x = torch.zeros(0)
    x.__setstate__((torch.arange(4.0).storage(), 1, (2,), (1,)))
    assert x.tolist() == [1, 2]
    x.__setstate__((True, False, None))
    assert x.requires_grad


def test_variables_of_0_3():
    with torch.era("0.3"):
        v = torch.autograd.Variable(torch.ones(2), requires_grad=True)
        w = again(v)
        assert type(w) is torch.autograd.Variable and w.requires_grad
        assert again(torch.autograd.Variable(torch.ones(2), volatile=True)).volatile


def test_a_tensor_of_lazily_conjugated_memory():
    x = torch.tensor([1 + 2j])
    y = _utils._rebuild_tensor_v2(x.storage(), 0, (1,), (1,), False, OrderedDict(), {"conj": True})
    assert y.tolist() == [1 - 2j] and x.tolist() == [1 + 2j]


@pytest.mark.parametrize("name", ["_rebuild_qtensor", "_rebuild_nested_tensor", "_rebuild_wrapper_subclass"])
def test_what_there_is_not_is_refused(name):
    with pytest.raises(NotImplementedError, match=name):
        getattr(_utils, name)()
