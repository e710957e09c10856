"""Views as copies: ``transpose_copy`` and its kin give what ``transpose`` shows, in memory of its own."""
from .._core import METHODS, OPS
from .._core.declaring import op
from .._core.device import contiguous_format
from .samples import Draw, Samples, call
from .shape import slice_, wrap

_CALLS = {
    "alias": [call(Draw(2, 3))],
    "as_strided": [call(Draw(6), (3, 2), (1, 1), 1)],
    "detach": [call(Draw(2, 3))],
    "diagonal": [call(Draw(3, 4)), call(Draw(2, 3, 3), -1, 1, 2)],
    "expand": [call(Draw(3, 1), (3, 4)), call(Draw(3), (2, -1))],
    "permute": [call(Draw(2, 3, 4), (2, 0, 1))],
    "select": [call(Draw(3, 4), 0, 1)],
    "slice": [call(Draw(5, 4)), call(Draw(5, 4), 0, 1, 9, 2), call(Draw(5, 4), 1, -3)],
    "split": [call(Draw(5, 4), 2), call(Draw(5, 4), 3, 1)],
    "split_with_sizes": [call(Draw(5, 4), (2, 3))],
    "squeeze": [call(Draw(1, 3, 1)), call(Draw(1, 3, 1), 0), call(Draw(1, 3, 1), (0, 2))],
    "t": [call(Draw(3, 4))],
    "transpose": [call(Draw(3, 4), 0, 1)],
    "unbind": [call(Draw(3, 2)), call(Draw(3, 2), 1)],
    "unfold": [call(Draw(7), 0, 3, 2)],
    "unsqueeze": [call(Draw(2, 3), -1)],
    "view": [call(Draw(3, 4), (2, 6)), call(Draw(3, 4), (-1,))],
}


def _slice(self, dim=0, start=None, end=None, step=1):
    from .._core.indexing import slice_bounds
    d = wrap(dim, self.dim())
    return slice_(self, d, *slice_bounds(slice(start, end, step), self.shape[d]))


_VIEWS = {"alias": lambda self: self, "slice": _slice, "view": lambda self, *size: self.contiguous().view(*size)}


def _copied(result):
    if isinstance(result, (tuple, list)):
        return tuple([_copied(r) for r in result])
    return result.clone(memory_format=contiguous_format)


def _declare(name, calls):
    view = _VIEWS.get(name) or METHODS.get(name) or OPS["torch." + name]

    def forward(self, *args, **kwargs):
        return _copied(view(self, *args, **kwargs))
    forward.__name__ = name + "_copy"
    forward.__doc__ = f"What ``{name}`` shows, as a copy."
    op(forward, method=False, out=name not in ("split", "split_with_sizes", "unbind"),
       samples=Samples(calls, "number", gradcheck=name != "detach"))


for _name, _calls in _CALLS.items():
    _declare(_name, _calls)
for _name in ("view_as_real", "view_as_complex"):
    _declare(_name, [call(Draw(3, 2, dtype="complex128" if _name == "view_as_real" else "float64"))])
