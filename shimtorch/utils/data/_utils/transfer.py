"""Batches as bytes: the memory of all tensors of a batch lies in one block of shared memory beside the pickle."""

import io
import pickle

from ...._core import Tensor
from ...._core.device import strided
from ...._core.shared import Block, new_block
from ...._storages import UntypedStorage, _Storage

_ALIGNMENT = 64
_SMALL = 1 << 14  # bytes that are sent within the pickle


def _part_of_batch(number):
    """Stands in pickles for a storage of the batch; `unpack` finds it."""
    raise pickle.UnpicklingError("a part of a batch can only be read by the loader that asked for it")


class _BatchPickler(pickle.Pickler):
    """Collects the memory of tensors instead of writing it."""

    def __init__(self, file):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.memories = {}  # root Storage -> (number, offset in the block)
        self.size = 0

    def reducer_override(self, obj):
        if isinstance(obj, _Storage):
            memory = obj._memory().root()
            if memory not in self.memories:
                self.memories[memory] = len(self.memories), self.size
                self.size += -(-len(memory) // _ALIGNMENT) * _ALIGNMENT
            return _part_of_batch, (self.memories[memory][0], type(obj))
        if type(obj) is Tensor and obj.layout is strided and _is_small_part(obj):
            return obj.detach().clone().requires_grad_(obj.requires_grad).__reduce_ex__(pickle.HIGHEST_PROTOCOL)
        return NotImplemented


def _is_small_part(tensor):
    """Whether a tensor is a view of much more memory than its own, which is better not sent with it."""
    return 2 * tensor.nbytes + (1 << 12) < len(tensor._memory())


def pack(obj):
    """A batch as bytes, and the block that holds its tensors' memory, or None if the bytes hold it."""
    file = io.BytesIO()
    pickler = _BatchPickler(file)
    pickler.dump(obj)
    memories = pickler.memories
    layout = [(offset, len(memory)) for memory, (_, offset) in memories.items()]
    block = new_block(pickler.size) if pickler.size > _SMALL else None
    data = block.storage(0, pickler.size) if block else UntypedStorage(pickler.size)._memory()
    target = UntypedStorage._on(data)._bytes()
    for memory, (_, offset) in memories.items():
        target[offset:offset + len(memory)] = UntypedStorage._on(memory)._bytes()
    inline = None if block else bytes(target)
    return pickle.dumps((layout, pickler.size, inline, file.getvalue())), block


def unpack(payload, descriptor):
    """The batch of bytes and the descriptor of its block, which is taken over."""
    layout, size, inline, data = pickle.loads(payload)
    if descriptor is not None:
        block = Block(descriptor, size)
        block.forget_descriptor()
        memories = [block.storage(offset, length) for offset, length in layout]
    else:
        memories = [_copied(inline[offset:offset + length]) for offset, length in layout]
    return _BatchUnpickler(io.BytesIO(data), memories).load()


def _copied(data):
    storage = UntypedStorage(len(data))
    storage._bytes()[:] = data
    return storage._memory()


class _BatchUnpickler(pickle.Unpickler):
    def __init__(self, file, memories):
        super().__init__(file)
        self._memories = memories

    def find_class(self, module, name):
        if name == "_part_of_batch" and module == __name__:
            return lambda number, cls: cls._on(self._memories[number])
        return super().find_class(module, name)
