"""``import torch`` gives shimtorch: while installed, every module of shimtorch is found under its torch name too.

`torch.nn` and `shimtorch.nn` are one module object under two names in ``sys.modules``. While the alias is
installed, its ``__name__`` and ``__spec__.name`` are ``torch.nn``, and classes and functions have ``__module__``
``torch...``: reprs, pickles and checks by name look as with PyTorch. A module is always executed once, under its
own name, and renamed when complete; `uninstall` gives every name back.

With `scope`, only the named packages see torch: their ``import torch`` statements give shimtorch, ``sys.modules``
holds no ``torch`` for anyone, names stay ``shimtorch...``, and a real PyTorch may live beside. See `scope` for its
limits.
"""

import sys
import threading
from contextlib import contextmanager
from importlib.machinery import ModuleSpec

from . import scope as _scope
from .names import ALIAS, Renaming, as_alias, as_own, is_alias, is_own

_lock = threading.RLock()
_count = 0
_renaming = Renaming()
_displaced = {}


def install(scope=None):
    """Let ``import torch`` give shimtorch, everywhere or (`scope`: a package name or several) in these packages only.

    Installs are counted; as many calls of `uninstall` with the same scope take the alias back. Raises RuntimeError
    if another torch has been imported already.
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
                _rename(module)
        _count += 1


def uninstall(scope=None):
    """Take back one `install` of the same scope; the last one restores ``sys.modules`` and all names as they were.

    Raises RuntimeError if nothing of this scope is installed.
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
            for name in [name for name in list(sys.modules) if is_alias(name)]:
                if sys.modules[name] is sys.modules.get(as_own(name)):
                    del sys.modules[name]
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


def _rename(module):
    spec = getattr(module, "__spec__", None)
    if spec is not None and is_own(spec.name):
        _renaming.change(module, "__spec__", _alias_spec(as_alias(spec.name), spec))
    _renaming.add(module)


def _refuse_real_torch():
    for name, module in list(sys.modules.items()):
        if is_alias(name) and module is not None and module is not sys.modules.get(as_own(name)):
            where = getattr(module, "__file__", None) or "unknown place"
            raise RuntimeError(
                f"shimtorch cannot be installed as torch: another '{name}' is already imported (from {where}). Install "
                f"shimtorch before anything imports torch, or for named packages only: install(scope='package')"
            )


class _Finder:
    """Finds torch modules in shimtorch, and gives modules of shimtorch that are loaded meanwhile their torch name."""

    def find_spec(self, name, path=None, target=None):
        if is_own(name):
            return self._own_spec(name, path, target)
        if not is_alias(name):
            return None
        own = as_own(name)
        spec = _locate(own, path, target) if is_own(own) else None
        if spec is None:
            # Importing, or shimtorch's own affair, which the next finder would find? Else a mere look by find_spec().
            if not is_own(own) or sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise ModuleNotFoundError(f"No module named '{name}': shimtorch has no such module (yet)", name=name)
            return None
        if target is not None:  # a reload: executed under its own name, as the first time
            spec.loader = _OwnLoader(spec.loader)
            return spec
        if isinstance(getattr(spec.loader, "name", None), str):
            spec.loader.name = name
        return _alias_spec(name, spec)

    def _own_spec(self, name, path, target):
        spec = _locate(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _OwnLoader(spec.loader)
        return spec

    def find_distributions(self, context=None):
        """What ``importlib.metadata`` asks for: a distribution named torch, of the era's version."""
        from .metadata import distributions

        return distributions(context)

    def invalidate_caches(self):
        pass


def _alias_spec(name, spec):
    """The spec of a module under its torch name."""
    alias = ModuleSpec(name, _AliasLoader(spec.loader), origin=spec.origin, loader_state=spec.loader_state)
    alias.submodule_search_locations = spec.submodule_search_locations
    alias.cached, alias.has_location = spec.cached, spec.has_location
    return alias


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


class _OwnLoader(_Loader):
    """Loads a module of shimtorch, then lets it be known under its torch name."""

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        name = module.__name__
        self._loader.exec_module(module)
        with _lock:
            if _count:
                module = sys.modules[name]
                _rename(module)
                parent, _, child = name.rpartition(".")
                if parent in sys.modules:
                    setattr(sys.modules[parent], child, module)
                sys.modules[as_alias(name)] = module


class _AliasLoader(_Loader):
    """Loads ``torch.x`` by importing ``shimtorch.x``, so that each module is executed once whoever asks first.

    Once loaded, the module keeps this loader in its spec: the import system loads by it a second time if ``torch.x``
    appears, through another thread, between its first look into ``sys.modules`` and the end of its search.
    """

    def create_module(self, spec):
        from importlib import import_module

        return import_module(as_own(spec.name))

    def exec_module(self, module):
        pass


_FINDER = _Finder()
