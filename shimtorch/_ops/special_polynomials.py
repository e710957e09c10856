"""``torch.special``: orthogonal polynomials of degree n at x; n and x are tensors or numbers."""
from .._core.pointwise import binary
from .samples import Draw, Samples, call, integers
from .special import no_derivative

_SAMPLES = Samples([call(Draw(3, 4), integers(4, high=6)), call(Draw(5), 3), call(0.5, integers(5, high=7)),
                    call(Draw(), integers(high=6)), call(Draw(6), integers(6, low=7, high=30)),
                    call(Draw(3, dtype="float32"), integers(2, 3, low=-2, high=2))], gradcheck=False)


def _declare(name, doc):
    binary(name, result="float", namespace="torch.special", method=False, inplace=False, samples=_SAMPLES,
           renames={"n": "other"}, overloads=True, differentiable=False, grads={
               "self": lambda g: no_derivative("special_" + name, "input"),
               "other": lambda g: no_derivative("special_" + name, "n")},
           doc=f"The {doc} of degree n at x, 0 where n is negative.")


for _letter in "tuvw":
    _declare(f"chebyshev_polynomial_{_letter}", f"Chebyshev polynomial {_letter.upper()}")
    _declare(f"shifted_chebyshev_polynomial_{_letter}", f"Chebyshev polynomial {_letter.upper()} of 2 x - 1")
_declare("hermite_polynomial_h", "Hermite polynomial H")
_declare("hermite_polynomial_he", "Hermite polynomial He")
_declare("laguerre_polynomial_l", "Laguerre polynomial L")
_declare("legendre_polynomial_p", "Legendre polynomial P")
