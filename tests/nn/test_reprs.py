"""``print(model)`` as each version printed it."""
import json
import pathlib

import pytest

import shimtorch as torch

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "reprs.json").read_text())
VERSIONS = {"1.0.0": "1.0", "1.1.0": "1.1", "1.11.0": "1.11", "2.13.0": "modern"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("expression", ANSWERS)
@pytest.mark.filterwarnings("ignore")          # of options that versions deprecated
def test_repr(expression, version):
    with torch.era(VERSIONS[version]):
        assert repr(eval(expression, {"torch": torch, "nn": torch.nn})) == ANSWERS[expression][version]


def test_a_user_s_own_text_is_left_alone():
    class Own(torch.nn.ReLU):
        def extra_repr(self):
            return "inplace=True"

    with torch.era("1.0"):
        assert repr(Own()) == "Own(inplace=True)"


def test_a_parameter_says_so():
    p = torch.nn.Parameter(torch.ones(2))
    assert str(p) == repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
