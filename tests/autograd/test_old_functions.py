"""User-defined functions in the old style, which work in every era; and what the 0.3 era gives them."""
import gc
import weakref

import pytest

import shimtorch

ERAS = ("0.3", "0.4", "1.0", "1.1", "1.11", "modern")
pytestmark = pytest.mark.ours


@pytest.fixture(params=ERAS)
def torch(request):
    with shimtorch.era(request.param):
        yield shimtorch


@pytest.fixture
def old(torch):
    return torch.autograd.Variable(torch.zeros(1)).__class__ is not torch.Tensor


@pytest.fixture
def variable(torch):
    def make(*values, **flags):
        flags.setdefault("requires_grad", True)
        return torch.autograd.Variable(torch.FloatTensor(list(values)), **flags)
    return make


def square_of(torch, log=None):
    class Square(torch.autograd.Function):
        def forward(self, x):
            if log is not None:
                log.append((type(x).__name__, torch.is_grad_enabled(), self.needs_input_grad))
            self.save_for_backward(x)
            return x * x

        def backward(self, g):
            x, = self.saved_tensors
            if log is not None:
                log.append((type(g).__name__, type(x).__name__, torch.is_grad_enabled()))
            return g * x * 2

    return Square


def test_forward_and_backward(torch, variable):
    x = variable(1, 2)
    square = square_of(torch)()
    y = square(x)
    assert y.grad_fn is square and y.requires_grad and type(y) is type(x)
    assert square.next_functions[0][0].variable is x and square.requires_grad
    y.sum().backward()
    assert x.grad.data.tolist() == [2, 4] and type(x.grad) is type(x)


def test_what_the_methods_see(torch, variable, old):
    log = []
    square_of(torch, log)()(variable(1, 2)).sum().backward()
    assert log == [("Tensor", False, (True,)), ("Tensor", "Tensor", False)]


def test_attributes_of_the_instance(torch, variable):
    class Scale(torch.autograd.Function):
        def __init__(self, k):
            super().__init__()
            self.k = k

        def forward(self, x, y):
            self.size = x.size()
            return x * self.k, y * self.k

        def backward(self, a, b):
            self.seen = (a.tolist(), b.tolist(), self.needs_input_grad)
            return a * self.k, None

    x, y = variable(1, 2), variable(3, 4, requires_grad=False)
    scale = Scale(5)
    a, b = scale(x, y)
    a.sum().backward()
    assert x.grad.data.tolist() == [5, 5] and y.grad is None and b.requires_grad
    assert scale.seen == ([1, 1], [0, 0], (True, False)) and tuple(scale.size) == (2,)
    assert a.grad_fn.k == 5


def test_none_stands_for_zeros(torch, variable):
    class Drop(torch.autograd.Function):
        def forward(self, x):
            return x * 2

        def backward(self, g):
            return None

    x = variable(1, 2)
    Drop()(x).sum().backward()
    assert x.grad.data.tolist() == [0, 0]


def test_one_instance_applied_several_times(torch, variable):
    square = square_of(torch)()
    x = variable(1, 2)
    first, second = square(x), square(x * 3)
    (first.sum() + second.sum()).backward()
    assert x.grad.data.tolist() == [2 + 18, 4 + 36]
    for _ in range(3):
        x.grad.data.zero_()
        square(x).sum().backward()
        assert x.grad.data.tolist() == [2, 4]


def test_without_recording(torch, variable):
    y = square_of(torch)()(variable(1, 2, requires_grad=False))
    assert not y.requires_grad and y.grad_fn is None
    with torch.no_grad():
        y = square_of(torch)()(variable(1, 2))
    assert not y.requires_grad and y.grad_fn is None


def test_in_place(torch, variable):
    class Double(torch.autograd.function.InplaceFunction):
        def forward(self, x):
            if self.inplace:
                self.mark_dirty(x)
            else:
                x = x.clone()
            return x.mul_(2)

        def backward(self, g):
            return g * 2

    x = variable(1, 2)
    y = x * 1
    z = Double(True)(y)
    assert z is y and y.data.tolist() == [2, 4] and y._version == 2
    z.sum().backward()
    y = x * 1
    z = Double()(y)
    assert z is not y and y.data.tolist() == [1, 2]
    z.sum().backward()
    assert x.grad.data.tolist() == [4, 4]


def test_not_differentiable_outputs(torch, variable):
    class Largest(torch.autograd.Function):
        def forward(self, x):
            value, index = x.max(0)
            if not isinstance(value, shimtorch.Tensor):          # 0.3: reductions of a Tensor are numbers
                value, index = x.new([value]), torch.LongTensor([index])
            self.index, self.n = index, len(x)
            self.mark_non_differentiable(index)
            return value, index

        def backward(self, g, _):
            grad = g.new(self.n).zero_()
            grad[int(self.index)] = float(g)
            return grad

    x = variable(1, 5, 2)
    value, index = Largest()(x)
    assert value.requires_grad and not index.requires_grad
    value.sum().backward()
    assert x.grad.data.tolist() == [0, 1, 0]


def test_saved_tensors_are_checked_and_let_go(torch, variable):
    x = variable(1, 2)
    a = x * 1
    square = square_of(torch)()
    y = square(a).sum()
    a.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    y = square(x).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_nothing_is_differentiable_twice(torch, variable):
    x = variable(1, 2)
    weights = variable(1, 1)
    g, = torch.autograd.grad(square_of(torch)()(x), x, weights, create_graph=True)
    assert g.data.tolist() == [2, 4] and g.requires_grad
    with pytest.raises(RuntimeError, match="^Square is not differentiable twice$"):
        g.sum().backward()


def test_refusals(torch, variable):
    with pytest.raises(RuntimeError, match="^expected a Variable argument, but got int$"):
        square_of(torch)()(3)
    with pytest.raises(TypeError, match="keyword arguments"):
        square_of(torch)()(x=variable(1))

    class Short(torch.autograd.Function):
        def forward(self, x, y):
            return x * y

        def backward(self, g):
            return g
    with pytest.raises(RuntimeError, match=r"^Short returned an invalid number of gradient tensors \(expected 2, but "
                                           r"got 1\)$"):
        Short()(variable(1), variable(2)).sum().backward()


def test_nested_inputs_and_outputs(torch, variable):
    class Nested(torch.autograd.NestedIOFunction):
        def forward_extended(self, a, pairs):
            self.save_for_backward(a, pairs)
            return a * 2, [b * 3 for b in pairs]

        def backward_extended(self, ga, gpairs):
            a, pairs = self.saved_tensors
            assert a.tolist() == [1] and [p.tolist() for p in pairs] == [[2], [3]]
            return ga * 2, tuple(g * 3 for g in gpairs)

    a, b, c = variable(1), variable(2), variable(3)
    x, (y, z) = Nested()(a, [b, c])
    assert (x.data.tolist(), y.data.tolist(), z.data.tolist()) == ([2], [6], [9])
    (x + y + z * 2).sum().backward()
    assert [v.grad.data.tolist() for v in (a, b, c)] == [[2], [3], [6]]


def test_hooks(torch, variable):
    square, log = square_of(torch)(), []
    x = variable(1, 2)
    y = square(x)
    square.register_hook(lambda i, o: log.append((type(i[0]) is type(x), i[0].data.tolist())))
    y.sum().backward()
    assert log == [(True, [2, 4])]


def test_fresh_instances(torch):
    square = square_of(torch)()
    assert square.saved_tensors == () and square.next_functions == () and square.needs_input_grad is None
    assert not square.requires_grad


def test_cycles_are_collected(torch, variable):
    square = square_of(torch)()
    y = square(variable(1))
    square.result = y
    ref = weakref.ref(square)
    del square, y
    gc.collect()
    assert ref() is None


# new-style functions in the old eras --------------------------------------------------------------------------------

def test_new_style(torch, variable, old):
    log = []

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            log.append(type(x).__name__)
            ctx.save_for_backward(x)
            ctx.k = k
            return x ** k

        @staticmethod
        def backward(ctx, g):
            log.append((type(g).__name__, [type(t).__name__ for t in ctx.saved_tensors]))
            x, = ctx.saved_variables if old else ctx.saved_tensors
            return g * x * ctx.k, None

    x = variable(1, 2)
    y = Square.apply(x, 2)
    assert type(y) is type(x) and y.grad_fn.name() == "SquareBackward"
    g, = torch.autograd.grad(y.sum(), x, create_graph=True)
    assert log == ["Tensor", ("Variable" if old else "Tensor", ["Tensor"])]
    assert type(g) is type(x) and g.data.tolist() == [2, 4]
    g.sum().backward()
    assert x.grad.data.tolist() == [2, 2]


def test_outputs_keep_no_tie_to_what_forward_holds(torch, variable):
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.y = x * 2
            ctx.save_for_backward(ctx.y)
            return ctx.y

        @staticmethod
        def backward(ctx, g):
            assert ctx.saved_tensors[0].tolist() == ctx.y.tolist()
            return g * 2

    x = variable(1, 2)
    y = Keep.apply(x)
    if torch.__version__.startswith("0.3"):
        assert type(y.grad_fn.y).__name__ == "Tensor"
    y.sum().backward()
    assert x.grad.data.tolist() == [2, 2]


@pytest.mark.parametrize("torch", ["0.3"], indirect=True)
def test_volatile_spreads(torch, variable):
    x = variable(1, 2, requires_grad=False, volatile=True)
    y = square_of(torch)()(x)
    assert y.volatile and not y.requires_grad and y.grad_fn is None
    z = square_of(torch)()(x + variable(1, 2))
    assert z.volatile and z.grad_fn is None
