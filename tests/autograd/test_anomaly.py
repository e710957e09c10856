"""Anomaly detection: where in the forward pass a failing derivative comes from."""
import warnings

import pytest

ENABLED = ("^Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
           "debugging.")


@pytest.fixture
def detecting(torch):
    """Anomaly detection without its own warning."""
    with torch.autograd.set_detect_anomaly(True):
        yield


def fails(torch, error, text, run):
    """The messages of the warnings that come with an error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(error, match=text):
            run()
    return [str(w.message) for w in caught if w.category is UserWarning]


def nan_gradient(torch):
    x = torch.zeros(2, requires_grad=True)
    return x, (x.sqrt() * 0).sum()


def test_nan_is_traced_to_its_function(torch, detecting):
    x, y = nan_gradient(torch)
    message, = fails(torch, RuntimeError, "^Function 'SqrtBackward0' returned nan values in its 0th "
                                          "output.$", y.backward)
    assert message.startswith("Error detected in SqrtBackward0. Traceback of forward call that caused the error:\n")
    assert "in nan_gradient\n" in message and "return x, (x.sqrt() * 0).sum()" in message
    assert x.grad is None


def test_nan_need_not_be_looked_for(torch):
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        x, y = nan_gradient(torch)
        y.backward()
    assert x.grad.isnan().all()


def test_errors_are_traced_to_their_function(torch, detecting):
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            raise ValueError("no derivative")

    y = Bad.apply(torch.ones(1, requires_grad=True))
    message, = fails(torch, ValueError, "^no derivative$", y.backward)
    assert message.startswith("Error detected in BadBackward. Traceback of forward call that caused the error:\n")


def test_stale_tensors_are_traced_and_the_hint_says_so(torch, detecting):
    y = torch.ones(2, requires_grad=True).exp()
    z = y.sum()
    y.add_(1)
    message, = fails(torch, RuntimeError, r"Hint: the backtrace further above shows the operation that failed to "
                                          r"compute its gradient\. The variable in question was changed in there or "
                                          r"anywhere later\. Good luck!$", z.backward)
    assert message.startswith("Error detected in ExpBackward0.")


def test_a_forward_pass_without_detection(torch):
    x, y = nan_gradient(torch)
    with torch.autograd.set_detect_anomaly(True):
        message, = fails(torch, RuntimeError, "SqrtBackward0", y.backward)
    assert message.startswith("Error detected in SqrtBackward0. No forward pass information available. Enable detect "
                              "anomaly during forward pass for more information.")


def test_errors_in_second_derivatives_are_traced_to_the_first(torch, detecting):
    x = torch.zeros(2, requires_grad=True)
    g, = torch.autograd.grad(x.sqrt().sum(), x, create_graph=True)
    messages = fails(torch, RuntimeError, "returned nan values", (g * 0).sum().backward)
    assert len(messages) == 2
    assert messages[1].startswith("\n\nPrevious calculation was induced by SqrtBackward0. Traceback of forward call "
                                  "that induced the previous calculation:\n")


def test_a_good_pass_is_as_ever(torch, detecting):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    y[0].mul_(3)
    (y * y).sum().backward()
    assert x.grad.tolist() == [18, 4]
    assert "traceback_" in y.grad_fn.metadata


def test_switches(torch):
    assert not torch.is_anomaly_enabled()
    with pytest.warns(UserWarning, match=ENABLED):
        with torch.autograd.detect_anomaly(check_nan=False):
            assert torch.is_anomaly_enabled() and not torch.is_anomaly_check_nan_enabled()
            with torch.autograd.set_detect_anomaly(False):
                assert not torch.is_anomaly_enabled()
            assert torch.is_anomaly_enabled()
    assert not torch.is_anomaly_enabled()
    try:
        torch.autograd.set_detect_anomaly(True)
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    finally:
        torch.autograd.set_detect_anomaly(False)
    torch.set_anomaly_enabled(True)
    assert torch.is_anomaly_enabled()
    torch.set_anomaly_enabled(False)
    assert "traceback_" not in (torch.ones(1, requires_grad=True) * 2).grad_fn.metadata
