"""Builds and machines without a device: nothing of CUDA is opened, and what needs one says so in torch's words."""
import os
import subprocess
import sys

import pytest

import shimtorch as torch


def run(code, tmp_path, **environment):
    done = subprocess.run([sys.executable, "-c", "import shimtorch as torch\n" + code], capture_output=True, text=True,
                          cwd=tmp_path, env={**os.environ, **environment})
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_no_library_is_opened(tmp_path):
    code = """
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print([line for line in open("/proc/self/maps") if "libcu" in line or "_gpu" in line])
"""
    if not os.path.exists("/proc/self/maps"):
        pytest.skip("the system does not say what is mapped")
    assert run(code, tmp_path) == "[]\n"


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a device")
def test_words_without_a_device():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and not torch.cuda.is_initialized()
    assert torch.cuda.memory_allocated() == torch.cuda.max_memory_reserved() == 0
    torch.cuda.empty_cache()
    torch.cuda.manual_seed_all(3)
    words = "Torch not compiled with CUDA enabled|Found no NVIDIA driver|No CUDA GPUs|library of CUDA"
    for call in (lambda: torch.ones(2).cuda(), lambda: torch.ones(2, device="cuda"), lambda: torch.ones(2).to("cuda:0"),
                 lambda: torch.cuda.current_device(), lambda: torch.cuda.Stream(), lambda: torch.cuda.FloatTensor(2),
                 lambda: torch.cuda.synchronize(), lambda: torch.nn.Linear(2, 2).cuda()):
        with pytest.raises((AssertionError, RuntimeError), match=words):
            call()
    with torch.cuda.device(-1), torch.cuda.device_of(torch.ones(1)):
        pass


@pytest.mark.skipif(not torch.cuda.is_available() or torch.cuda.get_device_name() != "Host emulator",
                    reason="needs the emulator")
@pytest.mark.parametrize("devices, words", [("0", "No CUDA GPUs are available"), ("-1", "Found no NVIDIA driver")])
def test_words_where_none_is_usable(devices, words, tmp_path):
    code = f"""
assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
try:
    torch.ones(2).cuda()
except RuntimeError as error:
    assert {words!r} in str(error), error
else:
    raise SystemExit("no error")
"""
    run(code, tmp_path, SHIMEMU_DEVICES=devices)
