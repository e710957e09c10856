"""The kernel tests again, with every instruction set below the best one that this processor has."""

import os
import pathlib
import subprocess
import sys

import pytest

from shimtorch._kernels import probe

HERE = pathlib.Path(__file__).parent
LEVELS = ("baseline", "x86-64-v3", "x86-64-v4")
SUITES = sorted(
    p for pattern in ("test_pointwise_*.py", "test_reduce.py", "test_rows.py", "test_gemm.py")
    for p in HERE.glob(pattern) if p.name != pathlib.Path(__file__).name
)  # fmt: skip


def python(*args, **environment):
    return subprocess.run(
        [sys.executable, *args], env={**os.environ, **environment}, capture_output=True, text=True, check=False,
        cwd=HERE,                        # not where the sources would hide an installed package
    )


def chosen(level):
    code = "from shimtorch._kernels.probe import isa; print(isa())"
    return python("-c", code, SHIMTORCH_ISA=level).stdout.strip()


def test_choice():
    assert probe.isa() in LEVELS
    assert chosen("baseline") == "baseline"
    best = chosen("no such level")
    # a level the processor lacks is not taken
    assert LEVELS.index(chosen("x86-64-v4")) <= LEVELS.index(best)


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS[:-1])
def test_every_suite(level):
    if "SHIMTORCH_ISA" in os.environ or chosen(level) != level or probe.isa() == level:
        pytest.skip(f"{level} is the one in use, or not to be had")
    run = python("-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *map(str, SUITES), SHIMTORCH_ISA=level)
    assert run.returncode == 0, run.stdout[-3000:]
