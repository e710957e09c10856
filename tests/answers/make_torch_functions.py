"""Records torch_functions.json from PyTorch 2.13: ``python make_torch_functions.py``."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "nn")]

import torch  # noqa: E402
import torch_function_cases as cases  # noqa: E402
from recorded import write  # noqa: E402

write(os.path.join(HERE, "torch_functions.json"), {case: cases.run(torch, case) for case in cases.CASES})
