"""Kernels that share their work among threads: the same bits with any number of threads, and no hang after a fork."""
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import shimtorch as torch
import shimtorch.nn.functional as F
from shimtorch._kernels import table

pytestmark = pytest.mark.skipif(not table.threaded(), reason="built without threads")


@pytest.fixture(autouse=True)
def number_of_threads():
    """What a test sets is undone. The BLAS has one thread, for its sums depend on how many it has."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def drawn(*shape, seed=0):
    return torch.tensor(np.random.default_rng([seed, *shape]).standard_normal(shape, dtype=np.float32))


def same_bits(compute):
    """The results of compute, once it is known that one thread and three make the same."""
    results = []
    for n in (1, 3):
        table.set_threads(n)
        made = compute()
        results.append(made if isinstance(made, (tuple, list)) else [made])
    for one, three in zip(*results):
        assert one.shape == three.shape and one.dtype == three.dtype
        assert one.contiguous().numpy().tobytes() == three.contiguous().numpy().tobytes()
    return results[0]


def with_gradients(f, *inputs):
    inputs = [x.clone().requires_grad_() for x in inputs]
    out = f(*inputs)
    return [out.detach(), *torch.autograd.grad(out, inputs, drawn(*out.shape, seed=1).to(out.dtype))]


def a():
    return drawn(700, 900)


def row():
    return drawn(1_000_003)


def tall():
    return drawn(300_000, 5)


POINTWISE = {
    "contiguous": lambda: a() + a() * 2,
    "flat": lambda: row().exp(),
    "number": lambda: row() * 3,
    "in place": lambda: row().mul_(2).add_(row()).neg_(),
    "out=": lambda: torch.add(row(), row(), out=torch.empty(1_000_003)),
    "transposed": lambda: a().t() + a().t(),
    "transposed and not": lambda: drawn(900, 900) + drawn(900, 900).t(),
    "strided": lambda: a()[::2, ::3].sigmoid(),
    "strided rows": lambda: torch.maximum(a()[:, 5:], a()[:, :-5]),
    "broadcast rows": lambda: a() * a()[0],
    "broadcast columns": lambda: a() / a()[:, :1],
    "short outer dimension": lambda: drawn(2, 200_000)[:, ::2] + 1,
    "four dimensions": lambda: drawn(20, 30, 10, 40).permute(2, 0, 3, 1) * drawn(10, 1, 40, 1),
    "half": lambda: row().half() + row().half(),
    "complex": lambda: torch.complex(row(), row()) * 2j,
    "compare": lambda: row() > 0,
    "where": lambda: torch.where(a() > 0, a(), -a()),
    "addcmul": lambda: torch.addcmul(a(), a(), a(), value=0.5),
    "to double": lambda: row().double(),
    "to int": lambda: (row() * 100).to(torch.int16),
    "transposed cast": lambda: a().t().double(),
    "clone": lambda: row().clone(),
    "transposed copy": lambda: a().t().contiguous(),
    "overlapping copy": lambda: torch.arange(500_000)[1:].copy_(torch.arange(500_000)[:-1]),
    "fill": lambda: torch.full((1_000_000,), 1.5),
    "zeros": lambda: torch.empty(1_000_000).zero_(),
    "expanded output": lambda: torch.zeros(3).expand(100_000, 3) + 1,
    "cat": lambda: torch.cat((a(), a()), 1),
}

REDUCTIONS = {
    **{f"{name} {where}": lambda name=name, make=make: getattr(make(), name)()
       for name in ("sum", "mean", "prod", "max", "argmax", "argmin", "norm", "var", "any", "count_nonzero")
       for where, make in (("row", row), ("matrix", a))},
    **{f"{name} {dim} {where}": lambda name=name, dim=dim, make=make: getattr(make(), name)(dim)
       for name in ("sum", "amax", "max", "argmin", "var", "logsumexp", "all") for dim in (0, 1)
       for where, make in (("matrix", a), ("tall", tall), ("transposed", lambda: a().t()))},
    "sum of half": lambda: row().half().sum(),
    "sum of int": lambda: (row() * 100).int().sum(),
    "sum of bool": lambda: (row() > 0).sum(),
    "sum of complex": lambda: torch.complex(row(), row()).sum(),
    "middle dimension": lambda: drawn(50, 100, 60).sum(1),
    "outer and inner": lambda: drawn(50, 100, 60).sum((0, 2)),
    "strided": lambda: a()[:, ::2].sum(1),
    "norm of order 3": lambda: row().norm(3),
}

ALONG = {
    **{f"{name} {dim}": lambda name=name, dim=dim: getattr(a(), name)(dim)
       for name in ("softmax", "log_softmax", "cumsum", "cumprod") for dim in (0, 1)},
    "softmax in the middle": lambda: drawn(40, 50, 60).softmax(1),
    "softmax of half": lambda: a().half().softmax(0),
    "softmax gradients": lambda: with_gradients(lambda x: x.softmax(1), a()),
    "topk": lambda: a().topk(7, 1),
    **{f"sort {dim}": lambda dim=dim: a().sort(dim, descending=bool(dim)) for dim in (0, 1)},
    "gather": lambda: [a().gather(d, numbers(900)) for d in (0, 1)],
    "scatter_add": lambda: [torch.zeros(700, 900).scatter_add(d, numbers(900), a()) for d in (0, 1)],
    "index_select": lambda: [a().index_select(d, numbers(900)[:, 0]) for d in (0, 1)],
    "boolean mask": lambda: [a()[a() > 0.3], row().double()[row() > -1], torch.arange(1_000_003)[row() > 2]],
    "index_add": lambda: [torch.zeros(700, 900).index_add(0, numbers(900)[:, 0], a()),
                          torch.zeros(700, 900).index_add(1, numbers(900)[0], a())],
    "embedding": lambda: with_gradients(lambda w: F.embedding(numbers(5), w), drawn(700, 90)),
}


def numbers(width):
    return torch.tensor(np.random.default_rng(3).integers(0, 700, (700, width)))


IMAGES = (8, 16, 24, 24)
LAYERS = {
    "conv1d": (lambda x, w: F.conv1d(x, w, padding=2), (4, 32, 400), (32, 32, 5)),
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, padding=1), IMAGES, (32, 16, 3, 3), (32,)),
    "conv2d, stride 2": (lambda x, w: F.conv2d(x, w, stride=2, padding=1), IMAGES, (32, 16, 3, 3)),
    "conv2d, one small image": (lambda x, w: F.conv2d(x, w, padding=1), (1, 128, 7, 7), (512, 128, 3, 3)),
    "conv2d, few channels": (lambda x, w: F.conv2d(x, w), (32, 1, 28, 28), (6, 1, 5, 5)),
    "conv2d, groups": (lambda x, w: F.conv2d(x, w, padding=1, groups=64), (4, 64, 28, 28), (64, 1, 3, 3)),
    "conv2d, groups, stride 2": (lambda x, w: F.conv2d(x, w, stride=2, groups=64), (4, 64, 28, 28), (64, 1, 5, 5)),
    "conv_transpose2d, few channels": (lambda x, w: F.conv_transpose2d(x, w, stride=2), (4, 32, 24, 24), (32, 3, 4, 4)),
    "conv3d": (F.conv3d, (2, 8, 12, 12, 12), (16, 8, 3, 3, 3)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2), (4, 32, 14, 14), (32, 16, 3, 3)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 3, 2, 1), IMAGES),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1), IMAGES),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, 5), IMAGES),
    "max_unpool2d": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), IMAGES),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (512,), w, b), (600, 512), (512,), (512,)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 4, w, b), (16, 32, 20, 20), (32,), (32,)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (16, 32, 20, 20), (32,), (32,)),
    "batch_norm of short runs": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (900, 70, 5), (70,), (70,)),
    "batch_norm of rows": (lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (4000, 64), (64,), (64,)),
    "mm of a big and a thin matrix": (torch.mm, (3001, 500), (500, 7)),
    "bmm of small matrices": (torch.bmm, (300, 8, 8), (300, 8, 8)),
    "bmm": (torch.bmm, (20, 40, 50), (20, 50, 60)),
}
EINSUMS = {
    "ij->j": ((500, 600),), "ij->i": ((500, 600),), "ij->": ((500, 600),), "ij->ji": ((500, 600),),
    "ijk->jk": ((50, 60, 70),), "ij,ij->ij": ((500, 600),) * 2, "ij,ij->i": ((500, 600),) * 2,
    "ij,ij->": ((500, 600),) * 2, "i,j->ij": ((500,), (600,)), "i,i->": ((300_000,),) * 2,
    "bij,bjk->bik": ((300, 8, 9), (300, 9, 10)), "bhid,bhjd->bhij": ((4, 4, 40, 30),) * 2,
    "bihd,bjhd->bhij": ((4, 40, 4, 30),) * 2,
    "bn,anm,bm->ba": ((30, 40), (32, 40, 50), (30, 50)),
    "abi,bci,cai->abc": ((40, 30, 20), (30, 20, 20), (20, 40, 20)), "bi,bi,bi->b": ((3000, 40),) * 3,
}


@pytest.mark.parametrize("name", POINTWISE)
def test_pointwise(name):
    same_bits(POINTWISE[name])


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name):
    same_bits(REDUCTIONS[name])


@pytest.mark.parametrize("name", ALONG)
def test_along_a_dimension(name):
    same_bits(ALONG[name])


@pytest.mark.parametrize("name", LAYERS)
def test_layers(name):
    """With their gradients, and near those of double precision."""
    f, *shapes = LAYERS[name]
    inputs = [drawn(*shape, seed=i) for i, shape in enumerate(shapes)]
    made = same_bits(lambda: with_gradients(f, *inputs))
    for x, exact in zip(made, with_gradients(f, *(x.double() for x in inputs))):
        assert (x.double() - exact).abs().max() <= 1e-4 * exact.abs().max()


@pytest.mark.parametrize("equation", EINSUMS)
def test_einsum(equation):
    shapes = EINSUMS[equation]
    inputs = [drawn(*shape, seed=i) for i, shape in enumerate(shapes)]
    (made,) = same_bits(lambda: torch.einsum(equation, *inputs))
    exact = np.einsum(equation, *(x.double().numpy() for x in inputs))
    assert np.abs(made.numpy() - exact).max() <= 1e-4 * np.abs(exact).max()
    same_bits(lambda: torch.einsum(equation, *((x * 10).long() for x in inputs)))
    same_bits(lambda: with_gradients(lambda *xs: torch.einsum(equation, *xs), *inputs))


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers(kind):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        layer = getattr(torch.nn, kind)(8, 24)
    same_bits(lambda: with_gradients(lambda x: layer(x)[0], drawn(3, 700, 8)))


@pytest.mark.parametrize("make", [
    lambda p: torch.optim.SGD([p], 0.1),
    lambda p: torch.optim.SGD([p], 0.1, momentum=0.9, nesterov=True, weight_decay=0.1),
    lambda p: torch.optim.Adam([p], amsgrad=True),
    lambda p: torch.optim.Adadelta([p]),
], ids=["SGD", "SGD with momentum", "Adam", "Adadelta"])
def test_steps(make):
    def steps():
        p = torch.nn.Parameter(a())
        optimizer = make(p)
        for _ in range(3):
            p.grad = p.detach() * 2 + 1
            optimizer.step()
        return p.detach()
    same_bits(steps)


def test_extremes_found_in_pieces():
    """The first of equals, and a NaN before everything, wherever the pieces end."""
    array = row().numpy().copy()
    array[[70_001, 500_000, 999_999]] = 9
    torch.set_num_threads(3)
    x = torch.from_numpy(array)
    assert x.argmax() == 70_001 and x.view(1, -1).max(1)[1] == 70_001 and x.argmin() == array.argmin()
    array[800_000] = np.nan
    assert x.argmax() == 800_000 and x.max().isnan() and x.argmin() == 800_000
    columns = tall()
    assert np.array_equal(columns.argmax(0).numpy(), columns.numpy().argmax(0))


def test_division_by_zero_in_any_piece():
    torch.set_num_threads(3)
    for place in (0, 499_999, 999_999):
        divisor = torch.ones(1_000_000, dtype=torch.int64)
        divisor[place] = 0
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            torch.ones(1_000_000, dtype=torch.int64) // divisor
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            torch.ones(1000, 1000, dtype=torch.int64).t() // divisor.view(1000, 1000)


def test_threads_of_the_program():
    """Several that compute at once; the pool works for one of them at a time."""
    torch.set_num_threads(3)
    x, expected, wrong = row(), row().numpy() * 2, []

    def work():
        for _ in range(20):
            if not np.array_equal((x + x).numpy(), expected):
                wrong.append(1)
    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert not wrong and not any(worker.is_alive() for worker in workers)


def in_child(queue):
    x = torch.ones(1_000_000)
    product = torch.ones(300, 300).mm(torch.ones(300, 300))
    queue.put((float((x + x).sum()), float(product.sum()), torch.get_num_threads()))


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_fork():
    """A child has none of its parent's threads, and starts its own."""
    torch.set_num_threads(3)
    row().exp()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=60) == (2e6, 300.0 ** 3, 3)
    child.join(60)
    assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_workers_of_a_loader_have_one_thread():
    class Numbers(torch.utils.data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.get_num_threads()

    torch.set_num_threads(2)
    batches = list(torch.utils.data.DataLoader(Numbers(), batch_size=2, num_workers=2))
    assert [batch.tolist() for batch in batches] == [[1, 1], [1, 1]]
    assert torch.get_num_threads() == 2


def run(code, **environment):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(code)], env={**os.environ, **environment}, timeout=100,
                          capture_output=True, text=True, check=True,
                          cwd=os.path.dirname(__file__)).stdout.split()      # not where the sources are found first


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_one_thread_is_one():
    """Neither the pool nor the BLAS starts threads where one is set."""
    code = """
        import os
        import shimtorch as torch
        x = torch.ones(2_000_000)
        y = (x + x).sum() + torch.ones(500, 500).mm(torch.ones(500, 500)).sum()
        print(torch.get_num_threads(), len(os.listdir("/proc/self/task")))
    """
    one = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
    assert run(code, **one) == ["1", "1"]
    threads, running = run(code, **{**one, "OMP_NUM_THREADS": "3"})
    assert (threads, running) == ("3", "3")


def test_environment_names_the_threads():
    from shimtorch._shim.environment import lines

    (line,) = (line for line in lines() if line.startswith("kernels"))
    assert line.endswith("with a pool of threads")
    assert torch.backends.openmp.is_available() is True
