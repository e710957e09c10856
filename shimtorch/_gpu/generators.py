"""The generators of random numbers of devices: counters of Philox, one for each device."""
import threading

from .._core.tensor import from_numpy

_lock = threading.Lock()
_generators = {}                       # by index of the device
_seed_for_new = 0x4FDBB8A6


class DeviceGenerator:
    """A seed, and how many numbers each thread of a kernel has drawn with it."""

    def __init__(self, seed):
        self.seed, self.offset = seed, 0

    def start(self, seed):
        """Start anew from a seed."""
        self.seed, self.offset = seed & 0xFFFFFFFFFFFFFFFF, 0

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
    generator.start(seed)


def seed_all_devices(seed):
    """Seed the generators of all devices, and of those that are used later."""
    global _seed_for_new
    with _lock:
        _seed_for_new = seed & 0xFFFFFFFFFFFFFFFF
        for generator in _generators.values():
            generator.start(_seed_for_new)


def source_of(generator, device, function):
    """What draws for a device: the generator that a call names, or the device's own."""
    if generator is None:
        return generator_of(device.index)
    source = getattr(generator, "there", None)
    if source is None:
        raise RuntimeError(f"Expected a '{device.type}' device type for generator but found 'cpu'")
    if generator.device != device:
        raise RuntimeError(f"{function}: expected a generator of device '{device}', got one of '{generator.device}'")
    return source
