"""Records distributions.json from PyTorch 2.13: ``python make_distributions.py``."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "distributions")]

import distribution_cases as cases  # noqa: E402
import torch  # noqa: E402
import torch.distributions  # noqa: E402
from recorded import write  # noqa: E402

write(os.path.join(HERE, "distributions.json"),
      {f"{kind} {case}": cases.run(torch, kind, case) for kind, case in cases.CASES})
