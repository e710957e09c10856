"""Gradients, and gradients of gradients, of layers whose backward pass is compiled as a whole."""

import pytest

import shimtorch as torch
from shimtorch.autograd import gradcheck, gradgradcheck

F = torch.nn.functional


def draw(*shape, seed=0):
    torch.manual_seed(seed + sum(shape))
    return torch.randn(shape, dtype=torch.float64, requires_grad=True)


def check(f, *inputs):
    assert gradcheck(f, inputs)
    assert gradgradcheck(f, inputs)


@pytest.mark.parametrize("shape", [(4, 3), (3, 2, 4), (2, 3, 2, 2)])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("training", [False, True])
def test_batch_norm(shape, affine, training):
    mean, var = torch.zeros(shape[1], dtype=torch.float64), torch.full((shape[1],), 0.5, dtype=torch.float64)
    parameters = (draw(shape[1]), draw(shape[1], seed=1)) if affine else ()
    check(lambda x, *p: F.batch_norm(x, mean.clone(), var.clone(), *p, training=training), draw(*shape), *parameters)


@pytest.mark.parametrize("affine", [False, True])
def test_instance_norm(affine):
    parameters = (draw(3), draw(3, seed=1)) if affine else ()
    check(lambda x, *p: F.instance_norm(x, None, None, *p), draw(2, 3, 4), *parameters)
