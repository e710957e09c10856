"""Documents that are written from the code are up to date."""
import os
import pathlib
import subprocess
import sys

import pytest

import shimtorch

ROOT = pathlib.Path(__file__).parent.parent
HOME = pathlib.Path(shimtorch.__file__).parent.parent


@pytest.mark.skipif(not (ROOT / "tools" / "coverage.py").exists(), reason="the tests stand without tools/ here")
def test_coverage():
    environment = {**os.environ, "PYTHONPATH": str(HOME)}
    environment.pop("SHIMTORCH_ERA", None)
    done = subprocess.run([sys.executable, "tools/coverage.py", "--check"], cwd=ROOT, capture_output=True, text=True,
                          env=environment)
    assert done.returncode == 0, "run `python tools/coverage.py`: " + done.stdout + done.stderr
