"""The categorical distribution relaxed to the simplex (torch.distributions.relaxed_categorical)."""

from .. import _ops
from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a RelaxedOneHotCategorical."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ExpRelaxedCategorical, batch_shape, _instance, ())
        new.temperature = self.temperature
        new._categorical = self._categorical.expand(batch_shape)
        return new

    @property
    def probs(self):
        """The probabilities."""
        return self._categorical.probs

    @property
    def logits(self):
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self):
        """The shape of the parameter."""
        return self._categorical.param_shape

    def rsample(self, sample_shape=()):
        shape = self._extended_shape(sample_shape)
        drawn = clamp_probs(_ops.rand(shape, dtype=self.logits.dtype, device=self.logits.device))
        gumbels = -((-(drawn.log())).log())
        scores = (self.logits + gumbels) / self.temperature
        return scores - scores.logsumexp(-1, keepdim=True)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        k = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        log_scale = _ops.full_like(self.temperature, float(k)).lgamma() - self.temperature.log().mul(-(k - 1))
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(-1, keepdim=True)).sum(-1) + log_scale

    def __repr__(self):
        return f"{type(self).__name__}()"


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors of the simplex that are close to one-hot ones for a low *temperature*, with gradients."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True

    def __init__(self, temperature, probs=None, logits=None, validate_args=None):
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, self._get_checked_instance(RelaxedOneHotCategorical, _instance))

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """The logarithms of the probabilities."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probabilities."""
        return self.base_dist.probs
