"""The stream of pickles that PyTorch wrote before 1.6: header, object, keys of the storages, their bytes."""
import pickle
import struct
import sys

from .._storages import UntypedStorage
from .._utils import filling_later
from . import reading, writing
from .locations import location_tag, new_bytes

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
_PIECE = 1 << 24                           # bytes that are read at a time from files without readinto


def save(obj, file, pickle_module=None, pickle_protocol=2):
    """Write an object to a file."""
    def make_id(storage, key, numel):
        return "storage", type(storage), key, location_tag(storage), numel, None

    storages = writing.Storages(lambda root, n: str(root.data_ptr() or id(root)), make_id)
    data = writing.dump(obj, storages.persistent_id, pickle_module, pickle_protocol)
    system = {"protocol_version": PROTOCOL_VERSION, "little_endian": sys.byteorder == "little",
              "type_sizes": {"short": 2, "int": 4, "long": 4}}
    for header in (MAGIC_NUMBER, PROTOCOL_VERSION, system):
        file.write(pickle.dumps(header, pickle_protocol))
    file.write(data)
    keys = sorted(storages.blocks)
    file.write(pickle.dumps(keys, pickle_protocol))
    for key in keys:
        memory = storages.blocks[key]
        file.write(writing.count(len(memory) // storages.itemsize(key)))
        file.write(writing.bytes_of(memory))


def load(file, map_location, pickle_module, encoding, errors):
    """Read an object; the file's position is behind its data then."""
    def read(persistent_load=_no_persistent_ids):
        return reading.unpickle(file, persistent_load, pickle_module, encoding, errors)

    if read() != MAGIC_NUMBER:
        raise RuntimeError("Invalid magic number; corrupt file?")
    version = read()
    if version != PROTOCOL_VERSION:
        raise RuntimeError(f"Invalid protocol version: {version}")
    read()                                 # about the system that wrote it
    storages = _Storages(map_location, _bytes_left(file))
    with filling_later() as later:
        result = read(storages.persistent_load)
    keys = read()
    if type(keys) is not list:
        raise RuntimeError("the file has no list of storage keys; corrupt file?")
    for key in keys:
        if key not in storages.raw:
            raise AssertionError(f"storage key '{key}' not found in deserialized_objects")
    missing = [key for key in storages.raw if key not in keys]
    if missing:
        raise RuntimeError(f"the file does not hold the data of storage {missing[0]!r}; corrupt file?")
    for key in keys:
        storages.fill(key, file)
    later.filled()
    return result


def _no_persistent_ids(saved_id):
    raise pickle.UnpicklingError("A load persistent id instruction was encountered, but no persistent_load function "
                                 "was specified.")


def _bytes_left(file):
    here = file.tell()
    file.seek(0, 2)
    end = file.tell()
    file.seek(here)
    return end - here


class _Storages(reading.Loaded):
    """The storages that the object names; their bytes follow later."""

    def __init__(self, map_location, limit):
        super().__init__(map_location)
        self.raw = {}                      # key -> (the bytes as they are read, the dtype of the elements)
        self._left = limit                 # no file has more bytes of storages than are left of it

    def persistent_load(self, saved_id):
        """What a persistent id stands for: a storage, or the class of a module."""
        if type(saved_id) is not tuple or not saved_id:
            raise pickle.UnpicklingError(f"a persistent id must be a tuple, not {saved_id!r}")
        kind = reading.decoded(saved_id[0])
        if kind == "module":
            return saved_id[1]
        if kind != "storage" or len(saved_id) not in (5, 6):
            raise RuntimeError(f"Unknown saved id type: {saved_id[0]}")
        _, cls, key, location, numel, *view = saved_id
        cls = reading.storage_class(cls)
        nbytes = reading.byte_count(cls, numel)
        if key not in self.raw:
            self._left -= nbytes
            if self._left < 0:
                raise RuntimeError(f"storage {key!r} of {nbytes} bytes is larger than the file; corrupt file?")
            storage = new_bytes(nbytes)
            self.place(key, location, storage)
            self.raw[key] = storage, cls.dtype
        if view and view[0] is not None:
            return self._part(cls, key, view[0])
        return self.typed(key, cls)

    def _part(self, cls, key, view):
        """A storage on a part of another, as files of old versions have it."""
        if type(view) is not tuple or len(view) != 3:
            raise pickle.UnpicklingError(f"not the description of a view: {view!r}")
        _, offset, numel = view
        whole = self.typed(key, cls)
        reading.byte_count(cls, numel)
        if type(offset) is not int or not 0 <= offset <= len(whole) - numel:
            raise RuntimeError(f"a view of {numel} elements from {offset!r} lies outside a storage of {len(whole)}")
        return whole[offset:offset + numel]

    def fill(self, key, file):
        """Read the bytes of a storage."""
        storage, dtype = self.raw[key]
        header = file.read(8)
        if len(header) < 8:
            raise RuntimeError(f"unexpected EOF, expected {8 - len(header)} more bytes. The file might be corrupted.")
        numel = struct.unpack("<q", header)[0]
        if numel * dtype.itemsize != storage.nbytes():
            raise RuntimeError(f"storage has wrong byte size: expected {storage.nbytes()} got {numel * dtype.itemsize}")
        read_into(file, storage._bytes())
        if sys.byteorder != "little":
            storage.byteswap(dtype)
        if self._placed[key] is not storage._memory():         # elsewhere, where it was put before it was read
            UntypedStorage._on(self._placed[key]).copy_(storage)


def read_into(file, memory):
    """Fill a memoryview from a file; RuntimeError if the file ends too soon."""
    done = 0
    readinto = getattr(file, "readinto", None)
    while done < len(memory):
        if readinto is not None:
            n = readinto(memory[done:])
        else:
            data = file.read(min(len(memory) - done, _PIECE))
            n = len(data)
            memory[done:done + n] = data
        if not n:
            left = len(memory) - done
            raise RuntimeError(f"unexpected EOF, expected {left} more bytes. The file might be corrupted.")
        done += n

