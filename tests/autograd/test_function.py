"""User-defined functions in the new style: static forward and backward with a ctx."""
import gc
import weakref

import pytest

FREED = "^Trying to backward through the graph a second time"
CUSTOM_VIEW = (r"This view was created inside a custom Function \(or because an input was returned as-is\) and the "
               r"autograd logic to handle view\+inplace would override the custom backward associated with the custom "
               r"Function")


@pytest.fixture
def Power(torch):
    class Power(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k=2):
            ctx.save_for_backward(x)
            ctx.k = k
            return x ** k

        @staticmethod
        def backward(ctx, g):
            x, = ctx.saved_tensors
            return g * ctx.k * x ** (ctx.k - 1), None

    return Power


@pytest.fixture
def make(torch):
    """Make a Function of a forward and a backward."""

    def make(forward, backward=None):
        members = {"forward": staticmethod(forward)}
        if backward is not None:
            members["backward"] = staticmethod(backward)
        return type("Made", (torch.autograd.Function,), members)

    return make


def test_forward_and_backward(torch, leaf, Power):
    x = leaf(1.0, 2.0, 3.0)
    y = Power.apply(x, 3)
    assert y.tolist() == [1, 8, 27] and y.requires_grad
    y.sum().backward()
    assert x.grad.tolist() == [3, 12, 27]


def test_the_node_is_the_ctx(torch, leaf, Power):
    x = leaf(1.0, 2.0) * 2
    y = Power.apply(x, 3)
    node = y.grad_fn
    assert type(node).__name__ == node.name() == "PowerBackward"
    assert type(node).__module__ == "torch.autograd.function"
    assert repr(node).startswith("<torch.autograd.function.PowerBackward object at 0x")
    assert repr(y) == "tensor([ 8., 64.], grad_fn=<PowerBackward>)"
    assert node.k == 3 and node.saved_tensors[0] is x and node.needs_input_grad == (True, False)
    assert [n.name() for n, _ in node.next_functions] == ["MulBackward0"]
    assert isinstance(node, torch.autograd.function.BackwardCFunction)
    assert not isinstance(node, torch.autograd.Function) and issubclass(Power, torch.autograd.Function)


def test_arguments_by_keyword_and_default(torch, leaf, Power):
    x = leaf(2.0, 3.0)
    assert Power.apply(x).tolist() == [4, 9]
    assert Power.apply(x, k=3).tolist() == Power.apply(k=3, x=x).tolist() == [8, 27]
    for wrong, text in ((dict(z=3), r"forward\(\) got an unexpected keyword argument 'z'"),
                        (dict(x=x), r"forward\(\) got multiple values for argument 'x'")):
        with pytest.raises(TypeError, match=text):
            Power.apply(x, **wrong)


def test_nothing_is_recorded_within_forward(torch, leaf, make):
    seen = []

    def forward(ctx, x):
        seen.append((torch.is_grad_enabled(), (x * 2).requires_grad, x.requires_grad, x.is_leaf))
        return x * 2
    make(forward, lambda ctx, g: g).apply(leaf(1.0))
    assert seen == [(False, False, True, True)] and torch.is_grad_enabled()


def test_grad_mode_within_backward(torch, leaf, make):
    seen = []
    f = make(lambda ctx, x: x * 2, lambda ctx, g: seen.append((torch.is_grad_enabled(), g.requires_grad)) or g * 2)
    x = leaf(1.0)
    f.apply(x).backward()
    torch.autograd.grad(f.apply(x), x, create_graph=True)
    assert seen == [(False, False), (True, False)]


def test_no_history_where_none_is_needed(torch, leaf, Power):
    y = Power.apply(torch.ones(2))
    assert not y.requires_grad and y.grad_fn is None
    with torch.no_grad():
        y = Power.apply(leaf(1.0))
    assert not y.requires_grad and y.grad_fn is None


@pytest.mark.ours
def test_without_recording_nothing_is_kept(torch, leaf, Power):
    ctxs = []

    class Watched(Power):
        @staticmethod
        def forward(ctx, x):
            ctxs.append(weakref.ref(ctx))
            return Power.forward(ctx, x)
    with torch.no_grad():
        Watched.apply(leaf(1.0))
    assert ctxs[0]() is None


def test_needs_input_grad(torch, leaf, make):
    seen = []

    def forward(ctx, x, y, z):
        seen.append(ctx.needs_input_grad)
        return x + y

    def backward(ctx, g):
        seen.append(ctx.needs_input_grad)
        return g, g, None
    f = make(forward, backward)
    x, y = leaf(1.0), torch.ones(())
    f.apply(x, y, 5).backward()
    assert seen == [(True, False, False)] * 2 and x.grad.item() == 1 and y.grad is None
    with torch.no_grad():
        f.apply(x, y, 5)
    assert seen[2] == (True, False, False)


# outputs ------------------------------------------------------------------------------------------------------------

def test_several_outputs(torch, leaf, make):
    seen = []
    f = make(lambda ctx, x: (x * 2, x * 3), lambda ctx, a, b: seen.append((a.tolist(), b.tolist())) or a * 2 + b * 3)
    x = leaf(1.0, 2.0)
    a, b = f.apply(x)
    assert a.grad_fn is b.grad_fn and (a.output_nr, b.output_nr) == (0, 1)
    b.sum().backward(retain_graph=True)
    (a.sum() + b.sum()).backward()
    assert seen == [([0, 0], [1, 1]), ([1, 1], [1, 1])] and x.grad.tolist() == [8, 8]


def test_missing_gradients_as_none(torch, leaf, make):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3
    x = leaf(1.0)
    make(forward, lambda ctx, a, b: seen.append(b) or a * 2).apply(x)[0].backward()
    assert seen == [None] and x.grad.item() == 2


def test_outputs_that_are_no_tensors(torch, leaf, make):
    seen = []
    f = make(lambda ctx, x: (x * 2, 3, None, "a"), lambda ctx, *g: seen.append(g[1:]) or g[0] * 2)
    x = leaf(1.0)
    result = f.apply(x)
    assert result[1:] == (3, None, "a") and result[0].requires_grad
    result[0].backward()
    assert seen == [(None, None, None)] and x.grad.item() == 2
    assert make(lambda ctx, x: 3).apply(x) == 3
    assert make(lambda ctx, x: None).apply(x) is None


def test_outputs_of_integers_have_no_history(torch, leaf, make):
    seen = []
    f = make(lambda ctx, x: (x * 2, x.argmax()), lambda ctx, g, i: seen.append((i.dtype, i.tolist())) or g * 2)
    x = leaf(1.0, 2.0)
    y, index = f.apply(x)
    assert not index.requires_grad and index.item() == 1
    y.sum().backward()
    assert seen == [(torch.int64, 0)]


def test_outputs_marked_as_not_differentiable(torch, leaf, make):
    def forward(ctx, x):
        a, b = x * 2, x * 3
        ctx.mark_non_differentiable(b)
        return a, b
    x = leaf(1.0, 2.0)
    a, b = make(forward, lambda ctx, g, h: g * 2).apply(x)
    assert a.requires_grad and not b.requires_grad
    a.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_an_input_marked_as_not_differentiable(torch, leaf, make):
    x = leaf(1.0)
    y = make(lambda ctx, x: ctx.mark_non_differentiable(x) or x, lambda ctx, g: g).apply(x)
    assert not y.requires_grad and x.requires_grad and y is not x


def test_an_input_returned_as_it_is(torch, leaf, make):
    f = make(lambda ctx, x: x, lambda ctx, g: g * 2)
    x = leaf(1.0, 2.0)
    y = f.apply(x)
    assert y is not x and y.data_ptr() == x.data_ptr() and y._base is x
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_view_returned(torch, leaf, make):
    f = make(lambda ctx, x: x.view(-1), lambda ctx, g: g.view(1, 2) * 3)
    x = leaf([[1.0, 2.0]])
    y = f.apply(x)
    assert y.data_ptr() == x.data_ptr()
    y.sum().backward()
    assert x.grad.tolist() == [[3, 3]]


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x.view(2, 1), lambda ctx, x: x[:1]])
def test_views_from_functions_are_not_written_to(torch, leaf, make, forward):
    f = make(forward, lambda ctx, g: g.reshape(2) * 2)
    with pytest.raises(RuntimeError, match="^Output 0 of Made is a view and is being modified inplace. " + CUSTOM_VIEW):
        f.apply(leaf(1.0, 2.0) * 1).add_(1)
    x = leaf(1.0, 2.0) * 1
    y = f.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="^Output 0 of Made is a view and its base or another view of its base has "
                                           "been modified inplace. " + CUSTOM_VIEW):
        _ = y.grad_fn
    with pytest.raises(RuntimeError, match=CUSTOM_VIEW):
        y * 2


@pytest.mark.ours
def test_views_of_what_forward_made_may_be_written_to(torch, leaf, make):
    x = leaf([[1.0, 2.0]])
    y = make(lambda ctx, x: (x * 2).t(), lambda ctx, g: g.t() * 2).apply(x)
    y.mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [[10, 10]] and y._base is None


def test_history_made_within_forward_is_replaced(torch, leaf, make):
    def forward(ctx, x):
        with torch.enable_grad():
            return x.detach().requires_grad_() * 2
    x = leaf(1.0)
    y = make(forward, lambda ctx, g: g * 5).apply(x)
    assert y.grad_fn.name() == "MadeBackward"
    y.backward()
    assert x.grad.item() == 5


# in place -----------------------------------------------------------------------------------------------------------

@pytest.fixture
def Double(torch):
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return g * 2

    return Double


def test_an_input_changed_in_place(torch, leaf, Double):
    x = leaf(1.0, 2.0)
    y = x * 1
    before = y.grad_fn
    z = Double.apply(y)
    assert z is y and z.grad_fn.name() == "DoubleBackward" and z.grad_fn.next_functions[0][0] is before
    assert y._version == 2
    z.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_view_changed_in_place(torch, leaf, Double):
    x = leaf(1.0, 2.0, 3.0)
    y = x * 1
    v = y[:2]
    assert Double.apply(v) is v
    assert type(y.grad_fn).__name__ == "CopySlices"
    y.sum().backward(retain_graph=True)
    v.sum().backward()
    assert x.grad.tolist() == [4, 4, 1]


@pytest.mark.ours
def test_a_view_changed_in_place_that_is_not_the_first_argument(torch, leaf, make):
    f = make(lambda ctx, a, b: ctx.mark_dirty(b) or ctx.save_for_backward(a) or b.mul_(a),
             lambda ctx, g: (g * 100, g * ctx.saved_tensors[0]))
    a, b = leaf(2.0, 3.0), leaf(1.0, 1.0, 1.0)
    y = b * 1
    f.apply(a, y[:2])
    y.sum().backward()
    assert b.grad.tolist() == [2, 3, 1] and a.grad.tolist() == [100, 100]


def test_refusals_of_in_place_changes(torch, leaf, Double, make):
    with pytest.raises(RuntimeError, match="^a leaf Variable that requires grad has been used in an in-place "
                                           "operation.$"):
        Double.apply(leaf(1.0, 2.0))
    lost = ("^Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
            "modified inplace must all be outputs of the Function.$")
    with pytest.raises(RuntimeError, match=lost):
        make(lambda ctx, x: ctx.mark_dirty(x) or x.mul_(2) * 1).apply(leaf(1.0) * 1)
    with pytest.raises(RuntimeError, match=lost):
        make(lambda ctx, x: ctx.mark_dirty(torch.ones(2)) or x * 1).apply(leaf(1.0) * 1)
    with pytest.raises(RuntimeError, match="^If your Function modifies inplace an input that is a view of another "
                                           "Tensor, your Function cannot return more than one Tensor."):
        make(lambda ctx, x: ctx.mark_dirty(x) or (x.mul_(2), x * 1)).apply((leaf(1.0, 2.0) * 1)[:1])


def test_in_place_without_history(torch, Double):
    x = torch.ones(2)
    assert Double.apply(x) is x and x.tolist() == [2, 2] and x._version == 2 and not x.requires_grad


# saved tensors ------------------------------------------------------------------------------------------------------

def test_saved_tensors_are_let_go_by_backward(torch, leaf, Power):
    y = Power.apply(leaf(1.0, 2.0))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    with pytest.raises(RuntimeError, match=FREED):
        _ = y.grad_fn.saved_tensors
    with pytest.raises(RuntimeError, match=FREED):
        y.sum().backward()
    assert y.grad_fn.k == 2


def test_saved_tensors_are_checked(torch, leaf, Power, make):
    x = leaf(1.0, 2.0) * 1
    y = Power.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation: .* is at version 1; expected version 0"):
        y.sum().backward()

    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    y = make(forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(leaf(1.0))
    y.mul_(2)
    with pytest.raises(RuntimeError, match="which is output 0 of Made, is at version 1; expected version 0"):
        y.backward()


def test_what_can_be_saved(torch, leaf, make):
    seen = []
    f = make(lambda ctx, x: ctx.save_for_backward(x, None, x * 2) or x * 3,
             lambda ctx, g: seen.append(ctx.saved_tensors) or g)
    x = leaf(1.0)
    f.apply(x).backward()
    (a, b, c), = seen
    assert a is x and b is None and c.item() == 2
    with pytest.raises(TypeError, match="^save_for_backward can only save variables, but argument 1 is of type int$"):
        make(lambda ctx, x: ctx.save_for_backward(x, 3) or x * 2).apply(x)


def test_within_forward_nothing_is_saved_yet(torch, leaf, make):
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        seen.append((ctx.saved_tensors, ctx.to_save))
        return x * 2
    x = leaf(1.0)
    make(forward).apply(x)
    assert seen[0][0] == () and seen[0][1][0] is x


# second derivatives -------------------------------------------------------------------------------------------------

def test_a_backward_is_differentiable(torch, leaf, Power):
    x = leaf(2.0, 3.0)
    g, = torch.autograd.grad(Power.apply(x, 3).sum(), x, create_graph=True)
    h, = torch.autograd.grad(g.sum(), x, create_graph=True)
    assert g.tolist() == [12, 27] and h.tolist() == [12, 18]
    assert torch.autograd.gradgradcheck(lambda x: Power.apply(x, 3), leaf(2.0, 3.0, dtype=torch.float64))


def test_a_saved_output_has_its_history(torch, leaf, make):
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y
    f = make(forward, lambda ctx, g: g * ctx.saved_tensors[0])
    x = leaf(1.0, 0.5, dtype=torch.float64)
    assert torch.autograd.gradcheck(f.apply, (x,)) and torch.autograd.gradgradcheck(f.apply, (x,))


def test_once_differentiable(torch, leaf):
    from_once = torch.autograd.function.once_differentiable

    class Once(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @from_once
        def backward(ctx, g):
            assert not torch.is_grad_enabled()
            return g * 2 * ctx.saved_tensors[0]

    x = leaf(1.0, 2.0)
    Once.apply(x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    assert torch.autograd.grad(Once.apply(x).sum(), x, create_graph=True)[0].grad_fn is None
    weights = torch.ones(2, requires_grad=True)
    g, = torch.autograd.grad(Once.apply(x), x, weights, create_graph=True)
    assert repr(g.grad_fn).startswith("<Error object at")
    with pytest.raises(RuntimeError, match="^trying to differentiate twice a function that was marked with "
                                           "@once_differentiable$"):
        g.sum().backward()


# other forms --------------------------------------------------------------------------------------------------------

def test_setup_context(torch, leaf):
    seen = []

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(x, k=3):
            return x * k, x + 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            seen.append((inputs[1], len(output), torch.is_grad_enabled()))
            ctx.save_for_backward(inputs[0])
            ctx.k = inputs[1]

        @staticmethod
        def backward(ctx, g, h):
            return g * ctx.k + h, None

    x = leaf(1.0, 2.0)
    a, b = Scale.apply(x)
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [4, 4] and a.grad_fn.name() == "ScaleBackward"
    Scale.apply(x, k=5)
    assert seen == [(3, 2, False), (5, 2, False)]
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        Scale.apply()
    with pytest.raises(TypeError, match="got an unexpected keyword argument 'z'"):
        Scale.apply(x, z=3)


def test_vjp_for_backward(torch, leaf):
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def vjp(ctx, g):
            return g * 2

    x = leaf(1.0)
    Twice.apply(x).backward()
    assert x.grad.item() == 2


def test_class_methods_and_subclasses(torch, leaf, Power):
    class Sub(Power):
        pass
    assert Sub.apply(leaf(1.0)).grad_fn.name() == "SubBackward"

    class Methods(torch.autograd.Function):
        @classmethod
        def forward(cls, ctx, x):
            return x * 2

        @classmethod
        def backward(cls, ctx, g):
            return g * 2

    x = leaf(1.0)
    Methods.apply(x).backward()
    assert x.grad.item() == 2


def test_a_function_that_runs_backward_itself(torch, leaf, make):
    def forward(ctx, x):
        with torch.enable_grad():
            inner = x.detach().requires_grad_()
            y = inner * inner
        ctx.save_for_backward(inner, y)
        return y.detach()

    def backward(ctx, g):
        inner, y = ctx.saved_tensors
        return torch.autograd.grad(y, inner, g)[0]
    x = leaf(1.0, 2.0)
    make(forward, backward).apply(x).sum().backward()
    assert x.grad.tolist() == [2, 4]


@pytest.mark.filterwarnings("ignore:.*should not be instantiated:DeprecationWarning")
def test_instances_are_not_called(torch, leaf, Power):
    with pytest.raises(RuntimeError, match="^Legacy autograd function with non-static forward method is deprecated."):
        Power()(leaf(1.0))


def test_instances_warn(torch, Power):
    with pytest.warns(DeprecationWarning, match="should not be instantiated. Methods on autograd functions are all "
                                                "static"):
        Power()


# refusals -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("backward, error, text", [
    (lambda t, g: (g, g), RuntimeError,
     r"^function MadeBackward returned an incorrect number of gradients \(expected 1, got 2\)$"),
    (lambda t, g: 3, RuntimeError, r"^expected Variable or None \(got int\)$"),
    (lambda t, g: t.ones(5), RuntimeError,
     r"^Function MadeBackward returned an invalid gradient at index 0 - got \[5\] but expected shape compatible with "
     r"\[2\]$"),
    (lambda t, g: 1 / 0, ZeroDivisionError, "^division by zero$"),
])
def test_what_backward_returns_is_checked(torch, leaf, make, backward, error, text):
    x = leaf(1.0, 2.0)
    y = make(lambda ctx, x: x * 2, lambda ctx, g: backward(torch, g)).apply(x)
    with pytest.raises(error, match=text):
        y.sum().backward()
    assert torch.is_grad_enabled() and x.grad is None and (x * 2).requires_grad


def test_gradients_are_counted(torch, leaf, make):
    x, y = leaf(1.0), leaf(2.0)
    with pytest.raises(RuntimeError, match=r"^function MadeBackward returned an incorrect number of gradients "
                                           r"\(expected 2, got 1\)$"):
        make(lambda ctx, a, b: a + b, lambda ctx, g: g).apply(x, y).backward()
    with pytest.raises(RuntimeError, match="^function MadeBackward returned a gradient different than None at position "
                                           "2, but the corresponding forward input was not a Variable$"):
        make(lambda ctx, a, b: a + b, lambda ctx, g: (g, g)).apply(x, 3).backward()
    make(lambda ctx, a: a * 2, lambda ctx, g: (g, None, None)).apply(x).backward()
    assert x.grad.item() == 1


def test_gradients_are_brought_to_shape_and_dtype(torch, leaf, make):
    x = leaf(1.0, 2.0)
    make(lambda ctx, a: a * 2, lambda ctx, g: torch.ones(3, 2)).apply(x).sum().backward()
    make(lambda ctx, a: a * 2, lambda ctx, g: g.double()).apply(x).sum().backward()
    assert x.grad.tolist() == [4, 4] and x.grad.dtype is torch.float32


def test_none_is_no_gradient(torch, leaf, make):
    x = leaf(1.0)
    f = make(lambda ctx, a: a * 2, lambda ctx, g: None)
    f.apply(x).backward()
    assert x.grad is None
    assert torch.autograd.grad(f.apply(x), x, allow_unused=True) == (None,)


def test_missing_methods(torch, leaf, make):
    with pytest.raises(NotImplementedError, match="^You must implement either the backward or vjp method"):
        make(lambda ctx, x: x * 2).apply(leaf(1.0)).backward()
    with pytest.raises(NotImplementedError, match="^You must implement the forward function for custom "
                                                  "autograd.Function.$"):
        type("Empty", (torch.autograd.Function,), {}).apply(leaf(1.0))


def test_an_error_in_forward_leaves_everything_as_it_was(torch, leaf, make):
    with pytest.raises(ZeroDivisionError):
        make(lambda ctx, x: 1 / 0).apply(leaf(1.0))
    assert torch.is_grad_enabled() and (leaf(1.0) * 2).requires_grad


# hooks and cycles ---------------------------------------------------------------------------------------------------

def test_hooks_on_the_node(torch, leaf, Power):
    x, log = leaf(1.0, 2.0), []
    y = Power.apply(x, 3)
    y.grad_fn.register_hook(lambda i, o: log.append((len(i), i[0].tolist(), o[0].tolist())) or (i[0] * 10,))
    y.sum().backward()
    assert log == [(1, [3, 12], [1, 1])] and x.grad.tolist() == [30, 120]


@pytest.mark.ours
def test_cycles_through_the_ctx_are_collected(torch, leaf, Power):
    x = leaf(1.0, 2.0)
    y = Power.apply(x)
    node, result = weakref.ref(y.grad_fn), weakref.ref(y)
    y.grad_fn.result = y
    del y
    gc.collect()
    assert node() is None and result() is None
