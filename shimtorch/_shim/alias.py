"""``import torch`` gives shimtorch: while installed, every module of shimtorch is found under its torch name too.

``torch.nn`` and ``shimtorch.nn`` are one module object. While the alias is installed, its ``__name__`` and
``__spec__.name`` are ``torch.nn``, and classes and functions have a ``__module__`` of torch: reprs, pickles and
checks by name look as with PyTorch. `uninstall` gives every name back.

Whoever asks first, and by which name, a module is executed once: while installed, always as ``torch.x``, and
``shimtorch.x`` is an import of that. As relative imports in shimtorch go by torch names then, threads that import
at the same time take the locks of the import system in one order, and none can wait for another in a circle.

With `scope`, only the named packages see torch: their ``import torch`` statements give shimtorch, ``sys.modules``
holds no ``torch`` for anyone, names stay ``shimtorch...``, and a real PyTorch may live beside. See the module
``scope`` for limits.
"""

import sys
import threading
from contextlib import contextmanager

from . import scope as _scope
from .names import ALIAS, BorrowedSpec, Renaming, as_alias, as_own, is_alias, is_own

_lock = threading.RLock()
_count = 0
_renaming = Renaming(is_own, as_alias)
_found = []  # the specs that our finder gave out
_displaced = {}


def install(scope=None):
    """Let ``import torch`` give shimtorch, everywhere or (`scope`: a package name or several) in these packages only.

    Installs are counted; as many calls of `uninstall` with the same scope take the alias back. Raises RuntimeError if
    another torch has been imported already.
    """
    import shimtorch  # noqa: F401  complete, with Tensor in it, before any other code can see the alias

    global _count
    with _lock:
        if scope is not None:
            _scope.add(scope)
            return
        if _count == 0:
            _refuse_real_torch()
            if ALIAS in sys.modules:  # a None that blocks the import
                _displaced[ALIAS] = sys.modules[ALIAS]
            own = {name: module for name, module in list(sys.modules.items()) if is_own(name) and module is not None}
            sys.meta_path.insert(0, _FINDER)
            for name in sorted(own, reverse=True):  # "shimtorch" itself last
                sys.modules[as_alias(name)] = own[name]
            for module in own.values():
                _renaming.add(module)
        _count += 1


def uninstall(scope=None):
    """Take back one `install` of the same scope; the last one restores ``sys.modules`` and all names as they were.

    Raises RuntimeError if nothing of this scope is installed. Not for a moment when another thread imports torch.
    """
    global _count
    with _lock:
        if scope is not None:
            _scope.remove(scope)
            return
        if _count == 0:
            raise RuntimeError("shimtorch is not installed as torch")
        _count -= 1
        if _count == 0:
            _renaming.undo()
            back = Renaming(is_alias, as_own)
            for name, module in list(sys.modules.items()):
                if not is_alias(name):
                    continue
                if any(spec is getattr(module, "__spec__", None) for spec in _found):  # loaded meanwhile
                    module.__spec__.loader = module.__loader__
                    back.add(module)
                if module is sys.modules.get(as_own(name)):
                    del sys.modules[name]
            _found.clear()
            sys.modules.update(_displaced)
            _displaced.clear()
            sys.meta_path.remove(_FINDER)


@contextmanager
def installed(scope=None):
    """Context manager around `install` and `uninstall`."""
    install(scope)
    try:
        yield
    finally:
        uninstall(scope)


def is_installed():
    """Whether ``import torch`` gives shimtorch everywhere."""
    return _count > 0


def _refuse_real_torch():
    for name, module in list(sys.modules.items()):
        if is_alias(name) and module is not None:
            where = getattr(module, "__file__", None) or "unknown place"
            raise RuntimeError(
                f"shimtorch cannot be installed as torch: another '{name}' is already imported (from {where}). Install "
                f"shimtorch before anything imports torch, or for named packages only: install(scope='package')"
            )


class _Finder:
    """Finds torch's modules in shimtorch, and leads imports of shimtorch's to the same modules."""

    def find_spec(self, name, path=None, target=None):
        if is_own(name):
            return self._lead_to_alias(name, path)
        if not is_alias(name):
            return None
        own = as_own(name)
        spec = _locate(own, path, target) if is_own(own) else None
        if spec is None:
            # Importing, or shimtorch's own affair, which the next finder would find? Else a mere look by find_spec().
            if not is_own(own) or sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise ModuleNotFoundError(f"No module named '{name}': shimtorch has no such module (yet)", name=name)
            return None
        spec.name = name
        if hasattr(spec.loader, "name"):
            spec.loader.name = name
        if spec.loader is not None:
            spec.loader = _NamingLoader(spec.loader)
        _found.append(spec)
        return spec

    def _lead_to_alias(self, name, path):
        spec = _locate(name, path, None)
        if spec is None:
            return None
        parent = as_alias(name if spec.submodule_search_locations is not None else spec.parent)
        lead = BorrowedSpec(name, _LeadingLoader(spec.loader), parent, spec.origin)
        lead.submodule_search_locations = spec.submodule_search_locations
        return lead

    def find_distributions(self, context=None):
        """What ``importlib.metadata`` asks for: a distribution named torch, of the era's version."""
        from .metadata import distributions

        return distributions(context)

    def invalidate_caches(self):
        pass


def _locate(name, path, target):
    """What the other finders say about a module."""
    for finder in list(sys.meta_path):
        find_spec = getattr(finder, "find_spec", None)
        if find_spec is not None and finder is not _FINDER:
            spec = find_spec(name, path, target)
            if spec is not None:
                return spec
    return None


class _Loader:
    """A loader over another one, to which it leaves everything but loading."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        if name == "_loader":
            raise AttributeError(name)
        return getattr(self._loader, name)


class _NamingLoader(_Loader):
    """Loads ``torch.x`` once, corrects the names that compiled code wrote into it, and lets it be ``shimtorch.x`` too.

    A thread that was about to load ``shimtorch.x`` may find it there now and load by its spec: it gets the same module.
    """

    _module = None

    def create_module(self, spec):
        return self._loader.create_module(spec) if self._module is None else self._module

    def exec_module(self, module):
        if self._module is None:
            name = module.__name__
            module.__loader__ = self._loader
            self._loader.exec_module(module)
            with _lock:
                if _count:
                    _renaming.add(module)
            self._module = module
            sys.modules[as_own(name)] = sys.modules[name]


class _LeadingLoader(_Loader):
    """Loads ``shimtorch.x`` by importing ``torch.x``."""

    def create_module(self, spec):
        from importlib import import_module

        module = import_module(as_alias(spec.name))
        self._spec = module.__spec__
        return module

    def exec_module(self, module):
        module.__spec__ = self._spec  # the import system had put the spec of this loader there


_FINDER = _Finder()
