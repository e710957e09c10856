"""``gradcheck`` and ``gradgradcheck``: what passes, what fails, and with which words."""
import warnings

import pytest


@pytest.fixture
def x(torch):
    return torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)


@pytest.fixture
def check(torch):
    return torch.autograd.gradcheck


@pytest.fixture
def error(torch):
    from importlib import import_module
    return import_module(torch.__name__ + ".autograd.gradcheck").GradcheckError


@pytest.fixture
def make(torch):
    def make(forward, backward):
        return type("Made", (torch.autograd.Function,),
                    {"forward": staticmethod(forward), "backward": staticmethod(backward)}).apply
    return make


def test_right_gradients_pass(torch, check, x):
    y = torch.tensor([[3.0, 4.0]], dtype=torch.float64, requires_grad=True)
    assert check(lambda x: x ** 2, (x,)) is True
    assert check(lambda x: x ** 2, x) and check(lambda x: x ** 2, [x])
    assert check(lambda x, y: (x * y, y.sum()), (x, y))
    assert check(lambda x, k: x * k, (x, 3.0)) and check(lambda x, y: x * 2, (x, y))
    assert check(lambda x: (x * 2, x.argmax()), (x,)) and check(lambda x: [x * 2], (x,)) and check(lambda x: (), (x,))
    assert check(lambda x: x.clone().mul_(2), (x,))
    assert check(lambda x: x * 2, (x,), eps=1e-4, atol=1e-3, rtol=1e-3, fast_mode=True, check_grad_dtypes=True)
    assert check(lambda x: x ** 2, (x[::2].t().detach().requires_grad_(),)) and x.tolist() == [1, 2]


def test_wrong_gradients_fail(torch, check, x, make, error):
    wrong = make(lambda ctx, x: x * 2, lambda ctx, g: g * 3)
    with pytest.raises(error) as caught:
        check(wrong, (x,))
    assert str(caught.value) == (
        "Jacobian mismatch for output 0 with respect to input 0,\n"
        "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 2.0000]], dtype=torch.float64)\n"
        "analytical:tensor([[3., 0.],\n        [0., 3.]], dtype=torch.float64)\n")
    assert isinstance(caught.value, RuntimeError)
    assert check(wrong, (x,), raise_exception=False) is False
    with pytest.raises(error, match="^Jacobian mismatch for output 1 with respect to input 0"):
        check(lambda x: (x * 2, wrong(x)), (x,))
    with pytest.raises(error, match="^Jacobian mismatch for output 0 with respect to input 1"):
        check(lambda x, y: x + wrong(y), (x, x.detach().clone().requires_grad_()))


def test_complex_numbers(torch, check, x, make, error):
    z = torch.tensor([1 + 2j, 2 - 1j], dtype=torch.complex128, requires_grad=True)
    for f in (lambda z: z * z, lambda z: z.abs(), lambda z: z.conj() * z, lambda z: z.exp(), lambda z: z.real * z.imag):
        assert check(f, (z,)) and torch.autograd.gradgradcheck(f, (z,))
    assert check(lambda x: x * (1 + 2j), (x,))
    with pytest.raises(error, match="^While considering the imaginary part of complex outputs only, Jacobian mismatch "
                                    "for output 0 with respect to input 0"):
        check(make(lambda ctx, x: x * 1j, lambda ctx, g: g * 1j), (z,))
    with pytest.raises(error, match="^Jacobian mismatch for output 0"):
        check(make(lambda ctx, z: z.imag, lambda ctx, g: g * (1 + 0j)), (z,))


def test_gradients_that_differ_from_pass_to_pass(torch, check, x, make, error):
    passes = []

    def backward(ctx, g):
        passes.append(None)
        return g * (2 + 1e-6 * len(passes))
    drifting = make(lambda ctx, x: x * 2, backward)
    with pytest.raises(error, match="^Backward is not reentrant, i.e., running backward with same input and "
                                    "grad_output multiple times gives different values, although analytical gradient "
                                    "matches numerical gradient.The tolerance for nondeterminism was 0.0."):
        check(drifting, (x,))
    assert check(drifting, (x,), nondet_tol=1e-3)


def test_gradients_that_are_not_linear(torch, check, x, make, error):
    with pytest.raises(error, match="^backward not multiplied by grad_output$"):
        check(make(lambda ctx, x: x * 2, lambda ctx, g: g * 2 + 1e-7), (x,), nondet_tol=1e-3)


def test_results_without_history_must_be_constant(torch, check, x, error):
    assert check(lambda x: torch.ones(2), (x,))
    with pytest.raises(error, match="^Numerical gradient for function expected to be zero$"):
        check(lambda x: (x ** 2).detach(), (x,))


def test_what_backward_raises_comes_through(torch, check, x, make):
    def backward(ctx, g):
        raise ValueError("oh")
    with pytest.raises(ValueError, match="^oh$"):
        check(make(lambda ctx, x: x * 2, backward), (x,))


def test_inputs_are_looked_at(torch, check, x):
    with pytest.raises(ValueError, match="^gradcheck expects at least one input tensor to require gradient, but none "
                                         "of them have requires_grad=True.$"):
        check(lambda x: x ** 2, (x.detach(),))
    with pytest.raises(RuntimeError, match="^The 0th input has a dimension with stride 0. gradcheck only supports "
                                           "inputs that are non-overlapping"):
        check(lambda x: x * 2, (torch.ones(1, dtype=torch.float64).expand(3).requires_grad_(),))
    with pytest.warns(UserWarning, match="^Input #0 requires gradient and is not a double precision floating point or "
                                         "complex. This check will likely fail"):
        check(lambda x: x * 2, (x.detach().float().requires_grad_(),), raise_exception=False)
    with pytest.raises(AssertionError):
        check(lambda x: x * 2, (x,), check_backward_ad=False)


def test_gradgradcheck(torch, x, make, error):
    check = torch.autograd.gradgradcheck
    assert check(lambda x: x ** 3, (x,)) is True and check(lambda x: x ** 3, x)
    assert check(lambda x: x * 2, (x,))
    assert check(lambda x: (x ** 3, x.sum()), (x,), gen_non_contig_grad_outputs=True)
    assert check(lambda x: x ** 3, (x,), (torch.ones(2, dtype=torch.float64, requires_grad=True),))
    forgetful = make(lambda ctx, x: ctx.save_for_backward(x) or x ** 3,
                     lambda ctx, g: 3 * g * ctx.saved_tensors[0].detach() ** 2)
    with pytest.raises(error, match="^Jacobian mismatch for output 0 with respect to input 0"):
        check(forgetful, (x,))
    assert check(forgetful, (x,), raise_exception=False) is False
    assert x.grad is None and x.tolist() == [1, 2]


@pytest.mark.ours
def test_what_does_not_exist_is_refused(torch, check, x):
    for name in ("check_batched_grad", "check_forward_ad", "check_batched_forward_grad"):
        with pytest.raises(NotImplementedError, match=name):
            check(lambda x: x * 2, (x,), **{name: True})
    with pytest.raises(NotImplementedError, match="check_fwd_over_rev"):
        torch.autograd.gradgradcheck(lambda x: x * 2, (x,), check_fwd_over_rev=True)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks:UserWarning")
def test_sparse_inputs(torch, check, error):
    def sparse():
        return torch.eye(2, dtype=torch.float64).to_sparse().requires_grad_()
    assert check(lambda s: s.to_dense(), (sparse(),), masked=True)
    with pytest.raises(ValueError, match="^Sparse output is not supported at gradcheck yet."):
        check(lambda s: s * 2, (sparse(),))


@pytest.mark.ours
def test_helpers_of_old_versions(torch, x):
    from shimtorch.autograd.gradcheck import (
        get_analytical_jacobian,
        get_numerical_jacobian,
        iter_tensors,
        make_jacobian,
        zero_gradients,
    )
    y = x ** 2
    numerical = get_numerical_jacobian(lambda x: x ** 2, x, eps=1e-4)
    (analytical,), reentrant, sized = get_analytical_jacobian((x,), y)
    assert torch.allclose(numerical, analytical) and reentrant and sized and analytical.tolist() == [[2, 0], [0, 4]]
    y.sum().backward()
    zero_gradients([x, (torch.ones(1),)])
    assert x.grad.tolist() == [0, 0]
    assert [t.tolist() for t in iter_tensors([x, (torch.ones(1),)], True)] == [[1, 2]]
    assert make_jacobian((x, torch.ones(1)), 3)[0].shape == (2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.autograd.gradcheck(lambda x: x * 2, (x,), 1e-6, 1e-5, 1e-3, True, True)
