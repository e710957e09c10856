"""After 20 steps of training from the same seed the loss is real torch's: to 1e-5 in float32, to 1e-10 in float64."""

import json
from pathlib import Path

import pytest
import training_cases

import shimtorch as torch

ANSWERS = json.loads((Path(__file__).parents[1] / "answers" / "nn_training.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", training_cases.CASES)
def test_loss_after_20_steps(case):
    tolerance = 1e-5 if case.endswith("float32") else 1e-10
    assert training_cases.run(torch, case) == pytest.approx(ANSWERS[case], rel=tolerance)
