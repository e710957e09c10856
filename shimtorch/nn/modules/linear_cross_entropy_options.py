"""How torch computes linear_cross_entropy in pieces (torch.nn.modules.linear_cross_entropy_options)."""

from ..._core.dtype import bfloat16, float16, float32, float64

__all__ = ["LinearCrossEntropyOptions"]


class LinearCrossEntropyOptions:
    """The choices of torch's computation in pieces of the batch: checked and kept, they change no number here."""

    __slots__ = ("allow_retain_graph", "batch_chunk_size", "chunking_method", "acc_policy", "acc_dtype")
    __match_args__ = __slots__

    def __init__(self, allow_retain_graph=False, batch_chunk_size=None, chunking_method="auto", acc_policy="auto",
                 acc_dtype=None):
        if batch_chunk_size is not None and (not isinstance(batch_chunk_size, int) or batch_chunk_size < 1):
            raise ValueError(f"batch_chunk_size must be positive int or None, got {batch_chunk_size}")
        method = (chunking_method or "auto").partition(":")
        if method[0] not in ("auto", "aspect_ratio") or (method[1] and not method[2].isdigit()):
            raise ValueError(f"invalid chunking_method: {chunking_method!r}")
        if acc_policy not in ("accurate", "balanced", "compact", "auto"):
            raise ValueError(f"invalid acc_policy: {acc_policy!r}")
        if acc_dtype not in (None, float16, bfloat16, float32, float64):
            raise ValueError("acc_dtype must be one of {None, torch.float16, torch.bfloat16, torch.float32, "
                             f"torch.float64}}, got {acc_dtype}. Pass acc_dtype=None to let the op pick automatically.")
        values = (allow_retain_graph, batch_chunk_size, chunking_method, acc_policy, acc_dtype)
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def _values(self):
        return tuple(getattr(self, name) for name in self.__slots__)

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}")

    def __reduce__(self):
        return type(self), self._values()

    def __eq__(self, other):
        return self._values() == other._values() if type(other) is type(self) else NotImplemented

    def __hash__(self):
        return hash(self._values())

    def __repr__(self):
        parts = ", ".join(f"{name}={value!r}" for name, value in zip(self.__slots__, self._values(), strict=True))
        return f"{type(self).__name__}({parts})"
