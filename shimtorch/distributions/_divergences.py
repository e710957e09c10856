"""The Kullback-Leibler divergences of the distributions of this package."""

import math

from .. import _ops
from ..autograd import grad
from ..nn.functional import softplus
from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis, _batch_mv, _inverse_lower
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant


def _infinite_like(tensor):
    return _ops.full_like(tensor, math.inf)


def _infinite_where(mask, value):
    return _ops.where(mask, _infinite_like(value), value)


def _x_log_x(tensor):
    return tensor.xlogy(tensor)


def _within(p_low, p_high, q_low, q_high, value):
    """The divergence where the support of p lies in that of q, infinity elsewhere."""
    return _infinite_where((q_low > p_low) | (q_high < p_high), value)


# ---------------------------------------------------------------- of one family


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1 = _ops.where(q.probs == 0, _infinite_like(t1), t1)
    t1 = _ops.where(p.probs == 0, _ops.zeros_like(t1), t1)
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2 = _ops.where(q.probs == 1, _infinite_like(t2), t2)
    t2 = _ops.where(p.probs == 1, _ops.zeros_like(t2), t2)
    return t1 + t2


@register_kl(Beta, Beta)
def _beta(p, q):
    total_p = p.concentration1 + p.concentration0
    total_q = q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * p.concentration1.digamma()
    t4 = (p.concentration0 - q.concentration0) * p.concentration0.digamma()
    return t1 - t2 + t3 + t4 + (total_q - total_p) * total_p.digamma()


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return _infinite_where(p.total_count > q.total_count, kl)


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t = _ops.where((q.probs == 0).expand_as(t), _infinite_like(t), t)
    t = _ops.where((p.probs == 0).expand_as(t), _ops.zeros_like(t), t)
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p, q):
    t1 = p.mean * (p.logits - q.logits)
    t2 = p._cont_bern_log_norm() + (-p.probs).log1p()
    return t1 + t2 - q._cont_bern_log_norm() - (-q.probs).log1p()


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    total = p.concentration.sum(-1)
    t1 = total.lgamma() - q.concentration.sum(-1).lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - total.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    """The Bregman divergence of the log normalisers."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using Bregman "
            "divergences"
        )
    params = [param.detach().requires_grad_() for param in p._natural_params]
    log_p = p._log_normalizer(*params)
    gradients = grad(log_p.sum(), params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - log_p
    for a, b, g in zip(params, q._natural_params, gradients, strict=True):
        result = result - _sum_rightmost((b - a) * g, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = q.concentration.lgamma() - p.concentration.lgamma()
    t3 = (p.concentration - q.concentration) * p.concentration.digamma()
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    ratio = p.scale / q.scale
    loc_p, loc_q = p.loc / q.scale, q.loc / q.scale
    t1 = ratio.log() + loc_q - loc_p
    t2 = ratio * euler_constant
    return -t1 + t2 + (loc_q + (1 + ratio).lgamma() - loc_p).exp() - (1 + euler_constant)


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * (-away / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    t1 = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + t1 - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    scale_ratio = p.scale / q.scale
    alpha_ratio = q.alpha / p.alpha
    kl = q.alpha * scale_ratio.log() - alpha_ratio.log() + alpha_ratio - 1
    return _infinite_where(p.support.lower_bound < q.support.lower_bound, kl)


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    kl = kl_divergence(p.base_dist, q.base_dist)
    return _sum_rightmost(kl, len(p.event_shape) - len(p.base_dist.event_shape))


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    return _within(p.low, p.high, q.low, q.high, ((q.high - q.low) / (p.high - p.low)).log())


# ---------------------------------------------------------------- multivariate normal ones


def _half_log_det(d):
    return d._log_det() / 2 if isinstance(d, LowRankMultivariateNormal) else d._half_log_det()


def _quadratic(q, factor):
    """The trace of q's precision matrix times factor factor^T."""
    if isinstance(q, LowRankMultivariateNormal):
        projected = _inverse_lower(q._capacitance_tril) @ (q._factor.mT / q._diag.unsqueeze(-2)) @ factor
        return _squares(factor / q._diag.sqrt().unsqueeze(-1)) - _squares(projected)
    return _squares(_inverse_lower(q._unbroadcasted_scale_tril) @ factor)


def _squares(matrix):
    return matrix.pow(2).sum((-2, -1))


def _distance(q, difference):
    """The squared Mahalanobis length of a difference in q."""
    if isinstance(q, LowRankMultivariateNormal):
        projected = _batch_mv(q._factor.mT / q._diag.unsqueeze(-2), difference)
        return (difference.pow(2) / q._diag).sum(-1) - _batch_mahalanobis(q._capacitance_tril, projected)
    return _batch_mahalanobis(q._unbroadcasted_scale_tril, difference)


def _multivariate(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with different event shapes cannot be "
                         "computed")
    if isinstance(p, LowRankMultivariateNormal):
        trace = _quadratic(q, p._factor) + _quadratic(q, p._diag.sqrt().diag_embed())
    else:
        trace = _quadratic(q, p._unbroadcasted_scale_tril)
    log_dets = _half_log_det(q) - _half_log_det(p)
    return log_dets + 0.5 * (trace + _distance(q, q.loc - p.loc) - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_multivariate)


# ---------------------------------------------------------------- p of one family, q of another


def _always_infinite(p_class, *q_classes):
    """p gives mass to what q does not: the divergence is infinite."""
    parameter = {Bernoulli: "probs", Beta: "concentration1", ContinuousBernoulli: "probs", Exponential: "rate",
                 Gamma: "concentration", Gumbel: "loc", Laplace: "loc", Normal: "loc", Pareto: "scale", Poisson: "rate",
                 Uniform: "low"}[p_class]
    for q_class in q_classes:
        register_kl(p_class, q_class)(lambda p, q: _infinite_like(getattr(p, parameter)))


_always_infinite(Beta, Pareto)
_always_infinite(ContinuousBernoulli, Pareto)
_always_infinite(Exponential, Beta, ContinuousBernoulli, Pareto, Uniform)
_always_infinite(Gamma, Beta, ContinuousBernoulli, Pareto, Uniform)
_always_infinite(Gumbel, Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_always_infinite(Laplace, Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_always_infinite(Normal, Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_always_infinite(Pareto, Beta, ContinuousBernoulli, Uniform)
_always_infinite(Poisson, Bernoulli, Binomial)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
def _beta_continuous_bernoulli(p, q):
    return -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()


@register_kl(Beta, Exponential)
def _beta_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * (p.concentration1 / (p.concentration1 + p.concentration0))


@register_kl(Beta, Gamma)
def _beta_gamma(p, q):
    total = p.concentration1 + p.concentration0
    t1 = -p.entropy() + q.concentration.lgamma() - q.concentration * q.rate.log()
    t2 = (q.concentration - 1) * (p.concentration1.digamma() - total.digamma())
    return t1 - t2 + q.rate * p.concentration1 / total


def _against_normal(p, q, mean, variance):
    """-H(p) - E log q for normal q."""
    t = ((mean - q.loc).pow(2) + variance) / (2 * q.scale.pow(2))
    return -p.entropy() + 0.5 * (q.scale.pow(2) * 2 * math.pi).log() + t


for _p in (Beta, ContinuousBernoulli, Exponential, Gamma, Gumbel, Laplace, Uniform):
    register_kl(_p, Normal)(lambda p, q: _against_normal(p, q, p.mean, p.variance))


@register_kl(Pareto, Normal)
def _pareto_normal(p, q):
    return _infinite_where(p.alpha <= 2, _against_normal(p, q, p.mean, p.variance))


@register_kl(Beta, Uniform)
def _beta_uniform(p, q):
    return _within(0, 1, q.low, q.high, -p.entropy() + (q.high - q.low).log())


@register_kl(ContinuousBernoulli, Exponential)
def _continuous_bernoulli_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.mean


@register_kl(ContinuousBernoulli, Uniform)
def _continuous_bernoulli_uniform(p, q):
    return _within(0, 1, q.low, q.high, -p.entropy() + (q.high - q.low).log())


@register_kl(Exponential, Gamma)
def _exponential_gamma(p, q):
    ratio = q.rate / p.rate
    t1 = -q.concentration * ratio.log()
    return t1 + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (1 + euler_constant)


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p, q):
    product, loc = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 + product.reciprocal() - loc + loc.exp() * product / (product + 1)


@register_kl(Gamma, Exponential)
def _gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p, q):
    product = p.rate * q.scale
    t1 = (p.concentration - 1) * p.concentration.digamma() - p.concentration.lgamma() - p.concentration
    t2 = product.log() + p.concentration / product
    t3 = (q.loc / q.scale).exp() * (1 + product.reciprocal()).pow(-p.concentration) - q.loc / q.scale
    return t1 + t2 + t3


@register_kl(Normal, Gumbel)
def _normal_gumbel(p, q):
    mean, square = p.loc / q.scale, (p.scale / q.scale).pow(2)
    loc = q.loc / q.scale
    t1 = mean - loc
    t2 = (-mean + 0.5 * square + loc).exp()
    return t1 + t2 - 0.5 * (1 + (2 * math.pi * square).log())


@register_kl(Normal, Laplace)
def _normal_laplace(p, q):
    away = p.loc - q.loc
    ratio = away / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp() + away * (math.sqrt(0.5) * ratio).erf()
    return distance / q.scale + (2 * q.scale).log() - p.entropy()


@register_kl(Pareto, Exponential)
def _pareto_exponential(p, q):
    product = p.scale * q.rate
    t = p.alpha / product
    kl = t.log() - p.alpha.reciprocal() + p.alpha * product / (p.alpha - 1) - 1
    return _infinite_where(p.alpha <= 1, kl)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p, q):
    common = p.scale.log() + p.alpha.reciprocal()
    t1 = p.alpha.log() - common
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * common
    kl = t1 + t2 + t3 + q.rate * p.alpha * p.scale / (p.alpha - 1) - 1
    return _infinite_where(p.alpha <= 1, kl)


@register_kl(Uniform, Beta)
def _uniform_beta(p, q):
    length = p.high - p.low
    t1 = length.log()
    t2 = (q.concentration1 - 1) * (_x_log_x(p.high) - _x_log_x(p.low) - length) / length
    t3 = (q.concentration0 - 1) * (_x_log_x(1 - p.high) - _x_log_x(1 - p.low) + length) / length
    t4 = q.concentration1.lgamma() + q.concentration0.lgamma() - (q.concentration1 + q.concentration0).lgamma()
    return _infinite_where((p.high > 1) | (p.low < 0), t3 + t4 - t1 - t2)


@register_kl(Uniform, ContinuousBernoulli)
def _uniform_continuous_bernoulli(p, q):
    kl = -p.entropy() - p.mean * q.logits - (-q.probs).log1p() - q._cont_bern_log_norm()
    return _infinite_where((p.high > 1) | (p.low < 0), kl)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p, q):
    kl = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    return _infinite_where(p.low < 0, kl)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p, q):
    length = p.high - p.low
    t1 = length.log()
    t2 = q.concentration.lgamma() - q.concentration * q.rate.log()
    t3 = (1 - q.concentration) * (_x_log_x(p.high) - _x_log_x(p.low) - length) / length
    return _infinite_where(p.low < 0, -t1 + t2 + t3 + q.rate * (p.high + p.low) / 2)


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p, q):
    common = q.scale / (p.high - p.low)
    high, low = (p.high - q.loc) / q.scale, (p.low - q.loc) / q.scale
    return common.log() + 0.5 * (high + low) - common * ((-high).exp() - (-low).exp())


@register_kl(Uniform, Pareto)
def _uniform_pareto(p, q):
    length = p.high - p.low
    t1 = (q.alpha * q.scale.pow(q.alpha) * length).log()
    t2 = (_x_log_x(p.high) - _x_log_x(p.low) - length) / length
    return _infinite_where(p.low < q.support.lower_bound, t2 * (q.alpha + 1) - t1)
