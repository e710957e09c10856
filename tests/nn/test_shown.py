"""Layers, tools and optimizers give what real torch 2.13 gave: the same text, and numbers that are close."""
import json
import math
import pathlib
import re

import pytest
import shown_cases

import shimtorch as torch
import shimtorch.nn.utils.fusion
import shimtorch.nn.utils.prune
import shimtorch.optim.swa_utils  # noqa: F401

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "shown.json").read_text())
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]\d+)?")


@pytest.mark.parametrize("name", ANSWERS)
@pytest.mark.filterwarnings("ignore")          # of names that torch deprecates as well
def test_shown(name):
    shown = []
    shown_cases.cases(torch, shown)[name]()
    assert len(shown) == len(ANSWERS[name])
    for got, want in zip(shown, ANSWERS[name]):
        assert NUMBER.sub("", got).split() == NUMBER.sub("", want).split()
        for a, b in zip(NUMBER.findall(got), NUMBER.findall(want), strict=True):
            assert math.isclose(float(a), float(b), rel_tol=2e-3, abs_tol=2e-4), (got, want)
