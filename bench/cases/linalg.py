"""Products of matrices, factors, systems and their gradients; float32, and float64 where it is marked."""

from . import Case, tensor

CASES = []


def on(name, function, *shapes, prepare=None, double=False, backward=False):
    """A case `function(t, *matrices)`; prepare(t, matrix) makes of the first what the function asks for."""

    def build(t, numbers):
        xs = [tensor(t, numbers, *shape) for shape in shapes]
        if double:
            xs = [x.double() for x in xs]
        if prepare is not None:
            xs[0] = prepare(t, xs[0])
        if not backward:
            return lambda: function(t, *xs)
        for x in xs:
            x.requires_grad_(True)
        return lambda: t.autograd.grad(function(t, *xs).sum(), xs)

    CASES.append(Case(name, build))


def well_conditioned(t, x):
    return x + x.shape[-1] * t.eye(x.shape[-1], dtype=x.dtype)


def positive(t, x):
    return well_conditioned(t, x @ x.transpose(-1, -2))


for _n in (64, 256, 1024):
    on(f"mm {_n}", lambda t, a, b: a @ b, (_n, _n), (_n, _n))
on("mm 512, float64", lambda t, a, b: a @ b, (512, 512), (512, 512), double=True)
on("mm 512, transposed", lambda t, a, b: a.t() @ b, (512, 512), (512, 512))
on("mm 512, backward", lambda t, a, b: a @ b, (512, 512), (512, 512), backward=True)
on("addmm 512", lambda t, a, b, c: t.addmm(c, a, b), (512, 512), (512, 512), (512,))
on("a thin product", lambda t, a, b: a @ b, (4000, 1000), (1000, 16))
on("mv 2000", lambda t, a, b: a @ b, (2000, 2000), (2000,))
on("bmm 64 x 64", lambda t, a, b: a.bmm(b), (64, 64, 64), (64, 64, 64))
on("bmm 2000 x 4", lambda t, a, b: a.bmm(b), (2000, 4, 4), (2000, 4, 4))
on("solve 300", lambda t, a, b: t.linalg.solve(a, b), (300, 300), (300, 10), prepare=well_conditioned)
on("solve 500 x 4", lambda t, a, b: t.linalg.solve(a, b), (500, 4, 4), (500, 4, 1), prepare=well_conditioned)
on("inv 300", lambda t, a: t.linalg.inv(a), (300, 300), prepare=well_conditioned)
on("det 500 x 4", lambda t, a: t.linalg.det(a), (500, 4, 4), prepare=well_conditioned)
on("cholesky 300", lambda t, a: t.linalg.cholesky(a), (300, 300), prepare=positive)
on("cholesky 300, backward", lambda t, a: t.linalg.cholesky(a), (300, 300), prepare=positive, backward=True)
on("singular values 200", lambda t, a: t.linalg.svdvals(a), (200, 200))
on("eigvalsh 200, float64", lambda t, a: t.linalg.eigvalsh(a), (200, 200), prepare=positive, double=True)
on("pinv 200, float64", lambda t, a: t.linalg.pinv(a), (200, 100), double=True)
on("lstsq 400", lambda t, a, b: t.linalg.lstsq(a, b).solution, (400, 100), (400, 5))
