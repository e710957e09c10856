"""The von Mises distribution (torch.distributions.von_mises)."""

import math

from .. import _ops
from .._core.dtype import bool as bool_dtype
from .._core.dtype import float64
from ..autograd import no_grad
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]

# The exponentially scaled modified Bessel functions of order 0 and 1: polynomials in (x/3.75)**2 for |x| < 3.75, and in
# 3.75/|x| beyond (Abramowitz and Stegun 9.8.1 to 9.8.4).
_SMALL = ((1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2),
          (0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3))
_LARGE = ((0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1,
           0.392377e-2),
          (0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1,
           0.1787654e-1, -0.420059e-2))


def _polynomial(y, coefficients):
    result = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result = coefficient + y * result
    return result


def _log_modified_bessel(x, order):
    """log I_order(x) for x > 0."""
    small = _polynomial((x / 3.75) ** 2, _SMALL[order])
    small = (x.abs() * small if order else small).log()
    large = x - 0.5 * x.log() + _polynomial(3.75 / x, _LARGE[order]).log()
    return _ops.where(x < 3.75, small, large)


class VonMises(Distribution):
    """Angles around *loc*, the closer the greater *concentration*."""

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, (), validate_args)

    def expand(self, batch_shape, _instance=None):
        if _instance is None and type(self) is VonMises:
            return VonMises(self.loc.expand(batch_shape), self.concentration.expand(batch_shape),
                            validate_args=self._validate_args)
        return self._expanded(VonMises, batch_shape, _instance, ("loc", "concentration"))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.concentration * (value - self.loc).cos()
        return log_prob - math.log(2 * math.pi) - _log_modified_bessel(self.concentration, 0)

    @lazy_property
    def _proposal_r(self):
        """The parameter of the wrapped Cauchy distribution that samples are proposed from."""
        kappa = self.concentration.to(float64)
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return _ops.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    def sample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        loc, concentration = self.loc.to(float64), self.concentration.to(float64)
        with no_grad():
            r = self._proposal_r.expand(shape)
            concentration = concentration.expand(shape)
            x = _ops.zeros(shape, dtype=float64)
            done = _ops.zeros(shape, dtype=bool_dtype)
            while not done.all():
                u1, u2, u3 = _ops.rand((3, *shape), dtype=float64).unbind()
                z = (math.pi * u1).cos()
                f = (1 + r * z) / (r + z)
                c = concentration * (r - f)
                accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
                if accept.any():
                    x = _ops.where(accept, (u3 - 0.5).sign() * f.acos(), x)
                    done = done | accept
            return ((x + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self):
        return self.loc

    @property
    def mode(self):
        return self.loc

    @lazy_property
    def variance(self):
        return 1 - (_log_modified_bessel(self.concentration, 1) - _log_modified_bessel(self.concentration, 0)).exp()
