"""The eras by name, and a decorator for tests whose expected value differs between them."""

import pytest

ERAS = ("0.3", "0.4", "1.0", "1.1", "1.11", "modern")
SINCE_0_4 = ERAS[1:]
SINCE_1_0 = ERAS[2:]


def era_of_version(version):
    """The era of a PyTorch version string, or None for a version between the eras."""
    numbers = version.split(".")
    if int(numbers[0]) >= 2:
        return "modern"
    name = ".".join(numbers[:2])
    return name if name in ERAS else None


def by_era(expected):
    """Run a test `(torch, expected)` in the eras of a dict from eras, separated by spaces, to the expected value."""
    cases = [(era, value) for eras, value in expected.items() for era in eras.split()]
    unknown = {era for era, _ in cases} - set(ERAS)
    assert not unknown, f"no such era: {unknown}"
    return pytest.mark.parametrize("torch, expected", cases, indirect=["torch"], ids=[era for era, _ in cases])
