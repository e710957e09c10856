"""The tar files of PyTorch 0.1: read only, member by member, never extracted."""
import struct

from . import reading
from .legacy import read_into
from .locations import new_bytes


def is_tar(file):
    """Whether a real file at its beginning is a tar file."""
    import tarfile
    try:
        file.fileno()
    except Exception:
        return False
    if file.tell() != 0:
        return False
    try:
        header = file.read(tarfile.BLOCKSIZE)
        tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
        return True
    except tarfile.TarError:
        return False
    finally:
        file.seek(0)


def load(file, map_location, pickle_module, encoding, errors):
    """Read an object."""
    import tarfile

    with tarfile.open(fileobj=file, mode="r:", format=tarfile.PAX_FORMAT) as archive:
        def member(name):
            try:
                content = archive.extractfile(name)
            except KeyError:
                content = None
            if content is None:
                raise RuntimeError(f"the tar file has no member '{name}'; corrupt file?")
            return content

        def read(f, persistent_load=None):
            return reading.unpickle(f, persistent_load, pickle_module, encoding, errors)

        objects = _read_storages(member("storages"), archive.getmember("storages").size, read, map_location)
        _read_tensors(member("tensors"), read, objects)

        def persistent_load(saved_id):
            if isinstance(saved_id, tuple):
                return saved_id[0]         # a module's class, with its source, which is ignored
            return objects[int(saved_id)]

        return read(member("pickle"), persistent_load)


def _read_storages(f, size, read, map_location):
    """key -> typed storage."""
    loaded, storages = reading.Loaded(map_location), {}
    for _ in range(read(f)):
        key, location, cls = read(f)
        cls = reading.storage_class(cls)
        numel = struct.unpack("<q", _take(f, 8))[0]
        nbytes = reading.byte_count(cls, numel)
        if nbytes > size:
            raise RuntimeError(f"storage {key!r} of {nbytes} bytes is larger than the file; corrupt file?")
        storage = new_bytes(nbytes)
        read_into(f, storage._bytes())
        loaded.place(key, location, storage)
        storages[key] = loaded.typed(key, cls)
    for target, root, offset, numel in read(f):
        whole = storages[root]
        if not 0 <= offset <= offset + numel <= len(whole):
            raise RuntimeError(f"a view of {numel} elements from {offset!r} lies outside a storage of {len(whole)}")
        storages[target] = whole[offset:offset + numel]
    return storages


def _read_tensors(f, read, objects):
    """Enter the tensors under their keys."""
    from .._utils import _rebuild_tensor
    for _ in range(read(f)):
        key, storage_key, _tensor_class = read(f)
        ndim, _unused = struct.unpack("<ii", _take(f, 8))
        if not 0 <= ndim <= 64:
            raise RuntimeError(f"a tensor of {ndim} dimensions; corrupt file?")
        numbers = struct.unpack(f"<{2 * ndim + 1}q", _take(f, 8 * (2 * ndim + 1)))
        objects[key] = _rebuild_tensor(objects[storage_key], numbers[-1], numbers[:ndim], numbers[ndim:-1])


def _take(f, n):
    data = f.read(n)
    if len(data) != n:
        raise RuntimeError(f"unexpected EOF, expected {n - len(data)} more bytes. The file might be corrupted.")
    return data
