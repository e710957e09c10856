"""Parts of the margin losses' ops that do not fit each other are refused, not read."""
import pytest

import shimtorch as torch
from shimtorch._ops import margins

SCORES, CLASSES, LABELS = torch.zeros(4, 3), torch.zeros(4, dtype=torch.int64), torch.zeros(4, 3, dtype=torch.int64)


@pytest.mark.parametrize("call", [
    lambda: margins.multi_margin(SCORES, CLASSES[:3]),
    lambda: margins.multi_margin(SCORES[0], CLASSES[:1]),
    lambda: margins.multi_margin(SCORES, CLASSES, torch.ones(2)),
    lambda: margins.multi_margin_backward(torch.ones(3), SCORES, CLASSES, None, False, 1.0),
    lambda: margins.multilabel_margin(SCORES, CLASSES),
    lambda: margins.multilabel_margin_backward(torch.ones(5), SCORES, LABELS),
])
def test_sizes(call):
    with pytest.raises(RuntimeError, match="margin_loss: inconsistent sizes"):
        call()


@pytest.mark.parametrize("place", [-1, 3])
def test_classes(place):
    with pytest.raises(RuntimeError, match="target out of range"):
        margins.multi_margin(SCORES, CLASSES + place)
