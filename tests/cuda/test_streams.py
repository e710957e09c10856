"""Streams and events: order where it is asked for, and memory that is not reused while another stream reads it."""
import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")


def test_current_stream():
    s = torch.cuda.Stream()
    assert torch.cuda.current_stream() == torch.cuda.default_stream() != s
    with torch.cuda.stream(s):
        assert torch.cuda.current_stream() == s
        with torch.cuda.stream(None):
            assert torch.cuda.current_stream() == s
    assert torch.cuda.current_stream() == torch.cuda.default_stream()
    assert s.device == torch.device("cuda:0") and hash(s) == hash(torch.cuda.ExternalStream(s.cuda_stream))


def test_waiting_orders_streams():
    s = torch.cuda.Stream()
    x = torch.zeros(1000, device="cuda")
    x += 1
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        y = x * 2
    torch.cuda.current_stream().wait_stream(s)
    assert (y + 1).tolist() == [3.] * 1000


def test_record_stream_keeps_the_memory():
    s = torch.cuda.Stream()
    x = torch.full((1000,), 5., device="cuda")
    s.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(s):
        y = torch.empty(1000, device="cuda")
        y.copy_(x)
    x.record_stream(s)
    del x
    z = torch.zeros(1000, device="cuda")       # may lie where x was only after s has read it
    s.synchronize()
    assert y.sum() == 5000 and z.sum() == 0


def test_events():
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    assert start.query()
    with pytest.raises(ValueError, match="recorded"):
        start.elapsed_time(end)
    start.record()
    x = torch.ones(1000, device="cuda") * 2
    end.record()
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0 and x.sum() == 2000
    with pytest.raises(ValueError, match="enable_timing"):
        torch.cuda.Event().elapsed_time(end)


def test_queries():
    s = torch.cuda.Stream()
    with torch.cuda.stream(s):
        x = torch.ones(10, device="cuda")
    while not s.query():
        pass
    torch.cuda.synchronize()
    assert x.sum() == 10


def test_pinned_memory():
    x = torch.arange(1000.).pin_memory()
    assert x.is_pinned() and not torch.arange(3.).is_pinned() and x.pin_memory() is x
    y = x.to("cuda", non_blocking=True)
    assert y.sum() == x.sum()
    z = torch.empty(1000, pin_memory=True)
    z.copy_(y, non_blocking=True)
    torch.cuda.synchronize()
    assert torch.equal(z, x)
