"""Python 2 statements in Python 3's words, line for line."""

import io

import pytest

from shimtorch._eras.python2 import divides, looks_old, translate
from shimtorch._eras.rewrite import compile_source


@pytest.mark.parametrize("old, new", [
    ('print "a", b', 'print("a", b)'),
    ("print", "print"),
    ("print 1\nprint", "print(1)\nprint()"),
    ("print a,", 'print(a, end=" ")'),
    ("print>>f, a, b", "print(file=f, *(a, b,))"),
    ("print >>f", "print(file=f)"),
    ("print >>f, a,", 'print(file=f, *(a,), end=" ")'),
    ('print ("a %d") % 3', 'print(("a %d") % 3)'),
    ("print (a), b", "print((a), b)"),
    ("print 1; print(a, b)", "print(1); print((a, b))"),
    ("if x: print a\nelse: print b", "if x: print(a)\nelse: print(b)"),
    ("print a, \\\n  b", "print(a, \\\n  b)"),
    ("print [a,\n b]", "print([a,\n b])"),
    ("print a # b", "print(a) # b"),
    ("print(a, b)", "print(a, b)"),
    ("print(a).b", "print(a).b"),
    ("from __future__ import print_function\nprint (a), b", "from __future__ import print_function\nprint (a), b"),
    ("x.print = print_", "x.print = print_"),
    ("try: pass\nexcept (A, B), e: pass", "try: pass\nexcept (A, B) as e: pass"),
    ("try: pass\nexcept (A, B): pass", "try: pass\nexcept (A, B): pass"),
    ('raise E, "m"', 'raise E( "m")'),
    ("raise E, (1, 2)", "raise E(* (1, 2))"),
    ("raise E, m, tb", "raise E( m).with_traceback( tb)"),
    ("raise E(1, 2)", "raise E(1, 2)"),
    ("`a` + `b`", "repr(a) + repr(b)"),
    ("a <> b", "a != b"),
    ("0777 + 10L + 0xFFL + 0 + 0L + 0.5 + 07.5", "0o777 + 10 + 0xFF + 0 + 0 + 0.5 + 07.5"),
    ("ur'\\d' + u'x'", "r'\\d' + u'x'"),
    ("xrange(3), raw_input(), unicode(x), unichr(3), basestring", "range(3), input(), str(x), chr(3), str"),
    ("long(x), isinstance(x, (int, long)), lat, long", "int(x), isinstance(x, (int, int)), lat, long"),
    ("try: xrange\nexcept NameError: xrange = range", "try: xrange\nexcept NameError: xrange = range"),
    ("x.unicode, f(unicode=1)", "x.unicode, f(unicode=1)"),
    ("if x:\n\ta\n        b", "if x:\n        a\n        b"),
    ("if x:\n\ta\n\tb", "if x:\n\ta\n\tb"),
    ("'''\n\tprint x\n'''\n x", "'''\n\tprint x\n'''\n x"),
    ("", ""),
])
def test_translation(old, new):
    assert translate(old) == new
    assert translate(old).count("\n") == old.count("\n")


def test_a_whole_script_runs():
    source = b"""
import sys
class E(Exception): pass
def f(n):
    for i in xrange(n):
        print "%d" % i,
    print
    try:
        raise E, ("a", `n`)
    except E, e:
        print >>out, e.args, 010
f(2)
"""
    out, stdout = io.StringIO(), io.StringIO()
    names = {"out": out, "print": lambda *values, **options: print(*values, **{"file": stdout, **options})}
    exec(compile_source(source, "script.py", py2=True), names)
    assert stdout.getvalue() == "0 1 \n"
    assert out.getvalue() == "('a', '2') 8\n"


@pytest.mark.parametrize("statement", ["exec code", "exec code in ns", "exec(code) in ns", "exec 'x = 1'"])
def test_exec_statements_are_refused(statement):
    with pytest.raises(SyntaxError, match="exec statement is not translated") as info:
        compile_source(f"x = 1\nif x: {statement}\n", "script.py", py2=True)
    assert (info.value.filename, info.value.lineno, info.value.text) == ("script.py", 2, f"if x: {statement}\n")


def test_exec_calls_are_not():
    assert translate("exec(code)\nexec(code, ns)\n") == "exec(code)\nexec(code, ns)\n"


def test_divides():
    assert divides("x = 1\ny = x / 2\n") == 2
    assert divides("# a / b\nx = '/' ; y = x // 2\n") is None
    assert divides("from __future__ import division\nx /= 2\n") is None


def test_looks_old():
    assert looks_old("print x") and looks_old("x <> y") and looks_old("print >>f, x")
    assert not looks_old("print(x)\ntry: pass\nexcept (A, B): pass\nprint\nprint = 3\n")
