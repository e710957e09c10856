"""``backward`` and ``grad``: what they compute, what they leave alone, and what they refuse."""
import builtins

import pytest

TWICE = (r"^Trying to backward through the graph a second time \(or directly access saved tensors after they have "
         r"already been freed\)\. Saved intermediate values of the graph are freed when you call \.backward\(\) or "
         r"autograd\.grad\(\)\. Specify retain_graph=True if you need to backward through the graph a second time or "
         r"if you need to access saved tensors after calling backward\.$")


def test_chain_rule(torch, leaf):
    x = leaf(1.0, 2.0, 3.0)
    ((x * x + 1) * x).sum().backward()
    assert x.grad.tolist() == [4, 13, 28]


def test_every_path_counts(torch, leaf):
    x = leaf(2.0)
    y = x * x
    (y * y + y + x).backward()
    assert x.grad.item() == 4 * 8 + 4 + 1


def test_a_node_runs_once_with_all_that_arrives(torch, leaf):
    x, calls = leaf(2.0), []
    y = x * 3
    y.register_hook(lambda g: calls.append(g.item()))
    (y + y * y + y * 2).backward()
    assert calls == [1 + 12 + 2]


def test_broadcast_operands_get_gradients_of_their_shape(torch, leaf):
    x, y = leaf([[1.0], [2.0]]), leaf(1.0, 2.0, 3.0)
    (x * y).sum().backward()
    assert x.grad.tolist() == [[6], [6]] and y.grad.tolist() == [3, 3, 3]


def test_gradients_have_the_dtype_of_their_tensor(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0, dtype=torch.float64)
    (x * y).sum().backward()
    assert x.grad.dtype is torch.float32 and y.grad.dtype is torch.float64
    assert x.grad.tolist() == [3, 4]


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_the_given_gradient_is_cast(torch, leaf, dtype):
    x = leaf(1.0, 2.0)
    (x * 2).backward(torch.ones(2, dtype=getattr(torch, dtype)))
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 2]


def test_a_given_gradient_weights(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * x).backward(torch.tensor([10.0, 1.0]))
    assert x.grad.tolist() == [20, 4]
    x.grad = None
    (x * x).backward(gradient=torch.tensor([1.0, 0.0]))
    assert x.grad.tolist() == [2, 0]


def test_backward_of_a_leaf(torch, leaf):
    x = leaf(1.0, 2.0)
    x.backward(torch.tensor([3.0, 4.0]))
    assert x.grad.tolist() == [3, 4]


def test_gradients_accumulate_in_one_object(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * 2).sum().backward()
    grad = x.grad
    (x * 3).sum().backward()
    assert x.grad is grad and grad.tolist() == [5, 5]


def test_several_roots(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    torch.autograd.backward([y.sum(), (x * x), y], [None, torch.ones(2), torch.tensor([0.0, 1.0])])
    assert x.grad.tolist() == [2 + 2, 2 + 4 + 2]
    torch.autograd.backward([])


def test_no_gradient_reaches_what_does_not_require_it(torch, leaf):
    x, c = leaf(1.0, 2.0), torch.ones(2)
    (x * c).sum().backward()
    assert c.grad is None


def test_backward_twice_needs_retain_graph(torch, leaf):
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert x.grad.tolist() == [4, 8]
    with pytest.raises(RuntimeError, match=TWICE):
        y.backward()
    assert x.grad.tolist() == [4, 8]


def test_backward_twice_is_fine_where_no_tensor_was_saved(torch, leaf):
    x = leaf([1.0, 2.0])
    y = (x + 1).sum(0, keepdim=True).reshape(())
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2, 2]


def test_a_shared_part_of_two_graphs_is_freed_by_the_first(torch, leaf):
    x = leaf(1.0, 2.0)
    shared = x * x
    (shared * 2).sum().backward()
    with pytest.raises(RuntimeError, match=TWICE):
        (shared * 3).sum().backward()


def test_create_graph_retains(torch, leaf):
    x = leaf(2.0)
    y = x ** 3
    g, = torch.autograd.grad(y, x, create_graph=True)
    h, = torch.autograd.grad(g, x, create_graph=True)
    k, = torch.autograd.grad(h, x)
    assert (g.item(), h.item(), k.item()) == (12, 12, 6) and g.requires_grad and not k.requires_grad
    y.backward()
    assert x.grad.item() == 12


def test_backward_with_create_graph_gives_gradients_with_history(torch, leaf):
    x = leaf(2.0)
    (g,) = torch.autograd.grad(x ** 3, x, create_graph=True)
    penalty = (g - 1) ** 2
    penalty.backward()
    assert x.grad.item() == 2 * (12 - 1) * 12


def test_mixed_second_derivatives(torch, leaf):
    x, y = leaf(2.0), leaf(3.0)
    gx, gy = torch.autograd.grad(x * x * y, [x, y], create_graph=True)
    gxy, = torch.autograd.grad(gx, y, retain_graph=True)
    gyx, = torch.autograd.grad(gy, x)
    assert gxy.item() == gyx.item() == 4


# grad ---------------------------------------------------------------------------------------------------------------

def test_grad_touches_no_leaf(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    gx, gy = torch.autograd.grad((x * y).sum(), (x, y))
    assert gx.tolist() == [3, 4] and gy.tolist() == [1, 2]
    assert x.grad is None and y.grad is None and not gx.requires_grad


def test_grad_by_intermediate_results(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    z = y * y
    gz, gy, gx = torch.autograd.grad(z.sum(), [z, y, x])
    assert (gz.tolist(), gy.tolist(), gx.tolist()) == ([1, 1], [4, 8], [8, 16])


def test_grad_of_a_tensor_by_itself(torch, leaf):
    x, g = leaf(1.0, 2.0), torch.ones(2)
    assert torch.autograd.grad(x, x, g)[0] is g


def test_grad_by_one_of_several_outputs(torch, leaf):
    x = leaf(1.0, 2.0, 3.0, 4.0)
    a, b = (x * x).split(2)
    gb, gx = torch.autograd.grad((b * b).sum(), [b, x])
    assert gb.tolist() == [18, 32] and gx.tolist() == [0, 0, 108, 256]


def test_grad_of_unused_inputs(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    with pytest.raises(RuntimeError, match=r"^The differentiated Tensor at index 1 appears to not have been used in "
                                           r"the graph\. Set allow_unused=True if this is the desired behavior\.$"):
        torch.autograd.grad(x.sum(), [x, y])
    assert torch.autograd.grad(x.sum(), [x, y], allow_unused=True)[1] is None
    assert torch.autograd.grad(x.sum(), [x, y], materialize_grads=True)[1].tolist() == [0, 0]
    with pytest.raises(ValueError, match="^Expected allow_unused to be True or not passed when materialize_grads=True, "
                                         "but got: allow_unused=False.$"):
        torch.autograd.grad(x.sum(), [x, y], materialize_grads=True, allow_unused=False)


def test_grad_runs_only_towards_its_inputs(torch, leaf):
    x, y, ran = leaf(1.0, 2.0), leaf(3.0, 4.0), []
    a, b = x * 2, y * 2
    a.register_hook(lambda g: ran.append("a"))
    b.register_hook(lambda g: ran.append("b"))
    torch.autograd.grad((a * b).sum(), x)
    assert ran == ["a"]


def test_expanded_gradients_are_given_as_they_are(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    gx, gy = torch.autograd.grad((x + y).sum(), [x, y])
    assert gx is gy and gx.stride() == (0,)


# inputs= ------------------------------------------------------------------------------------------------------------

def test_backward_limited_to_inputs(torch, leaf):
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    (x * y).sum().backward(inputs=[x])
    assert x.grad.tolist() == [3, 4] and y.grad is None
    (x * y).sum().backward(inputs=y)
    assert y.grad.tolist() == [1, 2]


def test_backward_limited_to_a_result_fills_its_grad(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 2
    z = (y * y).sum()
    z.backward(inputs=[y], retain_graph=True)
    assert y.grad.tolist() == [4, 8] and x.grad is None and y.retains_grad
    z.backward(inputs=[y, x])
    assert y.grad.tolist() == [8, 16] and x.grad.tolist() == [8, 16]


# refusals -----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("error, text, run", [
    ("RuntimeError", r"^grad can be implicitly created only for scalar outputs$", lambda t, x: (x * 2).backward()),
    ("RuntimeError", r"^element 0 of tensors does not require grad and does not have a grad_fn$",
     lambda t, x: t.ones(3).sum().backward()),
    ("RuntimeError", r"^element 1 of tensors does not require grad and does not have a grad_fn$",
     lambda t, x: t.autograd.backward([x.sum(), t.ones(())])),
    ("RuntimeError", r"^Mismatch in shape: grad_output\[0\] has a shape of torch\.Size\(\[2\]\) and output\[0\] has a "
                     r"shape of torch\.Size\(\[3\]\)\.$", lambda t, x: (x * 2).backward(t.ones(2))),
    ("RuntimeError", r"^Mismatch in shape", lambda t, x: t.autograd.grad(x * 2, x, t.ones(2))),
    ("TypeError", r"^'float' object is not iterable$", lambda t, x: (x * 2).backward(3.0)),
    ("TypeError", r"^gradients can be either Tensors or None, but got str$", lambda t, x: (x * 2).backward("a")),
    ("RuntimeError", r"^got 2 tensors and 1 gradients$",
     lambda t, x: t.autograd.backward([x.sum(), x.sum()], [None])),
    ("AssertionError", r"^Expected output to be a torch\.Tensor$", lambda t, x: t.autograd.backward([x.sum(), 3])),
    ("RuntimeError", r"^all inputs have to be Tensors or GradientEdges, but got int$",
     lambda t, x: t.autograd.grad(x.sum(), [3])),
    ("RuntimeError", r"^One of the differentiated Tensors does not require grad$",
     lambda t, x: t.autograd.grad(x.sum(), t.ones(3))),
    ("RuntimeError", r"^`inputs` argument to `grad\(\)` cannot be empty\.$", lambda t, x: t.autograd.grad(x.sum(), [])),
    ("RuntimeError", r"^`inputs` argument to `backward\(\)` cannot be "
                     r"empty\.$", lambda t, x: x.sum().backward(inputs=[])),
    ("RuntimeError", r"^can't retain_grad on Tensor that has requires_grad=False$",
     lambda t, x: x.sum().backward(inputs=[t.ones(2)])),
    ("RuntimeError", r"^The differentiated Tensor at index 0 appears to not have been used in the graph",
     lambda t, x: t.autograd.grad([], [x])),
    ("RuntimeError", r"^For complex Tensors, both grad_output and output are required to have the same dtype\. "
                     r"Mismatch in dtype: grad_output\[0\] has a dtype of torch\.complex64 and output\[0\] has a dtype "
                     r"of torch\.float32\.$", lambda t, x: x.sum().backward(t.tensor(1j))),
    ("RuntimeError", r"^grad can be implicitly created only for real scalar outputs but got torch\.complex64$",
     lambda t, x: (x * 1j).sum().backward()),
])
def test_refusals(torch, leaf, error, text, run):
    x = leaf(1.0, 2.0, 3.0)
    with pytest.raises(getattr(builtins, error), match=text):
        run(torch, x)
    assert x.grad is None and torch.is_grad_enabled()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]


@pytest.mark.ours
def test_old_names_of_arguments(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * x
    with pytest.warns(FutureWarning, match="`grad_variables` is deprecated. Use `grad_tensors` instead."):
        torch.autograd.backward(y, grad_variables=torch.ones(2), retain_graph=True)
    with pytest.warns(UserWarning, match="retain_variables option is deprecated"):
        y.sum().backward(retain_variables=True)
    torch.autograd.backward(variables=[y], grad_tensors=[torch.ones(2)], retain_variables=True)
    torch.autograd.backward([y], [torch.ones(2)], None, None, True)
    y.sum().backward()
    assert x.grad.tolist() == [10, 20]
    with pytest.raises(TypeError):
        torch.autograd.backward()


@pytest.mark.parametrize("number", [3.0, 2 + 1j])
def test_complex_gradients_are_those_of_a_descent(torch, number):
    z = torch.tensor([1 + 2j], requires_grad=True)
    (z * number).abs().square().sum().backward()
    assert torch.allclose(z.grad, 2 * abs(number) ** 2 * z.detach())


def test_a_real_tensor_in_a_complex_computation_gets_a_real_gradient(torch, leaf):
    x = leaf(1.0, 2.0)
    (x * (3 + 4j)).abs().sum().backward()
    assert x.grad.dtype is torch.float32 and torch.allclose(x.grad, torch.tensor([5.0, 5.0]))
