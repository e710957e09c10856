"""Record what real torch 2.13 gives in tests/_core/override_cases.py, in overrides.json. Run with its Python:

    python tests/answers/make_overrides.py
"""
import json
import pathlib
import sys
import warnings

import torch

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "_core"))
from override_cases import cases  # noqa: E402


def main():
    warnings.simplefilter("ignore")
    shown = []
    answers = {}
    for name, case in cases(torch, shown).items():
        shown.clear()
        case()
        answers[name] = list(shown)
    (HERE / "overrides.json").write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
