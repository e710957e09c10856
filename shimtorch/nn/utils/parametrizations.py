"""Orthogonal, normalised and spectrally normalised weights as parametrizations (torch.nn.utils.parametrizations)."""

from enum import Enum, auto

from ... import _ops
from ..._core import Tensor
from ..._core.grad_mode import no_grad
from .._functional.normalization import normalize
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..modules.module import Module
from . import parametrize
from .weight_norm import _norm_except_dim

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


def _tensor_of(module, name):
    weight = getattr(module, name, None)
    if not isinstance(weight, Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    return weight


def _is_orthogonal(matrix):
    from ... import finfo

    n, k = matrix.size(-2), matrix.size(-1)
    identity = _ops.eye(k, dtype=matrix.dtype, device=matrix.device)
    return (matrix.mH @ matrix).allclose(identity, atol=10 * n * finfo(matrix.dtype).eps)


def _make_orthogonal(matrix):
    """The orthogonal factor of a tall matrix, with the signs that make the other factor's diagonal positive."""
    from ... import geqrf, linalg

    reflectors, tau = geqrf(matrix)
    return linalg.householder_product(reflectors, tau) * reflectors.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _OrthMaps(Enum):
    matrix_exp = auto()
    cayley = auto()
    householder = auto()


class _Orthogonal(Module):
    """A matrix made orthogonal (of a wide one, its transpose): the map of a skew-symmetric matrix, or reflections."""

    def __init__(self, weight, orthogonal_map, *, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == _OrthMaps.householder:
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        """The orthogonal matrix of X, (..., n, k)."""
        from ... import cat, linalg

        wide = X.size(-2) < X.size(-1)
        if wide:
            X = X.mT
        n, k = X.size(-2), X.size(-1)
        if self.orthogonal_map == _OrthMaps.householder:
            A = X.tril(diagonal=-1)
            tau = 2.0 / (1.0 + (A * A).sum(-2))
            Q = linalg.householder_product(A, tau)
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)  # the signs that right_inverse put there
        else:
            X = X.tril()
            if n != k:
                X = cat([X, X.new_zeros(n, n - k).expand(*X.shape[:-2], -1, -1)], dim=-1)
            A = X - X.mH
            if self.orthogonal_map == _OrthMaps.matrix_exp:
                Q = linalg.matrix_exp(A)
            else:
                identity = _ops.eye(n, dtype=A.dtype, device=A.device)
                Q = linalg.solve(_ops.add(identity, A, alpha=-0.5), _ops.add(identity, A, alpha=0.5))
            if n != k:
                Q = Q[..., :k]
        if hasattr(self, "base"):
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q):
        """What to store for Q, which is made orthogonal if it is not; Q becomes the base if there is one."""
        from ... import cat, geqrf, randn, zeros_like

        if Q.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}."
            )
        given = Q
        wide = Q.size(-2) < Q.size(-1)
        if wide:
            Q = Q.mT
        n, k = Q.size(-2), Q.size(-1)
        if not hasattr(self, "base"):
            if self.orthogonal_map != _OrthMaps.householder:
                raise NotImplementedError(
                    "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                    "use_trivialization=False."
                )
            A, tau = geqrf(Q)
            signs = A.diagonal(dim1=-2, dim2=-1)
            signs.sign_()
            signs[tau == 0.0] *= -1  # a reflection that was left out
            return A.mT if wide else A
        if n == k:
            Q = Q.clone() if _is_orthogonal(Q) else _make_orthogonal(Q)
        else:
            more = randn(*(Q.size()[:-2] + (n, n - k)), dtype=Q.dtype, device=Q.device)
            Q = _make_orthogonal(cat([Q, more], dim=-1))
        self.base = Q
        # The map of minus the identity's lower half is the identity, for which the base was made.
        stored = zeros_like(given)
        stored.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return stored


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """Keep the matrix (or batch of matrices) *name* orthogonal: its columns, or its rows if it is wide.

    *orthogonal_map*: "matrix_exp" (default for square and complex ones), "cayley" or "householder" (default).
    With *use_trivialization* the map is taken around the present value. Returns *module*.
    """
    weight = _tensor_of(module, name)
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square or weight.is_complex() else "householder"
    kind = getattr(_OrthMaps, orthogonal_map, None)
    if kind is None:
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    orth = _Orthogonal(weight, kind, use_trivialization=use_trivialization)
    parametrize.register_parametrization(module, name, orth, unsafe=True)
    return module


class _WeightNorm(Module):
    """A tensor as its length along all dimensions but one, times its direction."""

    def __init__(self, dim=0):
        super().__init__()
        self.dim = None if dim is None or dim == -1 else dim

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / _norm_except_dim(weight_v, self.dim))

    def right_inverse(self, weight):
        return _norm_except_dim(weight, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """Store the tensor *name* as its length (original0) and direction (original1).

    *dim*: the dimension that has a length for every index; None for one length of all. States that the older
    ``torch.nn.utils.weight_norm`` saved can be loaded. Returns *module*.
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def rename(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(rename)
    return module


class _SpectralNorm(Module):
    """A tensor divided by the largest singular value of it as a matrix, found by power iteration."""

    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, cols = matrix.size()
            u = matrix.new_empty(rows).normal_(0, 1)
            v = matrix.new_empty(cols).normal_(0, 1)
            self.register_buffer("_u", normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", normalize(v, dim=0, eps=eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, matrix, times):
        with no_grad():
            for _ in range(times):
                self._u.copy_(normalize(matrix.mv(self._v), dim=0, eps=self.eps))
                self._v.copy_(normalize(matrix.mH.mv(self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()  # backward needs them as they are now
        return weight / _ops.vdot(u, matrix.mv(v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide the tensor *name* by its largest singular value; *dim* is the dimension of the outputs.

    Every read in training mode improves the estimate by *n_power_iterations* steps. Returns *module*.
    """
    weight = _tensor_of(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    parametrize.register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
