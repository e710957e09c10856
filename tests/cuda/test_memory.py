"""The allocator: torch's rounding and statistics, reuse, and the end of memory."""
import gc

import pytest

import shimtorch as torch

pytestmark = pytest.mark.usefixtures("no_leak")


def allocated():
    gc.collect()
    return torch.cuda.memory_allocated()


def test_blocks_are_rounded_and_given_back():
    before = allocated()
    x = torch.empty(3, device="cuda")
    assert allocated() - before == 512
    y = torch.empty(129, device="cuda")        # 516 bytes
    assert allocated() - before == 512 + 1024
    view = x[1:]
    del x
    assert allocated() - before == 512 + 1024  # the view holds the memory
    del view, y
    assert allocated() == before


def test_segments():
    torch.cuda.empty_cache()
    before = torch.cuda.memory_reserved()
    x = torch.empty(10, device="cuda")
    small = torch.cuda.memory_reserved() - before
    assert small in (0, 2 << 20)               # 0: another small tensor lives in a segment
    y = torch.empty(1 << 19, device="cuda")    # 2 MiB, from a segment of 20
    assert torch.cuda.memory_reserved() - before - small in (0, 20 << 20)
    z = torch.empty(11 << 18, device="cuda")   # 11 MiB: a segment of its own, of 12
    assert torch.cuda.memory_reserved() - before - small >= 12 << 20
    del x, y, z
    torch.cuda.empty_cache()
    assert torch.cuda.memory_reserved() <= before + small


def test_freed_memory_is_used_again():
    x = torch.empty(1000, device="cuda")
    at = x.data_ptr()
    del x
    assert torch.empty(1000, device="cuda").data_ptr() == at


def test_peaks_and_totals():
    torch.cuda.reset_peak_memory_stats()
    start = torch.cuda.memory_stats()
    x = torch.empty(1 << 18, device="cuda")
    peak = torch.cuda.max_memory_allocated()
    del x
    stats = torch.cuda.memory_stats()
    assert torch.cuda.max_memory_allocated() == peak == start["allocated_bytes.all.current"] + (1 << 20)
    assert stats["allocated_bytes.all.allocated"] - start["allocated_bytes.all.allocated"] == 1 << 20
    assert stats["allocated_bytes.all.freed"] - start["allocated_bytes.all.freed"] == 1 << 20
    assert stats["allocation.small_pool.allocated"] - start["allocation.small_pool.allocated"] == 1
    torch.cuda.reset_peak_memory_stats()
    assert torch.cuda.max_memory_allocated() == torch.cuda.memory_allocated()
    assert "Allocated memory" in torch.cuda.memory_summary()


def test_out_of_memory():
    retries, failures = (torch.cuda.memory_stats()[k] for k in ("num_alloc_retries", "num_ooms"))
    with pytest.raises(torch.OutOfMemoryError, match=r"CUDA out of memory\. Tried to allocate 1024\.00 GiB\. GPU 0"):
        torch.ones(1, device="cuda").new_empty(1 << 38)
    assert issubclass(torch.cuda.OutOfMemoryError, RuntimeError)
    stats = torch.cuda.memory_stats()
    assert (stats["num_alloc_retries"], stats["num_ooms"]) == (retries + 1, failures + 1)
    assert torch.ones(3, device="cuda").sum() == 3


def test_the_cache_is_given_up_before_memory_runs_out():
    free, total = torch.cuda.mem_get_info()
    size = total // 8 // (2 << 20) * (2 << 20)
    for k in range(12):                        # each of another size, so that no cached block fits
        del_me = torch.empty(size + k * (4 << 20), dtype=torch.uint8, device="cuda")
        del del_me
    assert torch.cuda.memory_reserved() <= total


def test_resize_keeps_the_contents():
    x = torch.arange(4., device="cuda")
    x.resize_(2000)
    assert x[:4].tolist() == [0, 1, 2, 3] and x.is_cuda


def test_device_properties():
    p = torch.cuda.get_device_properties(0)
    assert p.total_memory == torch.cuda.mem_get_info()[1] and p.name == torch.cuda.get_device_name()
    assert torch.cuda.get_device_capability() == (p.major, p.minor)
    assert torch.cuda.current_device() == 0 and torch.cuda.device_count() >= 1 and torch.cuda.is_available()
    with torch.cuda.device(0), torch.cuda.device_of(torch.ones(1, device="cuda")):
        assert torch.cuda.current_device() == 0


def test_memory_may_be_limited():
    torch.cuda.empty_cache()
    total = torch.cuda.mem_get_info()[1]
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + (4 << 20)) / total)
    try:
        held = torch.empty(1 << 20, dtype=torch.uint8, device="cuda")
        with pytest.raises(torch.cuda.OutOfMemoryError, match="out of memory. Tried to allocate 8.00 MiB"):
            torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
        del held
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)
    assert torch.cuda.get_per_process_memory_fraction() == 1.0
    torch.empty(8 << 20, dtype=torch.uint8, device="cuda")
    with pytest.raises(ValueError, match="Invalid fraction value: 1.5"):
        torch.cuda.set_per_process_memory_fraction(1.5)


def test_blocks_for_other_libraries():
    before = torch.cuda.memory_allocated()
    at = torch.cuda.caching_allocator_alloc(1000, stream=torch.cuda.current_stream())
    assert at and torch.cuda.memory_allocated() == before + 1024
    torch.cuda.caching_allocator_delete(at)
    assert torch.cuda.memory_allocated() == before
