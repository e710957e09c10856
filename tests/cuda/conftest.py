"""Tests of the CUDA path: on a GPU, or a build with the emulator of tests/cudaemu; skipped where there is neither."""
import gc
import pathlib

import pytest

import shimtorch as torch

HERE = pathlib.Path(__file__).parent


def pytest_collection_modifyitems(items):
    there = torch.cuda.is_available()
    for item in items:
        if HERE in item.path.parents and item.path.name != "test_absent.py":
            item.add_marker("cuda")
            if not there:
                item.add_marker(pytest.mark.skip(reason="there is no CUDA device, real or emulated"))


@pytest.fixture
def no_leak():
    """Whatever a test allocates on the device is given back."""
    gc.collect()
    before = torch.cuda.memory_allocated()
    yield
    gc.collect()
    assert torch.cuda.memory_allocated() == before
