"""The statements of the frequently asked questions (the page of 0.4), one test each."""

import importlib
import weakref

import numpy
import pytest

pytestmark = pytest.mark.filterwarnings("ignore")  # deprecations of the later versions are theirs to give
FAQ = pytest.mark.eras("0.4", "1.0", "1.1", "1.11", "modern")


def history_length(tensor):
    """The longest chain of nodes from a tensor's grad_fn towards its leaves."""
    depth, level = 0, {tensor.grad_fn} - {None}
    while level:
        depth += 1
        level = {parent for node in level for parent, _ in node.next_functions if parent is not None}
    return depth


def training(torch, accumulate, steps=10):
    """The training loop of the page; `accumulate(total, loss)` is its last line."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], lr=0.01)
    total = 0
    for _ in range(steps):
        optimizer.zero_grad()
        loss = ((weight * torch.ones(3)) ** 2).sum()
        loss.backward()
        optimizer.step()
        total = accumulate(total, loss)
    return total


# history across the training loop -----------------------------------------------------------------------------------


@FAQ
def test_computations_with_variables_that_require_grad_keep_history(torch):
    short, long = (training(torch, lambda total, loss: total + loss, steps) for steps in (5, 10))
    assert short.requires_grad and long.requires_grad
    assert history_length(long) == history_length(short) + 5


@FAQ
def test_float_of_the_loss_keeps_no_history(torch):
    total = training(torch, lambda total, loss: total + float(loss))
    assert type(total) is float
    assert total == pytest.approx(float(training(torch, lambda total, loss: total + loss)), rel=1e-6)


@FAQ
def test_detaching_keeps_no_history(torch):
    total = training(torch, lambda total, loss: total + loss.detach())
    assert not total.requires_grad and total.grad_fn is None


@FAQ
def test_underlying_data_keeps_no_history(torch):
    total = training(torch, lambda total, loss: total + loss.data)
    assert not total.requires_grad and total.grad_fn is None


# what is kept alive -------------------------------------------------------------------------------------------------


@FAQ
def test_del_frees_a_local_tensor(torch):
    x = torch.ones(10)
    alive = weakref.ref(x)
    del x
    assert alive() is None


@FAQ
def test_an_intermediate_of_a_loop_stays_alive_until_deleted(torch):
    def run(delete):
        result = torch.zeros(1)
        for i in range(3):
            intermediate = torch.ones(4) * i
            result += intermediate.sum()
        alive = weakref.ref(intermediate)
        if delete:
            del intermediate
        return alive() is not None

    assert run(delete=False)
    assert not run(delete=True)


@FAQ
def test_a_member_keeps_a_tensor_alive_as_long_as_its_object(torch):
    class Holder:
        pass

    holder = Holder()
    holder.tensor = torch.ones(10)
    alive = weakref.ref(holder.tensor)
    assert alive() is not None
    del holder
    assert alive() is None


@FAQ
def test_a_graph_is_freed_with_its_last_result(torch):
    x = torch.ones(3, requires_grad=True)
    y = (x * 2).exp()
    alive = weakref.ref(y)
    z = (y * y).sum()
    del y, z
    assert alive() is None


@FAQ
def test_truncated_backpropagation_stops_at_a_detached_state(torch):
    cell = torch.nn.RNNCell(2, 3)
    first, second = torch.ones(1, 2, requires_grad=True), torch.ones(1, 2, requires_grad=True)
    state = cell(first, torch.zeros(1, 3))
    kept = history_length(cell(second, state))
    state = state.detach()
    output = cell(second, state)
    assert history_length(output) < kept
    output.sum().backward()
    assert first.grad is None and second.grad is not None


@FAQ
def test_history_of_a_recurrent_network_grows_with_the_sequence(torch):
    cell = torch.nn.RNNCell(2, 3)

    def length(steps):
        state = torch.zeros(1, 3)
        for _ in range(steps):
            state = cell(torch.ones(1, 2), state)
        return history_length(state)

    assert length(9) - length(6) == length(6) - length(3) > 0


@FAQ
def test_a_linear_layer_holds_n_times_m_weights_and_as_many_gradients(torch):
    layer = torch.nn.Linear(30, 20)
    layer(torch.ones(1, 30)).sum().backward()
    assert layer.weight.numel() == layer.weight.grad.numel() == 30 * 20
    assert sum(p.numel() for p in layer.parameters()) == 30 * 20 + 20


@FAQ
def test_emptying_the_cache_of_the_allocator_is_always_allowed(torch):
    assert torch.cuda.is_available() in (True, False)
    assert torch.cuda.empty_cache() is None


# workers of a data loader -------------------------------------------------------------------------------------------


class FromNumpy:
    """A data set that draws with another library's generator."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return int(numpy.random.randint(1 << 30))


def seed_alike(worker_id):
    numpy.random.seed(0)


def seed_by_worker(worker_id):
    numpy.random.seed(100 + worker_id)


def data_loader(torch, worker_init_fn):
    data = importlib.import_module(torch.__name__ + ".utils.data")
    return data.DataLoader(FromNumpy(), batch_size=2, num_workers=2, worker_init_fn=worker_init_fn)


@FAQ
def test_workers_seeded_alike_return_identical_random_numbers(torch):
    first, second = (batch.tolist() for batch in data_loader(torch, seed_alike))
    assert first == second


@FAQ
def test_worker_init_fn_sets_the_seed_of_each_worker(torch):
    got = [batch.tolist() for batch in data_loader(torch, seed_by_worker)]
    want = [numpy.random.RandomState(100 + worker).randint(1 << 30, size=2).tolist() for worker in (0, 1)]
    assert got == want


# recurrent networks and data parallelism ----------------------------------------------------------------------------


def my_module(torch, total=True):
    """The page's module; with total=False it pads up to the longest sequence that it sees."""
    rnn = torch.nn.utils.rnn

    class MyModule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.my_lstm = torch.nn.LSTM(4, 6, batch_first=True)

        def forward(self, padded_input, input_lengths):
            total_length = padded_input.size(1) if total else None
            packed_input = rnn.pack_padded_sequence(padded_input, input_lengths, batch_first=True)
            packed_output, _ = self.my_lstm(packed_input)
            output, _ = rnn.pad_packed_sequence(packed_output, batch_first=True, total_length=total_length)
            return output

    return MyModule()


@FAQ
def test_pad_packed_sequence_pads_up_to_the_longest_input_by_default(torch):
    assert my_module(torch, total=False)(torch.ones(3, 7, 4), [5, 3, 2]).shape == (3, 5, 6)


@FAQ
def test_total_length_makes_sequences_of_the_same_length(torch):
    output = my_module(torch)(torch.ones(3, 7, 4), [5, 3, 2])
    assert output.shape == (3, 7, 6)
    assert output[0, 5:].abs().sum().item() == 0 and output[2, 2:].abs().sum().item() == 0
    assert output[0, 4].abs().sum().item() > 0


@FAQ
def test_parts_of_a_batch_can_be_gathered_only_with_total_length(torch):
    x, lengths = torch.ones(4, 7, 4), [7, 5, 3, 2]
    whole = my_module(torch)
    parts = [whole(x[:2], lengths[:2]), whole(x[2:], lengths[2:])]
    assert (torch.cat(parts) - whole(x, lengths)).abs().max().item() < 1e-6
    short = my_module(torch, total=False)
    with pytest.raises(RuntimeError, match="[Ss]izes of tensors must match"):
        torch.cat([short(x[:2], lengths[:2]), short(x[2:], lengths[2:])])


@FAQ
def test_a_total_length_below_the_longest_sequence_is_an_error(torch):
    rnn = torch.nn.utils.rnn
    packed = rnn.pack_padded_sequence(torch.ones(2, 5, 1), [5, 3], batch_first=True)
    with pytest.raises(ValueError, match="total_length"):
        rnn.pad_packed_sequence(packed, batch_first=True, total_length=4)


@FAQ
def test_data_parallel_without_devices_runs_the_module_itself(torch):
    if torch.cuda.is_available():
        pytest.skip("a machine without a GPU is meant")
    module = my_module(torch)
    parallel = torch.nn.DataParallel(module)
    x, lengths = torch.ones(3, 7, 4), [5, 3, 2]
    assert parallel(x, lengths).tolist() == module(x, lengths).tolist()


@FAQ
def test_batch_is_dimension_one_without_batch_first(torch):
    rnn = torch.nn.utils.rnn
    packed = rnn.pack_padded_sequence(torch.ones(7, 3, 4), [5, 3, 2])
    output, lengths = rnn.pad_packed_sequence(packed, total_length=7)
    assert output.shape == (7, 3, 4)
    assert list(lengths) == [5, 3, 2]
