"""Functions of torch.nn.functional that are not there yet: they exist, and raise NotImplementedError when called."""

_NAMES = frozenset(
    """
    adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool1d_with_indices
    adaptive_max_pool2d adaptive_max_pool2d_with_indices adaptive_max_pool3d adaptive_max_pool3d_with_indices
    affine_grid avg_pool1d avg_pool2d avg_pool3d channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d
    conv_transpose2d conv_transpose3d ctc_loss fold fractional_max_pool2d fractional_max_pool2d_with_indices
    fractional_max_pool3d fractional_max_pool3d_with_indices grid_sample interpolate linear_cross_entropy lp_pool1d
    lp_pool2d lp_pool3d max_pool1d max_pool1d_with_indices max_pool2d max_pool2d_with_indices max_pool3d
    max_pool3d_with_indices max_unpool1d max_unpool2d max_unpool3d multi_head_attention_forward pad pixel_shuffle
    pixel_unshuffle scaled_dot_product_attention unfold upsample upsample_bilinear upsample_nearest
    """.split()
)


def missing_function(module, name):
    """A function that says it is missing; AttributeError for a name that torch has none of either."""
    if name not in _NAMES:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    def missing(*args, **kwargs):
        raise NotImplementedError(f"torch.nn.functional.{name} is not implemented")

    missing.__name__ = missing.__qualname__ = name
    return missing
