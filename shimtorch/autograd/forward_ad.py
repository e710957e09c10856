"""``torch.autograd.forward_ad``: forward-mode differentiation does not exist here."""

_NAMES = ("UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual")


def __getattr__(name):
    if name in _NAMES:
        raise NotImplementedError(f"autograd.forward_ad.{name} is not implemented; autograd.functional.jvp gives "
                                  "Jacobian-vector products")
    raise AttributeError(f"module 'torch.autograd.forward_ad' has no attribute {name!r}")
