"""Writing to named places along one dimension of arrays (outer, size, inner), of any strides.

Places are int64 arrays (outer, n, inner), values arrays of that shape. Each function returns False, with a part of the
values written, if a place does not lie within the dimension. Where a place is named again, the values count in their
order along n, for any number of threads: these share outer places and columns alone.
"""
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint64_t

from .elements cimport doublecomplex, number, power_of, word
from .kernels cimport ST_BOOL, ST_FLOAT32, ST_FLOAT64, ST_INT8, ST_INT16, ST_INT32, ST_INT64, ST_UINT8
from .move cimport st_move
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 15                    # elements that are worth a thread
    NARROW = 64                        # neighbours that are written at once

cdef enum How:
    ADD
    MULTIPLY
    GREATEST
    LEAST

_HOW = {"sum": ADD, "prod": MULTIPLY, "amax": GREATEST, "amin": LEAST}
_OF_FLAGS = {"sum": "amax", "prod": "amin", "amax": "amax", "amin": "amin"}

# A piece of a loop is a function of any element type, called through st_body: its first parameter, a pointer to the
# elements, stands for the context, a Places.

cdef inline bint assign_line(word* target, const int64_t* at, const word* values, Places* c, Py_ssize_t count,
                             Py_ssize_t to, Py_ssize_t step, Py_ssize_t by) noexcept nogil:
    """``target[at[k * step]][k * to] = values[k * by]``."""
    cdef Py_ssize_t k
    cdef uint64_t place, size = c.size
    for k in range(count):
        place = at[k * step]
        if place >= size:              # negative ones too
            return False
        target[<Py_ssize_t>place * c.to[1] + k * to] = values[k * by]
    return True


cdef inline void assign_row(word* target, const word* values, Py_ssize_t count, Py_ssize_t to,
                            Py_ssize_t by) noexcept nogil:
    cdef Py_ssize_t k
    if to == 1 and by == 1:
        st_move(target, values, count * sizeof(word))
    else:
        for k in range(count):
            target[k * to] = values[k * by]


cdef void assign_columns(word* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    """Blocks of NARROW columns i, outer place after outer place: no two write to the same element."""
    cdef Places* c = <Places*>context
    cdef Py_ssize_t block, o, _j, first, last, blocks = (c.inner + NARROW - 1) // NARROW
    cdef const int64_t* at
    cdef const word* values
    cdef word* target
    while begin < end:
        o, block = begin // blocks, begin % blocks
        first, last = block * NARROW, min((block + end - begin) * NARROW, c.inner)
        begin += blocks - block
        target = <word*>c.target + o * c.to[0] + first * c.to[2]
        at, values = c.places + o * c.at[0] + first * c.at[2], <const word*>c.values + o * c.by[0] + first * c.by[2]
        if c.inner == 1:
            if not assign_line(target, at, values, c, c.n, 0, c.at[1], c.by[1]):
                c.outside = True
            continue
        for _j in range(c.n):
            if c.at[2]:
                if not assign_line(target, at, values, c, last - first, c.to[2], c.at[2], c.by[2]):
                    c.outside = True
                    break
            elif <uint64_t>at[0] >= <uint64_t>c.size:
                c.outside = True
                break
            else:
                assign_row(target + at[0] * c.to[1], values, last - first, c.to[2], c.by[2])
            at += c.at[1]
            values += c.by[1]


cdef inline number combined(number a, number b, How how) noexcept nogil:
    cdef number best
    if how == ADD:
        return <number>(a + b)
    if how == MULTIPLY:
        return <number>(a * b)
    if how == GREATEST:
        best = b if b > a else a
    else:
        best = b if b < a else a
    if number is float or number is double:
        best = b if b != b else best   # NaN wins, and one that is there stays
    return best


cdef inline bint combine_line(number* target, const int64_t* at, const number* values, Places* c, Py_ssize_t count,
                              Py_ssize_t to, Py_ssize_t step, Py_ssize_t by, How how) noexcept nogil:
    """As assign_line."""
    cdef Py_ssize_t k
    cdef uint64_t place, size = c.size
    cdef number* x
    for k in range(count):
        place = at[k * step]
        if place >= size:
            return False
        x = target + <Py_ssize_t>place * c.to[1] + k * to
        x[0] = combined(x[0], values[k * by], how)
    return True


cdef inline void combine_row(number* target, const number* values, Py_ssize_t count, Py_ssize_t to, Py_ssize_t by,
                             How how) noexcept nogil:
    cdef Py_ssize_t k
    if to == 1 and by == 1:
        for k in range(count):
            target[k] = combined(target[k], values[k], how)
    else:
        for k in range(count):
            target[k * to] = combined(target[k * to], values[k * by], how)


cdef inline void combine_blocks(number* kind, Places* c, Py_ssize_t begin, Py_ssize_t end, How how) noexcept nogil:
    """As assign_columns."""
    cdef Py_ssize_t block, o, _j, first, last, blocks = (c.inner + NARROW - 1) // NARROW
    cdef const int64_t* at
    cdef const number* values
    cdef number* target
    while begin < end:
        o, block = begin // blocks, begin % blocks
        first, last = block * NARROW, min((block + end - begin) * NARROW, c.inner)
        begin += blocks - block
        target = <number*>c.target + o * c.to[0] + first * c.to[2]
        at, values = c.places + o * c.at[0] + first * c.at[2], <const number*>c.values + o * c.by[0] + first * c.by[2]
        if c.inner == 1:
            if not combine_line(target, at, values, c, c.n, 0, c.at[1], c.by[1], how):
                c.outside = True
            continue
        for _j in range(c.n):
            if c.at[2]:
                if not combine_line(target, at, values, c, last - first, c.to[2], c.at[2], c.by[2], how):
                    c.outside = True
                    break
            elif <uint64_t>at[0] >= <uint64_t>c.size:
                c.outside = True
                break
            else:
                combine_row(target + at[0] * c.to[1], values, last - first, c.to[2], c.by[2], how)
            at += c.at[1]
            values += c.by[1]


cdef void combine_columns(number* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Places* c = <Places*>context
    if c.how == ADD:
        combine_blocks(context, c, begin, end, ADD)
    elif c.how == MULTIPLY:
        combine_blocks(context, c, begin, end, MULTIPLY)
    elif c.how == GREATEST:
        combine_blocks(context, c, begin, end, GREATEST)
    else:
        combine_blocks(context, c, begin, end, LEAST)


cdef inline void set_steps(Py_ssize_t* steps, const Py_ssize_t* strides, size_t size) noexcept:
    cdef int k
    for k in range(3):
        steps[k] = strides[k] // <Py_ssize_t>size


cdef inline bint run(Places* c, Py_ssize_t outer, st_body body) noexcept:
    c.outside = False
    with nogil:
        st_parallel(outer * ((c.inner + NARROW - 1) // NARROW), GRAIN // (c.n * min(c.inner, <Py_ssize_t>NARROW)) + 1,
                    body, c)
    return not c.outside


# By the power of two that is an element's size.
cdef st_body[5] ASSIGN = [<st_body>assign_columns[uint8_t], <st_body>assign_columns[int16_t],
                          <st_body>assign_columns[float], <st_body>assign_columns[double],
                          <st_body>assign_columns[doublecomplex]]


cdef bint assign_places(Places* c, Py_ssize_t outer, int itemsize) noexcept:
    """``target[o, places[o, j, i], i] = values[o, j, i]`` for elements of so many bytes."""
    if not outer * c.n * c.inner:
        return True
    if not c.size:
        return False
    return run(c, outer, ASSIGN[power_of(itemsize)])


cdef int combine_places(Places* c, Py_ssize_t outer, int code, str how) except -2:
    """The same with a sum, prod, amax or amin of what is there and the value; -1 for dtypes that no loop is for."""
    cdef st_body body
    if code == ST_FLOAT32:
        body = <st_body>combine_columns[float]
    elif code == ST_FLOAT64:
        body = <st_body>combine_columns[double]
    elif code == ST_UINT8 or code == ST_BOOL:
        body = <st_body>combine_columns[uint8_t]
    elif code == ST_INT8:
        body = <st_body>combine_columns[int8_t]
    elif code == ST_INT16:
        body = <st_body>combine_columns[int16_t]
    elif code == ST_INT32:
        body = <st_body>combine_columns[int32_t]
    elif code == ST_INT64:
        body = <st_body>combine_columns[int64_t]
    else:
        return -1
    if not outer * c.n * c.inner:
        return True
    if not c.size:
        return False
    c.how = _HOW[_OF_FLAGS[how] if code == ST_BOOL else how]
    return run(c, outer, body)


# ---------------------------------------------------------------- NumPy interface

def assign(word[:, :, :] target, const int64_t[:, :, :] places, const word[:, :, :] values):
    """``target[o, places[o, j, i], i] = values[o, j, i]``."""
    cdef Places c
    if not places.shape[0] * places.shape[1] * places.shape[2]:
        return True
    if not target.shape[1]:
        return False
    c.target, c.places, c.values = &target[0, 0, 0], &places[0, 0, 0], &values[0, 0, 0]
    c.size, c.n, c.inner = target.shape[1], places.shape[1], places.shape[2]
    set_steps(c.to, target.strides, sizeof(word))
    set_steps(c.at, places.strides, sizeof(int64_t))
    set_steps(c.by, values.strides, sizeof(word))
    return run(&c, places.shape[0], <st_body>assign_columns[word])


def combine(number[:, :, :] target, const int64_t[:, :, :] places, const number[:, :, :] values, str how):
    """The same with a sum, prod, amax or amin of what is there and the value."""
    cdef Places c
    if not places.shape[0] * places.shape[1] * places.shape[2]:
        return True
    if not target.shape[1]:
        return False
    c.target, c.places, c.values = &target[0, 0, 0], &places[0, 0, 0], &values[0, 0, 0]
    c.size, c.n, c.inner, c.how = target.shape[1], places.shape[1], places.shape[2], _HOW[how]
    set_steps(c.to, target.strides, sizeof(number))
    set_steps(c.at, places.strides, sizeof(int64_t))
    set_steps(c.by, values.strides, sizeof(number))
    return run(&c, places.shape[0], <st_body>combine_columns[number])


def join(int64_t[::1] places, const int64_t[::1] more, int64_t size):
    """Places in one dimension and in the next, of some size, as places in both: ``places * size + more``.

    Negative ones of `more` count from the dimension's end. False if one lies outside.
    """
    cdef Py_ssize_t i
    cdef int64_t place
    cdef bint inside = True
    with nogil:
        for i in range(places.shape[0]):
            place = more[i] + (size if more[i] < 0 else 0)
            inside &= 0 <= place < size
            places[i] = places[i] * size + place
    return inside
