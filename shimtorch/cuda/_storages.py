"""``torch.cuda.FloatStorage`` and its kin: storages on a device."""
from .. import _storages


class _CudaStorageType(type):
    """The class of these: called they make storages on the current device, isinstance looks at dtype and device."""

    def __call__(cls, *args):
        return cls._base(*args).cuda()

    def __getattr__(cls, name):
        """Methods are those of the storages of the CPU."""
        if name.startswith("__"):
            raise AttributeError(f"type object {cls.__name__!r} has no attribute {name!r}")
        return getattr(cls._base, name)

    def __instancecheck__(cls, obj):
        return isinstance(obj, _storages.TypedStorage) and obj.dtype is cls._base.dtype and obj.is_cuda

    def __repr__(cls):
        return f"<class 'torch.cuda.{cls.__name__}'>"


for _base in _storages.CLASSES.values():
    globals()[_base.__name__] = _CudaStorageType(_base.__name__, (), {
        "_base": _base, "is_cuda": True, "is_sparse": False, "__module__": __package__,
        "__doc__": f"A storage of {_base.dtype} elements on a CUDA device."})
