"""What a script asks of torch, and which of it shimtorch does not have."""

import os
import warnings
from types import ModuleType
from typing import NamedTuple

from .._eras import detect, source
from .locate import shown
from .names import ALIAS, as_own, is_alias


class Report(NamedTuple):
    """The era of a script; names of torch that are there or missing and unknown methods, with their first place."""

    choice: detect.Choice
    present: dict[str, str]
    missing: dict[str, str]
    methods: dict[str, str]


def main(script, era=None, everything=False):
    """Print the report on a script; the exit status is 1 if names are missing. OSError if it cannot be read."""
    report = examine(script, era)
    print(report.choice if era is None else f"era {era}")
    names = len(report.present) + len(report.missing)
    if not names:
        print("no name of torch is used")
    elif everything and report.present:
        _print_table("there:", report.present)
    if names:
        colon = ":" if report.missing else ""
        _print_table(f"{len(report.missing)} of {names} names of torch are missing{colon}", report.missing)
    if report.methods:
        _print_table("methods of unknown objects, which neither tensors nor modules have:", report.methods)
    return 1 if report.missing else 0


def _print_table(title, places):
    print(title)
    width = max(map(len, places), default=0)
    for name in sorted(places):
        print(f"  {name:<{width}}  {places[name]}")


def examine(script, era=None):
    """The `Report` on a script and the modules beside it, looked up in `era`, by default the one its source shows."""
    import shimtorch

    choice = detect.choose(script)
    choice = choice._replace(file=shown(choice.file))
    folder = os.path.dirname(os.path.abspath(script))
    used, called, defined = {}, {}, set()
    for file, _, tokens in detect.family(script, folder):
        bound = source.bindings(tokens)
        uses = list(source.uses(tokens, bound))
        for use in uses:
            if is_alias(use.qualified):
                used.setdefault(use.qualified.removesuffix(".*"), _place(file, tokens[use.first]))
        for name, token in _methods(tokens, uses, bound):
            called.setdefault(name, _place(file, token))
        defined.update(_definitions(tokens))
    report = Report(choice, {}, {}, {})
    with shimtorch.era(era or choice.era), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, place in used.items():
            absent = _absent(name)
            (report.missing if absent else report.present).setdefault(absent or name, place)
        known = defined.union(*map(dir, _owners()))
    report.methods.update((f".{name}()", place) for name, place in called.items() if name not in known)
    return report


def _place(file, token):
    return f"{shown(file)}:{token.line}"


def _definitions(tokens):
    """Names of functions and classes of a source, and of attributes that it assigns."""
    for before, token, after in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.text in ("def", "class") or (before.text == "." and after.text == "="):
            yield token.text


def _methods(tokens, uses, bound):
    """Methods called on objects that are not known to come from a module other than torch."""
    imported = {index for use in uses for index in range(use.first, use.last + 1)}
    foreign = {
        tokens[use.first - 2].text for use in uses
        if not is_alias(use.qualified) and [tokens[use.first - 1].text, tokens[use.last + 1].text] == ["=", "("]
    }
    for index, token in enumerate(tokens[:-1]):
        if index < 2 or token.kind != "name" or tokens[index - 1].text != "." or tokens[index + 1].text != "(":
            continue
        owner = tokens[index - 2]
        if index not in imported and not (owner.text in foreign and owner.kind == "name"):
            yield token.text, token


def _owners():
    """Types whose methods a script may call without any import showing it."""
    import io

    import numpy

    import shimtorch

    data = shimtorch.utils.data
    return (
        shimtorch.Tensor, shimtorch.nn.Module, shimtorch.optim.Optimizer, data.Dataset, data.DataLoader, numpy.ndarray,
        str, bytes, list, tuple, dict, set, int, float, complex, io.TextIOWrapper, BaseException,
    )


def _absent(qualified):
    """The part of a torch name that shimtorch lacks, from the left; None if it has all of it."""
    from importlib import import_module

    parts = as_own(qualified).split(".")
    found = import_module(parts[0])
    for count in range(1, len(parts)):
        if not isinstance(found, (ModuleType, type)):
            return None  # an attribute of a function or value
        try:
            found = getattr(found, parts[count])
        except Exception:
            try:
                found = import_module(".".join(parts[: count + 1]))
            except ImportError:
                return ".".join([ALIAS, *parts[1 : count + 1]])
    return None
