"""``torch.types``: names for annotations."""
import builtins
from collections.abc import Sequence
from typing import Any

from ._core.device import device
from ._core.dtype import dtype
from ._core.tensor import Size
from ._storages import UntypedStorage as Storage
from ._tensor import Tensor

__all__ = ["Device", "FileLike", "Number", "Storage"]

_dtype, _device, _size = dtype, device, Size | list[int] | tuple[int, ...]
_int, _float, _bool, _complex, _symint = builtins.int, builtins.float, builtins.bool, builtins.complex, builtins.int
_TensorOrTensors = Tensor | Sequence[Tensor]
Number = int | float | bool
Device = device | str | int | None
FileLike = Any
