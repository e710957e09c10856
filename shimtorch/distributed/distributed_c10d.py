"""Groups of processes and what they do together (torch.distributed.distributed_c10d).

Tensors may be of any dtype and layout of strides; a function that takes *async_op* returns a `Work` when it is true.
"""

import enum
import pickle
import warnings
from datetime import timedelta

from .._tensor import Tensor
from ._groups import ProcessGroup, Work, as_bytes, as_tensor, is_tensors, write
from ._peers import through_store
from ._starting import check, members

__all__ = [
    "Backend", "GroupMember", "P2POp", "ProcessGroup", "ReduceOp", "Work", "all_gather", "all_gather_into_tensor",
    "all_gather_object", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "destroy_process_group", "gather", "gather_object",
    "get_backend", "get_global_rank", "get_group_rank", "get_process_group_ranks", "get_rank", "get_world_size",
    "group", "init_process_group", "irecv", "is_gloo_available", "is_initialized", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "isend", "monitored_barrier", "new_group", "new_subgroups",
    "new_subgroups_by_enumeration", "recv", "reduce", "reduce_op", "reduce_scatter", "reduce_scatter_tensor",
    "scatter", "scatter_object_list", "send",
]

default_pg_timeout = timedelta(minutes=30)


class Backend(str):
    """The name of a backend, in small letters."""

    UNDEFINED, GLOO, NCCL, MPI, TCP = "undefined", "gloo", "nccl", "mpi", "tcp"

    def __new__(cls, name):
        if not isinstance(name, str):
            raise ValueError(f"Backend constructor parameter must be string-ish, but got {name}")
        return super().__new__(cls, name.lower())


class ReduceOp(enum.Enum):
    """How the tensors of all members become one."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)

    def __repr__(self):
        return f"ReduceOp.{self.name}"

    __str__ = __repr__


reduce_op = ReduceOp


class _NotStarted(ValueError, RuntimeError):
    """There is no group: versions before 2.0 called this a RuntimeError, and later ones a ValueError."""


class GroupMember:
    """What stands for a group: `WORLD`, the default one, and `NON_GROUP_MEMBER` for one that this process is not in."""

    WORLD = None
    NON_GROUP_MEMBER = -100


class _Groups(type):
    """`group.WORLD` is the default group."""

    @property
    def WORLD(cls):
        return GroupMember.WORLD


class group(metaclass=_Groups):  # noqa: N801
    """A namespace: ``group.WORLD``, ``group.NON_GROUP_MEMBER``."""

    NON_GROUP_MEMBER = GroupMember.NON_GROUP_MEMBER


class P2POp:
    """One of the operations of `batch_isend_irecv`: *op* is `isend` or `irecv`."""

    def __init__(self, op, tensor, peer=None, group=None, tag=0):
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag


# ---------------------------------------------------------------- groups

_names = 0                           # how many groups have been made: all processes make them in the same order


def init_process_group(backend=None, init_method=None, timeout=None, world_size=-1, rank=-1, store=None,
                       group_name="", pg_options=None, device_id=None):
    """Start the default group: of *world_size* processes, of which this is number *rank*.

    *backend* is ``"gloo"`` (or None). The processes find each other by *init_method*, an address
    (``env://``, the default, ``tcp://host:port``, ``file://path``), or by *store*. What is received by the
    ``_object`` functions is unpickled: use them among processes that trust each other.
    """
    global _names
    if GroupMember.WORLD is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if init_method is not None and store is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    name = Backend.UNDEFINED if backend is None else Backend(backend)
    if name == Backend.TCP:
        raise ValueError(
            "TCP backend has been deprecated. Please use Gloo or MPI backend for collective operations on CPU tensors."
        )
    if name == Backend.MPI:
        raise RuntimeError("Distributed package doesn't have MPI built in.")
    if name == Backend.NCCL:
        raise RuntimeError("Distributed package doesn't have NCCL built in; for CPU tensors use gloo")
    if name not in (Backend.UNDEFINED, Backend.GLOO) and "gloo" not in name:
        raise ValueError(f"Invalid backend: '{name}'")
    seconds = (default_pg_timeout if timeout is None else timeout).total_seconds()
    if store is None:
        rank, world_size, peers = members(init_method or "env://", rank, world_size, seconds)
    else:
        check(rank, world_size)
        peers = through_store(rank, store, seconds) if world_size > 1 else None
    GroupMember.WORLD = ProcessGroup(group_name or "world", range(world_size), rank, peers, name)
    _names = 0


def destroy_process_group(group=None):
    """End a group; the default one (None) ends with all its connections."""
    if group is None:
        group = GroupMember.WORLD
        if group is None:
            raise AssertionError("Process group cannot be None")
    if not isinstance(group, ProcessGroup):
        return
    group.close()
    if group is GroupMember.WORLD:
        if group._peers is not None:
            group._peers.close()
        GroupMember.WORLD = None


def is_initialized():
    """Whether there is a default group."""
    return GroupMember.WORLD is not None


def new_group(ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False,
              group_desc=None, device_id=None):
    """A group of some processes (None: all). All processes call it, in the same order."""
    global _names
    world = _world()
    ranks = list(range(world.size())) if ranks is None else sorted(ranks)
    for r in ranks:
        if not 0 <= r < world.size():
            raise ValueError(f"Rank {r} is out of range. Valid ranks are 0 to {world.size() - 1} "
                             f"(world_size={world.size()})")
    if len(set(ranks)) != len(ranks):
        raise ValueError(f"a rank is twice in {ranks}")
    _names += 1
    if world.rank() not in ranks:
        return GroupMember.NON_GROUP_MEMBER
    name = world.backend if backend is None else Backend(backend)
    return ProcessGroup(str(_names), ranks, world.rank(), world._peers, name)


def new_subgroups(group_size=None, group=None, timeout=None, backend=None, pg_options=None, group_desc=None):
    """(the group of this process, all groups) of *group_size* consecutive ranks each."""
    size = _world().size()
    if group_size is None:
        raise ValueError("group_size must be given: there are no devices to count")
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size}'")
    return new_subgroups_by_enumeration([range(i, i + group_size) for i in range(0, size, group_size)])


def new_subgroups_by_enumeration(ranks_per_subgroup_list, timeout=None, backend=None, pg_options=None,
                                 group_desc=None):
    """(the group of this process, all groups) of the given ranks."""
    groups = [new_group(ranks, timeout, backend) for ranks in ranks_per_subgroup_list]
    return next((g for g in groups if isinstance(g, ProcessGroup)), None), groups


def get_rank(group=None):
    """This process's rank in a group, -1 if it is not in it."""
    group = _group(group)
    return -1 if group is None else group.rank()


def get_world_size(group=None):
    """How many processes are in a group, -1 if this one is not in it."""
    group = _group(group)
    return -1 if group is None else group.size()


def get_backend(group=None):
    """The name of a group's backend."""
    return _group(group).backend


def get_process_group_ranks(group=None):
    """The ranks of a group's members among all processes."""
    return list(_group(group).ranks)


def get_group_rank(group, global_rank):
    """The rank in a group of a process, given its rank among all."""
    if global_rank not in group.ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return group.ranks.index(global_rank)


def get_global_rank(group, group_rank):
    """The rank among all processes of a member of a group."""
    if not 0 <= group_rank < group.size():
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return group.ranks[group_rank]


def is_gloo_available():
    """Whether processes can work together on the CPU: they can."""
    return True


def is_nccl_available():
    """Whether there is NCCL: there is not."""
    return False


def is_mpi_available():
    """Whether there is MPI: there is not."""
    return False


def is_torchelastic_launched():
    """Whether torchelastic started this process: it is not there."""
    return False


def _world():
    if GroupMember.WORLD is None:
        raise _NotStarted(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return GroupMember.WORLD


def _group(group):
    """The group that an argument means; None if this process is not in it."""
    world = _world()
    if group is None:
        return world
    return group if isinstance(group, ProcessGroup) else None


def _get_default_group():
    """The default group."""
    return _world()


# ---------------------------------------------------------------- arguments

def _collective(group, async_op, tensors, function):
    """Run a function of a group, if this process is in it."""
    group = _group(group)
    if group is None:
        warnings.warn("Running a collective on a group that this process is not in does nothing", stacklevel=3)
        return None
    work = group.start(lambda: function(group), tensors)
    if async_op:
        return work
    work.wait()
    return None


def _check_tensor(value, name="tensor"):
    if not isinstance(value, Tensor):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type torch.Tensor\n"
                        f"             but got {type(value)} instead.")


def _check_tensors(value, name):
    if not is_tensors(value):
        raise TypeError(f"Invalid function argument. Expected parameter `{name}` of type List[torch.Tensor]\n"
                        f"             but got {type(value)} instead.")


def _check_list(operation, kind, tensors, like, size):
    """One tensor for each member, all like *like*."""
    if len(tensors) != size:
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid {kind} tensor list at index 0 (expected length "
                           f"{size}, got {len(tensors)})")
    for i, tensor in enumerate(tensors):
        if tensor.dtype is not like.dtype:
            raise ValueError(f"Invalid usage of tensors with different dtypes Found {tensor.dtype} and  {like.dtype}")
        if tensor.shape != like.shape:
            raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid tensor size at index {i} (expected "
                               f"{_sizes(like)}, got {_sizes(tensor)})")


def _sizes(tensor):
    return f"({', '.join(map(str, tensor.shape))})"


def _root(group, rank, operation):
    """The rank in the group of the process of this rank among all."""
    if rank not in group.ranks:
        raise RuntimeError(f"ProcessGroupGloo::{operation}: invalid root rank: {rank}")
    return group.ranks.index(rank)


def _combined(op, tensor, name):
    """The function from the bytes of all members to the bytes of the result."""
    if tensor.is_complex() and op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise ValueError(f"{name} does not support RedOpType.{op.name} on complex tensors")
    if op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR) and (tensor.is_floating_point() or tensor.is_complex()):
        raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")

    def function(messages):
        if len(messages) == 1:
            return messages[0]
        parts = [as_tensor(message, tensor) for message in messages]
        total = parts[0]
        for part in parts[1:]:
            total = _PAIRS[op](total, part)
        return as_bytes((total / len(parts) if op is ReduceOp.AVG else total).to(tensor.dtype))
    return function


_PAIRS = {
    ReduceOp.SUM: lambda a, b: a + b, ReduceOp.AVG: lambda a, b: a + b, ReduceOp.PRODUCT: lambda a, b: a * b,
    ReduceOp.MIN: lambda a, b: a.minimum(b), ReduceOp.MAX: lambda a, b: a.maximum(b),
    ReduceOp.BAND: lambda a, b: a & b, ReduceOp.BOR: lambda a, b: a | b, ReduceOp.BXOR: lambda a, b: a ^ b,
}


# ---------------------------------------------------------------- tensors

def all_reduce(tensor, op=ReduceOp.SUM, group=None, async_op=False):
    """Replace a tensor by the sum (*op*) of those of all members."""
    _check_tensor(tensor)
    if tensor.is_sparse:
        raise NotImplementedError("torch.distributed.all_reduce of sparse tensors is not implemented")
    combined = _combined(op, tensor, "all_reduce")
    return _collective(group, async_op, [tensor],
                       lambda group: write(tensor, group.combine(as_bytes(tensor), combined)))


def all_reduce_coalesced(tensors, op=ReduceOp.SUM, group=None, async_op=False):
    """`all_reduce` of several tensors."""
    _check_tensors(tensors, "tensors")
    works = [all_reduce(tensor, op, group, async_op) for tensor in tensors]
    return works[-1] if async_op else None


def reduce(tensor, dst=None, op=ReduceOp.SUM, group=None, async_op=False, group_dst=None):
    """`all_reduce` of which only the process *dst* gets the result."""
    _check_tensor(tensor)
    combined = _combined(op, tensor, "reduce")

    def run(group):
        root = _root(group, dst, "reduce") if group_dst is None else group_dst
        result = group.combine(as_bytes(tensor), combined)
        if group.rank() == root:
            write(tensor, result)
    return _collective(group, async_op, [tensor], run)


def broadcast(tensor, src=None, group=None, async_op=False, group_src=None):
    """Give all members the tensor of the process *src*."""
    _check_tensor(tensor)

    def run(group):
        root = _root(group, src, "broadcast") if group_src is None else group_src
        message = as_bytes(tensor) if group.rank() == root else b""
        received = group.combine(message, lambda messages: messages[root])
        if group.rank() != root:
            write(tensor, received)
    return _collective(group, async_op, [tensor], run)


def all_gather(tensor_list, tensor, group=None, async_op=False):
    """Give all members the tensors of all, in the tensors of *tensor_list*."""
    _check_tensors(tensor_list, "tensor_list")
    _check_tensor(tensor)

    def run(group):
        _check_list("allgather", "output", tensor_list, tensor, group.size())
        for output, message in zip(tensor_list, group.exchange(as_bytes(tensor)), strict=True):
            write(output, message)
    return _collective(group, async_op, tensor_list, run)


def all_gather_into_tensor(output_tensor, input_tensor, group=None, async_op=False):
    """`all_gather` into one tensor, which holds those of the members one after the other."""
    _check_tensor(output_tensor, "output_tensor")
    _check_tensor(input_tensor, "input_tensor")
    return _collective(group, async_op, [output_tensor],
                       lambda group: write(output_tensor, b"".join(group.exchange(as_bytes(input_tensor)))))


def gather(tensor, gather_list=None, dst=None, group=None, async_op=False, group_dst=None):
    """Give the process *dst* (0 by default) the tensors of all members, in the tensors of its *gather_list*."""
    _check_tensor(tensor)

    def run(group):
        root = _root(group, dst or 0, "gather") if group_dst is None else group_dst
        if group.rank() == root:
            _check_list("gather", "output", gather_list, tensor, group.size())
        messages = group.exchange(as_bytes(tensor))
        if group.rank() == root:
            for output, message in zip(gather_list, messages, strict=True):
                write(output, message)
    _check_given("gather_list", gather_list, "destination", _is_at(group, dst, group_dst))
    return _collective(group, async_op, gather_list or (), run)


def scatter(tensor, scatter_list=None, src=None, group=None, async_op=False, group_src=None):
    """Give each member the tensor at its rank in the *scatter_list* of the process *src* (0 by default)."""
    _check_tensor(tensor)

    def run(group):
        root = _root(group, src or 0, "scatter") if group_src is None else group_src
        message = b""
        if group.rank() == root:
            _check_list("scatter", "input", scatter_list, tensor, group.size())
            message = b"".join(map(as_bytes, scatter_list))
        whole = group.combine(message, lambda messages: messages[root])
        size = tensor.numel() * tensor.element_size()
        write(tensor, whole[group.rank() * size:(group.rank() + 1) * size])
    _check_given("scatter_list", scatter_list, "source", _is_at(group, src, group_src))
    return _collective(group, async_op, [tensor], run)


def _is_at(group, rank, group_rank):
    """Whether this process is the one that a group gathers at or scatters from."""
    group = _group(group)
    if group is None:
        return None
    return group.rank() == group_rank if group_rank is not None else _world().rank() == (rank or 0)


def _check_given(name, tensors, end, here):
    if here and not tensors:
        raise ValueError(f"Argument ``{name}`` must be specified on {end} rank.")
    if here is False and tensors:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{end} ranks.")


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """Give each member the sum (*op*) of the tensors at its rank in the lists of all."""
    _check_tensor(output, "output")
    _check_tensors(input_list, "input_list")

    def run(group):
        _check_list("reduce_scatter", "input", input_list, output, group.size())
        for i, tensor in enumerate(input_list):
            result = group.combine(as_bytes(tensor), _combined(op, tensor, "reduce_scatter"))
            if i == group.rank():
                write(output, result)
    return _collective(group, async_op, [output], run)


def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """`reduce_scatter` of one tensor that holds the parts one after the other."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")

    def run(group):
        result = group.combine(as_bytes(input), _combined(op, input, "reduce_scatter_tensor"))
        size = output.numel() * output.element_size()
        if len(result) != size * group.size():
            raise RuntimeError("input tensor must be the same size as output size times world size")
        write(output, result[group.rank() * size:(group.rank() + 1) * size])
    return _collective(group, async_op, [output], run)


def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Give each member one tensor of each member's list: the one at its rank."""
    _check_tensors(output_tensor_list, "output_tensor_list")
    _check_tensors(input_tensor_list, "input_tensor_list")

    def run(group):
        for name, tensors in (("input", input_tensor_list), ("output", output_tensor_list)):
            if len(tensors) != group.size():
                raise RuntimeError(f"all_to_all: the {name} list has {len(tensors)} tensors, but there are "
                                   f"{group.size()} members")
        received = group.exchange(pickle.dumps([as_bytes(t) for t in input_tensor_list]))
        for output, message in zip(output_tensor_list, received, strict=True):
            write(output, pickle.loads(message)[group.rank()])
    return _collective(group, async_op, output_tensor_list, run)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False):
    """`all_to_all` of the parts of one tensor along its first dimension, equal ones if no sizes are given."""
    _check_tensor(output, "output")
    _check_tensor(input, "input")
    members_ = _group(group)
    if members_ is None:
        return _collective(group, async_op, (), None)
    parts = [_split(t, sizes, members_.size()) for t, sizes in
             ((output, output_split_sizes), (input, input_split_sizes))]
    return all_to_all(*parts, group, async_op)


def _split(tensor, sizes, count):
    if sizes is None:
        if tensor.size(0) % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        sizes = [tensor.size(0) // count] * count
    elif sum(sizes) != tensor.size(0):
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.split(list(sizes)))


def barrier(group=None, async_op=False, device_ids=None):
    """Wait until all members have come here."""
    return _collective(group, async_op, (), lambda group: group.combine(b"", lambda messages: b""))


def monitored_barrier(group=None, timeout=None, wait_all_ranks=False):
    """Wait until all members have come here; an error names those that have not come in time."""
    barrier(group)


# ---------------------------------------------------------------- from one to another

def send(tensor, dst=None, group=None, tag=0, group_dst=None):
    """Send a tensor to a process, which calls `recv`."""
    isend(tensor, dst, group, tag, group_dst).wait()


def isend(tensor, dst=None, group=None, tag=0, group_dst=None):
    """`send` in the background: a Work."""
    _check_tensor(tensor)
    group = _group(group)
    rank = _partner(group, dst, group_dst, "destination")
    message = as_bytes(tensor)
    return group.start(lambda: group.send(message, rank, f"tag {tag}"), [tensor], "sending")


def recv(tensor, src=None, group=None, tag=0, group_src=None):
    """Receive a tensor from a process (None: any), whose rank it returns."""
    _check_tensor(tensor)
    group = _group(group)
    rank = None if src is None and group_src is None else _partner(group, src, group_src, "source")
    if group.size() == 1:
        raise RuntimeError("recv: there is no other process to receive from")
    sender, message = group.receive(rank, f"tag {tag}")
    write(tensor, message)
    return group.ranks[sender]


def irecv(tensor, src=None, group=None, tag=0, group_src=None):
    """`recv` in the background: a Work."""
    _check_tensor(tensor)
    members_ = _group(group)
    return members_.start(lambda: recv(tensor, src, group, tag, group_src), [tensor], f"receiving {src} {tag}")


def batch_isend_irecv(p2p_op_list):
    """Start several `isend` and `irecv`: a list of Works."""
    if not isinstance(p2p_op_list, list) or not all(isinstance(p, P2POp) for p in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to to be of type ``torch.distributed.P2POp``."
        )
    return [p.op(p.tensor, p.peer, p.group, p.tag) for p in p2p_op_list]


def _partner(group, rank, group_rank, name):
    """The rank in the group of another member."""
    if group_rank is None:
        if rank not in group.ranks:
            raise ValueError(f"Invalid {name} rank: {rank} is not in the group")
        group_rank = group.ranks.index(rank)
    if group_rank == group.rank():
        raise ValueError(f"Invalid {name} rank: {name} rank should not be the same as the rank of the current process.")
    return group_rank


# ---------------------------------------------------------------- any objects

def all_gather_object(object_list, obj, group=None):
    """Give all members the objects of all, in *object_list*."""
    def run(group):
        object_list[:] = map(pickle.loads, group.exchange(pickle.dumps(obj)))
    _collective(group, False, (), run)


def gather_object(obj, object_gather_list=None, dst=None, group=None, group_dst=None):
    """Give the process *dst* (0 by default) the objects of all members, in its *object_gather_list*."""
    here = _is_at(group, dst, group_dst)
    _check_given("object_gather_list", object_gather_list, "destination", here)

    def run(group):
        messages = group.exchange(pickle.dumps(obj))
        if here:
            object_gather_list[:] = map(pickle.loads, messages)
    _collective(group, False, (), run)


def broadcast_object_list(object_list, src=None, group=None, device=None, group_src=None):
    """Give all members the objects in the list of the process *src* (0 by default)."""
    here = _is_at(group, src, group_src)

    def run(group):
        root = _root(group, src or 0, "broadcast") if group_src is None else group_src
        received = group.combine(pickle.dumps(object_list) if here else b"", lambda messages: messages[root])
        object_list[:] = pickle.loads(received)
    _collective(group, False, (), run)


def scatter_object_list(scatter_object_output_list, scatter_object_input_list=None, src=None, group=None,
                        group_src=None):
    """Give each member, as first of its output list, the object at its rank in the list of the process *src*."""
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise ValueError("Expected argument scatter_object_output_list to be a list of size at least 1.")
    here = _is_at(group, src, group_src)

    def run(group):
        root = _root(group, src or 0, "scatter") if group_src is None else group_src
        received = group.combine(pickle.dumps(scatter_object_input_list) if here else b"", lambda m: m[root])
        scatter_object_output_list[0] = pickle.loads(received)[group.rank()]
    _collective(group, False, (), run)
