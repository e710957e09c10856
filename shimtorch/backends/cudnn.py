"""``torch.backends.cudnn``: scripts set these; without CUDA they have no effect."""
import contextlib

enabled, benchmark, deterministic, allow_tf32, verbose = True, False, False, True, False


def is_available():
    """Whether cuDNN can be used: no."""
    return False


def version():
    """The version of cuDNN: None, there is none."""
    return None


def is_acceptable(tensor):
    """Whether cuDNN could take a tensor: no."""
    return False


@contextlib.contextmanager
def flags(enabled=False, benchmark=False, deterministic=False, allow_tf32=True, verbose=False):
    """The switches set for a while."""
    before = {name: globals()[name] for name in ("enabled", "benchmark", "deterministic", "allow_tf32")}
    globals().update(enabled=enabled, benchmark=benchmark, deterministic=deterministic, allow_tf32=allow_tf32)
    try:
        yield
    finally:
        globals().update(before)
