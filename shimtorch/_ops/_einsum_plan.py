"""Plans of contractions: which loops, or which matrix products, run over the memory of which operands.

A dimension of a loop is a tuple: its size, then the strides of the result and of the sources in elements, 0 where one
lacks it. Times are rough, in nanoseconds: they only have to put the ways of doing a thing in order.
"""
from math import prod

from .._core import contraction as core
from .._core.contraction import Step

# ns: a multiplication in a BLAS, in the kernel for small matrices, in a loop over contiguous and over other memory
_BLAS, _SMALL, _GEMM, _LINE, _STRIDED = 0.02, 0.06, 0.3, 0.12, 0.9
_BLAS_CALL, _SMALL_CALL, _GEMM_CALL, _LINE_CALL, _STEP, _COPIED = 250, 25, 120, 6, 120, 0.5


class Builder:
    """The steps of a plan under construction. A slot holds an operand or what a step made, seen as unique labels."""

    def __init__(self, code, sizes):
        self.code, self.sizes = code, sizes
        self.steps, self.tree = [], []
        self.rows, self.strides = [], []          # of each slot: its labels, and the stride of each label

    def slot(self, row, strides):
        """A new slot; its number."""
        self.rows.append(tuple(row))
        self.strides.append(strides)
        return len(self.rows) - 1

    def count(self, labels):
        return prod([self.sizes[x] for x in labels])

    def contiguous(self, order):
        """The strides of a tensor without gaps whose dimensions have this order."""
        strides, n = {}, 1
        for x in reversed(order):
            strides[x] = n
            n *= self.sizes[x]
        return strides

    def made(self, order):
        """A new slot for the result of a step, in this order."""
        return self.slot(order, self.contiguous(order))

    def merged(self, labels, operands):
        """Loops over labels, outermost first, neighbours made one where every operand allows it."""
        dims = []
        for x in labels:
            dim = (self.sizes[x], *[s.get(x, 0) for s in operands])
            if dims and all(a == b * dim[0] for a, b in zip(dims[-1][1:], dim[1:])):
                dim = (dim[0] * dims.pop()[0], *dim[1:])
            dims.append(dim)
        return dims

    # ---------------------------------------------------------------- one operand

    def total(self, source, keep, order=None):
        """The slot of an operand summed over the labels that are not in keep."""
        row, strides = self.rows[source], self.strides[source]
        dropped = sorted([x for x in row if x not in keep], key=lambda x: -strides[x])
        if not dropped:
            return source
        groups = []                    # of labels that can be summed as one dimension
        for x in dropped:
            if groups and strides[groups[-1][-1]] == strides[x] * self.sizes[x]:
                groups[-1].append(x)
            else:
                groups.append([x])
        group = max(groups, key=self.count)
        last = len(groups) == 1
        kept = [x for x in row if x not in group]
        if not (last and order is not None):
            kept.sort(key=lambda x: -strides[x])
        else:
            kept = [x for x in order if x in kept]
        out = self.made(kept)
        dims = self.merged(kept, (self.strides[out], strides)) or [(1, 0, 0)]
        inner = min(range(len(dims)), key=lambda i: dims[i][2])
        dims.append(dims.pop(inner))
        dims.insert(len(dims) - 1, (self.count(group), 0, strides[group[-1]]))
        self.steps.append(Step(core.SUM_STEP, self.code, (source,), out, (self.count(kept),), dims))
        self.tree.append((source, -1, out))
        return out if last else self.total(out, keep, order)

    def copy(self, source, order, tracked=True):
        """The slot of an operand in another order, with labels that it lacks spread out."""
        out = self.made(order)
        dims = self.merged(order, (self.strides[out], self.strides[source]))
        self.steps.append(Step(core.COPY_STEP, self.code, (source,), out, (self.count(order),), dims))
        if tracked:
            self.tree.append((source, -1, out))
        return out

    # ---------------------------------------------------------------- two operands

    def pair(self, a, b, keep, order=None):
        """The slot of the product of two slots, summed over what is not in keep; its labels in `order` if given."""
        a, b = (self.total(x, keep.union(self.rows[y])) for x, y in ((a, b), (b, a)))
        both = [x for x in self.rows[a] if x in self.rows[b]]
        inside = [x for x in both if x not in keep]
        natural = self.natural(a, b, [x for x in both if x in keep])
        big = a if self.count(self.rows[a]) >= self.count(self.rows[b]) else b
        like_big = [x for x in sorted(self.rows[big], key=lambda x: -self.strides[big][x]) if x in keep]
        like_big = [x for x in natural if x not in like_big] + like_big
        best = None
        orders = [natural, like_big] if order is None else [order, natural, like_big]
        for i, candidate in enumerate(orders):
            if candidate in orders[:i]:
                continue
            extra = 0 if order is None or candidate == order else _STEP + 2 * _COPIED * self.count(order)
            for cost, way in self.ways(a, b, inside, candidate):
                if best is None or cost + extra < best[0]:
                    best = cost + extra, way, candidate
            if self.is_plain(best[1]):
                break
        _, (pack_a, pack_b, kind, dims, matrix, add), chosen = best
        sources = (self.copy(a, pack_a, False) if pack_a else a, self.copy(b, pack_b, False) if pack_b else b)
        if matrix is not None and matrix[1]:      # the factors change places
            sources = sources[::-1]
        out = self.made(chosen)
        self.steps.append(Step(kind, self.code, sources, out, (self.count(chosen),), dims,
                               None if matrix is None else matrix[0], add))
        self.tree.append((a, b, out))
        return out if order is None or chosen == order else self.copy(out, order)

    def natural(self, a, b, batch):
        """The result's labels as a matrix product makes them: batch, left, right, each as they lie in memory."""
        sa, sb = self.strides[a], self.strides[b]
        left = [x for x in self.rows[a] if x not in sb]
        right = [x for x in self.rows[b] if x not in sa]
        left.sort(key=lambda x: -sa[x])
        right.sort(key=lambda x: -sb[x])
        return sorted(batch, key=lambda x: -sa[x]) + left + right

    def ways(self, a, b, inside, order):
        """The ways to make a product in an order of its labels: (cost, what to do)."""
        c = self.contiguous(order)
        sa, sb = self.strides[a], self.strides[b]
        labels = list(order) + inside
        if not inside:
            dims = self.merged(order, (c, sa, sb))
            yield self.line_cost(dims, True), (None, None, core.MULTIPLY_STEP, dims, None, False)
            return
        dims = self.nest(labels, (c, sa, sb))
        yield self.line_cost(dims, False), (None, None, core.NEST_STEP, dims, None, False)
        if self.count(labels) <= 32:
            return
        batch = [x for x in order if x in sa and x in sb]
        left = [x for x in order if x in sa and x not in sb]
        right = [x for x in order if x in sb and x not in sa]
        for pack_a in (False, True):
            for pack_b in (False, True):
                along = sorted(inside, key=lambda x: -(sb if pack_a and not pack_b else sa)[x])
                row_a, row_b = batch + left + along, batch + along + right
                ta = self.contiguous(row_a) if pack_a else sa
                tb = self.contiguous(row_b) if pack_b else sb
                found = self.matrices([self.merged(group, (c, ta, tb)) for group in (batch, left, along, right)])
                if found is not None and not (pack_a or pack_b) and self.is_plain((None, None, *found[1:])):
                    yield found[0], (None, None, *found[1:])
                    return
                if found is not None:
                    cost = found[0]
                    if pack_a:
                        cost += _STEP + 2 * _COPIED * self.count(row_a)
                    if pack_b:
                        cost += _STEP + 2 * _COPIED * self.count(row_b)
                    yield cost, (row_a if pack_a else None, row_b if pack_b else None, *found[1:])

    @staticmethod
    def is_plain(way):
        """Whether a way is one product of matrices, or one batch of them, that lie as a product wants them."""
        pack_a, pack_b, _, dims, matrix, _ = way
        return (matrix is not None and not pack_a and not pack_b and len(dims) <= 1
                and 1 in matrix[0][3:5] and 1 in matrix[0][5:7])

    def nest(self, labels, operands):
        """Loops over all labels, in the order of the largest operand's memory, the best one innermost."""
        big = max(operands[1:], key=lambda s: self.count(s))
        labels = sorted(labels, key=lambda x: -big.get(x, 1 << 62))
        dims = self.merged(labels, operands) or [(1,) + (0,) * len(operands)]
        inner = min(range(len(dims)), key=lambda i: (sum([s > 1 for s in dims[i][1:]]), -dims[i][0]))
        dims.append(dims.pop(inner))
        return dims

    def line_cost(self, dims, writes):
        total = prod([d[0] for d in dims])
        inner = dims[-1] if dims else (1, 0)
        even = all([s <= 1 for s in inner[1:]])
        return _STEP + total * (_LINE if even else _STRIDED) + total / inner[0] * _LINE_CALL * (1 if writes else 1.5)

    def matrices(self, groups):
        """The best matrix product over loops: (cost, kind, dims, (matrix, swapped), add), or None."""
        batch, left, inside, right = groups
        best = None
        one = (1, 0, 0, 0)
        for m in left or [one]:
            for n in right or [one]:
                for k in inside:
                    loops = [d for d in batch + left + right + inside if d not in (m, n, k)]
                    for swap in (False, True):
                        p = self.product(m, n, k, swap, len(inside) > 1)
                        if p is None:
                            continue
                        cost = _STEP + p[0] * prod([d[0] for d in loops])
                        if best is None or cost < best[0]:
                            if swap:
                                loops = [(d[0], d[1], d[3], d[2]) for d in loops]
                            best = cost, p[1], loops, (p[2], swap), len(inside) > 1
        return best

    def product(self, m, n, k, swap, add):
        """One matrix product: (cost, kind, matrix), or None if nothing here can do it as the operands lie."""
        (ma, mb), (ka, kb) = ((2, 3), (2, 3)) if not swap else ((3, 2), (3, 2))
        if swap:
            m, n = n, m
        rows, cols, depth = m[0], n[0], k[0]
        sa, sb = (m[ma], k[ka]), (k[kb], n[mb])
        sc = (m[1], n[1])
        work = rows * cols * depth
        if sc[1] != 1 and cols != 1:
            return None
        matrix = (rows, cols, depth, *sa, *sb, *sc)
        blas = core.has_blas(self.code)
        found = []
        if core.has_small(self.code) and depth <= core.SMALL_DEPTH and work <= 1 << 18:
            lanes = -(-cols // 8) * 8
            packs = depth * lanes if sb[1] != 1 or cols % 8 else 0
            found.append((_SMALL_CALL + rows * lanes * depth * _SMALL + packs, core.SMALL_STEP, matrix))
        if blas and core.lies_for_blas(rows, depth, *sa) and core.lies_for_blas(depth, cols, *sb):
            slow = 0.25 if 1 in (rows, cols) else _BLAS * (1 + 4 / rows) * (1 + 8 / cols) * (1 + 8 / depth)
            found.append((_BLAS_CALL + work * slow, core.PRODUCTS_STEP, matrix))
        if not blas and not add:
            found.append((_GEMM_CALL + work * _GEMM, core.PRODUCTS_STEP, matrix))
        return min(found, default=None)

    # ---------------------------------------------------------------- several operands at once

    def fused(self, slots, keep, order):
        """The slot of the product of all slots in one nest of loops."""
        inside = []
        for s in slots:
            inside += [x for x in self.rows[s] if x not in keep and x not in inside]
        out = self.made(order)
        dims = self.nest(list(order) + inside, (self.strides[out], *[self.strides[s] for s in slots]))
        self.steps.append(Step(core.NEST_STEP, self.code, slots, out, (self.count(order),), dims))
        return out

    def fused_cost(self, slots, keep, order):
        """What `fused` would take; infinite where it cannot be."""
        labels = set(order).union(*[self.rows[s] for s in slots])
        if len(slots) > core.MAX_FACTORS or not core.has_nest(self.code):
            return float("inf")
        total, inner = self.count(labels), max([self.sizes[x] for x in labels], default=1)
        return _STEP + total * _STRIDED * (len(slots) - 1) + total / inner * 4 * _LINE_CALL


# ---------------------------------------------------------------- plans

def plan_of(operands, terms, output, sizes, codes, path, grads):
    """The Plan of an equation: terms are the labels of each operand; sizes those of the labels.

    codes: the dtype computed in, and that of the result. path: gives the pairs to contract, for labels and sizes.
    """
    shape = [sizes[x] for x in output]
    plan = core.Plan(operands, terms, output, sizes, shape, *codes)
    order = [x for x in output if sizes[x] != 1]
    views = seen(operands, terms, order, sizes, grads)
    if len(views) == 1 and set(views[0]) >= set(sizes_above_one(terms, sizes)) and codes[0] == codes[1]:
        if all(x in output for x in terms[0]) and operands[0].dtype.code == codes[0]:
            return plan.as_view([views[0].get(x, 0) for x in output])
    if 0 in sizes.values():
        return plan.as_zeros()
    b = Builder(codes[0], sizes)
    slots = [b.slot(view, view) for view in views]
    keep = frozenset(order)
    info = None
    if len(slots) == 1:
        last = b.total(0, keep, order)
    elif len(slots) == 2 and path is None:
        last = b.pair(0, 1, keep, order if spanned(b, 0, 1, order) else None)
    else:
        last, info = along_path(b, slots, keep, order, path, grads)
    if b.rows[last] != tuple(order) or last < len(operands):
        last = b.copy(last, order)
    b.steps[-1].set_shape(shape)
    used = {}
    for i, step in enumerate(b.steps):
        used.update(dict.fromkeys(step.reads, i))
    for i, step in enumerate(b.steps):
        step.set_frees([s for s, at in used.items() if at == i])
    return plan.of_steps(b.steps, len(b.rows), tuple(b.tree), tuple(b.rows), tuple(b.strides), last, info)


def sizes_above_one(terms, sizes):
    return {x for row in terms for x in row if sizes[x] != 1}


def seen(operands, terms, order, sizes, grads):
    """Each operand as {label: stride}: diagonals taken, dimensions of size 1 gone.

    So are dimensions that expand() made, where another operand has the label or the result repeats it: nothing is
    multiplied twice. Plans that gradients are asked of keep them, for each place has a gradient of its own.
    """
    views = []
    for operand, row in zip(operands, terms):
        view = {}
        for x, n, s in zip(row, operand.shape, operand.stride()):
            if n != 1:
                view[x] = view.get(x, 0) + s
        views.append(view)
    if grads:
        return views
    for x in {x for view in views for x, s in view.items() if s == 0}:
        holders = [view for view in views if x in view]
        spread = [view for view in holders if view[x] == 0]
        if len(spread) == len(holders) and x not in order:
            spread = spread[1:]        # a sum of equal things: one operand has to say how many
        for view in spread:
            del view[x]
    return views


def along_path(b, slots, keep, order, path, grads):
    """The slot of the product of several operands, pair by pair; and what was found about the path."""
    path, info = path([b.rows[s] for s in slots], order, b.sizes)
    steps = len(b.steps), len(b.tree), len(b.rows)
    live = list(slots)
    cost = 0
    for step in path:
        taken = [live[i] for i in sorted(step)]
        live = [s for i, s in enumerate(live) if i not in step]
        later = keep.union(*[b.rows[s] for s in live])
        final = not live
        result = taken[0]
        for i, other in enumerate(taken[1:], 2):
            rest = later.union(*[b.rows[s] for s in taken[i:]])
            done = final and i == len(taken)
            result = b.pair(result, other, rest, order if done and spanned(b, result, other, order) else None)
        live.append(result)
        cost += b.count(set(b.rows[result]).union(*[b.rows[s] for s in taken]))
    present = [x for x in order if any(x in b.rows[s] for s in slots)]
    if not grads and b.fused_cost(slots, keep, present) < _STEP * (len(b.steps) - steps[0]) + cost * _LINE:
        del b.steps[steps[0]:], b.tree[steps[1]:], b.rows[steps[2]:], b.strides[steps[2]:]
        return b.fused(slots, keep, present), info
    return live[0], info


def spanned(b, x, y, order):
    """Whether two slots have all labels of the result."""
    return all(label in b.strides[x] or label in b.strides[y] for label in order)
