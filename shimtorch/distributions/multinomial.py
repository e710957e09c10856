"""The multinomial distribution (torch.distributions.multinomial)."""

from .. import Size, _ops
from ..autograd import no_grad
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """Counts of the outcomes of *total_count* draws, with *probs* up to a factor, or of logarithms *logits*."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Multinomial, batch_shape, _instance, ())
        new.total_count = self.total_count
        new._categorical = self._categorical.expand(batch_shape)
        new._binomial = Binomial(total_count=new.total_count, probs=new.probs)
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

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

    @property
    def mean(self):
        return self.probs * self.total_count

    @property
    def variance(self):
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape=()):
        sample_shape = Size(sample_shape)
        with no_grad():
            drawn = self._categorical.sample(Size((self.total_count,)) + sample_shape)
            drawn = drawn.permute(*range(1, drawn.dim()), 0)
            counts = drawn.new_zeros(self._extended_shape(sample_shape))
            counts.scatter_add_(-1, drawn, _ops.ones_like(drawn))
            return counts.type_as(self.probs)

    def entropy(self):
        n = _ops.tensor(float(self.total_count), dtype=self.probs.dtype, device=self.probs.device)
        support = self._binomial.enumerate_support(expand=False)[1:]
        probs = self._binomial.log_prob(support).exp()
        weights = (support + 1).lgamma()
        return n * self._categorical.entropy() - (n + 1).lgamma() + (probs * weights).sum([0, -1])

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)
        return (value.sum(-1) + 1).lgamma() - (value + 1).lgamma().sum(-1) + (logits * value).sum(-1)

    def __repr__(self):
        return f"{type(self).__name__}()"
