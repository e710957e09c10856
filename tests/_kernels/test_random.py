"""The random-number kernels on ndarrays, against what several versions of PyTorch drew (answers/random.json)."""

import json
import pathlib
import threading
import zlib

import numpy as np
import pytest
from ml_dtypes import bfloat16

from shimtorch._kernels import random

ANSWERS = json.loads((pathlib.Path(__file__).parent.parent / "answers" / "random.json").read_text())
OLD = random.ONE_X | random.PLAIN | random.LOGICAL | random.MCG31
STYLES = {
    "2.13.0": 0,
    "1.11.0": random.ONE_X | random.MCG31,
    "1.1.0": OLD,
    "1.0.0": OLD,
}
# [from, None]: up to the greatest value of the dtype
FULL = {"int64": 2**63, "int32": 2**31}


def dtype_of(name):
    return np.dtype(bfloat16 if name == "bfloat16" else name)


def stream(seed):
    made = random.Stream()
    made._seed(seed & (2**64 - 1))
    return made


def line(case, key, dtype=None):
    start, step = case[key]
    values = np.array([start + step * i for i in range(int(np.prod(case["shape"])))])
    return values.astype(dtype_of(dtype or case["dtype"])).reshape(case["shape"])


def destination(case):
    shape, dtype = list(case["shape"]), dtype_of(case["dtype"])
    if case["layout"] == "transposed":
        return np.zeros(shape[::-1], dtype).T
    if case["layout"] == "step":
        return np.zeros(shape[:-1] + [2 * shape[-1]], dtype)[..., ::2]
    if case["layout"] == "cut":
        return np.zeros(shape[:-1] + [shape[-1] + 3], dtype)[..., : shape[-1]]
    return np.zeros(shape, dtype)


def draw(case, source, style):
    name, args = case["draw"], case["args"]
    if name == "permutation":
        return random.permutation(source, case["shape"][0], dtype_of(case["dtype"]))
    if name == "poisson":
        return random.poisson(source, line(case, "a"))
    if name == "binomial":
        return random.binomial(source, line(case, "a"), line(case, "b"))
    if name in ("gamma", "dirichlet"):
        return getattr(random, name)(source, line(case, "a"), style)
    if name == "multinomial":
        return random.multinomial(source, line(case, "a"), *args, style)
    out = destination(case)
    if name == "bernoulli_each":
        return random.bernoulli(source, out, line(case, "p", case["p_dtype"]), style)
    if name != "random":
        return getattr(random, name)(source, out, *args, style=style)
    if not args:
        return random.whole(source, out, style)
    low, high = args if args[1] is not None else (args[0], FULL[case["dtype"]])
    return random.integers(source, out, low, (high - low) % 2**64, style)


def comparable(case, version):
    if version not in case["answers"]:
        return False
    if case["draw"] == "random" and case["dtype"] == "float64" and case["args"]:
        return max(map(abs, case["args"])) <= 2**53  # else the op draws from fewer numbers than asked for
    # 1.1 added up rows in another order
    return case["draw"] != "dirichlet" or case["dtype"] == "float32" or version > "1.1.0"


def answer(case, style):
    source = stream(case["seed"])
    drawn = zlib.crc32(np.ascontiguousarray(draw(case, source, style)).tobytes())
    normal = random.normal(source, np.zeros(1), style=style)[0]
    return [drawn, float(normal), float(random.uniform(source, np.zeros(1, np.float32), style=style)[0])]


@pytest.mark.parametrize("version", STYLES)
@pytest.mark.parametrize("name", sorted({case["draw"] for case in ANSWERS}))
def test_same_numbers_and_state(name, version):
    cases = [case for case in ANSWERS if case["draw"] == name and comparable(case, version)]
    wrong = [case for case in cases if answer(case, STYLES[version]) != case["answers"][version]]
    assert not wrong, f"{len(wrong)} of {len(cases)} differ, the first: {wrong[0]}"


def test_words_are_those_of_mt19937():
    ours, numpys = stream(12345), np.random.RandomState(12345)
    expected = np.frombuffer(numpys.bytes(4 * 1500), "<u4")
    assert [ours._u32() for _ in range(1500)] == expected.tolist()


def test_only_the_low_half_of_the_seed_counts():
    assert stream(7 + 2**40)._u64() == stream(7)._u64()


def test_chunks_do_not_change_the_stream():
    whole, parts = stream(5), stream(5)
    x = random.uniform(whole, np.empty(5000, np.float32))
    y = np.concatenate([random.uniform(parts, np.empty(n, np.float32)) for n in (1, 0, 623, 624, 1, 1751, 2000)])
    assert np.array_equal(x, y)


def test_state_roundtrip_keeps_the_waiting_normal():
    a, b = stream(1), stream(2)
    random.normal(a, np.empty(3, np.float32))
    b._set_state_bytes(a._get_state_bytes())
    assert np.array_equal(random.normal(a, np.empty(9)), random.normal(b, np.empty(9)))
    assert a._get_state_bytes() == b._get_state_bytes()


def test_state_of_1_1_holds_the_ingredients_of_the_waiting_normal():
    a = stream(1)
    state = bytearray(a._get_state_bytes()[:5048])
    state[5016:5044] = np.array([0.3, 0.9, 1.5]).tobytes() + np.int32(1).tobytes()
    a._set_state_bytes(bytes(state))
    assert random.normal(a, np.empty(1))[0] == 1.5 * np.sin(2 * np.pi * 0.3)


@pytest.mark.parametrize("offset, value", [(8, 0), (8, 625), (12, 0), (16, 625), (8, 500), (8, 2**31)])
def test_bad_states_are_refused(offset, value):
    a = stream(1)
    a._u32()
    before = a._get_state_bytes()
    state = bytearray(before)
    state[offset : offset + 4] = value.to_bytes(4, "little")
    if (offset, value) == (8, 500):
        state[16:20] = (200).to_bytes(4, "little")
    with pytest.raises(RuntimeError, match="Invalid mt19937 state"):
        a._set_state_bytes(bytes(state))
    assert a._get_state_bytes() == before


def test_state_of_wrong_size_is_refused():
    with pytest.raises(RuntimeError, match="of size 5056 but found the input RNG state size to be 3"):
        stream(1)._set_state_bytes(b"abc")


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (2, 0, 3, 1), (3, 2, 1, 0), (0, 2, 3, 1)])
def test_memory_order_whatever_the_axes(order):
    x = np.zeros((3, 1, 4, 5)).transpose(order)
    random.uniform(stream(9), x)
    assert np.array_equal(x.transpose(np.argsort(order)).ravel(), random.uniform(stream(9), np.zeros(60)))


def test_bernoulli_each_with_broadcast_probabilities():
    p = np.broadcast_to(np.array([0.0, 0.5, 1.0]), (200, 3))
    x = random.bernoulli(stream(4), np.zeros((200, 3)), p)
    assert not x[:, 0].any() and x[:, 2].all() and 60 < x[:, 1].sum() < 140


def test_zero_elements_draw_nothing():
    source = stream(3)
    before = source._get_state_bytes()
    random.normal(source, np.empty((0, 20)))
    random.permutation(source, 0)
    random.permutation(source, 1)
    random.bernoulli(source, np.empty(0), 0.5, random.MCG31)
    random.poisson(source, np.empty(0))
    assert source._get_state_bytes() == before


@pytest.mark.parametrize("call", [
    lambda s: random.normal(s, np.zeros(3, np.int64)),
    lambda s: random.uniform(s, np.zeros(3, np.bool_)),
    lambda s: random.integers(s, np.zeros(3, np.complex64), 0, 5),
    lambda s: random.exponential(s, np.zeros(3, np.int32)),
    lambda s: random.geometric(s, np.zeros(3, np.bool_), 0.5),
    lambda s: random.gamma(s, np.ones(3, np.float16)),
    lambda s: random.permutation(s, 3, np.bool_),
    lambda s: random.uniform(s, np.zeros(3, "M8[s]")),
])
def test_dtypes_without_the_distribution(call):
    with pytest.raises(TypeError):
        call(stream(1))


@pytest.mark.parametrize("call", [
    lambda s: random.bernoulli(s, np.zeros(2), np.array([0.5, 1.5])),
    lambda s: random.bernoulli(s, np.zeros(2), np.array([0.5, np.nan])),
    lambda s: random.poisson(s, np.array([-1.0])),
    lambda s: random.multinomial(s, np.array([1.0, -1.0]), 1),
    lambda s: random.multinomial(s, np.array([1.0, np.inf]), 1),
    lambda s: random.multinomial(s, np.array([0.0, 0.0]), 1),
    lambda s: random.multinomial(s, np.ones(2), 3),
])
def test_parameters_out_of_range(call):
    with pytest.raises(ValueError):
        call(stream(1))


def test_no_answer_is_not_a_number_rather_than_never():
    assert np.isnan(random.binomial(stream(1), np.array([np.nan, 5.0]), np.array([0.5, np.nan]))).all()


def test_threads_take_turns():
    shared, alone = stream(8), stream(8)
    parts = [np.empty(100_000, np.float32) for _ in range(4)]
    threads = [threading.Thread(target=random.uniform, args=(shared, part)) for part in parts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = random.uniform(alone, np.empty((4, 100_000), np.float32))
    assert sorted(part[0] for part in parts) == sorted(expected[:, 0])
    assert sorted(part[-1] for part in parts) == sorted(expected[:, -1])
