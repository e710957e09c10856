"""The einsum language: an equation, or operands with their sublists, as rows of integer labels.

Labels 0-25 are A-Z, 26-51 a-z; sublists may hold any others. The dimensions that an ellipsis covers are -1, -2 ...
counted from the right, so that those of different operands line up.
"""
from functools import lru_cache

from .._core.tensor import TensorBase


def label_name(label):
    """A label as the user wrote it."""
    if label < 0:
        return "..."
    return chr(ord("A") + label) if label < 26 else chr(ord("a") + label - 26) if label < 52 else str(label)


def read_arguments(args, optimize, path):
    """The arguments of ``einsum``: the equation (a string, or rows of labels), the operands, and how to find a path."""
    if len(args) < 2 or (len(args) == 2 and isinstance(args[0], str) and args[1] in ([], ())):
        raise ValueError("einsum(): must specify the equation string and at least one operand, or at least one operand "
                         "and its subscripts list")
    if isinstance(args[0], TensorBase):
        operands, rows, output = read_sublists(args)
        source = tuple([tuple(row) for row in rows]), None if output is None else tuple(output)
    else:
        source, operands = args[0], args[1:]
        if not isinstance(source, str):
            raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {type(source).__name__}")
        if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
            operands = tuple(operands[0])
        for i, operand in enumerate(operands):
            if not isinstance(operand, TensorBase):
                raise TypeError(f"expected Tensor as element {i} in argument 1, but got {type(operand).__name__}")
    options = None if optimize is None and path is None else read_options(optimize, path, len(operands))
    return source, tuple(operands), options


def read_options(optimize, path, n_operands):
    """``optimize=`` and ``path=`` in one hashable form: a strategy, or the pairs to contract."""
    if path is None and isinstance(optimize, (list, tuple)):
        path = optimize
    if path is None:
        if optimize not in (True, False, "auto", "greedy", "optimal"):
            raise ValueError(f"einsum(): optimize must be True, False, 'auto', 'greedy' or 'optimal', got {optimize!r}")
        return {True: "auto", False: "left"}.get(optimize, optimize)
    steps, left = [], n_operands
    for step in path:
        if step == "einsum_path":      # the first item of what numpy.einsum_path returns
            continue
        step = tuple(sorted([i.__index__() for i in step]))
        if not step or step[0] < 0 or step[-1] >= left or len(set(step)) != len(step):
            raise ValueError(f"einsum(): path step {step} does not name operands among the {left} that are left")
        steps.append(step)
        left -= len(step) - 1
    if left > 1:
        steps.append(tuple(range(left)))
    return tuple(steps)


def labels_of(source, operands):
    """Rows of labels for operands, the labels of the output, and the size of each label."""
    rows, output = rows_of(source, tuple([x.dim() for x in operands]))
    sizes, owners = {}, {}
    for i, (operand, row) in enumerate(zip(operands, rows)):
        check_sizes(operand, row, i, sizes, owners)
    return rows, output, sizes


@lru_cache(maxsize=1024)
def rows_of(source, dims):
    """Rows of labels for operands of so many dimensions, and the labels of the output; remembered."""
    if isinstance(source, str):
        left, arrow, right = source.partition("->")
        terms = read_terms(left, len(dims))
    else:
        terms, output = source
    rows, widest = cover_dimensions(dims, terms)
    if isinstance(source, str):
        output = read_output(right, len(left) + 2) if arrow else None
    return rows, settle_output(rows, output, widest)


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
    term = []
    for item in items:
        if item is Ellipsis:
            term.append("...")
            continue
        if not hasattr(item, "__index__"):
            raise TypeError(f"einsum(): subscripts must be integers or Ellipsis, got {type(item).__name__}")
        label = item.__index__()
        if label < 0:
            raise ValueError("einsum(): subscript in subscript list is not within the valid range: it is negative")
        term.append(label)
    return term


def read_terms(equation, n_operands):
    """The terms of an equation, which stand before the arrow."""
    terms, at = [], 0
    for piece in equation.split(","):
        last = at + len(piece) == len(equation)
        terms.append(read_term(piece, f"operand {len(terms)}", at))
        at += len(piece) + 1
        if len(terms) >= n_operands and not last:
            raise RuntimeError("einsum(): fewer operands were provided than specified in the equation")
    if len(terms) < n_operands:
        raise RuntimeError("einsum(): more operands were provided than specified in the equation")
    return terms


def read_term(piece, owner, at):
    """The labels of one term, "..." for an ellipsis; `at` is where the piece begins in the equation."""
    return list(term_items(piece, owner, at))


def read_output(piece, at):
    """The labels of the output; one by one where something is wrong with them."""
    try:
        return read_term(piece, "output", at)
    except RuntimeError:
        return term_items(piece, "output", at)


def term_items(piece, owner, at):
    """The labels of one term, one by one, so that what is wrong with the first is said first."""
    dotted, i = False, 0
    while i < len(piece):
        c = piece[i]
        if c == ".":
            if dotted:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found"
                                   if owner == "output" else
                                   f"einsum(): found '.' for {owner} for which an ellipsis was already found")
            if piece[i:i + 3] != "...":
                raise RuntimeError(f"einsum(): found '.' for {owner} that is not part of any ellipsis"
                                   + (" (...)" if owner == "output" else ""))
            dotted = True
            yield "..."
            i += 2
        elif c.isascii() and c.isalpha():
            yield ord(c) - ord("A") if c.isupper() else ord(c) - ord("a") + 26
        elif c != " ":
            raise RuntimeError(f"einsum(): invalid subscript given at index {at + i} in the equation string, "
                               "subscripts must be in [a-zA-Z]")
        i += 1


def cover_dimensions(dims, terms):
    """Rows in which the dimensions under an ellipsis have labels, and the most dimensions that one covers."""
    rows, widest = [], 0
    for i, (ndim, term) in enumerate(zip(dims, terms)):
        dots = term.count("...")
        named = len(term) - dots
        covered = ndim - named
        if dots > 1:
            raise RuntimeError(f"einsum(): found '.' for operand {i} for which an ellipsis was already found")
        if covered < 0 and dots:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) is more than the number "
                               f"of dimensions ({ndim}) for operand {i}")
        if covered and not dots:
            raise RuntimeError(f"einsum(): the number of subscripts in the equation ({named}) does not match the "
                               f"number of dimensions ({ndim}) for operand {i} and no ellipsis was given")
        widest = max(widest, covered)
        row = []
        for t in term:
            row += range(-covered, 0) if t == "..." else [t]
        rows.append(tuple(row))
    return rows, widest


def settle_output(rows, output, widest):
    """The labels of the result; without an output those of an ellipsis, then those that occur once, sorted."""
    labels = [x for row in rows for x in row]
    if output is None:
        return [*range(-widest, 0), *sorted([x for x in set(labels) if x >= 0 and labels.count(x) == 1])]
    known, result, dotted = set(labels), [], False
    for t in output:
        if t == "...":
            if dotted:
                raise RuntimeError("einsum(): found '.' for output but an ellipsis (...) was already found")
            dotted = True
            result += range(-widest, 0)
            continue
        if t in result:
            raise RuntimeError(f"einsum(): output subscript {label_name(t)} appears more than once in the output")
        if t not in known:
            raise RuntimeError(f"einsum(): output subscript {label_name(t)} does not appear in the equation for any "
                               "input operand")
        result.append(t)
    return result


def check_sizes(operand, row, number, sizes, owners):
    """A label has one size in all operands (or 1), and the same one within an operand."""
    own = {}
    for label, n in zip(row, operand.shape):
        if label in own:
            if own[label] != n:
                raise RuntimeError(f"einsum(): subscript {label_name(label)} is repeated for operand {number} but the "
                                   f"sizes don't match, {n} != {own[label]}")
            continue
        own[label] = n
        seen = sizes.get(label, 1)
        if seen == 1:
            sizes[label], owners[label] = n, number
        elif n != 1 and seen != n:
            if label < 0:
                raise RuntimeError(f"einsum(): dimension {len(own) - 1} covered by ellipsis in operand {number} has "
                                   f"size {n} which does not broadcast with previously seen ellipsis with size {seen} "
                                   f"for the respective dimension (operand {owners[label]})")
            raise RuntimeError(f"einsum(): subscript {label_name(label)} has size {n} for operand {number} which does "
                               f"not broadcast with previously seen size {seen} (operand {owners[label]})")
