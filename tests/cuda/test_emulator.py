"""The emulator finds the mistakes that it is there to find; each is made on purpose by tests/cudaemu/faults.cpp."""
import os
import pathlib
import subprocess

import pytest

import shimtorch as torch


def faults_program(name):
    """A program beside the emulator that this process uses; None on a real device."""
    if not torch.cuda.is_available() or torch.cuda.get_device_name() != "Host emulator":
        return None
    with open("/proc/self/maps") as maps:
        library = next(line.split()[-1] for line in maps if "libcudart" in line)
    program = pathlib.Path(library).parent / name
    return program if program.exists() else None


def run(fault, program="faults", **settings):
    program = faults_program(program)
    if program is None:
        pytest.skip("needs the emulator and its program of faults")
    done = subprocess.run([program, fault], capture_output=True, text=True, cwd=program.parent,
                          env={**{k: v for k, v in os.environ.items() if not k.startswith("SHIMEMU_")}, **settings})
    return done.returncode, done.stdout.strip(), done.stderr


def test_no_fault():
    assert run("no_fault") == (0, "256", "")
    modes = dict.fromkeys(("SHIMEMU_LAZY", "SHIMEMU_PROTECT", "SHIMEMU_CANARY"), "1")
    assert run("no_fault", SHIMEMU_SEED="3", **modes) == (0, "256", "")


def test_missing_barrier_gives_a_wrong_sum():
    assert run("missing_barrier")[1] != "256"


def test_barriers_that_do_not_meet_are_named():
    assert "different barriers" in run("divergent_barrier")[2]


def test_a_warp_mask_with_an_absent_lane_is_named():
    assert "a warp mask names a lane" in run("absent_lane")[2]


def test_the_host_cannot_read_device_memory():
    assert run("host_read", SHIMEMU_PROTECT="1")[0] < 0
    assert run("host_read")[0] == 0            # found in that mode only


def test_too_large_a_block():
    assert run("large_block")[1] == "cudaErrorInvalidConfiguration"


def test_writing_behind_a_block():
    assert "behind a block of 256" in run("behind_a_block", SHIMEMU_CANARY="1")[2]
    assert run("behind_a_block", SHIMEMU_CANARY="1", SHIMEMU_STRICT="1")[0] < 0


def test_a_missing_wait_between_streams():
    assert run("missing_wait", SHIMEMU_LAZY="1")[1] == "0"
    assert run("missing_wait")[1] == "5"       # found in that mode only


def test_reading_pinned_memory_too_early():
    assert run("early_pinned_read", SHIMEMU_LAZY="1")[1] == "-1"


def test_copies_beyond_a_block():
    code, out, err = run("copy_beyond")
    assert out == "cudaErrorInvalidValue" and "leaves its block" in err


def test_no_memory():
    assert run("no_memory")[1] == "cudaErrorMemoryAllocation"
