"""An optimiser whose state is shared out among processes moves the parameters as one of a single process does."""

from copy import deepcopy

import pytest

import shimtorch as torch
from shimtorch import distributed as dist
from shimtorch import multiprocessing as mp
from shimtorch.distributed.optim import ZeroRedundancyOptimizer

STEPS = 3


@pytest.fixture
def alone(tmp_path):
    dist.init_process_group("gloo", init_method=f"file://{tmp_path}/found", rank=0, world_size=1)
    yield
    dist.destroy_process_group()


def parameters():
    torch.manual_seed(0)
    return [torch.nn.Parameter(torch.randn(*shape)) for shape in ((2, 3), (5,), (1,), (4, 2))]


def train(params, optimizer, steps=STEPS):
    for _ in range(steps):
        optimizer.zero_grad()
        sum((p ** 3).sum() for p in params).backward()
        optimizer.step()


def plain(**options):
    params = parameters()
    optimizer = torch.optim.Adam(params, **options)
    train(params, optimizer)
    return params, optimizer


def same_state(found, want):
    assert found.keys() == want.keys() and list(found["state"]) == list(want["state"])
    assert found["param_groups"] == want["param_groups"]
    for number, state in want["state"].items():
        assert all(torch.equal(found["state"][number][name], value) for name, value in state.items())


def test_alone(alone):
    params = parameters()
    optimizer = ZeroRedundancyOptimizer(params, torch.optim.Adam, lr=0.1)
    assert isinstance(optimizer, torch.optim.Optimizer) and isinstance(optimizer.optim, torch.optim.Adam)
    train(params, optimizer)
    want, adam = plain(lr=0.1)
    assert all(map(torch.equal, params, want))
    assert optimizer.step(lambda: 7.0) == adam.step(lambda: 7.0) == 7.0
    with pytest.raises(RuntimeError, match=r"call `consolidate_state_dict\(to=0\)` on all ranks beforehand"):
        optimizer.state_dict()
    optimizer.consolidate_state_dict()
    same_state(optimizer.state_dict(), adam.state_dict())


def test_options_and_groups_that_come_later(alone):
    params = parameters()
    optimizer = ZeroRedundancyOptimizer(params[:2], torch.optim.SGD, lr=1.0)
    optimizer.add_param_group({"params": params[2:], "lr": 0.5})
    assert [group["lr"] for group in optimizer.optim.param_groups] == [1.0, 0.5]
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.1)
    train(params, optimizer, 1)
    scheduler.step()
    before = [p.detach().clone() for p in params]
    train(params, optimizer, 1)
    for p, old, rate in zip(params, before, (0.1, 0.1, 0.05, 0.05), strict=True):
        assert torch.allclose(p, old - rate * 3 * old ** 2)


@pytest.mark.parametrize("params, error, text", [
    (torch.ones(2), TypeError, "`params` argument should be an iterable of Tensors, but got torch.FloatTensor"),
    ([], ValueError, "ZeroRedundancyOptimizer got an empty parameter list"),
    ([1], TypeError, "`params` argument should be an iterable of Tensors or dicts"),
])
def test_what_is_no_list_of_parameters(alone, params, error, text):
    with pytest.raises(error, match=text):
        ZeroRedundancyOptimizer(params, torch.optim.SGD, lr=0.1)


def test_what_it_cannot_do(alone):
    with pytest.raises(NotImplementedError, match="overlap_with_ddp is not implemented"):
        ZeroRedundancyOptimizer(parameters(), torch.optim.SGD, overlap_with_ddp=True)


def test_a_group_must_be_there():
    with pytest.raises(ValueError, match="Default process group has not been initialized"):
        ZeroRedundancyOptimizer(parameters(), torch.optim.SGD)


@pytest.mark.slow
def test_three_processes(tmp_path):
    mp.spawn(_member, (3, f"file://{tmp_path}/found"), 3)


def _member(rank, size, address):
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=size)
    params = parameters()
    optimizer = ZeroRedundancyOptimizer(params, torch.optim.Adam, lr=0.1)
    assert [len(group["params"]) for group in optimizer.optim.param_groups] == [(1, 1, 2)[rank]]
    train(params, optimizer)
    want, adam = plain(lr=0.1)
    assert all(map(torch.equal, params, want)) and len(optimizer.state) == (1, 1, 2)[rank]
    optimizer.consolidate_state_dict(to=1)
    if rank == 1:
        same_state(optimizer.state_dict(), adam.state_dict())
    else:
        with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
            optimizer.state_dict()
    optimizer.load_state_dict(deepcopy(adam.state_dict()))
    assert len(optimizer.state) == (1, 1, 2)[rank]
    train(params, optimizer)
    train(want, adam)
    assert all(map(torch.equal, params, want))
    dist.destroy_process_group()
