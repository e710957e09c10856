"""Processes of their own for what changes a whole interpreter."""

import os
import subprocess
import sys
import textwrap

import pytest

import shimtorch

HOME = os.path.dirname(os.path.dirname(shimtorch.__file__))


class Done:
    """A finished process: `code`, `out` and `err`."""

    def __init__(self, process):
        self.code, self.out, self.err = process.returncode, process.stdout, process.stderr


@pytest.fixture
def python(tmp_path):
    """Run Python with arguments in an empty folder, where shimtorch can be imported; `env` adds to the environment."""

    def run(*arguments, cwd=None, env=None):
        ours = {"PYTHONPATH": HOME, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "error"}
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("SHIMTORCH", "PYTEST", "COV"))}
        return Done(subprocess.run(
            [sys.executable, *map(str, arguments)], cwd=cwd or tmp_path, env={**inherited, **ours, **(env or {})},
            capture_output=True, text=True, timeout=120,
        ))

    return run


@pytest.fixture
def check(python):
    """Run statements in a process of their own; they must not raise."""

    def run(code, **options):
        done = python("-c", textwrap.dedent(code), **options)
        assert done.code == 0, done.err
        return done

    return run


@pytest.fixture
def project(tmp_path):
    """Write files, by name, to an empty folder."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text))
        return tmp_path

    return write
