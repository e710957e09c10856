"""Opening what ``torch.save`` and ``torch.load`` are given: paths and file objects."""
import contextlib
import io
import os


def is_path(f):
    """Whether f names a file."""
    return isinstance(f, (str, os.PathLike))


@contextlib.contextmanager
def to_write(f):
    """A file to write to. A path's old file stays as it is until the new one is complete."""
    if not is_path(f):
        if not hasattr(f, "write"):
            raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")
        yield f
        return
    target = os.path.realpath(os.fspath(f))
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {os.path.dirname(os.fspath(f))} does not exist.")
    if os.path.exists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:   # a pipe, a terminal: nothing that could be replaced; a folder: an error
            yield file
        return
    with _replacing(target, folder) as file:
        yield file


@contextlib.contextmanager
def _replacing(target, folder):
    """A temporary file beside the target, which it replaces when the block ends without an exception."""
    import tempfile
    try:
        mode = os.stat(target).st_mode & 0o7777
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    if os.path.exists(target) and not os.access(target, os.W_OK):
        raise PermissionError(13, "Permission denied", target)
    fd, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", suffix=".tmp", dir=folder)
    try:
        with open(fd, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _umask():
    umask = os.umask(0)
    os.umask(umask)
    return umask


@contextlib.contextmanager
def to_read(f):
    """A seekable file to read from."""
    if is_path(f):
        with open(f, "rb") as file:
            yield file
        return
    for method in ("seek", "tell", "read", "readline"):
        if not hasattr(f, method):
            raise AttributeError(
                f"'{type(f).__name__}' object has no attribute '{method}'. You can only torch.load from a file that is "
                "seekable. Please pre-load the data into a buffer like io.BytesIO and try to load from it instead.")
    try:
        f.seek(f.tell())
    except io.UnsupportedOperation as error:
        raise type(error)(f"{error}. You can only torch.load from a file that is seekable. Please pre-load the data "
                          "into a buffer like io.BytesIO and try to load from it instead.") from None
    yield f
