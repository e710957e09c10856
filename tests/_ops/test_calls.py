"""Calls against recorded answers of PyTorch 2.13: values, gradients, types and words of errors."""

import json
import sys
from pathlib import Path

import pytest

import shimtorch as torch

ANSWERS = Path(__file__).parents[1] / "answers"
sys.path[:0] = [str(ANSWERS), str(Path(__file__).parent)]

import call_cases  # noqa: E402
from recorded import difference  # noqa: E402

RECORDED = json.loads((ANSWERS / "calls.json").read_text(encoding="utf-8"))


def as_torch(value):
    return json.loads(json.dumps(value).replace("shimtorch.", "torch."))


@pytest.mark.parametrize("case", call_cases.CASES)
def test_call(case):
    got = as_torch(call_cases.run(torch, case))
    expected = RECORDED[case]
    if "error" in expected:            # of a list of forms, the first line says what was wrong
        for answer in (expected, got):
            answer["message"] = answer["message"].split("\n")[0]
    assert difference(expected, got) is None
