"""Contexts and decorators that set whether operations are recorded."""
import asyncio
import threading

import pytest


def recorded(torch):
    return torch.is_grad_enabled(), (torch.ones(1, requires_grad=True) * 2).requires_grad


def test_contexts(torch):
    assert recorded(torch) == (True, True)
    with torch.no_grad():
        assert recorded(torch) == (False, False)
        with torch.enable_grad():
            assert recorded(torch) == (True, True)
        assert recorded(torch) == (False, False)
    assert recorded(torch) == (True, True)


def test_leaves_may_be_made_without_recording(torch):
    with torch.no_grad():
        x = torch.ones(2, requires_grad=True)
        assert x.requires_grad and not (x * 2).requires_grad and x.detach().requires_grad_().requires_grad


def test_errors_end_a_context(torch):
    for context in (torch.no_grad(), torch.set_grad_enabled(False), torch.inference_mode()):
        with pytest.raises(ValueError), context:
            raise ValueError
        torch.set_grad_enabled(True)
        assert torch.is_grad_enabled()


def test_set_grad_enabled(torch):
    try:
        context = torch.set_grad_enabled(False)
        assert not torch.is_grad_enabled()
        with context:
            assert not torch.is_grad_enabled()
        assert torch.is_grad_enabled()
        with torch.set_grad_enabled(mode=False):
            with torch.set_grad_enabled(True):
                assert torch.is_grad_enabled()
            assert not torch.is_grad_enabled()
        assert repr(context) == "torch.autograd.grad_mode.set_grad_enabled(mode=False)"
    finally:
        torch.set_grad_enabled(True)
    with pytest.raises(TypeError):
        torch.set_grad_enabled()


@pytest.mark.ours
def test_one_context_entered_again(torch):
    context = torch.no_grad()
    with context:
        with torch.enable_grad(), context:
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()
    with pytest.raises(RuntimeError):
        context.__exit__(None, None, None)
    for _ in range(32):
        context.__enter__()
    with pytest.raises(RuntimeError):
        context.__enter__()
    for _ in range(32):
        context.__exit__(None, None, None)
    assert torch.is_grad_enabled()


def test_decorators(torch):
    @torch.no_grad()
    def without(x, *, y=2):
        """What it does."""
        return torch.is_grad_enabled(), x, y

    @torch.no_grad
    def bare():
        return torch.is_grad_enabled()

    @torch.set_grad_enabled(False)
    def set_off():
        return torch.is_grad_enabled()

    assert without(1, y=3) == (False, 1, 3) and without.__name__ == "without" and without.__doc__ == "What it does."
    assert bare() is False and set_off() is False and torch.is_grad_enabled()
    assert torch.enable_grad()(torch.is_grad_enabled)() is True
    with torch.no_grad():
        assert torch.enable_grad()(lambda: torch.is_grad_enabled())() is True


def test_decorated_methods_and_recursion(torch):
    class Tree:
        @torch.no_grad()
        def depth(self, n):
            assert not torch.is_grad_enabled()
            return 0 if n == 0 else 1 + self.depth(n - 1)

    assert Tree().depth(100) == 100 and torch.is_grad_enabled()


def test_generators_have_the_mode_while_their_body_runs(torch):
    @torch.no_grad()
    def generate(n):
        """Numbers."""
        for _ in range(n):
            try:
                sent = yield torch.is_grad_enabled()
            except KeyError:
                sent = "caught"
            assert not torch.is_grad_enabled()
        return sent

    items = generate(3)
    assert next(items) is False and torch.is_grad_enabled()
    assert items.send(5) is False and torch.is_grad_enabled()
    assert items.throw(KeyError()) is False and torch.is_grad_enabled()
    with pytest.raises(StopIteration) as stop:
        items.send(7)
    assert stop.value.value == 7 and torch.is_grad_enabled()


def test_a_generator_that_is_closed(torch):
    seen = []

    @torch.no_grad()
    def generate():
        try:
            yield 1
        finally:
            seen.append(torch.is_grad_enabled())

    items = generate()
    next(items)
    items.close()
    assert seen == [False] and torch.is_grad_enabled()


def test_a_coroutine_does_not_have_the_mode(torch):
    @torch.no_grad()
    async def run():
        return torch.is_grad_enabled()

    assert asyncio.run(run()) is True


def test_classes_are_decorated_with_a_warning(torch):
    with pytest.warns(FutureWarning, match="^Decorating classes is deprecated"):
        @torch.no_grad()
        class Thing:
            def __init__(self):
                self.mode = torch.is_grad_enabled()
    assert Thing().mode is False and torch.is_grad_enabled()


def test_inference_mode(torch):
    x = torch.ones(2, requires_grad=True)
    with torch.inference_mode():
        assert torch.is_inference_mode_enabled() and not torch.is_grad_enabled()
        y = x * 2
        with torch.inference_mode(False):
            assert not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
        assert torch.is_inference_mode_enabled()
    assert not y.requires_grad and not torch.is_inference_mode_enabled() and torch.is_grad_enabled()
    with torch.inference_mode(mode=False):
        assert torch.is_grad_enabled()

    @torch.inference_mode()
    def called():
        return torch.is_inference_mode_enabled(), torch.is_grad_enabled()

    @torch.inference_mode
    def bare():
        return torch.is_inference_mode_enabled()

    assert called() == (True, False) and bare() and torch.is_grad_enabled()


@pytest.mark.ours
def test_tensors_made_in_inference_mode_are_ordinary(torch):
    with torch.inference_mode():
        y = torch.ones(2)
    x = torch.ones(2, requires_grad=True)
    y.add_(1)
    (x * y).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_each_thread_has_its_own_mode(torch):
    seen = []
    with torch.no_grad():
        thread = threading.Thread(target=lambda: seen.append((torch.is_grad_enabled(), recorded(torch))))
        thread.start()
        thread.join()
    thread = threading.Thread(target=lambda: torch.set_grad_enabled(False))
    thread.start()
    thread.join()
    assert seen == [(True, (True, True))] and torch.is_grad_enabled()


def test_names(torch):
    from importlib import import_module
    module = import_module(torch.__name__ + ".autograd.grad_mode")
    assert module.no_grad is torch.no_grad is torch.autograd.no_grad
    assert module.enable_grad is torch.enable_grad and module.set_grad_enabled is torch.set_grad_enabled
    assert module.inference_mode is torch.inference_mode is torch.autograd.inference_mode
    with torch.autograd.set_multithreading_enabled(False):
        pass
