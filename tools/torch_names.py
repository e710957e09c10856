"""The public names of PyTorch's versions, by module: tools/torch_names.json, and what writes it.

    python tools/torch_names.py lists FOLDER    those of 0.3 to 1.11, from FOLDER/torch-VERSION.tsv
    python tools/torch_names.py installed       those of the torch that is installed here

The lists have a name, its kind and its signature on each line; those of 0.3 and 0.4 hold what the documentation of that
version names, the later ones what the package shows. Of an installed torch the modules in MODULES are asked.
"""
import argparse
import collections
import importlib
import json
import pathlib
import warnings

RECORDED = pathlib.Path(__file__).resolve().parent / "torch_names.json"
LISTED = ("0.3", "0.4", "1.1", "1.11")

# Module: what of it counts. "functions" are those of torch's own, without what merely was imported there.
MODULES = {
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


def listed(folder):
    """{version: {module: names}} of the lists, without what only instances have (`Linear.weight`)."""
    found = {}
    for version in LISTED:
        rows = [line.split("\t") for line in (pathlib.Path(folder) / f"torch-{version}.tsv").read_text().splitlines()]
        kinds = {name: kind for name, kind, *_ in rows}
        modules = collections.defaultdict(list)
        for name, kind in kinds.items():
            owner = name.rpartition(".")[0]
            if kind == "module" or (kind == "attribute" and kinds.get(owner) == "class"):
                continue
            home = "torch.Tensor" if name.startswith("torch.Tensor.") else owner
            while home != "torch.Tensor" and kinds.get(home, "class") != "module" and home in kinds:
                home = home.rpartition(".")[0]
            modules[home].append(name[len(home) + 1:])
        found[version] = modules
    return found


def installed(torch):
    """{version: {module: names}} of the module `torch`."""
    return {torch.__version__.split("+")[0]: {module: names(torch, module) for module in MODULES}}


def names(torch, module):
    """The sorted names of one of MODULES that count."""
    home = torch.Tensor if module == "torch.Tensor" else importlib.import_module(torch.__name__ + module[5:])
    public = [n for n in dir(home) if n[0] != "_" and not n.startswith(PREFIXES) and not n.endswith(SUFFIXES)]
    found = {n for n in public if counts(torch, getattr(home, n, None), MODULES[module])}
    return sorted(found - IMPORTED.get(module, set()))


def counts(torch, value, kind):
    """Whether a value is of the kind that a module counts."""
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
    """{version: {module: names}} of the file, the oldest version first."""
    found = json.loads(RECORDED.read_text())
    return {version: {module: text.split() for module, text in found[version].items()}
            for version in sorted(found, key=lambda v: [int(part) for part in v.split(".")])}


def main():
    """Add versions to the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lists", "installed"))
    parser.add_argument("folder", nargs="?")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    new = listed(options.folder) if options.what == "lists" else installed(importlib.import_module("torch"))
    versions = {**(recorded() if RECORDED.exists() else {}), **new}
    RECORDED.write_text(json.dumps({version: {module: " ".join(sorted(versions[version][module]))
                                              for module in sorted(versions[version])}
                                    for version in sorted(versions)}, indent=1) + "\n")


if __name__ == "__main__":
    main()
