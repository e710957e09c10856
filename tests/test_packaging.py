"""What an install holds: modules and nothing else, one version, the command, the pytest plugin beside the package."""
import importlib.metadata
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest

import shimtorch

PACKAGE = pathlib.Path(shimtorch.__file__).parent
MIB = 1 << 20


@pytest.fixture(scope="module")
def distribution():
    """The installed distribution; tests of it make no sense where shimtorch is used from its sources."""
    try:
        found = importlib.metadata.distribution("shimtorch")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("shimtorch is not installed here")
    return found


@pytest.fixture(scope="module")
def files(distribution):
    """The names of the files of an install that is not editable, without byte code."""
    names = [str(name) for name in distribution.files if "__pycache__" not in str(name)]
    if "shimtorch/__init__.py" not in names:
        pytest.skip("an editable install holds no files")
    return names


def test_one_version(distribution):
    own = re.search(r'__version__ = "(.+)"', (PACKAGE / "_version.py").read_text()).group(1)
    assert distribution.version == own == shimtorch._version.__version__


def test_license(distribution):
    assert distribution.metadata["License-Expression"] == "MIT"
    text = next(name for name in distribution.files if name.name == "LICENSE").read_text()
    assert text.startswith("MIT License")


def test_entry_points(distribution):
    found = {(point.group, point.name, point.value) for point in distribution.entry_points}
    assert found == {("console_scripts", "shimtorch", "shimtorch._shim.cli:main"),
                     ("pytest11", "pytest_shimtorch", "pytest_shimtorch")}


def test_files_are_modules(files):
    kinds = {pathlib.PurePath(name).suffix for name in files if name.startswith("shimtorch/")}
    assert kinds == {".py", ".so"} or kinds == {".py", ".pyd"}
    others = [name for name in files if not name.startswith(("shimtorch/", "shimtorch-", "pytest_shimtorch", ".."))]
    assert not others
    assert "pytest_shimtorch.py" in files and "shimtorch/_shim/pytest_shimtorch.py" not in files


def test_size(files):
    size = sum((PACKAGE.parent / name).stat().st_size for name in files if (PACKAGE.parent / name).exists())
    assert 1 * MIB < size < 25 * MIB


def test_compiled_modules_name_no_folder_of_the_build(files):
    for name in files:
        if name.endswith(".so"):
            content = (PACKAGE.parent / name).read_bytes()
            assert not re.search(rb"/(home|root|tmp|work|builds?)/[\w./-]+", content), name


def test_plugin_imports_neither_shimtorch_nor_numpy(tmp_path):
    """pytest imports it in every run."""
    found = importlib.util.find_spec("pytest_shimtorch")
    path = found.origin if found else PACKAGE / "_shim" / "pytest_shimtorch.py"
    code = f"import runpy, sys; runpy.run_path({str(path)!r}); assert not {{'numpy', 'shimtorch'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
