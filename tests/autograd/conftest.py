"""The `torch` under test is shimtorch; with COMPAT_TORCH=torch it is the real one, which checks the tests themselves.

Tests marked `ours` state what holds here alone: where PyTorch refuses, or answers wrongly, or has nothing of the kind.
"""
import importlib
import os

import pytest

MODULE = os.environ.get("COMPAT_TORCH", "shimtorch")


def pytest_configure(config):
    config.addinivalue_line("markers", "ours: PyTorch does otherwise, or has no such thing")


def pytest_runtest_setup(item):
    if MODULE != "shimtorch" and item.get_closest_marker("ours"):
        pytest.skip("shimtorch alone")


@pytest.fixture(scope="session")
def torch():
    module = importlib.import_module(MODULE)
    importlib.import_module(MODULE + ".autograd")
    return module


@pytest.fixture
def leaf(torch):
    """Make a leaf that requires grad, of the given numbers."""

    def make(*values, dtype=torch.float32):
        return torch.tensor(values[0] if len(values) == 1 else values, dtype=dtype, requires_grad=True)

    return make
