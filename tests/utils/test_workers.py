"""Worker processes of a DataLoader: batches, order, seeds, errors, ends."""

import gc
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.utils.data import DataLoader, Dataset, IterableDataset, TensorDataset, get_worker_info


class Squares(Dataset):
    def __init__(self, n=20, width=3):
        self.n, self.width = n, width

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        return torch.full((self.width,), float(i * i)), i, {"name": str(i), "pair": (i, float(i))}


class Stream(IterableDataset):
    """Each worker gives its own share."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = get_worker_info()
        step, first = (1, 0) if info is None else (info.num_workers, info.id)
        return iter(range(first, self.n, step))


class Draws(Dataset):
    def __len__(self):
        return 6

    def __getitem__(self, i):
        info = get_worker_info()
        draws = torch.rand(1).item(), random.random(), float(np.random.rand())
        return (info.id, info.seed, torch.initial_seed(), *draws)


class Failing(Dataset):
    def __init__(self, at, how):
        self.at, self.how = at, how

    def __len__(self):
        return 8

    def __getitem__(self, i):
        if i == self.at:
            self.how()
        return torch.tensor(i)


def raise_error():
    raise KeyError("no such sample")


class Awkward(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)


def raise_awkward():
    raise Awkward(1, 2)


def kill_myself():
    os.kill(os.getpid(), signal.SIGKILL)


def leave():
    os._exit(3)


def sleep():
    time.sleep(30)


def same(a, b):
    if isinstance(a, torch.Tensor):
        return a.dtype is b.dtype and a.shape == b.shape and a.tolist() == b.tolist()
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    return a == b


@pytest.mark.parametrize("width", [3, 40000])
def test_batches_are_those_of_one_process(width):
    data = Squares(10, width)
    want = list(DataLoader(data, batch_size=3))
    got = list(DataLoader(data, batch_size=3, num_workers=2))
    assert same(want, got)
    got[0][0].add_(1)
    assert got[0][0][0, 0].item() == 1 and want[0][0][0, 0].item() == 0


def test_shuffled_order_and_random_state_are_those_of_one_process():
    def run(workers):
        torch.manual_seed(4)
        batches = [b.tolist() for _ in range(2) for b in DataLoader(range(9), 2, shuffle=True, num_workers=workers)]
        return batches, torch.rand(1).item()

    assert run(0) == run(2)


def test_started_anew_instead_of_forked():
    loader = DataLoader(Squares(4), batch_size=2, num_workers=1, multiprocessing_context="spawn")
    assert same(list(loader), list(DataLoader(Squares(4), batch_size=2)))
    assert loader.multiprocessing_context.get_start_method() == "spawn"


def test_streams_are_shared_among_workers():
    batches = [b.tolist() for b in DataLoader(Stream(10), batch_size=2, num_workers=2)]
    assert batches == [[0, 2], [1, 3], [4, 6], [5, 7], [8], [9]]
    assert sorted(int(i) for i in DataLoader(Stream(5), batch_size=None, num_workers=2)) == list(range(5))
    dropped = [b.tolist() for b in DataLoader(Stream(10), batch_size=2, num_workers=2, drop_last=True)]
    assert dropped == batches[:4]


@pytest.mark.parametrize("era, seeds_numpy", [("modern", True), ("1.1", False)])
def test_seeds(era, seeds_numpy):
    with torch.era(era):
        torch.manual_seed(11)
        base = torch.empty((), dtype=torch.int64).random_().item()
        torch.manual_seed(11)
        np.random.seed(5)
        rows = list(DataLoader(Draws(), batch_size=None, num_workers=2))
    for info_id, seed, initial, *_ in rows:
        assert seed == initial == base + info_id
    first = {row[0]: row for row in reversed(rows)}
    for worker, row in first.items():
        assert row[3] == torch.rand(1, generator=torch.Generator().manual_seed(base + worker)).item()
        assert row[4] == random.Random(base + worker).random()
        words = np.random.SeedSequence([worker, base & 0xFFFFFFFF, base >> 32, 0]).generate_state(4)
        assert row[5] == np.random.RandomState(words if seeds_numpy else 5).rand()


def test_worker_init_fn_and_info():
    def begin(worker_id):
        get_worker_info().dataset.n = 100 + worker_id

    class Numbers(Dataset):
        n = 0

        def __len__(self):
            return 4

        def __getitem__(self, i):
            return self.n

    rows = [b.tolist() for b in DataLoader(Numbers(), batch_size=2, num_workers=2, worker_init_fn=begin)]
    assert rows == [[100, 100], [101, 101]] and get_worker_info() is None


def test_exceptions_keep_their_type_and_traceback():
    loader = iter(DataLoader(Failing(2, raise_error), num_workers=2))
    assert next(loader).item() == 0 and next(loader).item() == 1
    text = "(?s)Caught KeyError in DataLoader worker process 0.*raise_error.*no such sample"
    with pytest.raises(KeyError, match=text):
        next(loader)
    assert next(loader).item() == 3
    with pytest.raises(RuntimeError, match="Caught Awkward in DataLoader worker process"):
        list(DataLoader(Failing(0, raise_awkward), num_workers=1))

    def wrong(worker_id):
        raise ValueError("wrong from the start")

    with pytest.raises(ValueError, match="wrong from the start"):
        list(DataLoader(Squares(2), num_workers=1, worker_init_fn=wrong))
    with pytest.raises(Exception, match="(?i)pickle"):
        list(DataLoader(Squares(2), num_workers=1, collate_fn=lambda batch: lambda: None))


@pytest.mark.parametrize("how, fate", [(kill_myself, "killed by signal: Killed"), (leave, "exit code 3")])
def test_workers_that_die_are_reported(how, fate):
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly.*{fate}"):
        list(DataLoader(Failing(5, how), num_workers=2))


def test_timeout():
    loader = iter(DataLoader(Failing(0, sleep), num_workers=1, timeout=1))
    with pytest.raises(RuntimeError, match="DataLoader timed out after 1 seconds"):
        next(loader)
    for each in loader._workers._workers:
        each.process.terminate()


def test_persistent_workers_live_on():
    loader = DataLoader(Stream(8), batch_size=2, num_workers=2, persistent_workers=True)
    first = [b.tolist() for b in loader]
    pids = [each.process.pid for each in loader._iterator._workers._workers]
    assert [b.tolist() for b in loader] == first
    half = iter(loader)
    next(half)
    assert [b.tolist() for b in loader] == first
    assert [each.process.pid for each in loader._iterator._workers._workers] == pids


def test_batches_in_the_order_of_their_arrival():
    loader = DataLoader(Squares(9), num_workers=2, in_order=False)
    assert sorted(int(i) for _, i, _ in loader) == list(range(9))


def test_prefetching():
    tasks = []

    class Sampler:
        def __iter__(self):
            for i in range(10):
                tasks.append(i)
                yield i

    loader = iter(DataLoader(range(10), sampler=Sampler(), num_workers=2, prefetch_factor=2))
    assert len(tasks) == 4
    next(loader)
    assert len(tasks) == 5


def test_a_small_part_does_not_drag_its_memory_along():
    whole = torch.zeros(1 << 20)
    (part,) = DataLoader(TensorDataset(whole), batch_size=None, sampler=[3], num_workers=1)
    assert part[0].storage().nbytes() < 1 << 12


def test_sparse_and_other_objects_pass():
    class Odd(Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, i):
            return torch.eye(3).to_sparse(), np.arange(3), torch.nn.Parameter(torch.ones(2)), torch.empty(0)

    for sparse, array, parameter, empty in DataLoader(Odd(), batch_size=None, num_workers=1):
        assert sparse.to_dense().tolist() == torch.eye(3).tolist() and array.tolist() == [0, 1, 2]
        assert type(parameter) is torch.nn.Parameter and empty.shape == (0,)


def test_loaders_left_early_leave_no_processes():
    before = {p.pid for p in multiprocessing.active_children()}
    loader = iter(DataLoader(Squares(100, 1000), num_workers=2))
    next(loader)
    del loader
    gc.collect()
    assert {p.pid for p in multiprocessing.active_children()} <= before


SCRIPT = """
import os, signal, sys, time
import shimtorch as torch
from shimtorch.utils.data import DataLoader

class Data:
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        return torch.zeros(20000)

if __name__ == "__main__":
    loader = iter(DataLoader(Data(), batch_size=4, num_workers=2))
    next(loader)
    print(*[each.process.pid for each in loader._workers._workers], flush=True)
    {end}
"""


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), signal.SIGKILL)",
                                 "os.kill(os.getpid(), signal.SIGINT); time.sleep(9)", "os._exit(1)", "1 / 0"])
def test_nothing_is_left_when_the_main_process_ends(tmp_path, end):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT).replace("{end}", end))
    before = shared_files()
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    deadline = time.monotonic() + 20
    while any(alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert shared_files() <= before


def shared_files():
    """The names of files in shared memory; semaphores are not ours."""
    names = os.listdir("/dev/shm") if os.path.isdir("/dev/shm") else []
    return {name for name in names if not name.startswith("sem.")}


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("options, message", [
    ({"multiprocessing_context": "sprout"}, "should specify a valid start method"),
    ({"prefetch_factor": -1}, "prefetch_factor option should be non-negative"),
])
def test_options_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        DataLoader(range(3), num_workers=1, **options)
    with pytest.raises(TypeError, match="valid context object"):
        DataLoader(range(3), num_workers=1, multiprocessing_context=3)


def test_too_many_workers_are_warned_about():
    with pytest.warns(UserWarning, match="will create 10000 worker processes in total"):
        DataLoader(range(3), num_workers=10000)


class Broken(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        raise KeyError(i)


def test_workers_end_with_the_exception_that_one_of_them_raised():
    with pytest.raises(KeyError, match="Caught KeyError in DataLoader worker process"):
        list(DataLoader(Broken(), num_workers=2))
    assert not multiprocessing.active_children()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot fork here")
def test_a_forked_child_that_drops_a_pass_leaves_its_workers_alone():
    batches = iter(DataLoader(TensorDataset(torch.arange(20)), num_workers=2, multiprocessing_context="fork"))
    next(batches)
    child = os.fork()
    if child == 0:
        try:
            batches._shutdown_workers()
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert len(list(batches)) == 19
