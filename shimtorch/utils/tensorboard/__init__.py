"""torch.utils.tensorboard: events for TensorBoard, written with the package ``tensorboard``."""

try:
    import tensorboard  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "torch.utils.tensorboard writes with the package tensorboard, which is not installed: pip install tensorboard",
        name="tensorboard",
    ) from error

from tensorboard.summary.writer.record_writer import RecordWriter

from .writer import FileWriter, SummaryWriter

__all__ = ["FileWriter", "RecordWriter", "SummaryWriter"]
