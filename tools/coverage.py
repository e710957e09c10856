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
TITLES = {
    "torch": "functions of torch",
    "torch.Tensor": "methods and attributes of Tensor",
    "torch.nn": "layers, containers and losses of torch.nn",
    "torch.nn.functional": "functions of torch.nn.functional",
    "torch.nn.init": "functions of torch.nn.init",
    "torch.nn.utils": "functions of torch.nn.utils",
    "torch.optim": "optimizers of torch.optim",
    "torch.optim.lr_scheduler": "schedules of torch.optim.lr_scheduler",
    "torch.autograd": "functions of torch.autograd",
    "torch.sparse": "functions of torch.sparse",
    "torch.utils.data": "classes of torch.utils.data",
    "torch.distributions": "classes of torch.distributions",
    "torch.linalg": "functions of torch.linalg",
    "torch.fft": "functions of torch.fft",
    "torch.special": "functions of torch.special",
}
INTRODUCTION = """\
# What is there of torch's names

Written by `python tools/coverage.py`. A name counts when it exists and does more than raise NotImplementedError; that
it does what torch's does is what the tests are for. Of the others, those that are refused raise NotImplementedError
with the reason (`shimtorch/_refused.py`); those that are missing do not exist. Names of other devices, quantisation,
autocast and the compiler are left out of the count (`tools/torch_names.py`), and so are the `_copy` variants of views.

"""


def present(shimtorch, space):
    """The names of a namespace that shimtorch has, without those that only refuse."""
    home = shimtorch
    for part in space.split(".")[1:]:
        home = getattr(home, part, None)
    return [name for name in torch_names.names(shimtorch, space) if not refuses(getattr(home, name, None))]


def refuses(value):
    """Whether all that a Python function does is to raise NotImplementedError."""
    if type(value).__name__ == "Overridable":
        value = value.__wrapped__
    if not inspect.isfunction(value) or "NotImplementedError" not in value.__code__.co_names:
        return False
    body = ast.parse(textwrap.dedent(inspect.getsource(value))).body[0].body
    statements = [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    return len(statements) == 1 and isinstance(statements[0], ast.Raise)


def count():
    """{namespace: (names here, {version: names that torch has})}."""
    shimtorch, recorded = importlib.import_module("shimtorch"), torch_names.recorded()
    return {space: (present(shimtorch, space), {version: recorded[version][space] for version in recorded})
            for space in torch_names.SPACES}


def table(counts):
    """The counts as a Markdown table."""
    versions = list(next(iter(counts.values()))[1])
    lines = ["| | here | " + " | ".join(f"of torch {v}" for v in versions) + " |"]
    lines.append("|---|---:|" + "---:|" * len(versions))
    for space, (here, torch) in counts.items():
        cells = [f"{len(set(here) & set(torch[v]))} of {len(torch[v])}" if torch[v] else "" for v in versions]
        lines.append(f"| {TITLES[space]} | {len(here)} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def document(counts):
    """docs/coverage.md: the table, and which names are missing of which version."""
    text = INTRODUCTION + table(counts)
    refused = importlib.import_module("shimtorch._refused").NAMES
    for version in next(iter(counts.values()))[1]:
        for title, wanted in (("Missing", False), ("Refused", True)):
            text += f"\n## {title} of torch {version}\n"
            for space, (here, torch) in counts.items():
                names = [n for n in sorted(set(torch[version]) - set(here)) if (n in refused.get(space, ())) is wanted]
                if names:
                    text += f"\n**{space}**: " + ("all" if not here else ", ".join(names)) + "\n"
    return text


def readme(counts):
    """README.md with the table in its place."""
    head, _, rest = README.read_text().partition(BEGIN)
    tail = rest.partition(END)[2]
    return head + BEGIN + table(counts) + END + tail


def main():
    """Write or check the two files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    counts, stale = count(), []
    for path, text in ((DOCUMENT, document(counts)), (README, readme(counts))):
        if not path.exists() or path.read_text() != text:
            stale.append(str(path.relative_to(ROOT)))
            if not options.check:
                path.write_text(text)
    if stale:
        print("not up to date:" if options.check else "written:", ", ".join(stale))
    return int(bool(stale) and options.check)


if __name__ == "__main__":
    sys.exit(main())
