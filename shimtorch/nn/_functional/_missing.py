"""Functions of torch.nn.functional that are not there yet: they exist, and raise NotImplementedError when called."""

_NAMES = frozenset(
    """
    conv_tbc linear_cross_entropy
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
