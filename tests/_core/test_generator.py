"""torch.Generator and the functions of torch.random."""

import copy
import subprocess
import sys
import threading

import pytest

import shimtorch as torch


def test_a_new_generator_starts_from_pytorchs_default_seed():
    generator = torch.Generator()
    assert generator.initial_seed() == 67280421310721
    assert torch.rand(1, generator=generator).item() == 0.267295241355896
    assert generator.device == torch.device("cpu") == torch.Generator(torch.device("cpu")).device


@pytest.mark.parametrize("seed, number", [
    (0, 0), (-1, 2**64 - 1), (-(2**63), 2**63), (2**64 - 1, 2**64 - 1), (True, 1),
])
def test_seeds(seed, number):
    generator = torch.Generator()
    assert generator.manual_seed(seed) is generator
    assert generator.initial_seed() == number


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_seeds_out_of_range(seed):
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.Generator().manual_seed(seed)
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.manual_seed(seed)
    with torch.era("1.1"), pytest.raises(RuntimeError, match="Overflow when unpacking long$"):
        torch.manual_seed(seed)


@pytest.mark.parametrize("seed, name", [(3.7, "float"), ("a", "str"), (None, "NoneType")])
def test_seeds_of_a_wrong_type(seed, name):
    with pytest.raises(RuntimeError, match=f"manual_seed expected a long, but got {name}"):
        torch.Generator().manual_seed(seed)


def test_module_functions():
    assert torch.manual_seed(3.7) is torch.default_generator is torch.random.default_generator
    assert torch.initial_seed() == 3
    state = torch.get_rng_state()
    assert state.dtype == torch.uint8 and state.shape == (5056,)
    first = torch.rand(5)
    torch.set_rng_state(state)
    assert torch.rand(5).tolist() == first.tolist()
    assert 0 <= torch.seed() < 2**53 and torch.seed() != torch.seed()


def test_fork_rng_restores_the_state():
    torch.manual_seed(1)
    with torch.random.fork_rng():
        inside = torch.rand(3)
    assert torch.rand(3).tolist() == inside.tolist()
    with torch.random.fork_rng(enabled=False):
        torch.rand(1)
    torch.manual_seed(1)
    assert torch.rand(4)[3].item() != torch.rand(1).item()


def test_state_keeps_the_waiting_normal():
    generator = torch.Generator().manual_seed(5)
    torch.randn(3, generator=generator)
    other = torch.Generator()
    assert other.set_state(generator.get_state()) is other
    clone, copied, deep = generator.clone_state(), copy.copy(generator), copy.deepcopy(generator)
    expected = torch.randn(3, generator=generator).tolist()
    for same in (other, clone, copied, deep):
        assert torch.randn(3, generator=same).tolist() == expected
        assert same.initial_seed() == 5


@pytest.mark.parametrize("state, error, message", [
    (lambda: torch.zeros(5056), TypeError, "RNG state must be a torch.ByteTensor"),
    (lambda: 5, TypeError, "expected a torch.ByteTensor, but got int"),
    (lambda: torch.zeros(3, dtype=torch.uint8), RuntimeError,
     "of size 5056 but found the input RNG state size to be 3"),
    (lambda: torch.zeros(5056, dtype=torch.uint8), RuntimeError, "Invalid mt19937 state"),
])
def test_bad_states(state, error, message):
    before = torch.get_rng_state()
    with pytest.raises(error, match=message):
        torch.set_rng_state(state())
    assert torch.get_rng_state().tolist() == before.tolist()


def test_what_the_cpu_does_not_have():
    for call in (lambda g: g.get_offset(), lambda g: g.set_offset(3)):
        with pytest.raises(RuntimeError, match="CPU Generator does not use offset"):
            call(torch.Generator())
    with pytest.raises(NotImplementedError, match="graphsafe_get_state"):
        torch.Generator().graphsafe_get_state()
    with pytest.raises(RuntimeError):
        torch.Generator("nowhere")


def test_repr_names_pytorchs_class():
    assert repr(torch.Generator()).startswith("<torch._C.Generator object at 0x")


def test_generator_arguments_are_checked():
    with pytest.raises(TypeError, match="argument 'generator' must be torch.Generator, not int"):
        torch.rand(2, generator=5)


def test_processes_start_from_different_seeds(tmp_path):
    code = "import shimtorch; print(shimtorch.initial_seed())"
    seeds = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                            cwd=tmp_path).stdout for _ in range(2)}
    assert len(seeds) == 2


def test_threads_share_a_generator():
    generator, drawn = torch.Generator().manual_seed(0), []
    threads = [threading.Thread(target=lambda: drawn.append(torch.rand(50_000, generator=generator))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = torch.rand(4, 50_000, generator=torch.Generator().manual_seed(0))
    assert sorted(x[0].item() for x in drawn) == sorted(expected[:, 0].tolist())
    assert sorted(x[-1].item() for x in drawn) == sorted(expected[:, -1].tolist())
