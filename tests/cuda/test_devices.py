"""Fills where they belong, files, pinned memory, and several devices."""
import copy
import io
import os
import pickle
import subprocess
import sys

import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")


@pytest.mark.parametrize("make", [
    lambda **k: torch.zeros(2, 3, **k), lambda **k: torch.ones(2, 3, **k), lambda **k: torch.full((2,), 3.5, **k),
    lambda **k: torch.full((2,), True, **k), lambda **k: torch.arange(7, **k), lambda **k: torch.arange(1, 2, 0.1, **k),
    lambda **k: torch.arange(5, 0, -2, dtype=torch.uint8, **k), lambda **k: torch.linspace(0, 1, 7, **k),
    lambda **k: torch.linspace(-3, 8, 5, dtype=torch.float64, **k),
    lambda **k: torch.linspace(0, 9, 4, dtype=torch.int32, **k),
    lambda **k: torch.linspace(0, 1, 5, dtype=torch.float16, **k), lambda **k: torch.logspace(0, 2, 3, **k),
    lambda **k: torch.eye(3, 4, **k), lambda **k: torch.tensor([[1, 2], [3, 4]], **k),
    lambda **k: torch.tensor(2.5, **k),
    lambda **k: torch.zeros_like(torch.ones(2, 3).t(), **k), lambda **k: torch.full_like(torch.ones(2), 7, **k),
    lambda **k: torch.ones(2).new_zeros(3, **k), lambda **k: torch.ones(2).new_full((3,), 2, **k),
    lambda **k: torch.scalar_tensor(3, **k), lambda **k: torch.tril_indices(3, 3, **k),
    lambda **k: torch.hann_window(5, **k), lambda **k: torch.range(1, 4, **k),
    lambda **k: torch.arange(3, dtype=torch.bfloat16, **k),
])
def test_factories(make):
    here, there = make(), make(device="cuda")
    assert there.device == torch.device("cuda", 0) and there.dtype is here.dtype and there.stride() == here.stride()
    assert torch.equal(there.cpu(), here)
    assert make(device="cuda:0").is_cuda and not make(device="cpu").is_cuda


def test_fills_copy_nothing(monkeypatch):
    from shimtorch._core import factory

    def refuse(t, device, *rest):
        assert t.device == device, "made on the CPU"
        return t
    monkeypatch.setattr(factory, "on_device", refuse)
    for t in (torch.arange(5, device="cuda"), torch.eye(3, device="cuda"), torch.rand(3, device="cuda"),
              torch.linspace(0, 1, 4, device="cuda"), torch.zeros_like(torch.ones(2), device="cuda"),
              torch.randperm(5, device="cuda"), torch.randint(3, (2,), device="cuda")):
        assert t.is_cuda


def test_out():
    out = torch.empty(0, device="cuda")
    assert torch.arange(3, out=out) is out and out.is_cuda and out.tolist() == [0, 1, 2]
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1]
    assert torch.zeros(2, out=out).is_cuda and torch.rand(4, out=out).is_cuda


# ---------------------------------------------------------------- files

def test_saving_and_loading():
    x = torch.arange(6., device="cuda").reshape(2, 3)
    for old in (False, True):
        file = io.BytesIO()
        torch.save({"x": x, "view": x[1], "y": torch.ones(2)}, file, _use_new_zipfile_serialization=not old)
        assert b"cuda:0" in file.getvalue()
        file.seek(0)
        got = torch.load(file)
        assert got["x"].device == x.device and torch.equal(got["x"].cpu(), x.cpu()) and not got["y"].is_cuda
        assert got["view"].data_ptr() == got["x"][1].data_ptr()
        for where in ("cpu", torch.device("cpu"), {"cuda:0": "cpu"}, lambda storage, place: storage):
            file.seek(0)
            assert not torch.load(file, map_location=where)["x"].is_cuda
        file = io.BytesIO()
        torch.save(torch.ones(2), file)
        file.seek(0)
        assert torch.load(file, map_location="cuda").is_cuda
        file.seek(0)
        with pytest.raises(RuntimeError, match="Attempting to deserialize object on CUDA device 7"):
            torch.load(file, map_location="cuda:7")


def test_copies_and_pickles():
    net = torch.nn.Linear(2, 3).cuda()
    for other in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert other.weight.is_cuda and torch.equal(other.weight.cpu(), net.weight.cpu())
        assert other.weight.data_ptr() != net.weight.data_ptr()
    x = torch.ones(3, device="cuda")
    pair = copy.deepcopy([x, x[1:]])
    pair[0][1] = 5
    assert pair[1][0] == 5 and x[1] == 1
    net.load_state_dict({k: v.cpu() * 2 for k, v in net.state_dict().items()})
    assert net.weight.is_cuda
    assert x.storage().is_cuda and x.storage().cpu().tolist() == [1, 1, 1]


def test_a_file_of_a_device_without_one(tmp_path):
    torch.save(torch.ones(2, device="cuda"), tmp_path / "x.pt")
    code = "import shimtorch as torch\ntorch.load('x.pt', weights_only=False)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "SHIMEMU_DEVICES": "0", "CUDA_VISIBLE_DEVICES": ""})
    assert "Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False" in done.stderr


# ---------------------------------------------------------------- pinned memory

def test_copies_of_pinned_memory_are_not_waited_for(tmp_path):
    code = """
import shimtorch as torch
x = torch.ones(4).pin_memory()
there = x.cuda(non_blocking=True)
x.fill_(2)                                 # too early: the copy is still to be done
assert there.tolist() == [2, 2, 2, 2], there.tolist()
again = x.to("cuda")                       # which waits
x.fill_(3)
assert again.tolist() == [2, 2, 2, 2]
back = torch.zeros(4).pin_memory()
back.copy_(again, non_blocking=True)
early = back.tolist()
torch.cuda.synchronize()
assert early == [0, 0, 0, 0] and back.tolist() == [2, 2, 2, 2], (early, back)
plain = torch.ones(4)
there = plain.to("cuda", non_blocking=True)
plain.fill_(2)
assert there.tolist() == [1, 1, 1, 1]
"""
    if "cudaemu" not in os.environ.get("LD_LIBRARY_PATH", ""):
        pytest.skip("only the emulator is sure to be late")
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "SHIMEMU_LAZY": "1"})
    assert done.returncode == 0, done.stderr


def test_a_loader_pins():
    from shimtorch.utils.data import DataLoader, TensorDataset
    data = TensorDataset(torch.arange(6.), torch.arange(6))
    for workers in (0, 1):
        seen = []
        for x, y in DataLoader(data, batch_size=2, pin_memory=True, num_workers=workers):
            assert x.is_pinned() and y.is_pinned()
            seen += x.cuda(non_blocking=True).tolist()
        assert seen == [0, 1, 2, 3, 4, 5]


# ---------------------------------------------------------------- several devices

SEVERAL = """
import copy
import warnings
import shimtorch as torch
from shimtorch import nn
from shimtorch.cuda import comm
assert torch.cuda.device_count() == 3
x = torch.arange(12.).reshape(6, 2)
parts = comm.scatter(x, [0, 1, 2])
assert [p.get_device() for p in parts] == [0, 1, 2] and torch.equal(parts[2].cpu(), x[4:])
assert [p.size(0) for p in comm.scatter(x.cuda(), [0, 1], [2, 4])] == [2, 4]
assert torch.equal(comm.gather(parts).cpu(), x) and not comm.gather(parts, destination="cpu").is_cuda
copies = comm.broadcast(x.cuda(1), [1, 0])
assert [c.get_device() for c in copies] == [1, 0] and torch.equal(copies[1].cpu(), x)
assert comm.reduce_add([x.cuda(i) for i in range(3)], 1).get_device() == 1
assert torch.equal(comm.reduce_add([x.cuda(i) for i in range(3)]).cpu(), x * 3)
many = comm.broadcast_coalesced([x.cuda(), x.cuda() + 1], [0, 2])
assert many[1][1].get_device() == 2 and torch.equal(comm.reduce_add_coalesced(many)[1].cpu(), 2 * x + 2)
with torch.cuda.device(2):
    assert torch.zeros(1, device="cuda").get_device() == 2
try:
    x.cuda(0) + x.cuda(1)
    raise SystemExit("devices were mixed")
except RuntimeError as error:
    assert "same device" in str(error)

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.BatchNorm1d(4, momentum=0.0), nn.Linear(4, 1)).eval()
alone, parallel = copy.deepcopy(net), nn.DataParallel(net.cuda())
assert parallel.device_ids == [0, 1, 2] and parallel.output_device == 0
want, got = alone(x), parallel(x.cuda())
assert got.get_device() == 0 and torch.allclose(got.cpu(), want)
want.square().sum().backward()
got.square().sum().backward()
for p, q in zip(alone.parameters(), net.parameters()):
    assert q.grad.get_device() == 0 and torch.allclose(p.grad, q.grad.cpu(), atol=1e-5)
assert torch.allclose(nn.parallel.data_parallel(net, x.cuda(), [0, 1]).cpu(), want)
assert list(parallel.state_dict())[0] == "module.0.weight"
scalars = nn.DataParallel(nn.MSELoss())
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert scalars(x.cuda(), x.cuda() + 1).tolist() == [1, 1, 1]
try:
    nn.DataParallel(nn.Linear(2, 2))(x)
    raise SystemExit("a module on the CPU was taken")
except RuntimeError as error:
    assert "device_ids[0]" in str(error)
"""


def test_several_devices(tmp_path):
    if "cudaemu" not in os.environ.get("LD_LIBRARY_PATH", ""):
        pytest.skip("the emulator has as many devices as it is told")
    done = subprocess.run([sys.executable, "-c", SEVERAL], cwd=tmp_path, capture_output=True, text=True,
                          env={**os.environ, "SHIMEMU_DEVICES": "3"})
    assert done.returncode == 0, done.stderr + done.stdout


# ---------------------------------------------------------------- switches

def test_switches():
    matmul = torch.backends.cuda.matmul
    assert torch.backends.cuda.is_built() and matmul.allow_tf32 is False
    try:
        matmul.allow_tf32 = True
        assert torch.get_float32_matmul_precision() == "high"
        x = torch.eye(3, device="cuda")
        assert torch.equal((x @ x).cpu(), torch.eye(3))
        torch.set_float32_matmul_precision("highest")
        assert matmul.allow_tf32 is False
    finally:
        matmul.allow_tf32 = False
    with torch.backends.cudnn.flags(enabled=False):
        assert not torch.backends.cudnn.enabled
    with pytest.raises(RuntimeError, match="NVTX functions not installed"):
        torch.cuda.nvtx.range_push("a")
    assert "Allocated memory" in torch.cuda.memory_summary() and torch.cuda.max_memory_cached() >= 0
    for name in ("Float", "Double", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool"):
        t = getattr(torch.cuda, name + "Tensor")(2, 3)
        assert t.is_cuda and t.type() == f"torch.cuda.{name}Tensor" and isinstance(t, getattr(torch.cuda,
                                                                                             name + "Tensor"))
    assert torch.cuda.FloatTensor([1, 2]).tolist() == [1, 2]


def test_storages():
    s = torch.cuda.FloatStorage([1, 2, 3])
    assert s.is_cuda and s.tolist() == [1, 2, 3] and s.type() == "torch.cuda.FloatStorage"
    assert isinstance(s, torch.cuda.FloatStorage) and not isinstance(s.cpu(), torch.cuda.FloatStorage)
    assert not isinstance(s, torch.cuda.LongStorage)
    assert isinstance(torch.ones(2, dtype=torch.int64, device="cuda").storage(), torch.cuda.LongStorage)


def test_refused_names():
    for call in (torch.cuda.CUDAGraph, torch.cuda.graph_pool_handle, torch.cuda.memory_snapshot, torch.cuda.cudart,
                 torch.cuda.nccl.version, torch.cuda.utilization, torch.cuda.current_blas_handle,
                 lambda: torch.cuda.graphs.make_graphed_callables(None, ()), lambda: torch.cuda.set_sync_debug_mode(1)):
        with pytest.raises(NotImplementedError, match="torch.cuda"):
            call()
    with pytest.raises(NotImplementedError, match="torch.cuda.profiler.start"), torch.cuda.profiler.profile():
        pass
    assert not torch.cuda.nccl.is_available([]) and not torch.cuda.is_current_stream_capturing()
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = torch.cuda.nothing


def test_errors_by_number():
    torch.cuda.check_error(torch.cuda.cudaStatus.SUCCESS)
    with pytest.raises(torch.cuda.CudaError, match=r"\(2\)"):
        torch.cuda.check_error(2)


def test_the_device_of_an_event():
    event = torch.cuda.Event()
    assert event.device is None
    event.record()
    assert event.device == torch.device("cuda:0")


def test_operands_of_several_devices():
    x, y = torch.ones(2, device="cuda"), torch.ones(2)
    for f in (torch.add, torch.dot, lambda x, y: torch.cat([y, x]), torch.outer):
        with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device.*c(uda:0|pu) and c"):
            f(x, y)
    assert torch.special.xlog1py(x, torch.tensor(0.0)).tolist() == [0, 0]
    assert torch.special.zeta(torch.tensor(2.0), x).is_cuda
