"""Random numbers on a device: a counter-based generator (Philox) for each, and the distributions drawn from it."""
import threading

from .._core.tensor import from_numpy

_THREADS = 256
_lock = threading.Lock()
_generators = {}                       # by index of the device
_seed_for_new = 0x4FDBB8A6


class DeviceGenerator:
    """A seed, and how many numbers each thread of a kernel has drawn with it."""

    def __init__(self, seed):
        self.seed, self.offset = seed, 0

    def take(self, n):
        """The offset from which n numbers of each thread may be drawn."""
        with _lock:
            start, self.offset = self.offset, self.offset + n
        return start

    def state(self):
        """Seed and offset as 16 bytes."""
        import numpy as np
        return from_numpy(np.array([self.seed & 0xFFFFFFFFFFFFFFFF, self.offset], dtype=np.uint64).view(np.uint8))

    def set_state(self, state):
        """Go on from a state that ``state`` returned."""
        if state.numel() != 16 or str(state.dtype) != "torch.uint8":
            raise RuntimeError("RNG state is wrong size")
        seed, offset = state.cpu().contiguous().numpy().view("uint64").tolist()
        self.seed, self.offset = seed, offset


def generator_of(index):
    """The generator of a device."""
    with _lock:
        if index not in _generators:
            _generators[index] = DeviceGenerator(_seed_for_new)
        return _generators[index]


def seed_device(index, seed):
    """Seed a device's generator, by default the current one's; without a device, all that there may yet be."""
    from . import load
    if load.device_count() == 0:
        return seed_all_devices(seed)
    generator = generator_of(load.runtime().current_device() if index is None else index)
    generator.seed, generator.offset = seed & 0xFFFFFFFFFFFFFFFF, 0


def seed_all_devices(seed):
    """Seed the generators of all devices, and of those that are used later."""
    global _seed_for_new
    with _lock:
        _seed_for_new = seed & 0xFFFFFFFFFFFFFFFF
        for generator in _generators.values():
            generator.seed, generator.offset = _seed_for_new, 0


def draw(t, generator, function, a, b):
    """Fill a tensor on a device; what ``uniform_`` and its kin do there. a, b: the distribution's parameters."""
    from . import _device, load
    kinds = {"uniform_": _device.UNIFORM, "normal_": _device.NORMAL, "randn": _device.NORMAL,
             "bernoulli_": _device.BERNOULLI, "dropout": _device.BERNOULLI}
    if function not in kinds or not t.is_floating_point():
        raise NotImplementedError(f"{function}: not implemented for dtype {t.dtype.name} on device '{t.device}'")
    if generator is not None:
        raise NotImplementedError(f"{function}: a generator is not implemented for device '{t.device}'")
    target, n = t if t.is_contiguous() else t.new_empty(t.shape), t.numel()
    if n:
        index, at_once = t.device.index, 2 if t.dtype.itemsize == 8 else 4
        grid = min(_most_blocks(load.runtime(), index), (n + _THREADS - 1) // _THREADS)
        source = generator_of(index)
        offset = source.take(((n - 1) // (_THREADS * grid * at_once) + 1) * 4)
        _device.draw(kinds[function], target, source.seed, offset, a, b, grid)
    if target is not t:
        t.copy_(target)


def _most_blocks(rt, index):
    """How many blocks of threads a device runs at once, which decides what element gets what number."""
    properties = rt.properties(index)
    return properties[3] * (properties[4] // _THREADS)
