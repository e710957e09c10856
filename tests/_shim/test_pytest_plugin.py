"""The pytest plugin: ``import torch`` gives shimtorch in test runs, and nothing happens unasked."""

import importlib.util
import pathlib
import shutil

import pytest

import shimtorch

TEST = """
    import torch, conftest
    def test_it():
        import shimtorch
        assert torch is shimtorch is conftest.torch
        assert torch.__version__ == "{version}"
"""


@pytest.fixture
def run(python, project):
    """Run pytest with the plugin on files, in their folder; in a source tree, where nothing is installed, on a copy."""

    def run(files, *options, **kwargs):
        folder = project(files)
        if importlib.util.find_spec("pytest_shimtorch") is None:
            shutil.copy(pathlib.Path(shimtorch.__file__).parent / "_shim" / "pytest_shimtorch.py", folder)
        common = ("-p", "pytest_shimtorch", "-p", "no:cacheprovider", "--rootdir", folder, "--strict-markers")
        return python("-m", "pytest", *common, *options, cwd=folder, **kwargs)

    return run


@pytest.mark.parametrize("options, ini, version", [
    (["--shimtorch"], "", "2.13.0"),
    (["--shimtorch", "--shimtorch-era", "0.4"], "", "0.4.0"),
    (["--shimtorch-era=1.1"], "", "1.1.0"),
    ([], "shimtorch = true\nshimtorch_era = 0.3", "0.3.1.post2"),
])
def test_whole_run(run, options, ini, version):
    done = run({
        "conftest.py": "import torch\n", "test_it.py": TEST.format(version=version), "pytest.ini": f"[pytest]\n{ini}\n",
    }, *options)
    assert done.code == 0 and "1 passed" in done.out, done.out + done.err
    assert f"(torch {version})" in done.out


def test_nothing_without_the_option(run):
    done = run({
        "test_it.py": """
            import sys
            def test_it():
                assert not [name for name in sys.modules if name.partition(".")[0] in ("torch", "shimtorch")]
                assert "numpy" not in sys.modules
        """,
        "conftest.py": "", "pytest.ini": "[pytest]\n",
    })
    assert done.code == 0 and "1 passed" in done.out, done.out


def test_marker_and_fixture(run):
    done = run({
        "pytest.ini": "[pytest]\n",
        "test_it.py": """
            import sys, pytest

            @pytest.fixture
            def late():
                import torch
                return torch

            @pytest.mark.shimtorch(era="0.3")
            def test_marked(late):
                import torch
                assert late is torch and torch.__version__.startswith("0.3")

            @pytest.mark.shimtorch
            def test_modern():
                import torch
                assert torch.__version__ == "2.13.0"

            def test_fixture(shimtorch_as_torch):
                import torch
                assert torch is shimtorch_as_torch

            def test_plain():
                assert "torch" not in sys.modules

            @pytest.mark.shimtorch("9.9")
            def test_wrong_era():
                pass
        """,
    })
    assert "4 passed, 1 error" in done.out and done.code == 1, done.out


def test_wrong_uses_are_usage_errors(run):
    done = run({"test_it.py": "", "pytest.ini": "[pytest]\n"}, "--shimtorch-era", "9.9")
    assert done.code == 4 and "9.9" in done.err
    files = {"torch.py": "", "early.py": "import torch\n", "test_it.py": "", "pytest.ini": "[pytest]\n"}
    done = run(files, "--shimtorch", "-p", "early", env={"PYTHONSAFEPATH": ""})
    assert done.code == 4 and "another 'torch' is already imported" in done.err, done.out + done.err


def test_workers_of_xdist(run):
    pytest.importorskip("xdist")
    done = run({
        "conftest.py": "import torch\n", "test_it.py": TEST.format(version="0.4.0"), "pytest.ini": "[pytest]\n",
    }, "--shimtorch", "--shimtorch-era", "0.4", "-n", "1")
    assert done.code == 0 and "1 passed" in done.out, done.out + done.err
