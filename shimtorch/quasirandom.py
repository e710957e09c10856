"""``torch.quasirandom``: Sobol' sequences, with the direction numbers that SciPy holds."""
import numpy as np

from ._core.dtype import get_default_dtype
from ._core.generator import Generator
from ._core.tensor import from_numpy
from ._ops import randint

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of a Sobol' sequence in [0, 1)^*dimension* (1 to 21201), as they are or scrambled.

    scramble: a random linear matrix and a digital shift, drawn from a generator seeded with *seed*, or from the default
    one. At most 2**30 points differ.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension, scramble=False, seed=None):
        if dimension > self.MAXDIM or dimension < 1:
            raise ValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]")
        self.seed, self.scramble, self.dimension = seed, scramble, dimension
        directions = _direction_numbers(dimension, self.MAXBIT)
        shift = np.zeros(dimension, np.int64)
        if scramble:
            directions, shift = self._scrambled(directions)
        self.sobolstate, self.shift = from_numpy(directions), from_numpy(shift)
        self.reset()

    def _scrambled(self, directions):
        generator = None
        if self.seed is not None:
            generator = Generator()
            generator.manual_seed(self.seed)
        bits = np.arange(self.MAXBIT)
        shift = randint(2, (self.dimension, self.MAXBIT), generator=generator).numpy() @ (1 << bits)
        matrices = np.tril(randint(2, (self.dimension, self.MAXBIT, self.MAXBIT), generator=generator).numpy())
        matrices[:, bits, bits] = 1
        digits = directions[:, :, None] >> bits[::-1] & 1            # from the highest bit
        mixed = np.einsum("dpq,djq->djp", matrices, digits) & 1
        return mixed @ (1 << bits[::-1]), shift

    def draw(self, n=1, out=None, dtype=None):
        """The next *n* points, a tensor of shape (n, dimension)."""
        dtype = get_default_dtype() if dtype is None else dtype
        first = self.num_generated == 0
        integers = self._next(n - first, self.num_generated - (not first))
        if first:
            integers = np.concatenate([self.shift.numpy()[None], integers])
        result = from_numpy(integers).to(dtype).mul_(2.0**-self.MAXBIT)
        self.num_generated += n
        if out is None:
            return result
        out.resize_(result.shape).copy_(result)
        return out

    def _next(self, n, before):
        """The *n* points after the first 1 + *before* ones, as integers; they are taken."""
        steps = np.arange(before, before + n)
        integers = self.sobolstate.numpy().T[_lowest_zero(steps)]
        if n > 0:
            integers[0] ^= self.quasi.numpy()
            np.bitwise_xor.accumulate(integers, axis=0, out=integers)
            self.quasi = from_numpy(integers[-1].copy())
        return integers

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2**m points; ValueError where the sequence would lose its balance by it."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError("The balance properties of Sobol' points require n to be a power of 2. "
                             f"{self.num_generated} points have been previously generated, then: "
                             f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                             "'SobolEngine.draw()' instead.")
        return self.draw(n=n, out=out, dtype=dtype)

    def reset(self):
        """Start again; returns the engine."""
        self.quasi, self.num_generated = self.shift.clone(), 0
        return self

    def fast_forward(self, n):
        """Leave out *n* points; returns the engine."""
        first = self.num_generated == 0
        before, n_left = self.num_generated - (not first), n - first
        # in Gray code order a direction number has been used as often as its bit of the code changed
        was, is_ = before ^ before >> 1, (before + n_left) ^ (before + n_left) >> 1
        directions, quasi = self.sobolstate.numpy(), self.quasi.numpy().copy()
        for bit in range(self.MAXBIT):
            if (was ^ is_) >> bit & 1:
                quasi ^= directions[:, bit]
        self.quasi, self.num_generated = from_numpy(quasi), self.num_generated + n
        return self

    def __repr__(self):
        parts = [f"dimension={self.dimension}"]
        if self.scramble:
            parts.append("scramble=True")
        if self.seed is not None:
            parts.append(f"seed={self.seed}")
        return f"{type(self).__name__}({', '.join(parts)})"


def _direction_numbers(dimension, bits):
    """Direction numbers of Joe and Kuo, int64 (dimension, bits)."""
    from scipy.stats import qmc
    return np.ascontiguousarray(qmc.Sobol(dimension, scramble=False, bits=bits)._sv, dtype=np.int64)


def _lowest_zero(numbers):
    """The place of the lowest bit that is 0."""
    lowest = ~numbers & (numbers + 1)
    return np.round(np.log2(lowest)).astype(np.int64) if len(numbers) else lowest
