"""Seeding and saving the state of random number generators (torch.random)."""

import contextlib

from ._core.generator import Generator, default_generator

__all__ = ["manual_seed", "seed", "initial_seed", "get_rng_state", "set_rng_state", "fork_rng", "default_generator",
           "Generator"]


def manual_seed(seed):
    """Seed the default generators of all devices; returns the CPU's. Negative seeds count from 2**64 down; floats are
    truncated."""
    from ._gpu.generators import seed_all_devices
    seed_all_devices(int(seed))
    return default_generator.manual_seed(int(seed))


def seed():
    """Seed the default generators of all devices from the operating system; returns the seed."""
    from ._gpu.generators import seed_all_devices
    seed = default_generator.seed()
    seed_all_devices(seed)
    return seed


def initial_seed():
    """The seed that the default generator started from."""
    return default_generator.initial_seed()


def get_rng_state():
    """The state of the default generator, a uint8 tensor."""
    return default_generator.get_state()


def set_rng_state(new_state):
    """Put the default generator in a state that ``get_rng_state`` returned."""
    default_generator.set_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
    """Restore the states of the default generators, the CPU's and those of CUDA devices (default: all), at the end."""
    if not enabled:
        yield
        return
    from . import cuda
    state = get_rng_state()
    if devices is None:
        devices = range(cuda.device_count())
    states = [(d, cuda.get_rng_state(d)) for d in devices] if cuda.is_available() else []
    try:
        yield
    finally:
        set_rng_state(state)
        for d, there in states:
            cuda.set_rng_state(there, d)
