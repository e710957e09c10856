"""Imports run one way: mirror -> _ops -> _core and _kernels; _kernels know nothing of ours."""
import ast
import pathlib
import re

import pytest

import shimtorch

ROOT = pathlib.Path(shimtorch.__file__).parent
# What a room may import at module level, of the rooms below.
ALLOWED = {
    "_kernels": set(),
    "_core": {"_kernels"},
    "_ops": {"_core", "_kernels", "_tensor", "_storages", "autograd"},
    "_eras": {"_core", "_tensor", "autograd"},
}


def imported_rooms(path):
    """The rooms that a file imports when it is itself imported."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    tree = ast.parse(path.read_text())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = parts[:len(parts) - node.level + (path.name == "__init__.py" and 0)]
            target = (*base, *(node.module.split(".") if node.module else ()))
            names = [target[0]] if target else [alias.name for alias in node.names]
            yield from names


@pytest.mark.parametrize("room", sorted(ALLOWED))
def test_python_imports(room):
    wrong = []
    for path in (ROOT / room).rglob("*.py"):
        for target in imported_rooms(path):
            if target != room and target not in ALLOWED[room]:
                wrong.append(f"{path.relative_to(ROOT)} imports {target}")
    assert not wrong


@pytest.mark.parametrize("room", ["_kernels", "_core"])
def test_cython_imports(room):
    wrong = []
    for path in [*(ROOT / room).rglob("*.pyx"), *(ROOT / room).rglob("*.pxd")]:
        for module in re.findall(r"^from \.\.([\w.]*) c?import", path.read_text(), re.M):
            target = module.split(".")[0]
            if target not in ALLOWED[room]:
                wrong.append(f"{path.relative_to(ROOT)} imports {target}")
    assert not wrong
