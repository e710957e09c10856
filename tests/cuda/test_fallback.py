"""Ops without a form for the device: refused by name or, with SHIMTORCH_CUDA_FALLBACK=1, computed on the CPU, which is
said once for each op. All rows of the op table."""
import warnings

import pytest

import shimtorch as torch
from shimtorch._gpu import fallback

from .._ops.table import arguments, full_name, results_of, sampled_ops, seen
from .._ops.test_table import ANSWERS, array_of, cases, compare
from .test_table import LEFT_OUT, ON_THE_CPU, OTHERWISE, on_device

OPS = [op for op in sampled_ops() if op.__name__ not in LEFT_OUT]


def rows(op):
    """(key, recorded answer, a function that calls the op on the device) of the rows with tensors and an answer."""
    for index, dtype, key in cases(op):
        answer = ANSWERS.table.get(key)
        if answer is None or "error" in answer or f"{full_name(op)}/{index}" in OTHERWISE:
            continue
        args, kwargs = arguments(op, index, dtype, on_device)
        if any(isinstance(a, torch.Tensor) for a in results_of([*args, *kwargs.values()])):
            yield index, key, answer, lambda args=args, kwargs=kwargs: op(*args, **kwargs)


@pytest.fixture
def computed(monkeypatch):
    """Lets the CPU compute what the device does not, and makes the warnings come again."""
    monkeypatch.setenv("SHIMTORCH_CUDA_FALLBACK", "1")
    monkeypatch.setattr(fallback, "_warned", set())


@pytest.mark.parametrize("op", OPS, ids=[full_name(op) for op in OPS])
def test_refusals_have_names(op):
    for _, key, _, run in rows(op):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                run()
            except NotImplementedError as error:
                name, _, rest = str(error).partition(" not implemented for ")
                assert name.strip('":').isidentifier() and rest, f"{key}: {error}"


@pytest.mark.parametrize("op", OPS, ids=[full_name(op) for op in OPS])
def test_every_row_is_computed(op, computed):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for index, key, answer, run in rows(op):
            for part, r in zip(answer["parts"], results_of(seen(op, run())), strict=True):
                if isinstance(part, list):
                    assert r.is_cuda != (f"{full_name(op)}/{index}" in ON_THE_CPU), f"{key}: {r.device}"
                    compare(array_of(r.cpu()), ANSWERS.array(part), key)
                else:
                    assert r == part["value"], key
    said = [str(w.message) for w in caught if "SHIMTORCH_CUDA_FALLBACK" in str(w.message)]
    assert len(said) == len(set(said)), said
    assert all(m.partition(":")[0].isidentifier() for m in said), said
