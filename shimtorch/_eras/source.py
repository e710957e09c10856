"""Python source as tokens, for sources of any age.

The ``tokenize`` module refuses more with every Python release (octal ``0777``, ``10L``, backquotes), and ``ast``
refuses ``async=`` as well. This scanner knows just enough to tell code from strings and comments, accepts
everything, and keeps every position.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_SCANNER = re.compile(
    r"""
      (?P<space> [ \t\f]+ | \\\r?\n | \#[^\n]* )
    | (?P<newline> \r?\n | \r )
    | (?P<string> [bBrRuUfFtT]{0,2} (?: \"{3}(?:[^\\]|\\.)*?(?:\"{3}|\Z) | '{3}(?:[^\\]|\\.)*?(?:'{3}|\Z)
                                      | "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'? ) )
    | (?P<number> (?: 0[xX][\da-fA-F_]+ | 0[bB][01_]+ | 0[oO][0-7_]+
                    | (?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d[\d_]*)? ) [jJlL]? )
    | (?P<name> [^\W\d]\w* )
    | (?P<op> \*\*=|//=|>>=|<<=|\.\.\.|\*\*|//|>>|<<|->|:=|==|!=|<>|<=|>=|[-+*/%&|^@]=|. )
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """One token: kind (name, number, string, op or newline), text, offset, line (from 1), column and bracket depth."""

    kind: str
    text: str
    start: int
    line: int
    column: int
    depth: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def read(path: str) -> str:
    """The text of a Python file, by its coding cookie; latin-1 where that does not fit, so that all can be read."""
    with open(path, "rb") as file:
        return decode(file.read())


def decode(data: bytes) -> str:
    """The text of Python source given as bytes; see `read`."""
    import io
    import tokenize

    try:
        encoding = tokenize.detect_encoding(io.BytesIO(data).readline)[0]
        text = data.decode(encoding)
    except (SyntaxError, UnicodeDecodeError, LookupError):
        text = data.decode("latin-1")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def scan(text: str) -> list[Token]:
    """Tokens of a source text; comments and blank lines give none, a newline token ends each logical line."""
    tokens: list[Token] = []
    line, line_start, depth = 1, 0, 0
    for match in _SCANNER.finditer(text):
        kind, piece, start = match.lastgroup, match.group(), match.start()
        if kind == "op" and piece in ")]}":
            depth = max(depth - 1, 0)
        if kind == "newline":
            if not depth and tokens and tokens[-1].kind != "newline":
                tokens.append(Token(kind, piece, start, line, start - line_start, depth))
        elif kind != "space":
            tokens.append(Token(kind, piece, start, line, start - line_start, depth))
            if kind == "op" and piece in "([{":
                depth += 1
        if "\n" in piece:
            line += piece.count("\n")
            line_start = start + piece.rindex("\n") + 1
    end = len(text)
    tokens.append(Token("newline", "", end, line, end - line_start, 0))
    return tokens


def starts_statement(tokens: list[Token], index: int) -> bool:
    """Whether a statement begins at this token."""
    if index == 0:
        return True
    before = tokens[index - 1]
    return before.kind == "newline" or (before.depth == 0 and before.text in (";", ":"))


class Import(NamedTuple):
    """One imported name: ``import module [as asname]`` has no `name`; `level` counts the dots of a relative import."""

    module: str
    name: str | None
    asname: str | None
    level: int
    index: int

    @property
    def qualified(self) -> str:
        """The dotted name that is asked for; one that starts with a dot is relative."""
        return "." * bool(self.level) + ".".join(filter(None, (self.module, self.name)))


def imports(tokens: list[Token]) -> Iterator[Import]:
    """The imports of a source, wherever they stand; `index` is the position of the token that names the import."""
    for start, token in enumerate(tokens):
        if token.kind == "name" and token.text in ("import", "from") and starts_statement(tokens, start):
            yield from _import_statement(tokens, start)


def _dotted(tokens: list[Token], index: int) -> tuple[str, int]:
    """The dotted name at `index` and the index after it; empty where there is none."""
    parts = []
    while tokens[index].kind == "name":
        parts.append(tokens[index].text)
        index += 1
        if tokens[index].text != ".":
            break
        index += 1
    return ".".join(parts), index


def _import_statement(tokens: list[Token], index: int) -> Iterator[Import]:
    module, level, is_from = "", 0, tokens[index].text == "from"
    index += 1
    if is_from:
        while tokens[index].text in (".", "..."):
            level += len(tokens[index].text)
            index += 1
        if tokens[index].text != "import":
            module, index = _dotted(tokens, index)
        if tokens[index].text != "import":
            return
        index += 1
        if tokens[index].text == "(":
            index += 1
    while True:
        at = index
        if tokens[index].text == "*":
            name, index = "*", index + 1
        else:
            name, index = _dotted(tokens, index)
        if not name:
            return
        asname = None
        if tokens[index].text == "as":
            asname, index = tokens[index + 1].text, index + 2
        yield Import(module, name, asname, level, at) if is_from else Import(name, None, asname, level, at)
        if tokens[index].text != ",":
            return
        index += 1


# What `from torch.autograd import *` and the like bring in, as far as a script's age shows by it.
_STARRED = {"torch.autograd": ("Variable", "Function"), "torch": ("no_grad", "device", "tensor", "nn", "autograd")}


def bindings(tokens: list[Token]) -> dict[str, str]:
    """What the imported names of a source stand for: ``{"F": "torch.nn.functional", "np": "numpy"}``."""
    bound = {}
    for item in imports(tokens):
        if item.name == "*":
            bound.update((name, f"{item.module}.{name}") for name in _STARRED.get(item.module, ()) if not item.level)
        elif item.asname:
            bound[item.asname] = item.qualified
        elif item.name:
            bound[item.name] = item.qualified
        else:
            top = item.module.partition(".")[0]
            bound[top] = top
    bound.update(_assigned(tokens, bound))
    return bound


def _assigned(tokens, bound):
    """Second names, ``F = torch.nn.functional``."""
    for index, token in enumerate(tokens[:-2]):
        if tokens[index + 1].text == "=" and token.kind == "name" and starts_statement(tokens, index):
            name, after = _dotted(tokens, index + 2)
            first, dot, rest = name.partition(".")
            if rest and first in bound and tokens[after].kind == "newline":
                yield token.text, bound[first] + dot + rest


class Use(NamedTuple):
    """A dotted name with its first part resolved through the imports, at tokens ``first`` to ``last``."""

    qualified: str
    first: int
    last: int


def uses(tokens: list[Token], bound: dict[str, str]) -> Iterator[Use]:
    """Every place where an imported name is used, import statements included."""
    inside_import = set()
    for item in imports(tokens):
        yield Use(item.qualified, item.index, item.index)
        inside_import.add(item.index)
    for first, token in enumerate(tokens):
        if token.kind != "name" or token.text not in bound or first in inside_import:
            continue
        if first and tokens[first - 1].text in (".", "as", "import", "from", "def", "class"):
            continue
        if token.depth and tokens[first + 1].text == "=":
            continue
        last, parts = first, [bound[token.text]]
        while tokens[last + 1].text == "." and tokens[last + 2].kind == "name":
            last += 2
            parts.append(tokens[last].text)
        yield Use(".".join(parts), first, last)
