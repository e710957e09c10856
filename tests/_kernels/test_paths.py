"""The search for contraction paths, against costs that opt_einsum's 'auto' found."""

import json
from math import prod
from pathlib import Path

import pytest
from shimtorch._kernels.paths import find_path

NETWORKS = json.loads((Path(__file__).parents[1] / "answers" / "paths.json").read_text())


def cost_of(rows, output, sizes, path):
    """Multiplications of a path: the product of all sizes of each pair, twice that where it sums."""
    live, cost, largest = [set(row) for row in rows], 0, 0
    for step in path:
        taken = [live[i] for i in step]
        live = [row for i, row in enumerate(live) if i not in step]
        labels = set().union(*taken)
        result = labels & set(output).union(*live)
        cost += prod(sizes[x] for x in labels) * (1 if result == labels else 2)
        live.append(result)
        if len(live) > 1:
            largest = max(largest, prod(sizes[x] for x in result))
    assert len(live) == 1
    return cost, largest


def terms(equation):
    left, output = equation.split("->")
    return left.split(","), output


def test_no_path_costs_more_than_opt_einsums():
    assert len(NETWORKS) == 200
    for network in NETWORKS:
        rows, output = terms(network["equation"])
        path, cost, largest = find_path(rows, output, network["sizes"])
        assert (cost, largest) == pytest.approx(cost_of(rows, output, network["sizes"], path))
        assert cost <= network["cost"] * (1 + 1e-9), network["equation"]


@pytest.mark.parametrize("strategy", ["auto", "optimal", "greedy", "left"])
def test_strategies_give_whole_paths(strategy):
    for network in NETWORKS[::20]:
        rows, output = terms(network["equation"])
        path, cost, _ = find_path(rows, output, network["sizes"], strategy)
        assert cost == pytest.approx(cost_of(rows, output, network["sizes"], path)[0])
        best = find_path(rows, output, network["sizes"])[1]
        assert cost >= best * (1 - 1e-9)


def test_a_network_has_one_path():
    rows, output = terms(NETWORKS[-1]["equation"])
    assert find_path(rows, output, NETWORKS[-1]["sizes"]) == find_path(rows, output, NETWORKS[-1]["sizes"])


def test_the_limit_holds_where_it_can():
    rows, sizes = ["ab", "bc", "cd"], {"a": 100, "b": 2, "c": 100, "d": 2}
    assert find_path(rows, "ad", sizes)[2] == 4
    assert find_path(["ab", "cd", "bd"], "ac", sizes, limit=250)[2] <= 250
    assert find_path(["a", "c"], "ac", sizes, limit=1)[0] == [(0, 1)]


def test_labels_without_number():
    rows = [(i, i + 1) for i in range(300)]
    path, cost, largest = find_path(rows, (0, 300), dict.fromkeys(range(301), 2))
    assert len(path) == 299
    assert largest == 4
    assert cost == 299 * 16


def test_single_tensors():
    assert find_path(["ab"], "a", {"a": 2, "b": 3}) == ([], 0, 0)
    assert find_path(["", ""], "", {}) == ([(0, 1)], 1, 0)
