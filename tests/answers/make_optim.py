"""Records optim_steps.json and optim_schedules.json from PyTorch 2.13, and the same with 1.1 and 1.0 in their names
from those versions: ``python make_optim.py`` with each of them."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "optim")]

import optim_cases  # noqa: E402
import schedule_cases  # noqa: E402
import torch  # noqa: E402
from recorded import write  # noqa: E402

version = torch.__version__
if version.startswith("2"):
    write(os.path.join(HERE, "optim_steps.json"), {c: optim_cases.run(torch, c) for c in optim_cases.CASES})
    answers = {c: schedule_cases.run(torch, c) for c in schedule_cases.CASES}
    write(os.path.join(HERE, "optim_schedules.json"), answers)
else:
    first = version.startswith("1.0")
    if not first:
        answers = {c: optim_cases.run(torch, c, steps_only=True) for c in optim_cases.OLD}
        write(os.path.join(HERE, "optim_steps_1.1.json"), answers)
    answers = {c: schedule_cases.run(torch, c, scheduler_first=first, rates_only=True) for c in schedule_cases.OLD}
    write(os.path.join(HERE, f"optim_schedules_{version[:3]}.json"), answers)
