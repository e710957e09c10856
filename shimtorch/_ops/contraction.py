"""``torch.einsum``: the language is read, a path found and a plan made once; then the plan runs on the memory."""
import sys
from math import prod

from .._core import OPS, contraction
from .._core import einsum as core
from .._core.declaring import op
from .._core.planning import plan_of
from .._kernels.paths import find_path
from ._einsum_dtypes import dtypes_of
from ._einsum_parse import labels_of, read_arguments
from ._rules import conj
from .samples import Draw, Samples, call

_samples = Samples([
    call("ii", Draw(3, 3)), call("ii->i", Draw(3, 3)), call("i,j->ij", Draw(3), Draw(4)),
    call("ij,jk", Draw(2, 3), Draw(3, 4)),
    call("bij,bjk->bik", Draw(2, 3, 4), Draw(2, 4, 2)), call("...ij->...ji", Draw(2, 3, 4)),
    call("bn,anm,bm->ba", Draw(2, 3), Draw(4, 3, 2), Draw(2, 2)), call("ij->", Draw(2, 3)), call("ij->j", Draw(2, 3)),
    call("ij,ij->i", Draw(2, 3), Draw(2, 3)), call("...i,...i", Draw(2, 3, 4), Draw(3, 4)),
    call("ij,jk->ik", Draw(2, 1), Draw(3, 4)), call("iij->ij", Draw(2, 2, 3)), call("ba", Draw(2, 3)),
    call("Ab,bA->b", Draw(2, 3), Draw(3, 2)), call("", Draw()), call("...,...->", Draw(2, 3), Draw(3))])


# ---------------------------------------------------------------- plans

def _make_plan(equation, operands, grads):
    terms, output, sizes = labels_of(equation.source, operands)
    codes, narrow = dtypes_of(operands, terms, output, sizes)
    if narrow:
        return contraction.Plan(operands, terms, output, sizes, [sizes[x] for x in output], *codes).as_stages(
            lambda operands: _pair_by_pair(operands, terms, output))
    return plan_of(operands, terms, output, sizes, codes, _path_for(equation, len(operands)), grads)


def _pair_by_pair(operands, terms, output):
    """The result by contractions from left to right, each in a dtype of its own, so that integers wrap as in torch."""
    result, row = operands[0], terms[0]
    for i in range(1, len(operands)):
        later = set(output).union(*terms[i + 1:])
        target = output if i == len(operands) - 1 else [x for x in dict.fromkeys([*row, *terms[i]]) if x in later]
        result, row = core.contract_labelled([result, operands[i]], [row, terms[i]], target), target
    return result


def _path_for(equation, n):
    """The function that finds the path of n operands; None where there is nothing to find."""
    options = equation.options
    if n <= 2 and not isinstance(options, tuple):
        return None
    if isinstance(options, tuple):
        return lambda rows, output, sizes: (options, None)
    return lambda rows, output, sizes: _search(rows, output, sizes, options or _strategy())


def path_of(equation, rows, output, sizes):
    """The steps that an equation is contracted in."""
    n = len(rows)
    if n == 1:
        return [(0,)]
    find = _path_for(equation, n)
    return [(0, 1)] if find is None else list(find(rows, output, sizes)[0])


def _search(rows, output, sizes, strategy):
    largest = max([prod([sizes[x] for x in row]) for row in [*rows, output]])
    path, cost, between = find_path(rows, output, sizes, strategy, max(1 << 26, 4 * largest))
    return path, (cost, between)


def _strategy():
    """What ``torch.backends.opt_einsum`` says, if anyone has asked for it."""
    switches = sys.modules.get(__name__.partition(".")[0] + ".backends.opt_einsum")
    return "auto" if switches is None else (switches.strategy or "auto") if switches.enabled else "left"


contraction.set_planner(_make_plan)


# ---------------------------------------------------------------- with history

def _view(plan, x):
    """The view of x that a plan shows, by ops that are recorded."""
    row, output = list(plan.terms[0]), plan.output
    for label in set(row):
        while row.count(label) > 1:
            first = row.index(label)
            second = row.index(label, first + 1)
            x = x.diagonal(0, first, second)
            row = [k for d, k in enumerate(row) if d not in (first, second)] + [label]
    for k in [k for k in row if k not in output]:        # of size 1
        x = x.select(row.index(k), 0)
        row.remove(k)
    return x.permute([row.index(k) for k in output])


def _gradients(plan, g, operands, shapes, needs):
    """Gradients that can be differentiated, by recorded contractions; the intermediates are made anew, recorded."""
    if sum(needs) == 1 or len(needs) == 2 or not plan.tree:
        return [_from_others(plan, g, operands, shapes[i], i) if needed else None for i, needed in enumerate(needs)]
    values, rows, wants = {}, {}, {}
    for i, x in enumerate(operands):
        rows[i], wants[i] = plan.rows[i], needs[i]
        values[i] = core.contract_labelled([x], [plan.terms[i]], rows[i])
    for a, b, out in plan.tree:
        factors = [a] if b < 0 else [a, b]
        rows[out] = [x for x in plan.rows[out] if any(x in rows[k] for k in factors)]
        values[out] = core.contract_labelled([values[k] for k in factors], [rows[k] for k in factors], rows[out])
        wants[out] = any(wants[k] for k in factors)
    grads, labels = {plan.last: g}, {plan.last: plan.output}
    for a, b, out in reversed(plan.tree):
        for this, other in ((a, b), (b, a)):
            if b < 0:
                grads[a], labels[a] = grads[out], labels[out]
            elif wants[this]:
                labels[this] = [x for x in rows[this] if x in labels[out] or x in rows[other]]
                grads[this] = core.contract_labelled([grads[out], conj(values[other])], [labels[out], rows[other]],
                                                     labels[this])
    return [_spread([grads[i]], [labels[i]], plan, i, shapes[i]) if needed else None for i, needed in enumerate(needs)]


def _from_others(plan, g, operands, shape, i):
    """The gradient of one operand: g contracted with the other operands."""
    factors = [g, *[conj(x) for k, x in enumerate(operands) if k != i]]
    return _spread(factors, [plan.output, *[row for k, row in enumerate(plan.terms) if k != i]], plan, i, shape)


def _spread(factors, rows, plan, i, shape):
    """A product as a gradient of operand i: repeated along what was summed, on diagonals where a label is repeated."""
    fresh = max(plan.sizes, default=0) + 1
    target, rows = [], list(rows)      # a label for each dimension; None where it has size 1
    known = {x for row, f in zip(rows, factors) for x, n in zip(row, f.shape) if n != 1}
    for label, n in zip(plan.terms[i], shape):
        if n != 1 and label in target:               # a diagonal: zero beside it
            factors = [*factors, OPS["torch.eye"](n, dtype=factors[0].dtype, device=factors[0].device)]
            rows.append((label, fresh))
            known.update((label, fresh))
            label, fresh = fresh, fresh + 1
        target.append(None if n == 1 else label)
    result = core.contract_labelled(factors, rows, [x for x in target if x in known])
    return result.reshape([n if x in known else 1 for x, n in zip(target, shape)]).expand(shape)


def _on_sparse(equation, operands):
    from ._einsum_sparse import einsum_sparse
    return einsum_sparse(equation, operands)


def _form(terms, output, operands):
    """What an einsum is in torch: a key of node_names.CONTRACTIONS."""
    if len(operands) == 1:
        return "sum"
    *first, last = [{k for k, n in zip(row, x.shape) if n != 1} for row, x in zip(terms, operands)]
    if last.intersection(set().union(*first)).issubset(output):
        return "product"
    return "dot" if [last] == first and last.isdisjoint(output) else "pair"


core.set_parts(_view, _gradients, _on_sparse, read_arguments, conj, _form)
einsum = op(core.einsum, method=False, takes_list=True, sparse=True, samples=_samples)
