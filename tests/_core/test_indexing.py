"""``x[index]``, ``x[index] = value`` and their gradients, for every mixture of indices: equal to NumPy's."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shimtorch as torch


@st.composite
def cases(draw):
    """A shape, and an index for it: ints, slices, None, Ellipsis, masks, sequences and integer arrays."""
    shape = draw(st.lists(st.integers(0, 4), min_size=0, max_size=4))
    index, at, dots = [], 0, False
    for _ in range(draw(st.integers(0, len(shape) + 2))):
        left = shape[at:]
        kinds = ["none"] + ([] if dots else ["dots"]) + (["int", "list", "array"] if left and left[0] else []) + (
            ["slice", "mask"] if left else []) + (["mask2"] if len(left) > 1 else [])
        kind = draw(st.sampled_from(kinds))
        if kind == "none":
            index.append(None)
        elif kind == "dots":
            index.append(...)
            at, dots = at + draw(st.integers(0, len(left))), True
            if at < len(shape):                  # what follows counts from the end
                rest = len(shape) - at
                index += [slice(None)] * rest
                break
        elif kind == "slice":
            bound = st.none() | st.integers(-6, 6)
            index.append(slice(draw(bound), draw(bound), draw(st.sampled_from([None, 1, 2, 3]))))
            at += 1
        elif kind in ("mask", "mask2"):
            size = left[:2] if kind == "mask2" else left[:1]
            n = int(np.prod(size))
            index.append(np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool).reshape(size))
            at += len(size)
        else:
            one = st.integers(-left[0], left[0] - 1)
            if kind == "int":
                index.append(draw(one))
            elif kind == "list":
                index.append(draw(st.lists(one, min_size=1, max_size=3)))
            else:
                size = draw(st.sampled_from([(2,), (1,), (2, 2), (), (3, 1)]))
                n = int(np.prod(size))
                index.append(np.array(draw(st.lists(one, min_size=n, max_size=n)), np.int64).reshape(size))
            at += 1
    if any(isinstance(i, list) or np.ndim(i) for i in index):      # one place beside them is one of them to NumPy only
        index = [slice(int(i), int(i) + 1 or None) if places(i) else i for i in index]
    return shape, tuple(index)


def places(i):
    """Whether `i` is one place of a dimension: an int, or an array of no dimensions."""
    return isinstance(i, int) or (isinstance(i, np.ndarray) and i.ndim == 0)


def ours(index):
    return tuple(torch.from_numpy(i) if isinstance(i, np.ndarray) else i for i in index)


def numbers(shape):
    return np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape)


def expected(shape, index):
    """What NumPy picks; None where it refuses."""
    try:
        return numbers(shape)[index]
    except IndexError:
        return None


@settings(max_examples=400, deadline=None)
@given(cases())
def test_reading(case):
    shape, index = case
    want = expected(shape, index)
    x = torch.from_numpy(numbers(shape))
    if want is None:
        with pytest.raises(IndexError):
            x[ours(index)]
        return
    got = x[ours(index)]
    assert got.shape == want.shape and got.tolist() == want.tolist()
    if not any(isinstance(i, (list, np.ndarray)) for i in index) and want.size:
        assert got.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()      # a view


@settings(max_examples=400, deadline=None)
@given(cases(), st.sampled_from(["number", "tensor", "row"]))
def test_writing(case, kind):
    shape, index = case
    picked = expected(shape, index)
    if picked is None:
        return
    if kind == "number":
        value = np.float32(-7)
    else:
        size = picked.shape if kind == "tensor" else picked.shape[-1:]
        value = -np.arange(1, 1 + int(np.prod(size)), dtype=np.float32).reshape(size)
    if len({*np.ravel(numbers(shape)[index])}) < picked.size and kind != "number":
        return                                   # a place that is written twice keeps either value
    want, x = numbers(shape), torch.from_numpy(numbers(shape))
    want[index] = value
    version = x._version
    x[ours(index)] = float(value) if kind == "number" else torch.from_numpy(np.asarray(value))
    assert x.tolist() == want.tolist()
    assert x._version > version


@settings(max_examples=300, deadline=None)
@given(cases())
def test_gradient(case):
    """Each place receives the weights of all results that came from it."""
    shape, index = case
    picked = expected(shape, index)
    if picked is None:
        return
    weights = np.arange(1, 1 + picked.size, dtype=np.float32).reshape(picked.shape)
    want = np.zeros(int(np.prod(shape)), np.float32)
    np.add.at(want, np.ravel(picked).astype(int), np.ravel(weights))
    x = torch.from_numpy(numbers(shape)).requires_grad_()
    (x[ours(index)] * torch.from_numpy(weights)).sum().backward()
    assert x.grad.tolist() == want.reshape(shape).tolist()


@pytest.mark.parametrize("index, error, message", [
    (3, IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    (-4, IndexError, "index -4 is out of bounds for dimension 0 with size 3"),
    ((0, 2), IndexError, "index 2 is out of bounds for dimension 1 with size 2"),
    ((0, 0, 0), IndexError, "too many indices for tensor of dimension 2"),
    (slice(None, None, -1), ValueError, "step must be greater than zero"),
    (torch.tensor([0, 3]), IndexError, "index 3 is out of bounds for dimension 0 with size 3"),
    (torch.tensor([1.5]), IndexError, "tensors used as indices must be long, int, byte or bool tensors"),
    (torch.tensor([True, False]), IndexError,
     r"The shape of the mask \[2\] at index 0 does not match the shape of the indexed tensor \[3, 2\] at index 0"),
    ((torch.tensor([0, 1]), torch.tensor([0, 1, 1])), IndexError,
     r"shape mismatch: indexing tensors could not be broadcast together with shapes \[2\], \[3\]"),
    ("a", TypeError, r"new\(\): invalid data type 'str'"),
    (1.0, IndexError, "only integers, slices"),
])
def test_wrong_indices(index, error, message):
    x = torch.zeros(3, 2)
    with pytest.raises(error, match=message):
        x[index]
    with pytest.raises(error, match=message):
        x[index] = 1
    assert not x.any()


@pytest.mark.parametrize("value, message", [
    (torch.ones(3), r"shape mismatch: value tensor of shape \[3\] cannot be broadcast to indexing result of shape "
                    r"\[2\]"),
    (torch.ones(2, 2), "shape mismatch|output with shape|expand"),
])
def test_values_that_do_not_fit(value, message):
    x = torch.zeros(3, 2)
    with pytest.raises(RuntimeError, match=message):
        x[torch.tensor([0])[0], torch.tensor([0, 1])] = value
    assert not x.any()


def test_numbers_of_other_types():
    x = torch.arange(6).reshape(2, 3)
    assert x[np.int64(1), np.int32(-1)].item() == 5
    assert x[torch.tensor(1)].tolist() == [3, 4, 5]
    assert x[torch.tensor(1, dtype=torch.uint8):].tolist() == [[3, 4, 5]]
    assert x[True].shape == (1, 2, 3) and x[False].shape == (0, 2, 3)
    assert x[torch.tensor(0), None, torch.tensor([True, False, True])].shape == (1, 2)     # NumPy: (2, 1)
    x[0] = True
    assert x[0].tolist() == [1, 1, 1]


def test_uint8_is_a_mask_with_a_warning():
    x = torch.arange(3)
    with pytest.warns(UserWarning, match="uint8 is now deprecated"):
        assert x[torch.tensor([1, 0, 1], dtype=torch.uint8)].tolist() == [0, 2]
