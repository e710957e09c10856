"""``torch.onnx``: there is no exporter here. The names that programs import say so when they are called."""
import enum
from contextlib import contextmanager

from .._refused import attribute

__all__ = ["ExportTypes", "OperatorExportTypes", "TensorProtoDataType", "TrainingMode", "is_in_onnx_export",
           "select_model_mode_for_export", "set_training"]

producer_name, producer_version = "pytorch", "2.13.0"
PYTORCH_ONNX_CAFFE2_BUNDLE = False


class TrainingMode(enum.Enum):
    """In which mode a model is exported."""
    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.Enum):
    """What becomes of operators in an exported model."""
    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class TensorProtoDataType(enum.Enum):
    """ONNX's numbers for dtypes."""
    UNDEFINED = 0
    FLOAT = 1
    UINT8 = 2
    INT8 = 3
    UINT16 = 4
    INT16 = 5
    INT32 = 6
    INT64 = 7
    STRING = 8
    BOOL = 9
    FLOAT16 = 10
    DOUBLE = 11
    UINT32 = 12
    UINT64 = 13
    COMPLEX64 = 14
    COMPLEX128 = 15
    BFLOAT16 = 16


class ExportTypes:
    """The forms in which PyTorch 1.x wrote a model."""
    PROTOBUF_FILE = "Protobuf file"
    ZIP_ARCHIVE = "Zip archive"
    COMPRESSED_ZIP_ARCHIVE = "Compressed zip archive"
    DIRECTORY = "Directory"


def __getattr__(name):
    return attribute("torch.onnx", name)


def is_in_onnx_export():
    """Whether a model is being exported: False."""
    return False


@contextmanager
def select_model_mode_for_export(model, mode):
    """A context in which *model* is in the TrainingMode *mode*, and in its own again after it."""
    if not isinstance(mode, TrainingMode):
        raise TypeError(f"'mode' should be a torch.onnx.TrainingMode enum, but got '{type(mode)}'.")
    if not hasattr(model, "training"):
        yield
        return
    with set_training(model, None if mode is TrainingMode.PRESERVE else mode is TrainingMode.TRAINING):
        yield


@contextmanager
def set_training(model, mode):
    """A context in which ``model.training`` is *mode* (None: as it is), and as before after it."""
    before = model.training
    if mode is not None:
        model.train(mode)
    try:
        yield
    finally:
        model.train(before)
