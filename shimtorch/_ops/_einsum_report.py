"""``einsum_path``: the contractions of an einsum and what they cost, for people."""
from math import prod

from .._core.contraction import equation_of
from ._einsum_parse import label_name, labels_of, read_arguments
from .contraction import path_of


class PathReport:
    """What ``einsum_path`` found; ``print`` it.

    Attributes: path (positions of the operands of each step), cost and naive_cost (multiplications), largest (elements
    of the largest intermediate result), steps (their equations, each with its cost).
    """

    def __init__(self, rows, output, sizes, path):
        self.path = ["einsum_path", *path]
        labels = {x for row in rows for x in row}
        self.equation = f"{','.join(map(_written, rows))}->{_written(output)}"
        self.naive_cost = prod([sizes[x] for x in labels]) * (len(rows) - 1 + (set(output) != labels) or 1)
        self.steps, self.cost, self.largest = [], 0, 0
        live = [tuple(row) for row in rows]
        for step in path:
            taken = [live[i] for i in step]
            live = [row for i, row in enumerate(live) if i not in step]
            inside = list(dict.fromkeys([x for row in taken for x in row]))
            kept = set(output).union(*live)
            result = tuple(output) if not live else tuple([x for x in inside if x in kept])
            cost = prod([sizes[x] for x in inside]) * max(1, len(taken) - 1 + (len(result) < len(inside)))
            live.append(result)
            if len(live) > 1:
                self.largest = max(self.largest, prod([sizes[x] for x in result]))
            self.cost += cost
            self.steps.append((f"{','.join(map(_written, taken))}->{_written(result)}", cost))

    def __str__(self):
        width = max([len(equation) for equation, _ in self.steps], default=0)
        lines = [f"einsum          {self.equation}", f"at once         {self.naive_cost:,} multiplications",
                 f"by this path    {self.cost:,}", f"largest between {self.largest:,} elements"]
        lines += [f"  {equation:{width}}  {cost:>15,}" for equation, cost in self.steps]
        return "\n".join(lines)

    __repr__ = __str__


def _written(row):
    """Labels as a term of an equation; the dimensions of an ellipsis one by one."""
    return "".join([f"[{label_name(x) if x >= 0 else f'..{-x}'}]" if x < 0 or x >= 52 else label_name(x) for x in row])


def einsum_path(*args, optimize=None, path=None):
    """The order in which ``einsum`` contracts its operands: ``(path, report)``; takes the arguments of ``einsum``.

    The path can be given back as ``einsum(..., path=path)``; the report prints what each step costs.
    """
    source, operands, options = read_arguments(args, optimize, path)
    terms, output, sizes = labels_of(source, operands)
    rows = [tuple(dict.fromkeys(row)) for row in terms]
    steps = path_of(equation_of(source, options), rows, output, sizes)
    report = PathReport(rows, output, sizes, steps)
    return report.path, report
