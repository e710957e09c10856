"""Images sampled at places between their pixels: the loops of grid_sample."""
from libc.math cimport fabs, floor, fmod, trunc
from libc.stdint cimport int64_t

from .elements cimport real
from .parallel cimport st_body
from .table cimport st_parallel

cdef enum:
    GRAIN = 1 << 11                    # places that are worth a thread

cpdef enum:
    LINEAR
    NEAREST
    CUBIC
    ZEROS = 0
    BORDER
    REFLECTION

# What the pieces share; a piece is a function of any element type, called through st_body. A 2-d image has depth 1.
ctypedef struct Samples:
    const void* image                  # (batch, channels, depth, height, width)
    const void* grid                   # (batch, n, dims), x first
    void* out                          # (batch, channels, n)
    Py_ssize_t channels, depth, height, width, n
    int dims, mode, padding
    bint corners


cdef inline real reflected(real x, real low, real high) noexcept nogil:
    """x mirrored into [low, high] as often as it takes; of what is too large to tell how often, something outside."""
    cdef real twice = 2 * (high - low), distance = x - low, extra
    if twice == 0:
        return 0
    distance = -distance if distance < 0 else distance
    extra = distance - <real>trunc(distance / twice) * twice
    return (extra if extra < twice - extra else twice - extra) + low


cdef inline real reflected_volume(real x, real low, real high) noexcept nogil:
    """The same in three dimensions, by the exact rest; too many mirrorings count as an even number."""
    cdef real span = high - low, distance = x - low, extra, flips
    if span == 0:
        return 0
    distance = -distance if distance < 0 else distance
    extra, flips = <real>fmod(distance, span), <real>floor(distance / span)
    return extra + low if not flips < 2147483648.0 or fmod(flips, 2) == 0 else span - extra + low


cdef inline real into(real x, Py_ssize_t n, int padding, bint corners) noexcept nogil:
    """A coordinate moved into an image of n pixels, unless it is padded with zeros; what is no number becomes 0."""
    if padding == REFLECTION:
        x = reflected(x, <real>0, <real>(n - 1)) if corners else reflected(x, <real>-0.5, <real>(n - 0.5))
    if padding != ZEROS:
        x = 0 if not x > 0 else n - 1 if x > n - 1 else x
    return x


cdef inline real into_volume(real x, Py_ssize_t n, int padding, bint corners) noexcept nogil:
    """The same in three dimensions: what is no number becomes the last place, or lies outside among zeros."""
    if padding == REFLECTION:
        x = (reflected_volume(x, <real>0, <real>(n - 1)) if corners else
             reflected_volume(x, <real>-0.5, <real>(n - 0.5)))
    if padding == ZEROS:
        return x if fabs(x) < 2147483647.0 else -100
    return 0 if x < 0 else x if x < n - 1 else n - 1


cdef inline real coordinate(real x, Py_ssize_t n, bint corners) noexcept nogil:
    cdef real one = 1, two = 2, size = n
    return (x + one) / two * (size - one) if corners else ((x + one) * size - one) / two


cdef inline int64_t whole(real x) noexcept nogil:
    """A coordinate rounded down; what is no number or far outside is any place outside."""
    cdef int64_t i
    if not fabs(x) < 1e9:
        return -100
    i = <int64_t>x
    return i - (x < i)


cdef inline real pixel(const real* plane, int64_t y, int64_t x, Py_ssize_t height, Py_ssize_t width) noexcept nogil:
    return plane[y * width + x] if 0 <= y < height and 0 <= x < width else 0


cdef inline void cubic_weights(real t, real* weights) noexcept nogil:
    """Of the pixels at distances t + 1, t, 1 - t and 2 - t."""
    cdef real a = <real>-0.75, u = 1 - t, v = t + 1, w = 2 - t
    weights[0] = ((a * v - 5 * a) * v + 8 * a) * v - 4 * a
    weights[1] = ((a + 2) * t - (a + 3)) * t * t + 1
    weights[2] = ((a + 2) * u - (a + 3)) * u * u + 1
    weights[3] = ((a * w - 5 * a) * w + 8 * a) * w - 4 * a


cdef inline void sample_cubic(Samples* c, const real* image, real* out, real x, real y) noexcept nogil:
    cdef real across[4]
    cdef real down[4]
    cdef int64_t columns[4]
    cdef int64_t rows[4]
    cdef real left = <real>floor(x), top = <real>floor(y), total, row
    cdef Py_ssize_t k
    cdef int i, j
    cubic_weights(x - left, across)
    cubic_weights(y - top, down)
    for i in range(4):
        columns[i] = whole(into(left + i - 1, c.width, c.padding, c.corners))
        rows[i] = whole(into(top + i - 1, c.height, c.padding, c.corners))
    for k in range(c.channels):
        total = 0
        for i in range(4):
            row = 0
            for j in range(4):
                row += pixel(image, rows[i], columns[j], c.height, c.width) * across[j]
            total += row * down[i]
        out[k * c.n] = total
        image += c.height * c.width


cdef inline real between(const real* plane, int64_t y, int64_t x, Py_ssize_t height, Py_ssize_t width,
                         const real* weights) noexcept nogil:
    """Four pixels from (y, x) on, times their weights: north-west, north-east, south-west, south-east."""
    return (pixel(plane, y, x, height, width) * weights[0] + pixel(plane, y, x + 1, height, width) * weights[1]
            + pixel(plane, y + 1, x, height, width) * weights[2]
            + pixel(plane, y + 1, x + 1, height, width) * weights[3])


cdef inline void sample_linear(Samples* c, const real* image, real* out, real x, real y, real z) noexcept nogil:
    cdef int64_t i = whole(x), j = whole(y), depth
    cdef real right = x - <real>floor(x), below = y - <real>floor(y), behind, total
    cdef real* weights = [(1 - right) * (1 - below), right * (1 - below), (1 - right) * below, right * below]
    cdef Py_ssize_t k, area = c.height * c.width, h = c.height, w = c.width
    cdef const real* p
    if c.dims == 3:
        depth = whole(z)
        behind = z - depth
        for k in range(c.channels):
            total = 0
            if 0 <= depth < c.depth:
                total = between(image + depth * area, j, i, h, w, weights) * (1 - behind)
            if -1 <= depth < c.depth - 1:
                total += between(image + (depth + 1) * area, j, i, h, w, weights) * behind
            out[k * c.n] = total
            image += c.depth * area
    elif 0 <= i and i + 1 < w and 0 <= j and j + 1 < h:
        p = image + j * w + i
        for k in range(c.channels):
            out[k * c.n] = p[0] * weights[0] + p[1] * weights[1] + p[w] * weights[2] + p[w + 1] * weights[3]
            p += area
    else:
        for k in range(c.channels):
            out[k * c.n] = between(image + k * area, j, i, h, w, weights)


cdef inline int64_t nearest(real x) noexcept nogil:
    """A coordinate rounded to the nearest whole number, halves to even ones."""
    cdef double shift = 6755399441055744.0                      # 1.5 * 2**52: sums with it have no fraction
    return whole(<real>((<double>x + shift) - shift))


cdef inline void sample_nearest(Samples* c, const real* image, real* out, real x, real y, real z) noexcept nogil:
    cdef int64_t i = nearest(x), j = nearest(y), depth = nearest(z) if c.dims == 3 else 0
    cdef Py_ssize_t k, area = c.height * c.width
    cdef const real* p = image + (depth * c.height + j) * c.width + i
    cdef bint inside = 0 <= depth < c.depth and 0 <= j < c.height and 0 <= i < c.width
    for k in range(c.channels):
        out[k * c.n] = p[k * c.depth * area] if inside else 0


cdef void sample_places(real* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Samples* c = <Samples*>context
    cdef Py_ssize_t at = begin, batch, j, last
    cdef const real* place
    cdef const real* image
    cdef real* out
    cdef real x, y, z = 0
    while at < end:                                             # one image after the other
        batch, last = at // c.n, min(end, (at // c.n + 1) * c.n)
        image = <const real*>c.image + batch * c.channels * c.depth * c.height * c.width
        out = <real*>c.out + batch * (c.channels - 1) * c.n
        for j in range(at, last):
            place = <const real*>c.grid + j * c.dims
            x, y = coordinate(place[0], c.width, c.corners), coordinate(place[1], c.height, c.corners)
            if c.mode == CUBIC:
                sample_cubic(c, image, out + j, x, y)
                continue
            if c.dims == 3:
                x = into_volume(x, c.width, c.padding, c.corners)
                y = into_volume(y, c.height, c.padding, c.corners)
                z = into_volume(coordinate(place[2], c.depth, c.corners), c.depth, c.padding, c.corners)
            else:
                x, y = into(x, c.width, c.padding, c.corners), into(y, c.height, c.padding, c.corners)
            if c.mode == LINEAR:
                sample_linear(c, image, out + j, x, y, z)
            else:
                sample_nearest(c, image, out + j, x, y, z)
        at = last


def sample(const real[:, :, :, :, ::1] image, const real[:, :, ::1] grid, real[:, :, ::1] out, int mode, int padding,
           bint corners):
    """The pixels (batch, channels, n) of an image (batch, channels, depth, height, width) at (batch, n, 2 or 3) places.

    mode: LINEAR, NEAREST or, in two dimensions, CUBIC; padding: ZEROS, BORDER or REFLECTION; corners: whether -1 and 1
    are the outermost pixels' centres.
    """
    cdef Samples c
    if not out.shape[0] * out.shape[1] * out.shape[2]:
        return
    c.image, c.grid, c.out = &image[0, 0, 0, 0, 0], &grid[0, 0, 0], &out[0, 0, 0]
    c.channels, c.depth, c.height, c.width = image.shape[1], image.shape[2], image.shape[3], image.shape[4]
    c.n, c.dims, c.mode, c.padding, c.corners = grid.shape[1], grid.shape[2], mode, padding, corners
    with nogil:
        st_parallel(grid.shape[0] * c.n, GRAIN // c.channels + 1, <st_body>sample_places[real], &c)
