"""Layers that learn their size from the first input, and parameters without a shape: recorded from PyTorch."""

import copy
import pickle

from recorded import answer, grid

FUNCTIONS = {}
LAYERS = {
    "LazyLinear(3)": (2, 4),
    "LazyLinear(3, bias=False)": (4,),
    "LazyConv1d(4, 2, stride=2)": (1, 2, 6),
    "LazyConv2d(4, 2, groups=2, padding=1)": (2, 5, 5),
    "LazyConv3d(2, 2, bias=False)": (1, 2, 3, 3, 3),
    "LazyConvTranspose1d(4, 2)": (1, 2, 6),
    "LazyConvTranspose2d(4, 2, 2, 0, 1)": (1, 2, 3, 3),
    "LazyConvTranspose3d(2, 2, dilation=2)": (1, 2, 3, 3, 3),
    "LazyBatchNorm1d()": (3, 2),
    "LazyBatchNorm2d(affine=False)": (3, 2, 2, 2),
    "LazyBatchNorm3d(bias=False)": (3, 2, 2, 2, 2),
    "LazyBatchNorm1d(track_running_stats=False)": (3, 2, 2),
    "LazyInstanceNorm1d()": (3, 2, 4),
    "LazyInstanceNorm2d(affine=False)": (3, 2, 2, 2),
    "LazyInstanceNorm3d(momentum=None)": (3, 2, 2, 2, 2),
}
WRONG = {
    "LazyConv2d(3, 2)": (1, 5),
    "LazyConv2d(3, 2, groups=3)": (1, 2, 5, 5),
    "LazyBatchNorm2d()": (3, 2),
    "LazyBatchNorm1d()": (3,),
    "LazyInstanceNorm2d()": (3, 2, 5),
}


def case(function):
    FUNCTIONS[function.__name__] = function
    return function


def error(function, *args, **kwargs):
    try:
        return ["fine", function(*args, **kwargs)]
    except Exception as problem:
        return [type(problem).__name__, str(problem).replace("shimtorch.", "torch.")]


def make(torch, layer):
    return eval("torch.nn." + layer)


@case
def first_input(torch):
    result = []
    for layer, shape in LAYERS.items():
        torch.manual_seed(3)
        module = make(torch, layer)
        result += [repr(module), {k: repr(v) for k, v in module.state_dict().items()}]
        result.append(module.has_uninitialized_params())
        result += [len(module._forward_pre_hooks), module(grid(torch, *shape)), repr(module), type(module).__name__]
        result += [module.state_dict(), len(module._forward_pre_hooks), hasattr(module, "_load_hook")]
        result.append(torch.rand(1))
    for layer, shape in WRONG.items():
        result.append(error(make(torch, layer), grid(torch, *shape)))
    return result


@case
def states(torch):
    result = []
    for layer, shape in LAYERS.items():
        torch.manual_seed(3)
        done = make(torch, layer)
        done(grid(torch, *shape))
        fresh = make(torch, layer)
        result += [repr(fresh.load_state_dict(done.state_dict())), repr(fresh)]
        result += [error(fresh, grid(torch, *shape)), repr(fresh)]
        result.append(repr(make(torch, layer).load_state_dict(make(torch, layer).state_dict())))
    done = make(torch, "LazyLinear(3)")
    done(grid(torch, 2, 4))
    result.append(error(done.load_state_dict, make(torch, "LazyLinear(3)").state_dict()))
    loaded = make(torch, "LazyLinear(3)")
    loaded.load_state_dict(done.state_dict())
    return [*result, error(loaded, grid(torch, 2, 5))]


@case
def before_the_first_input(torch):
    nn = torch.nn
    module = nn.Sequential(make(torch, "LazyLinear(3)"), nn.ReLU(), make(torch, "LazyBatchNorm1d()"))
    result = [repr(module.double()), str(module[0].weight.dtype), error(module.share_memory)]
    result += [str(module.half()[2].running_var.dtype), str(module.float()[0].bias.dtype)]
    other = copy.deepcopy(module[:2])
    third = pickle.loads(pickle.dumps(module))
    result += [repr(other), repr(third[0].weight)]
    torch.manual_seed(5)
    module(grid(torch, 4, 2))
    torch.manual_seed(5)
    other(grid(torch, 4, 2))
    result += [module.state_dict(), other.state_dict()]
    optimizer = torch.optim.SGD(make(torch, "LazyLinear(3)").parameters(), lr=0.1)
    result.append(len(optimizer.param_groups[0]["params"]))
    result.append(error(make(torch, "LazyLinear(3)")._replicate_for_data_parallel))

    class Own(nn.modules.lazy.LazyModuleMixin, nn.Module):
        def __init__(self):
            super().__init__()
            self.p = nn.parameter.UninitializedParameter()

        def forward(self, x):
            return x * self.p

    result.append(error(Own(), grid(torch, 2)))
    Own.initialize_parameters = lambda self, x: None
    result.append(error(Own(), grid(torch, 2)))

    def initialize(self, x):
        self.p.materialize(x.shape)
        self.p.data.fill_(2)

    Own.initialize_parameters = initialize
    own = Own()
    return [*result, own(grid(torch, 2)), type(own).__name__, type(own.p).__name__, own(grid(torch, 2))]


@case
def tensors_without_shape(torch):
    nn = torch.nn
    kinds = (nn.UninitializedParameter, nn.UninitializedBuffer)
    result = []
    for kind in kinds:
        t = kind(dtype=torch.float64)
        result += [repr(t), str(t), error(lambda t=t: t.shape), list(t.size()), t.dtype, t.device, t.requires_grad]
        for use in ("t + 1", "1 - t", "t == t", "len(t)", "bool(t)", "t[0]", "t.t()", "t.dim()", "t.numel()",
                    "t.clone()", "t.sum()", "t.numpy()", "t.detach()", "t.backward()", "t.zero_()", "nn.init.ones_(t)"):
            found = error(eval, use, {"t": t, "nn": nn})
            result.append([use, found[0], found[-1].partition(" in <")[0], found[-1].partition("This error")[2]])
        result += [t.float().dtype, t.is_floating_point(), isinstance(t, nn.Parameter), isinstance(t, nn.Buffer)]
        result += [nn.parameter.is_lazy(t), isinstance(t, nn.parameter.UninitializedTensorMixin)]
        result += [error(t.share_memory_), repr(pickle.loads(pickle.dumps(t)))]
        result.append(error(copy.deepcopy, t)[0] if kind is kinds[1] else repr(copy.deepcopy(t)))
        t.materialize((2, 3))
        result += [type(t).__name__, list(t.shape), t.dtype, t.requires_grad, nn.parameter.is_lazy(t)]
        t = kind()
        t.materialize((2,), dtype=torch.float16)
        result.append(t.dtype)
    return [v if not hasattr(v, "is_floating_point") else str(v) for v in result]


CASES = list(FUNCTIONS)


def run(torch, name):
    """What a case gives under *torch*."""
    return answer(lambda: FUNCTIONS[name](torch))
