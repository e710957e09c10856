"""Random numbers on the device: what is drawn has the distribution, and a generator's state says what comes next."""
import math

import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")
N = 4000


def moments(t):
    assert t.is_cuda
    t = t.double()
    return t.mean().item(), t.var().item()


@pytest.mark.parametrize("draw, mean, variance", [
    (lambda x: x.uniform_(-1, 3), 1, 16 / 12), (lambda x: x.normal_(2, 3), 2, 9),
    (lambda x: x.exponential_(2), 0.5, 0.25), (lambda x: x.log_normal_(0, 0.25), math.exp(0.03125), 0.0666),
    (lambda x: x.geometric_(0.25), 4, 12), (lambda x: x.bernoulli_(0.3), 0.3, 0.21),
    (lambda x: x.random_(2, 12), 6.5, 99 / 12), (lambda x: torch.bernoulli(x.fill_(0.25)), 0.25, 0.1875),
    (lambda x: torch.poisson(x.fill_(3)), 3, 3), (lambda x: torch.poisson(x.fill_(40)), 40, 40),
    (lambda x: torch.binomial(x.fill_(20), x.clone().fill_(0.25)), 5, 3.75),
    (lambda x: torch.binomial(x.fill_(100), x.clone().fill_(0.6)), 60, 24),
    (lambda x: torch._standard_gamma(x.fill_(3)), 3, 3), (lambda x: torch._standard_gamma(x.fill_(0.5)), 0.5, 0.5),
    (lambda x: torch.normal(x.fill_(1), x.clone().fill_(2)), 1, 4),
    (lambda x: torch.randint_like(x, 4, 10), 6.5, 35 / 12), (lambda x: torch.rand_like(x), 0.5, 1 / 12),
])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_moments(draw, mean, variance, dtype):
    torch.cuda.manual_seed(11)
    got = moments(draw(torch.empty(N, dtype=getattr(torch, dtype), device="cuda")))
    spread = 5 * math.sqrt(variance / N)
    assert abs(got[0] - mean) < spread and abs(got[1] / variance - 1) < 0.25


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "int64", "bool", "float16", "bfloat16", "float32"])
def test_whole_numbers(dtype):
    torch.cuda.manual_seed(12)
    dtype = getattr(torch, dtype)
    x = torch.empty(2000, dtype=dtype, device="cuda").random_()
    assert x.unique().numel() > (1 if dtype is torch.bool else 100)
    assert x.double().min() >= 0
    y = torch.randint(2, (3, 4), dtype=dtype, device="cuda")
    assert y.is_cuda and set(y.reshape(-1).tolist()) <= {0, 1}
    assert torch.randint(-2**63, 2**63 - 1, (5,), device="cuda").unique().numel() == 5


def test_permutations_and_choices():
    torch.cuda.manual_seed(13)
    order = torch.randperm(300, device="cuda")
    assert order.is_cuda and order.sort()[0].tolist() == list(range(300)) and order.tolist() != list(range(300))
    assert torch.randperm(7, device="cuda", dtype=torch.float32).sum() == 21
    weights = torch.tensor([0.0, 1.0, 0.0, 3.0], device="cuda")
    chosen = weights.multinomial(N, True)
    assert set(chosen.tolist()) == {1, 3} and abs((chosen == 3).double().mean().item() - 0.75) < 0.05
    assert sorted(weights.multinomial(2).tolist()) == [1, 3]
    assert weights.expand(3, 4).multinomial(2).shape == (3, 2)
    with pytest.raises(RuntimeError, match="sum of probabilities"):
        (weights * 0).multinomial(1)
    with pytest.raises(RuntimeError, match="element < 0"):
        (-weights).multinomial(1)


def test_generators():
    g = torch.Generator(device="cuda")
    assert g.device == torch.device("cuda", 0) and g.initial_seed() == 67280421310721
    g.manual_seed(5)
    first = torch.rand(10, generator=g, device="cuda")
    state = g.get_state()
    second = torch.randn(10, generator=g, device="cuda")
    assert torch.equal(torch.rand(10, generator=torch.Generator("cuda").manual_seed(5), device="cuda"), first)
    assert torch.equal(torch.randn(10, generator=g.set_state(state), device="cuda"), second)
    assert not g.get_state().is_cuda and g.get_offset() % 4 == 0
    with pytest.raises(RuntimeError, match="'cuda' device type for generator but found 'cpu'"):
        torch.rand(2, generator=torch.Generator(), device="cuda")
    with pytest.raises(RuntimeError, match="'cpu' device type for generator but found 'cuda'"):
        torch.rand(2, generator=g)
    before = torch.cuda.get_rng_state_all()
    x = torch.rand(3, device="cuda")
    torch.cuda.set_rng_state_all(before)
    assert torch.equal(torch.rand(3, device="cuda"), x)
    torch.cuda.seed()
    assert torch.cuda.initial_seed() != 5
    torch.manual_seed(7)
    assert torch.cuda.initial_seed() == 7


def test_a_fork_of_the_generators_restores_them():
    torch.cuda.manual_seed(3)
    with torch.random.fork_rng():
        x = torch.rand(3, device="cuda")
    assert torch.equal(torch.rand(3, device="cuda"), x)
