"""Random numbers on a device: the distributions, drawn from a device's generator."""
from .._core import OPS
from .._core.dtype import float32, int64
from . import _dense, _device, load
from .generators import source_of
from .order import sorted_along

_THREADS = 256                         # of a block, as the kernels are launched


def draw(t, generator, function, kind, a, b):
    """Fill a tensor on a device with numbers of a distribution of two parameters: what ``uniform_`` and its kin do
    there. kind: see ``kernels/kernels.h``."""
    if t.is_complex() and kind == _device.NORMAL:
        parts = OPS["torch.view_as_real"](t)
        draw(parts, generator, function, kind, 0, b * 0.5 ** 0.5)
        if a:
            parts[..., 0] += a
        return
    if not t.is_floating_point():
        if t.is_complex() or kind not in (_device.BERNOULLI, _device.GEOMETRIC):
            raise NotImplementedError(f"{function}: not implemented for dtype {t.dtype.name} on device '{t.device}'")
        numbers = t.new_empty(t.shape, dtype=float32)
        draw(numbers, generator, function, kind, a, b)
        t.copy_(numbers)
        return
    source = source_of(generator, t.device, function)
    target, n = t if t.is_contiguous() else t.new_empty(t.shape), t.numel()
    if n:
        grid, offset = _reserve(source, t.device.index, n, 2 if t.dtype.itemsize == 8 else 4)
        _device.draw(kind, target, source.seed, offset, a, b, grid)
    if target is not t:
        t.copy_(target)


def _reserve(source, index, n, at_once):
    """The number of blocks that draw n numbers, and the offset from which they draw."""
    grid = min(_most_blocks(load.runtime(), index), (n + _THREADS - 1) // _THREADS)
    return grid, source.take(((n - 1) // (_THREADS * grid * at_once) + 1) * 4)


def draw_each(t, probabilities, generator):
    """Fill a tensor with 1 with the probability that each element of another (of its shape) gives, else with 0."""
    bad = (probabilities < 0).logical_or(probabilities > 1)
    if probabilities.numel() and bool(bad.any()):
        raise RuntimeError("Expected p_in >= 0 && p_in <= 1 to be true, but got false.  (Could this error message be "
                           "improved?  If so, please report an enhancement request to PyTorch.)")
    numbers = probabilities.new_empty(probabilities.shape)
    draw(numbers, generator, "bernoulli_", _device.UNIFORM, 0, 1)
    t.copy_(numbers < probabilities)


def draw_whole(t, generator, base, range, wide=None):
    """Fill with whole numbers of base ... base + range - 1; range 0: of all 64 bits."""
    source = source_of(generator, t.device, "random_")
    target, n = t if t.is_contiguous() else t.new_empty(t.shape), t.numel()
    if wide is None:
        wide = range == 0 or range >= 1 << 28
    if n:
        grid, offset = _reserve(source, t.device.index, n, 2 if wide else 4)
        _dense.draw_whole(target, source.seed, offset, base, range, wide, grid)
    if target is not t:
        t.copy_(target)


def draw_any(t, generator):
    """Fill with whole numbers of all that the dtype can tell apart, from 0 on."""
    if t.is_floating_point():
        digits = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}[t.dtype.name]
        draw_whole(t, generator, 0, (1 << digits) + 1, t.dtype.name == "float64")
    elif t.dtype.name == "bool":
        draw_whole(t, generator, 0, 2, False)
    else:
        bits = 8 * t.dtype.itemsize
        most = 1 << bits - (0 if t.dtype.name.startswith("u") else 1)
        draw_whole(t, generator, 0, most & 0xFFFFFFFFFFFFFFFF, bits == 64)


def permutation(t, generator):
    """Write the numbers 0 ... n-1 in random order to the 1-d tensor t."""
    keys = t.new_empty(t.shape, dtype=int64)
    draw_whole(keys, generator, 0, 0)
    t.copy_(sorted_along(keys, 0, False)[1])


# How many numbers a thread that draws by rejection may use up.
_SUPPLY = 1 << 16


def sample(kind, a, b, generator, function):
    """A random number for each parameter: kind is a name of ``_dense``."""
    source = source_of(generator, a.device, function)
    offset = source.take(_SUPPLY)
    a, b = a.contiguous(), None if b is None else b.contiguous()
    return _dense.sample(getattr(_dense, kind), a, b, source.seed, offset, function)


def multinomial(weights, n_samples, replacement, generator):
    """n_samples indices for each row of weights (1-d or 2-d), whose number is checked by the caller."""
    wide = weights if weights.dtype.itemsize >= 4 else weights.to(float32)
    if bool((wide < 0).logical_or(wide.isfinite().logical_not()).any()):
        raise RuntimeError("probability tensor contains either `inf`, `nan` or element < 0")
    total = wide.sum(-1, True)
    if bool((total <= 0).any()):
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement or n_samples == 1:          # who waits longest for its turn, at its rate
        waits = wide.new_empty(wide.shape)
        draw(waits, generator, "multinomial", _device.EXPONENTIAL, 1, 0)
        return sorted_along(wide / waits, -1, True)[1].narrow(-1, 0, n_samples).contiguous()
    numbers = wide.new_empty((*wide.shape[:-1], n_samples))
    draw(numbers, generator, "multinomial", _device.UNIFORM, 0, 1)
    sums = wide.cumsum(-1)
    return _dense.search(sums, (1 - numbers) * sums[..., -1:], False)


def _most_blocks(rt, index):
    """How many blocks of threads a device runs at once, which decides what element gets what number."""
    properties = rt.properties(index)
    return properties[3] * (properties[4] // _THREADS)
