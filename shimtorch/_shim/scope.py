"""The alias for named packages only: the importing module decides what ``import torch`` gives.

The ``import`` statement calls ``builtins.__import__`` with the globals of the importing module. While a scope is in
place, that function is wrapped: for a module whose ``__name__`` lies in a named package, ``torch`` is read as
``shimtorch``; every other import passes through unchanged. ``"__main__"`` is a valid scope.

Limits: only ``import`` statements and calls of ``__import__`` are seen. ``importlib.import_module("torch")``,
``sys.modules["torch"]``, ``importlib.metadata`` and imports made by compiled code find what they found before, and
modules that have bound another torch keep it.
"""

import builtins
from collections import Counter

from .names import as_alias, as_own, is_alias

_packages = Counter()
_original = builtins.__import__
_in_place = False


def add(scope):
    """Count one more use of each package in `scope` (a name or several)."""
    global _original, _in_place
    _packages.update(_names(scope))
    if not _in_place:
        _original, builtins.__import__ = builtins.__import__, _scoped_import
        _in_place = True


def remove(scope):
    """Take back one `add` of the same scope, with the last ``builtins.__import__``. RuntimeError if there was none."""
    global _in_place
    names = _names(scope)
    missing = [name for name in names if not _packages[name]]
    if missing:
        raise RuntimeError(f"shimtorch is not installed as torch for {', '.join(missing)}")
    _packages.subtract(names)
    for name in names:
        if not _packages[name]:
            del _packages[name]
    if not _packages and builtins.__import__ is _scoped_import:  # one that is wrapped stays, and changes nothing
        builtins.__import__ = _original
        _in_place = False


def _names(scope):
    names = [scope] if isinstance(scope, str) else list(scope)
    if not names or not all(isinstance(name, str) and name for name in names):
        raise ValueError(f"scope must name packages, got {scope!r}")
    return names


def _in_scope(importer):
    while importer:
        if importer in _packages:
            return True
        importer = importer.rpartition(".")[0]
    return False


def _scoped_import(name, globals=None, locals=None, fromlist=(), level=0):
    if level or not globals or not is_alias(name) or not _in_scope(globals.get("__name__")):
        return _original(name, globals, locals, fromlist, level)
    try:
        return _original(as_own(name), globals, locals, fromlist, 0)
    except ModuleNotFoundError as error:
        if error.name != as_own(name):
            raise
        message = f"No module named '{as_alias(error.name)}': shimtorch has no such module (yet)"
        raise ModuleNotFoundError(message, name=as_alias(error.name)) from None
