"""``shimtorch report``: the names of torch that a script uses, and those that are missing."""

import pytest

from shimtorch._shim.cli import main
from shimtorch._shim.report import examine

SCRIPT = """\
import argparse
import torch
import torch.nn as nn
import torch.no_such_module.x as y
from torch import optim, no_such_name
from torch.nn import functional as F, no_such_layer
from torch.autograd import *
import numpy as np
import helper

parser = argparse.ArgumentParser()
parser.add_argument("x")

class Net(nn.Module):
    def twist(self, x):
        self.mine = len
        return F.relu(x).no_such_method(), self.mine(x)

net = Net()
net.twist(torch.zeros(1).cuda()).view(1)
optimizer = optim.SGD(net.parameters(), lr=1)
optimizer.step()
x = Variable(torch.no_such_function(1))
np.no_such_thing()
torch.float32.no_such_field
"a b".split().append(1)
nn.NoSuchLayer.attribute
"""


@pytest.fixture
def script(project, monkeypatch):
    folder = project({"script.py": SCRIPT, "helper.py": "import torch as th\nth.another_missing, th.ones\n"})
    monkeypatch.chdir(folder)
    return str(folder / "script.py")


def test_names_are_resolved_and_looked_up(script):
    report = examine(script)
    assert report.choice[:4] == ("0.3", 2, "script.py", 23)
    assert report.missing == {
        "torch.no_such_module": "script.py:4", "torch.no_such_name": "script.py:5",
        "torch.nn.no_such_layer": "script.py:6", "torch.no_such_function": "script.py:23",
        "torch.nn.NoSuchLayer": "script.py:27", "torch.another_missing": "helper.py:2",
    }
    present = {"torch.nn.Module", "torch.nn.functional.relu", "torch.optim.SGD", "torch.zeros", "torch.ones"}
    assert present <= set(report.present)
    assert report.methods == {".no_such_method()": "script.py:17"}


def test_printed(script, capsys):
    assert main(["report", script]) == 1
    out = capsys.readouterr().out
    assert out.startswith("era 0.3, because of script.py:23: x = Variable(torch.no_such_function(1))\n6 of ")
    assert "  torch.no_such_module    script.py:4\n" in out and "  .no_such_method()  script.py:17\n" in out
    assert main(["report", "--all", "--era", "modern", script]) == 1
    out = capsys.readouterr().out
    assert out.startswith("era modern\nthere:\n") and "torch.optim.SGD" in out


def test_nothing_missing(project, capsys):
    folder = project({"good.py": "import torch\ntorch.ones(1).sum().backward()\n", "none.py": "print 'x'\n"})
    assert main(["report", str(folder / "good.py")]) == 0
    assert "\n0 of 2 names of torch are missing\n" in capsys.readouterr().out
    assert main(["report", str(folder / "none.py")]) == 0
    assert capsys.readouterr().out.endswith("no name of torch is used\n")
    assert main(["report", str(folder / "absent.py")]) == 2
    assert "can't open file" in capsys.readouterr().err
