"""What modules do - hooks, state, registration, trees, containers - recorded from PyTorch.

Every case is a function of torch; containers are given by expressions on a container ``c``.
"""

import copy
import pickle
from collections import OrderedDict

from recorded import answer, grid

FUNCTIONS = {}


def case(function):
    FUNCTIONS[function.__name__] = function
    return function


def net(torch):
    torch.manual_seed(1)
    nn = torch.nn
    return nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def tree(torch):
    """A module that shares a child and a parameter."""
    nn = torch.nn
    shared = nn.Linear(2, 2)
    result = nn.Sequential(shared, nn.ModuleList([shared, nn.BatchNorm1d(2)]))
    result.p = shared.weight
    return result


def sums(grads):
    return [None if g is None else g.sum().item() for g in grads]


def error(function, *args, **kwargs):
    try:
        return ["fine", function(*args, **kwargs)]
    except Exception as problem:
        return [type(problem).__name__, str(problem).replace("shimtorch.", "torch.")]


class _Product:
    """Makes a module with one or two results of one or two arguments."""

    @staticmethod
    def make(torch, pair):
        class Product(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(3, 3)

            def forward(self, a, b=None):
                y = self.linear(a)
                y = y if b is None else y * b
                return (y, y * 2) if pair else y

        torch.manual_seed(1)
        return Product()


@case
def backward_hooks(torch):
    log = []
    for kind in ("full_backward_hook", "full_backward_pre_hook", "backward_hook"):
        for needs_grad, pair, second, change in (
            (True, False, False, False),
            (True, False, True, True),
            (True, True, True, False),
            (False, True, False, False),
        ):
            module = _Product.make(torch, pair)

            def hook(module, *grads, change=change, kind=kind):
                log.append([sums(g) for g in grads])
                if change and kind != "backward_hook":
                    return tuple(None if g is None else 2 * g for g in grads[0])

            if kind == "backward_hook":
                hook = lambda module, *grads: log.append(sums(grads[1]))  # noqa: E731
            getattr(module, "register_" + kind)(hook)
            x = grid(torch, 2, 3).requires_grad_(needs_grad)
            out = module(x, torch.ones(2, 3)) if second else module(x)
            (out[0] if pair else out).sum().backward()
            log.append([x.grad, module.linear.weight.grad])
    return log


@case
def forward_hooks(torch):
    log = []
    module = _Product.make(torch, False)
    module.register_forward_pre_hook(lambda m, args: (args[0] * 2, *args[1:]))
    module.register_forward_pre_hook(lambda m, args, kwargs: log.append(sorted(kwargs)), with_kwargs=True)
    module.register_forward_hook(lambda m, args, out: out + 1)
    handle = module.register_forward_hook(lambda m, args, kwargs, out: log.append(len(args)), with_kwargs=True)
    module.register_forward_hook(lambda *args: log.append("first"), prepend=True)
    x = grid(torch, 2, 3)
    results = [module(x), module(x, b=torch.ones(2, 3) * 3)]
    handle.remove()
    handle.remove()
    results.append(module(x))
    return log, results


@case
def global_hooks(torch):
    log = []
    registry = torch.nn.modules.module
    handles = [
        registry.register_module_forward_hook(lambda m, *args: log.append("after " + type(m).__name__)),
        registry.register_module_forward_pre_hook(lambda m, *args: log.append("before " + type(m).__name__)),
        registry.register_module_full_backward_hook(lambda m, *args: log.append("back " + type(m).__name__)),
    ]
    try:
        net(torch)(grid(torch, 2, 3).requires_grad_()).sum().backward()
    finally:
        for handle in handles:
            handle.remove()
    net(torch)(grid(torch, 2, 3))
    return log


@case
def hook_errors(torch):
    nn = torch.nn

    class Failing(nn.Module):
        def forward(self, x):
            raise ValueError("no")

    log = []
    failing = Failing()
    failing.register_forward_hook(lambda m, args, out: log.append(out), always_call=True)
    failing.register_forward_hook(lambda m, args, out: log.append("not called"))
    both = nn.Linear(3, 3)
    both.register_backward_hook(lambda *args: None)
    wrong = nn.Linear(3, 3)
    wrong.register_full_backward_hook(lambda m, gi, go: (1, 2, 3))
    pair = nn.Linear(3, 3)
    pair.register_forward_pre_hook(lambda m, a, k: 3, with_kwargs=True)
    x = grid(torch, 2, 3).requires_grad_()
    return [
        error(failing, x),
        log,
        error(both.register_full_backward_hook, None),
        error(lambda: wrong(x).sum().backward()),
        error(pair, x),
        error(nn.Module(), x),
    ]


@case
def state_dict(torch):
    module = tree(torch)
    state = module.state_dict()
    kept = module.state_dict(keep_vars=True)
    return {
        "keys": list(state),
        "metadata": state._metadata,
        "prefix": list(module.state_dict(prefix="a.")),
        "kept": kept["0.weight"] is module[0].weight,
        "requires_grad": [state["0.weight"].requires_grad, kept["0.weight"].requires_grad],
    }


@case
def load_state_dict(torch):
    def load(change, strict=True, assign=False, make=net):
        module = make(torch)
        state = module.state_dict()
        state = change(state) or state
        outcome = error(lambda: repr(module.load_state_dict(state, strict, assign)))
        return [outcome, next(iter(module.parameters())).sum().item()]

    def norm(torch):
        return torch.nn.Sequential(torch.nn.BatchNorm1d(3))

    z = torch.zeros
    return [
        load(lambda s: None),
        load(lambda s: OrderedDict((k, v * 2) for k, v in s.items())),
        load(lambda s: OrderedDict((k, v * 2) for k, v in s.items()), assign=True),
        load(lambda s: s.pop("0.weight") and None if False else s.__delitem__("0.weight")),
        load(lambda s: s.__delitem__("0.weight"), strict=False),
        load(lambda s: s.update({"q": z(1), "9.w": z(1), "0.weightx": z(1)})),
        load(lambda s: s.update({"0.weight": z(2, 2), "q": z(1)})),
        load(lambda s: s.update({"0.weight": 3})),
        load(lambda s: [1]),
        load(lambda s: s.update({"0.weight": z(4, 3, dtype=torch.float64)})),
        load(lambda s: OrderedDict((k, v) for k, v in s.items() if "num" not in k), make=norm),
        load(lambda s: s.__delitem__("0.num_batches_tracked"), make=norm),
        load(lambda s: s.update({"0.num_batches_tracked": torch.tensor([5])}), make=norm),
    ]


@case
def state_hooks(torch):
    log = []
    n = net(torch)
    n[0]._register_state_dict_hook(lambda m, s, p, md: log.append([p, len(s), dict(md)]))
    n[0].register_state_dict_pre_hook(lambda m, p, keep: log.append([p, keep]))
    n.register_state_dict_post_hook(lambda m, s, p, md: log.append("post"))
    n[2].register_load_state_dict_pre_hook(lambda m, s, p, *rest: log.append([type(m).__name__, p, len(s)]))
    n[2]._register_load_state_dict_pre_hook(lambda s, p, *rest: log.append([p, len(s)]))
    n.register_load_state_dict_post_hook(lambda m, keys: log.append(repr(keys)))
    n.load_state_dict(n.state_dict())
    return log


@case
def extra_state(torch):
    class Extra(torch.nn.Module):
        def get_extra_state(self):
            return 5

        def set_extra_state(self, state):
            self.got = state

    module = torch.nn.Sequential(Extra())
    state = module.state_dict()
    module.load_state_dict(state)
    other = net(torch)
    return [
        list(state.items()),
        module[0].got,
        error(module.load_state_dict, {}),
        error(other.load_state_dict, {**other.state_dict(), "0._extra_state": 3}),
    ]


@case
def assignment(torch):
    nn = torch.nn
    values = {
        "parameter": lambda: nn.Parameter(torch.zeros(2)),
        "tensor": lambda: torch.zeros(2),
        "module": lambda: nn.Tanh(),
        "buffer": lambda: nn.Buffer(torch.zeros(2)),
        "passing buffer": lambda: nn.Buffer(torch.zeros(2), persistent=False),
        "number": lambda: 3,
        "nothing": lambda: None,
    }
    results = []
    for first, make_first in values.items():
        for second, make_second in values.items():
            module = nn.Module()
            module.a = make_first()
            outcome = error(setattr, module, "a", make_second())
            places = [
                name
                for name in ("_parameters", "_buffers", "_modules", "_non_persistent_buffers_set")
                if "a" in getattr(module, name)
            ]
            results.append([first, second, outcome, places, "a" in module.__dict__])
    return results


@case
def registration_errors(torch):
    nn = torch.nn
    z = torch.zeros(2)
    results = []
    for name in ("a.b", "", 3, "forward"):
        for method, value in (("register_buffer", z), ("register_parameter", None), ("add_module", None)):
            results.append(error(getattr(nn.Module(), method), name, value))
    product = nn.Parameter(z) * 2
    results += [
        error(nn.Module().register_buffer, "a", 3),
        error(nn.Module().register_parameter, "a", z),
        error(nn.Module().register_parameter, "a", product),
        error(nn.Module().add_module, "a", z),
        error(nn.Module().add_module, "a", int),
        error(nn.Module, 3),
        error(nn.Module, a=3),
        error(getattr, nn.Module(), "foo"),
        error(delattr, nn.Module(), "foo"),
    ]

    class Bare(nn.Module):
        def __init__(self):
            pass

    for value in (nn.Parameter(z), nn.Tanh()):
        results.append(error(setattr, Bare(), "a", value))
    results.append(error(Bare().register_buffer, "a", z))
    results.append(error(Bare().register_parameter, "a", None))
    results.append(error(getattr, Bare(), "a"))
    return results


@case
def iterators(torch):
    module = tree(torch)
    return {
        "parameters": [
            [name for name, _ in module.named_parameters(**options)]
            for options in ({}, {"prefix": "z"}, {"recurse": False}, {"remove_duplicate": False})
        ],
        "buffers": [name for name, _ in module.named_buffers()],
        "modules": [name for name, _ in module.named_modules()],
        "all": [name for name, _ in module.named_modules(prefix="q", remove_duplicate=False)],
        "children": [name for name, _ in module.named_children()],
        "counts": [len(list(f())) for f in (module.modules, module.children, module.parameters, module.buffers)],
    }


@case
def submodules(torch):
    results = []
    for target in ("", "1.1", "1", "0.weight", "9", "1.1.running_mean", "p"):
        module = tree(torch)
        results.append(error(lambda m=module, t=target: type(m.get_submodule(t)).__name__))
        results.append(error(lambda m=module, t=target: list(m.get_parameter(t).shape)))
        results.append(error(lambda m=module, t=target: list(m.get_buffer(t).shape)))
        results.append(error(module.set_submodule, target, torch.nn.Tanh()))
        results.append(error(module.set_submodule, target, torch.nn.Tanh(), strict=True))
        results.append(repr(module))
    return results


@case
def conversion(torch):
    results = []
    for convert in (
        lambda m: m.double(),
        lambda m: m.half(),
        lambda m: m.to(torch.float64),
        lambda m: m.to("cpu", torch.float16),
        lambda m: m.to(torch.zeros(1, dtype=torch.float64)),
        lambda m: m.to(dtype=torch.float64, device="cpu"),
        lambda m: m.type(torch.float64),
        lambda m: m.cpu(),
        lambda m: m.to(torch.int32),
        lambda m: m.to(3, 4, 5, 6),
        lambda m: m.to(x=3),
        lambda m: m.float(),
    ):
        module = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
        weight = module[0].weight
        module(grid(torch, 3, 2)).sum().backward()
        outcome = error(lambda f=convert, m=module: f(m) is m)
        dtypes = [[str(p.dtype), str(p.grad.dtype)] for p in module.parameters()]
        results.append([outcome, module[0].weight is weight, dtypes, [str(b.dtype) for b in module.buffers()]])
    return results


@case
def modes(torch):
    module = net(torch)
    visited = []
    module.apply(lambda m: visited.append(type(m).__name__))
    module(grid(torch, 2, 3)).sum().backward()
    module.zero_grad(set_to_none=False)
    zeros = [p.grad for p in module.parameters()]
    module.zero_grad(set_to_none=True)
    return [
        visited,
        [m.training for m in module.eval().modules()],
        [m.training for m in module.train().modules()],
        error(module.train, 3),
        [p.requires_grad for p in module.requires_grad_(False).parameters()],
        zeros,
        [p.grad is None for p in module.parameters()],
    ]


@case
def copies(torch):
    module = net(torch)
    module[0].weight.grad = torch.ones(4, 3)
    copied = copy.deepcopy(module)
    loaded = pickle.loads(pickle.dumps(module))
    x = grid(torch, 2, 3)
    return [
        [type(m[0].weight).__name__, m[0].weight is module[0].weight, m[0].weight.requires_grad, m(x)]
        for m in (copied, loaded)
    ]


@case
def parameters(torch):
    nn = torch.nn

    class Special(torch.Tensor):
        pass

    special = nn.Parameter(torch.ones(2).as_subclass(Special))
    parameter = nn.Parameter(torch.ones(2))
    return [
        repr(nn.Parameter()),
        repr(nn.Parameter(torch.ones(2), requires_grad=False)),
        repr(parameter),
        [isinstance(parameter, torch.Tensor), isinstance(torch.ones(1), nn.Parameter)],
        [type(parameter * 2).__name__, type(parameter.data).__name__, type(copy.deepcopy(parameter)).__name__],
        [type(special).__name__, isinstance(special, nn.Parameter)],
        [isinstance(nn.Buffer(), nn.Buffer), isinstance(parameter, nn.Buffer), nn.Buffer().persistent],
    ]


@case
def utilities(torch):
    utils = torch.nn.utils
    results = []
    for use in (
        lambda m: utils.clip_grad_norm_(m.parameters(), 0.5),
        lambda m: utils.clip_grad_norm_(m.parameters(), 100),
        lambda m: utils.clip_grad_norm_(m[0].weight, 0.5, 1),
        lambda m: utils.clip_grad_norm_(m.parameters(), 0.5, float("inf")),
        lambda m: utils.clip_grad_norm(m.parameters(), 0.5),
        lambda m: utils.clip_grad_value_(m.parameters(), 0.1),
        lambda m: utils.clip_grad_norm_([], 1),
        lambda m: utils.parameters_to_vector(m.parameters()),
        lambda m: utils.vector_to_parameters(grid(torch, 26), m.parameters()),
        lambda m: utils.vector_to_parameters(3, m.parameters()),
        lambda m: list(utils.weight_norm(m[0]).state_dict()),
        lambda m: list(utils.remove_weight_norm(utils.weight_norm(m[0], dim=None)).state_dict()),
        lambda m: utils.weight_norm(utils.weight_norm(m[0])),
        lambda m: utils.remove_weight_norm(m[0]),
        lambda m: list(utils.spectral_norm(m[0]).state_dict()),
        lambda m: list(utils.remove_spectral_norm(utils.spectral_norm(m[0])).state_dict()),
    ):
        module = net(torch)
        module(grid(torch, 2, 3)).pow(2).sum().backward()
        outcome = error(use, module)
        results.append([outcome, [p.grad for p in module.parameters()], module(grid(torch, 2, 3))])
    return results


CONTAINERS = {
    "nn.Sequential(*[nn.Linear(i + 1, i + 1) for i in range(3)])": """
c[1]; c[-1]; c[5]; c[1:]; c["a"]; len(c); c.__setitem__(1, nn.Tanh()); c.__delitem__(0); c.__delitem__(slice(0, 2))
c.append(nn.Tanh()); c.extend([nn.Tanh(), nn.ReLU()]); c.insert(1, nn.Tanh()); c.insert(-1, nn.Tanh()); c.pop(1)
c + nn.Sequential(nn.Tanh()); c + 3; c * 2; c * 0; c * "a"; 2 * c; c.extend(3); c.insert(9, nn.Tanh()); c.insert(0, 3)
[type(m).__name__ for m in c]; c.__iadd__(nn.Sequential(nn.Tanh())); c.__iadd__(3); c.__imul__(2); c.append(3)
c.__setitem__(1, 3); nn.Sequential(); nn.Sequential(OrderedDict(a=nn.Tanh(), b=nn.ReLU())); nn.Sequential(3)
""",
    "nn.ModuleList([nn.Linear(i + 1, i + 1) for i in range(3)])": """
c[1]; c[-1]; c[5]; c[1:]; len(c); c.__setitem__(1, nn.Tanh()); c.__delitem__(0); c.__delitem__(slice(0, 2))
c.append(nn.Tanh()); c.extend([nn.Tanh()]); c.insert(1, nn.Tanh()); c.pop(1); c + [nn.Tanh()]; c.extend(3)
c.__iadd__([nn.Tanh()]); [type(m).__name__ for m in c]; c(1); nn.ModuleList(); nn.ModuleList([nn.Tanh()] * 3)
""",
    'nn.ModuleDict({"a": nn.Tanh(), "b": nn.Linear(1, 1)})': """
c["a"]; c["z"]; c.__setitem__("c", nn.ReLU()); c.__delitem__("a"); len(c); list(c); "a" in c; c.clear(); c.pop("a")
list(c.keys()); list(c.items()); list(c.values()); c.update([("x", nn.Tanh())]); c.update(3); c.update([3])
c.update([(1, 2, 3)]); c.update({"forward": nn.Tanh()})
""",
    "nn.ParameterList([torch.zeros(2), nn.Parameter(torch.ones(1, 3))])": """
c[0]; c[-1]; c[7]; c[:1]; len(c); list(c); c.append(torch.ones(1)); c.append("s"); c.extend(3); c(1)
c.extend(torch.zeros(2)); c.__iadd__([torch.ones(1)]); c.__setitem__(0, torch.ones(3)); list(c.state_dict())
nn.ParameterList([torch.zeros(1)]); nn.ParameterList()
""",
    'nn.ParameterDict({"b": torch.zeros(2), "a": nn.Parameter(torch.ones(1, 3))})': """
c["a"]; c["z"]; c[3]; c.__setitem__("c", torch.ones(1)); c.__delitem__("a"); len(c); list(c); list(reversed(c))
c.copy(); "a" in c; c.setdefault("q"); c.clear(); c.pop("a"); c.popitem(); c.get("z", 5); c.fromkeys(["x"], 3)
list(c.keys()); list(c.items()); list(c.values()); c.update(OrderedDict(z=torch.ones(1))); c.update(3); c.update([3])
c.update([(1, 2, 3)]); c | c; c(3)
""",
}


def _container(torch, source, expressions):
    results = []
    for expression in expressions.strip().replace("\n", "; ").split("; "):
        namespace = {"torch": torch, "nn": torch.nn, "OrderedDict": OrderedDict}
        namespace["c"] = eval(source, namespace)
        outcome = error(lambda e=expression, n=namespace: repr(eval(e, n)).replace("shimtorch.", "torch."))
        results.append([expression, outcome, repr(namespace["c"])])
    return results


CASES = [*FUNCTIONS, *CONTAINERS]


def run(torch, name):
    """What one case gives."""
    if name in FUNCTIONS:
        return answer(lambda: FUNCTIONS[name](torch))
    return answer(lambda: _container(torch, name, CONTAINERS[name]))
