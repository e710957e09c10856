"""Four million numbers: pointwise operations, reductions, sorting, picking and placing by index."""

from . import Case, tensor

SIDE = 2000
CASES = []


def large(name, function, grad=False, peer=None):
    """A case `function(t, a, b)` on two matrices, the first of which requires grad if `grad`."""

    def build(t, numbers):
        a, b = tensor(t, numbers, SIDE, SIDE), tensor(t, numbers, SIDE, SIDE)
        a.requires_grad_(grad)
        return lambda: function(t, a, b)

    def build_peer(numbers):
        import numpy

        a, b = (numbers.standard_normal((SIDE, SIDE)).astype("float32") for _ in range(2))
        return lambda: peer(numpy, a, b)

    CASES.append(Case(name, build, {} if peer is None else {"numpy": build_peer}))


def indexed(name, function):
    """A case `function(t, a, rows, places)`: row numbers, and a number of a column for each element."""

    def build(t, numbers):
        a = tensor(t, numbers, SIDE, SIDE)
        rows = t.tensor(numbers.integers(0, SIDE, SIDE))
        places = t.tensor(numbers.integers(0, SIDE, (SIDE, SIDE)))
        return lambda: function(t, a, rows, places)

    CASES.append(Case(name, build))


def gradient(t, a, b):
    return t.autograd.grad((t.sigmoid(a) * b).sum(), a)[0]


large("add", lambda t, a, b: a + b, peer=lambda np, a, b: a + b)
large("add, transposed", lambda t, a, b: a + b.t(), peer=lambda np, a, b: a + b.T)
large("add, out", lambda t, a, b: t.add(a, b, out=b))
large("mul_", lambda t, a, b: b.mul_(1.0))
large("times a row", lambda t, a, b: a * b[0])
large("div", lambda t, a, b: a / b)
large("compare", lambda t, a, b: a > b, peer=lambda np, a, b: a > b)
large("where", lambda t, a, b: t.where(a > 0, a, b))
large("exp", lambda t, a, b: a.exp(), peer=lambda np, a, b: np.exp(a))
large("tanh", lambda t, a, b: a.tanh(), peer=lambda np, a, b: np.tanh(a))
large("sigmoid", lambda t, a, b: a.sigmoid())
large("pow", lambda t, a, b: a.abs().pow(1.5))
large("sin, float64", lambda t, a, b: a.double().sin())
large("sinh", lambda t, a, b: a.sinh(), peer=lambda np, a, b: np.sinh(a))
large("asin", lambda t, a, b: a.clamp(-1, 1).asin())
large("atan2", lambda t, a, b: t.atan2(a, b), peer=lambda np, a, b: np.arctan2(a, b))
large("atanh", lambda t, a, b: a.clamp(-1, 1).atanh())
large("acosh", lambda t, a, b: a.abs().add_(1).acosh())
large("erfc", lambda t, a, b: a.erfc())
large("erfinv", lambda t, a, b: a.clamp(-1, 1).erfinv())
large("Bessel i1e", lambda t, a, b: t.special.i1e(a))
large("gelu", lambda t, a, b: t.nn.functional.gelu(a))
large("clamp", lambda t, a, b: a.clamp(-1, 1))
large("to float64", lambda t, a, b: a.double())
large("sigmoid times, backward", gradient, grad=True)
large("sum", lambda t, a, b: a.sum(), peer=lambda np, a, b: a.sum())
large("nansum", lambda t, a, b: a.nansum(), peer=lambda np, a, b: np.nansum(a))
large("sum of columns", lambda t, a, b: a.sum(0), peer=lambda np, a, b: a.sum(0))
large("mean of rows", lambda t, a, b: a.mean(1), peer=lambda np, a, b: a.mean(1))
large("var of rows", lambda t, a, b: a.var(1))
large("max of rows", lambda t, a, b: a.max(1).values)
large("argmax of columns", lambda t, a, b: a.argmax(0))
large("softmax", lambda t, a, b: t.softmax(a, 1))
large("logsumexp", lambda t, a, b: a.logsumexp(1))
large("norm", lambda t, a, b: a.norm())
large("cumsum", lambda t, a, b: a.cumsum(1), peer=lambda np, a, b: np.cumsum(a, 1))
large("sort", lambda t, a, b: a.sort(1).values, peer=lambda np, a, b: np.sort(a, 1))
large("topk", lambda t, a, b: a.topk(10, 1).values)
large("copy, transposed", lambda t, a, b: a.t().contiguous(), peer=lambda np, a, b: np.ascontiguousarray(a.T))
large("copy, moved along rows", lambda t, a, b: b[:, 3:].copy_(a[:, :-3]))
large("flip", lambda t, a, b: a.flip(1), peer=lambda np, a, b: a[:, ::-1].copy())
large("cat", lambda t, a, b: t.cat((a, b), 1))
large("mask", lambda t, a, b: a[a > 1])
indexed("rows by index", lambda t, a, rows, places: a[rows])
indexed("gather", lambda t, a, rows, places: a.gather(1, places))
indexed("scatter_add", lambda t, a, rows, places: t.zeros_like(a).scatter_add_(1, places, a))
indexed("index_add", lambda t, a, rows, places: t.zeros_like(a).index_add_(0, rows, a))
indexed("unique", lambda t, a, rows, places: t.unique(places % 1000))
indexed("runs", lambda t, a, rows, places: t.unique_consecutive(places // 50))
