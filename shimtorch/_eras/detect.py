"""Which PyTorch version a script was written for, read from its source.

The first rule that matches decides:

1. 0.3: ``volatile=``, ``async=``, ``loss.data[0]``, a `Function` whose ``forward`` is an instance method,
   ``torch.legacy``, ``torch.utils.ffi``, and nothing that came with 0.4
2. 0.3: ``Variable(...)``, and nothing that came with 0.4
3. 0.4: ``Variable(...)``, ``size_average=``, ``reduce=True/False``, ``F.upsample`` or one of the signs of rule 1,
   beside something that came with 0.4 and nothing that came after 1.0
4. 1.0: ``gels``, ``gesv``, ``symeig``, ``btrifact``, ``irfft`` and their like, ``torch.fft(...)`` called,
   ``'elementwise_mean'``
5. modern

``torch.no_grad``, ``torch.device``, ``torch.tensor(...)``, ``.item()``, ``.requires_grad_()`` and their like came with
0.4. They outweigh all that is older: 0.3 does not know them, and 0.4 still took what rule 1 lists.

The script and the modules that it imports from its own folder or below are one program, and judged together.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from . import source as _source

ERAS = ("0.3", "0.4", "1.0", "1.1", "1.11", "modern")

_SINCE_0_4 = {
    "torch.no_grad", "torch.enable_grad", "torch.set_grad_enabled", "torch.device", "torch.dtype", "torch.float",
    "torch.float32", "torch.double", "torch.float64", "torch.long", "torch.int64", "torch.int", "torch.int32",
    "torch.uint8",
    "torch.nn.functional.interpolate", "torch.nn.utils.clip_grad_norm_", "torch.nn.utils.clip_grad_value_",
}
_CALLED_SINCE_0_4 = {"torch.tensor"}  # until then, a module
_METHODS_SINCE_0_4 = {"item", "requires_grad_", "to"}
_REDUCTIONS = {"none", "mean", "sum", "elementwise_mean"}
_AFTER_1_0 = (
    "torch.bool", "torch.amp", "torch.compile", "torch.cuda.amp", "torch.fft", "torch.func", "torch.inference_mode",
    "torch.linalg", "torch.nn.Flatten", "torch.nn.GELU", "torch.nn.Identity", "torch.nn.MultiheadAttention",
    "torch.nn.SiLU", "torch.nn.SyncBatchNorm", "torch.nn.Transformer", "torch.optim.AdamW",
    "torch.optim.lr_scheduler.OneCycleLR", "torch.true_divide", "torch.utils.tensorboard", "torch.vmap",
)
_UNTIL_1_0 = {
    "torch.gels", "torch.gesv", "torch.symeig", "torch.btrifact", "torch.btrifact_with_info", "torch.btrisolve",
    "torch.btriunpack", "torch.potrf", "torch.potri", "torch.potrs", "torch.pstrf", "torch.trtrs",
    "torch.rfft", "torch.irfft", "torch.ifft",
}
_METHODS_UNTIL_1_0 = {
    "gels", "gesv", "symeig", "btrifact", "btrifact_with_info", "btrisolve", "potrf", "potri", "potrs", "trtrs",
    "irfft",
}
_FUNCTION = {"torch.autograd.Function", "torch.autograd.function.Function", "torch.autograd.function.InplaceFunction"}


class Choice(NamedTuple):
    """An era, the number of the rule that chose it (see the module), and the line that decided; rule 5 has none."""

    era: str
    rule: int
    file: str | None = None
    line: int | None = None
    text: str | None = None

    def __str__(self):
        if self.line is None:
            return f"era {self.era}: nothing in {self.file} points to an older one"
        return f"era {self.era}, because of {self.file}:{self.line}: {self.text}"


def choose(path: str, root: str | None = None) -> Choice:
    """The era of the script at `path` and of the modules it imports from folder `root` (the script's own).

    Raises OSError if the script cannot be read; a module that cannot be read counts for nothing.
    """
    root = os.path.dirname(os.path.abspath(path)) if root is None else root
    return _judge(family(path, root))


def judge(text: str, file: str = "<string>") -> Choice:
    """The era of one source text."""
    return _judge([(file, text, _source.scan(text))])


def _judge(sources):
    """The era of the sources, given as triples of file, text and tokens, that make one program."""
    found: dict[str, Choice] = {}  # the first place of each kind of sign
    first = None
    for file, text, tokens in sources:
        first = first or file
        for kind, token in _evidence(tokens).items():
            line = text.split("\n")[token.line - 1].strip()
            found.setdefault(kind, Choice("", 0, file, token.line, line))
    for rule, era, place in _verdicts(found):
        if place is not None:
            return place._replace(era=era, rule=rule)
    return Choice("modern", 5, first)


def _verdicts(found):
    """The rules in order: number, era, and the place that decides or None."""
    old, variable = found.get("old"), found.get("variable")
    if "new" not in found and "late" not in found:
        yield 1, "0.3", old or found.get("data[0]")
        yield 2, "0.3", variable
    elif "late" not in found:
        yield 3, "0.4", old or variable or found.get("0.4")
    yield 4, "1.0", found.get("1.0")


def family(path: str, root: str):
    """The script and the modules it imports from `root` or below, directly or not: triples of path, text and tokens."""
    waiting, seen = [(path, _source.read(path))], {os.path.realpath(path)}
    while waiting:
        file, text = waiting.pop(0)
        tokens = _source.scan(text)
        yield file, text, tokens
        for neighbour in _neighbours(file, tokens, root):
            if os.path.realpath(neighbour) not in seen:
                seen.add(os.path.realpath(neighbour))
                try:
                    waiting.append((neighbour, _source.read(neighbour)))
                except OSError:
                    continue


def _neighbours(file, tokens, root):
    """Files in `root` that the imports of a file name."""
    here = os.path.dirname(os.path.abspath(file))
    for item in _source.imports(tokens):
        if item.level:
            bases = [os.path.normpath(os.path.join(here, *[".."] * (item.level - 1)))]
        else:
            bases = [here, root]  # Python 2 looks beside the importing module first
        parts = [part for part in (item.module.split(".") + [item.name or ""]) if part and part != "*"]
        for base in dict.fromkeys(bases):
            if not belongs(base, root):
                continue
            if item.level:
                yield from _existing(os.path.join(base, "__init__.py"))
            for count in range(1, len(parts) + 1):
                stem = os.path.join(base, *parts[:count])
                yield from _existing(stem + ".py")
                yield from _existing(os.path.join(stem, "__init__.py"))


def _existing(file):
    if os.path.isfile(file):
        yield file


def belongs(file: str, root: str) -> bool:
    """Whether a file lies in `root` or below and is not an installed package."""
    file, root = os.path.realpath(file), os.path.realpath(root)
    relative = os.path.relpath(file, root).split(os.sep)
    return relative[0] != ".." and not {"site-packages", "dist-packages"}.intersection(relative)


def _evidence(tokens) -> dict[str, _source.Token]:
    """The first token of each kind of sign: old, data[0], variable, new (from 0.4 on), 0.4, 1.0, late (after 1.0)."""
    bound = _source.bindings(tokens)
    found: dict[str, _source.Token] = {}
    signs = [*_from_names(tokens, bound), *_from_syntax(tokens)]
    method = _instance_forward(tokens, bound)
    if method is not None:
        signs.append(("old", method))
    for kind, token in signs:
        if kind not in found or token.start < found[kind].start:
            found[kind] = token
    return found


def _from_names(tokens, bound):
    """Signs that lie in names of torch."""
    variables = {"torch.autograd.Variable", "torch.autograd.variable.Variable", "torch.Variable"}
    if "Variable" not in bound:  # from a neighbour's namespace, perhaps by `import *`
        variables.add("Variable")
        bound = {**bound, "Variable": "Variable"}
    for use in _source.uses(tokens, bound):
        name, token, called = use.qualified, tokens[use.first], tokens[use.last + 1].text == "("
        if name.startswith(("torch.legacy", "torch.utils.ffi")):
            yield "old", token
        elif name in variables and called:
            yield "variable", token
        elif name in _SINCE_0_4 or (called and name in _CALLED_SINCE_0_4):
            yield "new", token
        elif name.startswith("torch.nn.init.") and name.endswith("_"):
            yield "new", token
        elif name in _UNTIL_1_0 or (called and name == "torch.fft"):
            yield "1.0", token
        elif any(name == late or name.startswith(late + ".") for late in _AFTER_1_0):
            yield "late", token
        elif name == "torch.nn.functional.upsample":
            yield "0.4", token


def _from_syntax(tokens):
    """Signs that lie in keywords, methods and strings."""
    texts = [token.text for token in tokens] + [""] * 4
    for index, token in enumerate(tokens):
        if token.kind == "string":
            if token.text[1:-1] == "elementwise_mean":
                yield "1.0", token
        elif token.kind == "name" and texts[index + 1] in ("=", "(", "["):
            if index and texts[index - 1] == ".":
                kind = _method_sign(texts, index)
            else:
                kind = _keyword_sign(token, texts[index + 1 : index + 3])
            if kind:
                yield kind, token
            elif token.text == "volatile" and texts[index + 1] == "=":  # as an attribute, too
                yield "old", token


def _keyword_sign(token, after):
    if after[0] != "=" or not token.depth:
        return None
    if token.text == "async":
        return "old"
    if token.text == "size_average" or (token.text == "reduce" and after[1] in ("True", "False")):
        return "0.4"
    if token.text == "reduction" and after[1][1:-1] in _REDUCTIONS:
        return "new"
    return None


def _method_sign(texts, index):
    name, after = texts[index], texts[index + 1 : index + 5]
    if name == "data" and after[:3] == ["[", "0", "]"]:
        number = after[3] not in ("[", ".", "=", "+=", "-=", "*=", "/=")  # not indexed further, not assigned to
        return "data[0]" if number and texts[index - 2] not in ("self", "cls") else None
    if name in _METHODS_SINCE_0_4 and after[0] == "(":
        of_array = name == "item" and (after[1] != ")" or texts[max(index - 4, 0) : index - 1] == ["numpy", "(", ")"])
        return None if of_array else "new"
    return "1.0" if name in _METHODS_UNTIL_1_0 and after[0] == "(" else None


def _instance_forward(tokens, bound):
    """The ``forward`` of a class that derives Function, if it takes ``self`` and is no static method."""
    for index, token in enumerate(tokens):
        if token.text == "class" and token.kind == "name" and _source.starts_statement(tokens, index):
            close = _closing(tokens, index + 2)
            if close is not None and _derives_function(tokens[index + 3 : close], bound):
                method = _forward_with_self(tokens, close + 1, token.column)
                if method is not None:
                    return method
    return None


def _closing(tokens, opening):
    if [token.text for token in tokens[opening : opening + 1]] != ["("]:
        return None
    depth = tokens[opening].depth
    for index in range(opening + 1, len(tokens)):
        if tokens[index].depth == depth and tokens[index].text in (")", "]", "}"):
            return index
    return None


def _derives_function(bases, bound):
    for base in "".join(token.text for token in bases).split(","):
        first, dot, rest = base.partition(".")
        if bound.get(first, first) + dot + rest in _FUNCTION or base == "Function" and "Function" not in bound:
            return True
    return False


def _forward_with_self(tokens, start, column):
    """The `def` of a ``forward(self, ...)`` in the class body that starts at `start`, unless it is a static method."""
    decorators: list[str] = []
    for index in range(start, len(tokens)):
        token = tokens[index]
        if index == start or tokens[index - 1].kind != "newline":
            continue
        if token.column <= column and token.kind != "newline":
            return None
        if token.text == "@":
            decorators.append(tokens[index + 1].text)
            continue
        if token.text == "def" and [t.text for t in tokens[index + 1 : index + 4]] == ["forward", "(", "self"]:
            return None if "staticmethod" in decorators else token
        decorators = []
    return None
