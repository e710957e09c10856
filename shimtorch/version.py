"""``torch.version``: the version of the era, and what the build was made with."""
from ._core.policy import policy

cuda = hip = xpu = None
git_version = "shimtorch"
debug = False


def __getattr__(name):
    if name == "__version__":
        return policy.version
    raise AttributeError(f"module 'torch.version' has no attribute '{name}'")
