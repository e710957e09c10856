"""Opening the compiled CUDA modules, and saying why that cannot be done. Nothing of CUDA is opened before its use.

``_rt`` is linked to the CUDA runtime alone; ``_libs``, linked to cuBLAS, and ``_cusparse`` take far longer to open.
"""
import importlib.util
import os
import sysconfig

from .._core.device import device

# In the order in which they need one another. The loader takes a library that is open already, wherever it lies.
_LIBRARIES = ("libcudart.so", "libnvJitLink.so", "libcublasLt.so", "libcublas.so", "libcusparse.so")
_WHEELS = "nvidia-cuda-runtime, nvidia-cublas, nvidia-cusparse and nvidia-nvjitlink"

_modules = {}
_reason = None                         # why there is no module: an exception class and a message


def wheel_folders():
    """Where the wheels of the CUDA libraries put their files: one folder since CUDA 13, one a library before."""
    for site in dict.fromkeys((sysconfig.get_path("platlib"), sysconfig.get_path("purelib"))):
        nvidia = os.path.join(site, "nvidia")
        if os.path.isdir(nvidia):
            for name in sorted(os.listdir(nvidia)):
                folder = os.path.join(nvidia, name, "lib")
                if os.path.isdir(folder):
                    yield folder


def preload():
    """Open the libraries that lie in the folders of wheels, for installations whose modules do not find them."""
    import ctypes
    folders = list(wheel_folders())
    for library in _LIBRARIES:
        for folder in folders:
            for name in sorted(os.listdir(folder)):
                if name.startswith(library):
                    try:
                        ctypes.CDLL(os.path.join(folder, name), mode=ctypes.RTLD_GLOBAL)
                    except OSError:
                        continue


def _import(name):
    """A compiled module of this package; None, with the reason kept, if it cannot be had."""
    global _reason
    if name in _modules:
        return _modules[name]
    full = f"{__package__}.{name}"
    module = None
    try:
        module = importlib.import_module(full)
    except ModuleNotFoundError as error:
        if error.name != full:
            raise
        _reason = AssertionError, "Torch not compiled with CUDA enabled"
    except ImportError as first:
        preload()
        try:
            module = importlib.import_module(full)
        except ImportError:
            _reason = RuntimeError, (f"a library of CUDA could not be opened: {first}. Install the wheels {_WHEELS}, "
                                     "or make the dynamic loader find those of the toolkit.")
            return None                # what is missing may yet be installed
    _modules[name] = module
    return module


def built():
    """Whether the package was built with CUDA."""
    return importlib.util.find_spec(f"{__package__}._rt") is not None


def device_count():
    """The number of CUDA devices that can be used; never raises."""
    rt = _import("_rt")
    return 0 if rt is None else rt.device_count()


def runtime():
    """The module ``_rt``, started; raises in torch's words where no device can be used."""
    rt = _import("_rt")
    if rt is None:
        kind, message = _reason
        raise kind(message)
    if rt.device_count() == 0:
        raise RuntimeError(rt.no_device_reason())
    if not rt.is_started():
        rt.start()
        from . import forms  # what ops do on a device
        forms.bind()
    return rt


def opened():
    """The module ``_rt`` if a device was used in this process, else None."""
    rt = _modules.get("_rt")
    return rt if rt is not None and rt.is_started() else None


def _library(name):
    runtime()
    module = _import(name)
    if module is None:
        kind, message = _reason
        raise kind(message)
    return module


def libraries():
    """The module ``_libs``, for products of matrices."""
    return _library("_libs")


def sparse_library():
    """The module ``_cusparse``, for products of sparse matrices."""
    return _library("_cusparse")


def resolve(d):
    """A CUDA device with its index; raises if it is not there."""
    rt = runtime()
    index = rt.current_device() if d.index is None else d.index
    if index >= rt.device_count():
        raise RuntimeError("CUDA error: invalid device ordinal")
    return d if d.index is not None else device("cuda", index)


def index_of(d, optional=True):
    """The index of a device that a user names by an int, a string, a device or (optional) None, the current one."""
    if d is None and optional:
        return runtime().current_device()
    if isinstance(d, int):
        d = device("cuda", d) if d >= 0 else device("cuda")
    d = device(d)
    if d.type != "cuda":
        raise ValueError(f"Expected a cuda device, but got: {d}")
    return resolve(d).index
