"""The names that files have for functions and classes: those of PyTorch's modules, whatever ours are called.

A file written here says ``torch._utils._rebuild_tensor_v2``, whether or not shimtorch stands in for torch; one that is
read finds ours under these names, even if a real torch lies beside.
"""
import importlib

ROOT = __name__.partition(".")[0]

# What PyTorch's pickles have elsewhere than we do: (module, name) -> (our module below ROOT, name).
_ELSEWHERE = {
    ("torch._C", "Generator"): ("_core.generator", "Generator"),
    ("torch.tensor", "_rebuild_from_type_v2"): ("_tensor", "_rebuild_from_type_v2"),
    ("torch.tensor", "_rebuild_from_type"): ("_tensor", "_rebuild_from_type"),
    ("torch.serialization", "_get_layout"): ("_core.device", "find_layout"),
    ("torch.nn.backends.thnn", "_get_thnn_function_backend"): ("_files.names", "function_backend"),
}
_WRITTEN_AS = {(own if not own else "." + own, name): names for names, (own, name) in _ELSEWHERE.items()
               if names[0] != "torch.tensor"}


def function_backend():
    """The value of ``_backend`` in modules that PyTorch 1.1 and before pickled whole; nothing uses it."""
    return None


def as_written(module, name):
    """The (module, name) under which a file names an object that lives at module.name; None if it is not ours."""
    if module != ROOT and not module.startswith(ROOT + "."):
        return None
    below = module[len(ROOT):]
    if (below, name) == ("", "Generator"):         # what the compiled class calls itself
        return "torch._C", name
    return _WRITTEN_AS.get((below, name)) or ("torch" + below, name)


def is_torch(module):
    """Whether a file's module name lies in torch, or in shimtorch under its own name."""
    return module.partition(".")[0] in ("torch", "shimtorch")


def find(module, name):
    """The object of ours that a file calls module.name; AttributeError or ImportError if there is none."""
    module = "torch" + module[len("shimtorch"):] if module.startswith("shimtorch") else module
    if (module, name) in _ELSEWHERE:
        below, name = _ELSEWHERE[module, name]
        return getattr(importlib.import_module(f"{ROOT}.{below}"), name)
    home = importlib.import_module(ROOT + module[len("torch"):])
    for part in name.split("."):
        home = getattr(home, part)
    return home
