"""Pipes of files: their names, what is open, what is in them."""

import os
from fnmatch import fnmatch

from .datapipe import IterDataPipe

__all__ = ["FileListerIterDataPipe", "FileOpenerIterDataPipe", "StreamReaderIterDataPipe"]


class _Sized(IterDataPipe):
    """A pipe whose length is what its maker says."""

    length = -1

    def __len__(self):
        if self.length == -1:
            raise TypeError(f"{type(self).__name__} instance doesn't have valid length")
        return self.length


class FileListerIterDataPipe(_Sized):
    """The paths of the files in folders (a path, several, or a pipe of them) whose names fit one of the *masks*."""

    def __init__(self, root=".", masks="", *, recursive=False, abspath=False, non_deterministic=False, length=-1):
        self.roots = [root] if isinstance(root, (str, os.PathLike)) else root
        self.masks = [masks] if isinstance(masks, str) else masks
        self.recursive, self.abspath = recursive, abspath
        self.non_deterministic, self.length = non_deterministic, length

    def __iter__(self):
        for root in self.roots:
            for folder, folders, names in os.walk(os.path.abspath(root) if self.abspath else root):
                if not self.recursive:
                    folders.clear()
                if not self.non_deterministic:
                    folders.sort()
                    names.sort()
                for name in names:
                    if self.masks == [""] or any(fnmatch(name, mask) for mask in self.masks):
                        yield os.path.join(folder, name)


class FileOpenerIterDataPipe(_Sized):
    """(path, open file) for each path."""

    def __init__(self, datapipe, mode="r", encoding=None, length=-1):
        if mode not in ("b", "t", "rb", "rt", "r"):
            raise ValueError(f"Invalid mode {mode}")
        if "b" in mode and encoding is not None:
            raise ValueError("binary mode doesn't take an encoding argument")
        self.datapipe, self.encoding, self.length = datapipe, encoding, length
        self.mode = mode if mode[0] == "r" else "r" + mode

    def __iter__(self):
        for path in self.datapipe:
            if not isinstance(path, str):
                raise TypeError(f"Expected string type for pathname, but got {type(path)}")
            yield path, open(path, self.mode, encoding=self.encoding)


class StreamReaderIterDataPipe(IterDataPipe):
    """(path, what is read) for each (path, open file): all at once, or *chunk* after *chunk*. Files are closed."""

    def __init__(self, datapipe, chunk=None):
        self.datapipe, self.chunk = datapipe, chunk

    def __iter__(self):
        for path, stream in self.datapipe:
            with stream:
                while part := stream.read(-1 if self.chunk is None else self.chunk):
                    yield path, part
