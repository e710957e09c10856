"""Plans of contractions: which loops, or which matrix products, run over the memory of which operands.

A dimension of a loop is a tuple: its size, then the strides of the result and of the sources in elements, 0 where one
lacks it. Times are rough, in nanoseconds: they only have to put the ways of doing a thing in order.
"""
from libc.math cimport INFINITY

from .._kernels.blas cimport blas_lies, blas_serves
from .._kernels.table cimport ST_NEST_FACTORS, ST_SMALL_DEPTH, st_find_nest, st_find_small

from .contraction import COPY_STEP, MULTIPLY_STEP, NEST_STEP, PRODUCTS_STEP, SMALL_STEP, SUM_STEP, Plan, Step

# ns: a multiplication in a BLAS, in the kernel for small matrices, in a loop over contiguous and over other memory
cdef double BLAS = 0.02, SMALL = 0.06, GEMM = 0.3, LINE = 0.12, STRIDED = 0.9
cdef double BLAS_CALL = 250, SMALL_CALL = 25, GEMM_CALL = 120, LINE_CALL = 6, STEP = 120, COPIED = 0.5


cdef class Builder:
    """The steps of a plan under construction. A slot holds an operand or what a step made, seen as unique labels."""
    cdef int code
    cdef bint has_blas, has_small, has_nest
    cdef dict sizes                    # of the labels
    cdef list steps, tree
    cdef list rows, strides            # of each slot: its labels, and the stride of each label

    def __init__(self, int code, dict sizes):
        self.code, self.sizes = code, sizes
        self.has_blas, self.has_small = blas_serves(code), st_find_small(code) != NULL
        self.has_nest = st_find_nest(code) != NULL
        self.steps, self.tree = [], []
        self.rows, self.strides = [], []

    cdef int slot(self, row, dict strides) except -1:
        """A new slot; its number."""
        self.rows.append(tuple(row))
        self.strides.append(strides)
        return len(self.rows) - 1

    cdef double count(self, labels) except -1:
        """The number of places of labels, for costs."""
        cdef double n = 1
        for x in labels:
            n *= <Py_ssize_t>self.sizes[x]
        return n

    cdef tuple flat(self, labels):
        """The shape of a result that is one dimension for now."""
        n = 1
        for x in labels:
            n *= self.sizes[x]
        return (n,)

    cdef dict contiguous(self, order):
        """The strides of a tensor without gaps whose dimensions have this order."""
        cdef dict strides = {}
        n = 1
        for x in reversed(order):
            strides[x] = n
            n *= self.sizes[x]
        return strides

    cdef int made(self, order) except -1:
        """A new slot for the result of a step, in this order."""
        return self.slot(order, self.contiguous(order))

    cdef list merged(self, labels, tuple operands):
        """Loops over labels, outermost first, neighbours made one where every operand allows it."""
        cdef list dims = [], dim
        cdef dict s
        cdef tuple last
        cdef Py_ssize_t i, size, n = len(operands) + 1
        cdef bint one
        for x in labels:
            dim = [self.sizes[x]]
            for s in operands:
                dim.append(s.get(x, 0))
            if dims:
                last, size, one = <tuple>dims[len(dims) - 1], dim[0], True
                for i in range(1, n):
                    if <Py_ssize_t>last[i] != <Py_ssize_t>dim[i] * size:
                        one = False
                        break
                if one:
                    dim[0] = last[0] * dim[0]
                    dims.pop()
            dims.append(tuple(dim))
        return dims

    # ---------------------------------------------------------------- one operand

    cdef int total(self, int source, keep, order) except -1:
        """The slot of an operand summed over the labels that are not in keep."""
        cdef tuple row = self.rows[source]
        cdef dict strides = self.strides[source]
        cdef list dropped = [x for x in row if x not in keep], groups, group, kept, dims
        cdef bint last
        cdef int out
        if not dropped:
            return source
        dropped = by_strides(dropped, strides)
        groups = []                    # of labels that can be summed as one dimension
        for x in dropped:
            if groups and strides[group[len(group) - 1]] == strides[x] * self.sizes[x]:
                group.append(x)
            else:
                group = [x]
                groups.append(group)
        group = groups[0]
        for other in groups:
            if self.count(other) > self.count(group):
                group = other
        last = len(groups) == 1
        kept = [x for x in row if x not in group]
        if not (last and order is not None):
            kept = by_strides(kept, strides)
        else:
            kept = [x for x in order if x in kept]
        out = self.made(kept)
        dims = self.merged(kept, (self.strides[out], strides)) or [(1, 0, 0)]
        inner = min([(dim[2], i) for i, dim in enumerate(dims)])[1]
        dims.append(dims.pop(inner))
        dims.insert(len(dims) - 1, (self.flat(group)[0], 0, strides[group[len(group) - 1]]))
        self.steps.append(Step(SUM_STEP, self.code, (source,), out, self.flat(kept), dims))
        self.tree.append((source, -1, out))
        return out if last else self.total(out, keep, order)

    cdef int copy(self, int source, order, bint tracked=True) except -1:
        """The slot of an operand in another order, with labels that it lacks spread out."""
        cdef int out = self.made(order), i, last
        cdef list dims
        dims = self.merged(order, (self.strides[out], self.strides[source]))
        last = len(dims) - 1
        if last > 1 and dims[last][1] == 1:          # the source's closest dimension beside the result's: a matrix
            for i in range(last):
                if dims[i][2] == 1:
                    dims.insert(last - 1, dims.pop(i))
                    break
        self.steps.append(Step(COPY_STEP, self.code, (source,), out, self.flat(order), dims))
        if tracked:
            self.tree.append((source, -1, out))
        return out

    # ---------------------------------------------------------------- two operands

    cdef int pair(self, int a, int b, keep, order) except -1:
        """The slot of the product of two slots, summed over what is not in keep; its labels in `order` if given."""
        cdef dict sa, sb
        cdef list both, inside, natural, like_big, orders
        cdef Candidate best = Candidate()
        cdef int i, big, out
        cdef double extra
        a, b = self.total(a, keep.union(self.rows[b]), None), self.total(b, keep.union(self.rows[a]), None)
        sa, sb = self.strides[a], self.strides[b]
        both = [x for x in self.rows[a] if x in sb]
        inside = [x for x in both if x not in keep]
        natural = self.natural(a, b, [x for x in both if x in keep])
        big = a if self.count(self.rows[a]) >= self.count(self.rows[b]) else b
        like_big = by_strides([x for x in self.rows[big] if x in keep], self.strides[big])
        like_big = [x for x in natural if x not in like_big] + like_big
        orders = [natural, like_big] if order is None else [list(order), natural, like_big]
        for i in range(len(orders)):
            if orders[i] in orders[:i]:
                continue
            extra = 0 if order is None or orders[i] == orders[0] else STEP + 2 * COPIED * self.count(orders[i])
            self.try_ways(best, extra, sa, sb, inside, orders[i])
            if best.plain:
                break
        sources = (self.copy(a, best.pack_a, False) if best.pack_a is not None else a,
                   self.copy(b, best.pack_b, False) if best.pack_b is not None else b)
        if best.swapped:
            sources = sources[::-1]
        out = self.made(best.order)
        self.steps.append(Step(best.kind, self.code, sources, out, self.flat(best.order), best.dims, best.matrix,
                               best.add))
        self.tree.append((a, b, out))
        return out if order is None or best.order == orders[0] else self.copy(out, order)

    cdef list natural(self, int a, int b, list batch):
        """The result's labels as a matrix product makes them: batch, left, right, each as they lie in memory."""
        cdef dict sa = self.strides[a], sb = self.strides[b]
        return (by_strides(batch, sa) + by_strides([x for x in self.rows[a] if x not in sb], sa)
                + by_strides([x for x in self.rows[b] if x not in sa], sb))

    cdef int try_ways(self, Candidate best, double extra, dict sa, dict sb, list inside, list order) except -1:
        """Note the cheapest way to make a product in an order of its labels, if it costs less than the best so far."""
        cdef dict c = self.contiguous(order), ta, tb
        cdef list labels = order + inside, dims, batch, left, right, along, row_a, row_b
        cdef double total = self.count(labels), cost, line
        cdef int packs
        if not inside:
            dims = self.merged(order, (c, sa, sb))
            best.offer(extra + self.line_cost(dims, True), MULTIPLY_STEP, dims, None, False, order)
            return 0
        if total > 32 or not self.has_nest:
            batch = [x for x in order if x in sa and x in sb]
            left = [x for x in order if x in sa and x not in sb]
            right = [x for x in order if x in sb and x not in sa]
            along = by_strides(inside, sa)
            if self.matrices(best, extra, order, [self.merged(group, (c, sa, sb)) for group in (
                    batch, left, along, right)]) and best.plain:
                line = max(self.count(batch), self.count(left), self.count(along), self.count(right))
                if best.cost < extra + STEP + total * LINE + total / line * LINE_CALL:
                    return 0           # as it lies: copies would not help, and loops take longer
            best.plain = False
            for packs in range(1, 4):
                along = by_strides(inside, sb if packs == 1 else sa)
                row_a, row_b = batch + left + along, batch + along + right
                ta, tb, cost = sa, sb, extra
                if packs & 1:
                    ta, cost = self.contiguous(row_a), cost + STEP + 2 * COPIED * self.count(row_a)
                if packs & 2:
                    tb, cost = self.contiguous(row_b), cost + STEP + 2 * COPIED * self.count(row_b)
                if cost < best.cost and self.matrices(best, cost, order, [self.merged(group, (c, ta, tb)) for group in (
                        batch, left, along, right)]):
                    best.pack_a, best.pack_b = row_a if packs & 1 else None, row_b if packs & 2 else None
                    best.plain = False
        if self.has_nest and extra + STEP + total * LINE < best.cost:
            dims = self.nest(labels, (c, sa, sb))
            best.offer(extra + self.line_cost(dims, False), NEST_STEP, dims, None, False, order)
        return 0

    cdef list nest(self, labels, tuple operands):
        """Loops over all labels, in the order of the largest operand's memory, the best one innermost."""
        cdef dict s, big = operands[1]
        cdef list dims
        cdef Py_ssize_t i, inner = 0
        for s in operands[2:]:
            if self.count(s) > self.count(big):
                big = s
        outside = [x for x in labels if x not in big]
        dims = self.merged(outside + by_strides([x for x in labels if x in big], big), operands)
        if not dims:
            return [(1,) + (0,) * len(operands)]
        best = None
        for i in range(len(dims)):
            far = (sum([stride > 1 for stride in dims[i][1:]]), -dims[i][0])
            if best is None or far < best:
                best, inner = far, i
        dims.append(dims.pop(inner))
        return dims

    cdef double line_cost(self, list dims, bint writes) except -1:
        """The time of loops."""
        cdef double total = 1
        cdef tuple dim
        for dim in dims:
            total *= <Py_ssize_t>dim[0]
        cdef tuple inner = dims[len(dims) - 1] if dims else (1, 0)
        cdef bint even = True
        for stride in inner[1:]:
            if stride > 1:
                even = False
        return STEP + total * (LINE if even else STRIDED) + total / inner[0] * LINE_CALL * (1 if writes else 1.5)

    cdef bint matrices(self, Candidate best, double extra, list order, list groups) except -1:
        """Offer the best matrix product over loops over (batch, left, inside, right); whether it was taken."""
        cdef list batch = groups[0], left = groups[1], inside = groups[2], right = groups[3], loops
        cdef tuple one = (1, 0, 0, 0), m, n, k, d
        cdef bint taken = False, swap, add = len(inside) > 1
        cdef double places
        cdef int i
        for m in left or [one]:
            for n in right or [one]:
                for k in inside:
                    places, loops = 1, []
                    for group in (batch, left, right, inside):
                        for d in group:
                            if d is not m and d is not n and d is not k:
                                loops.append(d)
                                places *= <Py_ssize_t>d[0]
                    for i in range(2):
                        swap = i == 1
                        if self.product(best, extra, places, m, n, k, swap, add, order):
                            taken = True
                            best.dims = [(d[0], d[1], d[3], d[2]) for d in loops] if swap else loops
                            best.plain = len(loops) <= 1 and 1 in best.matrix[3:5] and 1 in best.matrix[5:7]
        return taken

    cdef bint product(self, Candidate best, double extra, double places, tuple m, tuple n, tuple k, bint swap, bint add,
                      list order) except -1:
        """Offer one matrix product, if anything here can do it as the operands lie; whether it was taken."""
        cdef int of_a = 3 if swap else 2, of_b = 2 if swap else 3, kind = -1
        if swap:
            m, n = n, m
        cdef Py_ssize_t rows = m[0], cols = n[0], depth = k[0], a_row = m[of_a], a_col = k[of_a], b_row = k[of_b]
        cdef Py_ssize_t b_col = n[of_b], c_col = n[1], lanes
        cdef double work = <double>rows * cols * depth, cost = 0, slow
        if c_col != 1 and cols != 1:
            return False
        if self.has_small and depth <= ST_SMALL_DEPTH and work <= 1 << 18:
            lanes = (cols + 7) // 8 * 8
            cost, kind = SMALL_CALL + rows * lanes * depth * SMALL, SMALL_STEP
            if b_col != 1 or cols % 8:
                cost += depth * lanes
        if self.has_blas and blas_lies(rows, depth, a_row, a_col) and blas_lies(depth, cols, b_row, b_col):
            slow = 0.1 if rows == 1 or cols == 1 else BLAS * (1 + 4. / rows) * (1 + 8. / cols) * (1 + 8. / depth)
            if kind < 0 or BLAS_CALL + work * slow < cost:
                cost, kind = BLAS_CALL + work * slow, PRODUCTS_STEP
        if not self.has_blas and not add and (kind < 0 or GEMM_CALL + work * GEMM < cost):
            cost, kind = GEMM_CALL + work * GEMM, PRODUCTS_STEP
        if kind < 0 or not best.offer(extra + STEP + cost * places, kind, None, (
                rows, cols, depth, a_row, a_col, b_row, b_col, m[1], c_col), add, order):
            return False
        best.swapped = swap
        return True

    # ---------------------------------------------------------------- several operands at once

    cdef int fused(self, list slots, keep, order) except -1:
        """The slot of the product of all slots in one nest of loops."""
        cdef list inside = []
        cdef int out, s
        for s in slots:
            inside += [x for x in self.rows[s] if x not in keep and x not in inside]
        out = self.made(order)
        dims = self.nest(list(order) + inside, (self.strides[out], *[self.strides[s] for s in slots]))
        self.steps.append(Step(NEST_STEP, self.code, slots, out, self.flat(order), dims))
        return out

    cdef double fused_cost(self, list slots, order) except -1:
        """What `fused` would take; infinite where it cannot be."""
        cdef double total, inner
        labels = set(order).union(*[self.rows[s] for s in slots])
        if len(slots) > ST_NEST_FACTORS or not self.has_nest:
            return INFINITY
        total, inner = self.count(labels), max([self.sizes[x] for x in labels], default=1)
        return STEP + total * STRIDED * (len(slots) - 1) + total / inner * 4 * LINE_CALL


cdef list by_strides(labels, dict strides):
    """Labels as they lie in memory, from far apart to close together."""
    cdef list pairs = [(-<Py_ssize_t>strides[x], i, x) for i, x in enumerate(labels)]
    if len(pairs) > 1:
        pairs.sort()
    return [p[2] for p in pairs]


cdef class Candidate:
    """The best way to make a product among those that were offered."""
    cdef double cost
    cdef int kind
    cdef list dims, order
    cdef tuple matrix                  # m, n, k, and the strides of the three
    cdef bint add, swapped             # products are added up; the factors change places
    cdef bint plain                    # one product of matrices, or one batch, that lie as a product wants them
    cdef object pack_a, pack_b         # the order in which a factor is copied first

    def __cinit__(self):
        self.cost = INFINITY

    cdef bint offer(self, double cost, int kind, list dims, tuple matrix, bint add, list order) except -1:
        if not cost < self.cost:
            return False
        self.cost, self.kind, self.dims, self.matrix, self.add, self.order = cost, kind, dims, matrix, add, order
        self.swapped = self.plain = False
        self.pack_a = self.pack_b = None
        return True


# ---------------------------------------------------------------- plans

def plan_of(operands, terms, output, sizes, codes, path, grads):
    """The Plan of an equation: terms are the labels of each operand; sizes those of the labels.

    codes: the dtype computed in, and that of the result. path: gives the pairs to contract, for labels and sizes.
    """
    shape = [sizes[x] for x in output]
    plan = Plan(operands, terms, output, sizes, shape, *codes)
    order = [x for x in output if sizes[x] != 1]
    views = seen(operands, terms, order, sizes, grads)
    if len(views) == 1 and set(views[0]) >= set(sizes_above_one(terms, sizes)) and codes[0] == codes[1]:
        if all(x in output for x in terms[0]) and operands[0].dtype.code == codes[0]:
            return plan.as_view([views[0].get(x, 0) for x in output])
    if 0 in sizes.values():
        return plan.as_zeros()
    cdef Builder b = Builder(codes[0], sizes)
    cdef int last
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
    b.steps[len(b.steps) - 1].set_shape(shape)
    used = {}
    for i, step in enumerate(b.steps):
        used.update(dict.fromkeys(step.reads, i))
    for i, step in enumerate(b.steps):
        step.set_frees([s for s, at in used.items() if at == i])
    return plan.of_steps(b.steps, len(b.rows), tuple(b.tree), tuple(b.rows), tuple(b.strides), last, info)


cdef set sizes_above_one(terms, dict sizes):
    return {x for row in terms for x in row if sizes[x] != 1}


cdef list seen(operands, terms, order, dict sizes, bint grads):
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


cdef tuple along_path(Builder b, list slots, keep, list order, path, bint grads):
    """The slot of the product of several operands, pair by pair; and what was found about the path."""
    path, info = path([b.rows[s] for s in slots], order, b.sizes)
    cdef tuple steps = (len(b.steps), len(b.tree), len(b.rows))
    cdef list live = list(slots), taken, present
    cdef double cost = 0
    cdef int result
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
    if not grads and b.fused_cost(slots, present) < STEP * (<Py_ssize_t>len(b.steps) - <int>steps[0]) + cost * LINE:
        del b.steps[steps[0]:], b.tree[steps[1]:], b.rows[steps[2]:], b.strides[steps[2]:]
        return b.fused(slots, keep, present), info
    return live[0], info


cdef bint spanned(Builder b, int x, int y, order):
    """Whether two slots have all labels of the result."""
    cdef dict first = b.strides[x], second = b.strides[y]
    for label in order:
        if label not in first and label not in second:
            return False
    return True
