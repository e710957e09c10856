"""Anomaly detection: errors and NaN in backward are traced to the forward call that led to them."""
from .._core.autograd import anomaly_mode, set_anomaly_mode

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """A context that remembers where each operation was called, so that backward can name the one that failed.

    With ``check_nan`` backward also raises a RuntimeError where NaN comes up.
    """

    def __init__(self, check_nan=True):
        import warnings
        self.check_nan = check_nan
        warnings.warn("Anomaly Detection has been enabled. This mode will increase the runtime and should only be "
                      "enabled for debugging.", UserWarning, stacklevel=2)

    def __enter__(self):
        self.before = anomaly_mode()
        set_anomaly_mode(True, self.check_nan)

    def __exit__(self, *exc):
        set_anomaly_mode(*self.before)


class set_detect_anomaly:
    """Switch anomaly detection on or off, from now on or for a ``with`` block."""

    def __init__(self, mode, check_nan=True):
        self.before = anomaly_mode()
        set_anomaly_mode(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        set_anomaly_mode(*self.before)


def is_anomaly_enabled():
    """Whether anomaly detection is on."""
    return anomaly_mode()[0]


def is_anomaly_check_nan_enabled():
    """Whether anomaly detection looks for NaN."""
    return anomaly_mode()[1]


def set_anomaly_enabled(mode, check_nan=True):
    """Switch anomaly detection on or off."""
    set_anomaly_mode(mode, check_nan)
