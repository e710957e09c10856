"""Complete legacy scripts, run as a user runs them: they end with the losses that a PyTorch of their time printed.

scripts/expected.json says for each script which PyTorch that was and what had to be edited in a copy for it. Where the
era of a script is not to be seen in its source, it is asked for. Dropout masks of 1.x depend on the make of the
processor: shimtorch draws those of Intel's; the losses of scripts with "masks" were recorded on one of AMD's, and these
run without the policy.
"""

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import MODULE

pytestmark = pytest.mark.skipif(MODULE != "shimtorch", reason="the scripts are run by shimtorch's own command")
SCRIPTS = Path(__file__).parent / "scripts"
EXPECTED = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))
FINAL = re.compile(r"^final loss: (\S+) accuracy: (\S+)$", re.MULTILINE)
EPOCH = re.compile(r"^epoch .*loss: (\S+)$", re.MULTILINE)


AMD_MASKS = """
import sys
from shimtorch._eras import table
for changes in table._CHANGES.values():
    changes.pop("mkl_bernoulli", None)
from shimtorch._shim.cli import main
sys.exit(main())
"""


def run(script):
    """Run a script with `python -m shimtorch run`; return its standard output and standard error."""
    import shimtorch
    home = str(Path(shimtorch.__file__).parent.parent)
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(filter(None, [home, os.environ.get("PYTHONPATH")])))
    env.pop("SHIMTORCH_ERA", None)
    expected = EXPECTED[script]
    command = ["-c", AMD_MASKS] if "masks" in expected else ["-m", "shimtorch"]
    era = ["--era", expected["era"]] if "era asked for" in expected else []
    done = subprocess.run([sys.executable, *command, "run", *era, str(SCRIPTS / script)],
                          capture_output=True, text=True, timeout=120, env=env, cwd=SCRIPTS)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_every_script_has_an_expected_loss():
    assert {path.name for path in SCRIPTS.glob("*.py")} == set(EXPECTED)


@pytest.mark.parametrize("script", EXPECTED)
def test_script_ends_with_the_loss_that_pytorch_printed(script):
    expected = EXPECTED[script]
    for module in expected["needs"]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{script} takes its data from {module}")
    output, messages = run(script)
    assert f"era {expected['era']}" in messages or f"era: {expected['era']}" in messages, messages
    assert [float(loss) for loss in EPOCH.findall(output)] == pytest.approx(expected["epochs"], rel=1e-3, abs=1e-4)
    loss, accuracy = map(float, FINAL.search(output).groups())
    assert loss == pytest.approx(expected["loss"], rel=1e-4)
    assert accuracy == expected["accuracy"]
