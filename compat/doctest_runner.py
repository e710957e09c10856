"""Runs a document's examples, kept as plain `>>>` text, against a torch module.

The head of a document names its era, or several, and, where it draws random numbers, the seed:

    # era: 1.11 modern
    # seed: 3

Outputs must match exactly, apart from blank lines around them (printed pages drop those that 0.3 put around a tensor)
and spaces at line ends. `# doctest: +MASK` compares the shape of the text alone: floating point numbers, and integers
inside brackets, count as equal.
"""

import doctest
import re

MASK = doctest.register_optionflag("MASK")

_HEAD = re.compile(r"# (era|seed): (.+)\n")
_FLOAT = re.compile(r" *-?\d+\.\d*(?:e[+-]?\d+)?")
_BRACKETS = re.compile(r"\[[^\[\]]*\]")
_NUMBER = re.compile(r" *-?\d+")


def mask(text):
    """`text` with its numbers replaced by `#`: all floats, and integers that stand between square brackets."""
    text = _FLOAT.sub("#", text)
    return _BRACKETS.sub(lambda found: _NUMBER.sub("#", found.group()), text)


def tidy(text):
    """`text` without blank lines around it and without spaces at line ends."""
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n")


class Checker(doctest.OutputChecker):
    """Exact comparison of tidied text, masked where the example asks for it."""

    def check_output(self, want, got, optionflags):
        want, got = tidy(want.replace("<BLANKLINE>", "")), tidy(got)
        if optionflags & MASK:
            want, got = mask(want), mask(got)
        return want == got


def read(path):
    """A document as (its head as a dict, its text)."""
    text = path.read_text(encoding="utf-8")
    return dict(_HEAD.findall(text)), text


def run(path, torch):
    """Run the document at `path` on the module `torch`; return the report of what failed, empty if nothing did."""
    head, text = read(path)
    if "seed" in head:
        torch.manual_seed(int(head["seed"]))
    nn = torch.nn
    names = {"torch": torch, "Variable": torch.autograd.Variable, "nn": nn, "F": nn.functional, "optim": torch.optim}
    test = doctest.DocTestParser().get_doctest(text, names, path.name, str(path), 0)
    assert test.examples, f"{path} holds no example"
    report = []
    doctest.DocTestRunner(checker=Checker(), verbose=False).run(test, out=report.append)
    return "".join(report)
