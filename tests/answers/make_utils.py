"""Records utils_data.json from PyTorch 2.13, and utils_data_1.1.json from 1.1: ``python make_utils.py`` with each."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "utils")]

import data_cases  # noqa: E402
import torch.utils.data  # noqa: E402
from recorded import write  # noqa: E402

if torch.__version__.startswith("2"):
    write(os.path.join(HERE, "utils_data.json"), {c: data_cases.run(torch, c) for c in data_cases.CASES})
else:
    torch.utils.data.IterableDataset = torch.utils.data.Dataset
    name = f"utils_data_{torch.__version__[:3]}.json"
    write(os.path.join(HERE, name), {c: data_cases.run(torch, c) for c in data_cases.SHUFFLED})
