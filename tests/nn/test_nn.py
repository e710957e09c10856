"""Functions, layers, initialisers and modules against recorded answers of PyTorch 2.13."""

import json
import subprocess
import sys
from pathlib import Path

import functional_cases
import init_cases
import layer_cases
import lazy_cases
import module_cases
import parametrize_cases
import pytest
from recorded import difference

import shimtorch as torch

ANSWERS = Path(__file__).parents[1] / "answers"


def recorded(name, module):
    answers = json.loads((ANSWERS / f"nn_{name}.json").read_text(encoding="utf-8"))
    return pytest.mark.parametrize("case, expected", [(case, answers[case]) for case in module.CASES])


def as_json(value):
    text = json.dumps(value).replace("shimtorch._tensor.Tensor", "torch.Tensor").replace("shimtorch.", "torch.")
    return json.loads(text)


@recorded("functional", functional_cases)
def test_functional(case, expected):
    assert difference(expected, as_json(functional_cases.run(torch, case))) is None


@recorded("layers", layer_cases)
def test_layer(case, expected):
    assert difference(expected, as_json(layer_cases.run(torch, case))) is None


@recorded("init", init_cases)
def test_init(case, expected):
    assert difference(expected, as_json(init_cases.run(torch, case))) is None


@recorded("modules", module_cases)
def test_module(case, expected):
    assert difference(expected, as_json(module_cases.run(torch, case))) is None


@recorded("lazy", lazy_cases)
def test_lazy(case, expected):
    assert difference(expected, as_json(lazy_cases.run(torch, case))) is None


@pytest.mark.filterwarnings("ignore:.*weight_norm. is deprecated:FutureWarning")
@recorded("parametrize", parametrize_cases)
def test_parametrize(case, expected):
    assert difference(expected, as_json(parametrize_cases.run(torch, case)), rtol=1e-4, atol=1e-5) is None


@pytest.mark.parametrize("first", ["parametrizations", "weight_norm", "spectral_norm"])
def test_a_module_does_not_hide_its_function(first, tmp_path):
    """``torch.nn.utils.weight_norm`` is the function whichever module was imported before."""
    program = (f"import shimtorch.nn.utils.{first}\nfrom shimtorch.nn import utils\n"
               "assert callable(utils.weight_norm) and callable(utils.spectral_norm)")
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
