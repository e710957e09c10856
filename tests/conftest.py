"""Options of the test suite, and the tests that are expected to fail."""
import pathlib

from .gaps import mark_gaps


def pytest_addoption(parser):
    parser.addoption("--live-torch", nargs="?", const=True, metavar="WORD",
                     help="compare the op table with the real torch that is installed beside shimtorch")


def pytest_collection_modifyitems(items):
    mark_gaps(pathlib.Path(__file__).parent, items)
