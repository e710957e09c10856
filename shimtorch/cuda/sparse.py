"""``torch.cuda.sparse``: the names of the sparse CUDA tensor types."""
from .. import _typed

globals().update(_typed.types_of("torch.cuda.sparse"))
