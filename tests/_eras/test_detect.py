"""The era of a script, by the rules of ``detect``: the first that matches, the oldest of script and neighbours."""

import pytest

from shimtorch._eras.detect import choose, judge

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.autograd import Variable, Function
"""


@pytest.mark.parametrize("rule, era, line", [
    (1, "0.3", "x = Variable(data, volatile=True)"),
    (1, "0.3", "x.volatile = True"),
    (1, "0.3", "x = x.cuda(async=True)"),
    (1, "0.3", "x = y.copy_(x, async = True)"),
    (1, "0.3", "total += loss.data[0]"),
    (1, "0.3", "print(net(x).data[0] / 2, Variable(y), z.numpy().item())"),
    (1, "0.3", "import torch.legacy.nn as legacy"),
    (1, "0.3", "from torch.legacy import nn as legacy"),
    (1, "0.3", "net = torch.legacy.nn.Linear(1, 2)"),
    (1, "0.3", "from torch.utils.ffi import create_extension"),
    (2, "0.3", "x = Variable(data)"),
    (2, "0.3", "x = torch.autograd.Variable(data)"),
    (3, "0.4", "with torch.no_grad(): y = Variable(x)"),
    (3, "0.4", "total += loss.item(); y = Variable(x)"),
    (3, "0.4", "d = torch.device('cpu'); F.upsample(x, scale_factor=2)"),
    (3, "0.4", "t = torch.tensor(1); nn.MSELoss(size_average=False)"),
    (3, "0.4", "t = torch.tensor(1); F.mse_loss(x, y, reduce=False)"),
    (3, "0.4", "x = Variable(data, volatile=not train); torch.no_grad()"),
    (3, "0.4", "with torch.no_grad(): y.copy_(x, async = True)"),
    (3, "0.4", "print(net(x).data[0] / 2, Variable(y), torch.no_grad())"),
    (3, "0.4", "net.to('cpu')(Variable(x))"),
    (3, "0.4", "nn.init.normal_(w), Variable(x)"),
    (3, "0.4", "y = Variable(x.requires_grad_())"),
    (3, "0.4", "nn.MSELoss(reduction='sum')(Variable(x), y)"),
    (3, "0.4", "z = Variable(x.to(dtype=torch.float))"),
    (4, "1.0", "torch.gels(a, b)"),
    (4, "1.0", "x, _ = torch.gesv(b, a)"),
    (4, "1.0", "x = b.potrs(u)"),
    (4, "1.0", "x.symeig(eigenvectors=True)"),
    (4, "1.0", "torch.fft(x, 1)"),
    (4, "1.0", "torch.irfft(x, 1)"),
    (4, "1.0", "a.btrifact()"),
    (4, "1.0", "nn.MSELoss(reduction='elementwise_mean')"),
])
def test_each_rule_and_the_line_it_names(rule, era, line):
    choice = judge(HEAD + "\n" + line + "\n", "script.py")
    assert choice == (era, rule, "script.py", 6, line)
    assert str(choice) == f"era {era}, because of script.py:6: {line}"


@pytest.mark.parametrize("line", [
    "",
    "# Variable(x, volatile=True), torch.legacy",
    "'''Variable(x)\n loss.data[0]'''",
    "with torch.no_grad(): print(loss.item())",
    "torch.fft.fft(x), Variable(x)",
    "mask = torch.zeros(2, dtype=torch.bool), Variable(x)",
    "from torch.utils.tensorboard import SummaryWriter; Variable(x)",
    "with torch.cuda.amp.autocast(): Variable(x, volatile=True)",
    "scatter(x, index, reduce='mean'); torch.tensor(1)",
    "nn.MSELoss(size_average=False)",
    "item = self.data[0]",
    "x.data[0] = 1",
    "x.data[0].zero_()",
    "x.data[i], x.data[10], x.data",
    "torch.device('cpu'), dataset.data[0]",
    "class Variable(object): pass",
    "async def f(): pass",
    "volatile == True",
])
def test_nothing_old(line):
    choice = judge(HEAD + line + "\n", "script.py")
    assert choice == ("modern", 5, "script.py", None, None)
    assert str(choice) == "era modern: nothing in script.py points to an older one"


def test_variable_of_another_library_is_none_of_ours():
    assert judge("import torch\nimport tensorflow as tf\ntf.Variable(1)\n").era == "modern"
    assert judge("import torch\nfrom sympy import Variable\nVariable(2)\n").era == "modern"
    assert judge("import torch\nfrom common import *\nVariable(2)\n").era == "0.3"
    assert judge("import torch\nfrom torch.autograd import Variable as V\nV(2)\n").era == "0.3"
    assert judge("import torch as th\nth.autograd.Variable(2)\n").era == "0.3"
    assert judge("import torch as th\nwith th.no_grad(): th.autograd.Variable(2)\n").era == "0.4"


CLASS = """class Relu({base}):
    '''A function.'''

    limit = (1,
2)

    def __init__(self, x):
        self.x = x

    {decorator}
    def forward({first}, x):
        return x

def forward(self): pass
"""


@pytest.mark.parametrize("base, decorator, first, era", [
    ("Function", "", "self", "0.3"),
    ("torch.autograd.Function", "", "self", "0.3"),
    ("torch.autograd.function.InplaceFunction", "@wraps", "self", "0.3"),
    ("Function", "@staticmethod", "self", "modern"),
    ("Function", "@staticmethod", "ctx", "modern"),
    ("nn.Module", "", "self", "modern"),
    ("sympy.Function", "", "self", "modern"),
])
def test_function_with_instance_forward(base, decorator, first, era):
    choice = judge(HEAD + CLASS.format(base=base, decorator=decorator, first=first))
    assert choice.era == era
    if era == "0.3":
        assert (choice.rule, choice.line, choice.text) == (1, 15, "def forward(self, x):")


def test_an_instance_forward_outlived_0_3():
    source = HEAD + CLASS.format(base="Function", decorator="", first="self")
    assert judge(source + "loss.item()\n")[:2] == ("0.4", 3)
    assert judge(source + "x = nn.Identity()\n").era == "modern"


def test_a_class_ends_where_its_body_ends():
    module = "class M(nn.Module):\n    def forward(self, x): pass\n"
    assert judge(HEAD + "class F(Function):\n    pass\n" + module).era == "modern"
    assert judge(HEAD + "class F(Function): pass\n").era == "modern"
    assert judge(HEAD + "class F(Function):\n    def forward(self, x): pass").era == "0.3"


@pytest.mark.parametrize("source", [
    "class F(Function", "class", "class A(", "from", "import", "from . import (", "x.data[", "Variable", ")]}", "'",
])
def test_sources_cut_short_are_judged_all_the_same(source):
    judge(source)
    judge(HEAD + source)


def test_python_2_sources_are_judged():
    assert judge("import torch\nprint 'x', `y`, 0777, 10L <> 3\nprint loss.data[0]\n").line == 3


@pytest.fixture
def project(tmp_path):
    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return str(tmp_path / "train.py")

    return write


@pytest.mark.parametrize("statement, neighbour", [
    ("import model", "model.py"),
    ("import model as m", "model.py"),
    ("from model import Net", "model.py"),
    ("import pkg.model", "pkg/model.py"),
    ("import pkg.sub.model", "pkg/sub/model.py"),
    ("from pkg import model", "pkg/model.py"),
    ("from pkg.model import Net", "pkg/model.py"),
    ("import pkg", "pkg/__init__.py"),
    ("def f():\n    from pkg import *", "pkg/__init__.py"),
    ("from . import model", "model.py"),
])
def test_neighbours_count_and_the_oldest_wins(project, tmp_path, statement, neighbour):
    old = "from torch.autograd import Variable\nx = Variable(y, volatile=True)\n"
    script = project({"train.py": f"import torch\n{statement}\ntorch.gels(a, b)\n", neighbour: old})
    assert choose(script) == ("0.3", 1, str(tmp_path / neighbour), 2, "x = Variable(y, volatile=True)")


def test_script_and_neighbours_are_one_program(project, tmp_path):
    layers = "from torch.autograd import Variable\n\nx = Variable(y)\n"
    script = project({"train.py": "import layers\nprint(loss.item())\n", "layers.py": layers})
    assert choose(script) == ("0.4", 3, str(tmp_path / "layers.py"), 3, "x = Variable(y)")
    project({"train.py": "import layers\nprint(loss)\n"})
    assert choose(script)[:2] == ("0.3", 2)


def test_neighbours_of_neighbours_and_circles(project):
    script = project({
        "train.py": "import a", "a.py": "import b.c",
        "b/__init__.py": "from . import c", "b/c.py": "from ..a import x\nfrom .d import y",
        "b/d.py": "import train, e", "b/e.py": "import torch\ntorch.gels(a, b)",
    })
    assert choose(script).era == "1.0"


def test_modules_elsewhere_do_not_count(project, tmp_path):
    old = "x.cuda(async=True)"
    script = project({
        "src/train.py": "from .. import above\nimport above, site, mod\nimport lib.site_packages", "above.py": old,
        "src/site-packages/mod.py": old, "src/unused.py": old,
    })
    assert choose(str(tmp_path / "src" / "train.py")).era == "modern"
    assert choose(str(tmp_path / "src" / "train.py"), str(tmp_path)).era == "0.3"
    with pytest.raises(OSError):
        choose(script)
