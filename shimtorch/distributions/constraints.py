"""Sets that parameters and samples must lie in (torch.distributions.constraints)."""

from .. import _ops
from .._core.dtype import bool as bool_dtype

__all__ = ["Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than",
           "greater_than_eq", "half_open_interval", "independent", "integer_interval", "interval", "is_dependent",
           "less_than", "lower_cholesky", "lower_triangular", "MixtureSameFamilyConstraint", "multinomial",
           "nonnegative", "nonnegative_integer", "one_hot", "positive", "positive_definite", "positive_integer",
           "positive_semidefinite", "real", "real_vector", "simplex", "square", "stack", "symmetric", "unit_interval"]


class Constraint:
    """A set of tensors: ``check(value)`` says where a value lies in it.

    *event_dim*: how many of the last dimensions are judged together; *is_discrete*: whether the set is.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """A bool tensor of the batch shape of *value*."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """A set that depends on other parameters."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self):
        """Whether the set is discrete, if that is known."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        """How many dimensions are judged together, if that is known."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with more known of it."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Whether a constraint depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a constraint, and is one that depends when it is asked of the class."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn):
        """Decorates a function."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """Another constraint, the last dimensions of which are judged together."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self):
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        """That of the base, and the dimensions that are added."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        if result.dim() < self.reinterpreted_batch_ndims:
            expected = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {expected} but got {value.dim()}")
        return result.reshape(result.shape[: result.dim() - self.reinterpreted_batch_ndims] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The set that a mixture's samples lie in: that of its components, whose dimension is added."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self):
        """As of the base."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        """As of the base."""
        return self.base_constraint.event_dim

    def check(self, value):
        place = value.dim() - self.event_dim
        result = self.base_constraint.check(value.unsqueeze(place))
        over = self.event_dim
        if value.dim() < over:
            raise ValueError(f"Expected value.dim() >= {over} but got {value.dim()}")
        result = result.reshape(result.shape[: value.dim() - over] + (-1,))
        return result.all(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and a one."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _Bounds(Constraint):
    """A set with a lower and an upper bound."""

    _names = "lower_bound", "upper_bound"

    def __init__(self, *bounds):
        for name, bound in zip(self._names, bounds, strict=True):
            setattr(self, name, bound)
        super().__init__()

    def __repr__(self):
        values = ", ".join(f"{name}={getattr(self, name)}" for name in self._names)
        return f"{type(self).__name__[1:]}({values})"


class _IntegerInterval(_Bounds):
    """The integers from a bound to another, both included."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Bounds):
    """The integers from a bound on."""

    is_discrete = True
    _names = ("lower_bound",)

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _IntegerLessThan(_Bounds):
    """The integers up to a bound."""

    is_discrete = True
    _names = ("upper_bound",)

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _Real(Constraint):
    """All numbers but NaN."""

    def check(self, value):
        return value == value


class _GreaterThan(_Bounds):
    """Numbers above a bound."""

    _names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_Bounds):
    """Numbers from a bound on."""

    _names = ("lower_bound",)

    def check(self, value):
        return self.lower_bound <= value


class _LessThan(_Bounds):
    """Numbers below a bound."""

    _names = ("upper_bound",)

    def check(self, value):
        return value < self.upper_bound


class _Interval(_Bounds):
    """Numbers from a bound to another, both included."""

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounds):
    """Numbers from a bound up to another, which is not included."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors of numbers from 0 on that add up to 1."""

    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that add up to at most *upper_bound*."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, x):
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Square matrices with nothing above the diagonal."""

    event_dim = 2

    def check(self, value):
        return _all_of_matrix(value.tril() == value)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value):
        return _all_of_matrix(value.tril() == value) & (value.diagonal(0, -2, -1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of length 1."""

    event_dim = 2

    def check(self, value):
        from .utils import eps_of

        tolerance = eps_of(value) * value.size(-1) * 10
        lengths = (value * value).sum(-1).sqrt()
        return lower_cholesky.check(value) & ((lengths - 1).abs() < tolerance).all(-1)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        return _ops.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=bool_dtype, device=value.device)


class _Symmetric(_Square):
    """Symmetric matrices."""

    def check(self, value):
        square = super().check(value)
        return _all_of_matrix((value - value.mT).abs() <= 1e-6 + 1e-5 * value.mT.abs()) if square.all() else square


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        from .. import linalg

        return linalg.eigvalsh(value).ge(0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues."""

    def check(self, value):
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        from .. import linalg

        return linalg.cholesky_ex(value)[1].eq(0)


def _all_of_matrix(mask):
    return mask.reshape(mask.shape[:-2] + (-1,)).min(-1)[0].to(bool_dtype)


class _Joined(Constraint):
    """Other constraints on parts of a tensor along a dimension."""

    def __init__(self, cseq, dim=0):
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("a sequence of constraints is expected")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self):
        """Whether one of them is."""
        return any(c.is_discrete for c in self.cseq)

    @property
    def event_dim(self):
        """The most of theirs."""
        return max(c.event_dim for c in self.cseq)


class _Cat(_Joined):
    """Constraints on pieces, of the given lengths, of a tensor."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = list(lengths) if lengths is not None else [1] * len(self.cseq)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError("one length to each constraint is expected")

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"there is no dimension {self.dim}")
        checks, start = [], 0
        for constraint, length in zip(self.cseq, self.lengths, strict=True):
            checks.append(constraint.check(value.narrow(self.dim, start, length)))
            start += length
        return _ops.cat(checks, self.dim)


class _Stack(_Joined):
    """Constraints on the slices of a tensor."""

    @property
    def event_dim(self):
        """The most of theirs, and the dimension along which they are stacked if it is a last one."""
        dim = super().event_dim
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"there is no dimension {self.dim}")
        slices = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return _ops.stack([c.check(v) for v, c in zip(slices, self.cseq, strict=True)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
