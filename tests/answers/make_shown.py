"""Record what real torch gives in tests/nn/shown_cases.py, in shown.json. Run with a Python that has torch 2.13:

    python tests/answers/make_shown.py
"""
import json
import pathlib
import sys
import warnings

import torch
import torch.nn.utils.fusion
import torch.nn.utils.prune
import torch.optim.swa_utils  # noqa: F401

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "nn"))
from shown_cases import cases  # noqa: E402


def main():
    warnings.simplefilter("ignore")
    shown = []
    answers = {}
    for name, case in cases(torch, shown).items():
        shown.clear()
        case()
        answers[name] = list(shown)
    (HERE / "shown.json").write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
