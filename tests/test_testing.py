"""``torch.testing``: what assert_close says, in real torch's words, and make_tensor."""
import pytest

import shimtorch as torch
from shimtorch import testing

T = torch.tensor([1., 2])
TENSORS = "Tensor-likes are not close!\n\nMismatched elements: 2 / 2 (100.0%)\n" \
          "Greatest absolute difference: 1.0 at index (0,) (up to 1e-05 allowed)\n" \
          "Greatest relative difference: 0.5 at index (0,) (up to 1.3e-06 allowed)"
FAILURES = [
    ((T, T + 1), TENSORS),
    (({"a": T}, {"a": T + 1}), TENSORS + "\n\nThe failure occurred for item ['a']"),
    ((T, T.double()), "The values for attribute 'dtype' do not match: torch.float32 != torch.float64."),
    ((T, torch.ones(3)), "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3])."),
    (([1.], [2.]), "Scalars are not close!\n\nExpected 2.0 but got 1.0.\nAbsolute difference: 1.0 (up to 1e-07 "
                   "allowed)\nRelative difference: 0.5 (up to 1e-07 allowed)\n\nThe failure occurred for item [0]"),
    ((T.long(), T.long() + 1), "Tensor-likes are not equal!\n\nMismatched elements: 2 / 2 (100.0%)\n"
                               "Greatest absolute difference: 1 at index (0,)\n"
                               "Greatest relative difference: 0.5 at index (0,)"),
    ((T, torch.tensor([1., float("nan")])), "Tensor-likes are not close!\n\nMismatched elements: 1 / 2 (50.0%)\n"
     "Greatest absolute difference: nan at index (1,) (up to 1e-05 allowed)\n"
     "Greatest relative difference: nan at index (1,) (up to 1.3e-06 allowed)"),
    (([T], [T, T]), "The length of the sequences mismatch: 1 != 2"),
    ((1, 2), "Scalars are not equal!\n\nExpected 2 but got 1.\nAbsolute difference: 1\nRelative difference: 0.5"),
    ((True, False), "Booleans mismatch: True is not False"),
]


@pytest.mark.parametrize("pair, text", FAILURES, ids=range(len(FAILURES)))
def test_failures(pair, text):
    with pytest.raises(AssertionError) as caught:
        testing.assert_close(*pair)
    assert str(caught.value) == text


def test_what_passes():
    testing.assert_close([T, {"a": 1}], [T + 1e-7, {"a": 1}])
    testing.assert_close(T, T + 0.1, rtol=0, atol=0.2)
    testing.assert_close(T * float("nan"), T * float("nan"), equal_nan=True)
    testing.assert_close(None, None)
    testing.assert_close(T, T + 0.1, rtol=torch.tensor(0.0), atol=torch.tensor(0.2))
    large = torch.tensor([1, 2**63 + 5], dtype=torch.uint64)
    testing.assert_close(large, large.clone())
    with pytest.raises(AssertionError, match="Greatest absolute difference: 1 "):
        testing.assert_close(large, torch.tensor([1, 2**63 + 6], dtype=torch.uint64))
    testing.assert_allclose([1.0, 2], T)
    with pytest.raises(TypeError, match="No comparison pair"):
        testing.assert_close(T, 3)
    with pytest.raises(ValueError, match="no atol"):
        testing.assert_close(T, T, rtol=0.1)


def test_make_tensor():
    torch.manual_seed(0)
    x = testing.make_tensor((3,), dtype=torch.float32, device="cpu")
    assert [round(v, 4) for v in x.tolist()] == [-0.0674, 4.8280, -7.4074]
    assert testing.make_tensor((3,), dtype=torch.int64, device="cpu").tolist() == [-9, 2, -2]
    assert not testing.make_tensor(4, 2, dtype=torch.float64, noncontiguous=True).is_contiguous()
    assert testing.make_tensor((2, 2), dtype=torch.complex64, requires_grad=True).requires_grad
