"""How fast: the same user-level code on shimtorch and, where it is installed, on torch.

    python -m bench                     all groups, a table of times, of ratios to torch and their geometric means
    python -m bench --help              groups, single cases, threads, processor time, JSON
    python -m bench.imports             whether importing costs no more than it may
    python -m bench.memory              whether a million training steps hold memory flat
    python -m bench.peak                how much memory a training step takes
"""
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

CLONE = Path(__file__).resolve().parent.parent
BUILT_IN_PLACE = any((CLONE / "shimtorch" / "_core" / f"tensor{suffix}").exists() for suffix in EXTENSION_SUFFIXES)

if not BUILT_IN_PLACE:                # the clone's shimtorch/ would hide the installed one
    sys.path[:] = [folder for folder in sys.path if Path(folder).resolve() != CLONE]
