"""Modules beside a running script that today's Python does not parse are rewritten on import, as the script is."""

import sys
from importlib.machinery import PathFinder, SourceFileLoader

from .._eras import detect, rewrite


def rewrite_imports(root, py2=False):
    """From now on, modules in folder `root` and below that do not parse go through ``rewrite`` when imported."""
    sys.meta_path.insert(0, _Finder(root, py2))


class _Finder:
    def __init__(self, root, py2):
        self.root = root
        self.py2 = py2

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not detect.belongs(spec.origin, self.root):
            return None
        if not rewrite.needs_rewriting(spec.loader.get_data(spec.origin), spec.origin, self.py2):
            return None
        spec.loader = _Loader(name, spec.origin)
        spec.loader.py2 = self.py2
        spec.cached = None
        return spec


class _Loader(SourceFileLoader):
    """Compiles the rewritten source each time: others would take a bytecode file left behind for the file's own."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        return rewrite.compile_source(self.get_data(path), path, self.py2)
