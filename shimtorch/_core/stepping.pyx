"""Steps of optimisers: one pass over memory for all parameters of a group.

``take`` does for a group what its optimiser says of one parameter: dense, contiguous float or double parameters like
their gradients and state are moved in one call, those on a device by as few kernels as hold them; the others are left
to tensor ops.
"""
from libc.stdlib cimport free, malloc, qsort

from .._kernels.optimise cimport (
    ST_ADADELTA, ST_ADAGRAD, ST_ADAM, ST_ADAMAX, ST_ASGD, ST_NADAM, ST_RADAM, ST_RMSPROP, ST_RPROP, ST_SGD,
    ST_STEP_NUMBERS, ST_STEP_STATES, st_step, st_step_fn,
)
from .._kernels.table cimport st_find_step, st_parallel
from .dtype cimport FLOAT32, FLOAT64
from .tensor cimport ON_DEVICE, REQUIRES_GRAD, SPARSE, TensorBase, device_ptr, empty_at, place_of, ptr, same_shape

SGD, ADAM, ADADELTA, RMSPROP, ADAGRAD = ST_SGD, ST_ADAM, ST_ADADELTA, ST_RMSPROP, ST_ADAGRAD
ADAMAX, NADAM, RADAM, ASGD, RPROP = ST_ADAMAX, ST_NADAM, ST_RADAM, ST_ASGD, ST_RPROP

cdef enum:
    GRAIN = 1 << 14                    # elements that are worth a thread

# A parameter's step, and the place of its first element among those of all parameters.
cdef struct Entry:
    st_step step
    st_step_fn fn
    Py_ssize_t first, itemsize

cdef struct Entries:
    Entry* entries
    Py_ssize_t n

# Memory that a step reads, and perhaps writes.
cdef struct Span:
    const char* begin
    const char* end
    bint written


# ---------------------------------------------------------------- one call for all

cdef void run_pieces(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """The elements begin ... end of all parameters one after another."""
    cdef Entries* all_ = <Entries*>context
    cdef Py_ssize_t low = 0, high = all_.n - 1, middle
    cdef Entry* e
    while low < high:                  # the last parameter that starts at or before begin
        middle = (low + high + 1) // 2
        if all_.entries[middle].first <= begin:
            low = middle
        else:
            high = middle - 1
    while begin < end:
        e = &all_.entries[low]
        e.fn(&e.step, begin - e.first, min(end - e.first, e.step.n))
        begin = e.first + e.step.n
        low += 1


cdef int compare_spans(const void* a, const void* b) noexcept nogil:
    cdef const char* x = (<const Span*>a).begin
    cdef const char* y = (<const Span*>b).begin
    return (x > y) - (x < y)


cdef bint apart(const Entry* entries, Py_ssize_t n) noexcept nogil:
    """Whether no parameter's step writes what another one's reads or writes: only then may threads share them."""
    cdef Span* spans = <Span*>malloc(n * (ST_STEP_STATES + 2) * sizeof(Span))
    cdef const char* seen = NULL       # where all memory so far ends, and what of it is written
    cdef const char* written = NULL
    cdef Py_ssize_t i, k, count = 0
    cdef bint answer = True
    if spans == NULL:
        return False
    for i in range(n):
        for k in range(ST_STEP_STATES + 2):
            spans[count].begin = <const char*>(entries[i].step.p if k == 0 else entries[i].step.g if k == 1 else
                                               entries[i].step.state[k - 2])
            if spans[count].begin != NULL:
                spans[count].end = spans[count].begin + entries[i].step.n * entries[i].itemsize
                spans[count].written = k != 1
                count += 1
    qsort(spans, count, sizeof(Span), compare_spans)
    for i in range(count):
        if spans[i].begin < written or (spans[i].written and spans[i].begin < seen):
            answer = False
            break
        seen = max(seen, spans[i].end)
        if spans[i].written:
            written = max(written, spans[i].end)
    free(spans)
    return answer


cdef void run(Entry* entries, Py_ssize_t n) noexcept nogil:
    cdef Entries all_
    cdef Py_ssize_t total
    all_.entries, all_.n = entries, n
    total = entries[n - 1].first + entries[n - 1].step.n
    if total >= 2 * GRAIN and apart(entries, n):
        st_parallel(total, GRAIN, run_pieces, &all_)
    elif total > 0:
        run_pieces(&all_, 0, total)


# ---------------------------------------------------------------- which tensors

cdef bint plain(TensorBase t, TensorBase like, bint written) noexcept:
    """Whether t is a dense, contiguous tensor like the other, on the same device, whose memory is there."""
    return (t is not None and t.code == like.code and t.contiguous_ and t.storage is not None
            and not t.flags & SPARSE and (t.flags ^ like.flags) & ON_DEVICE == 0 and t.impl is like.impl
            and same_shape(t, like) and (t.storage.writable or not written)
            and t.offset + t.count * (4 if t.code == FLOAT32 else 8) <= <Py_ssize_t>t.storage.nbytes)


cdef bint steps(TensorBase p, TensorBase grad) noexcept:
    return (p.code == FLOAT32 or p.code == FLOAT64) and plain(p, p, True) and plain(grad, p, False)


cdef bint fits(TensorBase p, TensorBase grad, tuple kept) noexcept:
    """Whether one pass can step p: None stands for state that is not kept."""
    if not steps(p, grad):
        return False
    for t in kept:
        if t is not None and not (isinstance(t, TensorBase) and plain(<TensorBase>t, p, True)):
            return False
    return True


cdef double advance(step) except? -1:
    """Count a step in the tensor of one element that keeps the number; the number."""
    cdef TensorBase t = step if isinstance(step, TensorBase) else None
    cdef double count
    if (t is None or t.count != 1 or t.flags & (SPARSE | ON_DEVICE | REQUIRES_GRAD)
            or (t.code != FLOAT32 and t.code != FLOAT64) or not plain(t, t, True)):
        return step.add_(1).item()
    if t.code == FLOAT32:
        (<float*>ptr(t))[0] += 1
        count = (<float*>ptr(t))[0]
    else:
        (<double*>ptr(t))[0] += 1
        count = (<double*>ptr(t))[0]
    t.storage.version += 1
    return count


# ---------------------------------------------------------------- a group

cdef tuple kept_of(tuple names, state):
    """The tensors of state of these names: None where there is no name, False for what is not there."""
    cdef list kept = []
    for name in names:
        t = None if name is None else state.get(name)
        kept.append(False if t is None and name is not None else t)
    return tuple(kept)


cdef int fill(Entry* e, int optimiser, TensorBase p, TensorBase grad, tuple kept, tuple numbers, bint fresh,
              Py_ssize_t first) except -1:
    cdef int i
    e.fn = st_find_step(optimiser, p.code)
    e.first, e.itemsize = first, 4 if p.code == FLOAT32 else 8
    e.step.p, e.step.g, e.step.n, e.step.fresh = device_ptr(p), device_ptr(grad), p.count, fresh
    for i in range(ST_STEP_STATES):
        e.step.state[i] = NULL
        if i < len(kept) and kept[i] is not None:
            e.step.state[i] = device_ptr(<TensorBase>kept[i])
    for i in range(ST_STEP_NUMBERS):
        e.step.numbers[i] = numbers[i] if i < len(numbers) else 0
    return 0


cdef void count_writes(TensorBase p, tuple kept) noexcept:
    p.storage.version += 1
    for t in kept:
        if t is not None:
            (<TensorBase>t).storage.version += 1


def take(optimizer, dict group):
    """Step the parameters of a group that one pass can step; (parameter, gradient, state, numbers) of the others.

    The optimiser has ``_compiled``, the number of its pass; ``_dense_only``, under which name it refuses sparse
    gradients if it does; ``_start(p, group)``, which makes the state of a parameter, if it counts steps;
    ``_kept(group)``, the names of the tensors of state; ``_numbers(group, count, state)``, the numbers of the pass,
    which are asked for once for each count of steps, or for each parameter if ``_numbers_differ``.
    """
    cdef int optimiser = optimizer._compiled
    cdef bint counts = optimizer._step_is_tensor, differ = optimizer._numbers_differ, fresh
    cdef bint stateful
    cdef tuple names = optimizer._kept(group), kept, numbers = None
    cdef list ready = [], left = [], on_devices = [], stepped = []
    cdef double count = 0, last = -1
    cdef Py_ssize_t n = 0, total = 0
    cdef TensorBase p, grad
    cdef Entry* entries
    all_state, dense_only = optimizer.state, optimizer._dense_only
    stateful = counts or len(names) > 0
    for x in group["params"]:
        g = x.grad
        if g is None:
            continue
        if dense_only is not None and g.is_sparse:
            raise RuntimeError(f"{dense_only} does not support sparse gradients, please consider SparseAdam instead")
        state = None
        if stateful:
            state = all_state[x]
            if counts and not state:
                optimizer._start(x, group)
        ready.append((x, g, state))
    if not ready:
        return left
    entries = <Entry*>malloc(len(ready) * sizeof(Entry))
    if entries == NULL:
        raise MemoryError()
    try:
        for x, g, state in ready:
            p, grad = x, g
            if counts:
                count = advance(state["step"])
            if numbers is None or differ or count != last:
                numbers = optimizer._numbers(group, count, state)
                last = count
            kept = kept_of(names, state)
            fresh = optimiser == ST_SGD and len(kept) == 1 and kept[0] is False and steps(p, grad)
            if fresh:                  # the pass itself starts the momentum, with the gradient
                kept = (empty_at(place_of(p, None), p.code, p.ndim_, p.shape_),)
                state[names[0]] = kept[0]
            if not fits(p, grad, kept):
                left.append((x, g, state, numbers))
                continue
            stepped.append((p, kept))
            if p.flags & ON_DEVICE:
                on_devices.append((p, grad, kept, numbers, fresh))
            else:
                fill(&entries[n], optimiser, p, grad, kept, numbers, fresh, total)
                n, total = n + 1, total + p.count
        if n > 0:
            with nogil:
                run(entries, n)
    finally:
        free(entries)
    if on_devices:
        from .._gpu import _dense
        _dense.take_steps(optimiser, on_devices)
    for p, kept in stepped:
        count_writes(p, kept)
    return left
