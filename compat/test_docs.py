"""The examples of the documents in docs/, each in the era of its head."""

import contextlib
import importlib
from pathlib import Path

import pytest

from . import doctest_runner

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
DOCUMENTS = sorted((Path(__file__).parent / "docs").glob("*.txt"))
CASES = [(era, path) for path in DOCUMENTS for era in doctest_runner.read(path)[0]["era"].split()]


def found_as_torch(torch):
    """A context in which `import torch` gives the module under test."""
    if torch.__name__ == "torch":
        return contextlib.nullcontext()
    return importlib.import_module("shimtorch._shim.alias").installed()


@pytest.mark.parametrize("torch, path", CASES, indirect=["torch"], ids=[f"{path.stem}-as-{era}" for era, path in CASES])
def test_examples(torch, path):
    with found_as_torch(torch):
        report = doctest_runner.run(path, torch)
    assert not report, report


def test_mask_keeps_the_shape_of_the_text():
    text = "tensor([[ 0.1156, -0.2897],\n        [-0.3744, 1.2e-05]], grad_fn=<AddBackward0>)"
    assert doctest_runner.mask(text) == "tensor([[#,#],\n        [#,#]], grad_fn=<AddBackward0>)"
    assert doctest_runner.mask("tensor(indices=tensor([[2, 10]]),\n       size=(5, 2), nnz=3)") == (
        "tensor(indices=tensor([[#,#]]),\n       size=(5, 2), nnz=3)")


def test_mask_does_not_hide_a_missing_number():
    assert doctest_runner.mask("tensor([1.5, 2.5])") != doctest_runner.mask("tensor([1.5])")
