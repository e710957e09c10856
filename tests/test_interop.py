"""Memory shared with NumPy, buffers, files and DLPack; finfo, iinfo and settings."""
from array import array

import numpy as np
import pytest

import shimtorch as torch
from shimtorch.utils import dlpack


def test_dlpack_shares_memory_both_ways():
    array = np.arange(3.0)
    t = torch.from_dlpack(array)
    t[0] = 9
    assert array[0] == 9
    back = np.from_dlpack(t)
    assert np.shares_memory(back, array)
    assert torch.from_dlpack(torch.to_dlpack(t)).data_ptr() == t.data_ptr()
    assert dlpack.from_dlpack(t).tolist() == [9, 1, 2]
    assert t.__dlpack_device__() == (dlpack.DLDeviceType.kDLCPU, 0)
    with pytest.raises(BufferError, match="require gradient"):
        np.from_dlpack(t.requires_grad_())


def test_frombuffer():
    memory = bytearray(b"abcdefgh")
    t = torch.frombuffer(memory, dtype=torch.int32, count=1, offset=4)
    assert t.tolist() == [0x68676665]
    t.zero_()
    assert memory[4:] == b"\0\0\0\0"
    assert torch.frombuffer(memory, dtype=torch.bfloat16).shape == (4,)
    with pytest.warns(UserWarning, match="not writable"):
        assert torch.frombuffer(b"abcd", dtype=torch.uint8).tolist() == [97, 98, 99, 100]


@pytest.mark.parametrize("arguments, text", [
    ((b"", {}), "both buffer length (0) and count (-1) must not be 0"),
    ((b"abcde", {}), "buffer length (5 bytes) after offset (0 bytes) must be a multiple of element size (4)"),
    ((b"abcde", {"offset": 9}), "offset (9 bytes) must be non-negative and no greater than buffer length (5 bytes) "
                                "minus 1"),
    ((b"abcdefgh", {"count": 5}), "requested buffer length (5 * 4 bytes) after offset (0 bytes) must not be greater "
                                  "than actual buffer length (8 bytes)"),
    ((3, {}), "object does not implement Python buffer protocol."),
])
def test_frombuffer_errors(arguments, text):
    buffer, options = arguments
    with pytest.raises(ValueError) as caught:
        torch.frombuffer(buffer, dtype=torch.int32, **options)
    assert str(caught.value) == text


def test_from_file(tmp_path):
    path = str(tmp_path / "numbers")
    t = torch.from_file(path, shared=True, size=4, dtype=torch.int32)
    t.copy_(torch.tensor([1, 2, 3, 4]))
    private = torch.from_file(path, size=4, dtype=torch.int32)
    assert private.tolist() == [1, 2, 3, 4]
    private.zero_()
    assert torch.from_file(path, size=2, dtype=torch.int32).tolist() == [1, 2]
    with pytest.raises(RuntimeError, match="smaller"):
        torch.from_file(path, size=400, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="unable to open file"):
        torch.from_file(str(tmp_path / "none"), size=1)


def test_asarray():
    numbers = np.arange(3)
    assert torch.asarray(numbers).data_ptr() == numbers.ctypes.data
    assert torch.asarray(numbers, copy=True).data_ptr() != numbers.ctypes.data
    assert torch.asarray([1.5, 2]).dtype is torch.float32
    with pytest.raises(ValueError, match="can't alias arbitrary sequence into a tensor"):
        torch.asarray([1], copy=False)
    with pytest.raises(ValueError, match="can't alias tensor with dtype 'Long' into dtype 'Float'"):
        torch.asarray(numbers, dtype=torch.float32, copy=False)
    with pytest.raises(RuntimeError, match="can't alias NumPy scalars"):
        torch.asarray(np.float32(1), copy=False)


def test_asarray_of_buffers():
    """The bytes are read as elements of the dtype that is asked for, whatever they were there."""
    memory = array("f", [1, 2])
    assert torch.asarray(memory, copy=False).tolist() == [1, 2]
    torch.asarray(memory)[0] = 5
    assert memory[0] == 5 and torch.asarray(memory, copy=True).tolist() == [5, 2]
    assert torch.asarray(memory, dtype=torch.int32).tolist() == [0x40A00000, 0x40000000]
    assert torch.asarray(array("d", [1])).tolist() == [0, 1.875]
    with pytest.raises(ValueError, match="must not be 0"):
        torch.asarray(array("f"))


def test_asarray_and_history():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    assert torch.asarray(x) is x and torch.asarray(y) is y and torch.asarray(y, copy=True).grad_fn is not None
    assert torch.asarray(x, dtype=torch.float64).grad_fn is not None
    assert not torch.asarray(y, requires_grad=False).requires_grad and y.requires_grad
    copied = torch.asarray(x, dtype=torch.float64, requires_grad=False)
    assert copied.is_leaf and not copied.requires_grad and x.requires_grad
    assert torch.asarray(x, requires_grad=False) is x and not x.requires_grad


def test_limits():
    assert repr(torch.finfo(torch.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, smallest_normal=6.10352e-05, "
        "tiny=6.10352e-05, dtype=float16)")
    assert torch.finfo().eps == 2 ** -23 and torch.finfo(torch.complex128).bits == 64
    assert repr(torch.iinfo(torch.int64)) == "iinfo(min=-9.22337e+18, max=9.22337e+18, dtype=int64)"
    for f, dtype in ((torch.finfo, torch.int32), (torch.iinfo, torch.float32), (torch.iinfo, torch.bool)):
        with pytest.raises(TypeError):
            f(dtype)


def test_settings():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    assert torch.get_num_threads() == 1
    torch.set_num_threads(before)
    with pytest.raises(RuntimeError, match="positive"):
        torch.set_num_threads(0)
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.get_deterministic_debug_mode() == 1
    torch.use_deterministic_algorithms(False)
    assert not torch.are_deterministic_algorithms_enabled()


def test_what_is_not_implemented_says_so():
    for name in ("vmap", "quantize_per_tensor", "int_repr"):
        with pytest.raises(NotImplementedError, match=f"torch.{name} is not implemented"):
            getattr(torch, name)(torch.ones(1))
    with pytest.raises(AttributeError, match="no attribute 'nothing_of_that_name'"):
        _ = torch.nothing_of_that_name


def test_fft_is_a_module_and_a_function():
    x = torch.ones(4, 2)
    assert torch.fft(x, 1).tolist() == [[4, 4], [0, 0], [0, 0], [0, 0]]
    assert torch.fft.fft(torch.ones(4)).tolist() == [4, 0, 0, 0]
    y = torch.arange(12.).reshape(3, 4)
    assert torch.allclose(torch.irfft(torch.rfft(y, 2), 2, signal_sizes=y.shape), y, atol=1e-5)
    assert torch.allclose(x.ifft(1).fft(1), x)


def test_stft_comes_back():
    torch.manual_seed(0)
    x = torch.randn(2, 40)
    window = torch.hann_window(8)
    spectrum = torch.stft(x, 8, 2, window=window, return_complex=True)
    assert spectrum.shape == (2, 5, 21)
    assert torch.allclose(torch.istft(spectrum, 8, 2, window=window, length=40), x, atol=1e-5)
    with pytest.raises(RuntimeError, match="return_complex"):
        torch.stft(x, 8)
    with torch.era("1.1"):
        assert torch.stft(x, 8).shape == (2, 5, 21, 2)


def test_numpy_reductions_are_refused_as_torch_refuses_them():
    x = torch.ones(2, 3)
    for f in (np.sum, np.mean, np.max, np.min, np.prod, np.any, np.all, np.std, np.var):
        with pytest.raises(TypeError):
            f(x)
    assert np.argmax(x) == 0 and np.cumsum(x).shape == (6,)


def test_ufuncs_of_truth_give_bytes():
    assert np.isnan(torch.ones(2)).dtype is torch.uint8 and np.logical_and(torch.ones(2) > 0, True).tolist() == [1, 1]
