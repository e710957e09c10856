"""``torch.fft``: discrete Fourier transforms, by SciPy's pocketfft, and what orders their frequencies."""
from .._core import OPS
from .._core.declaring import op
from .._core.dtype import get_default_dtype, scalar_type
from .._core.tensor import wrap_ndarray
from .samples import Draw, Samples, call
from .shape import wrap

_FFT = {"namespace": "torch.fft", "method": False}
# How a transform and its inverse are scaled, by norm: as it is, divided by the root of the size, or by the size.
_SCALES = {"backward": ("none", "all"), "ortho": ("root", "root"), "forward": ("all", "none")}
_NORMS = {"none": ("backward", "forward"), "root": ("ortho", "ortho"), "all": ("forward", "backward")}


# ---------------------------------------------------------------- transforms with derivatives

def _moved(array, dims):
    """An array with the dimensions to transform at the end, how to move them back, and the order of `dims` there.

    Results are laid out in memory as PyTorch lays them out: the other dimensions outside, both kinds in the order in
    which they lie in the array, but for the last of `dims`.
    """
    strides = array.strides

    def outer_first(d):
        return -strides[d]
    others = sorted((d for d in range(array.ndim) if d not in dims), key=outer_first)
    inner = [*sorted(dims[:-1], key=outer_first), *dims[-1:]]
    order = others + inner
    return array.transpose(order), [order.index(d) for d in range(array.ndim)], inner


def _axes(dims):
    return range(-len(dims), 0)


@op(method=False, function=False, backward_name="FftC2CBackward0", grads={
    "x": lambda g, dims, scale, forward: _c2c(g, dims, scale, not forward)})
def _c2c(x, dims, scale, forward):
    """The transform of complex numbers along dimensions, or the inverse."""
    import scipy.fft
    f = scipy.fft.fftn if forward else scipy.fft.ifftn
    array, back, _ = _moved(x._ndarray(), sorted(dims, key=lambda d: -x.stride(d)))
    return wrap_ndarray(f(array, axes=_axes(dims), norm=_NORMS[scale][not forward]).transpose(back))


@op(method=False, function=False, backward_name="FftR2CBackward0", grads={
    "x": lambda g, x_shape, dims, scale, forward: _r2c_grad(g, x_shape, dims, scale, forward)})
def _r2c(x, dims, scale, forward):
    """The transform of real numbers; half of the last dimension, for the other half is its mirror image."""
    import scipy.fft
    array, back, _ = _moved(x._ndarray(), dims)
    result = scipy.fft.rfftn(array, axes=_axes(dims), norm=_NORMS[scale][0]).transpose(back)
    return wrap_ndarray(result if forward else result.conj())


def _r2c_grad(g, shape, dims, scale, forward):
    full = _resized(g, dims[-1], shape[dims[-1]])
    return OPS["torch.real"](_c2c(full, dims, scale, not forward))


@op(method=False, function=False, backward_name="FftC2RBackward0", grads={
    "x": lambda g, x_shape, dims, scale, forward, last: _c2r_grad(g, x_shape, dims, scale, forward, last)})
def _c2r(x, dims, scale, forward, last):
    """The real transform of half of a Hermitian signal, of ``last`` elements along the last dimension."""
    import scipy.fft
    array, back, inner = _moved(x._ndarray(), dims)
    sizes = [x.shape[d] for d in inner[:-1]] + [last]
    return wrap_ndarray(scipy.fft.irfftn(array.conj() if forward else array, sizes, axes=_axes(dims),
                                         norm=_NORMS[scale][1]).transpose(back))


def _c2r_grad(g, shape, dims, scale, forward, last):
    result = _r2c(g, dims, scale, not forward)
    d, doubled = dims[-1], last - last // 2 - 1                # all but the mean and the middle stand for two
    weights = [1.0] + [2.0] * doubled + [1.0] * (shape[d] - 1 - doubled)
    sizes = [1] * len(shape)
    sizes[d] = shape[d]
    return result * g.new_tensor(weights).reshape(sizes)


# ---------------------------------------------------------------- arguments

def _resized(x, d, n):
    """x with n elements along a dimension: zeros are added, or elements are cut off."""
    size = x.shape[d]
    if n == size:
        return x
    if n < size:
        return x.narrow(d, 0, n)
    zeros = x.new_zeros(tuple(x.shape[:d]) + (n - size,) + tuple(x.shape[d + 1:]))
    return OPS["torch.cat"]([x, zeros], d)


def _scale(norm, forward):
    if norm is None:
        norm = "backward"
    if norm not in _SCALES:
        raise RuntimeError(f"Invalid normalization mode: \"{norm}\"")
    return _SCALES[norm][not forward]


def _checked(x, want_complex, name):
    """x in a dtype that can be transformed."""
    if not (x.is_floating_point() or x.is_complex()):
        x = x.to(get_default_dtype())
    if x.dtype.name in ("float16", "bfloat16"):
        raise RuntimeError(f"Unsupported dtype {scalar_type(x.dtype)}")
    if want_complex and not x.is_complex():
        x = x.to(_complex_of(x.dtype))
    if want_complex is False and x.is_complex():
        raise RuntimeError(f"{name} expects a real input tensor, but got {scalar_type(x.dtype)}")
    return x


def _complex_of(dtype):
    from .._core.dtype import complex64, complex128
    return complex128 if dtype.name == "float64" else complex64


def _one(x, n, dim):
    """The dimension and its size for a transform along one."""
    if x.dim() == 0:
        raise IndexError("Dimension specified as -1 but tensor has no dimensions")
    d = wrap(dim, x.dim())
    n = x.shape[d] if n is None else n
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return d, n


def _several(x, s, dim):
    """The dimensions and their sizes for a transform along several."""
    if dim is not None:
        if x.dim() == 0 and (isinstance(dim, int) or len(dim)):
            raise IndexError(f"Dimension specified as {dim if isinstance(dim, int) else dim[0]} but tensor has no "
                             "dimensions")
        dims = [wrap(d, x.dim()) for d in ((dim,) if isinstance(dim, int) else dim)]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
    if s is None:
        dims = dims if dim is not None else list(range(x.dim()))
        sizes = [x.shape[d] for d in dims]
    else:
        s = (s,) if isinstance(s, int) else tuple(s)
        if dim is None:
            if len(s) > x.dim():
                raise RuntimeError(f"Got shape with {len(s)} values but input tensor only has {x.dim()} dimensions.")
            dims = list(range(x.dim() - len(s), x.dim()))
        elif len(dims) != len(s):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
        sizes = [x.shape[d] if n == -1 else n for n, d in zip(s, dims)]
    for n in sizes:
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return dims, sizes


def _fitted(x, dims, sizes):
    for d, n in zip(dims, sizes):
        x = _resized(x, d, n)
    return x


# ---------------------------------------------------------------- one dimension

_c, _r = Draw(3, 6), Draw(2, 5)
_complex_samples = Samples([call(_c), call(_c, 4, 0), call(_c, 8), call(_c, norm="ortho"), call(Draw(5), dim=0),
                            call(_c, norm="forward")], "floating")
_real_samples = Samples([call(_r), call(_r, 4), call(_r, 3, 0), call(_r, norm="ortho"), call(_r, norm="forward")])


@op(out=True, samples=_complex_samples, **_FFT)
def fft(self, n=None, dim=-1, norm=None):
    """The discrete Fourier transform along a dimension, of n elements of it."""
    x = _checked(self, True, "fft")
    d, n = _one(x, n, dim)
    return _c2c(_resized(x, d, n), (d,), _scale(norm, True), True)


@op(out=True, samples=_complex_samples, **_FFT)
def ifft(self, n=None, dim=-1, norm=None):
    """The inverse of ``fft``."""
    x = _checked(self, True, "ifft")
    d, n = _one(x, n, dim)
    return _c2c(_resized(x, d, n), (d,), _scale(norm, False), False)


@op(out=True, samples=_real_samples, **_FFT)
def rfft(self, n=None, dim=-1, norm=None):
    """The transform of real numbers: the first half, the other one being its mirror image."""
    x = _checked(self, False, "rfft")
    d, n = _one(x, n, dim)
    return _r2c(_resized(x, d, n), (d,), _scale(norm, True), True)


@op(out=True, samples=_real_samples, **_FFT)
def ihfft(self, n=None, dim=-1, norm=None):
    """The inverse of ``hfft``: half of the Hermitian signal whose transform is real."""
    x = _checked(self, False, "ihfft")
    d, n = _one(x, n, dim)
    return _r2c(_resized(x, d, n), (d,), _scale(norm, False), False)


def _half(x, n, dim):
    """The dimension, the number of real results and that of the elements they are made of."""
    if n is None:
        d, size = _one(x, None, dim)
        n = 2 * (size - 1)
    else:
        d, _ = _one(x, n, dim)
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")
    return d, n


@op(out=True, samples=_complex_samples, **_FFT)
def irfft(self, n=None, dim=-1, norm=None):
    """The inverse of ``rfft``, of n elements (by default an even number)."""
    x = _checked(self, True, "irfft")
    d, n = _half(x, n, dim)
    return _c2r(_resized(x, d, n // 2 + 1), (d,), _scale(norm, False), False, n)


@op(out=True, samples=_complex_samples, **_FFT)
def hfft(self, n=None, dim=-1, norm=None):
    """The real transform of a Hermitian signal, of which one half is given."""
    x = _checked(self, True, "hfft")
    d, n = _half(x, n, dim)
    return _c2r(_resized(x, d, n // 2 + 1), (d,), _scale(norm, True), True, n)


# ---------------------------------------------------------------- several dimensions

_several_samples = Samples([call(Draw(3, 4)), call(Draw(2, 3, 4), (2, 5)), call(Draw(2, 3, 4), None, (0, 2)),
                            call(Draw(2, 3, 4), (4, 3), (1, 0), "ortho"), call(Draw(3, 4), norm="forward")], "floating")
_several_real = Samples(_several_samples.calls)


@op(out=True, samples=_several_samples, **_FFT)
def fftn(self, s=None, dim=None, norm=None):
    """The discrete Fourier transform along several dimensions, by default all."""
    x = _checked(self, True, "fftn")
    dims, sizes = _several(x, s, dim)
    return _c2c(_fitted(x, dims, sizes), tuple(dims), _scale(norm, True), True) if dims else x


@op(out=True, samples=_several_samples, **_FFT)
def ifftn(self, s=None, dim=None, norm=None):
    """The inverse of ``fftn``."""
    x = _checked(self, True, "ifftn")
    dims, sizes = _several(x, s, dim)
    return _c2c(_fitted(x, dims, sizes), tuple(dims), _scale(norm, False), False) if dims else x


@op(out=True, samples=_several_real, **_FFT)
def rfftn(self, s=None, dim=None, norm=None):
    """The transform of real numbers along several dimensions; half of the last one."""
    x = _checked(self, False, "rfftn")
    dims, sizes = _several(x, s, dim)
    if not dims:
        raise RuntimeError("rfftn must transform at least one axis")
    return _r2c(_fitted(x, dims, sizes), tuple(dims), _scale(norm, True), True)


@op(out=True, samples=_several_real, **_FFT)
def ihfftn(self, s=None, dim=None, norm=None):
    """The inverse of ``hfftn``."""
    x = _checked(self, False, "ihfftn")
    dims, sizes = _several(x, s, dim)
    if not dims:
        raise RuntimeError("ihfftn must transform at least one axis")
    half = _r2c(_fitted(x, dims, sizes), tuple(dims[-1:]), _scale(norm, False), False)
    return _c2c(half, tuple(dims[:-1]), _scale(norm, False), False) if len(dims) > 1 else half


def _half_several(x, s, dim, name):
    dims, sizes = _several(x, s, dim)
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")
    if s is None or (s if isinstance(s, int) else s[-1]) == -1:
        sizes[-1] = 2 * (sizes[-1] - 1)
    if sizes[-1] < 1:
        raise RuntimeError(f"Invalid number of data points ({sizes[-1]}) specified")
    return _fitted(x, dims, sizes[:-1] + [sizes[-1] // 2 + 1]), tuple(dims), sizes[-1]


@op(out=True, samples=_several_samples, **_FFT)
def irfftn(self, s=None, dim=None, norm=None):
    """The inverse of ``rfftn``."""
    x, dims, last = _half_several(_checked(self, True, "irfftn"), s, dim, "irfftn")
    return _c2r(x, dims, _scale(norm, False), False, last)


@op(out=True, samples=_several_samples, **_FFT)
def hfftn(self, s=None, dim=None, norm=None):
    """The real transform of a Hermitian signal along several dimensions."""
    x, dims, last = _half_several(_checked(self, True, "hfftn"), s, dim, "hfftn")
    return _c2r(x, dims, _scale(norm, True), True, last)


def _in_two(name, several, samples_):
    @op(name=name, out=True, samples=samples_, **_FFT)
    def forward(self, s=None, dim=(-2, -1), norm=None):
        return several(self, s, dim, norm)
    forward.__doc__ = f"``{several.__name__}`` along two dimensions, by default the last ones."


_two = [call(Draw(3, 4)), call(Draw(2, 3, 4), (2, 5)), call(Draw(2, 3, 4), None, (0, 2), "ortho")]
for _name, _op in (("fft2", fftn), ("ifft2", ifftn), ("irfft2", irfftn), ("hfft2", hfftn)):
    _in_two(_name, _op, Samples(_two, "floating"))
_in_two("rfft2", rfftn, Samples(_two))
_in_two("ihfft2", ihfftn, Samples(_two))


# ---------------------------------------------------------------- frequencies

def _frequencies(values, n, d, dtype, device, requires_grad):
    from .._core.factory import tensor
    return tensor([v / (n * d) for v in values], dtype=get_default_dtype() if dtype is None else dtype, device=device,
                  requires_grad=requires_grad)


@op(out=True, samples=Samples([call(5), call(4, 0.5), call(1)], gradcheck=False), **_FFT)
def fftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of the elements of ``fft`` of n samples that are d apart."""
    if n < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n}: [{n}]")
    half = (n + 1) // 2
    return _frequencies([*range(half), *range(half - n, 0)], n, d, dtype, device, requires_grad)


@op(out=True, samples=Samples([call(5), call(4, 0.5), call(1)], gradcheck=False), **_FFT)
def rfftfreq(n, d=1.0, *, dtype=None, layout=None, device=None, requires_grad=False):
    """The frequencies of the elements of ``rfft`` of n samples that are d apart."""
    if n < -1:
        raise RuntimeError(f"Trying to create tensor with negative dimension {n // 2 + 1}: [{n // 2 + 1}]")
    return _frequencies(range(n // 2 + 1), n, d, dtype, device, requires_grad)


def _rolled(x, dim, shift):
    if not x.dim():
        raise RuntimeError("`shifts` required")
    dims = list(range(x.dim())) if dim is None else [dim] if hasattr(dim, "__index__") else list(dim)
    return x.roll([shift(x.shape[wrap(d, x.dim())]) for d in dims], dims) if dims else x.clone()


_shift_samples = Samples([call(Draw(5)), call(Draw(3, 4)), call(Draw(3, 4), 1), call(Draw(2, 3, 4), (0, 2))],
                         "floating")


@op(samples=_shift_samples, **_FFT)
def fftshift(self, dim=None):
    """The elements moved so that frequency zero is in the middle."""
    return _rolled(self, dim, lambda n: n // 2)


@op(samples=_shift_samples, **_FFT)
def ifftshift(self, dim=None):
    """The inverse of ``fftshift``."""
    return _rolled(self, dim, lambda n: (n + 1) // 2)
