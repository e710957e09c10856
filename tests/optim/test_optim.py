"""Optimisers and schedules against recorded answers of PyTorch 2.13, and schedules of 1.1 and 1.0."""

import copy
import json
import warnings
from pathlib import Path

import optim_cases
import pytest
import schedule_cases
from recorded import difference

import shimtorch as torch

ANSWERS = Path(__file__).parents[1] / "answers"


def recorded(name, cases):
    answers = json.loads((ANSWERS / f"{name}.json").read_text(encoding="utf-8"))
    return pytest.mark.parametrize("case, expected", [(case, answers[case]) for case in cases])


def as_json(value):
    text = json.dumps(value).replace("shimtorch._tensor.Tensor", "torch.Tensor").replace("shimtorch.", "torch.")
    return json.loads(text)


ADVICE = ", please consider SparseAdam instead"      # PyTorch gives it for Adam alone


@recorded("optim_steps", optim_cases.CASES)
def test_steps(case, expected):
    answer = as_json(optim_cases.run(torch, case))
    if answer.get("message", "").endswith(ADVICE):
        answer["message"], expected = answer["message"].removesuffix(ADVICE), dict(expected)
        expected["message"] = expected["message"].removesuffix(ADVICE)
    assert difference(expected, answer) is None


def test_whoever_takes_no_sparse_gradients_names_who_does():
    for name in ("Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adadelta", "ASGD", "Rprop"):
        parameter = torch.nn.Parameter(torch.ones(4, 2))
        parameter.grad = torch.sparse_coo_tensor([[1, 1]], torch.ones(2, 2), (4, 2))
        with pytest.raises(RuntimeError, match="does not support sparse gradients, please consider SparseAdam instead"):
            getattr(torch.optim, name)([parameter], lr=0.1).step()


@recorded("optim_steps_1.1", optim_cases.OLD)
def test_steps_1_1(case, expected):
    with torch.era("1.1"):
        assert difference(expected, as_json(optim_cases.run(torch, case, steps_only=True))) is None


@recorded("optim_schedules", schedule_cases.CASES)
def test_schedule(case, expected):
    assert difference(expected, as_json(schedule_cases.run(torch, case))) is None


@recorded("optim_schedules_1.1", schedule_cases.OLD)
def test_schedule_1_1(case, expected):
    with torch.era("1.1"):
        answer = as_json(schedule_cases.run(torch, case, rates_only=True))
    assert difference(expected, answer) is None


@recorded("optim_schedules_1.0", schedule_cases.OLD)
def test_schedule_1_0(case, expected):
    with torch.era("1.0"):
        answer = as_json(schedule_cases.run(torch, case, scheduler_first=True, rates_only=True))
    assert difference(expected, answer) is None


def sgd(**options):
    return torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.5, **options)


def test_scheduler_before_optimizer_warns():
    scheduler = torch.optim.lr_scheduler.StepLR(sgd(), 3)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()


def test_scheduler_before_optimizer_is_silent_in_era_1_0():
    with torch.era("1.0"), warnings.catch_warnings():
        warnings.simplefilter("error")
        scheduler = torch.optim.lr_scheduler.StepLR(sgd(), 1)
        scheduler.step()
        assert scheduler.get_lr() == [0.5]
        scheduler.step()
        assert scheduler.get_lr() == [0.05]


def test_step_hooks_and_closure():
    log = []
    optimizer = sgd()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: log.append("before"))
    optimizer.register_step_post_hook(lambda o, args, kwargs: log.append("after"))
    assert optimizer.step(lambda: 5) == 5
    assert log == ["before", "after"]


def test_state_dict_hooks():
    log = []
    optimizer = sgd(momentum=0.9)
    optimizer.register_state_dict_pre_hook(lambda o: log.append("saving"))
    optimizer.register_state_dict_post_hook(lambda o, state: {**state, "more": 1})
    optimizer.register_load_state_dict_pre_hook(lambda o, state: log.append(sorted(state)))
    optimizer.register_load_state_dict_post_hook(lambda o: log.append("loaded"))
    optimizer.load_state_dict(optimizer.state_dict())
    assert log == ["saving", ["more", "param_groups", "state"], "loaded"]


def test_subclass_with_its_own_step_runs_hooks():
    class Mine(torch.optim.Optimizer):
        def step(self, closure=None):
            return "stepped"

    log = []
    optimizer = Mine([torch.zeros(1, requires_grad=True)], {"lr": 1})
    optimizer.register_step_pre_hook(lambda *args: log.append(1))
    assert optimizer.step() == "stepped" and log == [1]


def test_required_option():
    required = torch.optim.optimizer.required
    assert repr(required) == "<required parameter>"
    with pytest.raises(ValueError, match="didn't specify a value of required optimization parameter lr"):
        torch.optim.Optimizer([torch.zeros(1, requires_grad=True)], {"lr": required})


def test_state_with_plain_step_counts_loads():
    """PyTorch up to 1.11 kept the number of steps as a Python number."""
    optimizer = torch.optim.Adam([torch.zeros(2, requires_grad=True)])
    optimizer.param_groups[0]["params"][0].grad = torch.ones(2)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = 7
    for name in ("maximize", "foreach", "capturable", "fused", "decoupled_weight_decay"):
        state["param_groups"][0].pop(name)
    optimizer.load_state_dict(state)
    optimizer.step()
    assert float(optimizer.state_dict()["state"][0]["step"]) == 8
    assert optimizer.param_groups[0]["maximize"] is False


def test_legacy_plateau_order_of_arguments(capsys):
    optimizer = sgd()
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, "min", 0.1, 0, True, 1e-3)
    assert scheduler.threshold == 1e-3
    scheduler.step(1.0)
    scheduler.step(1.0)
    assert capsys.readouterr().out == "Epoch 00002: reducing learning rate of group 0 to 5.0000e-02.\n"


def test_what_verbose_schedules_print(capsys):
    optimizer = sgd()
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2, verbose=True)
    optimizer.step()
    scheduler.step()
    with pytest.warns(UserWarning, match="epoch parameter"):
        scheduler.step(5)
    restarts = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(sgd(), 2, verbose=True)
    restarts.step(0.5)
    assert capsys.readouterr().out.split("\n") == [
        "Adjusting learning rate of group 0 to 5.0000e-01.",
        "Adjusting learning rate of group 0 to 5.0000e-01.",
        "Epoch 00005: adjusting learning rate of group 0 to 5.0000e-03.",
        "Epoch 00000: adjusting learning rate of group 0 to 5.0000e-01.",
        "Epoch 0.50: adjusting learning rate of group 0 to 4.2678e-01.", ""]


def test_plateau_prints_as_1_1_did(capsys):
    with torch.era("1.1"):
        scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(sgd(), patience=0, verbose=True)
        scheduler.step(1.0)
        scheduler.step(1.0)
    assert capsys.readouterr().out == "Epoch     1: reducing learning rate of group 0 to 5.0000e-02.\n"


def test_zero_grad():
    optimizer = sgd()
    (parameter,) = optimizer.param_groups[0]["params"]
    parameter.grad = torch.ones(2)
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad.tolist() == [0, 0]
    optimizer.zero_grad()
    assert parameter.grad is None


def test_differentiable_is_refused():
    with pytest.raises(NotImplementedError, match="Adam\\(differentiable=True\\)"):
        torch.optim.Adam([torch.zeros(1, requires_grad=True)], differentiable=True)


@pytest.mark.parametrize("name", ["Adam", "Adagrad", "ASGD", "NAdam"])
def test_states_hold_numbers_before_1_12(name):
    parameter = torch.nn.Parameter(torch.ones(2))
    optimizer = getattr(torch.optim, name)([parameter], lr=0.1)
    parameter.grad = torch.ones(2)
    optimizer.step()
    with torch.era("1.1"):
        saved = optimizer.state_dict()
    assert type(saved["state"][0]["step"]) is int and saved["state"][0]["step"] == 1
    assert all(type(saved["state"][0].get(k, 0.0)) is float for k in ("eta", "mu", "mu_product"))
    again = getattr(torch.optim, name)([parameter], lr=0.1)
    again.load_state_dict(saved)
    assert again.state[parameter]["step"].item() == 1


def test_states_of_1_1_that_lack_what_came_later():
    """Adagrad had no eps, and L-BFGS left a list of None where the inverse products are."""
    first, second = torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.ones(2))

    def closure(p):
        p.grad = 2 * p.detach() * torch.tensor([1.0, 3.0])
        return (p.detach() ** 2 * torch.tensor([1.0, 3.0])).sum()
    kept, loaded = (torch.optim.LBFGS([p], lr=0.1, max_iter=3) for p in (first, second))
    kept.step(lambda: closure(first))
    saved = copy.deepcopy(kept.state_dict())
    saved["state"][0]["ro"] = [None] * 100
    second.data.copy_(first.data)
    loaded.load_state_dict(saved)
    for optimizer, p in ((kept, first), (loaded, second)):
        optimizer.step(lambda p=p: closure(p))
    assert torch.allclose(first, second)
    adagrad = torch.optim.Adagrad([first])
    group = {k: v for k, v in adagrad.state_dict()["param_groups"][0].items() if k != "eps"}
    adagrad.load_state_dict({"state": {}, "param_groups": [group]})
    assert adagrad.param_groups[0]["eps"] == 1e-10


ONE_PASS = [
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {"weight_decay": 0.1}),
    ("Adadelta", {"weight_decay": 0.1}),
    ("RMSprop", {"weight_decay": 0.1}),
    ("RMSprop", {"momentum": 0.9, "centered": True, "maximize": True}),
    ("Adagrad", {"lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adamax", {"weight_decay": 0.1}),
    ("NAdam", {"weight_decay": 0.1, "maximize": True}),
    ("NAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"weight_decay": 0.1, "lr": 0.1}),
    ("RAdam", {"weight_decay": 0.1, "decoupled_weight_decay": True, "maximize": True}),
    ("ASGD", {"weight_decay": 0.1, "t0": 2, "lambd": 0.1}),
    ("Rprop", {"maximize": True}),
]


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64))
@pytest.mark.parametrize("name, options", ONE_PASS)
def test_one_pass_does_what_tensor_ops_do(name, options, dtype):
    """A parameter in another order of memory is stepped by tensor ops."""
    torch.manual_seed(0)
    start = torch.randn(7, 5, dtype=dtype)
    quick, slow = start.clone().requires_grad_(), start.t().contiguous().t().requires_grad_()
    optimizers = [getattr(torch.optim, name)([p], **options) for p in (quick, slow)]
    for _ in range(8):
        gradient = torch.randn(7, 5, dtype=dtype)
        for p, optimizer in zip((quick, slow), optimizers, strict=True):
            p.grad = gradient.clone() if p is quick else gradient.t().contiguous().t()
            optimizer.step()
    assert quick.is_contiguous() and not slow.is_contiguous()
    torch.testing.assert_close(quick, slow, check_stride=False)
    for key, value in optimizers[0].state[quick].items():
        if isinstance(value, torch.Tensor):
            torch.testing.assert_close(value, optimizers[1].state[slow][key])


def many_parameters():
    """Parameters of all sizes, two types and orders of memory, one of them twice, two on the same memory."""
    sizes = [(10,), (), (0, 3), (300, 301), (7, 5)] * 2
    parameters = [torch.randn(size).to(dtype) for i, size in enumerate(sizes)
                  for dtype in (torch.float32, torch.float64)[i % 2:]]
    parameters += [torch.randn(6, 4).t(), torch.randn(40000), torch.randn(3, dtype=torch.float16)]
    whole = torch.randn(50000)
    parameters += [whole[:30000], whole[20000:], parameters[3]]
    return [p if p.requires_grad else p.requires_grad_() for p in parameters]


def steps_of(name, options, threads):
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        torch.manual_seed(0)
        parameters = many_parameters()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")            # of the parameter that is there twice
            optimizer = getattr(torch.optim, name)(parameters, **options)
        for step in range(4):
            for i, p in enumerate(parameters):
                p.grad = None if (i + step) % 5 == 0 else torch.randn(p.shape).to(p.dtype)
            optimizer.step()
        return parameters, optimizer
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name, options", ONE_PASS)
def test_one_pass_for_all_parameters(name, options):
    """The same numbers for any number of threads, also where parameters share memory."""
    (first, one), (second, two) = (steps_of(name, options, threads) for threads in (1, 3))
    for p, q in zip(first, second, strict=True):
        assert torch.equal(p, q) and p._version == q._version > 0
        assert all(torch.equal(torch.as_tensor(v), torch.as_tensor(two.state[q][k])) for k, v in one.state[p].items())


def test_one_pass_refuses_sparse_gradients_before_any_step():
    parameters = [torch.ones(3).requires_grad_(), torch.ones(2).requires_grad_()]
    optimizer = torch.optim.Adam(parameters)
    parameters[0].grad, parameters[1].grad = torch.ones(3), torch.ones(2).to_sparse()
    with pytest.raises(RuntimeError, match="Adam does not support sparse gradients"):
        optimizer.step()
    assert parameters[0].tolist() == [1, 1, 1] and optimizer.state[parameters[0]]["step"] == 0
