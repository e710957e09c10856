"""Compiles legacy sources that today's Python does not parse.

``async`` became a reserved word in Python 3.7; older scripts write ``x.cuda(async=True)`` and have parameters of
that name. Both become ``non_blocking``, the name that PyTorch gave the argument. The renaming is done in the syntax
tree, so that every line and column in a traceback is the script's own. With `py2`, Python 2 statements are
translated first (``python2``).

A source that compiles as it stands is never touched.
"""

from __future__ import annotations

from . import source as _source

_AFTER_ASYNC = ("def", "for", "with")


def compile_source(data: bytes | str, filename: str, py2: bool = False):
    """The code object of a module's source. Raises SyntaxError, with the line as the file has it, if nothing helps."""
    if not py2:
        try:
            return compile(data, filename, "exec", dont_inherit=True)
        except SyntaxError as error:
            original = error
    text = _source.decode(data) if isinstance(data, bytes) else data
    rewritten = text
    if py2:
        from .python2 import translate

        rewritten = translate(text, filename)
    elif not _async_names(text):
        raise _explained(original, text, py2)
    try:
        return _compile_renamed(rewritten, filename)
    except SyntaxError as error:
        raise _explained(error, text, py2) from None


def needs_rewriting(data: bytes, filename: str, py2: bool = False) -> bool:
    """Whether `compile_source` would not take a source as it stands."""
    if py2:
        return True
    if b"async" not in data:
        return False
    try:
        compile(data, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return bool(_async_names(_source.decode(data)))
    return False


def _async_names(text):
    """The tokens where ``async`` is an identifier."""
    tokens = _source.scan(text)
    return [
        token for token, after in zip(tokens, tokens[1:], strict=False)
        if token.kind == "name" and token.text == "async" and after.text not in _AFTER_ASYNC
    ]


def _compile_renamed(text, filename):
    import ast

    names = _async_names(text)
    if not names:
        return compile(text, filename, "exec", dont_inherit=True)
    words = ("asink", "azync", "asynq", "a5ync", "as_nc")  # as long as the word itself, so that nothing moves
    stand_in = next(word for word in words if word not in text)
    pieces, position = [], 0
    for token in names:
        pieces += [text[position : token.start], stand_in]
        position = token.end
    tree = ast.parse("".join(pieces) + text[position:], filename)
    for node in ast.walk(tree):
        _rename(node, stand_in)
    return compile(tree, filename, "exec", dont_inherit=True)


def _rename(node, stand_in):
    """Names, parameters and keywords become ``non_blocking``; attributes, methods and modules are ``async`` again."""
    import ast

    if isinstance(node, ast.ClassDef):
        for member in node.body:
            if isinstance(member, ast.FunctionDef) and member.name == stand_in:
                member.name = "async"
    elif isinstance(node, ast.alias) and stand_in in node.name.split("."):
        if node.name == stand_in and node.asname is None:
            node.asname = "non_blocking"
        node.name = ".".join("async" if part == stand_in else part for part in node.name.split("."))
    for field, value in ast.iter_fields(node):
        if value == stand_in and not isinstance(node, ast.Constant):
            setattr(node, field, "async" if field in ("attr", "module") else "non_blocking")
        elif field == "module" and isinstance(value, str):
            node.module = ".".join("async" if part == stand_in else part for part in value.split("."))
        elif field == "names" and isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = ["non_blocking" if name == stand_in else name for name in value]


def _explained(error, text, py2):
    """The same error, showing the line as the file has it, with a hint if the source is Python 2's."""
    from .python2 import looks_old

    lines = text.split("\n")
    if error.lineno and error.lineno <= len(lines):
        error.text = lines[error.lineno - 1] + "\n"
    if not py2 and looks_old(text):
        error.msg = f"{error.msg} (this is Python 2; `shimtorch run --py2` translates its statements)"
    return error
