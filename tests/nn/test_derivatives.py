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


@pytest.mark.parametrize("n, sizes, options", [
    (1, ((2, 4, 7), (6, 2, 3)), {"stride": 2, "padding": 1, "dilation": 2, "groups": 2}),
    (2, ((2, 2, 4, 5), (3, 2, 2, 2)), {}),
    (3, ((1, 2, 3, 4, 5), (3, 2, 2, 2, 1)), {"padding": (1, 0, 1)}),
])
def test_gradients_of_convolutions_as_functions(n, sizes, options):
    torch.manual_seed(0)
    x, w = (torch.randn(size, dtype=torch.float64, requires_grad=True) for size in sizes)
    out = getattr(torch.nn.functional, f"conv{n}d")(x, w, **options)
    g = torch.randn_like(out, requires_grad=True)
    for_x, for_w = torch.autograd.grad(out, (x, w), g)
    assert torch.equal(getattr(torch.nn.grad, f"conv{n}d_input")(x.shape, w, g, **options), for_x)
    result = getattr(torch.nn.grad, f"conv{n}d_weight")(x, w.shape, g, **options)
    assert torch.equal(result, for_w) and result.requires_grad
    with pytest.raises(RuntimeError, match="Expected grad_output to have shape"):
        getattr(torch.nn.grad, f"conv{n}d_weight")(x, w.shape, g[..., :-1], **options)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("mode, gates, project", [
    ("LSTM", 4, False), ("LSTM", 4, True), ("GRU", 3, False), ("RNN_TANH", 1, False),
])
def test_recurrent_layer(mode, gates, project, reverse):
    from shimtorch._ops.recurrent import recurrent_layer
    states = 2 if project else 3
    c0 = draw(2, 3) if mode == "LSTM" else None
    w_hr = draw(states, 3) if project else None
    given = [draw(3, 2, gates * 3), draw(2, states), c0, draw(gates * 3, states), draw(gates * 3), w_hr]
    inputs = [t for t in given if t is not None]
    check(lambda *tensors: recurrent_layer(mode, *_filled(given, tensors), reverse), *inputs)


def _filled(given, tensors):
    rest = iter(tensors)
    return [None if t is None else next(rest) for t in given]


@pytest.mark.parametrize("kind, options", [("LSTM", {}), ("LSTM", {"proj_size": 2}), ("GRU", {}), ("RNN", {})])
def test_packed_batch(kind, options):
    torch.manual_seed(0)
    network = getattr(torch.nn, kind)(2, 3, bidirectional=True, dtype=torch.float64, **options)

    def run(*sequences):
        output, last = network(torch.nn.utils.rnn.pack_sequence(sequences))
        return output.data, *(last if kind == "LSTM" else (last,))
    check(run, draw(3, 2), draw(2, 2), draw(1, 2))
