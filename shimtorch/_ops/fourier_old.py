"""The Fourier transforms of PyTorch before 1.8, on pairs of real numbers, and short-time transforms."""
from .._core import OPS
from .._core.declaring import op
from .._core.dtype import int64, scalar_type
from .._core.policy import policy
from ._arguments import flag
from .fourier import _c2c, _c2r, _fitted, _r2c
from .samples import Draw, Samples, call


def _scale(forward, normalized):
    return "root" if normalized else "none" if forward else "all"


def _pairs(x, signal_ndim, name):
    """The complex tensor of pairs, and the dimensions of the signal."""
    if not 1 <= signal_ndim <= 3:
        raise RuntimeError(f"{name}: Expected signal_ndim to be 1, 2, or 3, but got signal_ndim={signal_ndim}")
    if not x.is_floating_point():
        raise RuntimeError(f"{name} expects a floating point tensor, but got {scalar_type(x.dtype)}")
    if x.dim() < signal_ndim + 1 or x.shape[-1] != 2:
        raise RuntimeError(f"Given signal_ndim={signal_ndim}, expected an input tensor of at least {signal_ndim + 1}D "
                           f"(complex input adds an extra dimension of size 2), but got input={list(x.shape)}")
    z = OPS["torch.view_as_complex"](x.contiguous())
    return z, tuple(range(z.dim() - signal_ndim, z.dim()))


def _as_pairs(z):
    return OPS["torch.view_as_real"](z)


def _reference(name):
    """What torch has for an old transform since 1.8."""
    def reference(torch):
        def f(x, n, normalized=False, onesided=True, signal_sizes=None):
            norm, real = "ortho" if normalized else None, torch.view_as_real
            dims = tuple(range(-n, 0))
            if name == "rfft":
                return real((torch.fft.rfftn if onesided else torch.fft.fftn)(x, dim=dims, norm=norm))
            z = torch.view_as_complex(x)
            if name == "irfft":
                if not onesided:
                    return torch.fft.ifftn(z, dim=dims, norm=norm).real
                return torch.fft.irfftn(z, signal_sizes, dim=dims, norm=norm)
            return real(getattr(torch.fft, name + "n")(z, dim=dims, norm=norm))
        return f
    return reference


@op(samples=Samples([call(Draw(4, 2), 1), call(Draw(3, 4, 2), 2, True)], reference=_reference("fft")))
def fft(self, signal_ndim, normalized=False):
    """The complex transform of the last ``signal_ndim`` dimensions; numbers are pairs in one more dimension."""
    z, dims = _pairs(self, signal_ndim, "fft")
    return _as_pairs(_c2c(z, dims, _scale(True, normalized), True))


@op(samples=Samples([call(Draw(4, 2), 1), call(Draw(3, 4, 2), 2, True)], reference=_reference("ifft")))
def ifft(self, signal_ndim, normalized=False):
    """The inverse of the complex transform of pairs."""
    z, dims = _pairs(self, signal_ndim, "ifft")
    return _as_pairs(_c2c(z, dims, _scale(False, normalized), False))


@op(samples=Samples([call(Draw(5), 1), call(Draw(3, 4), 2, True), call(Draw(2, 5), 1, False, False)],
                    reference=_reference("rfft")))
def rfft(self, signal_ndim, normalized=False, onesided=True):
    """The transform of real numbers to pairs; onesided: half of the last dimension."""
    if not self.is_floating_point():
        raise RuntimeError(f"rfft expects a floating point tensor, but got {scalar_type(self.dtype)}")
    if not 1 <= signal_ndim <= 3 or self.dim() < signal_ndim:
        raise RuntimeError(f"Given signal_ndim={signal_ndim}, expected an input tensor of at least {signal_ndim}D, but "
                           f"got input={list(self.shape)}")
    dims = tuple(range(self.dim() - signal_ndim, self.dim()))
    if onesided:
        return _as_pairs(_r2c(self, dims, _scale(True, normalized), True))
    return _as_pairs(_c2c(OPS["torch.complex"](self, OPS["torch.zeros_like"](self)), dims, _scale(True, normalized),
                          True))


@op(samples=Samples([call(Draw(3, 2), 1), call(Draw(3, 3, 2), 2, True), call(Draw(3, 2), 1, False, True, (5,)),
                     call(Draw(2, 5, 2), 1, False, False)], reference=_reference("irfft")))
def irfft(self, signal_ndim, normalized=False, onesided=True, signal_sizes=None):
    """The inverse of ``rfft`` of pairs, of ``signal_sizes`` elements (by default an even number)."""
    z, dims = _pairs(self, signal_ndim, "irfft")
    scale = _scale(False, normalized)
    if not onesided:
        return OPS["torch.real"](_c2c(z, dims, scale, False)).contiguous()
    if signal_sizes:
        sizes = list(signal_sizes)
        if len(sizes) != signal_ndim:
            raise RuntimeError(f"Expected signal_sizes to be empty (default) or of signal_ndim={signal_ndim}D, but got "
                               f"signal_sizes={sizes}")
    else:
        sizes = [z.shape[d] for d in dims]
        sizes[-1] = 2 * (sizes[-1] - 1)
    z = _fitted(z, dims, sizes[:-1] + [sizes[-1] // 2 + 1])
    return _c2r(z, dims, scale, False, sizes[-1])


# ---------------------------------------------------------------- short-time transforms

def _window(window, x, n_fft, win_length):
    """The window in the middle of n_fft elements; all ones where there is none."""
    if window is None:
        window = x.new_ones(win_length, dtype=_real_of(x.dtype))
    if win_length == n_fft:
        return window
    left = (n_fft - win_length) // 2
    parts = [window.new_zeros(left), window, window.new_zeros(n_fft - win_length - left)]
    return OPS["torch.cat"](parts)


def _real_of(dtype):
    from .._core.dtype import float32, float64
    return {"complex64": float32, "complex128": float64}.get(dtype.name, dtype)


_signal = Draw(2, 12)
_w = Draw(4, low=0.5, high=1.5)


def _stft_calls():
    return [call(_signal, 4, return_complex=True), call(_signal, 4, 2, return_complex=True),
            call(Draw(12), 6, 3, 4, _w, return_complex=True), call(_signal, 4, 1, 4, _w, False, return_complex=True),
            call(_signal, 4, normalized=True, onesided=False, return_complex=True),
            call(_signal, 4, pad_mode="constant", return_complex=False)]


@op(samples=Samples(_stft_calls()))
def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False,
         onesided=None, return_complex=None, align_to_window=None):
    """Transforms of windows of n_fft elements that are ``hop_length`` apart: (*, frequencies, windows).

    Complex, or with return_complex=False pairs of real numbers in one more dimension. center: the signal is padded so
    that the windows are centred on their places.
    """
    if return_complex is not None:
        flag(return_complex)
    else:
        return_complex = self.is_complex() or (window is not None and window.is_complex())
        if not return_complex and not policy.stft_of_pairs:
            raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further "
                               "require that return_complex=True in a future PyTorch release.")
    x = self
    if not (x.is_floating_point() or x.is_complex()):
        raise RuntimeError(f"stft({x.type()}{list(x.shape)}, n_fft={n_fft}): expected a tensor of floating point or "
                           "complex values")
    if not 1 <= x.dim() <= 2:
        raise RuntimeError(f"stft({x.type()}{list(x.shape)}, n_fft={n_fft}): expected a 1D or 2D tensor")
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    single = x.dim() == 1
    if single:
        x = x.unsqueeze(0)
    if center:
        x = _centred(x, n_fft // 2, pad_mode)
    length = x.shape[1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"stft({self.type()}{list(self.shape)}, n_fft={n_fft}): expected 0 < n_fft < {length}, but "
                           f"got n_fft={n_fft}")
    if hop_length <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={win_length}")
    if window is not None and (window.dim() != 1 or window.shape[0] != win_length):
        raise RuntimeError(f"stft: expected a 1D window tensor of size equal to win_length={win_length}, but got "
                           f"window with size {list(window.shape)}")
    frames = x.unfold(-1, n_fft, hop_length) * _window(window, x, n_fft, win_length)
    onesided = not frames.is_complex() if onesided is None else onesided
    scale = "root" if normalized else "none"
    if onesided and frames.is_complex():
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if onesided:
        result = _r2c(frames, (2,), scale, True)
    else:
        result = _c2c(frames if frames.is_complex() else OPS["torch.complex"](
            frames, OPS["torch.zeros_like"](frames)), (2,), scale, True)
    result = result.transpose(1, 2)
    if single:
        result = result.squeeze(0)
    return result if return_complex else _as_pairs(result)


def _centred(x, pad, mode):
    """The signal with ``pad`` more elements on both sides."""
    from ..nn.functional import pad as padded
    return padded(x.unsqueeze(1), (pad, pad), mode=mode).squeeze(1)


@op(samples=Samples([
    call(Draw(2, 3, 5), 4), call(Draw(3, 5), 4, 2), call(Draw(3, 5), 4, 1, 4, _w),
    call(Draw(3, 5), 4, length=7), call(Draw(4, 5), 4, onesided=False, return_complex=True),
    call(Draw(3, 4), 4, normalized=True), call(Draw(4, 5), 4), call(Draw(2, 4, 5), 4, center=False)], "complex"))
def istft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None,
          length=None, return_complex=False):
    """The signal of an ``stft``: windows added where they overlap, divided by the sum of the windows' squares."""
    x = self
    if x.is_floating_point():                                # pairs, as stft returned them before 1.8
        if x.shape[-1] != 2:
            raise RuntimeError("istft requires a complex-valued input tensor matching the output from stft with "
                               "return_complex=True.")
        x = OPS["torch.view_as_complex"](x.contiguous())
    hop_length = n_fft // 4 if hop_length is None else hop_length
    win_length = n_fft if win_length is None else win_length
    if not x.numel():
        raise RuntimeError("istft: input tensor cannot be empty.")
    if x.dim() not in (2, 3):
        raise RuntimeError(f"istft: expected a tensor with 2 or 3 dimensions, but got {x.dim()}")
    if not 0 < hop_length <= win_length:
        raise RuntimeError("istft: expected 0 < hop_length <= win_length")
    if not 0 < win_length <= n_fft:
        raise RuntimeError("istft: expected 0 < win_length <= n_fft")
    bins = x.shape[-2]
    onesided = bins != n_fft if onesided is None else onesided
    if bins != (n_fft // 2 + 1 if onesided else n_fft):
        raise RuntimeError("istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
                           f"n_fft {'/ 2 + 1 ' if onesided else ''}when onesided={onesided}, but got {bins}")
    if return_complex and onesided:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if window is not None and window.is_complex() and not return_complex:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    single = x.dim() == 2
    x = (x.unsqueeze(0) if single else x).transpose(1, 2)
    window = _window(window, x, n_fft, win_length)
    scale = "root" if normalized else "all"
    if not return_complex:                                   # of a two-sided signal, the other half mirrors it
        frames = _c2r(x.narrow(2, 0, n_fft // 2 + 1), (2,), scale, False, n_fft)
    else:
        frames = _c2c(x, (2,), scale, False)
    n = frames.shape[1]
    total = n_fft + hop_length * (n - 1)
    signal = _overlapped(frames * window, hop_length, total)
    envelope = _overlapped((window * window).expand(1, n, n_fft), hop_length, total)
    start = n_fft // 2 if center else 0
    end = start + length if length is not None else total - n_fft // 2 if center else total
    signal, envelope = signal[:, start:end], envelope[:, start:end]
    if float(envelope.abs().min()) <= 1e-11:
        raise RuntimeError("window overlap add min: 1")
    signal = signal / envelope
    if length is not None and signal.shape[1] < length:
        import warnings
        warnings.warn("The length of signal is shorter than the length parameter. Result is being padded with zeros in "
                      "the tail. Please check your center and hop_length settings.", UserWarning, stacklevel=2)
        signal = OPS["torch.cat"]([signal, signal.new_zeros((signal.shape[0], length - signal.shape[1]))], 1)
    return signal.squeeze(0) if single else signal


def _overlapped(frames, hop, total):
    """Frames (batch, n, size) added up at their places, ``hop`` apart."""
    batch, n, size = frames.shape
    places = OPS["torch.arange"](n, dtype=int64).unsqueeze(1) * hop + OPS["torch.arange"](size, dtype=int64)
    return frames.new_zeros((batch, total)).index_add(1, places.reshape(-1), frames.reshape(batch, n * size))
