"""Families of ops that are declared when one of their names is first used, so that importing costs nothing of them."""
import importlib

# Module: names that are functions and methods, functions only, methods only, and other namespaces that it fills.
FAMILIES = {
    "linalg_factor": ("cholesky geqrf orgqr ormqr qr", "lu_unpack", "", "linalg"),
    "linalg_solve": ("cholesky_inverse cholesky_solve det inverse logdet lu_solve slogdet", "", "", "linalg"),
    "linalg_spectra": ("matrix_exp pinverse svd", "", "", "linalg"),
    "linalg_norms": ("", "nuclear_norm", "", "linalg"),
    "linalg_lowrank": ("", "lobpcg pca_lowrank svd_lowrank", "", ""),
    "margins": ("", "", "", ""),
    "segments": ("nonzero_static", "histogramdd segment_reduce", "", ""),
    "fourier": ("", "", "", "fft"),
    "fourier_old": ("fft ifft irfft istft rfft stft", "", "", ""),
    "special_bessel": ("", "", "", "special"),
    "special_polynomials": ("", "", "", "special"),
    "view_copies": ("", " ".join(name + "_copy" for name in (
        "alias as_strided detach diagonal expand permute select slice split split_with_sizes squeeze t transpose "
        "unbind unfold unsqueeze view view_as_complex view_as_real").split()), "", ""),
    "linalg_old": ("btrifact btrifact_with_info btrisolve eig gels gesv lstsq lu potrf potri potrs pstrf solve symeig "
                   "triangular_solve trtrs", "btriunpack matrix_rank", "", ""),
}
FUNCTIONS = {name: module for module, (both, functions, _, _) in FAMILIES.items()
             for name in f"{both} {functions}".split()}
METHODS = {name: module for module, (both, _, methods, _) in FAMILIES.items() for name in f"{both} {methods}".split()}


class LaterMethod:
    """Stands for a method on Tensor until it is first asked for; then its family is declared and takes its place."""

    __slots__ = ("name", "module")

    def __init__(self, name, module):
        self.name, self.module = name, module

    def __get__(self, instance, owner):
        load(self.module)
        return getattr(owner if instance is None else instance, self.name)


def load(module):
    """Declare a family; its methods go on Tensor."""
    from .._core import METHODS as declared
    from .._tensor import Tensor
    from ._sparse_parts import refuse_new
    importlib.import_module("." + module, __package__)
    refuse_new()
    for name, home in METHODS.items():
        if home == module:
            setattr(Tensor, name, declared[name])


def load_space(space):
    """Declare all families of a namespace such as "linalg"."""
    for module, parts in FAMILIES.items():
        if space in parts[3].split():
            load(module)


def load_all():
    """Declare every family."""
    for module in FAMILIES:
        load(module)


def function(name):
    """A function of torch by its name, its family declared; None if it is of none."""
    from .._core import OPS
    if name not in FUNCTIONS:
        return None
    load(FUNCTIONS[name])
    return OPS["torch." + name]
