"""``torch.special``: special functions."""
from .._core import OPS as _OPS
from .._ops import later as _later

_later.load_space("special")
for _key, _op in list(_OPS.items()):
    if _key.startswith("torch.special."):
        globals()[_key[len("torch.special."):]] = _op
# Functions of torch, some under another name.
for _name, _there in {name: name for name in (
        "digamma", "erf", "erfc", "erfinv", "exp2", "expm1", "i0", "log1p", "log_softmax", "logit", "logsumexp",
        "polygamma", "round", "sinc", "softmax", "xlogy")}.items() | {
        "expit": "sigmoid", "gammainc": "igamma", "gammaincc": "igammac", "gammaln": "lgamma",
        "multigammaln": "mvlgamma", "psi": "digamma"}.items():
    globals()[_name] = _OPS["torch." + _there]
