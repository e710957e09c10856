"""torch.optim.lr_scheduler: schedules of learning rates."""

from ._schedulers.base import EPOCH_DEPRECATION_WARNING, LRScheduler
from ._schedulers.composed import ChainedScheduler, SequentialLR
from ._schedulers.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from ._schedulers.cyclic import CyclicLR, OneCycleLR
from ._schedulers.factor import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from ._schedulers.plateau import ReduceLROnPlateau

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "EPOCH_DEPRECATION_WARNING",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]

# The name of the base class before 2.0.
_LRScheduler = LRScheduler

for _name in __all__:
    if isinstance(globals()[_name], type):
        globals()[_name].__module__ = __name__  # where pickles look for them
