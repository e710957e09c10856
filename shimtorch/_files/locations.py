"""Where storages lie: the tags in files, and ``map_location``."""
from .._core.device import device as device_class
from .._storages import UntypedStorage

_package_registry = []


def register_package(priority, tagger, deserializer):
    """Enter functions for a kind of device: ``tagger(storage)`` gives a tag, ``deserializer(storage, tag)`` a storage.

    Both return None for what is not theirs. Those of the lowest priority are asked first.
    """
    _package_registry.append((priority, tagger, deserializer))
    _package_registry.sort(key=lambda entry: entry[0])


def location_tag(storage):
    """The tag of the place where a storage lies."""
    for _, tagger, _ in _package_registry:
        location = tagger(storage)
        if location:
            return location
    raise RuntimeError(f"don't know how to determine data location of {type(storage).__name__}")


def default_restore_location(storage, location):
    """The storage at the place that a tag names."""
    for _, _, deserialize in _package_registry:
        result = deserialize(storage, location)
        if result is not None:
            return result
    raise RuntimeError("don't know how to restore data location of "
                       f"torch.storage.{type(storage).__name__} (tagged with {location})")


def validate_cuda_device(location):
    """The number of the CUDA device of a tag; RuntimeError if there is no such device."""
    from .. import cuda
    if not cuda.is_available():
        raise RuntimeError("Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. "
                           "If you are running on a CPU-only machine, please use torch.load with "
                           "map_location=torch.device('cpu') to map your storages to the CPU.")
    index = device_class(location).index or 0
    if index >= cuda.device_count():
        raise RuntimeError(f"Attempting to deserialize object on CUDA device {index} but torch.cuda.device_count() is "
                           f"{cuda.device_count()}. Please use torch.load with map_location to map your storages to an "
                           "existing device.")
    return index


def _is_cuda(location):
    return location == "cuda" or location.startswith("cuda:")


register_package(10, lambda storage: None if storage.is_cuda else "cpu",
                 lambda storage, location: storage if location == "cpu" else None)
register_package(20, lambda storage: f"cuda:{storage.get_device()}" if storage.is_cuda else None,
                 lambda storage, location: storage.cuda(validate_cuda_device(location)) if _is_cuda(location) else None)


def restorer(map_location):
    """``map_location`` as a function of a storage on the CPU and its tag."""
    if map_location is None:
        return default_restore_location
    if isinstance(map_location, dict):
        return lambda storage, location: default_restore_location(storage, map_location.get(location, location))
    if isinstance(map_location, bytes):
        map_location = map_location.decode("ascii")
    if isinstance(map_location, (str, device_class)):
        target = str(map_location)
        return lambda storage, location: default_restore_location(storage, target)

    def restore(storage, location):
        result = map_location(storage, location)
        return default_restore_location(storage, location) if result is None else result

    return restore


def new_bytes(nbytes):
    """Uninitialised bytes, as files are read into."""
    return UntypedStorage(nbytes)
