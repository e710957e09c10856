"""Parametrized tensors, and modules called with other tensors than their own: recorded from PyTorch."""

import copy
import pickle
from importlib import import_module

from recorded import answer, grid

FUNCTIONS = {}


def case(function):
    FUNCTIONS[function.__name__] = function
    return function


def error(function, *args, **kwargs):
    try:
        return ["fine", function(*args, **kwargs)]
    except Exception as problem:
        return [type(problem).__name__, str(problem).replace("shimtorch.", "torch.")]


def tools(torch):
    return import_module(torch.__name__ + ".nn.utils.parametrize")


def ready(torch):
    return import_module(torch.__name__ + ".nn.utils.parametrizations")


def parts(torch):
    """Parametrizations, good and bad, by name."""
    Module = torch.nn.Module

    class Symmetric(Module):
        def forward(self, x):
            return x.triu() + x.triu(1).t()

        def right_inverse(self, x):
            return x.triu()

    class Exp(Module):
        def forward(self, x):
            return x.exp()

    class RankOne(Module):
        def forward(self, x, y):
            return x.unsqueeze(1) * y

        def right_inverse(self, z):
            return z[:, 0].clone(), z[0].clone()

    def made(**methods):
        return type("Bad", (Module,), methods)

    return {
        "Symmetric": Symmetric,
        "Exp": Exp,
        "RankOne": RankOne,
        "shape": made(forward=lambda self, x: x.sum()),
        "dtype": made(forward=lambda self, x: x.double()),
        "number": made(forward=lambda self, x: 3),
        "text back": made(forward=lambda self, x: x, right_inverse=lambda self, x: "a"),
        "dtype back": made(forward=lambda self, x: x, right_inverse=lambda self, x: x.double()),
        "tuple back": made(forward=lambda self, x: x, right_inverse=lambda self, x: (3,)),
        "number back": made(forward=lambda self, x: x, right_inverse=lambda self, x: 3),
    }


def linear(torch):
    module = torch.nn.Linear(3, 3)
    with torch.no_grad():
        module.weight.copy_(grid(torch, 3, 3))
        module.bias.copy_(grid(torch, 3, start=9))
    return module


@case
def one_parametrization(torch):
    p, known = tools(torch), parts(torch)
    module = linear(torch)
    weight = module.weight
    result = [p.register_parametrization(module, "weight", known["Symmetric"]()) is module]
    result += [repr(module), list(module.state_dict()), module.weight]
    result += [module.parametrizations.weight.original is weight, p.type_before_parametrizations(module).__name__]
    result += [type(module).__name__, type(module).__bases__[0].__name__]
    result += [error(pickle.dumps, module), type(copy.deepcopy(module)).__name__, copy.deepcopy(module).weight]
    module.weight = grid(torch, 3, 3, start=20)
    result += [module.weight, module.parametrizations.weight.original]
    with p.cached():
        result.append(module.weight is module.weight)
    result.append(module.weight is module.weight)
    module(grid(torch, 2, 3)).sum().backward()
    result.append(weight.grad)
    other = linear(torch)
    p.register_parametrization(other, "weight", known["Symmetric"]())
    result += [repr(other.load_state_dict(module.state_dict())), other.weight]
    p.remove_parametrizations(module, "weight")
    return [*result, repr(module), module.weight is weight, module.weight]


@case
def several_parametrizations(torch):
    p, known = tools(torch), parts(torch)
    module = linear(torch)
    p.register_parametrization(module, "weight", known["Symmetric"]())
    p.register_parametrization(module, "weight", known["Exp"]())
    p.register_parametrization(module, "bias", known["Exp"]())
    result = [repr(module), module.weight, module.bias, error(setattr, module, "weight", grid(torch, 3, 3))]
    other = linear(torch)
    p.transfer_parametrizations_and_params(module, other)
    result += [repr(other), other.weight, other.bias]
    p.remove_parametrizations(module, "weight", leave_parametrized=False)
    result += [repr(module), module.weight, p.is_parametrized(module), p.is_parametrized(module, "weight")]
    norm = torch.nn.BatchNorm1d(2)
    p.register_parametrization(norm, "running_mean", known["Exp"]())
    return [*result, repr(norm), list(norm.state_dict()), [name for name, _ in norm.named_buffers()], norm.running_mean]


@case
def several_tensors(torch):
    p, known = tools(torch), parts(torch)
    module = linear(torch)
    result = [error(p.register_parametrization, linear(torch), "weight", known["RankOne"]())[0]]
    p.register_parametrization(module, "weight", known["RankOne"](), unsafe=True)
    result += [repr(module), list(module.state_dict()), module.weight]
    module.weight = grid(torch, 3, 3, start=4)
    result += [module.weight, error(p.remove_parametrizations, module, "weight", leave_parametrized=False)]
    p.remove_parametrizations(module, "weight")
    result += [type(module.weight).__name__, module.weight, error(p.remove_parametrizations, module, "weight")]
    return result


@case
def wrong_parametrizations(torch):
    p, known = tools(torch), parts(torch)
    result = []
    for name, kind in known.items():
        plain, second = linear(torch), linear(torch)
        p.register_parametrization(second, "weight", known["Exp"]())
        for module in (plain, second):
            found = error(p.register_parametrization, module, "weight", kind())
            result.append([name, found[0] if found[0] == "fine" else found, p.is_parametrized(module, "weight")])
    result.append(error(p.register_parametrization, linear(torch), "foo", known["Exp"]()))
    return [*result, error(p.ParametrizationList, [], torch.ones(1))]


LAYERS = ("Linear(3, 4)", "Conv2d(2, 3, 2)", "ConvTranspose2d(2, 3, 2)")


@case
def normalised_weights(torch):
    ready_made, result = ready(torch), []
    for layer in LAYERS:
        for tool in ("spectral_norm", "weight_norm"):
            torch.manual_seed(1)
            module = eval("torch.nn." + layer)
            getattr(ready_made, tool)(module)
            result += [repr(module), list(module.state_dict()), module.weight, module.weight, module.eval().weight]
            module.weight.pow(3).sum().backward()
            result.append([p.grad for p in module.parameters()])
        torch.manual_seed(1)
        result.append(ready_made.weight_norm(eval("torch.nn." + layer), dim=None).parametrizations.weight.original0)
    for dim in (0, 1):
        old = torch.nn.utils.spectral_norm(linear(torch), dim=dim)
        state = old.state_dict()
        x = grid(torch, 3)
        del state["weight_v"], state._metadata[""]["spectral_norm"]
        state["weight"] = state["weight_orig"] / 1.7
        result += [repr(old.load_state_dict(state)), old.eval().weight_v, old(x)]
        del state["weight_u"]
        result.append(error(old.load_state_dict, state))
        torch.nn.utils.remove_spectral_norm(old)
        result += [len(old._state_dict_hooks), len(old._forward_pre_hooks)]
    norm = torch.nn.BatchNorm1d(3)
    ready_made.spectral_norm(norm)
    result += [list(norm.state_dict()), norm.weight]
    old = torch.nn.utils.weight_norm(linear(torch))
    new = ready_made.weight_norm(torch.nn.Linear(3, 3))
    result += [repr(new.load_state_dict(old.state_dict())), new.weight - old.weight]
    result += [torch.nn.utils.spectral_norm(torch.nn.ConvTranspose2d(2, 3, 2)).weight_u.shape[0]]
    for options in ({"n_power_iterations": 0}, {"dim": 3}, {"name": "x"}):
        result.append(error(ready_made.spectral_norm, linear(torch), **options))
    return result


@case
def orthogonal_weights(torch):
    orthogonal, result = ready(torch).orthogonal, []
    for layer in LAYERS:
        for kind in (None, "matrix_exp", "cayley", "householder"):
            for trivial in (True, False):
                torch.manual_seed(2)
                module = eval("torch.nn." + layer)
                orthogonal(module, orthogonal_map=kind, use_trivialization=trivial)
                result += [repr(module), list(module.state_dict()), module.weight]
                module.weight.pow(3).sum().backward()
                result.append(module.parametrizations.weight.original.grad)
                result.append(error(setattr, module, "weight", torch.randn(module.weight.shape)))
                result += [module.weight, error(setattr, module, "weight", torch.randn(3))]
    result.append(error(orthogonal, linear(torch), orthogonal_map="foo"))
    result += [error(orthogonal, linear(torch), "bias"), error(orthogonal, torch.nn.LayerNorm(2), "foo")]
    return result


@case
def functional_call(torch):
    call, result = torch.func.functional_call, []
    nn = torch.nn
    module = nn.Sequential(linear(torch), nn.BatchNorm1d(3))
    module.also = module[0].weight
    x = grid(torch, 4, 3)
    weight = grid(torch, 3, 3, start=5).requires_grad_()
    out = call(module, {"0.weight": weight}, x)
    out.pow(3).sum().backward()
    result += [out, weight.grad, module[0].weight.grad]
    buffers = {"1.num_batches_tracked": torch.tensor(4), "1.running_mean": torch.ones(3)}
    result += [call(module, (buffers, {"0.bias": torch.zeros(3)}), (x,)), buffers, module[1].num_batches_tracked]
    result += [call(module, {"also": weight}, x), call(module, {"also": weight}, x, tie_weights=False)]
    result.append(call(module[0], {}, None, {"input": x}))
    for given in ({"also": weight, "0.weight": x}, {"3.x": x}, {"": x}, {"0.weight": 3}, 3, [3], [{"a": x}, {"a": x}]):
        result.append(error(call, module, given, x))
    result.append(error(call, module, {"0.foo": x}, x, strict=True))
    result += [error(call, nn.DataParallel(module), {}, x), call(module, {"foo": x}, x), hasattr(module, "foo")]
    models = [linear(torch) for _ in range(3)]
    result.append(torch.func.stack_module_state(models))
    models[1].bias.requires_grad_(False)
    for wrong in ([], models, [models[0], nn.ReLU()], [models[0], linear(torch).eval()]):
        result.append(error(torch.func.stack_module_state, wrong))
    return result


CASES = list(FUNCTIONS)


def run(torch, name):
    """What a case gives under *torch*."""
    return answer(lambda: FUNCTIONS[name](torch))
