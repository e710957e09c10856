"""The command line around ``run``: arguments, help, versions."""

import pytest

from shimtorch._shim.cli import _parser, _split, main


@pytest.mark.parametrize("argv, ours, program", [
    ("run a.py --era 3", "run a.py", "--era 3"),
    ("run --era 0.3 a.py -q", "run --era 0.3 a.py", "-q"),
    ("run --era=0.3 -q --py2 a.py", "run --era=0.3 -q --py2 a.py", ""),
    ("run -q -m pkg.mod -m x", "run -q -m pkg.mod", "-m x"),
    ("run -mpkg.mod -q", "run -mpkg.mod", "-q"),
    ("run -q -- a.py -- b", "run -q a.py", "-- b"),
    ("run --help", "run --help", ""),
    ("run --era", "run --era", ""),
    ("run -m", "run -m", ""),
    ("run", "run", ""),
])
def test_split(argv, ours, program):
    assert _split(argv.split()) == (ours.split(), program.split())


@pytest.mark.parametrize("argv", [
    "run", "run -m", "run --era 0.3", "run --era 9 a.py", "run --no-such a.py", "nonsense", "report",
])
def test_usage_errors(argv, capsys):
    with pytest.raises(SystemExit) as info:
        main(argv.split())
    assert info.value.code == 2 and "usage: shimtorch" in capsys.readouterr().err


@pytest.mark.parametrize("argv, expected", [
    ([], "commands:"), (["--help"], "commands:"), (["run", "--help"], "SHIMTORCH_ERA"),
    (["report", "-h"], "exit status"), (["env", "-h"], "bug report"),
])
def test_help(argv, expected, capsys):
    try:
        assert main(argv) == 0
    except SystemExit as exit:
        assert exit.code == 0
    assert expected in capsys.readouterr().out


def test_every_option_has_help():
    for action in _parser()._subparsers._group_actions[0].choices.values():
        assert action.description and all(option.help for option in action._actions if option.option_strings)


def test_version(python):
    from shimtorch._version import __version__

    done = python("-m", "shimtorch", "--version", env={"SHIMTORCH_ERA": "0.4"})
    assert (done.code, done.out, done.err) == (0, f"shimtorch {__version__} (torch 0.4.0)\n", "")


def test_env(python):
    done = python("-m", "shimtorch", "env")
    facts = {line.split("  ")[0]: line.split("  ", 1)[1].strip() for line in done.out.splitlines()}
    assert list(facts) == [
        "shimtorch", "from", "era", "Python", "platform", "NumPy", "SciPy", "ml_dtypes", "threadpoolctl", "BLAS",
        "threads", "kernels", "CUDA",
    ]
    assert facts["era"] == "modern" and not [fact for fact in facts.values() if fact.startswith("unknown")]


def test_env_says_what_it_could_not_find_out(check):
    check("""
        import shimtorch._kernels.table as table
        from shimtorch._shim.environment import lines
        del table.isa
        assert any(line.startswith("kernels        unknown: ImportError: ") for line in lines())
    """)


def test_env_does_not_import_scipy(check):
    check("""
        import sys
        from shimtorch._shim.environment import lines
        lines()
        assert "scipy" not in sys.modules
    """)
