"""Running contraction plans: the steps of a plan on the memory of tensors, and the plans that are kept for reuse.

A plan belongs to one equation and to operands of one dtype, shape and memory layout; everything that follows from these
is settled in it, so that running it again costs a look-up and the loops. Plans are made by ``planning.pyx``.
"""
from cpython.object cimport PyObject
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from .._kernels.blas cimport blas_product, blas_serves
from .._kernels.table cimport (
    ST_NEST_DIMS, ST_NEST_FACTORS, ST_NO_MEMORY, st_cast, st_find, st_find_nest, st_find_reduce, st_find_small,
    st_gemm, st_nest_dim, st_op, st_parallel, st_reduce_dtype, st_reduce_op, st_shared_reduce,
)
from .destination cimport awaited_result
from .dtype cimport ITEMSIZE
from .iterate cimport as_code_tensor
from .tensor cimport MAX_DIMS, TensorBase, empty, ptr
from .views cimport make_view

cdef extern from "plane.h" nogil:
    int ST_TILE
    void st_plane(int size, Py_ssize_t rows, Py_ssize_t cols, char* out, Py_ssize_t s_out, const char* source,
                  Py_ssize_t s_in)

cdef enum:
    PLANS = 32                         # kept for one equation
    EQUATIONS = 1024

# What a step does.
cdef enum Kind:
    MULTIPLY        # a product of two operands over loops without a sum
    NEST            # sums of products over loops, any number of factors
    PRODUCTS        # matrix products over loops: BLAS, or the kernels for what BLAS does not do
    SMALL           # ... of small matrices
    COPY            # a copy in another order, broadcast
    SUM             # sums of one operand

MULTIPLY_STEP, NEST_STEP, PRODUCTS_STEP, SMALL_STEP, COPY_STEP, SUM_STEP = MULTIPLY, NEST, PRODUCTS, SMALL, COPY, SUM

# A loop of a step that is shared among threads.
ctypedef struct Share:
    PyObject* step
    int n, d, status
    char** p
    char* parts

cdef enum:
    GRAIN = 1 << 15                    # products that are worth a thread
    PARTS = 16                         # of a sum that is one number, whatever the number of threads
    BLAS_ALONE = 1 << 18               # a BLAS multiplies matrices of so little work in one thread,
    BLAS_ALONE_MV = 1 << 13            # and a matrix by a vector

cdef int MUL = st_op(b"mul")
cdef int ADD_UP = st_reduce_op(b"sum")


cdef class Step:
    """One pass over memory: it reads some slots of a running plan and makes the tensor of another.

    dims: the loops, outermost first: (size, stride of the result, strides of the sources), in elements; for SUM the
    last two are the summed dimension and the innermost one that is kept. matrix: m, n, k and the strides of a, b and c
    inside the loops.
    """

    def __init__(self, int kind, int code, sources, int out, shape, dims, matrix=None, bint add=False):
        cdef int i, j, size = ITEMSIZE[code]
        if len(dims) > ST_NEST_DIMS:
            raise RuntimeError(f"einsum(): more than {ST_NEST_DIMS} loops")
        self.kind, self.code, self.sources, self.out, self.add = kind, code, tuple(sources), out, add
        self.frees = ()
        self.n_out, self.ndim = len(shape), len(dims)
        self.shape = <Py_ssize_t*>malloc((self.n_out + 1) * sizeof(Py_ssize_t))
        self.dims = <st_nest_dim*>malloc((self.ndim + 1) * sizeof(st_nest_dim))
        if self.shape == NULL or self.dims == NULL:
            raise MemoryError
        for i in range(self.n_out):
            self.shape[i] = shape[i]
        for i in range(self.ndim):
            self.dims[i].size = dims[i][0]
            for j in range(1, len(dims[i])):
                self.dims[i].strides[j - 1] = dims[i][j] * size
        if kind == COPY and self.ndim > 1:
            i = self.ndim - 1
            self.tiled = (self.dims[i].strides[0] == size and self.dims[i - 1].strides[1] == size
                          and min(self.dims[i].size, self.dims[i - 1].size) >= ST_TILE // 2)
        if matrix is not None:
            self.m, self.n, self.k = matrix[:3]
            for i in range(2):
                self.sa[i], self.sb[i], self.sc[i] = matrix[3 + i], matrix[5 + i], matrix[7 + i]
                if kind == SMALL:
                    self.sa[i], self.sb[i], self.sc[i] = self.sa[i] * size, self.sb[i] * size, self.sc[i] * size
        self.loop = st_find(MUL, code) if kind == MULTIPLY else st_cast(code, code)
        self.nest, self.small, self.reduce = st_find_nest(code), st_find_small(code), st_find_reduce(ADD_UP, code)
        if ((kind == NEST and self.nest == NULL) or (kind == SMALL and self.small == NULL)
                or (kind == SUM and self.reduce == NULL) or (kind in (MULTIPLY, COPY) and self.loop == NULL)):
            raise NotImplementedError("einsum(): there is no kernel for the dtype")
        self.sums_alike = st_reduce_dtype(ADD_UP, code) == code
        self.work = self.m * self.n * self.k if matrix is not None else 1
        for i in range(self.ndim):
            self.work *= self.dims[i].size

    def __dealloc__(self):
        free(self.shape)
        free(self.dims)

    def set_frees(self, slots):
        """Name the slots whose tensors go when the step has run."""
        self.frees = tuple(slots)

    def set_shape(self, shape):
        """Give the result other dimensions, of as many elements."""
        cdef int i
        cdef Py_ssize_t* fresh = <Py_ssize_t*>malloc((len(shape) + 1) * sizeof(Py_ssize_t))
        if fresh == NULL:
            raise MemoryError
        free(self.shape)
        self.shape, self.n_out = fresh, len(shape)
        for i in range(self.n_out):
            fresh[i] = shape[i]

    @property
    def reads(self):
        """The slots that the step reads."""
        return self.sources

    cdef TensorBase run(self, list slots, bint final):
        """The tensor that the step makes: a final one in the ``out=`` that waits for it."""
        cdef TensorBase out = awaited_result(None, self.code, self.n_out, self.shape) if final else None
        cdef char* p[ST_NEST_FACTORS + 1]
        cdef int i, n = len(self.sources), status = 0
        if out is None:
            out = empty(self.code, self.n_out, self.shape)
        p[0] = ptr(out)
        for i in range(n):
            p[i + 1] = ptr(<TensorBase>slots[<int>self.sources[i]])
        if self.kind == NEST or self.add:
            memset(p[0], 0, out.count * ITEMSIZE[self.code])
        if self.work >= 2 * GRAIN:
            with nogil:
                status = self.run_shared(n, p)
        else:
            status = self.run_loops(n, p, self.dims)
        if status == ST_NO_MEMORY:
            raise MemoryError
        return out

    cdef int run_shared(self, int n, char** p) noexcept nogil:
        """The loops, one of them shared among threads: the outermost of which each place makes results of its own."""
        cdef Share c
        cdef char[PARTS * 16] parts
        cdef Py_ssize_t kept[ST_NEST_DIMS]
        cdef Py_ssize_t kept_strides[ST_NEST_DIMS]
        cdef const st_nest_dim* inner = self.dims + self.ndim - 2
        cdef Py_ssize_t size = ITEMSIZE[self.code], step = size
        cdef int d, i, loops = self.ndim
        c.step, c.n, c.p, c.status = <PyObject*>self, n, p, 0
        if self.kind == SUM:
            loops = 0
            for d in range(self.ndim):
                i = self.ndim - 1 - d
                if d == 1:
                    continue
                if self.dims[i].size > 1 and self.dims[i].strides[0] != step:
                    return self.run_loops(n, p, self.dims)
                kept[loops], kept_strides[loops] = self.dims[i].size, self.dims[i].strides[1]
                step *= kept[loops]
                loops += 1
            st_shared_reduce(self.reduce, self.code, p[0], size, p[1], inner.size, inner.strides[1], loops, kept,
                             kept_strides, NULL, NULL)
            return 0
        if self.kind == PRODUCTS and blas_serves(self.code) and self.m * self.n * self.k > (
                BLAS_ALONE if self.m > 1 and self.n > 1 else BLAS_ALONE_MV):
            return self.run_loops(n, p, self.dims)      # the BLAS has threads
        for d in range(loops):
            if self.dims[d].strides[0] != 0 and self.dims[d].size > 1:
                c.d = d
                st_parallel(self.dims[d].size, GRAIN * self.dims[d].size // self.work + 1, some_places, &c)
                return c.status
        if self.kind == NEST and self.dims[0].size >= PARTS and self.sums_alike:
            memset(parts, 0, sizeof(parts))
            c.d, c.parts = 0, parts
            st_parallel(PARTS, 1, some_parts, &c)
            self.reduce(p[0], parts, PARTS, size, 1, 0, size, NULL)
            return c.status
        return self.run_loops(n, p, self.dims)

    cdef int run_part(self, int n, char** p, int d, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
        """Places begin ... end of loop d."""
        cdef st_nest_dim[ST_NEST_DIMS] dims
        cdef char* q[ST_NEST_FACTORS + 1]
        cdef int j
        memcpy(dims, self.dims, self.ndim * sizeof(st_nest_dim))
        dims[d].size = end - begin
        for j in range(n + 1):
            q[j] = p[j] + begin * dims[d].strides[j]
        return self.run_loops(n, q, dims)

    cdef int run_loops(self, int n, char** p, const st_nest_dim* dims) noexcept nogil:
        cdef Py_ssize_t one[3]
        if self.kind == NEST:
            return self.nest(n, self.ndim, dims, p)
        if self.kind == SMALL:
            self.small(self.add, self.m, self.n, self.k, p[1], self.sa, p[2], self.sb, p[0], self.sc[0], self.ndim,
                       dims)
            return 0
        if self.kind == PRODUCTS:
            return over_loops(self, dims, self.ndim, 3, p)
        if self.kind == SUM:
            return over_loops(self, dims, self.ndim - 2, 2, p)
        if self.ndim == 0:
            one[0] = one[1] = one[2] = 0
            return self.loop(p, one, 1, NULL)
        if self.tiled:
            return over_loops(self, dims, self.ndim - 2, 2, p)
        return over_loops(self, dims, self.ndim - 1, 2 if self.kind == COPY else 3, p)


cdef void some_places(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Share* c = <Share*>context
    cdef int status = (<Step>c.step).run_part(c.n, c.p, c.d, begin, end)
    if status:
        c.status = status


cdef void some_parts(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Sums over a share of loop d each, next to each other."""
    cdef Share* c = <Share*>context
    cdef char* p[ST_NEST_FACTORS + 1]
    cdef Py_ssize_t size = (<Step>c.step).dims[c.d].size, part
    memcpy(p, c.p, (c.n + 1) * sizeof(char*))
    for part in range(begin, end):
        p[0] = c.parts + part * ITEMSIZE[(<Step>c.step).code]
        (<Step>c.step).run_part(c.n, p, c.d, size * part // PARTS, size * (part + 1) // PARTS)


cdef int over_loops(Step s, const st_nest_dim* dims, int ndim, int n, char** p) noexcept nogil:
    """Run a step's kernel at every place of its outer loops."""
    cdef Py_ssize_t count[ST_NEST_DIMS]
    cdef const st_nest_dim* inner = dims + ndim
    cdef int d, j, status = 0, size = ITEMSIZE[s.code]
    cdef bint by_blas = s.kind == PRODUCTS and blas_serves(s.code)
    for d in range(ndim):
        count[d] = 0
    while True:
        if s.kind == PRODUCTS:
            if by_blas:
                blas_product(s.code, s.add, s.m, s.n, s.k, p[1], s.sa[0], s.sa[1], p[2], s.sb[0], s.sb[1], p[0],
                             s.sc[0])
            else:
                status |= st_gemm(s.code, s.m, s.n, s.k, p[1], s.sa[0] * size, s.sa[1] * size, p[2], s.sb[0] * size,
                                  s.sb[1] * size, p[0], s.sc[0] * size, s.sc[1] * size)
        elif s.kind == SUM:
            s.reduce(p[0], p[1], inner.size, inner.strides[1], inner[1].size, inner[1].strides[1], inner[1].strides[0],
                     NULL)
        elif s.tiled:
            st_plane(size, inner.size, inner[1].size, p[0], inner.strides[0], p[1], inner[1].strides[1])
        else:
            status |= s.loop(p, inner.strides, inner.size, NULL)
        d = ndim - 1
        while d >= 0:
            count[d] += 1
            for j in range(n):
                p[j] += dims[d].strides[j]
            if count[d] < dims[d].size:
                break
            for j in range(n):
                p[j] -= dims[d].strides[j] * dims[d].size
            count[d] = 0
            d -= 1
        if d < 0:
            return status


cdef class Plan:
    """How one equation is computed for operands of one dtype, shape and layout."""

    def __init__(self, operands, terms, output, sizes, shape, int code, int result_code):
        cdef Py_ssize_t n = 0, at = 0
        cdef TensorBase t
        cdef int i
        self.n_operands, self.terms, self.output, self.sizes = len(operands), terms, output, sizes
        self.code, self.result_code, self.ndim = code, result_code, len(shape)
        self.steps, self.tree, self.n_slots = [], (), self.n_operands
        for t in operands:
            n += 2 + 2 * t.ndim_
            if t.code != code:
                self.casts = True
        if self.ndim > MAX_DIMS:
            raise RuntimeError(f"einsum(): the result would have {self.ndim} dimensions, but tensors have at most "
                               f"{MAX_DIMS}")
        self.n_seen = n
        self.seen = <Py_ssize_t*>malloc((n + 1) * sizeof(Py_ssize_t))
        self.shape = <Py_ssize_t*>malloc((self.ndim + 1) * sizeof(Py_ssize_t))
        self.strides = <Py_ssize_t*>malloc((self.ndim + 1) * sizeof(Py_ssize_t))
        if self.seen == NULL or self.shape == NULL or self.strides == NULL:
            raise MemoryError
        for t in operands:
            self.seen[at], self.seen[at + 1] = t.code, t.ndim_
            at += 2
            for i in range(t.ndim_):
                self.seen[at], self.seen[at + 1] = t.shape_[i], t.strides_[i]
                at += 2
        for i in range(self.ndim):
            self.shape[i] = shape[i]

    def __dealloc__(self):
        free(self.seen)
        free(self.shape)
        free(self.strides)

    def as_view(self, strides):
        """The result is a view of the one operand."""
        cdef int i
        self.is_view = True
        for i in range(self.ndim):
            self.strides[i] = strides[i]
        return self

    def as_zeros(self):
        """There is nothing to sum."""
        self.is_zero = True
        return self

    def as_stages(self, function):
        """The result is made by other contractions."""
        self.stages = function
        return self

    def of_steps(self, steps, int n_slots, tree, rows, slot_strides, int last, info):
        """The result is made by steps."""
        self.steps, self.n_slots, self.last = steps, n_slots, last
        self.tree, self.rows, self.slot_strides, self.info = tree, rows, slot_strides, info
        return self

    @property
    def shows_memory(self):
        """Whether the result is a view of the operand."""
        return self.is_view

    cdef bint fits(self, tuple operands) noexcept:
        """Whether the plan was made for operands like these."""
        cdef const Py_ssize_t* seen = self.seen
        cdef TensorBase t
        cdef int i, k
        if len(operands) != self.n_operands:
            return False
        for k in range(self.n_operands):
            t = <TensorBase>operands[k]
            if seen[0] != t.code or seen[1] != t.ndim_:
                return False
            seen += 2
            for i in range(t.ndim_):
                if seen[0] != t.shape_[i] or seen[1] != t.strides_[i]:
                    return False
                seen += 2
        return True

    cdef object run(self, tuple operands, list kept):
        """The result; the tensors of all slots are left in `kept` if it is given."""
        cdef list slots
        cdef Step step
        cdef TensorBase r, t
        cdef int i
        if self.stages is not None:
            return self.stages(operands)
        if self.is_view:
            t = <TensorBase>operands[0]
            return make_view(t, self.ndim, self.shape, self.strides, t.offset)
        if self.is_zero:
            r = empty(self.result_code, self.ndim, self.shape)
            memset(ptr(r), 0, r.count * ITEMSIZE[r.code])
            return r
        slots = [None] * self.n_slots if kept is None else kept
        for i in range(self.n_operands):
            slots[i] = as_code_tensor(<TensorBase>operands[i], self.code) if self.casts else operands[i]
        final = self.steps[len(self.steps) - 1] if self.result_code == self.code else None
        for step in self.steps:
            r = step.run(slots, step is final)
            slots[step.out] = r
            if kept is None:
                for i in range(len(step.frees)):
                    slots[<int>step.frees[i]] = None
        return as_code_tensor(r, self.result_code) if self.result_code != self.code else r


# ---------------------------------------------------------------- plans kept for reuse

cdef dict equations = {}
cdef object make_plan                  # makes the Plan of an equation and operands; set by whoever plans


def set_planner(function):
    """Name the function that makes plans: ``(equation, operands, grads) -> Plan``."""
    global make_plan
    make_plan = function


def forget_plans():
    """Make all plans anew: what they were made under has changed."""
    equations.clear()


cdef class Equation:
    """An equation, with the plans last made for it."""

    def __init__(self, source, options=None):
        self.source, self.options, self.plans = source, options, []

    cdef Plan plan_for(self, tuple operands, bint grads):
        """The plan for operands; with grads one that keeps what gradients need."""
        cdef list plans = self.plans
        cdef Py_ssize_t i
        cdef Plan plan
        for i in range(len(plans)):
            plan = <Plan>plans[i]
            if (plan.back is not None) == grads and plan.fits(operands):
                if i:
                    del plans[i]
                    plans.insert(0, plan)
                return plan
        plan = make_plan(self, operands, grads)
        if grads:
            plan.back = {}
        plans.insert(0, plan)
        del plans[PLANS:]
        return plan

    def plan(self, operands, grads=False):
        """The plan for operands."""
        return self.plan_for(tuple(operands), grads)


def equation_of(source, options=None):
    """The Equation of a string, or of lists of labels as tuples."""
    return find_equation(source, options)


cdef Equation find_equation(object source, object options):
    cdef Equation e
    key = source if options is None else (source, options)
    found = equations.get(key)
    if found is not None:
        return <Equation>found
    if len(equations) >= EQUATIONS:
        equations.clear()
    e = Equation(source, options)
    equations[key] = e
    return e


cdef Equation labelled(tuple rows, tuple output):
    """The Equation of operands with rows of labels."""
    return find_equation((rows, output), None)
