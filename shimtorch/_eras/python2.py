"""Python 2 statements in Python 3's words, line for line.

Translated: ``print`` statements, ``except E, e``, ``raise E, "message"``, backquotes, ``<>``, ``0777``, ``10L``,
``ur""``, tabs among spaces in indentation, and built-in names that went away (``xrange``, ``raw_input``,
``unicode``, ``unichr``, ``basestring``, ``long``) unless the script gives them a meaning itself. ``exec``
statements are refused. Not translated: methods and modules that were renamed, and what Python 2 did differently in
the same words: ``/`` of integers (see `divides`), lists from ``map`` and ``dict.keys``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from . import source as _source

_NAMES = {
    "xrange": "range", "raw_input": "input", "unicode": "str", "unichr": "chr", "basestring": "str", "long": "int",
}

# An edit replaces text[start:end]; none spans lines, so that every line keeps its number.
Edit = tuple[int, int, str]


def translate(text: str, filename: str = "<string>") -> str:
    """The text in Python 3, line for line; what is Python 3 already stays. SyntaxError for an ``exec`` statement."""
    tokens = _source.scan(text)
    edits: dict[tuple[int, int], str] = {}
    statements = chain(_prints(tokens, text), _statements(tokens, text, filename))
    for start, end, new in chain(statements, _atoms(tokens), _indents(tokens, text)):
        edits[start, end] = edits.get((start, end), "") + new
    pieces, position = [], 0
    for (start, end), new in sorted(edits.items()):
        pieces += [text[position:start], new]
        position = end
    return "".join(pieces) + text[position:]


def looks_old(text: str) -> bool:
    """Whether a source has statements that only Python 2 understands."""
    tokens = _source.scan(text)
    if any(token.text in ("`", "<>") for token in tokens):
        return True
    return any(_cannot_be_call(tokens, index) for index in _starting(tokens, "print")) or any(
        _commas(tokens, index, _end_of_statement(tokens, index)) for index in _starting(tokens, "except", "raise")
    )


def divides(text: str) -> int | None:
    """The first line with a ``/`` that Python 2 would have rounded down for integers; None if it was asked not to."""
    tokens = _source.scan(text)
    if _from_future(tokens, "division"):
        return None
    return next((token.line for token in tokens if token.kind == "op" and token.text in ("/", "/=")), None)


def _from_future(tokens, feature):
    return any(item.qualified == f"__future__.{feature}" for item in _source.imports(tokens))


def _end_of_statement(tokens, index):
    """The index after the last token of the simple statement that token `index` belongs to."""
    while tokens[index].kind != "newline" and not (tokens[index].text == ";" and not tokens[index].depth):
        index += 1
    return index


def _commas(tokens, start, end):
    """Indices of the commas in a range of tokens that stand outside brackets."""
    return [index for index in range(start, end) if tokens[index].text == "," and not tokens[index].depth]


def _close(tokens, opening):
    """The index of the bracket that closes the one at `opening`; `opening` if none does."""
    for index in range(opening + 1, len(tokens)):
        if tokens[index].text in (")", "]", "}") and tokens[index].depth == tokens[opening].depth:
            return index
    return opening


def _starting(tokens, *words):
    """Indices of the statements that start with one of some words."""
    for index, token in enumerate(tokens):
        if token.kind == "name" and token.text in words and _source.starts_statement(tokens, index):
            yield index


def _prints(tokens, text) -> Iterator[Edit]:
    """Calls for print statements; nothing if every ``print`` of the source may be a call already."""
    if _from_future(tokens, "print_function"):
        return
    starts = list(_starting(tokens, "print"))
    if any(_cannot_be_call(tokens, index) for index in starts):
        for index in starts:
            if tokens[index + 1].text not in ("=", "."):
                yield from _print_call(tokens, text, index)


def _cannot_be_call(tokens, index):
    following = tokens[index + 1]
    if following.text != "(":
        return following.kind != "newline" and following.text not in (";", "=", ".")
    return tokens[_close(tokens, index + 1) + 1].text in (",", "%", "+", "*", "-")


def _print_call(tokens, text, index) -> Iterator[Edit]:
    start, first, end = tokens[index].end, index + 1, _end_of_statement(tokens, index)
    if end == first:
        yield start, start, "()"
        return
    close = ")"
    if tokens[end - 1].text == ",":
        close = ' end=" ")'
    if tokens[first].text == ">>":
        commas = _commas(tokens, first, end)
        yield start, tokens[first + 1].start, "(file="
        if commas and commas[0] + 1 < end:  # print(file=f, *(a, b)): the arguments stay where they are
            yield tokens[commas[0] + 1].start, tokens[commas[0] + 1].start, "*("
            close = '), end=" ")' if tokens[end - 1].text == "," else ",))"
    elif text[start] in " \t":
        yield start, start + 1, "("
    else:
        yield start, start, "("
    yield tokens[end - 1].end, tokens[end - 1].end, close


def _statements(tokens, text, filename) -> Iterator[Edit]:
    """``except E, e``, ``raise E, value, traceback``; SyntaxError for ``exec code in namespace``."""
    for index in _starting(tokens, "except", "raise", "exec"):
        token, end = tokens[index], _end_of_statement(tokens, index)
        if token.text == "except":
            colon = next((i for i in range(index, end) if tokens[i].text == ":" and not tokens[i].depth), end)
            for comma in _commas(tokens, index, colon):
                yield tokens[comma].start, tokens[comma].end, " as"
        elif token.text == "raise":
            yield from _raise_call(tokens, index, end)
        elif _is_exec_statement(tokens, index, end):
            line = text.split("\n")[token.line - 1]
            message = "Python 2's exec statement is not translated: write exec(code, namespace)"
            raise SyntaxError(message, (filename, token.line, token.column + 1, line + "\n"))


def _raise_call(tokens, index, end) -> Iterator[Edit]:
    commas = _commas(tokens, index, end)
    if not commas or len(commas) > 2:
        return
    value, after = commas[0] + 1, commas[1] if len(commas) == 2 else end
    spread = tokens[value].text == "(" and _close(tokens, value) == after - 1 and any(
        token.text == "," and token.depth == 1 for token in tokens[value:after]
    )
    yield tokens[commas[0]].start, tokens[commas[0]].end, "(*" if spread else "("
    if len(commas) == 2:
        yield tokens[commas[1]].start, tokens[commas[1]].end, ").with_traceback("
    yield tokens[end - 1].end, tokens[end - 1].end, ")"


def _is_exec_statement(tokens, index, end):
    following = tokens[index + 1]
    if following.text == "(":
        return tokens[_close(tokens, index + 1) + 1].text == "in"
    return end > index + 1 and following.text not in ("=", ".", ",")


def _atoms(tokens) -> Iterator[Edit]:
    """Backquotes, ``<>``, numbers, ``ur`` strings and names."""
    opening = True
    own = _bound_names(tokens)
    for index, token in enumerate(tokens):
        if token.text == "`":
            yield token.start, token.end, "repr(" if opening else ")"
            opening = not opening
        elif token.text == "<>":
            yield token.start, token.end, "!="
        elif token.kind == "number":
            new = re.sub(r"^0(?=[0-7]+$)", "0o", token.text.rstrip("lL"))
            if new != token.text and token.text.strip("0_"):
                yield token.start, token.end, new
        elif token.kind == "string" and token.text[:2].lower() == "ur":
            yield token.start, token.start + 1, ""
        elif token.text in _NAMES and token.text not in own and _is_builtin_use(tokens, index):
            yield token.start, token.end, _NAMES[token.text]


def _is_builtin_use(tokens, index):
    before, after = tokens[index - 1].text if index else "", tokens[index + 1].text
    if before == "." or tokens[index].kind != "name":
        return False
    if tokens[index].text == "long":  # a longitude, too
        return after == "(" or (before == "," and index > 1 and tokens[index - 2].text == "int")
    return True


def _bound_names(tokens):
    """Which of the names the source binds itself."""
    bound = set(_source.bindings(tokens))
    for index, token in enumerate(tokens):
        if token.text in _NAMES and index:
            before, after = tokens[index - 1].text, tokens[index + 1].text
            if before != "." and (after == "=" or before in ("def", "class", "for", "as", "global")):
                bound.add(token.text)
    return bound


def _indents(tokens, text) -> Iterator[Edit]:
    """Spaces for tabs at the start of lines, to the next multiple of eight, where a source indents with both."""
    lines = {}
    for token in tokens:
        if token.line not in lines and token.kind != "newline":
            lines[token.line] = text[token.start - token.column : token.start]
    indents = [(token_line, indent) for token_line, indent in lines.items() if indent and not indent.strip(" \t")]
    if not (any("\t" in indent for _, indent in indents) and any(" " in indent for _, indent in indents)):
        return
    starts = [0]
    for match in re.finditer("\n", text):
        starts.append(match.end())
    for number, indent in indents:
        if "\t" in indent:
            yield starts[number - 1], starts[number - 1] + len(indent), indent.expandtabs(8)
