"""``shimtorch run``: to the script all is as with ``python``, but for what torch is."""

import signal
import sys

import pytest


@pytest.fixture
def shimtorch(python):
    def run(*arguments, **options):
        return python("-m", "shimtorch", *arguments, **options)

    return run


def test_script_sees_what_python_would_show_it(shimtorch, project, python):
    folder = project({
        "sub/script.py": """
            import sys, os, types
            assert type(__builtins__) is types.ModuleType and sys.modules["__main__"].__dict__ is globals()
            print(__name__, __file__, __package__, __doc__, __cached__, sys.argv, sys.path[0])
            print(type(__loader__).__name__)
            print(os.path.basename(__file__), sorted(n for n in globals() if not n.startswith("__")))
            print(__annotations__ if "__annotations__" in globals() else "")
        """,
    })
    plain = python("sub/script.py", "--flag", "-m", "x", cwd=folder)
    ours = shimtorch("run", "--quiet", "sub/script.py", "--flag", "-m", "x", cwd=folder)
    assert plain.code == ours.code == 0 and plain.out.replace("{}", "") == ours.out.replace("{}", "") and ours.err == ""


def test_torch_is_shimtorch_in_the_script_and_its_neighbours(shimtorch, project):
    folder = project({
        "script.py": """\
            import torch, shimtorch, neighbour
            assert torch is shimtorch is neighbour.torch
            print(torch.__version__)
        """,
        "neighbour.py": "import torch\n",
    })
    done = shimtorch("run", "script.py", cwd=folder)
    assert done.out == "2.13.0\n" and done.err == "shimtorch: era modern: nothing in script.py points to an older one\n"


@pytest.mark.parametrize("options, env, version, reason", [
    ([], {}, "0.3.1.post2", "era 0.3, because of script.py:3: x = Variable(torch.ones(1), volatile=True)"),
    (["--era", "1.0"], {}, "1.0.0", "era 1.0 (--era)"),
    (["--era=0.4"], {"SHIMTORCH_ERA": "1.1"}, "0.4.0", "era 0.4 (--era)"),
    ([], {"SHIMTORCH_ERA": "1.11"}, "1.11.0", "era 1.11 (SHIMTORCH_ERA)"),
    (["-q"], {}, "0.3.1.post2", None),
])
def test_which_era(shimtorch, project, options, env, version, reason):
    folder = project({
        "script.py": """\
            import torch
            from torch.autograd import Variable
            x = Variable(torch.ones(1), volatile=True)
            print(torch.__version__)
        """,
    })
    done = shimtorch("run", *options, "script.py", cwd=folder, env={**env, "PYTHONWARNINGS": "ignore"})
    assert (done.code, done.out) == (0, version + "\n")
    assert done.err == (f"shimtorch: {reason}\n" if reason else "")


def test_an_old_neighbour_decides(shimtorch, project, tmp_path_factory):
    old = "import torch\ndef f(x): return x.cuda(async=True)\n"
    folder = project({"script.py": "import torch, pkg.old\n", "pkg/old.py": old})
    done = shimtorch("run", folder / "script.py", cwd=tmp_path_factory.mktemp("elsewhere"))
    assert done.code == 0
    assert done.err == f"shimtorch: era 0.3, because of {folder}/pkg/old.py:2: def f(x): return x.cuda(async=True)\n"


def test_async_is_rewritten_in_script_and_neighbours_and_leaves_no_bytecode(shimtorch, project):
    folder = project({
        "script.py": """\
            from helper import ask
            def f(x, async=False):
                return x, async
            print(f(1, async=True), ask(async=2))
            import json
        """,
        "helper.py": "def ask(async): return async\n",
    })
    done = shimtorch("run", "-q", "script.py", cwd=folder, env={"PYTHONDONTWRITEBYTECODE": ""})
    assert done.out == "(1, True) 2\n", done.err
    assert not list(folder.rglob("*.pyc"))


def test_python_2(shimtorch, project):
    folder = project({
        "script.py": "from helper import say\nfor i in xrange(2): print i,\nprint\nsay(7 / 2)\n",
        "helper.py": "def say(x):\n    print 'say', `x`\n",
    })
    done = shimtorch("run", "--py2", "script.py", cwd=folder)
    assert done.out == "0 1 \nsay 3.5\n", done.err
    assert "`/` divides integers as in Python 3, first in script.py:4" in done.err
    done = shimtorch("run", "-q", "script.py", cwd=folder)
    assert done.code == 1 and "SyntaxError" in done.err and "`shimtorch run --py2`" in done.err


@pytest.mark.parametrize("statement, code", [
    ("sys.exit()", 0), ("sys.exit(3)", 3), ("sys.exit('bad')", 1), ("raise SystemExit(4)", 4), ("exit(5)", 5),
    ("os._exit(6)", 6),
])
def test_exit_status(shimtorch, python, project, statement, code):
    folder = project({"script.py": f"import atexit, os, sys\natexit.register(print, 'bye')\n{statement}\n"})
    ours, plain = shimtorch("run", "-q", "script.py", cwd=folder), python("script.py", cwd=folder)
    assert (ours.code, ours.out, ours.err) == (plain.code, plain.out, plain.err) and ours.code == code


@pytest.mark.parametrize("files", [
    {"script.py": "def f(x):\n    return x / 0\n\nf(1)\n"},
    {"script.py": "try:\n    {}['a']\nexcept KeyError as error:\n    raise ValueError('b') from error\n"},
    {"script.py": "try:\n    {}['a']\nfinally:\n    missing\n"},
    {"script.py": "import helper\n", "helper.py": "def f():\n    raise ImportError('no')\nf()\n"},
    {"script.py": "import no_such_module\n"},
    {"script.py": "x = 1\nif x\n    pass\n"},
    {"script.py": "import helper\n", "helper.py": "x = (\n"},
    {"script.py": "import sys\nsys.excepthook = lambda *a: print('hook', a[0].__name__)\n1 / 0\n"},
    {"script.py": "raise KeyboardInterrupt\n"},
    {"script.py": "import threading\nthreading.Thread(target=lambda: 1 / 0).start()\n"},
    {"script.py": "import warnings\nwarnings.warn('old', DeprecationWarning)\n"},
])
def test_tracebacks_are_python_s(shimtorch, python, project, files):
    folder = project(files)
    ours, plain = shimtorch("run", "-q", "script.py", cwd=folder), python("script.py", cwd=folder)
    assert (ours.code, ours.out) == (plain.code, plain.out)
    assert ours.err.replace("0x", "") == plain.err.replace("0x", "")


def test_traceback_through_a_rewritten_file(shimtorch, project):
    folder = project({
        "script.py": "import helper\ndef f(async): return helper.g(async=async)\nf(async=0)\n",
        "helper.py": "def g(async):\n    return 1 / async\n",
        "broken.py": "def g(async):\n  return (\n",
        "importer.py": "import broken\n",
    })
    done = shimtorch("run", "-q", "script.py", cwd=folder)
    lines = [line for line in done.err.splitlines() if line.strip(" ^~")]
    assert lines == [
        "Traceback (most recent call last):",
        f'  File "{folder}/script.py", line 3, in <module>', "    f(async=0)",
        f'  File "{folder}/script.py", line 2, in f', "    def f(async): return helper.g(async=async)",
        f'  File "{folder}/helper.py", line 2, in g', "    return 1 / async",
        "ZeroDivisionError: division by zero",
    ]
    done = shimtorch("run", "-q", "importer.py", cwd=folder)
    assert "_shim" not in done.err and "importlib" not in done.err
    assert f'File "{folder}/importer.py", line 1' in done.err and f'File "{folder}/broken.py", line 2' in done.err


def test_a_signal_ends_it_as_it_ends_python(shimtorch, project):
    folder = project({"script.py": "import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(5)\n"})
    done = shimtorch("run", "-q", "script.py", cwd=folder)
    assert done.code == -signal.SIGINT and "KeyboardInterrupt" in done.err


def test_module(shimtorch, python, project):
    folder = project({
        "pkg/__init__.py": "",
        "pkg/tool.py": """
            import sys
            from . import friend
            from .friend import answer
            print(__name__, __package__, __file__, sys.argv, sys.path[0], answer)
        """,
        "pkg/friend.py": "answer = 42\n",
        "pkg/__main__.py": "from .friend import answer\nimport sys\nprint('main', answer, sys.argv[1:])\nsys.exit(3)\n",
        "pkg/old.py": "import torch\nx = [1]\ndef f(async): return async\nprint(f(async=8), torch.__version__)\n",
    })
    for arguments in (["pkg.tool", "--era", "x"], ["pkg", "-q"]):
        ours = shimtorch("run", "-q", "-m", *arguments, cwd=folder)
        plain = python("-m", *arguments, cwd=folder)
        assert (ours.code, ours.out, ours.err) == (plain.code, plain.out, plain.err)
    done = shimtorch("run", "-mpkg.old", cwd=folder)
    assert done.out == "8 0.3.1.post2\n"
    assert done.err == "shimtorch: era 0.3, because of pkg/old.py:4: print(f(async=8), torch.__version__)\n"


def test_a_module_of_torch(shimtorch):
    done = shimtorch("run", "-q", "-m", "torch.nn.functional", env={"PYTHONWARNINGS": "ignore"})
    assert done.code == 0, done.err


def test_a_folder_with_main(shimtorch, project):
    folder = project({"app/__main__.py": "import sys, other\nprint(other.x, sys.argv)\n", "app/other.py": "x = 1\n"})
    assert shimtorch("run", "-q", "app", "y", cwd=folder).out == "1 ['app', 'y']\n"


def test_what_is_not_there(shimtorch, project):
    folder = project({"pkg/__init__.py": "", "importing.py": "import no_such\n"})
    done = shimtorch("run", "no_such.py", cwd=folder)
    missing = f"shimtorch: can't open file '{folder}/no_such.py': [Errno 2] No such file or directory\n"
    assert (done.code, done.err) == (2, missing)
    for name in ("no_such", "no_such.sub", "pkg", "pkg.no_such"):
        done = shimtorch("run", "-q", "-m", name, cwd=folder)
        assert done.code == 1 and done.err.startswith(f"shimtorch: No module named {name}"), done.err
    done = shimtorch("run", "-q", "-m", "importing", cwd=folder)
    assert done.code == 1 and "ModuleNotFoundError: No module named 'no_such'" in done.err


PROCESSES = """
import multiprocessing, sys
import torch
from other import g

class Net(torch.nn.ReLU):
    pass

def f(net, async=True):
    import torch.optim
    return type(net).__name__, torch.__version__, type(torch.nn.ReLU()).__module__, g(net), __name__ != "__main__"

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(1) as pool:
        print(pool.map(f, [Net()]))
"""


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
@pytest.mark.parametrize("target", [["script.py"], ["-m", "script"]])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows only spawns")
def test_child_processes_find_torch_too(shimtorch, project, method, target):
    folder = project({"script.py": PROCESSES, "other.py": "import torch\ndef g(x, async=1): return async\n"})
    done = shimtorch("run", "-q", "--era", "0.4", *target, method, cwd=folder, env={"PYTHONWARNINGS": "ignore"})
    assert done.code == 0, done.err
    assert done.out == f"[('Net', '0.4.0', 'torch.nn.modules.activation', 1, {method != 'fork'})]\n"


def test_a_program_started_anew_by_its_spec(shimtorch, project):
    """As launchers do that look whether ``__main__`` was run by ``-m``."""
    folder = project({
        "script.py": """
            import subprocess, sys, torch
            print(torch.__version__, sys.argv[1:], flush=True)
            if len(sys.argv) == 1:
                sys.exit(subprocess.call([sys.executable, "-m", __spec__.name, "again"]))
            sys.exit(9)
        """,
    })
    done = shimtorch("run", "-q", "--era", "1.0", "script.py", cwd=folder)
    assert (done.code, done.out) == (9, "1.0.0 []\n1.0.0 ['again']\n"), done.err


def test_rerun_by_hand_is_refused(python):
    done = python("-m", "shimtorch._shim.rerun")
    assert done.code == 1 and "runs only in programs started by `shimtorch run`" in done.err
