"""Graphs of any depth and width, passes in several threads, errors in the middle, memory that stays."""
import gc
import threading
import tracemalloc
import weakref

import pytest

pytestmark = pytest.mark.ours

DEEP = 100_000


def chain(x, n):
    for _ in range(n):
        x = x * 1
    return x


def test_a_deep_graph_is_run_and_freed(torch, leaf):
    x = leaf(1.0, 2.0)
    y = chain(x, DEEP)
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]
    del y


def test_a_deep_graph_is_freed_unused(torch, leaf):
    y = chain(leaf(1.0), DEEP)
    y = y * y
    node = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert node() is None


def test_a_deep_graph_held_by_saved_tensors_is_freed(torch, leaf):
    x = leaf(1.0)
    y = x
    for _ in range(DEEP):
        y = y * x
    y.backward()
    assert x.grad.item() == DEEP + 1
    del y


def test_a_deep_graph_of_writes_in_place(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * 1
    for _ in range(DEEP // 10):
        y.add_(x)
        y[0].mul_(1)
    y.sum().backward()
    assert x.grad.tolist() == [DEEP // 10 + 1] * 2


def test_a_deep_graph_of_user_defined_functions(torch, leaf):
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g

    x = leaf(1.0)
    y = x
    for _ in range(DEEP // 2):
        y = Step.apply(y)
    y.backward()
    assert x.grad.item() == 1
    y = Step.apply(chain(x, DEEP))
    del y


def test_gradients_by_inputs_of_a_deep_graph(torch, leaf):
    x, other = leaf(1.0), leaf(1.0)
    y = chain(x, DEEP)
    assert torch.autograd.grad(y + other, x)[0].item() == 1


def test_second_derivatives_of_a_deep_graph(torch, leaf):
    x = leaf(1.0)
    y = chain(x * x, DEEP // 10)
    g, = torch.autograd.grad(y, x, create_graph=True)
    g.backward()
    assert x.grad.item() == 2


def test_a_wide_graph(torch, leaf):
    x = leaf(1.0, dtype=torch.float64)
    total = torch.stack([x * i for i in range(20_000)]).sum() + sum(x.unsqueeze(0).expand(5_000).unbind())
    total.backward()
    assert x.grad.item() == sum(range(20_000)) + 5_000


def test_a_node_with_many_users_runs_once(torch, leaf):
    x, calls = leaf(1.0), []
    y = x * 2
    y.register_hook(lambda g: calls.append(g.item()))
    z = y
    for _ in range(2_000):
        z = z + y
    z.backward()
    assert calls == [2_001] and x.grad.item() == 4_002


def test_a_graph_that_doubles_at_every_step(torch, leaf):
    x = leaf(1.0)
    y = x
    for _ in range(60):
        y = y + y
    y.backward()
    assert x.grad.item() == 2.0 ** 60


def test_deep_graphs_with_hooks_on_leaves(torch, leaf):
    x, seen = leaf(1.0), []
    x.register_hook(lambda g: seen.append(g.item()))
    y = x
    for _ in range(5_000):
        y = y + x
    y.backward()
    assert seen == [5_001]


# threads ------------------------------------------------------------------------------------------------------------

def in_threads(n, run):
    errors = []

    def guarded(i):
        try:
            run(i)
        except BaseException as error:
            errors.append(error)
    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


def test_passes_in_several_threads(torch, leaf):
    def run(i):
        x = leaf(float(i), 2.0)
        for _ in range(200):
            y = x * 1
            y.register_hook(lambda g: g * 1)
            (y * y).sum().backward()
            assert x.grad.tolist() == [2 * i, 4]
            x.grad = None
            with torch.no_grad():
                assert not (x * 2).requires_grad
    in_threads(4, run)


def test_threads_that_share_a_leaf(torch, leaf):
    w = leaf(1.0, 2.0)

    def run(_):
        for _ in range(200):
            (w * 3).sum().backward()
    w.grad = torch.zeros(2)
    in_threads(4, run)
    assert w.grad.tolist() == [2400, 2400]


# errors -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("era", ["0.3", "modern"])
def test_errors_leave_the_state_of_the_thread_as_it_was(torch, era):
    class Fails(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, where):
            ctx.where = where
            if where == "forward":
                raise KeyError
            return x * 2

        @staticmethod
        def backward(ctx, g):
            if ctx.where == "backward":
                raise KeyError
            return g, None

    with torch.era(era):
        x = torch.autograd.Variable(torch.FloatTensor([1, 2]), requires_grad=True)
        for where in ("forward", "backward"):
            with pytest.raises(KeyError):
                Fails.apply(x, where).sum().backward()
        y = x * 2
        y.register_hook(lambda g: {}["no"])
        with pytest.raises(KeyError):
            y.sum().backward()
        with pytest.raises(KeyError):
            torch.autograd.grad(y.sum(), x, create_graph=True)
        for call in (lambda: x * "a", lambda: x.sum(7), lambda: x.view(5), lambda: torch.cat([x, 3]),
                     lambda: x.add_(1)):
            with pytest.raises((RuntimeError, TypeError, IndexError)):
                call()
        assert torch.is_grad_enabled()
        y = x * x
        assert y.requires_grad and type(y) is type(x)
        y.sum().backward()
        assert x.grad.data.tolist() == [2, 4]


def test_an_interrupted_pass_can_be_run_again(torch, leaf):
    x = leaf(1.0, 2.0)
    y = x * x
    z = y * 1
    handle = z.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        z.sum().backward(retain_graph=True)
    handle.remove()
    z.sum().backward()
    assert x.grad.tolist() == [2, 4]


# memory -------------------------------------------------------------------------------------------------------------

def grows(run, warm=200, times=2000):
    """How many bytes a run leaves behind, on average."""
    for _ in range(warm):
        run()
    gc.collect()
    tracemalloc.start()
    try:
        run()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(times):
            run()
        gc.collect()
        return (tracemalloc.get_traced_memory()[0] - before) / times
    finally:
        tracemalloc.stop()


def test_passes_leave_nothing_behind(torch, leaf):
    x, w = leaf(1.0, 2.0), leaf([[1.0, 2.0], [3.0, 4.0]])

    class Scale(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def run():
        y = Scale.apply(w @ x)
        y[0].mul_(2)
        h = y.register_hook(lambda g: g)
        torch.stack([y, y.exp()]).chunk(2)[0].sum().backward()
        h.remove()
        x.grad = None
        w.grad.zero_()
        g, = torch.autograd.grad((w * w).sum(), w, create_graph=True)
        torch.autograd.grad(g.sum(), w)
    assert grows(run) < 1


def test_errors_leave_nothing_behind(torch, leaf):
    x = leaf(1.0, 2.0)

    def run():
        y = x * x
        y.register_hook(lambda g: 1 / 0)
        for call in (y.sum().backward, lambda: x.add_(1), lambda: y.view(3), lambda: torch.autograd.grad(y, x)):
            try:
                call()
            except (ZeroDivisionError, RuntimeError):
                pass
    assert grows(run) < 1


@pytest.mark.slow
def test_memory_of_the_process_does_not_grow(torch, leaf):
    import resource
    x = leaf(*[float(i) for i in range(64)])

    def run(n):
        for _ in range(n):
            y = x * 2
            (y * y).sum().backward()
            x.grad = None
    run(20_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(200_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4 * 1024
