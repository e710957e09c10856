"""Cross entropy of a linear map, in one function as torch has it since 2.13."""

from ... import _ops
from .classification import cross_entropy

linear = _ops.linear


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction="mean",
                         ignore_index=None, label_smoothing=0.0, options=None):
    """``cross_entropy(linear(input, linear_weight, linear_bias), target, ...)``.

    *input* is (N, in) or (in,), *linear_weight* (C, d1, ..., in) with a bias (C, d1, ...); the target holds classes
    (N, d1, ...) or probabilities (N, C, d1, ...). *options* (LinearCrossEntropyOptions) choose in torch the pieces in
    which a big batch is computed; here they change nothing, and all the scores are in memory at once.
    """
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    features, shape = linear_weight.size(-1), tuple(linear_weight.shape[:-1])
    if input.size(-1) != features:
        raise RuntimeError("expected equal input and linear_weight last dimensions (in_features), got "
                           f"{input.size(-1)} and {features}, respectively")
    if len(shape) > 1 and input.dim() == 1:
        raise RuntimeError(f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires "
                           f"batched input, (N, {features}), got unbatched input with shape ({features},)")
    if linear_bias is not None and tuple(linear_bias.shape) != shape:
        raise RuntimeError(f"expected linear_bias shape {shape}, got {tuple(linear_bias.shape)}")
    if target.is_floating_point() and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    scores = linear(input, linear_weight.reshape(-1, features),
                         None if linear_bias is None else linear_bias.reshape(-1))
    if len(shape) > 1:
        scores = scores.reshape(-1, *shape)
    return cross_entropy(scores, target, weight, ignore_index=-100 if ignore_index is None else ignore_index,
                         reduction=reduction, label_smoothing=label_smoothing)
