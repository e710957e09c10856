"""Distributions against recorded answers of PyTorch 2.13, and their samples against their own moments."""

import json
import pathlib

import pytest
from recorded import difference

import shimtorch as torch
from shimtorch import distributions as D

from . import distribution_cases as cases

ANSWERS = json.loads((pathlib.Path(__file__).parents[1] / "answers" / "distributions.json").read_text(encoding="utf-8"))


def as_json(value):
    text = json.dumps(value).replace("shimtorch.", "torch.")
    return json.loads(text)


@pytest.mark.parametrize("kind, case", cases.CASES)
def test_as_recorded(kind, case):
    expected = ANSWERS[f"{kind} {case}"]
    got = as_json(cases.run(torch, kind, case))
    for answer in (expected, got):         # however the lines of a message are broken
        if "message" in answer:
            answer["message"] = " ".join(answer["message"].split())
    # PyTorch approximates the derivatives of gamma numbers to about four digits.
    rtol = 1e-3 if kind == "gradients" else 2e-5
    assert difference(expected, got, rtol=rtol) is None


@pytest.mark.parametrize("d", [
    D.Normal(1.0, 2.0), D.Gamma(2.0, 3.0), D.Beta(2.0, 3.0), D.Exponential(2.0), D.Poisson(3.0), D.Laplace(1.0, 0.5),
    D.Gumbel(1.0, 0.5), D.Uniform(-1.0, 2.0), D.Geometric(0.4), D.Bernoulli(0.3), D.StudentT(9.0), D.Weibull(1.0, 2.0),
    D.Kumaraswamy(2.0, 3.0), D.HalfNormal(2.0), D.InverseGamma(5.0, 2.0), D.ContinuousBernoulli(0.2),
    D.Pareto(1.0, 5.0),
    D.NegativeBinomial(3.0, torch.tensor(0.4)), D.Binomial(9, torch.tensor(0.3)), D.LogNormal(0.0, 0.4),
])
def test_samples_have_the_moments(d):
    torch.manual_seed(1)
    x = d.sample((20000,)).double()
    assert abs(x.mean() - d.mean).item() < 5 * (d.variance / 20000).sqrt().item()
    assert abs(x.var() / d.variance - 1).item() < 0.15


def test_modules_under_their_paths():
    from shimtorch.distributions.kl import kl_divergence
    from shimtorch.distributions.normal import Normal

    assert Normal is D.Normal and kl_divergence is D.kl_divergence


def test_own_divergences_are_found_by_class():
    class Mine(D.Normal):
        pass

    @D.register_kl(Mine, D.Normal)
    def mine(p, q):
        return torch.tensor(42.0)

    assert D.kl_divergence(Mine(0.0, 1.0), D.Normal(0.0, 1.0)).item() == 42
    assert D.kl_divergence(D.Normal(0.0, 1.0), Mine(0.0, 1.0)).item() == 0


def test_a_cached_transform_gives_back_what_it_was_given():
    f = D.TanhTransform(cache_size=1)
    x = torch.tensor([20.0])
    assert f.inv(f(x)) is x and f.with_cache(1) is f


def test_validation_can_be_switched_off():
    assert D.Normal(0.0, -1.0, validate_args=False).scale.item() == -1
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(0.0, -1.0)
    finally:
        D.Distribution.set_default_validate_args(True)
    with pytest.raises(ValueError, match="scale"):
        D.Normal(0.0, -1.0)
