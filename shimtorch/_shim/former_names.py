"""Names that Python, NumPy and Pillow have given up since legacy scripts were written.

Scripts of PyTorch 0.3 and 1.0, and the torchvision of their time, say ``np.int``, ``collections.Iterable`` and
``PIL.PILLOW_VERSION``. In a program that ``shimtorch run`` runs these stand for what has taken their place. A name that
its module has keeps its meaning.
"""

import sys
from importlib import import_module
from importlib.machinery import PathFinder

_ABSTRACT = (
    "Callable Container Generator Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping "
    "MutableSequence MutableSet Reversible Sequence Set Sized ValuesView"
)

# {module: {former name: "module:name" of today}}
_NAMES = {
    "collections": {name: f"collections.abc:{name}" for name in _ABSTRACT.split()},
    "fractions": {"gcd": "math:gcd"},
    "inspect": {"getargspec": f"{__name__}:getargspec"},
    "time": {"clock": "time:process_time"},
    "numpy": {
        **{name: f"builtins:{name}" for name in ("int", "float", "complex", "object", "str")},
        "unicode": "builtins:str", "bool": "builtins:bool", "float_": "numpy:float64", "complex_": "numpy:complex128",
        "unicode_": "numpy:str_", "string_": "numpy:bytes_", "bool8": "numpy:bool_", "int0": "numpy:intp",
        "Inf": "numpy:inf", "Infinity": "numpy:inf", "infty": "numpy:inf", "PINF": "numpy:inf", "NaN": "numpy:nan",
        "product": "numpy:prod", "cumproduct": "numpy:cumprod", "alltrue": "numpy:all", "sometrue": "numpy:any",
        "rank": "numpy:ndim", "round_": "numpy:round", "mat": "numpy:asmatrix", "in1d": "numpy:isin",
        "trapz": "numpy:trapezoid", "row_stack": "numpy:vstack", "asscalar": f"{__name__}:asscalar",
    },
    "PIL": {"PILLOW_VERSION": "PIL:__version__"},
    "PIL.Image": {"ANTIALIAS": "PIL.Image:LANCZOS", "LINEAR": "PIL.Image:BILINEAR", "CUBIC": "PIL.Image:BICUBIC"},
}


def restore():
    """Put the names into the modules that have been imported, and into the others as soon as they are."""
    for name in _NAMES:
        if name in sys.modules:
            _complete(sys.modules[name])
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def _complete(module):
    for name, today in _NAMES[module.__name__].items():
        if name not in module.__dict__:
            home, _, attribute = today.partition(":")
            home = import_module(home)
            if hasattr(home, attribute):
                setattr(module, name, getattr(home, attribute))


class _Finder:
    """Finds the modules of the table where they would be found anyway, and completes them once they have run."""

    def find_spec(self, name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name in _NAMES else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module):
            execute(module)
            _complete(module)

        spec.loader.exec_module = exec_module
        return spec


def getargspec(func):
    """The names and defaults of a function's parameters (inspect.getargspec): args, varargs, keywords, defaults."""
    from collections import namedtuple
    from inspect import getfullargspec

    spec = getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use getfullargspec() API which can "
                         "support them")
    return namedtuple("ArgSpec", "args varargs keywords defaults")(*spec[:4])


def asscalar(a):
    """The Python number in an array of one element (numpy.asscalar)."""
    return a.item()
