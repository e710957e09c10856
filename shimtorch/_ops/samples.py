"""Sample inputs that a declaration gives its test rows. A sample is (args, kwargs); tensors are drawn by the suite."""


class Draw:
    """Stands for a tensor of a shape, drawn by the test suite in the dtype under test.

    Values lie in [low, high); away_from keeps them off the kinks of an op (0, "integer", "half"); special puts zeros,
    infinities and NaN among them; distinct makes all elements different; dtype overrides the dtype under test; matrix
    makes square matrices well-conditioned ("regular") or Hermitian and positive-definite ("positive").
    """

    __slots__ = ("shape", "low", "high", "dtype", "away_from", "special", "distinct", "matrix")

    def __init__(self, *shape, low=-2.0, high=2.0, dtype=None, away_from=None, special=False, distinct=False,
                 matrix=None):
        self.shape, self.low, self.high, self.dtype = shape, low, high, dtype
        self.away_from, self.special, self.distinct, self.matrix = away_from, special, distinct, matrix

    def __repr__(self):
        return f"Draw{self.shape}"


class Samples:
    """The sample calls of an op, and the dtypes that it takes (a name in the suite's table of dtypes).

    gradcheck: whether derivatives are checked, or a tuple of the calls for which they are; gradgradcheck: second ones.
    reference: gives real torch's function for an op that has another name or signature there, from the torch module.
    seen: what of the results is compared and differentiated, where only some of it is determined (signs of
    eigenvectors); prepare: changes the list of arguments where derivatives are checked (to Hermitian matrices).
    """

    __slots__ = ("calls", "dtypes", "gradcheck", "gradgradcheck", "reference", "seen", "prepare")

    def __init__(self, calls, dtypes="float", gradcheck=True, gradgradcheck=True, reference=None, seen=None,
                 prepare=None):
        self.calls, self.dtypes, self.gradcheck, self.gradgradcheck = calls, dtypes, gradcheck, gradgradcheck
        self.reference, self.seen, self.prepare = reference, seen, prepare


def call(*args, **kwargs):
    """One sample call."""
    return args, kwargs


def integers(*shape, low=0, high=3, dtype="int64"):
    """Integers whatever the dtype under test: indices, targets."""
    return Draw(*shape, low=low, high=high, dtype=dtype)


def mask(*shape):
    """A bool tensor whatever the dtype under test."""
    return Draw(*shape, low=0, high=2, dtype="bool")


def unary(low=-2.0, high=2.0, away_from=None, dtypes="float", special=True, **options):
    """A matrix, a scalar, an empty and a 4-d tensor with values in a range, and a vector with special values."""
    return Samples([call(Draw(*shape, low=low, high=high, away_from=away_from))
                    for shape in ((3, 4), (), (0, 2), (2, 1, 3, 2))]
                   + [call(Draw(12, low=low, high=high, away_from=away_from, special=True))] * special,
                   dtypes, **options)


def binary(low=-2.0, high=2.0, away_from=None, dtypes="float", number=1.5, special=True, **options):
    """Equal shapes, broadcasting both ways, a scalar tensor, a Python number, an empty tensor, special values."""
    def d(*shape, special=False):
        return Draw(*shape, low=low, high=high, away_from=away_from, special=special)
    calls = [call(d(*a), d(*b)) for a, b in (((3, 4), (3, 4)), ((3, 1), (4,)), ((4,), (2, 3, 4)), ((), (3,)),
                                             ((2, 3), ()), ((0, 3), (3,)))]
    if number is not None:
        calls.append(call(d(2, 3), number))
    if special:
        calls.append(call(d(12, 1, special=True), d(12, special=True)))
    return Samples(calls, dtypes, **options)


def reduction(**options):
    """All elements, one dimension, several, kept or not, negative, of scalars and of size 1."""
    return Samples([call(Draw(3, 4)), call(Draw(3, 4), 0), call(Draw(3, 4), -1, True), call(Draw(2, 3, 4), (0, 2)),
                    call(Draw(2, 3, 4), (-1, 0), True), call(Draw()), call(Draw(1, 3), 0), call(Draw(2, 3), dim=1)],
                   **options)
