"""Samplers: the order in which a loader asks for samples (torch.utils.data.sampler).

The random ones draw as PyTorch does, from *generator* or from the default one.
"""

from itertools import islice

from ... import Generator, _ops
from ..._core.dtype import float64, int64
from ..._core.policy import policy

__all__ = [
    "BatchSampler",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "SubsetRandomSampler",
    "WeightedRandomSampler",
]


class Sampler:
    """Gives indices: a subclass defines ``__iter__``, and mostly ``__len__``."""

    def __init__(self, data_source=None):
        pass

    def __class_getitem__(cls, item):
        return cls  # annotations such as Sampler[int]

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler):
    """0, 1, 2, ..."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def draw_seed(generator=None):
    """A seed from *generator*, or from the default one."""
    return int(_ops.empty((), dtype=int64).random_(generator=generator).item())


class RandomSampler(Sampler):
    """All indices in random order; with *replacement* each drawn anew; *num_samples* of them.

    Without a generator, one is seeded from the default generator at the start of every pass. Before 1.2 the default
    generator itself gave the order.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.replacement = replacement
        self._num_samples = num_samples
        self.generator = generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(
                f"num_samples should be a positive integer value, but got num_samples={self.num_samples}"
            )

    @property
    def num_samples(self):
        """How many indices one pass gives."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        n, count = len(self.data_source), self.num_samples
        generator = self.generator
        if generator is None:
            if not policy.sampler_own_generator:
                yield from self._draw_at_once(n, count)
                return
            generator = Generator()
            generator.manual_seed(draw_seed())
        if self.replacement:
            for _ in range(count // 32):
                yield from _ops.randint(n, (32,), dtype=int64, generator=generator).tolist()
            yield from _ops.randint(n, (count % 32,), dtype=int64, generator=generator).tolist()
        else:
            for _ in range(count // n):
                yield from _ops.randperm(n, generator=generator).tolist()
            # Drawn even if nothing is left to give: the generator moves on in every pass.
            yield from _ops.randperm(n, generator=generator).tolist()[: count % n]

    def _draw_at_once(self, n, count):
        if self.replacement:
            return _ops.randint(n, (count,), dtype=int64).tolist()
        return _ops.randperm(n).tolist()

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """The given indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices = indices
        self.generator = generator

    def __iter__(self):
        for i in _ops.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """*num_samples* indices drawn with probabilities in proportion to *weights*."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        weights = _ops.as_tensor(weights, dtype=float64)
        if weights.dim() != 1:
            raise ValueError(
                f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}"
            )
        self.weights = weights
        self.num_samples = num_samples
        self.replacement = replacement
        self.generator = generator

    def __iter__(self):
        draws = _ops.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from draws.tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of *batch_size* indices of another sampler; the last one may be shorter unless *drop_last*."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(islice(indices, self.batch_size)):
            if self.drop_last and len(batch) < self.batch_size:
                return
            yield batch

    def __len__(self):
        full, rest = divmod(len(self.sampler), self.batch_size)
        return full if self.drop_last or not rest else full + 1
