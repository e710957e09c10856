"""The ``shimtorch`` command: ``run``, ``report``, ``env``. ``python -m shimtorch`` is the same."""

import argparse
import sys

from .._eras.detect import ERAS

_RUN = """\
Run a script or module as Python would, with `import torch` giving shimtorch.

The era, the PyTorch version whose behaviour the program gets, is: --era, else the environment variable SHIMTORCH_ERA,
else what the source of the program and of the modules beside it shows. One line on stderr says which, and by which line
of the source.
`async=True`, which no longer parses, is read as `non_blocking=True`. Names that Python, NumPy and Pillow have given up
since then (`np.int`, `collections.Iterable`, `time.clock` ...) stand for what has taken their place."""

_REPORT = """\
List the torch names that a script and the modules beside it use, and which of them shimtorch lacks.

Names are followed through imports (`import torch.nn as nn`, `from torch import optim`). Methods that neither tensors
nor modules have are listed apart: they may belong to something else. The exit status is 1 if a name of torch is
missing."""

_ENV = "Show the versions, libraries and build options that matter for a bug report."


def main(argv=None):
    """Run the command with arguments `argv` (those of the process); returns the exit status."""
    argv = sys.argv[1:] if argv is None else list(argv)
    parser = _parser()
    rest = []
    if argv[:1] == ["run"]:
        argv, rest = _split(argv)
    options = parser.parse_args(argv)
    if options.command is None:
        parser.print_help()
        return 0
    return options.command(options, rest)


def _split(argv):
    """The arguments of ``run`` up to the script or module, and those after it, which are the program's own."""
    index = 1
    while index < len(argv):
        word = argv[index]
        if word == "--era":
            index += 2
        elif word == "-m":
            return argv[: index + 2], argv[index + 2 :]
        elif word == "--":
            return argv[:index] + argv[index + 1 : index + 2], argv[index + 2 :]
        elif word.startswith("-") and word != "-":
            index += 1
            if word.startswith("-m"):
                return argv[:index], argv[index:]
        else:
            return argv[: index + 1], argv[index + 1 :]
    return argv, []


def _parser():
    description = "PyTorch's API without PyTorch: run what says `import torch`."
    parser = argparse.ArgumentParser(prog="shimtorch", description=description)
    parser.add_argument("--version", action=_Version, help="show the version, and the PyTorch version it answers for")
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(title="commands", metavar="")

    run = _command(commands, "run", "run a script or module with shimtorch as torch", _RUN, _run)
    run.usage = "shimtorch run [--era ERA] [--quiet] [--py2] (SCRIPT | -m MODULE) [ARGUMENT ...]"
    run.add_argument("--era", choices=ERAS, help="behave as this PyTorch version")
    run.add_argument("-q", "--quiet", action="store_true", help="do not say which era was chosen")
    run.add_argument("--py2", action="store_true", help="translate Python 2 statements (print, except E, e, ...) first")
    target = run.add_mutually_exclusive_group(required=True)
    target.add_argument("script", nargs="?", metavar="SCRIPT", help="file to run; what follows is its own")
    target.add_argument("-m", dest="module", metavar="MODULE", help="module to run as `python -m`, in the same way")

    report = _command(commands, "report", "what a script asks of torch, and what of it is missing", _REPORT, _report)
    report.add_argument("--era", choices=ERAS, help="look the names up in this era")
    report.add_argument("-a", "--all", action="store_true", help="list the names that are there as well")
    report.add_argument("script", metavar="SCRIPT")

    _command(commands, "env", "versions and build options", _ENV, _env)
    return parser


def _command(commands, name, summary, text, function):
    parser = commands.add_parser(name, help=summary, description=text)
    parser.set_defaults(command=function)
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings, dest, help):
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        from .environment import version_line

        print(version_line())
        parser.exit()


def _run(options, arguments):
    from .runner import Program

    module = options.module is not None
    target = options.module if module else options.script
    return start(Program(target, module, options.era, options.py2, options.quiet), arguments)


def start(program, arguments):
    """Run a program and return the exit status of this process, also if there is no such program."""
    from . import locate, runner

    try:
        return runner.run(program, arguments)
    except locate.NotFound as error:
        print(f"shimtorch: {error}", file=sys.stderr)
        return 1 if program.is_module else 2  # as Python does


def _report(options, _):
    from .report import main as report

    try:
        return report(options.script, options.era, options.all)
    except OSError as error:
        print(f"shimtorch: can't open file '{options.script}': [Errno {error.errno}] {error.strerror}", file=sys.stderr)
        return 2


def _env(_, __):
    from .environment import lines

    print("\n".join(lines()))
    return 0
