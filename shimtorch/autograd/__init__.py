"""``torch.autograd``: backward, grad, grad modes, Variable, user-defined Functions, gradient checks."""
from .._core import engine as _engine
from .._core.protocol import Overridable as _Overridable
from . import anomaly_mode, function, functional, grad_mode, graph, profiler, variable  # noqa: F401  (attributes)
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .function import Function, NestedIOFunction
from .grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled, set_multithreading_enabled
from .gradcheck import gradcheck, gradgradcheck
from .variable import Variable

backward, grad = (_Overridable(f, module=__name__, lists=True) for f in (_engine.backward, _engine.grad))

__all__ = ["Function", "NestedIOFunction", "Variable", "backward", "detect_anomaly", "enable_grad", "grad", "grad_mode",
           "gradcheck", "gradgradcheck", "inference_mode", "no_grad", "set_detect_anomaly", "set_grad_enabled",
           "set_multithreading_enabled", "variable"]
