"""Running a one-dimensional kernel over n-dimensional tensors: broadcasting, merging of dimensions, result layout."""
from cpython.object cimport PyObject
from libc.string cimport memcpy

from .._kernels.table cimport (
    ST_SHARED_FROM, ST_ZERO_DIVISION, st_any_order, st_cast, st_combining, st_loop, st_reduce, st_shared_copy,
    st_shared_flat, st_shared_loop, st_shared_reduce,
)
from .dtype cimport ITEMSIZE
from .policy cimport policy
from .tensor cimport (
    MAX_DIMS, ON_DEVICE, Place, TensorBase, empty_at, empty_strided_at, place_of, ptr, same_shape, strided_alias,
)

cdef enum:
    FEW = 8


cdef int broadcast_shape(TensorBase a, TensorBase b, Py_ssize_t* shape) except -1:
    """The common shape of a and b; the number of dimensions."""
    cdef int n = max(a.ndim_, b.ndim_), i, da, db
    cdef Py_ssize_t sa, sb
    for i in range(n):
        da, db = a.ndim_ - n + i, b.ndim_ - n + i
        sa = a.shape_[da] if da >= 0 else 1
        sb = b.shape_[db] if db >= 0 else 1
        if sa != sb and sa != 1 and sb != 1:
            raise size_mismatch(a, b, n)
        shape[i] = sb if sa == 1 else sa
    return n


cdef object size_mismatch(TensorBase a, TensorBase b, int n):
    """The error that names the last dimension in which a and b do not match."""
    cdef int i, da, db
    for i in range(n - 1, -1, -1):
        da, db = a.ndim_ - n + i, b.ndim_ - n + i
        if da >= 0 and db >= 0 and a.shape_[da] != b.shape_[db] and a.shape_[da] != 1 and b.shape_[db] != 1:
            return RuntimeError(f"The size of tensor a ({a.shape_[da]}) must match the size of tensor b "
                                f"({b.shape_[db]}) at non-singleton dimension {i}")


cdef TensorBase alloc_result(int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b):
    """An uninitialised result of a pointwise op or copy, in the memory order that the era gives it."""
    return empty_at(place_of(a, b), code, ndim, shape) if policy.row_order else alloc_alike(code, ndim, shape, a, b)


cdef TensorBase alloc_at(Place place, TensorBase t):
    """An uninitialised tensor like t, in its memory order, at a Place or (None) in the CPU's memory."""
    return ordered_alike(place, t.code, t.ndim_, t.shape_, t, None)


cdef TensorBase alloc_alike(int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b):
    """An uninitialised result in the memory order of the operands, as torch chooses it."""
    return ordered_alike(place_of(a, b), code, ndim, shape, a, b)


cdef TensorBase ordered_alike(Place place, int code, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b):
    cdef int perm[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, j, order
    cdef Py_ssize_t n = 1
    if (a is None or a.contiguous_) and (b is None or b.contiguous_):
        return empty_at(place, code, ndim, shape)
    # insertion sort of the dimensions by stride, fastest first; ties and broadcast dimensions keep their order
    for i in range(ndim):
        perm[i] = ndim - 1 - i
    for i in range(1, ndim):
        j = i
        while j > 0:
            order = compare_dims(perm[j - 1], perm[j], ndim, shape, a, b)
            if order > 0:
                perm[j - 1], perm[j] = perm[j], perm[j - 1]
                j -= 1
            else:
                break
    for i in range(ndim):
        strides[perm[i]] = n
        n *= shape[perm[i]] if shape[perm[i]] > 1 else 1
    return empty_strided_at(place, code, ndim, shape, strides)


cdef int compare_dims(int d0, int d1, int ndim, const Py_ssize_t* shape, TensorBase a, TensorBase b) noexcept:
    cdef int k, i0, i1
    cdef TensorBase t
    cdef Py_ssize_t s0, s1
    for k in range(2):
        t = a if k == 0 else b
        if t is None:
            continue
        i0, i1 = d0 - ndim + t.ndim_, d1 - ndim + t.ndim_
        if i0 < 0 or i1 < 0:
            continue
        s0 = t.strides_[i0] if t.shape_[i0] != 1 or shape[d0] == 1 else 0
        s1 = t.strides_[i1] if t.shape_[i1] != 1 or shape[d1] == 1 else 0
        if s0 == 0 or s1 == 0:
            continue
        if s0 < s1:
            return -1
        if s0 > s1:
            return 1
        if shape[d0] > shape[d1]:
            return 1
    return 0


cdef int run_loop(st_loop loop, int n, PyObject** operands, const void* param) except -1:
    """Run loop over operands[0] (the output) and the inputs, which broadcast to its shape."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_OPERANDS][MAX_DIMS]
    cdef char* ptrs[MAX_OPERANDS]
    cdef TensorBase out = <TensorBase>operands[0], t
    cdef int ndim = 0, i, k, d, status
    cdef bint mergeable
    if out.count == 0:
        return 0
    if out.flags & ON_DEVICE:
        return (<Place>out.impl).loop(<void*>loop, n, operands, param)
    for k in range(n):
        ptrs[k] = ptr(<TensorBase>operands[k])
    # innermost first; dimensions of size 1 dropped, neighbours merged where every operand allows it
    for i in range(out.ndim_ - 1, -1, -1):
        if out.shape_[i] == 1:
            continue
        for k in range(n):
            t = <TensorBase>operands[k]
            d = i - out.ndim_ + t.ndim_
            strides[k][ndim] = (t.strides_[d] * ITEMSIZE[t.code] if d >= 0 and t.shape_[d] != 1 else 0)
        shape[ndim] = out.shape_[i]
        if ndim:
            mergeable = True
            for k in range(n):
                if strides[k][ndim] != strides[k][ndim - 1] * shape[ndim - 1]:
                    mergeable = False
                    break
            if mergeable:
                shape[ndim - 1] *= shape[ndim]
                continue
        ndim += 1
    if ndim == 0:
        shape[0] = 1
        ndim = 1
        for k in range(n):
            strides[k][0] = 0
    elif ndim > 1:
        fastest_inside(ndim, n, shape, strides)
    with nogil:
        status = st_shared_loop(loop, n, ndim, shape, &strides[0][0], ptrs, param)
    if status & ST_ZERO_DIVISION:
        raise RuntimeError("ZeroDivisionError")
    return 0


cdef int run_flat(st_loop loop, int n, char** ptrs, const Py_ssize_t* steps, Py_ssize_t count,
                  const void* param) except -1:
    """Run loop over count elements of each operand, steps apart."""
    cdef int status = 0
    if count >= ST_SHARED_FROM:
        with nogil:
            status = st_shared_flat(loop, n, count, steps, ptrs, param)
    elif count:
        status = loop(ptrs, steps, count, param)
    if status & ST_ZERO_DIVISION:
        raise RuntimeError("ZeroDivisionError")
    return 0


cdef void fastest_inside(int ndim, int n, Py_ssize_t* shape, Py_ssize_t[MAX_DIMS]* strides) noexcept:
    """Put the dimension with the output's smallest stride innermost (a transposed output is written in its order),
    or the next one that is far longer if that has few elements: a call of the loop costs as much as some of them."""
    cdef int best = nearest(ndim, shape, strides, 0), k
    cdef Py_ssize_t s
    if shape[best] < FEW:
        k = nearest(ndim, shape, strides, 8 * shape[best])
        best = k if k >= 0 else best
    if best:
        shape[0], shape[best] = shape[best], shape[0]
        for k in range(n):
            s = strides[k][0]
            strides[k][0] = strides[k][best]
            strides[k][best] = s


cdef int nearest(int ndim, const Py_ssize_t* shape, Py_ssize_t[MAX_DIMS]* strides, Py_ssize_t at_least) noexcept:
    """Of dimensions of at least that size, the one with the smallest stride of the output; -1: there is none."""
    cdef int best = -1, i
    for i in range(ndim):
        if shape[i] >= at_least and (best < 0 or 0 < strides[0][i] < strides[0][best] or not strides[0][best]):
            best = i
    return best


cdef int run1(st_loop loop, TensorBase out, TensorBase a, const void* param) except -1:
    cdef PyObject* operands[2]
    operands[0], operands[1] = <PyObject*>out, <PyObject*>a
    return run_loop(loop, 2, operands, param)


cdef int run2(st_loop loop, TensorBase out, TensorBase a, TensorBase b, const void* param) except -1:
    cdef PyObject* operands[3]
    operands[0], operands[1], operands[2] = <PyObject*>out, <PyObject*>a, <PyObject*>b
    return run_loop(loop, 3, operands, param)


cdef int run3(st_loop loop, TensorBase out, TensorBase a, TensorBase b, TensorBase c, const void* param) except -1:
    cdef PyObject* operands[4]
    operands[0], operands[1], operands[2], operands[3] = <PyObject*>out, <PyObject*>a, <PyObject*>b, <PyObject*>c
    return run_loop(loop, 4, operands, param)


cdef TensorBase as_code_tensor(TensorBase t, int code):
    """t in another dtype: itself, or a copy in the same memory order."""
    cdef TensorBase r
    if t.code == code:
        return t
    r = alloc_result(code, t.ndim_, t.shape_, t, None)
    run1(st_cast(t.code, code), r, t, NULL)
    return r


cdef TensorBase contiguous_copy(TensorBase t):
    cdef TensorBase r = empty_at(place_of(t, None), t.code, t.ndim_, t.shape_)
    copy_into(r, t)
    return r


cdef int copy_into(TensorBase out, TensorBase source) except -1:
    """Write source, broadcast and cast, into out. Overlapping memory is read before it is written."""
    if (out.flags | source.flags) & ON_DEVICE:
        if out.storage is source.storage and out.count:
            source = contiguous_copy_apart(source)
        return place_of(out, source).copy(out, source)
    if out.contiguous_ and source.contiguous_ and out.code == source.code and same_shape(out, source):
        if ptr(out) != ptr(source) and out.count:
            if out.storage is source.storage:
                source = contiguous_copy_apart(source)
            if out.count < ST_SHARED_FROM:
                memcpy(ptr(out), ptr(source), out.count * ITEMSIZE[out.code])
            else:
                with nogil:
                    st_shared_copy(out.storage.data + out.offset, source.storage.data + source.offset,
                                   out.count * ITEMSIZE[out.code])
        return 0
    if out.storage is source.storage and out.count:
        source = contiguous_copy_apart(source)
    return run1(st_cast(source.code, out.code), out, source, NULL)


cdef TensorBase contiguous_copy_apart(TensorBase t):
    cdef TensorBase r = empty_at(place_of(t, None), t.code, t.ndim_, t.shape_)
    run1(st_cast(t.code, t.code), r, t, NULL)
    return r


cdef int reduce_into(st_reduce kernel, TensorBase out, TensorBase a, unsigned long long dims, const void* param,
                     TensorBase indices) except -1:
    """Reduce the dimensions whose bits are set in `dims`; out (and indices) have the kept ones, contiguous."""
    cdef Py_ssize_t kept[MAX_DIMS]
    cdef Py_ssize_t kept_strides[MAX_DIMS]
    cdef int reduced[MAX_DIMS]
    cdef Py_ssize_t n_red = 1, s_red = 0, size = ITEMSIZE[a.code], step = ITEMSIZE[out.code]
    cdef unsigned long long part
    cdef int i, n_kept = 0, n_reduced = 0
    cdef bint any_order = False
    cdef st_reduce combine
    cdef char* dst
    cdef char* src
    cdef char* index = NULL
    if out.count == 0:
        return 0
    if a.flags & ON_DEVICE:
        return (<Place>a.impl).reduce(<void*>kernel, out, a, dims, param, indices)
    if a.count == 0:                       # every element of out is the reduction of nothing
        return reduce_nothing(kernel, out, param)
    for i in range(a.ndim_ - 1, -1, -1):
        if a.shape_[i] == 1:
            continue
        if dims >> i & 1:
            reduced[n_reduced] = i
            n_reduced += 1
        elif n_kept and a.strides_[i] * size == kept_strides[n_kept - 1] * kept[n_kept - 1]:
            kept[n_kept - 1] *= a.shape_[i]
        else:
            kept[n_kept] = a.shape_[i]
            kept_strides[n_kept] = a.strides_[i] * size
            n_kept += 1
    if n_reduced > 1:
        any_order = indices is None and st_any_order(kernel, a.code)
        if any_order:
            sort_by_stride(reduced, n_reduced, a)
    part = longest_run(reduced, n_reduced, a, &n_red, &s_red)
    if part != all_of(reduced, n_reduced):
        combine = st_combining(kernel, a.code) if any_order else NULL
        if combine != NULL:
            return reduce_in_turn(kernel, combine, out, a, part, dims, param)
        return reduce_into(kernel, out, reduced_last(a, dims), reduced_mask(a.ndim_, dims), param, indices)
    if indices is not None:
        index = ptr(indices)
    dst, src = ptr(out), ptr(a)
    with nogil:
        st_shared_reduce(kernel, a.code, dst, step, src, n_red, s_red, n_kept, kept, kept_strides, param, index)
    return 0


cdef void sort_by_stride(int* dims, int n, TensorBase a) noexcept:
    """Dimensions of a in the order of their strides, shortest first."""
    cdef int i, j
    for i in range(1, n):
        j = i
        while j > 0 and a.strides_[dims[j]] < a.strides_[dims[j - 1]]:
            dims[j], dims[j - 1] = dims[j - 1], dims[j]
            j -= 1


cdef unsigned long long longest_run(const int* dims, int n, TensorBase a, Py_ssize_t* count,
                                    Py_ssize_t* stride) noexcept:
    """The neighbours among these dimensions of a, innermost first, that are one row of most elements, as bits; its
    elements and the bytes between them."""
    cdef unsigned long long run = 0, best = 0
    cdef Py_ssize_t length = 1, step = 0, next_step
    cdef int k
    count[0], stride[0] = 1, 0
    for k in range(n):
        next_step = a.strides_[dims[k]] * ITEMSIZE[a.code]
        if run and next_step == step * length:
            length *= a.shape_[dims[k]]
        else:
            run, length, step = 0, a.shape_[dims[k]], next_step
        run |= <unsigned long long>1 << dims[k]
        if length > count[0]:
            best, count[0], stride[0] = run, length, step
    return best


cdef unsigned long long all_of(const int* dims, int n) noexcept:
    cdef unsigned long long bits = 0
    cdef int k
    for k in range(n):
        bits |= <unsigned long long>1 << dims[k]
    return bits


cdef int reduce_in_turn(st_reduce kernel, st_reduce combine, TensorBase out, TensorBase a, unsigned long long part,
                        unsigned long long dims, const void* param) except -1:
    """Reduce the dimensions of `part`, then the results along the others of `dims`."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef unsigned long long rest = 0
    cdef TensorBase parts
    cdef int i, n = 0
    for i in range(a.ndim_):
        if not part >> i & 1:
            shape[n] = a.shape_[i]
            rest |= (dims >> i & 1) << n
            n += 1
    parts = empty_at(None, out.code, n, shape)
    reduce_into(kernel, parts, a, part, param, None)
    return reduce_into(combine, out, parts, rest, NULL, None)


cdef int reduce_nothing(st_reduce kernel, TensorBase out, const void* param) except -1:
    cdef Py_ssize_t n = out.count, step = ITEMSIZE[out.code]
    cdef char* dst = ptr(out)
    with nogil:
        kernel(dst, dst, 0, 0, n, 0, step, param)
    return 0


cdef TensorBase reduced_last(TensorBase a, unsigned long long dims):
    """A contiguous copy of a whose reduced dimensions come last."""
    cdef Py_ssize_t shape[MAX_DIMS]
    cdef Py_ssize_t strides[MAX_DIMS]
    cdef int i, n = 0, last
    for last in range(2):
        for i in range(a.ndim_):
            if (dims >> i & 1) == last:
                shape[n] = a.shape_[i]
                strides[n] = a.strides_[i]
                n += 1
    return contiguous_copy_apart(strided_alias(a, a.ndim_, shape, strides, a.offset))


cdef unsigned long long reduced_mask(int ndim, unsigned long long dims) noexcept:
    cdef int i, k = 0
    for i in range(ndim):
        k += dims >> i & 1
    return ((<unsigned long long>1 << k) - 1) << (ndim - k)
