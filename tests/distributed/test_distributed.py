"""torch.distributed: a group of one process, and of several that find each other by a file or a port."""

import os
import socket
from datetime import timedelta

import pytest

import shimtorch as torch
from shimtorch import distributed as dist
from shimtorch import multiprocessing as mp
from shimtorch import nn


@pytest.fixture
def alone(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/found", rank=0, world_size=1)
    yield
    if dist.is_initialized():
        dist.destroy_process_group()


# ---------------------------------------------------------------- one process

def test_nothing_works_before_the_group_is_started():
    assert dist.is_available() and not dist.is_initialized() and dist.group.WORLD is None
    for function in (dist.get_rank, dist.get_world_size, dist.barrier, lambda: dist.all_reduce(torch.ones(2))):
        for error in (ValueError, RuntimeError):
            with pytest.raises(error, match="Default process group has not been initialized"):
                function()
    with pytest.raises(AssertionError, match="cannot be None"):
        dist.destroy_process_group()


@pytest.mark.parametrize("missing", ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"])
def test_what_the_environment_lacks_is_named(missing, monkeypatch):
    for name, value in (("RANK", "0"), ("WORLD_SIZE", "1"), ("MASTER_ADDR", "127.0.0.1"), ("MASTER_PORT", "29500")):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(missing)
    with pytest.raises(ValueError, match=f"env:// rendezvous: environment variable {missing} expected, but not set"):
        dist.init_process_group("gloo")


@pytest.mark.parametrize("arguments, error, message", [
    (dict(backend="gloo", init_method="xx://a", rank=0, world_size=1), RuntimeError, "No rendezvous handler for xx://"),
    (dict(backend="gloo", init_method="file:///a"), ValueError, "file:// rendezvous: rank parameter missing"),
    (dict(backend="gloo", init_method="file:///a", rank=0), ValueError, "world size parameter missing"),
    (dict(backend="gloo", init_method="file:///a", rank=1, world_size=1), ValueError, "out of range"),
    (dict(backend="gloo", init_method="tcp://localhost", rank=0, world_size=1), ValueError, "port number missing"),
    (dict(backend="nccl", init_method="file:///a", rank=0, world_size=1), RuntimeError, "NCCL"),
    (dict(backend="mpi", init_method="file:///a", rank=0, world_size=1), RuntimeError, "MPI"),
    (dict(backend="tcp", init_method="file:///a", rank=0, world_size=1), ValueError, "TCP backend has been deprecated"),
    (dict(backend="foo", init_method="file:///a", rank=0, world_size=1), ValueError, "Invalid backend: 'foo'"),
])
def test_a_group_that_cannot_start_says_why(arguments, error, message):
    with pytest.raises(error, match=message):
        dist.init_process_group(**arguments)
    assert not dist.is_initialized()


def test_a_group_of_one(alone):
    assert (dist.get_rank(), dist.get_world_size(), dist.get_backend()) == (0, 1, "gloo")
    with pytest.raises(ValueError, match="twice"):
        dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29501", rank=0, world_size=1)
    x, y = torch.arange(6.0).view(2, 3).t(), torch.zeros(3, 2)
    for op in (dist.ReduceOp.SUM, dist.ReduceOp.AVG, dist.ReduceOp.MAX, dist.reduce_op.MIN):
        dist.all_reduce(x, op)
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]
    work = dist.all_gather([y], x, async_op=True)
    assert work.wait() and work.is_completed() and work.is_success() and torch.equal(x, y)
    dist.broadcast(x, 0)
    dist.barrier()
    found = [None]
    dist.all_gather_object(found, {"a": 1})
    assert found == [{"a": 1}]
    assert len(torch.utils.data.DistributedSampler(range(10))) == 10
    dist.destroy_process_group()
    assert not dist.is_initialized()


@pytest.mark.parametrize("call, error, message", [
    (lambda x: dist.all_reduce([x]), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
    (lambda x: dist.all_reduce(x, dist.ReduceOp.BAND), RuntimeError, "Cannot use ReduceOp.BAND"),
    (lambda x: dist.all_reduce(x + 1j, dist.ReduceOp.MAX), ValueError, "does not support RedOpType.MAX on complex"),
    (lambda x: dist.all_reduce(x.to_sparse()), NotImplementedError, "sparse"),
    (lambda x: dist.broadcast(x, 1), RuntimeError, "broadcast: invalid root rank: 1"),
    (lambda x: dist.reduce(x, 1), RuntimeError, "reduce: invalid root rank: 1"),
    (lambda x: dist.all_gather([], x), RuntimeError, r"tensor list at index 0 \(expected length 1, got 0\)"),
    (lambda x: dist.all_gather([x[:2]], x), RuntimeError, r"tensor size at index 0 \(expected \(3\), got \(2\)\)"),
    (lambda x: dist.all_gather([x.long()], x), ValueError, "different dtypes"),
    (lambda x: dist.gather(x), ValueError, "``gather_list`` must be specified on destination rank"),
    (lambda x: dist.gather(x, [x], dst=1), ValueError, "must NOT be specified on non-destination ranks"),
    (lambda x: dist.scatter(x), ValueError, "``scatter_list`` must be specified on source rank"),
    (lambda x: dist.send(x, 0), ValueError, "should not be the same as the rank of the current process"),
    (lambda x: dist.recv(x), RuntimeError, "no other process"),
    (lambda x: dist.new_group([1]), ValueError, r"Rank 1 is out of range. Valid ranks are 0 to 0"),
])
def test_wrong_calls(alone, call, error, message):
    with pytest.raises(error, match=message):
        call(torch.ones(3))


def test_a_module_in_one_process(alone):
    inner = nn.Linear(2, 3)
    model = nn.parallel.DistributedDataParallel(inner)
    model(torch.ones(1, 2)).sum().backward()
    assert model.module is inner and list(model.state_dict()) == ["module.weight", "module.bias"]
    assert torch.equal(inner.weight.grad, torch.ones(3, 2))
    with pytest.raises(RuntimeError, match="doesn't have any parameter that requires a gradient"):
        nn.parallel.DistributedDataParallel(nn.ReLU())


def test_the_parts_of_a_module_in_one_process(alone):
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 3))
    x = torch.arange(8.0).view(4, 2)
    inputs, kwargs = model.scatter((x,), {}, [0, 1])
    results = model.parallel_apply([model.module] * 2, inputs, kwargs)
    assert torch.equal(model.gather(results, "cpu"), model(x))
    (moved,), _ = model.to_kwargs((x,), {}, 0)
    assert torch.equal(moved[0], x)
    assert not model.will_sync_module_buffers()
    with model.join():
        model(x).sum().backward()
    with pytest.raises(NotImplementedError, match="register_comm_hook"):
        model.register_comm_hook(None, None)


# ---------------------------------------------------------------- several processes

def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def run(function, size, address):
    mp.spawn(_member, (function, size, address), size)


def _member(rank, function, size, address):
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size, timeout=timedelta(seconds=60))
    function(rank, size)
    dist.barrier()
    dist.destroy_process_group()


def everything(rank, size):
    """Each function among three processes."""
    x = torch.tensor([rank + 1.0, -rank])
    totals = {"SUM": [6, -3], "PRODUCT": [6, 0], "MIN": [1, -2], "MAX": [3, 0], "AVG": [2, -1]}
    for name, expected in totals.items():
        y = x.clone()
        dist.all_reduce(y, getattr(dist.ReduceOp, name))
        assert y.tolist() == expected, name
    bits = torch.tensor([1 << rank, 7])
    dist.all_reduce(bits, dist.ReduceOp.BOR)
    assert bits.tolist() == [7, 7]
    y = x.clone()
    dist.reduce(y, 1)
    assert y.tolist() == ([6, -3] if rank == 1 else x.tolist())
    y = x.to(torch.bfloat16)
    dist.broadcast(y, 2)
    assert y.tolist() == [3, -2]
    parts = [torch.zeros(2) for _ in range(size)]
    dist.all_gather(parts, x)
    assert torch.stack(parts).tolist() == [[1, 0], [2, -1], [3, -2]]
    whole = torch.empty(6)
    dist.all_gather_into_tensor(whole, x)
    assert whole.tolist() == [1, 0, 2, -1, 3, -2]
    parts = [torch.zeros(2) for _ in range(size)] if rank == 1 else None
    dist.gather(x, parts, dst=1)
    assert rank != 1 or torch.stack(parts).tolist() == [[1, 0], [2, -1], [3, -2]]
    y = torch.zeros(1)
    dist.scatter(y, [torch.tensor([10.0 * r]) for r in range(size)] if rank == 0 else None)
    assert y.item() == 10 * rank
    dist.reduce_scatter(y, [torch.tensor([float(r + rank)]) for r in range(size)])
    assert y.item() == 3 * rank + 3
    dist.reduce_scatter_tensor(y, torch.arange(3.0) * (rank + 1))
    assert y.item() == 6 * rank
    y, z = torch.zeros(3), torch.arange(3.0) + 10 * rank
    dist.all_to_all_single(y, z)
    assert y.tolist() == [rank, rank + 10, rank + 20]
    found = [None] * size
    dist.all_gather_object(found, {"rank": rank})
    assert found == [{"rank": r} for r in range(size)]
    found = ["x", 3] if rank == 0 else [None, None]
    dist.broadcast_object_list(found)
    assert found == ["x", 3]
    dist.scatter_object_list(found, ["a", "b", "c"] if rank == 0 else None)
    assert found[0] == "abc"[rank]


def from_one_to_another(rank, size):
    y = torch.zeros(2)
    if rank == 0:
        sender = dist.recv(y)
        assert sender == 1 and y.tolist() == [5, 6]
        dist.send(torch.ones(1000, 1000), 2, tag=3)
    elif rank == 1:
        dist.send(torch.tensor([5.0, 6.0]), 0)
    else:
        big, small = torch.zeros(1000, 1000), torch.zeros(1)
        works = [dist.irecv(big, 0, tag=3), dist.irecv(small, 2 - 1, tag=4)]
        works[0].wait()
        assert big.sum().item() == 1e6 and not works[1].is_completed()
    dist.barrier()
    if rank == 1:
        dist.isend(torch.ones(1), 2, tag=4).wait()
    elif rank == 2:
        works[1].wait()
        assert small.item() == 1


def groups_within(rank, size):
    pair, single = dist.new_group([0, 2]), dist.new_group([1])
    x = torch.tensor([float(rank)])
    if rank == 1:
        assert pair == dist.GroupMember.NON_GROUP_MEMBER and dist.get_rank(pair) == -1
        dist.all_reduce(x, group=single)
        assert x.item() == 1
    else:
        assert (dist.get_rank(pair), dist.get_world_size(pair)) == (rank // 2, 2)
        dist.all_reduce(x, group=pair)
        assert x.item() == 2
        dist.broadcast(x.fill_(rank), 2, group=pair)
        assert x.item() == 2


def training(rank, size):
    """Each process sees a third of the batch; the steps are those of the whole batch in one process."""
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
    model = nn.parallel.DistributedDataParallel(model.eval())
    torch.manual_seed(7)
    data, alone = torch.randn(4, 9, 3), nn.Sequential(*[m for m in pickled(model.module)])
    optimizers = [torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9) for m in (model, alone)]
    shares = torch.utils.data.DistributedSampler(range(9), shuffle=False)
    for batch in data:
        for network, rows, optimizer in ((model, batch[list(shares)], optimizers[0]), (alone, batch, optimizers[1])):
            optimizer.zero_grad()
            (network(rows) - 1).square().mean().backward()
            optimizer.step()
    for one, other in zip(model.parameters(), alone.parameters(), strict=True):
        assert torch.allclose(one, other, atol=1e-6)
    model.zero_grad()
    with model.no_sync():
        model(data[0][rank:rank + 1]).sum().backward()
    own = [torch.zeros_like(model.module[3].weight) for _ in range(size)]
    dist.all_gather(own, model.module[3].weight.grad)
    assert not torch.equal(own[0], own[1])


class Branches(nn.Module):
    """Uses a part of its layers: which one is said with the input; the last one never."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(2, 1) for _ in range(4))

    def forward(self, x, which):
        return {"out": [self.layers[i](x) for i in which]}


def unused(rank, size):
    """Each process uses other layers: who did not use one counts as zeros in the mean."""
    torch.manual_seed(3)
    model = nn.parallel.DistributedDataParallel(Branches(), find_unused_parameters=True)
    layers, x = model.module.layers, torch.tensor([[1.0, 2.0]]) * (rank + 1)
    for _ in range(2):
        model.zero_grad()
        loss = sum(out.sum() for out in model(x, [rank, 1] if rank != 1 else [1])["out"])
        loss.backward()
        assert torch.allclose(layers[0].weight.grad, torch.tensor([[1.0, 2.0]]) / 3)
        assert torch.allclose(layers[1].weight.grad, torch.tensor([[1.0, 2.0]]) * 2)
        assert torch.allclose(layers[2].bias.grad, torch.tensor([1.0]) / 3)
        assert layers[3].weight.grad is None and layers[3].bias.grad is None
    model.zero_grad()
    out = model(x, [0] if rank == 0 else [])["out"]
    if out:
        out[0].sum().backward()
    assert torch.allclose(layers[0].bias.grad, torch.tensor([1.0]) / 3) and layers[1].weight.grad is None


def pickled(module):
    import pickle

    return pickle.loads(pickle.dumps(module))


def all_of_it(rank, size):
    for function in (everything, from_one_to_another, groups_within, training, unused):
        function(rank, size)
        dist.barrier()


@pytest.mark.slow
def test_three_processes_that_meet_in_a_file(tmp_path):
    run(all_of_it, 3, f"file://{tmp_path}/found")


@pytest.mark.slow
def test_three_processes_that_meet_at_a_port():
    run(everything, 3, f"tcp://127.0.0.1:{free_port()}")


def dies(rank, size):
    if rank == 1:
        os._exit(0)
    with pytest.raises(RuntimeError, match="rank 1"):
        dist.recv(torch.zeros(1), 1)
    os._exit(0)


def speaks_and_dies(rank, size):
    dist.barrier()
    dies(rank, size)


@pytest.mark.slow
def test_a_member_that_dies_is_reported(tmp_path):
    run(speaks_and_dies, 2, f"file://{tmp_path}/found")


@pytest.mark.slow
def test_three_processes_that_meet_in_a_store():
    mp.spawn(_member_by_store, (3, free_port()), 3)


def _member_by_store(rank, size, port):
    store = dist.TCPStore("127.0.0.1", port, size, rank == 0, timedelta(seconds=60))
    dist.init_process_group("gloo", store=dist.PrefixStore("group", store), rank=rank, world_size=size)
    for _ in range(20):
        store.add("count", rank + 1)
    dist.barrier()
    assert store.get("count") == b"120"
    x = torch.tensor([rank])
    dist.all_reduce(x)
    assert x.item() == 3
    dist.barrier()
    dist.destroy_process_group()


def held_by_this_process():
    return dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=5))


def test_a_store_behind_a_port():
    master = held_by_this_process()
    client = dist.TCPStore("127.0.0.1", master.port, timeout=timedelta(seconds=5))
    client.set("key", b"\x00value")
    assert master.get("key") == b"\x00value" and master.clone().list_keys() == ["key"] and client.host == "127.0.0.1"
    master.set("word", "text")
    for store in (client, master):
        with pytest.raises(ValueError, match="invalid literal"):
            store.add("word", 1)
    assert client.num_keys() == 2 and client.get("word") == b"text"
    with pytest.raises(dist.DistNetworkError, match=f"failed to listen on any local .* port: {master.port}"):
        dist.TCPStore("127.0.0.1", master.port, is_master=True)
    del master
    with pytest.raises(dist.DistNetworkError, match=r"timed out after 50ms while trying to connect to \(127.0.0.1, "):
        dist.TCPStore("127.0.0.1", free_port(), timeout=timedelta(milliseconds=50))
    with pytest.raises(dist.DistStoreError, match="seconds waiting for clients. 1/2 clients joined."):
        dist.TCPStore("127.0.0.1", 0, 2, True, timedelta(milliseconds=50))


def test_calls_in_other_processes_are_refused():
    from shimtorch.distributed import rpc

    assert dist.rpc is rpc and not rpc.is_available()
    with pytest.raises(NotImplementedError, match="torch.distributed.rpc.init_rpc is not implemented"):
        rpc.init_rpc("worker0", 0, 1)


@pytest.mark.parametrize("make", [dist.HashStore, lambda: dist.PrefixStore("x", dist.HashStore()), held_by_this_process,
                                  lambda: dist.PrefixStore("x", held_by_this_process()), None])
def test_stores(make, tmp_path):
    store = make() if make else dist.FileStore(tmp_path / "store")
    store.set("a", "b c\n")
    assert store.get("a") == b"b c\n" and store.add("n", 3) == 3 and store.add("n", -1) == 2 and store.get("n") == b"2"
    assert store.num_keys() == 2 and store.check(["a", "n"]) and not store.check(["a", "b"])
    assert store.compare_set("q", "", "z") == b"z" and store.compare_set("q", "y", "w") == b"z"
    assert store.delete_key("a") and not store.delete_key("a")
    store.append("l", "xy")
    store.append("l", b"z")
    store.multi_set(["p", "s"], ["1", b"2"])
    assert store.has_extended_api() and store.multi_get(["l", "s"]) == [b"xyz", b"2"]
    assert set(store.list_keys()) == {"n", "q", "l", "p", "s"}
    with pytest.raises(dist.DistStoreError, match="wait timeout after 50ms, keys: zz"):
        store.wait(["zz"], timedelta(seconds=0.05))
