"""torch.onnx: scripts may import it and ask whether an export is running; there is no exporter."""

__all__ = ["is_in_onnx_export"]


def is_in_onnx_export():
    """Whether a model is being exported: False."""
    return False


def __getattr__(name):
    from ._refused import attribute

    return attribute("torch.onnx", name)
