"""Count what is there of torch's public names, and write it to docs/coverage.md and the table in README.md.

    python tools/coverage.py            write both, from the shimtorch that can be imported
    python tools/coverage.py --check    exit with 1 where they are not up to date
"""
import argparse
import ast
import importlib
import inspect
import pathlib
import sys
import textwrap

import torch_names

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT, README = ROOT / "docs" / "coverage.md", ROOT / "README.md"
BEGIN, END = "<!-- written by tools/coverage.py -->\n", "<!-- end -->\n"
HERE, REFUSED, MISSING = "here", "refused", "missing"

# Why: modules that are left out whole, with those below them.
LEFT_OUT = {
    "quantised numbers": "torch.ao torch.quantization torch.backends.quantized torch.nn.intrinsic torch.nn.qat "
                         "torch.nn.quantizable torch.nn.quantized",
    "the compiler, graphs of programs and what is made of them": "torch.jit.supported_ops torch.fx torch.package "
                         "torch.utils.bundled_inputs torch.utils.mobile_optimizer torch.utils.throughput_benchmark",
    "other libraries and devices": "torch.backends.xnnpack torch.contrib torch.utils.mkldnn torch.cuda.nccl "
                         "torch.cuda.profiler torch.cuda.graphs",
    "measuring": "torch.autograd.profiler torch.autograd.profiler_util torch.profiler torch.monitor "
                 "torch.utils.benchmark torch.utils.bottleneck torch.utils.collect_env",
    "programs on many machines beyond collectives": "torch.distributed.algorithms torch.distributed.autograd "
                 "torch.distributed.deprecated torch.distributed.elastic torch.distributed.fsdp "
                 "torch.distributed.launch torch.distributed.nn torch.distributed.optim "
                 "torch.distributed.pipeline torch.distributed.rpc torch.distributed.run torch.nn.parallel.deprecated",
    "Lua": "torch.legacy torch.nn.backends",
}
INTRODUCTION = """\
# What is there of torch's names

Written by `python tools/coverage.py` from lists of torch's names (`tools/torch_names.json`): of 0.3 and 0.4 what the
documentation names, of 1.1 and 1.11 what the package shows, methods of classes too, of 2.13 the functions and classes
of some modules. A name counts when it exists and does more than raise NotImplementedError; that it does what torch's
does is what the tests are for. Of the others, those that are refused raise NotImplementedError with the reason
(`shimtorch/_refused.py`); those that are missing do not exist.

"""


def left_out(module):
    """Whether a module is left out whole."""
    return any(f"{module}.".startswith(f"{parent}.") for parents in LEFT_OUT.values() for parent in parents.split())


def state(shimtorch, module, name):
    """Whether a name of a module is here, refused or missing. Methods that only refuse are for subclasses to define."""
    try:
        value = resolve(f"{shimtorch.__name__}{module[5:]}.{name}")
        return REFUSED if "." not in name and refuses(value) else HERE
    except NotImplementedError:
        return REFUSED
    except (AttributeError, ImportError):
        return MISSING


def resolve(name):
    """What a dotted name stands for: attributes, else modules, which a function of that name may hide."""
    home, _, last = name.rpartition(".")
    if not home:
        return importlib.import_module(name)
    try:
        return getattr(resolve(home), last)
    except AttributeError:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError:
            return getattr(importlib.import_module(home), last)


def refuses(value):
    """Whether all that a Python function does is to raise NotImplementedError."""
    if type(value).__name__ == "Overridable":
        value = value.__wrapped__
    if not inspect.isfunction(value) or "NotImplementedError" not in value.__code__.co_names:
        return False
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0].body
    statements = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return len(statements) == 1 and isinstance(statements[0], ast.Raise)


def look():
    """{version: {module: {name: state}}}, without the modules that are left out."""
    shimtorch = importlib.import_module("shimtorch")
    return {version: {module: {name: state(shimtorch, module, name) for name in names}
                      for module, names in modules.items() if not left_out(module)}
            for version, modules in torch_names.recorded().items()}


def cell(states):
    """The number of names that are here, of all of them."""
    return f"{sum(s == HERE for s in states.values())} of {len(states)}" if states else ""


def table(found, modules):
    """Modules by versions as a Markdown table, and the totals of all that was looked at."""
    lines = ["| | " + " | ".join(f"torch {version}" for version in found) + " |", "|---|" + "---:|" * len(found)]
    for module in modules:
        lines.append(f"| {module} | " + " | ".join(cell(by.get(module)) for by in found.values()) + " |")
    every = [{(module, name): s for module, states in by.items() for name, s in states.items()}
             for by in found.values()]
    lines.append("| all that was looked for | " + " | ".join(cell(states) for states in every) + " |")
    return "\n".join(lines) + "\n"


def document(found):
    """docs/coverage.md: the table of all modules, what is left out, and the names that are missing of each version."""
    modules = sorted({module for by in found.values() for module in by})
    text = INTRODUCTION + table(found, modules) + "\n## Left out\n\n"
    text += "".join(f"* {why}: {', '.join(names.split())}\n" for why, names in LEFT_OUT.items())
    for version, by in found.items():
        for title, wanted in (("Missing", MISSING), ("Refused", REFUSED)):
            text += f"\n## {title} of torch {version}\n"
            for module, states in by.items():
                if names := [name for name, s in states.items() if s == wanted]:
                    text += f"\n**{module}**: {', '.join(names)}\n"
    return text


def readme(found):
    """README.md with the table in its place."""
    head, _, rest = README.read_text().partition(BEGIN)
    tail = rest.partition(END)[2]
    return head + BEGIN + table(found, torch_names.MODULES) + END + tail


def main():
    """Write or check the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    found, stale = look(), []
    for path, text in ((DOCUMENT, document(found)), (README, readme(found))):
        if not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
            if not options.check:
                path.write_text(text)
    if stale:
        print("not up to date:" if options.check else "written:", ", ".join(stale))
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main())
