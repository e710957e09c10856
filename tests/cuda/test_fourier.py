"""Fourier transforms on the device: short ones, ones with factors, and prime numbers of elements."""
import numpy as np
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")


def near(got, want):
    assert got.is_cuda and got.shape == want.shape
    eps = 1e-5 if got.dtype in (torch.float32, torch.complex64) else 1e-12
    got = got.cpu().numpy()
    assert np.abs(got - want).max(initial=0) <= eps * max(1, np.abs(want).max(initial=0))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [1, 2, 5, 12, 64, 65, 67, 96, 131, 254, 1000])
def test_one_dimension(dtype, n):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal((3, n)) + 1j * rng.standard_normal((3, n))).astype(dtype)
    t, wide = torch.from_numpy(x).cuda(), x.astype("complex128")
    for norm in ("backward", "ortho", "forward"):
        near(torch.fft.fft(t, norm=norm), np.fft.fft(wide, norm=norm))
        near(torch.fft.ifft(t, norm=norm), np.fft.ifft(wide, norm=norm))
        real = torch.from_numpy(np.ascontiguousarray(x.real)).cuda()
        near(torch.fft.rfft(real, norm=norm), np.fft.rfft(wide.real, norm=norm))
        near(torch.fft.ihfft(real, norm=norm), np.fft.ihfft(wide.real, norm=norm))
    for m in (n, n // 2 + 1, 2 * n - 1):
        near(torch.fft.irfft(t, m), np.fft.irfft(wide, m))
        near(torch.fft.hfft(t, m), np.fft.hfft(wide, m))


def test_several_dimensions():
    x = np.random.default_rng(0).standard_normal((3, 4, 6, 5))
    t = torch.from_numpy(x).cuda()
    near(torch.fft.fftn(t.transpose(0, 2), dim=(0, -1)), np.fft.fftn(x.swapaxes(0, 2), axes=(0, -1)))
    near(torch.fft.rfft2(t), np.fft.rfft2(x))
    near(torch.fft.irfftn(torch.fft.rfftn(t), s=x.shape), x)
    near(torch.fft.fft(t[:0]), np.fft.fft(x[:0]))
    assert torch.fft.fftfreq(4, device="cuda").tolist() == [0, 0.25, -0.5, -0.25]
    assert torch.fft.rfftfreq(4, device="cuda").is_cuda


def test_derivatives():
    x = torch.randn(2, 6, dtype=torch.float64, device="cuda", requires_grad=True)
    assert torch.autograd.gradcheck(torch.fft.rfft, x) and torch.autograd.gradgradcheck(torch.fft.rfft, x)
    assert torch.autograd.gradcheck(lambda x: torch.fft.irfft(torch.fft.fft(x)), x)


def test_spectrogram():
    x, window = torch.randn(2, 400), torch.hann_window(64)
    got = torch.stft(x.cuda(), 64, window=window.cuda(), return_complex=True)
    near(got, torch.stft(x, 64, window=window, return_complex=True).numpy())
    near(torch.istft(got, 64, window=window.cuda()), x.numpy())
