"""``torch.utils.ffi``: extensions in C of PyTorch 0.x, which cannot be built here."""

__all__ = ["create_extension"]


def create_extension(name, headers, sources, verbose=True, with_cuda=False, package=False, relative_to=".", **kwargs):
    """Not implemented: extensions need the headers and libraries of PyTorch 0.x."""
    raise NotImplementedError("torch.utils.ffi.create_extension is not implemented: extensions need the headers and "
                              "libraries of PyTorch 0.x")
