"""Runs a script or module as ``__main__`` with shimtorch as torch, in the era it was written for.

To the program all is as with ``python script.py`` or ``python -m module``: ``sys.argv``, ``sys.path[0]``,
``__file__``, ``__package__``, exit status, tracebacks. Only ``__main__.__spec__`` differs: it names
`shimtorch._shim.rerun`, by which processes that ``multiprocessing`` spawns, and launchers that start the program
anew, find it again with the alias in place.
"""

import builtins
import json
import os
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType, TracebackType
from typing import NamedTuple

from .._eras import detect, rewrite
from . import alias, former_names, locate
from .names import BorrowedSpec
from .neighbours import rewrite_imports

RERUN = "shimtorch._shim.rerun"
_ENVIRONMENT = "SHIMTORCH_RUN"
_OURS = tuple(
    os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), *parts)
    for parts in (("_shim", ""), ("_eras", "rewrite.py"), ("_eras", "python2.py"), ("_eras", "source.py"))
)


class Program(NamedTuple):
    """What to run: a script's path or a module's name; the era, or None to read it from the source."""

    target: str
    is_module: bool = False
    era: str | None = None
    py2: bool = False
    quiet: bool = False


def run(program, argv):
    """Run a program with arguments `argv` in this process; returns its exit status.

    SystemExit and KeyboardInterrupt pass through; `locate.NotFound` is raised before anything of it has run.
    """
    where = locate.module(program.target) if program.is_module else locate.script(program.target)
    era = _choose_era(program, where)
    target = program.target if program.is_module else os.path.abspath(program.target)
    os.environ[_ENVIRONMENT] = json.dumps([program._replace(target=target, era=era, quiet=True), where])
    locate.enter(where.folder)
    sys.argv[:] = [program.target, *argv]
    main = sys.modules["__main__"] = ModuleType("__main__")
    try:
        _execute(program._replace(era=era), where, main.__dict__)
    except (SystemExit, locate.NotFound):
        raise
    except BaseException as error:
        return _report(error)
    return 0


def rerun(namespace):
    """Run the program that this process belongs to in `namespace`, which ``multiprocessing`` makes its ``__main__``."""
    program, where = of_environment()
    name = namespace["__name__"]
    namespace.clear()
    namespace["__name__"] = name
    _execute(program, where, namespace)


def of_environment():
    """The program that this process belongs to, and where it is, as its parent left word; SystemExit if it did not."""
    text = os.environ.get(_ENVIRONMENT)
    if text is None:
        raise SystemExit(f"shimtorch: {RERUN} runs only in programs started by `shimtorch run`")
    program, where = json.loads(text)
    return Program(*program), locate.Located(*where)


def _choose_era(program, where):
    """The era from the command line, the environment or the source, in this order; says so on stderr."""
    named = os.environ.get("SHIMTORCH_ERA")
    if program.era:
        era, reason = program.era, f"era {program.era} (--era)"
    elif named:
        era, reason = named, f"era {named} (SHIMTORCH_ERA)"
    elif where.file is None:
        era, reason = "modern", "era modern: no source was found to read it from"
    else:
        choice = detect.choose(where.file, where.folder)
        era, reason = choice.era, str(choice._replace(file=locate.shown(choice.file)))
    if not program.quiet:
        print(f"shimtorch: {reason}", file=sys.stderr)
        if program.py2 and where.file:
            _warn_of_division(where.file)
    return era


def _warn_of_division(file):
    from .._eras import python2, source

    line = python2.divides(source.read(file))
    if line is not None:
        print(f"shimtorch: `/` divides integers as in Python 3, first in {locate.shown(file)}:{line}", file=sys.stderr)


def _execute(program, where, namespace):
    """Set the stage and execute the program's code in `namespace`, whose ``__name__`` is set."""
    import shimtorch

    shimtorch.era(program.era)
    alias.install()
    former_names.restore()
    rewrite_imports(where.folder, program.py2)
    if program.is_module:
        file, package, loader, code = _module_code(program.target)
        sys.argv[0] = file
    else:
        file, package, loader = where.file, "", SourceFileLoader("__main__", where.file)
        code = rewrite.compile_source(loader.get_data(file), file, program.py2)
    namespace.update(
        __doc__=None, __file__=file, __cached__=None, __builtins__=builtins, __loader__=loader,
        __package__=package if program.is_module else None, __spec__=BorrowedSpec(RERUN, loader, package, file),
    )
    exec(code, namespace)


def _module_code(name):
    """File, package, loader and code of the module that ``python -m name`` runs."""
    from importlib.util import find_spec

    try:
        spec = find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name += ".__main__"
            spec = find_spec(name)
    except ModuleNotFoundError as error:
        if not name.startswith(error.name or "?"):
            raise
        spec = None
    code = spec.loader.get_code(name) if spec is not None and hasattr(spec.loader, "get_code") else None
    if code is None:
        raise locate.NotFound(f"No module named {name}")
    return spec.origin, spec.parent, spec.loader, code


def _report(error):
    """Show an exception as Python does when a program ends by one; returns the exit status."""
    _hide_own_frames(error)
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, error.__traceback__
    sys.last_exc = error
    sys.excepthook(type(error), error, error.__traceback__)
    if isinstance(error, KeyboardInterrupt):  # Python ends the process by the signal itself
        sys.excepthook = lambda *shown: None
        raise error
    return 1


def _hide_own_frames(error):
    """Take this package's and the import system's frames out of the tracebacks of an exception and those behind it."""
    errors, seen = [error], set()
    while errors:
        error = errors.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            error.__traceback__ = _without_own_frames(error.__traceback__)
            errors += error.__cause__, error.__context__


def _without_own_frames(entry):
    frames, shown = [], None
    while entry is not None:
        frames.append(entry)
        entry = entry.tb_next
    for entry in reversed(frames):
        if not entry.tb_frame.f_code.co_filename.startswith((*_OURS, "<frozen importlib")):
            shown = TracebackType(shown, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return shown
