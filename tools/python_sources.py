"""Print the package's Python files, one a line, relative to ``shimtorch/``: what meson installs."""
import pathlib

root = pathlib.Path(__file__).parent.parent / "shimtorch"
for path in sorted(root.rglob("*.py")):
    print(path.relative_to(root).as_posix())
