"""``torch._tensor_str``: the print settings, where scripts that read or keep them look for them."""

from ._core.policy import policy
from ._core.printing import PRINT_OPTS, get_printoptions, printoptions, set_printoptions, tensor_repr

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]


def _str(self, *, tensor_contents=None):
    """``repr(self)``, with ``tensor_contents`` in place of the elements where that is given."""
    return tensor_repr(self, policy.print_style, tensor_contents)
