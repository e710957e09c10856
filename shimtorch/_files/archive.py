"""The zip format of PyTorch 1.6 and later: a record for the pickle, and one for each storage."""
import hashlib
import io
import struct
import sys
import zlib

from .._storages import UntypedStorage
from . import reading, writing
from .legacy import read_into
from .locations import location_tag, new_bytes
from .zipwriter import ZipWriter

_STORED, _DEFLATED = 0, 8


def save(obj, file, root, pickle_module=None, pickle_protocol=2, alignment=64):
    """Write an object to a file under the top-level name ``root``."""
    def make_id(storage, key, numel):
        return "storage", type(storage), key, location_tag(storage), numel

    storages = writing.Storages(lambda memory, n: str(n), make_id)
    data = writing.dump(obj, storages.persistent_id, pickle_module, pickle_protocol)
    digest = hashlib.sha256(data)
    writer = ZipWriter(file, alignment)
    writer.record(f"{root}/data.pkl", data)
    writer.record(f"{root}/.format_version", b"1")
    writer.record(f"{root}/.storage_alignment", str(alignment).encode())
    writer.record(f"{root}/byteorder", sys.byteorder.encode())
    for key, memory in storages.blocks.items():
        content = writing.bytes_of(memory)
        digest.update(zlib.crc32(content).to_bytes(4, "little"))
        writer.record(f"{root}/data/{key}", content)
    writer.record(f"{root}/version", b"3\n")
    number = int.from_bytes(digest.digest(), "little") % 10**40
    writer.record(f"{root}/.data/serialization_id", f"{number:040d}".encode())
    writer.close()


def load(file, map_location, pickle_module, encoding, errors, mapped=None):
    """Read an object. ``mapped``: the file's bytes as an ndarray of uint8, on which storages lie then."""
    archive = Archive(file)
    if "constants.pkl" in archive:
        raise RuntimeError("the file is a TorchScript archive; TorchScript is not implemented in shimtorch")
    order = archive.read("byteorder").decode("ascii", "replace") if "byteorder" in archive else "little"
    if order not in ("little", "big"):
        raise ValueError(f"Unknown endianness type: {order}")
    storages = _Storages(map_location, archive, order, mapped)
    data = io.BytesIO(archive.read("data.pkl"))
    return reading.unpickle(data, storages.persistent_load, pickle_module, encoding, errors)


class _Storages(reading.Loaded):
    """The storages of an archive, read when the pickle first names them."""

    def __init__(self, map_location, archive, order, mapped):
        super().__init__(map_location)
        self._archive = archive
        self._swap = order != sys.byteorder
        self._mapped = mapped

    def persistent_load(self, saved_id):
        """The storage that a persistent id stands for."""
        if type(saved_id) is not tuple:
            raise AssertionError(f"saved_id must be a tuple, got {type(saved_id).__name__}")
        if not saved_id or reading.decoded(saved_id[0]) != "storage" or len(saved_id) != 5:
            raise AssertionError("Unknown typename for persistent_load, expected 'storage' but got "
                                 f"'{saved_id[0] if saved_id else saved_id}'")
        _, cls, key, location, numel = saved_id
        cls, key = reading.storage_class(cls), reading.decoded(key)
        nbytes = reading.byte_count(cls, numel)
        if key not in self:
            self.place(key, location, self._read(cls, key, nbytes))
        return self.typed(key, cls)

    def _read(self, cls, key, nbytes):
        name = f"data/{key}"
        size = self._archive.size(name)
        if size != nbytes:
            raise RuntimeError(f"record size ({size} bytes) does not match expected size ({nbytes} bytes = {nbytes} "
                               "elements * 1 bytes/element) for dtype Byte")
        if self._mapped is not None:
            start = self._archive.stored_at(name)
            from .._core.factory import as_tensor
            return UntypedStorage._on(as_tensor(self._mapped[start:start + nbytes])._memory())
        storage = new_bytes(nbytes)
        self._archive.read_into(name, storage._bytes())
        return storage.byteswap(cls.dtype) if self._swap else storage


class Archive:
    """The records of a zip file by their names below the one top-level directory."""

    def __init__(self, file):
        import zipfile

        self._file = file
        self._start = file.tell()
        try:
            self._zip = zipfile.ZipFile(file if self._start == 0 else io.BytesIO(file.read()))
        except (zipfile.BadZipFile, ValueError, OverflowError, NotImplementedError) as error:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: failed finding central directory. "
                               f"({error})") from None
        self._raw = self._zip.fp
        self._raw.seek(0, 2)
        self._length = self._raw.tell()
        infos = self._zip.infolist()
        if not infos:
            raise RuntimeError("PytorchStreamReader failed reading zip archive: archive does not contain any files")
        self.root = infos[0].filename.partition("/")[0]
        self._infos = {}
        for info in infos:
            root, _, name = info.filename.partition("/")
            if root != self.root or not name or ".." in name.split("/"):
                raise RuntimeError(f"file in archive is not in a subdirectory {self.root}/: {info.filename}")
            self._infos[name] = info

    def __contains__(self, name):
        return name in self._infos

    def _info(self, name):
        info = self._infos.get(name)
        if info is None:
            raise RuntimeError(f"PytorchStreamReader failed locating file {name}: file not found.")
        if info.compress_type not in (_STORED, _DEFLATED) or info.flag_bits & 1:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: unsupported compression or encryption")
        # Deflate makes at most 1032 bytes of one: a larger size is a lie, and nothing is allocated for it.
        limit = info.compress_size if info.compress_type == _STORED else 1032 * info.compress_size + 1032
        if info.compress_size > self._length or info.file_size > limit:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: the file is shorter than the record")
        return info

    def size(self, name):
        """Bytes of a record."""
        return self._info(name).file_size

    def stored_at(self, name):
        """Where the bytes of a record lie in the file."""
        info = self._info(name)
        if info.compress_type != _STORED:
            raise RuntimeError(f"mmap can only be used with files whose records are not compressed, but {name} is")
        self._raw.seek(info.header_offset)
        header = self._raw.read(30)
        if len(header) != 30 or header[:4] != b"PK\x03\x04":
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: bad local header")
        name_length, extra_length = struct.unpack("<2H", header[26:])
        start = info.header_offset + 30 + name_length + extra_length
        if start + info.file_size > self._length:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: the file is shorter than the record")
        return start

    def read(self, name):
        """The bytes of a record."""
        data = bytearray(self.size(name))
        self.read_into(name, memoryview(data))
        return bytes(data)

    def read_into(self, name, memory):
        """Read a record into memory of its size; its checksum is checked."""
        import zipfile

        info = self._info(name)
        if info.compress_type == _STORED:
            self._raw.seek(self.stored_at(name))
            read_into(self._raw, memory)
            if zlib.crc32(memory) != info.CRC:
                raise RuntimeError(f"PytorchStreamReader failed reading file {name}: Bad CRC-32, the data is corrupt")
            return
        try:
            with self._zip.open(info) as content:
                read_into(content, memory)
                if content.read(1):
                    raise RuntimeError(f"PytorchStreamReader failed reading file {name}: the record is too long")
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            raise RuntimeError(f"PytorchStreamReader failed reading file {name}: {error}") from None
