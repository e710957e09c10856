"""Records the nn_*.json from PyTorch 2.13: ``python make_nn.py [name ...]``, all of them or those named."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "nn")]

import functional_cases  # noqa: E402
import init_cases  # noqa: E402
import layer_cases  # noqa: E402
import lazy_cases  # noqa: E402
import module_cases  # noqa: E402
import parametrize_cases  # noqa: E402
import torch  # noqa: E402
import training_cases  # noqa: E402
from recorded import write  # noqa: E402

CASES = {
    "functional": functional_cases,
    "layers": layer_cases,
    "lazy": lazy_cases,
    "init": init_cases,
    "modules": module_cases,
    "parametrize": parametrize_cases,
    "training": training_cases,
}

for name in sys.argv[1:] or CASES:
    module = CASES[name]
    write(HERE / f"nn_{name}.json", {case: module.run(torch, case) for case in module.CASES})
