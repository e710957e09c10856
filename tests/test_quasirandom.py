"""Sobol' sequences against the points that torch 2.13 drew."""
import pytest

import shimtorch as torch
from shimtorch.quasirandom import SobolEngine

SCRAMBLED = [[0.2031, 0.4212, 0.0052, 0.8780, 0.6396], [0.8889, 0.8496, 0.7040, 0.2345, 0.1021],
             [0.6767, 0.0577, 0.4791, 0.6168, 0.2935], [0.4793, 0.7359, 0.8116, 0.2546, 0.9482],
             [0.3219, 0.1510, 0.5937, 0.4936, 0.7994], [0.5231, 0.5782, 0.1350, 0.6351, 0.4580],
             [0.7944, 0.2645, 0.9221, 0.0135, 0.1416]]


def test_points():
    engine = SobolEngine(3)
    assert engine.draw(5).tolist() == [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75],
                                       [0.375, 0.375, 0.625]]
    assert engine.draw(2).tolist() == [[0.875, 0.875, 0.125], [0.625, 0.125, 0.875]]
    engine.fast_forward(4)
    assert engine.draw().tolist() == [[0.4375, 0.5625, 0.1875]] and engine.num_generated == 12


def test_scrambled_points():
    engine = SobolEngine(5, scramble=True, seed=1234)
    drawn = torch.cat([engine.draw(4), engine.draw(3)])
    assert torch.allclose(drawn, torch.tensor(SCRAMBLED), atol=5e-5)
    assert engine.reset().draw(1).tolist() == drawn[:1].tolist()
    assert repr(engine) == "SobolEngine(dimension=5, scramble=True, seed=1234)"


def test_scrambling_draws_from_the_default_generator():
    torch.manual_seed(5)
    points = SobolEngine(2, scramble=True).draw(2)
    assert torch.allclose(points, torch.tensor([[0.4803, 0.1173], [0.9498, 0.7430]]), atol=5e-5)
    assert torch.rand(1).item() == pytest.approx(0.4237, abs=5e-5)


def test_all_dimensions():
    points = SobolEngine(SobolEngine.MAXDIM).draw(7)
    assert points[-1, -5:].tolist() == [0.375, 0.375, 0.125, 0.125, 0.375]
    assert points.double().sum().item() == 63533.125


@pytest.mark.parametrize("n", [1, 2, 3, 7, 64, 1000])
def test_leaving_out_points_is_drawing_them(n):
    a, b = SobolEngine(4, scramble=True, seed=3), SobolEngine(4, scramble=True, seed=3)
    a.draw(n)
    assert a.draw(5).equal(b.fast_forward(n).draw(5))


def test_powers_of_two():
    engine = SobolEngine(2)
    engine.draw_base2(2)
    engine.draw_base2(2)
    with pytest.raises(ValueError, match=r"n=8\+2\*\*2=12"):
        engine.draw_base2(2)


def test_dtype_and_out():
    assert SobolEngine(2).draw(2, dtype=torch.float64).dtype is torch.float64
    out = torch.empty(0)
    assert SobolEngine(2).draw(3, out=out) is out and out.shape == (3, 2)


@pytest.mark.parametrize("dimension", [0, 21202])
def test_too_many_dimensions(dimension):
    with pytest.raises(ValueError, match=r"\[1, 21201\]"):
        SobolEngine(dimension)
