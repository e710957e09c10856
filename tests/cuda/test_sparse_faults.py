"""The emulator of cuSPARSE finds wrong calls; each is made on purpose by tests/cudaemu/sparse_faults.cpp."""
import pytest

from .test_emulator import run as run_fault


def run(fault, **settings):
    return run_fault(fault, program="sparse_faults", **settings)


def test_no_fault():
    assert run("no_fault") == (0, "CUSPARSE_STATUS_SUCCESS\n6 8 3 6", "")
    assert run("no_fault", SHIMEMU_LAZY="1", SHIMEMU_PROTECT="1", SHIMEMU_CANARY="1") == (
        0, "CUSPARSE_STATUS_SUCCESS\n6 8 3 6", "")
    assert run("product_in_order") == (0, "CUSPARSE_STATUS_SUCCESS", "")


@pytest.mark.parametrize("fault, said", [
    ("no_buffer", "roomy(buffer"), ("small_buffer", "roomy(buffer"), ("host_buffer", "roomy(buffer"),
    ("host_values", "there(*a)"), ("unaligned", "there(*a)"), ("short_dense", "there(*b)"),
    ("null_columns", "indices && values"), ("wrong_sizes", "a->columns == b->rows"), ("dead_descriptor", "alive(b)"),
    ("device_scalars", "!is_device(alpha"), ("product_without_estimate", "product->stage"),
])
def test_invalid_values(fault, said):
    status, answer, message = run(fault)
    assert status == 0 and answer == "CUSPARSE_STATUS_INVALID_VALUE" and said in message
    assert run(fault, SHIMEMU_STRICT="1")[0] < 0


@pytest.mark.parametrize("fault", ["mixed_indices", "transposed"])
def test_what_is_not_supported(fault):
    assert run(fault)[1] == "CUSPARSE_STATUS_NOT_SUPPORTED"


def test_an_index_outside_is_named():
    assert "a column index is outside of the matrix" in run("outside")[2]


def test_a_missing_wait_between_streams():
    assert run("missing_wait", SHIMEMU_LAZY="1")[1] == "-1 -1 -1 -1"
    assert run("missing_wait")[1] == "6 8 3 6"       # found in that mode only
