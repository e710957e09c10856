# cython: binding=False
"""torch.Generator: a stream of random numbers with PyTorch's seeding and saved states."""
from libc.string cimport memcpy

import os

from .._kernels.random cimport ST_RNG_BYTES, Stream
from .dtype cimport UINT8
from .policy cimport policy
from .tensor cimport SPARSE, TensorBase, empty, ptr

from .device import as_device
from .type_names import assign_module


def nondeterministic_seed():
    """A seed that differs from call to call; like PyTorch's it has 53 bits."""
    return int.from_bytes(os.urandom(8), "little") & 0x1FFFFFFFFFFFFF


cdef unsigned long long as_seed(object seed) except? 0:
    """A seed as 64 bits: negative numbers count from 2**64 down."""
    if isinstance(seed, float) or not hasattr(seed, "__index__"):
        raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
    number = seed.__index__()
    if not -0x8000000000000000 <= number <= 0xFFFFFFFFFFFFFFFF:
        if policy.version >= "2":
            raise ValueError("Overflow when unpacking long long")
        raise RuntimeError("Overflow when unpacking long")
    return number & 0xFFFFFFFFFFFFFFFF


cdef class Generator(Stream):
    """A generator of random numbers: the Mersenne Twister as PyTorch runs it on the CPU, or Philox on a CUDA device.

    ``Generator(device="cpu")`` starts from PyTorch's default seed 67280421310721. Threads may share a generator: each
    request is served as a whole.
    """

    def __init__(self, device="cpu"):
        self.device = as_device(device)
        if self.device.type == "cuda":
            from .._gpu.generators import DeviceGenerator
            self.there = DeviceGenerator(67280421310721)

    def manual_seed(self, seed):
        """Start anew from a seed of -2**63 .. 2**64-1 (its low 32 bits count); returns the generator."""
        if self.there is not None:
            self.there.start(as_seed(seed))
        else:
            self.start(as_seed(seed))
        return self

    def seed(self):
        """Start anew from a seed of the operating system, and return it."""
        number = nondeterministic_seed()
        self.manual_seed(number)
        return number

    def initial_seed(self):
        """The seed that the numbers started from."""
        return self.rng.seed if self.there is None else self.there.seed

    def get_state(self):
        """The state as a uint8 tensor on the CPU: of 5056 elements, byte for byte what PyTorch 1.4 and later return, or
        of 16, seed and offset, for a generator of a device."""
        cdef Py_ssize_t size[1]
        cdef TensorBase t
        if self.there is not None:
            return self.there.state()
        size[0] = ST_RNG_BYTES
        t = empty(UINT8, 1, size)
        self.save(<unsigned char*>ptr(t))
        return t

    def set_state(self, new_state):
        """Go on from a state that ``get_state`` returned; states of PyTorch 1.1 (5048 elements) are taken too."""
        if not isinstance(new_state, TensorBase):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        if new_state.dtype.code != UINT8 or (<TensorBase>new_state).flags & SPARSE:
            raise TypeError("RNG state must be a torch.ByteTensor")
        if self.there is not None:
            self.there.set_state(new_state)
            return self
        cdef TensorBase t = new_state.contiguous()
        self._set_state_bytes((<char*>ptr(t))[:t.count])
        return self

    def clone_state(self):
        """A new generator in the same state."""
        cdef Generator other = Generator(self.device)
        if self.there is not None:
            return other.set_state(self.get_state())
        self.acquire()
        memcpy(&other.rng, &self.rng, sizeof(self.rng))
        self.release()
        return other

    def get_offset(self):
        """How many numbers each thread of a device has drawn; not on the CPU."""
        if self.there is None:
            raise RuntimeError("CPU Generator does not use offset")
        return self.there.offset

    def set_offset(self, offset):
        """Go on from where each thread of a device has drawn so many numbers; not on the CPU."""
        if self.there is None:
            raise RuntimeError("CPU Generator does not use offset")
        if offset % 4:
            raise RuntimeError(f"offset must be a multiple of 4, but got {offset}")
        self.there.offset = offset

    def graphsafe_get_state(self):
        """Not on the CPU."""
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state):
        """Not on the CPU."""
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __reduce__(self):
        return type(self), (str(self.device),), (self.initial_seed(), None, self.get_state())

    def __setstate__(self, state):
        self.set_state(state[2])

    def __repr__(self):
        return f"<torch._C.Generator object at {<size_t><void*>self:#x}>"


assign_module(Generator, "shimtorch")

cdef Generator _default = Generator()
_default.seed()
default_generator = _default


cdef Generator as_generator(object generator, str function):
    """The generator that a call names, of any device; None is the CPU's default one."""
    if generator is None:
        return _default
    if isinstance(generator, Generator):
        return <Generator>generator
    raise TypeError(f"{function}(): argument 'generator' must be torch.Generator, not {type(generator).__name__}")


cdef Generator cpu_generator(object generator, str function):
    """The generator of the CPU that a call names; None is the default one."""
    cdef Generator source = as_generator(generator, function)
    if source.there is not None:
        raise RuntimeError(f"Expected a 'cpu' device type for generator but found '{source.device.type}'")
    return source
