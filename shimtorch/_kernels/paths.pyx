"""The order in which to contract the operands of an einsum: pairs whose products cost the fewest multiplications.

Labels that occur in the same operands are one bundle, a bit of a mask; a tensor is the mask of its bundles. A pair
costs the product of the sizes of all its labels, twice that if it sums, as opt_einsum counts. A few operands are solved
exactly, by dynamic programming over subsets; for more, greedy searches with noise are improved by solving parts of the
best tree exactly. Nothing depends on time or chance: a network has one path.
"""
from libc.math cimport INFINITY, log
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

cdef extern from *:
    """
    #define shimtorch_lowest_bit(x) __builtin_ctzll(x)
    """
    int lowest_bit "shimtorch_lowest_bit"(uint64_t x) noexcept nogil

cdef enum:
    EXACT = 12                         # operands up to which the whole network is solved exactly
    PART = 9                           # ... and the size of the parts of larger ones
    MAX_RUNS = 64                      # greedy searches

MOST_EXACT = EXACT

# Among paths of one cost the one with the smaller intermediate results wins.
cdef double SIZE_WEIGHT = 1e-9


cdef class Network:
    """Tensors as masks, and a tree that contracts them: node n + i joins the two children of step i."""
    cdef int n, words
    cdef double* sizes                 # of the bundles
    cdef uint64_t* masks               # of the nodes of the tree: 2 n - 1 of them
    cdef uint64_t* output
    cdef int* children                 # of step i at 2 i and 2 i + 1
    cdef int* best
    cdef double limit                  # on the size of an intermediate result
    cdef uint64_t random

    def __cinit__(self, int n, int bundles):
        cdef int words = (bundles + 63) // 64 if bundles else 1
        self.n, self.words = n, words
        self.sizes = <double*>malloc((bundles + 1) * sizeof(double))
        self.masks = <uint64_t*>malloc(2 * n * words * sizeof(uint64_t))
        self.output = <uint64_t*>malloc(words * sizeof(uint64_t))
        self.children = <int*>malloc(2 * n * sizeof(int))
        self.best = <int*>malloc(2 * n * sizeof(int))
        if NULL in (<void*>self.sizes, <void*>self.masks, <void*>self.output, <void*>self.children, <void*>self.best):
            raise MemoryError
        memset(self.masks, 0, 2 * n * words * sizeof(uint64_t))
        memset(self.output, 0, words * sizeof(uint64_t))
        self.limit, self.random = INFINITY, 1

    def __dealloc__(self):
        free(self.sizes)
        free(self.masks)
        free(self.output)
        free(self.children)
        free(self.best)

    cdef inline uint64_t* mask(self, int node) noexcept nogil:
        return self.masks + node * self.words

    cdef double size(self, const uint64_t* a, const uint64_t* b) noexcept nogil:
        """The number of elements of a tensor with the bundles of a and of b."""
        cdef double r = 1
        cdef uint64_t bits
        cdef int w
        for w in range(self.words):
            bits = a[w] | b[w]
            while bits:
                r *= self.sizes[64 * w + lowest_bit(bits)]
                bits &= bits - 1
        return r

    cdef double pair_cost(self, const uint64_t* a, const uint64_t* b, const uint64_t* result) noexcept nogil:
        cdef int w
        for w in range(self.words):
            if (a[w] | b[w]) & ~result[w]:
                return 2 * self.size(a, b)
        return self.size(a, b)

    cdef double noise(self) noexcept nogil:
        """A number between 0 and 1."""
        self.random = self.random * <uint64_t>6364136223846793005 + <uint64_t>1442695040888963407
        return (<double>(self.random >> 11) + 0.5) / 9007199254740992.0

    # ------------------------------------------------------------ exact

    cdef int solve(self, int k, const int* leaves, const uint64_t* root, int first_step, double* cost) except -1:
        """The best tree over k nodes whose product has the mask root: its steps, from first_step on, and its cost."""
        cdef size_t full = (<size_t>1 << k) - 1, s, t, rest
        cdef int words = self.words, w, i
        cdef uint64_t* unions = <uint64_t*>malloc((full + 1) * words * sizeof(uint64_t))
        cdef uint64_t* results = <uint64_t*>malloc((full + 1) * words * sizeof(uint64_t))
        cdef double* costs = <double*>malloc((full + 1) * sizeof(double))
        cdef size_t* splits = <size_t*>malloc((full + 1) * sizeof(size_t))
        cdef double c, size
        cdef size_t low
        try:
            if unions == NULL or results == NULL or costs == NULL or splits == NULL:
                raise MemoryError
            with nogil:
                for w in range(words):
                    unions[w] = 0
                for s in range(1, full + 1):
                    i = lowest_bit(s)
                    for w in range(words):
                        unions[s * words + w] = unions[(s & (s - 1)) * words + w] | self.mask(leaves[i])[w]
                for s in range(1, full + 1):
                    for w in range(words):
                        results[s * words + w] = unions[s * words + w] & (unions[(full ^ s) * words + w] | root[w])
                for s in range(1, full + 1):
                    low = s & (~s + 1)
                    if s == low:       # with all its labels, also those that it alone has
                        costs[s] = 0
                        for w in range(words):
                            results[s * words + w] = unions[s * words + w]
                        continue
                    costs[s] = INFINITY
                    size = self.size(results + s * words, results + s * words)
                    if size > self.limit and s != full:
                        continue
                    t = (s - 1) & s
                    while t:
                        if t & low:
                            rest = s ^ t
                            c = costs[t] + costs[rest] + SIZE_WEIGHT * size
                            if c < costs[s]:
                                c += self.pair_cost(results + t * words, results + rest * words, results + s * words)
                                if c < costs[s]:
                                    costs[s], splits[s] = c, t
                        t = (t - 1) & s
            cost[0] = costs[full]
            if costs[full] < INFINITY:
                self.write_steps(k, leaves, full, splits, results, first_step)
        finally:
            free(unions)
            free(results)
            free(costs)
            free(splits)
        return 0

    cdef int write_steps(self, int k, const int* leaves, size_t full, const size_t* splits, const uint64_t* results,
                         int first_step) except -1:
        """Steps of a solution, in an order in which each comes after those that it uses."""
        cdef dict node_of = {1 << i: leaves[i] for i in range(k)}
        cdef list stack = [(full, False)]
        cdef int step = first_step, w
        cdef size_t s
        while stack:
            s, ready = stack.pop()
            if s in node_of:
                continue
            if not ready:
                stack += [(s, True), (s ^ splits[s], False), (splits[s], False)]
                continue
            self.children[2 * step], self.children[2 * step + 1] = node_of[splits[s]], node_of[s ^ splits[s]]
            for w in range(self.words):
                self.mask(self.n + step)[w] = results[s * self.words + w]
            node_of[s] = self.n + step
            step += 1
        return 0

    # ------------------------------------------------------------ greedy

    cdef double greedy(self, double temperature, double weight) noexcept nogil:
        """Join again and again the pair whose product is small beside its factors; the cost of the tree."""
        cdef int n = self.n, words = self.words, live = n, i, j, a, b, step, w, first, second
        cdef double score, lowest, cost = 0
        cdef uint64_t shared
        cdef uint64_t* result
        cdef int* nodes = self.best    # the live nodes; the best tree is kept elsewhere by then
        for i in range(n):
            nodes[i] = i
        for step in range(n - 1):
            lowest, first, second = INFINITY, -1, -1
            result = self.mask(n + step)
            for i in range(live):
                for j in range(i + 1, live):
                    a, b = nodes[i], nodes[j]
                    shared = 0
                    for w in range(words):
                        shared |= self.mask(a)[w] & self.mask(b)[w]
                    if not shared:
                        continue
                    self.joined(a, b, nodes, live, result)
                    score = self.size(result, result) - weight * (self.size(self.mask(a), self.mask(a))
                                                                  + self.size(self.mask(b), self.mask(b)))
                    if temperature > 0:
                        score = (1 if score >= 0 else -1) * log(1 + (score if score >= 0 else -score))
                        score += temperature * log(-log(self.noise()))
                    if score < lowest:
                        lowest, first, second = score, i, j
            if first < 0:              # nothing is shared any more: the smallest two
                for i in range(live):
                    for j in range(i + 1, live):
                        score = self.size(self.mask(nodes[i]), self.mask(nodes[j]))
                        if score < lowest:
                            lowest, first, second = score, i, j
            a, b = nodes[first], nodes[second]
            self.joined(a, b, nodes, live, result)
            cost += self.pair_cost(self.mask(a), self.mask(b), result) + SIZE_WEIGHT * self.size(result, result)
            self.children[2 * step], self.children[2 * step + 1] = a, b
            nodes[first] = n + step
            nodes[second] = nodes[live - 1]
            live -= 1
        return cost

    cdef void joined(self, int a, int b, const int* nodes, int live, uint64_t* result) noexcept nogil:
        """The mask of the product of a and b: what the output or any other live node has of theirs."""
        cdef int i, w
        cdef uint64_t needed
        for w in range(self.words):
            needed = self.output[w]
            for i in range(live):
                if nodes[i] != a and nodes[i] != b:
                    needed |= self.mask(nodes[i])[w]
            result[w] = (self.mask(a)[w] | self.mask(b)[w]) & needed

    # ------------------------------------------------------------ improving a tree

    cdef double tree_cost(self) noexcept nogil:
        cdef double cost = 0
        cdef int i
        for i in range(self.n - 1):
            cost += self.pair_cost(self.mask(self.children[2 * i]), self.mask(self.children[2 * i + 1]),
                                   self.mask(self.n + i))
        return cost

    cdef bint improve(self) except -1:
        """Solve a part of the tree below every node exactly; whether anything became better."""
        cdef int root, node, k, i, n = self.n
        cdef int leaves[PART]
        cdef double before
        cdef list steps
        cdef bint better = False
        root = n - 2
        while root >= 1:
            leaves[0], k = n + root, 1
            steps = []
            while k < PART:            # open the inner leaf that was made last
                node = -1
                for i in range(k):
                    if leaves[i] >= n and (node < 0 or leaves[i] > leaves[node]):
                        node = i
                if node < 0:
                    break
                i = leaves[node] - n
                steps.append(i)
                leaves[node], leaves[k] = self.children[2 * i], self.children[2 * i + 1]
                k += 1
            if k > 2:
                before = 0
                for step in steps:
                    before += self.pair_cost(self.mask(self.children[2 * <int>step]),
                                             self.mask(self.children[2 * <int>step + 1]), self.mask(n + <int>step))
                better = self.replace(k, leaves, root, steps, before) or better
            root -= 1
        return better

    cdef bint replace(self, int k, const int* leaves, int root, list steps, double before) except -1:
        """Put the exact solution over some leaves in the place of the steps that join them now, if it is cheaper."""
        cdef int n = self.n, i
        cdef list tree = [(self.children[2 * i], self.children[2 * i + 1]) for i in range(n - 1)], fresh = []
        cdef double after
        cdef Network part = Network(k, 64 * self.words)
        cdef int own[PART]
        part.words = self.words
        for i in range(64 * self.words):
            part.sizes[i] = self.sizes[i]
        for i in range(k):
            own[i] = i
            for w in range(self.words):
                part.mask(i)[w] = self.mask(leaves[i])[w]
        part.limit = self.limit
        part.solve(k, own, self.mask(n + root), 0, &after)
        if not after < before * (1 - 1e-6):
            return False
        # old steps outside the part, and new ones inside, put in an order in which each comes after what it uses
        for i in range(k - 1):
            pair = [leaves[<int>x] if x < k else ("new", x - k)
                    for x in (part.children[2 * i], part.children[2 * i + 1])]
            fresh.append((("new", i) if i < k - 2 else n + root, pair))
        inside = set(steps)
        pending = fresh + [(n + i, list(pair)) for i, pair in enumerate(tree) if i not in inside]
        self.renumber(pending)
        return True

    cdef int renumber(self, list pending) except -1:
        """Make a tree of (name, [child, child]) the current one; names of leaves are their numbers."""
        cdef dict known = {i: i for i in range(self.n)}, by_name = dict(pending)
        cdef list stack = [self.root_of(by_name)]
        cdef int step = 0
        while stack:
            name = stack[len(stack) - 1]
            if name in known:
                stack.pop()
                continue
            left, right = by_name[name]
            if left in known and right in known:
                self.children[2 * step], self.children[2 * step + 1] = known[left], known[right]
                known[name] = self.n + step
                step += 1
                stack.pop()
            else:
                stack += [x for x in (right, left) if x not in known]
        self.set_masks()
        return 0

    cdef object root_of(self, dict by_name):
        used = {child for pair in by_name.values() for child in pair}
        for name in by_name:
            if name not in used:
                return name

    cdef int set_masks(self) except -1:
        """The masks of the inner nodes, from the tree: what is used outside the subtree of each."""
        cdef int n = self.n, words = self.words, i, w, side
        cdef uint64_t* outside = <uint64_t*>malloc(2 * n * words * sizeof(uint64_t))
        cdef uint64_t* below = <uint64_t*>malloc(2 * n * words * sizeof(uint64_t))
        cdef int child, other
        if outside == NULL or below == NULL:
            free(outside)
            free(below)
            raise MemoryError
        for i in range(n * words):
            below[i] = self.masks[i]
        for i in range(n - 1):
            for w in range(words):
                below[(n + i) * words + w] = (below[self.children[2 * i] * words + w]
                                              | below[self.children[2 * i + 1] * words + w])
        for w in range(words):
            outside[(2 * n - 2) * words + w] = self.output[w]
        for i in range(n - 2, -1, -1):
            for side in range(2):
                child, other = self.children[2 * i + side], self.children[2 * i + 1 - side]
                for w in range(words):
                    outside[child * words + w] = outside[(n + i) * words + w] | below[other * words + w]
        for i in range(n * words, (2 * n - 1) * words):
            self.masks[i] = below[i] & outside[i]
        free(outside)
        free(below)
        return 0

    # ------------------------------------------------------------ the whole

    cdef int search(self, bint exact, bint thorough) except -1:
        """Leave the best tree found in `children`."""
        cdef int i, run, runs, n = self.n
        cdef double cost = INFINITY, best = INFINITY
        cdef list tree = None
        cdef int* leaves
        if exact:
            leaves = <int*>malloc(n * sizeof(int))
            if leaves == NULL:
                raise MemoryError
            for i in range(n):
                leaves[i] = i
            try:
                self.solve(n, leaves, self.output, 0, &cost)
                if cost == INFINITY:   # no path keeps to the limit
                    self.limit = INFINITY
                    self.solve(n, leaves, self.output, 0, &cost)
            finally:
                free(leaves)
            return 0
        runs = max(1, min(<long long>MAX_RUNS, <long long>3000000 // (<long long>n * n * n))) if thorough else 1
        for run in range(runs):
            cost = self.greedy(0 if run < 2 else 0.1 * (run % 8), 1 if run % 2 == 0 else 0.5)
            for i in range(n - 2):
                if self.size(self.mask(n + i), self.mask(n + i)) > self.limit:
                    cost *= 1e3        # rather any path that keeps to the limit
                    break
            if cost < best:
                best, tree = cost, [(self.children[2 * i], self.children[2 * i + 1]) for i in range(n - 1)]
        for i in range(n - 1):
            self.children[2 * i], self.children[2 * i + 1] = tree[i]
        self.set_masks()
        if thorough:
            for _ in range(4):
                if not self.improve():
                    break
        return 0


def find_path(rows, output, sizes, strategy="auto", limit=None):
    """The pairs to contract, as positions among the tensors that are left (a product goes to the end), and the cost.

    rows: the labels of each tensor; sizes: of each label; strategy: 'auto', 'optimal' (exact as far as is bearable),
    'greedy' or 'left' (as they stand). Gives (path, multiplications, elements of the largest intermediate result).
    """
    cdef int n = len(rows), i, bit
    cdef Network net
    cdef dict places = {}, bundles = {}
    cdef double largest = 0
    for i in range(n):
        for x in rows[i]:
            places.setdefault(x, set()).add(i)
    kept = set(output)
    for x, where in places.items():
        bundles.setdefault((frozenset(where), x in kept), []).append(x)
    net = Network(n, len(bundles))
    for bit, ((where, is_kept), labels) in enumerate(bundles.items()):
        net.sizes[bit] = 1
        for x in labels:
            net.sizes[bit] *= <double>sizes[x]
        for place in where:
            net.mask(<int>place)[bit >> 6] |= <uint64_t>1 << (bit & 63)
        if is_kept:
            net.output[bit >> 6] |= <uint64_t>1 << (bit & 63)
    if limit is not None:
        net.limit = limit
    if n > 1:
        if strategy == "left":
            for i in range(n - 1):
                net.children[2 * i], net.children[2 * i + 1] = (n + i - 1 if i else 0), i + 1
            net.set_masks()
        else:
            exact = n <= EXACT or (strategy == "optimal" and n <= 16)
            net.search(exact and strategy != "greedy", strategy != "greedy")
    path, live = [], list(range(n))
    for i in range(n - 1):
        a, b = sorted((live.index(net.children[2 * i]), live.index(net.children[2 * i + 1])))
        path.append((a, b))
        live.pop(b)
        live.pop(a)
        live.append(n + i)
        if i < n - 2:
            largest = max(largest, net.size(net.mask(n + i), net.mask(n + i)))
    return path, net.tree_cost(), largest
