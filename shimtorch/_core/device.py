"""Where a tensor lies (device), how (layout, memory_format)."""

_TYPES = ("cpu", "cuda", "meta", "mps", "xpu", "hpu", "mkldnn", "xla")


class device:
    """The place of a tensor's memory: ``device("cpu")``, ``device("cuda", 0)``, ``device("cuda:0")``, ``device(0)``."""

    __slots__ = ("type", "index")
    __module__ = __name__.partition(".")[0]

    def __new__(cls, type=None, index=None):
        if isinstance(type, device):
            return type
        if isinstance(type, int) and not isinstance(type, bool):
            type, index = "cuda", type
        if not isinstance(type, str):
            if getattr(type, "refuses", False):
                type()                 # a dtype that is not there: it says so itself
            raise TypeError(f"device(): argument 'type' must be str, not {type.__class__.__name__}")
        name, colon, number = type.partition(":")
        if colon:
            if index is not None:
                raise RuntimeError("type (string) must not include an index because index was passed explicitly: "
                                   f"{type}")
            if not number.isdigit() or (len(number) > 1 and number[0] == "0"):
                raise RuntimeError(f"Invalid device string: '{type}'")
            index = int(number)
        if name not in _TYPES:
            raise RuntimeError(f"Expected one of {', '.join(_TYPES)} device type at start of device string: {name}")
        if index is not None and index < 0:
            raise RuntimeError("Device index must not be negative")
        self = object.__new__(cls)
        object.__setattr__(self, "type", name)
        object.__setattr__(self, "index", index)
        return self

    def __setattr__(self, name, value):
        raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")

    def __repr__(self):
        return f"device(type='{self.type}'" + (")" if self.index is None else f", index={self.index})")

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, device) and self.type == other.type and self.index == other.index

    def __hash__(self):
        return hash((self.type, self.index))

    def __reduce__(self):
        return device, ((self.type,) if self.index is None else (self.type, self.index))


class _Named:
    __slots__ = ("name",)

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return "torch." + self.name

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self


class layout(_Named):
    """How a tensor's elements are laid out: ``torch.strided``, ``torch.sparse_coo`` ..."""

    __module__ = __name__.partition(".")[0]

    def __reduce__(self):
        return find_layout, (repr(self),)


class memory_format(_Named):
    """The order of a dense tensor's dimensions in memory."""

    __module__ = __name__.partition(".")[0]

    def __reduce__(self):
        return self.name


cpu = device("cpu")
strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc = (
    layout(n) for n in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"))
contiguous_format, preserve_format, channels_last, channels_last_3d = (
    memory_format(n) for n in ("contiguous_format", "preserve_format", "channels_last", "channels_last_3d"))

_LAYOUTS = {repr(a): a for a in (strided, sparse_coo, sparse_csr, sparse_csc, sparse_bsr, sparse_bsc)}


def find_layout(name):
    """The layout of a name such as ``"torch.sparse_coo"``."""
    return _LAYOUTS[name]


def as_device(value):
    """The device a user names, which must be there; of CUDA with its index."""
    if value is None or value is cpu:
        return cpu
    d = device(value)
    if d.type == "cuda":
        from .._gpu.load import resolve
        return resolve(d)
    if d.type != "cpu":
        raise NotImplementedError(f"device '{d.type}' is not implemented in shimtorch")
    return d


def cpu_only(value, what):
    """Refuse a device other than the CPU, where ``what`` is not implemented."""
    if as_device(value) != cpu:
        raise NotImplementedError(f"{what}: not implemented for device '{as_device(value)}'")


def place_on(d):
    """The Place of a CUDA device, given by ``as_device``: what allocates and computes there."""
    from .._gpu.load import runtime
    return runtime().place(d.index)
