"""Zip archives as PyTorch lays them out: records stored as they are, each payload at a multiple of some bytes."""
import struct
import zlib

_MAX_32 = 0xFFFFFFFF


class ZipWriter:
    """Writes records, front to back, to an object with ``write``; ``close`` writes the directory."""

    def __init__(self, file, alignment=64):
        self._file = file
        self._alignment = alignment
        self._at = 0
        self._directory = []

    def _write(self, data):
        self._file.write(data)
        self._at += len(data)

    def record(self, name, data):
        """Write one record."""
        name = name.encode("utf-8")
        size, crc, start = len(data), zlib.crc32(data), self._at
        flags = 0x0808 if size else 0x0800                   # bit 3: the sizes follow the payload; bit 11: UTF-8 names
        filler = -(start + 30 + len(name) + 4) % self._alignment
        extra = struct.pack("<2sH", b"FB", filler) + b"Z" * filler
        self._write(struct.pack("<4s5H3I2H", b"PK\x03\x04", 0, flags, 0, 0, 0, 0, 0, 0, len(name), len(extra)))
        self._write(name + extra)
        if size:
            self._write(data)
            self._write(struct.pack("<4sI2Q" if size > _MAX_32 else "<4s3I", b"PK\x07\x08", crc, size, size))
        self._directory.append((name, flags, crc, size, start))

    def close(self):
        """Write the directory."""
        start = self._at
        for name, flags, crc, size, offset in self._directory:
            wide = [n for n in (size, size, offset) if n > _MAX_32]
            extra = struct.pack(f"<2H{len(wide)}Q", 1, 8 * len(wide), *wide) if wide else b""
            self._write(struct.pack("<4s6H3I5H2I", b"PK\x01\x02", 0, 45 if wide else 0, flags, 0, 0, 0, crc,
                                    min(size, _MAX_32), min(size, _MAX_32), len(name), len(extra), 0, 0, 0, 0,
                                    min(offset, _MAX_32)))
            self._write(name + extra)
        size, end, n = self._at - start, self._at, len(self._directory)
        self._write(struct.pack("<4sQ2H2I4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, n, n, size, start))
        self._write(struct.pack("<4sIQI", b"PK\x06\x07", 0, end, 1))
        self._write(struct.pack("<4s4H2IH", b"PK\x05\x06", 0, 0, min(n, 0xFFFF), min(n, 0xFFFF), min(size, _MAX_32),
                                min(start, _MAX_32), 0))
