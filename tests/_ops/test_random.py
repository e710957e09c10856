"""Random ops: the numbers of several versions of PyTorch (answers/random.json), arguments, errors, gradients."""

import json
import math
import pathlib
import zlib

import pytest

import shimtorch as torch

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "random.json").read_text())
ERAS = {"2.13.0": "modern", "1.11.0": "1.11", "1.1.0": "1.1", "1.0.0": "1.0"}
SAMPLERS = {"poisson": torch.poisson, "gamma": torch._standard_gamma, "dirichlet": torch._sample_dirichlet}


def line(case, key, dtype=None):
    start, step = case[key]
    values = [start + step * i for i in range(math.prod(case["shape"]))]
    return torch.tensor(values, dtype=getattr(torch, dtype or case["dtype"])).view(case["shape"])


def destination(case):
    shape, dtype = list(case["shape"]), getattr(torch, case["dtype"])
    if case["layout"] == "transposed":
        return torch.zeros(shape[::-1], dtype=dtype).permute(*range(len(shape) - 1, -1, -1))
    if case["layout"] == "step":
        return torch.zeros(shape[:-1] + [2 * shape[-1]], dtype=dtype)[..., ::2]
    if case["layout"] == "cut":
        return torch.zeros(shape[:-1] + [shape[-1] + 3], dtype=dtype)[..., : shape[-1]]
    return torch.zeros(shape, dtype=dtype)


def draw(case):
    name, args = case["draw"], case["args"]
    if name == "permutation":
        return torch.randperm(case["shape"][0], dtype=getattr(torch, case["dtype"]))
    if name in SAMPLERS:
        return SAMPLERS[name](line(case, "a"))
    if name == "binomial":
        return torch.binomial(line(case, "a"), line(case, "b"))
    if name == "multinomial":
        return torch.multinomial(line(case, "a"), args[0], replacement=args[1])
    if name == "bernoulli_each":
        return destination(case).bernoulli_(line(case, "p", case["p_dtype"]))
    return getattr(destination(case), name + "_")(*args)


def answer(case):
    torch.manual_seed(case["seed"])
    x = draw(case).contiguous()
    drawn = zlib.crc32(x._ndarray().tobytes())
    normal = torch.zeros(1, dtype=torch.float64).normal_().item()
    return [drawn, normal, torch.zeros(1).uniform_().item()]


@pytest.mark.filterwarnings("ignore:.*is out of bounds:UserWarning")
@pytest.mark.parametrize("version", ERAS)
@pytest.mark.parametrize("name", sorted({case["draw"] for case in ANSWERS}))
def test_same_numbers_and_state(name, version):
    cases = [case for case in ANSWERS if case["draw"] == name and version in case["answers"]
             # 1.1 added up rows in another order
             and not (name == "dirichlet" and case["dtype"] == "float64" and version <= "1.1.0")]
    with torch.era(ERAS[version]):
        wrong = [case for case in cases if answer(case) != case["answers"][version]]
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, the first: {wrong[0]}"


# ---------------------------------------------------------------- ways to call

def same(*calls):
    """All calls draw the same numbers from the same seed."""
    results = []
    for call in calls:
        torch.manual_seed(11)
        results.append(call())
    assert all(r.shape == results[0].shape and r.tolist() == results[0].tolist() for r in results)
    return results[0]


def test_forms_of_a_size():
    same(lambda: torch.rand(2, 3), lambda: torch.rand((2, 3)), lambda: torch.rand([2, 3]),
         lambda: torch.rand(size=(2, 3)), lambda: torch.rand(torch.Size([2, 3])), lambda: torch.empty(2, 3).uniform_(),
         lambda: torch.rand_like(torch.zeros(2, 3)), lambda: torch.rand(2, 3, out=torch.empty(0)),
         lambda: torch.rand(2, 3, requires_grad=True), lambda: torch.rand(2, 3, dtype=torch.float32, device="cpu"))
    same(lambda: torch.randn(20), lambda: torch.empty(20).normal_(), lambda: torch.randn_like(torch.zeros(20)),
         lambda: torch.normal(0.0, 1.0, (20,)), lambda: torch.normal(torch.zeros(20)),
         lambda: torch.normal(0.0, torch.ones(20)), lambda: torch.normal(mean=torch.zeros(20), std=torch.ones(20)))
    assert torch.rand(()).shape == () and torch.rand(2, 0).shape == (2, 0)


def test_forms_of_a_range():
    same(lambda: torch.randint(9, (4,)), lambda: torch.randint(0, 9, (4,)), lambda: torch.randint(high=9, size=(4,)),
         lambda: torch.randint(low=0, high=9, size=[4]), lambda: torch.empty(4, dtype=torch.int64).random_(9),
         lambda: torch.empty(4, dtype=torch.int64).random_(0, 9), lambda: torch.empty(4).random_(to=9),
         lambda: torch.empty(4).random_(**{"from": 0, "to": 9}), lambda: torch.randint_like(torch.zeros(4), 9),
         lambda: torch.randint_like(torch.zeros(4), 0, 9), lambda: torch.randint_like(torch.zeros(4), high=9),
         lambda: torch.randint(0, 9, (4,), out=torch.empty(4)))
    assert torch.randint(9, (4,)).dtype == torch.int64
    with torch.era("0.4"):
        assert torch.randint(9, (4,)).dtype == torch.float32


def test_forms_of_bernoulli():
    p = torch.full((6,), 0.5)
    same(lambda: torch.bernoulli(p), lambda: p.bernoulli(), lambda: torch.empty(6).bernoulli_(p),
         lambda: torch.bernoulli(input=p))
    same(lambda: torch.bernoulli(p, 0.3), lambda: p.bernoulli(0.3), lambda: torch.empty(6).bernoulli_(0.3),
         lambda: torch.bernoulli(p, p=0.3))
    out = torch.empty(6, dtype=torch.int64)
    assert torch.bernoulli(p, out=out) is out and set(out.tolist()) <= {0, 1}
    assert torch.empty(2, 3).bernoulli_(torch.tensor([0.0, 1.0, 0.0])).tolist() == [[0, 1, 0]] * 2


def test_generators_are_separate():
    torch.manual_seed(1)
    expected = torch.randn(3).tolist()
    torch.manual_seed(1)
    mine = torch.Generator().manual_seed(7)
    x = torch.ones(2)
    for call in (lambda g: torch.rand(2, generator=g), lambda g: torch.randn(2, generator=g),
                 lambda g: torch.randint(5, (2,), generator=g), lambda g: torch.randperm(4, generator=g),
                 lambda g: torch.normal(x, 1.0, generator=g), lambda g: torch.bernoulli(x, generator=g),
                 lambda g: torch.poisson(x, generator=g), lambda g: torch.multinomial(x, 1, generator=g),
                 lambda g: torch.rand_like(x, generator=g), lambda g: torch.empty(2).exponential_(generator=g),
                 lambda g: torch.empty(3).random_(9, generator=g),
                 lambda g: torch.empty(2).bernoulli_(0.5, generator=g)):
        state = mine.get_state().tolist()
        call(mine)
        assert mine.get_state().tolist() != state
    assert torch.randn(3).tolist() == expected


def test_memory_order_of_like():
    x = torch.zeros(2, 3, 4).permute(2, 0, 1)
    assert torch.rand_like(x).stride() == (1, 12, 4)
    assert torch.rand_like(x, memory_format=torch.contiguous_format).stride() == (6, 3, 1)
    assert torch.randn_like(torch.zeros(2, 3, 8)[:, :, ::2]).stride() == (12, 4, 1)
    assert torch.bernoulli(torch.rand(3, 4).t()).stride() == (3, 1)


def test_normal_broadcasts_and_keeps_the_dtype():
    assert torch.normal(torch.zeros(3, 1), torch.ones(1, 8)).shape == (3, 8)
    assert torch.normal(torch.zeros(2), torch.ones(2, dtype=torch.float64)).dtype == torch.float32
    assert torch.normal(0.0, torch.ones(2, dtype=torch.float64)).dtype == torch.float64


def test_normal_out():
    out = torch.empty(0)
    assert torch.normal(torch.zeros(4), torch.ones(4), out=out) is out and out.shape == (4,)
    with pytest.warns(UserWarning, match="was resized"):
        assert torch.normal(0.0, torch.ones(3), out=out).shape == (3,)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(4\) must match the size of tensor b \(3\)"):
        torch.normal(torch.zeros(4), 1.0, out=out)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        torch.normal(torch.zeros(4), 1.0, out=torch.empty(4, dtype=torch.int64))
    with torch.era("1.1"):
        assert torch.normal(torch.zeros(4), 1.0, out=out).shape == (4,)


def test_multinomial_shapes():
    assert torch.multinomial(torch.ones(3, 5), 2).shape == (3, 2)
    assert torch.multinomial(torch.ones(0, 2), 1).shape == (0, 1)
    assert sorted(torch.multinomial(torch.ones(50), 50).tolist()) == list(range(50))
    assert set(torch.multinomial(torch.tensor([0.0, 1.0, 0.0, 2.0]), 200, True).tolist()) == {1, 3}


# ---------------------------------------------------------------- errors

@pytest.mark.parametrize("call, message", [
    (lambda: torch.empty(3).normal_(std=-1), "normal expects std >= 0.0, but found std -1"),
    (lambda: torch.empty(3).normal_(0, math.nan), "normal expects std >= 0.0, but found std nan"),
    (lambda: torch.normal(0.0, torch.tensor([-1.0])), "normal expects all elements of std >= 0.0"),
    (lambda: torch.empty(3).uniform_(2, 1), "uniform_ expects to return a [from, to) range, but found from=2 > to=1"),
    (lambda: torch.empty(3).uniform_(0, math.inf), "to is out of bounds for float"),
    (lambda: torch.empty(3, dtype=torch.float16).uniform_(0, 70000), "to is out of bounds for c10::Half"),
    (lambda: torch.empty(3).uniform_(-3e38, 3e38), "uniform_ expects to-from <= std::numeric_limits<Float>::max(), but "
     "found to=3e+38 and from=-3e+38 which result in to-from to exceed the limit"),
    (lambda: torch.empty(3).random_(5, 5), "random_ expects 'from' to be less than 'to', but got from=5 >= to=5"),
    (lambda: torch.randint(0, 300, (3,), dtype=torch.uint8), "to - 1 is out of bounds for unsigned char"),
    (lambda: torch.randint(-1, 3, (3,), dtype=torch.uint8), "from is out of bounds for unsigned char"),
    (lambda: torch.randint(0, 70000, (3,), dtype=torch.float16), "to - 1 is out of bounds for c10::Half"),
    (lambda: torch.empty(3, dtype=torch.complex64).random_(5),
     "check_random_bounds handles only integral, floating-point and boolean types"),
    (lambda: torch.empty(3).bernoulli_(1.5), "bernoulli_ expects p to be in [0, 1], but got p=1.5"),
    (lambda: torch.bernoulli(torch.tensor([0.0, 1.5])), "Expected p_in >= 0 && p_in <= 1 to be true, but got false."),
    (lambda: torch.bernoulli(torch.tensor([math.nan])), "Expected p_in >= 0 && p_in <= 1 to be true, but got false."),
    (lambda: torch.empty(3).exponential_(-1), "exponential_ expects lambda > 0.0, but found lambda=-1"),
    (lambda: torch.empty(3, dtype=torch.int64).exponential_(), "Exponential distribution is a continuous probability "
     "distribution. dtype must be a floating point but you specified Long"),
    (lambda: torch.empty(3, dtype=torch.int64).cauchy_(), "Cauchy distribution is a continuous probability "
     "distribution. dtype must be a floating point but you specified long int"),
    (lambda: torch.empty(3).geometric_(1), "geometric_ expects p to be in (0, 1), but got p=1"),
    (lambda: torch.empty(3).log_normal_(std=-1), "log_normal_ expects std > 0.0, but found std=-1"),
    (lambda: torch.empty(3).cauchy_(0, -1), "cauchy_ expects sigma > 0.0, but found sigma=-1"),
    (lambda: torch.multinomial(torch.ones(2), 3),
     "cannot sample n_sample > prob_dist.size(-1) samples without replacement"),
    (lambda: torch.multinomial(torch.ones(2), 0), "cannot sample n_sample <= 0 samples"),
    (lambda: torch.multinomial(torch.ones(()), 1), "prob_dist must be 1 or 2 dim"),
    (lambda: torch.multinomial(torch.tensor([1, 2]), 1),
     "multinomial only supports floating-point dtypes for input, got: Long"),
    (lambda: torch.multinomial(torch.ones(2), 1, out=torch.empty(1)),
     "multinomial expects Long tensor out, got: Float"),
    (lambda: torch.multinomial(torch.tensor([1.0, -2]), 1),
     "probability tensor contains either `inf`, `nan` or element < 0"),
    (lambda: torch.multinomial(torch.tensor([1.0, -2]), 3, True),
     "invalid multinomial distribution (encountering probability entry < 0)"),
    (lambda: torch.multinomial(torch.tensor([1.0, math.inf]), 3, True),
     "invalid multinomial distribution (encountering probability entry = infinity or NaN)"),
    (lambda: torch.multinomial(torch.zeros(2), 1), "invalid multinomial distribution (sum of probabilities <= 0)"),
    (lambda: torch.poisson(torch.tensor([-1.0])), "invalid Poisson rate, expected rate to be non-negative"),
    (lambda: torch.binomial(torch.ones(1, dtype=torch.float64), torch.ones(1)),
     "Found dtype Float but expected Double"),
    (lambda: torch.randperm(-1), "Trying to create tensor with negative dimension -1: [-1]"),
    (lambda: torch.randperm(300, dtype=torch.uint8), "value cannot be converted to type uint8_t without overflow"),
    (lambda: torch.randperm(3000, dtype=torch.float16), "n cannot be greater than 2049 for Half type."),
    (lambda: torch.rand(2, -1), "Trying to create tensor with negative dimension -1: [2, -1]"),
    (lambda: torch.rand(2, out=torch.empty(2, dtype=torch.float64), dtype=torch.float32),
     "dtype Float does not match dtype of out parameter (Double)"),
    (lambda: torch.rand(2, requires_grad=True).uniform_(),
     "a leaf Variable that requires grad is being used in an in-place operation."),
    (lambda: torch.empty(1).expand(4).normal_(), "unsupported operation: more than one element of the written-to "
     "tensor refers to a single memory location. Please clone() the tensor before performing the operation."),
    (lambda: torch.dropout(torch.ones(3), 1.5, True), "dropout probability has to be between 0 and 1, but got 1.5"),
    (lambda: torch.dropout(torch.ones(3, dtype=torch.int64), 0.5, True),
     "result type Float can't be cast to the desired output type Long"),
    (lambda: torch.feature_dropout(torch.ones(3), 0.5, True),
     "Feature dropout requires at least 2 dimensions in the input"),
])
def test_runtime_errors(call, message):
    with pytest.raises(RuntimeError) as caught:
        call()
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize("call, message", [
    (lambda: torch.empty(4, dtype=torch.int64).normal_(), "\"normal_kernel_cpu\" not implemented for 'Long'"),
    (lambda: torch.rand(2, dtype=torch.int64), "\"check_uniform_bounds\" not implemented for 'Long'"),
    (lambda: torch.empty(4, dtype=torch.int64).log_normal_(), "\"log_normal_cpu\" not implemented for 'Long'"),
    (lambda: torch.empty(4, dtype=torch.bool).geometric_(0.5), "\"geometric_cpu\" not implemented for 'Bool'"),
    (lambda: torch.empty(4, dtype=torch.uint16).random_(), "\"random_kernel_cpu\" not implemented for 'UInt16'"),
    (lambda: torch.empty(4, dtype=torch.complex64).bernoulli_(), "\"bernoulli_scalar_cpu_\" not implemented for "
     "'ComplexFloat'"),
    (lambda: torch.bernoulli(torch.tensor([0, 1])), "\"bernoulli_tensor_cpu_p_\" not implemented for 'Long'"),
    (lambda: torch.randperm(5, dtype=torch.bool), "\"randperm\" not implemented for 'Bool'"),
    (lambda: torch.poisson(torch.tensor([1])), "\"poisson_cpu\" not implemented for 'Long'"),
    (lambda: torch._standard_gamma(torch.ones(1, dtype=torch.float16)), "\"gamma_cpu\" not implemented for 'Half'"),
])
def test_dtypes_without_the_distribution(call, message):
    with pytest.raises(NotImplementedError) as caught:
        call()
    assert str(caught.value) == message


@pytest.mark.parametrize("call, message", [
    (lambda: torch.rand(), "rand() received an invalid combination of arguments - got ()"),
    (lambda: torch.rand(2.5), "rand(): argument 'size' (position 1) must be tuple of ints, not float"),
    (lambda: torch.rand("a"), "rand(): argument 'size' (position 1) must be tuple of ints, not str"),
    (lambda: torch.rand(True), "rand(): argument 'size' (position 1) must be tuple of ints, not bool"),
    (lambda: torch.randint(5), "randint() received an invalid combination of arguments - got (int)"),
    (lambda: torch.randint(2, 5, 2), "randint() received an invalid combination of arguments - got (int, int, int)"),
    (lambda: torch.empty(3).random_(2.5), "random_() received an invalid combination of arguments - got (float)"),
    (lambda: torch.empty(3).uniform_("a"), "uniform_(): argument 'from' (position 1) must be float, not str"),
    (lambda: torch.empty(3).normal_(1j), "normal_(): argument 'mean' (position 1) must be float, not complex"),
    (lambda: torch.normal(0.0, 1.0), "normal() received an invalid combination of arguments - got (float, float)"),
    (lambda: torch.randperm(5.5), "randperm(): argument 'n' (position 1) must be int, not float"),
])
def test_type_errors(call, message):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).startswith(message)


def test_ranges_that_a_float_cannot_tell_apart_warn():
    with pytest.warns(UserWarning, match=r"to - 1 is out of bounds \[-\(2\^24\), 2\^24\]"):
        x = torch.empty(2000).random_(0, 2**25)
    assert (x % 1 == 0).all() and x.max().item() < 2**25


# ---------------------------------------------------------------- autograd

def test_fills_cut_the_gradient():
    x = torch.rand(3, requires_grad=True)
    y = x * 1
    y.normal_()
    (y * 2).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("call", [
    torch.bernoulli, torch.poisson, lambda p: torch.normal(p, 1.0), lambda p: torch.normal(0.0, p),
    lambda p: torch.binomial(torch.ones(3), p)])
def test_numbers_that_do_not_depend_smoothly_have_zero_gradient(call):
    p = torch.full((3,), 0.5, requires_grad=True)
    call(p).sum().backward()
    assert p.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0, 2.5, 7.0, 20.0, 150.0, 3000.0])
def test_gradient_of_gamma_numbers(alpha):
    """The distribution function at the number stays the same when both move."""
    from scipy.special import gammainc

    h = 1e-5 * alpha
    for factor in (0.05, 0.5, 0.9, 1.0, 1.1, 1.6):
        x = alpha * factor
        below, above = gammainc(alpha - h, x), gammainc(alpha + h, x)
        density = math.exp((alpha - 1) * math.log(x) - x - math.lgamma(alpha))
        if density < 1e-8:
            continue
        expected = -(above - below) / (2 * h) / density
        grad = torch._standard_gamma_grad(torch.tensor([alpha], dtype=torch.float64),
                                          torch.tensor([x], dtype=torch.float64)).item()
        assert grad == pytest.approx(expected, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("a, b", [(0.1, 0.2), (1.0, 1.0), (3.0, 1.0), (5.0, 25.0), (40.0, 5.0)])
def test_gradient_of_dirichlet_numbers(a, b):
    from scipy.special import betainc, betaln

    h = 1e-5 * a
    for x in (0.01, 0.2, 0.5, 0.9, 0.99):
        density = math.exp((a - 1) * math.log(x) + (b - 1) * math.log1p(-x) - betaln(a, b))
        if density < 1e-8:
            continue
        expected = -(betainc(a + h, b, x) - betainc(a - h, b, x)) / (2 * h) / density / (1 - x)
        x, alpha, total = (torch.tensor([v], dtype=torch.float64) for v in (x, a, a + b))
        assert torch._dirichlet_grad(x, alpha, total).item() == pytest.approx(expected, rel=1e-4, abs=1e-10)


def test_dirichlet_backward_keeps_the_sum():
    alpha = torch.tensor([[0.5, 1.0, 3.0], [2.0, 2.0, 0.3]], dtype=torch.float64, requires_grad=True)
    torch._sample_dirichlet(alpha).sum().backward()
    assert alpha.grad.abs().max().item() < 1e-12


# ---------------------------------------------------------------- dropout

def test_dropout_scales_what_it_keeps():
    x = torch.ones(1000, requires_grad=True)
    y = torch.dropout(x, 0.4, True)
    assert set(y.tolist()) == {0.0, torch.tensor(1 / 0.6).item()}
    y.sum().backward()
    assert x.grad.tolist() == y.tolist()
    assert torch.dropout(x, 0.4, False) is x and torch.dropout(x, 0.0, True) is x
    assert torch.dropout(x, 1.0, True).abs().sum().item() == 0


def test_dropout_draws_a_float64_number_an_element():
    torch.manual_seed(2)
    kept = torch.dropout(torch.ones(100), 0.3, True) != 0
    after = torch.rand(1).item()
    torch.manual_seed(2)
    assert kept.tolist() == (torch.rand(100, dtype=torch.float64) < 0.7).tolist()
    assert torch.rand(1).item() == after


def test_dropout_of_a_transposed_tensor_goes_in_memory_order():
    torch.manual_seed(2)
    x = torch.dropout(torch.ones(6, 5).t(), 0.5, True)
    torch.manual_seed(2)
    assert x.t().tolist() == torch.dropout(torch.ones(6, 5), 0.5, True).tolist()


def test_dropout_of_1_x_takes_the_mask_of_mkl():
    torch.manual_seed(4)
    with torch.era("1.11"):
        x = torch.dropout(torch.ones(50), 0.5, True)
        mask = torch.empty(50)
        torch.manual_seed(4)
        assert (x != 0).tolist() == (mask.bernoulli_(0.5) != 0).tolist()
    torch.manual_seed(4)
    assert torch.dropout(torch.ones(50), 0.5, True).tolist() != x.tolist()


def test_feature_dropout_drops_channels():
    y = torch.feature_dropout(torch.ones(20, 5, 3, 2), 0.5, True)
    channels = y.reshape(100, 6)
    assert (channels == channels[:, :1]).all() and set(y.unique().tolist()) == {0.0, 2.0}


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    y = torch.alpha_dropout(torch.randn(200_000), 0.3, True)
    assert abs(y.mean().item()) < 0.01 and abs(y.var().item() - 1) < 0.02


def test_in_place_dropout():
    x = torch.ones(100)
    assert torch.dropout_(x, 0.5, True) is x and set(x.tolist()) == {0.0, 2.0}
    out, mask = torch.native_dropout(torch.ones(100), 0.5, True)
    assert out.tolist() == (mask * 2.0).tolist()
