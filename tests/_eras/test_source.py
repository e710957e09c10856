"""The scanner tells code from strings and comments in sources of any age, and follows imports."""

import io
import os
import tokenize

import pytest

from shimtorch._eras.source import bindings, decode, imports, scan, uses


def texts(source):
    return [token.text for token in scan(source) if token.kind != "newline"]


@pytest.mark.parametrize("source, expected", [
    ("a = 1 # b\n", ["a", "=", "1"]),
    ("print `x`, 0777, 10L <> 2", ["print", "`", "x", "`", ",", "0777", ",", "10L", "<>", "2"]),
    ("'a # b' + ur\"\\\"x\" '''y\n'z'''", ["'a # b'", "+", 'ur"\\"x"', "'''y\n'z'''"]),
    ("x.data[0]", ["x", ".", "data", "[", "0", "]"]),
    ("x = a \\\n  + b", ["x", "=", "a", "+", "b"]),
    ("'unterminated\nx", ["'unterminated", "x"]),
    ("'''unterminated\nx", ["'''unterminated\nx"]),
    ("1.5e-3j .5 0x1F 1_000", ["1.5e-3j", ".5", "0x1F", "1_000"]),
    ("é = 1", ["é", "=", "1"]),
    ("", []),
])
def test_tokens(source, expected):
    assert texts(source) == expected


def test_positions_and_logical_lines():
    source = "f(a,\n  b)\n\n# comment\nc\n"
    tokens = scan(source)
    names = [(token.text, token.line, token.column) for token in tokens if token.kind == "name"]
    assert names == [("f", 1, 0), ("a", 1, 2), ("b", 2, 2), ("c", 5, 0)]
    assert [t.line for t in tokens if t.kind == "newline"] == [2, 5, 6]
    assert all(source[t.start:t.end] == t.text for t in tokens)


@pytest.mark.parametrize("module", ["typing", "tokenize", "argparse"])
def test_agrees_with_tokenize(module):
    """Names and strings are those that Python's own tokenizer sees."""
    path = os.path.join(os.path.dirname(tokenize.__file__), module + ".py")
    with open(path, "rb") as file:
        data = file.read()
    skipped = {
        tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
        tokenize.ENDMARKER, tokenize.STRING,
    }
    middle = getattr(tokenize, "FSTRING_START", None)
    expected, depth = [], 0
    for token in tokenize.tokenize(io.BytesIO(data).readline):
        if middle is not None and token.type in (middle, tokenize.FSTRING_END):
            depth += 1 if token.type == middle else -1
        elif not depth and token.type not in skipped:
            expected.append((token.string, token.start[0]))
    assert [(t.text, t.line) for t in scan(decode(data)) if t.kind not in ("newline", "string")] == expected


def test_decode_reads_any_bytes():
    assert decode(b"# coding: latin-1\nx = '\xe9'\r\n") == "# coding: latin-1\nx = 'é'\n"
    assert decode(b"x = '\xe9'") == "x = 'é'"
    assert decode(b"# coding: no-such-codec\n") == "# coding: no-such-codec\n"


def test_imports():
    source = "import a, b.c as d\nfrom .. import (e as f,\n  g)\nif x: from h.i import *\nx = 'import j'\n"
    source += "from . k import l\n"
    found = [(i.module, i.name, i.asname, i.level) for i in imports(scan(source))]
    assert found == [
        ("a", None, None, 0), ("b.c", None, "d", 0), ("", "e", "f", 2), ("", "g", None, 2), ("h.i", "*", None, 0),
        ("k", "l", None, 1),
    ]


def test_bindings_follow_every_kind_of_alias():
    source = (
        "import torch.nn as nn, torch.optim\nfrom torch.autograd import *\nfrom torch import cuda as c\n"
        "F = torch.nn.functional\nimport numpy as np\nfrom . import torch_utils\n"
    )
    assert bindings(scan(source)) == {
        "nn": "torch.nn", "torch": "torch", "Variable": "torch.autograd.Variable",
        "Function": "torch.autograd.Function", "c": "torch.cuda", "F": "torch.nn.functional", "np": "numpy",
        "torch_utils": ".torch_utils",
    }


def test_uses_are_resolved_and_keywords_and_attributes_are_not_uses():
    source = "import torch.nn.functional as F\nF.relu(x.F, F=1)\ndef F(): pass\n"
    tokens = scan(source)
    found = [use.qualified for use in uses(tokens, bindings(tokens))]
    assert found == ["torch.nn.functional", "torch.nn.functional.relu"]
