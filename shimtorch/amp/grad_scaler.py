"""GradScaler: losses are scaled so that small gradients do not vanish; steps with infinite ones are left out."""
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum

from .._core.device import device as _device
from .._core.dtype import float16, float32
from .._core.factory import full
from .._core.grad_mode import no_grad
from .._core.tensor import TensorBase
from ..cuda import is_available

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """How far an optimizer has come since the last ``update``."""
    READY = 0
    UNSCALED = 1
    STEPPED = 2


class GradScaler:
    """Scales losses, unscales gradients, and skips steps of optimizers whose gradients hold an inf or a NaN.

    ``update`` multiplies the scale by *growth_factor* after *growth_interval* iterations without such gradients, and
    by *backoff_factor* after one with them. Asked for CUDA where there is none, it warns and does nothing.
    """

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000,
                 enabled=True):
        self._device = _device(device).type
        self._enabled = enabled
        if enabled and self._device == "cuda" and not is_available():
            warnings.warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2)
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._scale = init_scale, None
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._optimizers = defaultdict(_fresh)

    def scale(self, outputs):
        """*outputs*, a tensor or nested iterables of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            if self._scale is None:
                self._scale = full((), self._init_scale, dtype=float32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _check_scale(self, what):
        if self._scale is None:
            raise AssertionError(f"Attempted {what} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")

    def unscale_(self, optimizer):
        """Divide the gradients of an optimizer's parameters by the scale; once between two updates (RuntimeError)."""
        if not self._enabled:
            return
        self._check_scale("unscale_")
        record = self._optimizers[id(optimizer)]
        if record["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if record["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        record["found_inf"] = self._unscaled(optimizer, allow_half=False)
        record["stage"] = OptState.UNSCALED

    def _unscaled(self, optimizer, allow_half):
        """Unscale all gradients; whether any of them was not finite."""
        found = False
        inverse = self._scale.double().reciprocal().float()
        with no_grad():
            for group in optimizer.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    if not allow_half and p.grad.dtype is float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    if p.grad.is_sparse and p.grad.dtype is float16:
                        p.grad = p.grad.coalesce()     # sums of duplicates may overflow
                    values = p.grad._values() if p.grad.is_sparse else p.grad
                    values.mul_(inverse.to(values.dtype))
                    found = found or not bool(values.isfinite().all())
        return found

    def step(self, optimizer, *args, **kwargs):
        """``optimizer.step(*args, **kwargs)`` where all unscaled gradients are finite; its result, else None."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale("step")
        record = self._optimizers[id(optimizer)]
        if record["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if record["stage"] is OptState.READY:
            self.unscale_(optimizer)
        result = None if record["found_inf"] else optimizer.step(*args, **kwargs)
        record["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Change the scale after an iteration, or set it to *new_scale* (a number or a tensor of one float32)."""
        if not self._enabled:
            return
        self._check_scale("update")
        if new_scale is not None:
            if isinstance(new_scale, TensorBase):
                if new_scale.numel() != 1 or new_scale.requires_grad:
                    raise AssertionError("new_scale should be a float or a 1-element torch.cuda.FloatTensor or "
                                         "torch.FloatTensor with requires_grad=False.")
                self._scale.copy_(new_scale)
            else:
                self._scale.fill_(new_scale)
        else:
            found = [r["found_inf"] for r in self._optimizers.values() if r["found_inf"] is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            self._adapt(any(found))
        self._optimizers = defaultdict(_fresh)

    def _adapt(self, found_inf):
        if found_inf:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker = 0
            return
        self._growth_tracker += 1
        if self._growth_tracker == self._growth_interval:
            grown = self._scale * self._growth_factor
            if bool(grown.isfinite()):
                self._scale.copy_(grown)
            self._growth_tracker = 0

    def get_scale(self):
        """The scale, a float; 1.0 when not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """By what the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set by what the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """By what the scale shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set by what the scale shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """After how many good iterations the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set after how many good iterations the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def state_dict(self):
        """The scale, its rules and its count of good iterations; empty when not enabled."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor,
                "backoff_factor": self._backoff_factor, "growth_interval": self._growth_interval,
                "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict):
        """Take over a state that ``state_dict`` gave."""
        if not self._enabled:
            return
        if len(state_dict) == 0:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance "
                               "of GradScaler.")
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = int(state_dict["_growth_tracker"])

    def __getstate__(self):
        state = self.__dict__.copy()
        if self._enabled:
            if self._optimizers:
                raise AssertionError("A GradScaler instance may only be pickled at the beginning of an iteration, or "
                                     "at the end after scaler.update().")
            state["_init_scale"], state["_scale"] = self.get_scale(), None
        return state


def _fresh():
    """What is known of an optimizer at the start of an iteration."""
    return {"stage": OptState.READY, "found_inf": None}
