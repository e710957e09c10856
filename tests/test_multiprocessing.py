"""torch.multiprocessing: tensors that processes share, queues, pools, spawn, training by several processes at once."""

import multiprocessing
import os
import signal
import sys

import pytest

import shimtorch as torch
from shimtorch import multiprocessing as mp

METHODS = ["fork", "spawn"] if sys.platform.startswith("linux") else ["spawn"]


def double(tensor):
    tensor.mul_(2)


def put(queue, done):
    x = torch.arange(4.0)
    queue.put([x, x[1:3], torch.nn.Parameter(torch.ones(2)), torch.eye(2).to_sparse()])
    done.wait(30)


def add_one(x):
    return x + 1


def fail(rank, at):
    if rank == at:
        raise ValueError(f"process {rank} has had enough")


def write_rank(rank, shared):
    shared[rank] = rank + 1


def end_by_signal(rank):
    os.kill(os.getpid(), signal.SIGKILL)


def leave(rank):
    os._exit(7)


def step(model, seed):
    """Some steps of gradient descent towards weights of 1, on a model that other processes train too."""
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(60):
        x = torch.randn(8, 3)
        optimizer.zero_grad()
        ((model(x) - x.sum(1, keepdim=True)) ** 2).mean().backward()
        optimizer.step()


@pytest.mark.parametrize("method", METHODS)
def test_a_shared_tensor_is_written_by_another_process(method):
    x = torch.arange(4.0)
    view = x[1:]
    assert not x.is_shared() and x.share_memory_() is x and x.is_shared() and view.is_shared()
    process = mp.get_context(method).Process(target=double, args=(x,))
    process.start()
    process.join()
    assert process.exitcode == 0 and x.tolist() == [0, 2, 4, 6] and view.tolist() == [2, 4, 6]


@pytest.mark.parametrize("method", METHODS)
def test_queues_pass_shared_memory(method):
    context = mp.get_context(method)
    queue, done = context.Queue(), context.Event()
    process = context.Process(target=put, args=(queue, done))
    process.start()
    x, part, parameter, sparse = queue.get(timeout=60)
    x[1] = 9
    assert x.is_shared() and part.tolist() == [9, 2]
    assert type(parameter) is torch.nn.Parameter and parameter.requires_grad
    assert sparse.to_dense().tolist() == [[1, 0], [0, 1]]
    done.set()
    process.join()
    assert process.exitcode == 0


def test_pools():
    with mp.get_context("fork" if "fork" in METHODS else "spawn").Pool(2) as pool:
        assert [t.tolist() for t in pool.map(add_one, [torch.zeros(2), torch.ones(2)])] == [[1, 1], [2, 2]]


@pytest.mark.parametrize("method", METHODS)
def test_hogwild(method):
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    model.share_memory()
    processes = [mp.get_context(method).Process(target=step, args=(model, seed)) for seed in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert (model.weight - 1).abs().max().item() < 0.05


def test_spawn():
    shared = torch.zeros(3).share_memory_()
    assert mp.spawn(write_rank, (shared,), nprocs=3) is None
    assert shared.tolist() == [1, 2, 3]


@pytest.mark.parametrize("method", METHODS)
def test_failures_are_raised_in_the_parent(method):
    text = "(?s)-- Process 1 terminated.*ValueError: process 1 has had"
    with pytest.raises(mp.ProcessRaisedException, match=text) as caught:
        mp.start_processes(fail, (1,), nprocs=2, start_method=method)
    assert caught.value.error_index == 1
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with signal SIGKILL") as caught:
        mp.start_processes(end_by_signal, nprocs=1, start_method=method)
    assert caught.value.signal_name == "SIGKILL" and caught.value.exit_code == -signal.SIGKILL
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 7"):
        mp.start_processes(leave, nprocs=1, start_method=method)


def test_results_with_history_are_refused():
    x = torch.ones(2, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        multiprocessing.reduction.ForkingPickler.dumps(x)


def test_the_names_of_python_are_there():
    assert mp.Process is multiprocessing.Process and mp.cpu_count() == multiprocessing.cpu_count()
    assert mp.get_sharing_strategy() in mp.get_all_sharing_strategies()
    with pytest.raises(AssertionError, match="unknown sharing strategy"):
        mp.set_sharing_strategy("carrier pigeon")


def test_sharing_moves_the_memory_once():
    x = torch.arange(3.0)
    array = x.numpy()
    x.share_memory_()
    place = x.data_ptr()
    assert x.share_memory_().data_ptr() == place and x.tolist() == [0, 1, 2] and array.tolist() == [0, 1, 2]
    assert x.data.is_shared() and x.storage().is_shared() and torch.empty(0).share_memory_().numel() == 0
