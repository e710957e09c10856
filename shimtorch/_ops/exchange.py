"""DLPack: a tensor's memory for other libraries, by way of NumPy."""


def dlpack(self, *, stream=None, max_version=None, dl_device=None, copy=None):
    """A DLPack capsule with the tensor's memory."""
    if self.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
    return self._ndarray().__dlpack__(**{k: v for k, v in options.items() if v is not None})


def dlpack_device(self):
    """The kind and number of the tensor's device: the CPU."""
    return self._ndarray().__dlpack_device__()
