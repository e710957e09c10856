"""``autograd.functional``: Jacobians, Hessians, products with vectors."""
import pytest

X, Y = [1.0, 2.0], [3.0, 4.0, 5.0]


@pytest.fixture
def F(torch):
    return torch.autograd.functional


def lists(value):
    """Nested tuples of tensors as nested tuples of lists."""
    return tuple(lists(v) for v in value) if isinstance(value, tuple) else value.tolist()


def test_jacobian(torch, F):
    x, y = torch.tensor(X), torch.tensor(Y)
    assert F.jacobian(lambda x: x ** 2, x).tolist() == [[2, 0], [0, 4]]
    assert F.jacobian(lambda x: x.sum(), x).tolist() == [1, 1]
    assert F.jacobian(lambda x: x.view(2, 1) * y, x).shape == (2, 3, 2)
    assert lists(F.jacobian(lambda x, y: (x.sum() * y, x), (x, y))) == (
        ([[3, 3], [4, 4], [5, 5]], [[3, 0, 0], [0, 3, 0], [0, 0, 3]]), ([[1, 0], [0, 1]], [[0, 0, 0], [0, 0, 0]]))
    assert lists(F.jacobian(lambda x, y: x * 2, (x, y))) == ([[2, 0], [0, 2]], [[0, 0, 0], [0, 0, 0]])
    assert F.jacobian(lambda x: torch.ones(3), x).tolist() == [[0, 0]] * 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_jacobian_in_other_ways(torch, F):
    x = torch.tensor(X)
    assert F.jacobian(lambda x: x ** 2, x, vectorize=True).tolist() == [[2, 0], [0, 4]]
    assert F.jacobian(lambda x: x ** 2, x, vectorize=True, strategy="forward-mode").tolist() == [[2, 0], [0, 4]]
    with torch.no_grad():
        assert F.jacobian(lambda x: x ** 2, x).tolist() == [[2, 0], [0, 4]]


def test_jacobian_leaves_its_input_alone(torch, F, leaf):
    x = leaf(*X)
    assert not F.jacobian(lambda x: x ** 2, x).requires_grad
    assert x.grad is None and x.requires_grad
    c = torch.tensor(X)
    F.jacobian(lambda x: x ** 2, c)
    assert not c.requires_grad


def test_hessian(torch, F):
    x, y = torch.tensor(X), torch.tensor(Y)
    assert F.hessian(lambda x: (x ** 3).sum(), x).tolist() == [[6, 0], [0, 12]]
    assert F.hessian(lambda x: (x ** 3).sum(0, keepdim=True), x).tolist() == [[6, 0], [0, 12]]
    assert F.hessian(lambda x: x.sum(), x).tolist() == [[0, 0], [0, 0]]
    assert lists(F.hessian(lambda x, y: (x.sum() * y ** 2).sum(), (x, y))) == (
        ([[0, 0], [0, 0]], [[6, 8, 10], [6, 8, 10]]),
        ([[6, 6], [8, 8], [10, 10]], [[6, 0, 0], [0, 6, 0], [0, 0, 6]]))


def test_products_with_vectors(torch, F):
    x, y = torch.tensor(X), torch.tensor(Y)
    assert lists(F.vjp(lambda x: x ** 2, x, torch.ones(2))) == ([1, 4], [2, 4])
    assert lists(F.vjp(lambda x: (x ** 2).sum(), x)) == (5, [2, 4])
    assert lists(F.vjp(lambda x, y: x.sum() * y, (x, y), torch.ones(3))) == ([9, 12, 15], ([12, 12], [3, 3, 3]))
    assert lists(F.vjp(lambda x: torch.ones(2), x, torch.ones(2))) == ([1, 1], [0, 0])
    assert lists(F.jvp(lambda x: x ** 2, x, torch.tensor([1.0, 10.0]))) == ([1, 4], [2, 40])
    assert lists(F.jvp(lambda x: x ** 2, torch.tensor(3.0))) == (9, 6)
    assert lists(F.jvp(lambda x, y: (x.sum() * y, x), (x, y), (torch.ones(2), torch.ones(3)))) == (
        ([9, 12, 15], [1, 2]), ([9, 11, 13], [1, 1]))
    assert lists(F.jvp(lambda x: torch.ones(2), x, torch.ones(2))) == ([1, 1], [0, 0])
    for product in (F.vhp, F.hvp):
        assert lists(product(lambda x: (x ** 3).sum(), x, torch.ones(2))) == (9, [6, 12])
        assert lists(product(lambda x, y: (x.sum() * y ** 2).sum(), (x, y), (torch.ones(2), torch.ones(3)))) == (
            150, ([24, 24], [18, 22, 26]))
        assert lists(product(lambda x: x ** 3, torch.tensor(3.0))) == (27, 18)
        assert lists(product(lambda x: x.sum(), x, torch.ones(2))) == (3, [0, 0])


def test_results_can_be_differentiated(torch, F, leaf):
    x, v = leaf(*X), torch.ones(2)
    for run in (lambda: F.jacobian(lambda x: x ** 3, x, create_graph=True).sum(),
                lambda: F.vjp(lambda x: (x ** 3).sum(), x, create_graph=True)[1].sum(),
                lambda: F.jvp(lambda x: x ** 3, x, v, create_graph=True)[1].sum()):
        assert torch.autograd.grad(run(), x)[0].tolist() == [6, 12]
    for run in (lambda: F.hessian(lambda x: (x ** 3).sum(), x, create_graph=True).sum(),
                lambda: F.vhp(lambda x: (x ** 3).sum(), x, v, create_graph=True)[1].sum(),
                lambda: F.hvp(lambda x: (x ** 3).sum(), x, v, create_graph=True)[1].sum()):
        assert torch.autograd.grad(run(), x)[0].tolist() == [6, 6]
    output, _ = F.vjp(lambda x: (x ** 3).sum(), x, create_graph=True)
    assert output.requires_grad and not F.vjp(lambda x: (x ** 3).sum(), x)[0].requires_grad


STRICT = (r"The outputs must be computed in a differentiable manner from the input when running in strict mode\.$")
TWICE = (r"^While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 "
         r"is independent of the input\. This is not allowed in strict mode\. You should ensure that your function is "
         r"twice differentiable and that the jacobian depends on the inputs \(this would be violated by a linear "
         r"function for example\)\.$")


@pytest.mark.parametrize("error, text, run", [
    (RuntimeError, r"^Output 0 of the user-provided function does not require gradients\. " + STRICT,
     lambda t, F, x: F.jacobian(lambda x: t.ones(3), x, strict=True)),
    (RuntimeError, r"^Output 0 of the user-provided function is independent of input 0\. This is not allowed in strict "
                   r"mode\.$",
     lambda t, F, x: F.jacobian(lambda x, y: y * 2, (x, x), strict=True)),
    (RuntimeError, r"^The jacobian of the user-provided function is independent of input 0\. This is not allowed in "
                   r"strict mode when create_graph=True\.$",
     lambda t, F, x: F.jacobian(lambda x: x * 2, x.requires_grad_(), create_graph=True, strict=True)),
    (RuntimeError, r"`strict=True` and `vectorized=True` are not supported together",
     lambda t, F, x: F.jacobian(lambda x: x ** 2, x, vectorize=True, strict=True)),
    (NotImplementedError, "", lambda t, F, x: F.jacobian(lambda x: x ** 2, x, strategy="forward-mode")),
    (AssertionError, '^Expected strategy to be either "forward-mode" or "reverse-mode"',
     lambda t, F, x: F.jacobian(lambda x: x ** 2, x, strategy="other")),
    (TypeError, r"^The outputs of the user-provided function given to jacobian must be either a Tensor or a tuple of "
                r"Tensors but the given outputs of the user-provided function has type <class 'int'>\.$",
     lambda t, F, x: F.jacobian(lambda x: 3, x)),
    (TypeError, r"^The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the given inputs has "
                r"type <class 'list'>\.$", lambda t, F, x: F.jacobian(lambda x: x, [x])),
    (TypeError, r"^The inputs given to jacobian must be either a Tensor or a tuple of Tensors but the value at index 1 "
                r"has type <class 'int'>\.$", lambda t, F, x: F.jacobian(lambda x, y: x, (x, 3))),
    (RuntimeError, "^The Tensor returned by the function given to hessian should contain a single element$",
     lambda t, F, x: F.hessian(lambda x: x ** 3, x)),
    (RuntimeError, "^The function given to hessian should return a single Tensor$",
     lambda t, F, x: F.hessian(lambda x: (x.sum(), x.sum()), x)),
    (RuntimeError, TWICE, lambda t, F, x: F.hessian(lambda x: x.sum(), x, strict=True)),
    (RuntimeError, TWICE, lambda t, F, x: F.vhp(lambda x: x.sum(), x, t.ones(2), strict=True)),
    (RuntimeError, TWICE, lambda t, F, x: F.hvp(lambda x: x.sum(), x, t.ones(2), strict=True)),
    (RuntimeError, "^The vector v can only be None if the user-provided function returns a single Tensor with a single "
                   "element.$", lambda t, F, x: F.vjp(lambda x: x ** 2, x)),
    (RuntimeError, "^The vector v can only be None if the input to the user-provided function is a single Tensor with "
                   "a single element.$", lambda t, F, x: F.jvp(lambda x: x ** 2, x)),
    (RuntimeError, "^The vector v can only be None if the input", lambda t, F, x: F.hvp(lambda x: x.sum(), x)),
    (RuntimeError, r"^v has invalid size: should be torch\.Size\(\[2\]\) but got torch\.Size\(\[3\]\)\.$",
     lambda t, F, x: F.vjp(lambda x: x ** 2, x, t.ones(3))),
    (RuntimeError, r"^v has invalid size: should be torch\.Size\(\[2\]\) but got torch\.Size\(\[3\]\)\.$",
     lambda t, F, x: F.jvp(lambda x: x ** 2, x, t.ones(3))),
    (RuntimeError, r"^The given v should contain a single Tensor\.$",
     lambda t, F, x: F.vjp(lambda x: x ** 2, x, (t.ones(2), t.ones(2)))),
    (RuntimeError, r"^v is a tuple of invalid length: should be 2 but got 1\.$",
     lambda t, F, x: F.vjp(lambda x: (x ** 2, x), x, t.ones(2))),
    (RuntimeError, r"^The output of the user-provided function is independent of input 0\. This is not allowed in "
                   r"strict mode\.$", lambda t, F, x: F.vjp(lambda x, y: y * 2, (x, x), t.ones(2), strict=True)),
    (RuntimeError, LEAF := "^a leaf Variable that requires grad is being used in an in-place operation.$",
     lambda t, F, x: F.jacobian(lambda x: x.add_(1), x)),
])
def test_refusals(torch, F, error, text, run):
    with pytest.raises(error, match=text or None):
        run(torch, F, torch.tensor(X))
