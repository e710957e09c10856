"""``torch.linalg``: linear algebra on batches of matrices, by LAPACK."""
from .._core import OPS as _OPS
from .._ops import later as _later
from .._ops.linalg_base import LinAlgError

_later.load_space("linalg")
for _key, _op in _OPS.items():
    if _key.startswith("torch.linalg."):
        globals()[_key[len("torch.linalg."):]] = _op
