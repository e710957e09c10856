"""Records calls.json from PyTorch 2.13: ``python make_calls.py``."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "_ops")]

import call_cases  # noqa: E402
import torch  # noqa: E402
import torch.masked  # noqa: E402
import torch.signal  # noqa: E402
from recorded import write  # noqa: E402

write(HERE / "calls.json", {case: call_cases.run(torch, case) for case in call_cases.CASES})
