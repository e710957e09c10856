"""``import shimtorch`` costs little more than ``import numpy``: what it may not load, and what it may occupy.

The time, too, is checked by ``python -m bench.imports``, which needs a calmer machine than a test may ask for.
"""
import json
import pathlib
import subprocess
import sys

import pytest

import shimtorch

CODE = """
import sys
sys.path.insert(0, {home!r})
import numpy
before = set(sys.modules)
import shimtorch
import json
try:
    status = open("/proc/self/status").read()
    kib = int(status.partition("VmRSS:")[2].split()[0])
except OSError:
    kib = 0
print(json.dumps([sorted(set(sys.modules) - before - {{"json", "json.decoder", "json.encoder", "json.scanner"}}), kib]))
"""
HEAVY = ("argparse", "asyncio", "concurrent", "dataclasses", "decimal", "doctest", "email", "hypothesis", "http",
         "importlib.metadata", "inspect", "logging", "ml_dtypes", "multiprocessing", "networkx", "numpy.f2py",
         "numpy.testing", "opt_einsum", "pytest", "scipy", "sklearn", "socket", "ssl", "subprocess", "threadpoolctl",
         "tokenize", "torch", "typing", "unittest", "urllib", "zipfile")
# The parts of the mirror that are imported when they are first named.
LATE = ("autograd.variable", "backends", "cuda", "nn", "optim", "sparse", "utils", "_shim", "_core.printing")


@pytest.fixture(scope="module")
def imported():
    """The modules that `import shimtorch` loads beyond those of NumPy, and the process's KiB afterwards."""
    loader = type(shimtorch.__spec__.loader).__module__
    if "editable" in loader:
        pytest.skip("an editable install looks for changed sources first")
    home = str(pathlib.Path(shimtorch.__file__).parent.parent)
    done = subprocess.run([sys.executable, "-c", CODE.format(home=home)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def within(name, tops):
    return any(name == top or name.startswith(top + ".") for top in tops)


def test_nothing_heavy_is_loaded(imported):
    assert not [name for name in imported[0] if within(name, HEAVY)]


def test_only_the_core_and_the_ops_are_loaded(imported):
    ours = [name.partition(".")[2] for name in imported[0] if name.startswith("shimtorch.")]
    assert not [name for name in ours if within(name, LATE)]
    strangers = [name for name in imported[0] if name.split(".")[0] not in ("shimtorch", "cython_runtime")]
    assert len([name for name in strangers if not name.startswith("_")]) <= 8, strangers


def test_memory(imported):
    assert imported[1] < 60 * 1024


def test_the_names_come_when_they_are_asked_for():
    assert shimtorch.nn.Linear is not None and shimtorch.optim.SGD is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        shimtorch.no_such_name  # noqa: B018
