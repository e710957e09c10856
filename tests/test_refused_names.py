"""Names that are listed in torch's documentation and are not here: each says so, and why."""
import pytest

import shimtorch as torch


@pytest.mark.parametrize("name", ("qint8", "quantize_linear", "fbgemm_linear_int8_weight", "complex32", "chalf",
                                  "CompilationUnit", "miopen_convolution", "PyTorchFileReader", "HalfStorageBase"))
def test_refused(name):
    with pytest.raises(NotImplementedError, match=f"^torch.{name} is not implemented: "):
        getattr(torch, name)()
    with pytest.raises(AttributeError):
        torch.no_such_name  # noqa: B018


@pytest.mark.parametrize("name", ("qint8", "quint4x2", "complex32"))
def test_dtypes(name):
    for call in (lambda: torch.zeros(2, dtype=getattr(torch, name)), lambda: torch.ones(2).to(getattr(torch, name))):
        with pytest.raises(NotImplementedError, match=f"^torch.{name} is not implemented: "):
            call()
    assert torch.float32 != getattr(torch, name)


def test_operators():
    assert hasattr(torch.ops, "aten") and not hasattr(torch.ops.aten, "no_such_operator")
    for call in (torch.ops.aten.add, torch.ops.aten.add.Tensor, torch.ops.aten.max.dim):
        with pytest.raises(NotImplementedError, match=r"^torch.ops.aten.[\w.]+ is not implemented: "):
            call(torch.ones(1))
    with pytest.raises(AttributeError, match="'_OpNamespace' 'mine' object has no attribute 'op'"):
        torch.ops.mine.op  # noqa: B018
    with pytest.raises(NotImplementedError, match="^torch.ops.load_library is not implemented: "):
        torch.ops.load_library("mine.so")


def test_small_names():
    assert torch.has_mlc is False and torch.vitals_enabled() is torch.set_vital("a", "b", "c") is False
    assert torch.read_vitals() == "" and not torch.ones(1).has_names()
    assert issubclass(torch.FatalError, RuntimeError) and torch.JITException is torch.jit.Error
    assert torch.Stream is torch.cuda.Stream and issubclass(torch.futures.Future, torch.Future)
    assert torch.return_types.max_out is torch.return_types.max
    with torch.DisableTorchFunction():
        assert torch.ones(1) + 1 == 2


def test_factory_kwargs():
    make = torch.nn.factory_kwargs
    assert make(None) == {} == make({})
    assert make({"dtype": torch.half, "factory_kwargs": {"device": "cpu"}}) == {"dtype": torch.half, "device": "cpu"}
    with pytest.raises(TypeError, match="unexpected kwargs {'x'}"):
        make({"x": 1})
    with pytest.raises(TypeError, match="device specified twice, in "):
        make({"device": "cpu", "factory_kwargs": {"device": "cpu"}})


def test_module_versions(recwarn):
    from types import ModuleType
    check, module = torch.serialization.check_module_version_greater_or_equal, ModuleType("mine")
    module.__version__ = "1.2.3"
    assert check(module, (1, 2, 0)) and not check(module, (1, 3))
    module.__version__ = "x.y"
    with pytest.raises(RuntimeError, match="'mine' module version string is malformed 'x.y'"):
        check(module, (1, 2))
    with pytest.warns(UserWarning, match="but continuing assuming that requirement is met"):
        assert check(module, (1, 2), False)


def test_properties_of_classes():
    class Counted:
        made = 3

        @torch.classproperty
        def twice(cls):
            return 2 * cls.made

    assert Counted.twice == Counted().twice == 6
