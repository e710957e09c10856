"""The tests: those of shimtorch/x are in tests/x.

They test the shimtorch that is installed, or that was built in place. pytest puts the clone on sys.path, whose own
shimtorch/ has no compiled modules as a rule: so the installed one is imported first, past it.
"""
import importlib
import pathlib
import sys
from importlib.machinery import EXTENSION_SUFFIXES

CLONE = pathlib.Path(__file__).resolve().parent.parent


def import_installed():
    """Import shimtorch, from the clone only if it was built in place."""
    path = sys.path[:]
    if not any((CLONE / "shimtorch" / "_core" / f"tensor{suffix}").exists() for suffix in EXTENSION_SUFFIXES):
        sys.path[:] = [folder for folder in path if pathlib.Path(folder).resolve() != CLONE]
    try:
        importlib.import_module("shimtorch")
    finally:
        sys.path[:] = path


import_installed()
