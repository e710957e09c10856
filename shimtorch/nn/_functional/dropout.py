"""Dropout in its variants.

The masks are drawn as PyTorch draws them. Before 0.5 the functions did not train unless told to; ``training=None``
asks the era.
"""

import warnings

from ... import alpha_dropout as _alpha_dropout
from ... import alpha_dropout_ as _alpha_dropout_
from ... import dropout as _dropout
from ... import dropout_ as _dropout_
from ... import feature_alpha_dropout as _feature_alpha_dropout
from ... import feature_alpha_dropout_ as _feature_alpha_dropout_
from ... import feature_dropout as _feature_dropout
from ... import feature_dropout_ as _feature_dropout_
from ..._core.policy import policy


def _training(given):
    return policy.dropout_training_default if given is None else given


def _check(p):
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


def dropout(input, p=0.5, training=None, inplace=False):
    """Zero elements with probability *p* and scale the others by 1/(1-p), when *training*."""
    _check(p)
    return (_dropout_ if inplace else _dropout)(input, p, _training(training))


def alpha_dropout(input, p=0.5, training=False, inplace=False):
    """Dropout that keeps mean and variance of SELU activations."""
    _check(p)
    return (_alpha_dropout_ if inplace else _alpha_dropout)(input, p, training)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """alpha_dropout of whole channels."""
    _check(p)
    return (_feature_alpha_dropout_ if inplace else _feature_alpha_dropout)(input, p, training)


def _channels(input, p, training, inplace):
    return (_feature_dropout_ if inplace else _feature_dropout)(input, p, training)


def _channels_of_one(input, p, training, inplace):
    """Channel dropout of one example, (C, ...), as a batch of one."""
    result = _channels(input.unsqueeze(0), p, training, inplace)
    return input if inplace else result.squeeze(0)


def dropout1d(input, p=0.5, training=None, inplace=False):
    """Zero whole channels of a (N, C, L) or (C, L) input."""
    _check(p)
    training = _training(training)
    if input.dim() not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {input.dim()}D input. Note that dropout1d exists to "
            "provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an optional "
            "batch dimension (i.e. 2D or 3D inputs)."
        )
    if input.dim() == 2:
        return _channels_of_one(input, p, training, inplace)
    return _channels(input, p, training, inplace)


def _warn_dim(name, dim, spatial, expected):
    warnings.warn(
        f"{name}: Received a {dim}-D input to {name}, which is deprecated and will result in an error in a future "
        "release. To retain the behavior and silence this warning, please use dropout instead. Note that "
        f"{name} exists to provide channel-wise dropout on inputs with {spatial} spatial dimensions, a channel "
        f"dimension, and an optional batch dimension (i.e. {expected} inputs).",
        stacklevel=3,
    )


def dropout2d(input, p=0.5, training=None, inplace=False):
    """Zero whole channels of a (N, C, H, W) input; a 3-d input is taken for (N, C, L)."""
    _check(p)
    if input.dim() not in (3, 4):
        _warn_dim("dropout2d", input.dim(), 2, "3D or 4D")
    if input.dim() == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior is "
            "desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior will "
            "change in a future release to interpret the input as one without a batch dimension, i.e. shape "
            "(C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using dropout1d instead.",
            stacklevel=2,
        )
    return _channels(input, p, _training(training), inplace)


def dropout3d(input, p=0.5, training=None, inplace=False):
    """Zero whole channels of a (N, C, D, H, W) or (C, D, H, W) input."""
    _check(p)
    training = _training(training)
    if input.dim() not in (4, 5):
        _warn_dim("dropout3d", input.dim(), 3, "4D or 5D")
    if input.dim() != 5:
        return _channels_of_one(input, p, training, inplace)
    return _channels(input, p, training, inplace)
