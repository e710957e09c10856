# ruff: noqa: UP006, UP007, UP035, UP045  (the forms that scripts have)
"""torch.jit without a compiler: what real torch 2.13 does under PYTORCH_JIT=0."""
from typing import Dict, List, Optional, Tuple, Union

import pytest

import shimtorch as torch


def double(x):
    return x * 2


def test_what_would_be_compiled_is_given_back():
    layer = torch.nn.Linear(1, 1)
    assert torch.jit.script(double) is torch.jit.trace(double, (torch.ones(1),)) is double
    assert torch.jit.script(layer) is torch.jit.trace_module(layer, {"forward": torch.ones(1, 1)}) is layer
    for mark in (torch.jit.export, torch.jit.ignore, torch.jit.unused, torch.jit.ignore(drop=True),
                 torch.jit.script_method, torch.jit.script_if_tracing, torch.jit.interface):
        assert mark(double) is double
    assert torch.jit.annotate(int, 3) == torch.jit.Attribute(3, int) == 3
    assert not torch.jit.is_scripting() and not torch.jit.is_tracing()


def test_a_script_module_is_a_module():
    class Doubling(torch.jit.ScriptModule):
        __constants__ = ["factor"]

        def __init__(self):
            super().__init__(False)
            self.factor = 2
            self.weight = torch.nn.Parameter(torch.ones(1))

        @torch.jit.script_method
        def forward(self, x):
            return x * self.factor * self.weight
    module = Doubling()
    assert module(torch.ones(2)).tolist() == [2, 2] and [n for n, _ in module.named_parameters()] == ["weight"]
    with pytest.raises(NotImplementedError, match="torch.jit.save"):
        module.save("model.pt")


@pytest.mark.parametrize("name, arguments", [
    ("save", (None, "f")), ("load", ("f",)), ("freeze", (None,)), ("optimize_for_inference", (None,)),
    ("run_frozen_optimizations", (None,)), ("export_opnames", (None,)), ("last_executed_optimized_graph", ()),
    ("enable_onednn_fusion", (True,)), ("ScriptFunction", ())])
def test_what_needs_a_compiler_says_so(name, arguments):
    with pytest.raises(NotImplementedError, match=f"torch.jit.{name} is not implemented"):
        getattr(torch.jit, name)(*arguments)


def test_fork_runs_at_once():
    assert torch.jit.wait(torch.jit.fork(double, 3)) == 6
    with pytest.raises(ZeroDivisionError):
        torch.jit.wait(torch.jit.fork(lambda: 1 // 0))


@pytest.mark.parametrize("value, kind, expected", [
    ([1], List[int], True), ([1.0], List[int], False), ({1: "a"}, Dict[int, str], True),
    ((1, 2), Tuple[int, int], True), ((1, 2), Tuple[int], False), (1, Optional[int], True),
    (None, Optional[int], True), (1, (int, float), True), (1, Union[int, str], True), (1, int | str, True),
    ([[1], [2.0]], List[List[int]], False), ([1], list[int], True), (torch.ones(1), torch.Tensor, True)])
def test_instances_of_generic_types(value, kind, expected):
    assert torch.jit.isinstance(value, kind) is expected


def test_empty_containers_and_bare_types():
    with pytest.warns(UserWarning, match="inner type of a container is lost"):
        assert torch.jit.isinstance([], List[int])
    for value, kind, text in (([1], list, r"list without a contained type.*list\[int\]"), ([1], List, r"List\[int\]"),
                              ({}, dict, r"dict without contained types.*dict\[int, int\]"),
                              ((), Tuple, r"Tuple\[int\]")):
        with pytest.raises(RuntimeError, match=text):
            torch.jit.isinstance(value, kind)


def test_switches():
    with torch.jit.optimized_execution(False), torch.jit.fuser("fuser1"), torch.jit.strict_fusion():
        assert double(2) == 4
    with pytest.raises(Exception, match="unrecognized fuser"), torch.jit.fuser("none"):
        pass
    assert torch.jit.set_fusion_strategy([("STATIC", 1)]) == [("STATIC", 2), ("DYNAMIC", 10)]
    assert torch.jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)]) == [("STATIC", 1)]


def test_futures():
    future = torch.futures.Future()
    after = future.then(lambda f: f.wait() + 1)
    assert not future.done()
    with pytest.raises(RuntimeError, match="completed"):
        future.value()
    future.set_result(1)
    assert future.wait() == 1 and after.wait() == 2
    with pytest.raises(RuntimeError):
        future.set_result(2)
    failed = torch.futures.Future()
    failed.set_exception(KeyError("no"))
    with pytest.raises(KeyError):
        torch.futures.wait_all([future, failed])
    assert torch.futures.collect_all([future, after]).wait() == [future, after]
    with pytest.raises(AssertionError, match="not an Exception"):
        failed.set_exception(3)


def test_compile_gives_back_what_it_is_given():
    assert torch.compile(double) is double and torch.compile(mode="max-autotune")(double) is double
    assert torch.compiler.disable(double) is double and not torch.compiler.is_compiling()
    with pytest.raises(RuntimeError, match="mode or options"):
        torch.compile(double, mode="default", options={})
