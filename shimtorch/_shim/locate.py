"""Where the source of a program is, without importing any of it."""

import os
import sys
from importlib.machinery import PathFinder
from typing import NamedTuple


class NotFound(Exception):
    """There is no such script or module; the text is what ``python`` would say."""


class Located(NamedTuple):
    """A program's file and the folder that becomes ``sys.path[0]``; modules in it and below are the program's own."""

    file: str
    folder: str


def script(path):
    """The file of a script, or of the ``__main__.py`` in a folder. Raises NotFound."""
    file = os.path.join(path, "__main__.py") if os.path.isdir(path) else path
    try:
        open(file, "rb").close()
    except OSError as error:
        raise NotFound(f"can't open file '{os.path.abspath(file)}': [Errno {error.errno}] {error.strerror}") from None
    return Located(os.path.abspath(file), os.path.dirname(os.path.realpath(file)))


def module(name):
    """The file that ``python -m name`` would run from here; None where only an import of its package could tell."""
    folder = os.getcwd()
    path = [folder, *sys.path[1:]]
    spec = None
    for part in _prefixes(name):
        spec = PathFinder.find_spec(part, path)
        if spec is None:
            return Located(None, folder)
        path = spec.submodule_search_locations
    if path is not None:
        spec = PathFinder.find_spec(name + ".__main__", path)
    return Located(spec.origin if spec is not None and spec.has_location else None, folder)


def _prefixes(name):
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts) + 1)]


def enter(folder):
    """Make a folder ``sys.path[0]``, as Python does for the program it runs; child processes still find shimtorch."""
    if getattr(sys.flags, "safe_path", False):
        return
    home = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    replaced, sys.path[0] = sys.path[0], folder
    if os.path.realpath(replaced or os.curdir) == os.path.realpath(home) and home not in sys.path:
        sys.path.append(home)


def shown(path):
    """A path as short as it can be written: relative to the current folder if it lies there."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # on another drive
        return path
    return path if relative.startswith(os.pardir) else relative
