"""Sources that no longer parse are compiled with the meaning, lines and columns they had."""

import traceback

import pytest

from shimtorch._eras.rewrite import compile_source, needs_rewriting


def run(source, py2=False, **names):
    exec(compile_source(source, "script.py", py2), names)
    return names


def call(*args, **kwargs):
    return args, kwargs


@pytest.mark.parametrize("source, expected", [
    ("r = call(1, async=True)", ((1,), {"non_blocking": True})),
    ("r = call(async = True, device=0)", ((), {"non_blocking": True, "device": 0})),
    ("def f(x, async=False): return call(x, async=async)\nr = f(1, async=2)", ((1,), {"non_blocking": 2})),
    ("r = call('async=True') # async=True\nasync = 1", (("async=True",), {})),
    ("async = 3\nr = call(async)", ((3,), {})),
    ("def f():\n    global async\n    async = 4\nf(); r = call(async)", ((4,), {})),
    ("class A:\n    def async(self): return 5\nr = call(A().async())", ((5,), {})),
    ("async def f(async): return call(async=async)\ntry: f(6).send(None)\nexcept StopIteration as e: r = e.value",
     ((), {"non_blocking": 6})),
])
def test_async_as_a_name(source, expected):
    assert run(source, call=call)["r"] == expected


def test_async_as_a_module():
    import sys
    import types

    sys.modules["async"], sys.modules["pkg.async"] = types.ModuleType("async"), types.ModuleType("pkg.async")
    sys.modules["pkg"] = types.ModuleType("pkg")
    sys.modules["async"].x, sys.modules["pkg.async"].y = 1, 2
    try:
        names = run("import async\nfrom pkg.async import y\nr = async.x, y")
    finally:
        del sys.modules["async"], sys.modules["pkg.async"], sys.modules["pkg"]
    assert names["r"] == (1, 2)


def test_positions_in_tracebacks_are_the_file_s_own():
    code = compile_source("def f(async=1):\n    return call(async=True) + missing\n", "script.py")
    function = next(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    positions = list(function.co_positions()) if hasattr(function, "co_positions") else None  # from Python 3.11 on
    names = {"call": call}
    exec(code, names)
    with pytest.raises(NameError) as info:
        names["f"]()
    assert traceback.extract_tb(info.tb)[-1].lineno == 2
    if positions:
        assert (2, 2, 30, 37) in positions  # `missing`, where it stands in the file


def test_what_compiles_is_left_alone():
    source = b"async def f():\n    async with x: pass\n    async for y in z: pass\n"
    assert not needs_rewriting(source, "script.py")
    assert compile_source(source, "script.py").co_code == compile(source, "script.py", "exec").co_code
    assert not needs_rewriting(b"x = 'async=True'", "script.py")
    assert needs_rewriting(b"f(async=True)", "script.py")
    assert needs_rewriting(b"x = 1", "script.py", py2=True)


@pytest.mark.parametrize("source, line, text", [
    ("x = 1\nf(async=True) +\n", 2, "f(async=True) +\n"),
    ("x = (\n", 1, "x = (\n"),
    ("f(async=True)\n x = 1\n", 2, " x = 1\n"),
])
def test_real_mistakes_are_shown_as_written(source, line, text):
    with pytest.raises(SyntaxError) as info:
        compile_source(source, "script.py")
    assert (info.value.filename, info.value.lineno, info.value.text) == ("script.py", line, text)
    assert "Python 2" not in info.value.msg


@pytest.mark.parametrize("source", [
    "print 'x'", "try: pass\nexcept E, e: pass\nx = 0777", "raise E, 'm'", "x = `y`", "print x,",
])
def test_python_2_is_recognised(source):
    with pytest.raises(SyntaxError, match="shimtorch run --py2"):
        compile_source(source, "script.py")


def test_bytes_with_a_coding_cookie():
    source = b"# -*- coding: latin-1 -*-\nr = call('\xe9', async=True)\n"
    assert run(source, call=call)["r"] == (("é",), {"non_blocking": True})


def test_no_flag_of_ours_reaches_the_script():
    """``from __future__ import annotations`` in ``rewrite`` must not be inherited by what it compiles."""
    assert run("def f(x: int, async=1): pass\nr = f.__annotations__")["r"] == {"x": int}
