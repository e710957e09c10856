"""Names that Python, NumPy and Pillow have given up: scripts that say them run all the same."""


def run(python, project, files):
    return python("-m", "shimtorch", "run", "-q", "script.py", cwd=project(files))


def test_names_of_the_standard_library_and_numpy(python, project):
    done = run(python, project, {"script.py": """\
        import collections, fractions, inspect, time
        from collections import Mapping
        import numpy as np
        def f(a, b=2, *c, **d): pass
        def g(a, *, b): pass
        print(issubclass(dict, Mapping), isinstance([], collections.Iterable), fractions.gcd(12, 18))
        spec = inspect.getargspec(f)
        print(tuple(spec), spec.keywords, time.clock() >= 0)
        try:
            inspect.getargspec(g)
        except ValueError as error:
            print("ValueError")
        print(np.zeros(2, dtype=np.int).dtype.kind, np.array([1], np.float).dtype, np.asscalar(np.ones(1)))
        print(np.product([2, 3]), np.Inf, np.alltrue([1, 0]), np.unicode is str, np.float_ is np.float64)
    """})
    assert done.err == ""
    assert done.out.splitlines() == [
        "True True 6", "(['a', 'b'], 'c', 'd', (2,)) d True", "ValueError", "i float64 1.0",
        "6 inf False True True",
    ]


def test_modules_are_completed_when_they_are_imported(python, project):
    done = run(python, project, {
        "script.py": """\
            from PIL import PILLOW_VERSION, Image
            print(PILLOW_VERSION, Image.ANTIALIAS, Image.LINEAR, Image.CUBIC)
        """,
        "PIL/__init__.py": "__version__ = '99.0'\n",
        "PIL/Image.py": "LANCZOS, BILINEAR, LINEAR = 1, 2, 7\n",
    })
    assert done.code == 1 and "AttributeError" in done.err and "'CUBIC'" in done.err  # nothing has taken its place
    project({"PIL/Image.py": "LANCZOS, BILINEAR, BICUBIC, LINEAR = 1, 2, 3, 7\n"})
    assert run(python, project, {}).out == "99.0 1 7 3\n"  # LINEAR is there, and keeps its meaning


def test_only_programs_that_are_run_see_them(check):
    check("""
        import shimtorch._shim.alias as alias
        alias.install()
        import numpy, torch, collections, time
        assert not hasattr(numpy, "int") and not hasattr(collections, "Mapping") and not hasattr(time, "clock")
    """)
