"""The public names of a torch module, by namespace; which ones count is settled here, for shimtorch and for torch.

    python tools/torch_names.py      add the names of the installed torch to tools/torch_names.json

Runs on Python 3.6 too, so that the oldest PyTorch can be asked.
"""
import importlib
import json
import os
import warnings

RECORDED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_names.json")

# Namespace: what of it counts. "functions" are those of torch's own, without what merely was imported there.
SPACES = {
    "torch": "functions",
    "torch.Tensor": "members",
    "torch.nn": "torch.nn.Module",
    "torch.nn.functional": "functions",
    "torch.nn.init": "functions",
    "torch.nn.utils": "functions",
    "torch.optim": "torch.optim.Optimizer",
    "torch.optim.lr_scheduler": "classes",
    "torch.autograd": "functions",
    "torch.sparse": "functions",
    "torch.utils.data": "classes",
    "torch.distributions": "classes",
    "torch.linalg": "functions",
    "torch.fft": "functions",
    "torch.special": "functions",
}
# What only other devices, quantisation, autocast and the compiler use, and what copies where a view would do.
PREFIXES = ("autocast_", "cudnn_", "fake_quantize_", "fbgemm_", "fused_moving_avg_", "get_autocast_", "import_ir_",
            "is_autocast_", "miopen_", "mkldnn_", "parse_", "profiler_", "q_", "quantize", "set_autocast_", "sym_")
SUFFIXES = ("_copy",)
IMPORTED = {"torch.optim.lr_scheduler": {"Optimizer", "Tensor"}}


def names(torch, space):
    """The sorted names of a namespace of the module `torch` that count; [] where it has no such namespace."""
    parts = space.split(".")[1:]
    try:
        home = importlib.import_module(".".join([torch.__name__] + parts)) if parts != ["Tensor"] else torch.Tensor
    except ImportError:
        return []
    public = [n for n in dir(home) if n[0] != "_" and not n.startswith(PREFIXES) and not n.endswith(SUFFIXES)]
    found = {n for n in public if counts(torch, getattr(home, n, None), SPACES[space])}
    return sorted(found - IMPORTED.get(space, set()))


def counts(torch, value, kind):
    """Whether a value is of the kind that a namespace counts."""
    own = (getattr(value, "__module__", None) or torch.__name__).split(".")[0] in (torch.__name__, "builtins")
    if kind == "members":
        return True
    if kind == "functions":
        return own and callable(value) and not isinstance(value, type)
    if kind == "classes":
        return own and isinstance(value, type) and not issubclass(value, BaseException)
    base = getattr(getattr(torch, kind.split(".")[1]), kind.split(".")[2])
    return isinstance(value, type) and issubclass(value, base)


def recorded():
    """{version: {namespace: names}} of the file."""
    with open(RECORDED) as file:
        return {version: {space: text.split() for space, text in spaces.items()}
                for version, spaces in json.load(file).items()}


def main():
    """Record the installed torch."""
    warnings.simplefilter("ignore")
    torch = importlib.import_module("torch")
    versions = recorded() if os.path.exists(RECORDED) else {}
    versions[torch.__version__.split("+")[0]] = {space: names(torch, space) for space in SPACES}
    with open(RECORDED, "w") as file:
        json.dump({version: {space: " ".join(found) for space, found in versions[version].items()}
                   for version in sorted(versions)}, file, indent=1)
        file.write("\n")


if __name__ == "__main__":
    main()
