"""pytest plugin: ``import torch`` gives shimtorch in a test run.

``pytest --shimtorch``, or ``shimtorch = true`` in the configuration file, installs the alias before any conftest or
test is imported; ``--shimtorch-era 0.3`` (``shimtorch_era``) runs everything in that era. Without the option, the
marker ``@pytest.mark.shimtorch(era="0.3")`` installs it around a test with its fixtures, and the fixture
`shimtorch_as_torch` from its set-up on.

This file is installed as a module beside the package, not in it, for pytest imports its plugins in every run, and
shimtorch only when asked to.
"""

from contextlib import ExitStack

import pytest

_STACK = pytest.StashKey()


def pytest_addoption(parser):
    group = parser.getgroup("shimtorch")
    group.addoption("--shimtorch", action="store_true", help="let `import torch` give shimtorch in the whole run")
    group.addoption("--shimtorch-era", metavar="ERA", help="behave as this PyTorch version (0.3); implies --shimtorch")
    parser.addini("shimtorch", "let `import torch` give shimtorch in the whole run", type="bool", default=False)
    parser.addini("shimtorch_era", "behave as this PyTorch version with --shimtorch", default=None)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config):
    options = early_config.known_args_namespace
    if options.shimtorch or options.shimtorch_era or early_config.getini("shimtorch"):
        stack = early_config.stash[_STACK] = ExitStack()
        early_config.add_cleanup(stack.close)
        try:
            _enter(stack, options.shimtorch_era or early_config.getini("shimtorch_era") or None)
        except (RuntimeError, ValueError) as error:
            raise pytest.UsageError(str(error)) from error


def pytest_configure(config):
    config.addinivalue_line("markers", "shimtorch(era=None): `import torch` gives shimtorch in this test, in this era")


def pytest_report_header(config):
    if _STACK in config.stash:
        from shimtorch._shim.environment import version_line

        return f"torch: {version_line()}"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    mark = item.get_closest_marker("shimtorch")
    if mark is not None:
        item.stash[_STACK] = ExitStack()
        _enter(item.stash[_STACK], *mark.args, **mark.kwargs)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item):
    if _STACK in item.stash:
        item.stash[_STACK].close()
        del item.stash[_STACK]


@pytest.fixture
def shimtorch_as_torch():
    """The module that ``import torch`` gives until the test is over: shimtorch."""
    with ExitStack() as stack:
        _enter(stack)
        import shimtorch

        yield shimtorch


def _enter(stack, era=None):
    import shimtorch
    from shimtorch._shim.alias import installed

    stack.enter_context(installed())
    if era is not None:
        stack.enter_context(shimtorch.era(era))
