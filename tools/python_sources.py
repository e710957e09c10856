"""Print the package's Python files, one a line, relative to ``shimtorch/``: what meson installs in the package."""
import pathlib

BESIDE = {"_shim/pytest_shimtorch.py"}     # installed beside the package: see shimtorch/meson.build

root = pathlib.Path(__file__).parent.parent / "shimtorch"
for path in sorted(root.rglob("*.py")):
    name = path.relative_to(root).as_posix()
    if name not in BESIDE:
        print(name)
