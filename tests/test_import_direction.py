"""Imports run one way: mirror -> _ops -> _core -> _kernels, which know nothing of ours (docs/architecture.md).

What a function imports when it is called is free to look up, except in _kernels.
"""
import ast
import importlib.util
import pathlib
import re

import pytest

BESIDE = pathlib.Path(__file__).parent.parent / "shimtorch"        # the sources, which a wheel leaves out in part
ROOT = BESIDE if BESIDE.is_dir() else pathlib.Path(importlib.util.find_spec("shimtorch").origin).parent

# What each lower room may import when it is imported itself. All others are the mirror, which may import them all.
ALLOWED = {
    "_kernels": set(),
    "_core": {"_kernels"},
    "_tensor": {"_core"},
    "_typed": {"_core", "_tensor"},
    "_storages": {"_core", "_tensor"},
    "_copying": {"_core", "_tensor", "_storages"},
    "_ops": {"_core", "_kernels", "_tensor", "_storages", "_typed"},
    "_eras": {"_core", "_tensor", "autograd"},
}
CIMPORT = re.compile(r"^( *)(?:from (\.+)([\w.]*) c?import \(?([\w, ]*)|c?import ([\w.]+))", re.M)


def room_of(path):
    """The room of a file, and its package as a tuple."""
    parts = ("shimtorch", *path.relative_to(ROOT).with_suffix("").parts)
    return parts[1], parts[:-1]


def rooms_of(package, level, module, names):
    """The rooms that ``from {level dots}{module} import {names}`` in a package imports."""
    target = package[: len(package) - level + 1] if level else ()
    target = (*target, *module.split(".")) if module else target
    if target == ("shimtorch",):
        return set(names)
    return {target[1]} if target[:1] == ("shimtorch",) else set()


def statements(body):
    """The import statements that run when a module is imported."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for field in ("body", "orelse", "finalbody", "handlers"):
                yield from statements(getattr(node, field, ()))


def python_imports(path):
    """The rooms that a Python file imports when it is imported."""
    _, package = room_of(path)
    for node in statements(ast.parse(path.read_text()).body):
        names = [alias.name for alias in node.names]
        if isinstance(node, ast.ImportFrom):
            yield from rooms_of(package, node.level, node.module, names)
        else:
            for name in names:
                yield from rooms_of(package, 0, name, ())


def cython_imports(path):
    """The rooms that a Cython file imports or cimports when it is imported."""
    _, package = room_of(path)
    for indent, dots, module, names, absolute in CIMPORT.findall(path.read_text()):
        if not indent:
            yield from rooms_of(package, len(dots), module or absolute, [n.strip() for n in names.split(",")])


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_rooms_import_only_those_below(room):
    wrong = []
    for path in sorted(ROOT.rglob("*")):
        imports = {".py": python_imports, ".pyx": cython_imports, ".pxd": cython_imports}.get(path.suffix)
        if imports is not None and room_of(path)[0] == room:
            wrong += [f"{path.relative_to(ROOT)} imports {target}" for target in sorted(set(imports(path)))
                      if target not in ALLOWED[room] | {room, "__init__"}]
    assert not wrong


def test_kernels_import_nothing_of_ours_at_all():
    wrong = []
    for path in (ROOT / "_kernels").rglob("*"):
        if path.suffix in (".py", ".pyx", ".pxd", ".c", ".h"):
            if re.search(r"^\s*(from \.\.|(from|c?import) shimtorch(?!\._kernels\b))", path.read_text(), re.M):
                wrong.append(path.name)
    assert not wrong


def test_only_the_shim_says_shimtorch_or_torch():
    """All others import by relative name: `import torch` would find whatever is installed under that name."""
    wrong = []
    for path in ROOT.rglob("*.py"):
        room, _ = room_of(path)
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else (
                [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else [])
            absolute = {name.split(".")[0] for name in names} & {"torch", "shimtorch"}
            if absolute and room not in ("_shim", "__main__"):
                wrong.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    assert not wrong
