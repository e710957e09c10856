"""Arguments of ops that Python would take in more types than torch does."""
from .._core.tensor import TensorBase


def checked(x):
    """x, which must be a tensor: for ops that do nothing with it."""
    if not isinstance(x, TensorBase):
        raise TypeError(f"argument 'input' (position 1) must be Tensor, not {type(x).__name__}")
    return x


def flag(value):
    """Refuse what is no bool; the op says which argument that was (``_core/misuse.py``)."""
    if value is not True and value is not False and type(value).__name__ not in ("bool", "bool_"):
        raise TypeError(f"expected a bool, got {type(value).__name__}")
