"""Sample inputs that a declaration gives its test row. A sample is (args, kwargs); arrays are made by ``draw``."""


class Draw:
    """Stands for a tensor of a shape, drawn by the test suite in the dtype under test."""

    __slots__ = ("shape", "low", "high", "dtype", "away_from")

    def __init__(self, *shape, low=-2.0, high=2.0, dtype=None, away_from=None):
        self.shape, self.low, self.high, self.dtype, self.away_from = shape, low, high, dtype, away_from

    def __repr__(self):
        return f"Draw{self.shape}"


class Samples:
    """The sample calls of an op, and the dtypes that it takes."""

    __slots__ = ("calls", "dtypes", "gradcheck", "gradgradcheck")

    def __init__(self, calls, dtypes="float", gradcheck=True, gradgradcheck=True):
        self.calls, self.dtypes, self.gradcheck, self.gradgradcheck = calls, dtypes, gradcheck, gradgradcheck


def call(*args, **kwargs):
    """One sample call."""
    return args, kwargs


def unary(low=-2.0, high=2.0, away_from=None, dtypes="float", **options):
    """A matrix, a scalar, an empty and a 4-d tensor, with values in a range."""
    return Samples([call(Draw(*shape, low=low, high=high, away_from=away_from))
                    for shape in ((3, 4), (), (0, 2), (2, 1, 3, 2))], dtypes, **options)


def binary(low=-2.0, high=2.0, away_from=None, dtypes="float", number=1.5, **options):
    """Equal shapes, broadcasting both ways, a scalar tensor, a Python number, an empty tensor."""
    def d(*shape):
        return Draw(*shape, low=low, high=high, away_from=away_from)
    calls = [call(d(*a), d(*b)) for a, b in (((3, 4), (3, 4)), ((3, 1), (4,)), ((4,), (2, 3, 4)), ((), (3,)),
                                             ((2, 3), ()), ((0, 3), (3,)))]
    if number is not None:
        calls.append(call(d(2, 3), number))
    return Samples(calls, dtypes, **options)


def reduction(**options):
    """All elements, one dimension, several, kept or not, negative, of scalars and of size 1."""
    return Samples([call(Draw(3, 4)), call(Draw(3, 4), 0), call(Draw(3, 4), -1, True), call(Draw(2, 3, 4), (0, 2)),
                    call(Draw(2, 3, 4), (-1, 0), True), call(Draw()), call(Draw(1, 3), 0), call(Draw(2, 3), dim=1)],
                   **options)
