"""The einsum language: an equation, or operands with their sublists, as lists of integer labels.

Labels 0-25 are A-Z, 26-51 a-z; the dimensions that an ellipsis covers are labelled from ELLIPSIS on, counted from the
right, so that those of different operands line up.
"""
from .._core.tensor import TensorBase

ELLIPSIS = 1 << 20


def label_name(label):
    """A label as the user wrote it."""
    if label >= ELLIPSIS:
        return "..."
    return chr(ord("A") + label) if label < 26 else chr(ord("a") + label - 26) if label < 52 else str(label)


def parse(args):
    """The arguments of ``einsum``: operands, a list of labels for each, and the labels of the output."""
    if len(args) < 2:
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand "
                         "and its subscripts list")
    if isinstance(args[0], TensorBase):
        operands, terms, output = read_sublists(args)
    else:
        if not isinstance(args[0], str):
            raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(args[0]).__name__}")
        operands = args[1:]
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        for i, operand in enumerate(operands):
            if not isinstance(operand, TensorBase):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(operand).__name__}")
        terms, output = read_equation(args[0], len(operands))
    return operands, *cover_dimensions(operands, terms, output)


def read_sublists(args):
    """``op1, [0, 1], op2, [1, 2], [0, 2]``: operands with their labels, and labels of the output at the end."""
    operands, terms, output = [], [], None
    for i in range(0, len(args) - 1, 2):
        if not isinstance(args[i], TensorBase):
            raise TypeError(f"expected Tensor as element {len(operands)} in argument 1, but got "
                            f"{type(args[i]).__name__}")
        operands.append(args[i])
        terms.append(read_sublist(args[i + 1]))
    if len(args) % 2:
        output = read_sublist(args[-1])
    return tuple(operands), terms, output


def read_sublist(items):
    if isinstance(items, TensorBase) or not isinstance(items, (list, tuple)):
        raise TypeError(f"einsum(): expected a subscripts list, got {type(items).__name__}")
    term = []
    for item in items:
        if item is Ellipsis:
            term.append("...")
            continue
        if not hasattr(item, "__index__"):
            raise TypeError(f"einsum(): subscripts must be integers or Ellipsis, got {type(item).__name__}")
        if not 0 <= item.__index__() < 52:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
        term.append(item.__index__())
    return term


def read_equation(equation, n_operands):
    """The terms of an equation string, and its output (None without an arrow)."""
    terms, output, current, owner = [], None, [], "operand 0"
    i = 0
    while i < len(equation):
        c = equation[i]
        if c == " ":
            pass
        elif c == ".":
            if equation[i:i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {owner} that is not part of any ellipsis"
                                   + (" (...)" if owner == "output" else ""))
            if "..." in current:
                raise RuntimeError(f"einsum(): found '.' for {owner} for which an ellipsis (...) was already found"
                                   if owner == "output" else
                                   f"einsum(): found '.' for {owner} for which an ellipsis was already found")
            current.append("...")
            i += 2
        elif c == "," and output is None and owner != "output":
            terms.append(current)
            current, owner = [], f"operand {len(terms)}"
            if len(terms) >= n_operands:
                raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
        elif c == "-" and equation[i:i + 2] == "->" and owner != "output":
            terms.append(current)
            current, owner = [], "output"
            i += 1
        elif c.isascii() and c.isalpha():
            current.append(ord(c) - ord("A") if c.isupper() else ord(c) - ord("a") + 26)
        else:
            raise RuntimeError(f"einsum(): invalid subscript given at index {i} in the equation string, subscripts "
                               "must be in [a-zA-Z]")
        i += 1
    if owner == "output":
        output = current
    else:
        terms.append(current)
    if len(terms) < n_operands:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return terms, output


def cover_dimensions(operands, terms, output):
    """Give the dimensions under an ellipsis their labels, check ranks and sizes, and settle the output."""
    sizes, counts, widest = {}, {}, 0
    labels = []
    for i, (operand, term) in enumerate(zip(operands, terms)):
        named, ndim = sum(t != "..." for t in term), operand.dim()
        covered = ndim - named
        if covered < 0 or (covered and "..." not in term):
            if "..." in term:
                raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) is more than the "
                                   f"number of dimensions ({ndim}) for operand {i}")
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                               f"number of dimensions ({ndim}) for operand {i} and no ellipsis was given")
        widest = max(widest, covered)
        row = []
        for t in term:
            row += [ELLIPSIS + k for k in range(covered - 1, -1, -1)] if t == "..." else [t]
        check_sizes(operand, row, i, sizes)
        labels.append(row)
        for label in row:
            counts[label] = counts.get(label, 0) + 1
    dots = [ELLIPSIS + k for k in range(widest - 1, -1, -1)]
    if output is None:
        return labels, dots + sorted(x for x, n in counts.items() if n == 1 and x < ELLIPSIS)
    result = []
    for t in output:
        if t == "...":
            result += dots
            continue
        if t in result:
            raise RuntimeError(f"einsum(): output subscript {label_name(t)} appears more than once in the output")
        if t not in counts:
            raise RuntimeError(f"einsum(): output subscript {label_name(t)} does not appear in the equation for any "
                               "input operand")
        result.append(t)
    return labels, result


def check_sizes(operand, row, number, sizes):
    """A label has one size in all operands (or 1), and the same one within an operand."""
    own = {}
    for label, n in zip(row, operand.shape):
        if label in own and own[label] != n:
            raise RuntimeError(f"einsum(): subscript {label_name(label)} is repeated for operand {number} but the "
                               f"sizes don't match, {n} != {own[label]}")
        own[label] = n
    for label, n in own.items():
        seen = sizes.get(label, 1)
        if seen != 1 and n != 1 and seen != n:
            raise RuntimeError(f"einsum(): subscript {label_name(label)} has size {n} for operand {number} which does "
                               f"not broadcast with previously seen size {seen}")
        sizes[label] = max(seen, n) if n else n
