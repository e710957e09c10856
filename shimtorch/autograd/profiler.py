"""``torch.autograd.profiler``: there is no profiler here. Python's ``cProfile`` and ``perf`` see all of it."""

__all__ = ["profile", "record_function", "emit_itt", "emit_nvtx", "load_nvprof"]


class profile:
    """Not implemented; with ``enabled=False`` a context that does nothing."""

    def __init__(self, enabled=True, **options):
        if enabled:
            raise NotImplementedError("autograd.profiler.profile is not implemented")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass


class emit_nvtx(profile):
    """Not implemented; with ``enabled=False`` a context that does nothing."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise NotImplementedError("autograd.profiler.emit_nvtx is not implemented")


class emit_itt(profile):
    """Not implemented; with ``enabled=False`` a context that does nothing."""

    def __init__(self, enabled=True, record_shapes=False):
        if enabled:
            raise NotImplementedError("autograd.profiler.emit_itt is not implemented")


class record_function:
    """A named stretch of code, as a context or a decorator; the name would show in a profile."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        pass

    def __call__(self, f):
        return f


def load_nvprof(path):
    """Not implemented."""
    raise NotImplementedError("autograd.profiler.load_nvprof is not implemented")
