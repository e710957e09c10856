"""Weights divided by their largest singular value, by a hook (torch.nn.utils.spectral_norm)."""

from .._functional.normalization import normalize
from ..parameter import Parameter

__all__ = ["SpectralNorm", "spectral_norm", "remove_spectral_norm"]


class SpectralNorm:
    """The hook: before every forward, sets the weight to W / sigma, by power iteration in training mode.

    The module keeps W as *name*_orig and the singular vectors as buffers *name*_u and *name*_v.
    """

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight):
        """The weight as a matrix with dimension *dim* as its rows."""
        if self.dim != 0:
            weight = weight.transpose(0, self.dim)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, do_power_iteration):
        """W / sigma, after improving the singular vectors if asked."""
        from ... import no_grad

        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(normalize(matrix.t().mv(u), dim=0, eps=self.eps))
                    u.copy_(normalize(matrix.mv(v), dim=0, eps=self.eps))
                # The vectors saved for backward must survive the next iteration.
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    def remove(self, module):
        """Make the weight a plain parameter again."""
        from ... import no_grad

        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        delattr(module, self.name)
        for suffix in ("_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Put the hook on *module*."""
        from ... import no_grad

        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        with no_grad():
            rows, cols = hook.reshape_weight_to_matrix(weight).shape
            u = normalize(weight.new_empty(rows).normal_(0, 1), dim=0, eps=eps)
            v = normalize(weight.new_empty(cols).normal_(0, 1), dim=0, eps=eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_SpectralNormStateDictHook(hook))
        module._register_load_state_dict_pre_hook(_SpectralNormLoadStateDictPreHook(hook))
        return hook


class _SpectralNormLoadStateDictPreHook:
    """Makes of a state of version 0 (before 1.0), which has the divided weight but not *name*_v, one of today."""

    def __init__(self, fn):
        self.fn = fn  # what wraps this object takes over its attributes, and has one named hook

    def __call__(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        from ... import no_grad

        hook = self.fn
        version = local_metadata.get("spectral_norm", {}).get(hook.name + ".version", None)
        key = prefix + hook.name
        if version is None and key not in state_dict and all(key + s in state_dict for s in ("_orig", "_u", "_v")):
            return  # a version that forgot to note itself
        if version is not None and version >= 1:
            return
        missing = [key + suffix for suffix in ("_orig", "", "_u") if key + suffix not in state_dict]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, u = state_dict[key + "_orig"], state_dict[key + "_u"]
            sigma = (original / state_dict.pop(key)).mean()
            state_dict[key + "_v"] = _solve_v(hook.reshape_weight_to_matrix(original), u, sigma)


def _solve_v(matrix, u, sigma):
    """The v with ``u @ matrix @ v == sigma`` that lies along what the power iteration's last step divided by."""
    v = (matrix.t().mm(matrix).pinverse() @ matrix.t() @ u.unsqueeze(1)).squeeze(1)
    return v * (sigma / u.dot(matrix.mv(v)))


class _SpectralNormStateDictHook:
    """Notes in the metadata which version of the hook the state belongs to."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.hook.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.hook._version


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """Divide the parameter *name* by its largest singular value.

    *dim* is its dimension of outputs: by default 1 for transposed convolutions, 0 for all else.
    """
    from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d

    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Undo spectral_norm."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for key, hook in module._state_dict_hooks.items():
        if isinstance(hook, _SpectralNormStateDictHook) and hook.hook.name == name:
            del module._state_dict_hooks[key]
            break
    for key, wrapped in module._load_state_dict_pre_hooks.items():
        if isinstance(wrapped.hook, _SpectralNormLoadStateDictPreHook) and wrapped.hook.fn.name == name:
            del module._load_state_dict_pre_hooks[key]
            break
    return module
