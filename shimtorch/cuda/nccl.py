"""Collectives between devices by NVIDIA's library, ``torch.cuda.nccl``: it is not linked, and all of them are refused.

``torch.cuda.comm`` and ``torch.distributed`` do without it.
"""

SUM = 0                                # ncclRedOp_t


def is_available(tensors):
    """Whether tensors can be handed to the library: False."""
    return False


def _refuse(name):
    def refuse(*args, **kwargs):
        raise NotImplementedError(f"torch.cuda.nccl.{name} is not implemented: the library is not linked")
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__ = __name__
    refuse.__doc__ = "Refused: the library is not linked."
    return refuse


for _name in ("all_gather", "all_reduce", "broadcast", "reduce", "reduce_scatter", "init_rank", "unique_id", "version"):
    globals()[_name] = _refuse(_name)
