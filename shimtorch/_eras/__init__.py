"""What differs between PyTorch versions, and nowhere else: the eras, their policies, 0.3's Variables."""
import os

from .._core.policy import policy
from .table import VERSIONS, policies

__all__ = ["era", "current_era", "version_of"]


def version_of(era):
    """``torch.__version__`` of an era."""
    return VERSIONS[check(era)]


def check(name):
    """An era's name as the table has it; raises ValueError for one that it does not have."""
    if name not in VERSIONS:
        raise ValueError(f"unknown era {name!r}: it must be one of {', '.join(VERSIONS)}")
    return name


def current_era():
    """The name of the era in force."""
    return policy.era


def _apply(name):
    for field, value in policies(check(name)).items():
        setattr(policy, field, value)
    policy.era = name
    if policy.two_types:
        from .variables import wrap_result
        policy.wrap_result = wrap_result
    else:
        policy.wrap_result = None


class era:
    """Choose the PyTorch version to behave like: ``era("0.3")`` from now on, ``with era("0.3"):`` for a while.

    Names: "0.3", "0.4", "1.0", "1.1", "1.11", "modern".
    """

    def __init__(self, name):
        self.before = policy.era
        _apply(name)
        self.name = name

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        _apply(self.before)

    def __call__(self, f):
        """As a decorator: run the function in the era."""
        import functools
        _apply(self.before)

        @functools.wraps(f)
        def wrapped(*args, **kwargs):
            with era(self.name):
                return f(*args, **kwargs)
        return wrapped

    def __repr__(self):
        return f"shimtorch.era({self.name!r})"


_apply(os.environ.get("SHIMTORCH_ERA") or "modern")
