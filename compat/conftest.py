"""The `torch` fixture: the module under test, set to the era that a test names.

A test says with `@pytest.mark.eras("0.3", "0.4")` in which eras its statement holds, and runs once in each; `by_era`
also hands it the era's expected value. To check the tests themselves, set COMPAT_TORCH=torch and run them where a real
PyTorch is installed: it answers for the era of its own version, the other eras are skipped, and so are tests marked
`lenient`, where shimtorch takes what PyTorch refuses.
"""

import importlib
import os
import pathlib

import pytest

from tests.gaps import mark_gaps

from .eras import ERAS, era_of_version

MODULE = os.environ.get("COMPAT_TORCH", "shimtorch")


def pytest_configure(config):
    config.addinivalue_line("markers", "eras(*names): the PyTorch versions in which the statement of this test holds")
    config.addinivalue_line("markers", "lenient: shimtorch accepts here what PyTorch refuses")


def pytest_collection_modifyitems(items):
    mark_gaps(pathlib.Path(__file__).parent, items)


def pytest_generate_tests(metafunc):
    mark = metafunc.definition.get_closest_marker("eras")
    if mark is not None and "torch" in metafunc.fixturenames:
        unknown = set(mark.args) - set(ERAS)
        assert not unknown, f"no such era: {unknown}"
        metafunc.parametrize("torch", mark.args, indirect=True)


@pytest.fixture
def torch(request):
    """The module under test; `request.param` is the era."""
    module = importlib.import_module(MODULE)
    if MODULE == "shimtorch":
        with module.era(request.param):
            yield module
    elif era_of_version(module.__version__) != request.param:
        pytest.skip(f"{MODULE} {module.__version__} does not answer for era {request.param}")
    elif request.node.get_closest_marker("lenient"):
        pytest.skip("PyTorch refuses this")
    else:
        yield module
