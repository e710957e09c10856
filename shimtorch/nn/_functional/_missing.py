"""Functions of torch.nn.functional that are not there yet: they exist, and raise NotImplementedError when called."""

_NAMES = frozenset(
    """
    adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices affine_grid
    conv_tbc ctc_loss fractional_max_pool2d fractional_max_pool2d_with_indices fractional_max_pool3d
    fractional_max_pool3d_with_indices grid_sample linear_cross_entropy max_unpool1d max_unpool2d max_unpool3d
    multi_head_attention_forward scaled_dot_product_attention
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
