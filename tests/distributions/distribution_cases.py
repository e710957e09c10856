"""Distributions, transforms and constraints whose every answer is recorded from PyTorch 2.13.

``D`` is torch.distributions, ``t`` makes a float64 tensor.
"""

from recorded import answer

DISTRIBUTIONS = """
D.Bernoulli(t(.2, .5, 1.))
D.Bernoulli(logits=t(-1., 0., 2.))
D.Beta(t(.5, 2.), t(3., .5))
D.Beta(1., 2.)
D.Binomial(5, t(.1, .5, .9))
D.Binomial(t(3., 7.), logits=t(.5, -2.))
D.Categorical(t(.1, .2, .7))
D.Categorical(logits=t([.5, 1.], [2., -1.]))
D.Cauchy(t(0., 1.), t(.5, 2.))
D.Chi2(t(1., 4.))
D.ContinuousBernoulli(t(.2, .5, .7))
D.ContinuousBernoulli(logits=t(-3., .1))
D.Dirichlet(t([.5, 1., 3.], [2., 2., 2.]))
D.Exponential(t(.5, 3.))
D.FisherSnedecor(t(3., 5.), t(2., 7.))
D.Gamma(t(.5, 3.), t(1., 2.))
D.GeneralizedPareto(t(.5, 1., 0.).float(), t(1., 2., .5).float(), t(.3, 0., -.4).float())
D.GeneralizedPareto(0., 1., .7)
D.Geometric(t(.2, .7))
D.Geometric(logits=t(-.5, 1.))
D.Gumbel(t(0., 1.), t(.5, 2.))
D.Gumbel(0., 1.)
D.HalfCauchy(t(.5, 2.))
D.HalfNormal(t(.5, 2.))
D.Independent(D.Normal(t([0., 1.], [2., 3.]), 1.), 1)
D.InverseGamma(t(1.5, 3.), t(1., 2.))
D.Kumaraswamy(t(.5, 3.), t(2., 1.5))
D.Laplace(t(0., 1.), t(.5, 2.))
D.LogNormal(t(0., 1.), t(.5, .2))
D.LogisticNormal(t(0., 1.), t(.5, 2.))
D.Multinomial(4, t(.2, .3, .5))
D.MixtureSameFamily(D.Categorical(t(.3, .7)), D.Normal(t(-1., 2.), t(1., .5)))
D.NegativeBinomial(t(2., 5.), t(.3, .6))
D.NegativeBinomial(3, logits=t(-1., .5))
D.Normal(t(0., 1.), t(.5, 2.))
D.Normal(0., 1.)
D.OneHotCategorical(t(.1, .2, .7))
D.OneHotCategoricalStraightThrough(t(.1, .2, .7))
D.Pareto(t(1., 2.), t(2.5, 4.))
D.Poisson(t(.5, 12.))
D.RelaxedBernoulli(t(.5), t(.2, .8))
D.RelaxedOneHotCategorical(t(.5), t(.1, .2, .7))
D.StudentT(t(.5, 1.5, 5.), t(0., 1., 2.))
D.TransformedDistribution(D.Normal(t(0., 1.), 1.), [D.AffineTransform(1., -2.), D.ExpTransform()])
D.Uniform(t(0., -1.), t(1., 4.))
D.VonMises(t(0., 1.), t(.5, 5.))
D.Weibull(t(1., 2.), t(.5, 3.))
""".strip().split("\n")

MATRICES = """
D.MultivariateNormal(t(0., 1.), t([2., .5], [.5, 1.]))
D.MultivariateNormal(t(0., 1.), precision_matrix=t([2., .5], [.5, 1.]))
D.MultivariateNormal(t(0., 1.), scale_tril=t([2., 0.], [.5, 1.]))
D.LowRankMultivariateNormal(t(0., 1., 2.), t([1.], [.5], [2.]), t(.5, 1., 2.))
D.LKJCholesky(3, t(.5, 2.))
D.Wishart(t(5.), t([2., .5], [.5, 1.]))
D.Wishart(t(3., 6.), t([2., .5], [.5, 1.]))
""".strip().split("\n")

PAIRS = """
Bernoulli(.3) Bernoulli(.6)
Bernoulli(.3) Poisson(2.)
Beta(.5,2.) Beta(2.,3.)
Beta(.5,2.) ContinuousBernoulli(.3)
Beta(.5,2.) Exponential(2.)
Beta(.5,2.) Gamma(2.,3.)
Beta(.5,2.) Normal(.5,2.)
Beta(.5,2.) Pareto(1.,2.)
Beta(.5,2.) Uniform(-1.,2.)
Binomial(4,t(.3)) Binomial(4,t(.6))
Categorical(t(.2,.8)) Categorical(t(.5,.5))
Cauchy(0.,1.) Cauchy(1.,2.)
ContinuousBernoulli(.3) ContinuousBernoulli(.8)
ContinuousBernoulli(.3) Exponential(2.)
ContinuousBernoulli(.3) Normal(.5,2.)
ContinuousBernoulli(.3) Uniform(-1.,2.)
Dirichlet(t(.5,1.)) Dirichlet(t(2.,3.))
Exponential(2.) Exponential(3.)
Exponential(2.) Gamma(2.,3.)
Exponential(2.) Gumbel(.5,2.)
Exponential(2.) Normal(.5,2.)
Exponential(2.) Uniform(0.,1.)
Gamma(.5,2.) Gamma(2.,3.)
Gamma(.5,2.) Exponential(3.)
Gamma(.5,2.) Gumbel(.5,2.)
Gamma(.5,2.) Normal(.5,2.)
Geometric(.3) Geometric(.6)
Gumbel(0.,1.) Gumbel(.5,2.)
Gumbel(0.,1.) Normal(.5,2.)
HalfNormal(1.) HalfNormal(2.)
Independent(Normal(t(0.,1.),1.),1) Independent(Normal(t(2.,1.),3.),1)
Laplace(0.,1.) Laplace(.5,2.)
Laplace(0.,1.) Normal(.5,2.)
LogNormal(0.,1.) LogNormal(.5,2.)
Normal(0.,1.) Normal(.5,2.)
Normal(0.,1.) Gumbel(.5,2.)
Normal(0.,1.) Laplace(.5,2.)
OneHotCategorical(t(.2,.8)) OneHotCategorical(t(.5,.5))
Pareto(1.,3.) Pareto(.5,2.)
Pareto(1.,3.) Exponential(2.)
Pareto(1.,3.) Gamma(2.,3.)
Pareto(1.,3.) Normal(.5,2.)
Poisson(2.) Poisson(3.)
Poisson(2.) Binomial(4,t(.6))
Uniform(.2,.5) Uniform(0.,1.)
Uniform(.2,.5) Beta(2.,3.)
Uniform(.2,.5) ContinuousBernoulli(.3)
Uniform(.2,.5) Exponential(2.)
Uniform(.2,.5) Gamma(2.,3.)
Uniform(.2,.5) Gumbel(.5,2.)
Uniform(.2,.5) Normal(.5,2.)
Uniform(.2,.5) Pareto(.1,2.)
Normal(0.,1.) Poisson(1.)
""".strip().split("\n")

TRANSFORMS = """
D.AbsTransform()
D.AffineTransform(1., -2.)
D.CatTransform([D.ExpTransform(), D.TanhTransform()], 0, [1, 2])
D.ComposeTransform([D.ExpTransform(), D.AffineTransform(1., 2.)])
D.CorrCholeskyTransform()
D.CumulativeDistributionTransform(D.Normal(0., 1.))
D.ExpTransform()
D.IndependentTransform(D.ExpTransform(), 1)
D.PowerTransform(t(2.))
D.ReshapeTransform((3,), (3, 1))
D.SigmoidTransform()
D.SoftmaxTransform()
D.SoftplusTransform()
D.StackTransform([D.ExpTransform(), D.TanhTransform(), D.SigmoidTransform()])
D.StickBreakingTransform()
D.TanhTransform()
D.ExpTransform().inv
""".strip().split("\n")

CONSTRAINTS = """
boolean
one_hot
nonnegative_integer
positive_integer
integer_interval(0, 2)
real
real_vector
positive
nonnegative
greater_than(.5)
greater_than_eq(.5)
less_than(.5)
multinomial(2)
unit_interval
interval(-1., 1.)
half_open_interval(0., 1.)
simplex
lower_triangular
lower_cholesky
corr_cholesky
square
symmetric
independent(c.positive, 1)
cat([c.positive, c.real], 0, [1, 1])
stack([c.positive, c.real])
""".strip().split("\n")

ERRORS = """
D.Normal(0., -1.)
D.Normal(t(0.), t(1.)).log_prob(1.)
D.Bernoulli()
D.Bernoulli(t(1.5))
D.Bernoulli(.5).log_prob(t(.5))
D.Categorical(t(.5)[0])
D.Normal(t(0., 1.), 1.).log_prob(t(1., 2., 3.))
D.Dirichlet(t(1.)[0])
D.Uniform(1., 0.)
D.Independent(D.Normal(0., 1.), 1)
D.LKJCholesky(1)
D.TransformedDistribution(D.Normal(0., 1.), 3)
D.kl_divergence(D.Normal(0., 1.), D.Bernoulli(.5))
D.biject_to(D.constraints.boolean)
D.ExpTransform(cache_size=3)
D.Normal('a', 1.)
D.Distribution().sample()
D.MultivariateNormal(t(0., 1.))
D.Normal(0., 1.).enumerate_support()
""".strip().split("\n")


def namespace(torch):
    D = torch.distributions

    def t(*values):
        return torch.tensor(values if len(values) > 1 else [values[0]], dtype=torch.float64)

    return {"D": D, "t": t, "torch": torch, "c": D.constraints, **{n: getattr(D, n) for n in D.__all__}}


def describe(torch, case):
    """Everything a distribution says of itself, its samples from seed 3, and the gradients through them."""
    names = namespace(torch)
    d = eval(case, names)
    torch.manual_seed(3)
    drawn = d.sample((2,))
    after = torch.rand(1).item()
    results = {"repr": repr(d), "shapes": [list(d.batch_shape), list(d.event_shape)], "sample": drawn, "after": after}
    grown = d.expand((2, *d.batch_shape))
    results["expand"] = [list(grown.batch_shape), list(grown.event_shape)]
    asked = {name: lambda name=name: getattr(d, name) for name in ("mean", "mode", "variance", "stddev", "support")}
    asked.update(
        entropy=d.entropy,
        perplexity=d.perplexity,
        enumerate=d.enumerate_support,
        log_prob=lambda: d.log_prob(drawn),
        grown=lambda: grown.log_prob(drawn),
        cdf=lambda: d.cdf(drawn),
        icdf=lambda: d.icdf(torch.tensor(0.3, dtype=torch.float64)),
        rsample=lambda: d.rsample((2,)),
    )
    for name, ask in asked.items():
        torch.manual_seed(5)
        results[name] = [answer(lambda ask=ask: repr(ask()) if name == "support" else ask())]  # noqa: B023
        if "message" in results[name][0]:
            del results[name][0]["message"]  # NotImplementedError says what it likes
    return results


def gradients(torch, case):
    """The gradients of samples and log-probabilities with respect to the parameters."""
    leaves = []
    names = namespace(torch)

    def t(*values):
        leaf = torch.tensor(values if len(values) > 1 else [values[0]], dtype=torch.float64, requires_grad=True)
        leaves.append(leaf)
        return leaf

    d = eval(case, {**names, "t": t})
    torch.manual_seed(3)
    total = d.log_prob(d.sample((2,))).sum()
    if d.has_rsample:
        total = total + d.rsample((2,)).pow(2).sum()
    return torch.autograd.grad(total, leaves, allow_unused=True)


def divergence(torch, case):
    p, q = case.split(" ")
    names = namespace(torch)
    return torch.distributions.kl_divergence(eval(p, names), eval(q, names))


def transform(torch, case):
    """Values, inverse, log-determinants and shapes of a transform."""
    names = namespace(torch)
    f = eval(case, names)
    x = names["t"](.3, -.7, 1.2)
    if "inv" in case or "Power" in case:
        x = x.abs()
    y = f(x)
    parts = [repr(f), f.bijective, y, f.inv(y)]
    for ask in (lambda: f.log_abs_det_jacobian(x, y), lambda: f.sign,
                lambda: [f.domain.event_dim, f.codomain.event_dim],
                lambda: [list(f.forward_shape(x.shape)), list(f.inverse_shape(y.shape))]):
        got = answer(ask)
        got.pop("message", None)
        parts.append(got)
    return parts


def constraint(torch, case):
    """What a constraint says of some values, and of what is mapped into it."""
    names = namespace(torch)
    c = eval("c." + case, names)
    values = [names["t"](0., 1.), names["t"](-1., .5), names["t"]([1., 0.], [.5, 2.]), names["t"](.25, .75)]
    said = [answer(lambda v=v: c.check(v)) for v in values]
    mapped = []
    for registry in (torch.distributions.biject_to, torch.distributions.transform_to):
        got = answer(lambda r=registry: r(c)(names["t"]([.3, -.7], [.1, .2])))
        got.pop("message", None)
        mapped.append(got)
    for got in said:
        got.pop("message", None)
    return [repr(c), c.is_discrete, c.event_dim, said, mapped]


def run(torch, kind, case):
    """The answer to one case."""
    if kind == "error":
        return answer(lambda: repr(eval(case, namespace(torch))))
    function = {"describe": describe, "gradients": gradients, "divergence": divergence, "transform": transform,
                "constraint": constraint}[kind]
    return answer(lambda: function(torch, case))


def no_gradients(case):
    return "Wishart" in case or "LKJ" in case or "VonMises" in case


CASES = (
    [("describe", case) for case in DISTRIBUTIONS + MATRICES]
    + [("gradients", case) for case in DISTRIBUTIONS if "t(" in case and not no_gradients(case)]
    + [("divergence", case) for case in PAIRS]
    + [("transform", case) for case in TRANSFORMS]
    + [("constraint", case) for case in CONSTRAINTS]
    + [("error", case) for case in ERRORS]
)
