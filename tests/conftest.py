"""Options of the test suite."""


def pytest_addoption(parser):
    parser.addoption("--live-torch", action="store_true",
                     help="compare the op table with the real torch that is installed beside shimtorch")
