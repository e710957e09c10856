"""The seeds and states of the devices' random number generators."""
from .._gpu import load as _load


def manual_seed(seed):
    """Seed the generator of the current device; without a device the seed is kept for when there is one."""
    from .._gpu.generators import seed_device
    seed_device(None, int(seed))


def manual_seed_all(seed):
    """Seed the generators of all devices."""
    from .._gpu.generators import seed_all_devices
    seed_all_devices(int(seed))


def seed():
    """Seed the generator of the current device with a random number."""
    from .._core.generator import nondeterministic_seed
    manual_seed(nondeterministic_seed())


def seed_all():
    """Seed the generators of all devices with one random number."""
    from .._core.generator import nondeterministic_seed
    manual_seed_all(nondeterministic_seed())


def initial_seed():
    """The seed of the current device's generator."""
    from .._gpu.generators import generator_of
    return generator_of(_load.index_of(None)).seed


def get_rng_state(device="cuda"):
    """The state of a device's generator, as a ByteTensor."""
    from .._gpu.generators import generator_of
    return generator_of(_load.index_of(device)).state()


def set_rng_state(new_state, device="cuda"):
    """Set the state of a device's generator."""
    from .._gpu.generators import generator_of
    generator_of(_load.index_of(device)).set_state(new_state)


def get_rng_state_all():
    """The states of all devices' generators."""
    return [get_rng_state(i) for i in range(_load.device_count())]


def set_rng_state_all(new_states):
    """Set the states of all devices' generators."""
    for i, state in enumerate(new_states):
        set_rng_state(state, i)
