"""The legacy scripts of compat that use a device where there is one: they learn what they learn on the CPU."""
import importlib.util
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

SCRIPTS = pathlib.Path(__file__).parents[2] / "compat" / "scripts"
EXPECTED = json.loads((SCRIPTS / "expected.json").read_text(encoding="utf-8"))
FINAL = re.compile(r"^final loss: (\S+) accuracy: (\S+)$", re.MULTILINE)
EPOCH = re.compile(r"^epoch .*loss: (\S+)$", re.MULTILINE)
# How near the losses come to those of the CPU: where numbers are drawn on the device, they are others.
NEAR = {"char_rnn.py": 1e-3, "gcn_karate.py": 1e-3, "seq2seq_attention.py": 1e-3, "super_resolution.py": 1e-3,
        "resnet_digits.py": 1e-3,
        "mnist_convnet.py": 0.25, "transformer_words.py": 0.25, "vae.py": 0.1}

pytestmark = pytest.mark.skipif("SHIMEMU_PROTECT" in os.environ, reason="each launch takes milliseconds there")


def test_all_scripts_that_use_a_device_are_here():
    assert {p.name for p in SCRIPTS.glob("*.py") if "cuda" in p.read_text(encoding="utf-8")} == set(NEAR)


@pytest.mark.parametrize("script", NEAR)
def test_script(script, tmp_path):
    expected = EXPECTED[script]
    for module in expected["needs"]:
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{script} takes its data from {module}")
    era = ["--era", expected["era"]] if "era asked for" in expected else []
    done = subprocess.run([sys.executable, "-m", "shimtorch", "run", *era, str(SCRIPTS / script)], cwd=tmp_path,
                          capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    losses = [float(loss) for loss in EPOCH.findall(done.stdout)]
    assert losses == pytest.approx(expected["epochs"], rel=NEAR[script], abs=1e-4)
    loss, accuracy = map(float, FINAL.search(done.stdout).groups())
    assert loss == pytest.approx(expected["loss"], rel=NEAR[script])
    assert accuracy == pytest.approx(expected["accuracy"], rel=NEAR[script])
