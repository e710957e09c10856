"""RemovableHandle: removing once, twice, by context, after pickling and after its dictionary is gone."""

import gc
import pickle
from collections import OrderedDict

from shimtorch.utils.hooks import RemovableHandle


def registered():
    hooks, extra = OrderedDict(), OrderedDict()
    handle = RemovableHandle(hooks, extra_dict=extra)
    hooks[handle.id] = extra[handle.id] = print
    return hooks, extra, handle


def test_remove():
    hooks, extra, handle = registered()
    handle.remove()
    handle.remove()
    assert not hooks and not extra


def test_context():
    hooks, _, handle = registered()
    with handle:
        assert hooks
    assert not hooks


def test_pickle_keeps_the_number():
    hooks, _, handle = registered()
    copied_hooks, copied = pickle.loads(pickle.dumps((hooks, handle)))
    assert copied.id == handle.id
    copied.remove()
    assert not copied_hooks and hooks
    assert RemovableHandle(OrderedDict()).id > handle.id


def test_dictionary_is_held_weakly():
    hooks, extra, handle = registered()
    del hooks, extra
    gc.collect()
    handle.remove()
