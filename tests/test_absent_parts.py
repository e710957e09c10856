"""Parts of torch that are there so that programs can import them and ask: devices, exporters, extensions, profilers."""
import pytest

import shimtorch as torch


def test_there_is_no_accelerator():
    assert not torch.accelerator.is_available() and torch.accelerator.device_count() == 0
    assert torch.accelerator.current_accelerator() is None
    for name in ("current_device_index", "synchronize", "current_stream", "empty_cache"):
        with pytest.raises(RuntimeError, match="Cannot access accelerator device when none is available"):
            getattr(torch.accelerator, name)()
    assert not torch.mps.is_available() and not torch.xpu.is_available() and not torch.backends.mps.is_built()


def test_the_cpu_as_a_device():
    stream = torch.cpu.Stream()
    with torch.cpu.stream(stream):
        assert torch.cpu.current_stream() is stream
    assert torch.cpu.current_stream() is not stream and torch.cpu.is_available() and torch.cpu.device_count() == 1
    assert torch.backends.cpu.get_cpu_capability() in ("DEFAULT", "AVX2", "AVX512")


@pytest.mark.parametrize("name", ["export", "export_to_pretty_string", "register_custom_op_symbolic"])
def test_there_is_no_exporter(name):
    with pytest.raises(NotImplementedError, match=f"torch.onnx.{name}"):
        getattr(torch.onnx, name)(None)
    assert not torch.onnx.is_in_onnx_export()


def test_modes_for_export():
    layer = torch.nn.Linear(1, 1)
    with torch.onnx.select_model_mode_for_export(layer, torch.onnx.TrainingMode.EVAL):
        assert not layer.training
    with torch.onnx.set_training(layer, False):
        assert not layer.training
    assert layer.training
    from shimtorch.onnx.operators import reshape_from_tensor_shape, shape_as_tensor
    x = torch.ones(2, 3)
    assert reshape_from_tensor_shape(x, shape_as_tensor(x.t())).shape == (3, 2)


def test_there_are_no_extensions():
    for f in (torch.utils.cpp_extension.load, torch.utils.cpp_extension.CppExtension):
        with pytest.raises(NotImplementedError, match="real torch"):
            f("name", ["a.cpp"])
    with pytest.raises(NotImplementedError, match="create_extension"):
        torch.utils.ffi.create_extension("name", [], [])


def test_switches_of_old_versions():
    warning = torch.utils.backcompat.broadcast_warning
    assert not warning.enabled
    warning.enabled = True
    assert warning.get_enabled()
    warning.enabled = False


def test_profiler():
    with pytest.raises(NotImplementedError, match="torch.profiler.profile"):
        torch.profiler.profile()
    with torch.profiler.record_function("named"):
        pass
    action = torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=1)
    assert [action(i).name for i in range(7)] == ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE", "NONE", "NONE"]


def test_description_of_the_installation():
    from shimtorch.utils.collect_env import get_pretty_env_info
    assert "NumPy" in get_pretty_env_info()


@pytest.mark.parametrize("name", ["align_to", "refine_names", "rename"])
def test_dimensions_have_no_names(name):
    with pytest.raises(NotImplementedError, match="dimensions have no names"):
        getattr(torch.ones(1), name)("N")
