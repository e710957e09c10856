"""What tensors print: against recorded answers of PyTorch 1.0 to 2.13, and written-out text for 0.3 and 0.4."""

import json
import warnings
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import shimtorch as torch
from shimtorch._core import printing

RECORD = json.loads((Path(__file__).parents[1] / "answers" / "printing.json").read_text(encoding="utf-8"))
NAMES = {"torch": torch, "nan": float("nan"), "inf": float("inf")}

nan, inf = float("nan"), float("inf")


@pytest.fixture(autouse=True)
def default_options():
    yield
    torch.set_printoptions(profile="default")


def recorded(era):
    """Test parameters: the cases that the versions of an era print, with the text."""
    parameters = []
    for number, case in enumerate(RECORD):
        for text, versions in case["prints"]:
            if any(version.startswith(era) for version in versions.split()):
                name = f"{number}-{case['expression'][:60]}"
                parameters.append(pytest.param(case["expression"], case["options"], text, id=name))
    return parameters


def evaluate(expression, options):
    torch.set_printoptions(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(expression, dict(NAMES))


@pytest.mark.parametrize("expression, options, text", recorded("2."))
def test_prints_as_2x(expression, options, text):
    assert repr(evaluate(expression, options)) == text


@pytest.mark.parametrize("expression, options, text", recorded("1."))
def test_prints_as_1x(expression, options, text):
    tensor = evaluate(expression, options)
    write = printing.parameter_repr if isinstance(tensor, torch.nn.Parameter) else printing.tensor_repr
    assert write(tensor, "1.0") == text


def test_default_dtype_is_not_named():
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert repr(torch.tensor([1.5])) == "tensor([1.5000])"
        assert repr(torch.tensor([1.5], dtype=torch.float32)) == "tensor([1.5000], dtype=torch.float32)"
        assert repr(torch.tensor([1.5j])) == "tensor([0.+1.5000j])"
        assert repr(torch.tensor([1.5j], dtype=torch.complex64)) == "tensor([0.+1.5000j], dtype=torch.complex64)"
    finally:
        torch.set_default_dtype(before)


def test_str_and_format_print_the_same():
    tensor = torch.tensor([1.5, 2.0])
    assert str(tensor) == f"{tensor}" == repr(tensor) == "tensor([1.5000, 2.0000])"


def test_a_subclass_may_give_its_own_contents():
    assert printing.tensor_repr(torch.ones(2, requires_grad=True), contents="X") == "tensor(X, requires_grad=True)"
    empty = torch.zeros(0, 2, dtype=torch.float64)
    assert printing.tensor_repr(empty, contents="X") == "tensor(X, size=(0, 2), dtype=torch.float64)"


def test_options_come_back():
    torch.set_printoptions(precision=7, sci_mode=True)
    with printing.printoptions(precision=2):
        assert repr(torch.tensor(0.125)) == "tensor(0.12)"
    assert printing.get_printoptions() == {
        "precision": 7, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": True,
    }  # fmt: skip


def test_a_large_tensor_is_not_copied_to_print():
    huge = torch.zeros(1, 1).expand(1 << 20, 1 << 20)  # 4 TiB, were it real
    assert repr(huge).count("0.,  ..., 0.") == 6


@pytest.mark.parametrize("style", ["2", "", None])
def test_unknown_style_is_refused(style):
    with pytest.raises(ValueError, match="unknown print style"):
        printing.tensor_repr(torch.ones(2), style)


shapes = st.lists(st.integers(1, 5), max_size=4).map(tuple)


@st.composite
def arrays(draw):
    shape = draw(shapes)
    elements = draw(st.lists(st.floats(width=64), min_size=(size := int(np.prod(shape))), max_size=size))
    return np.array(elements, dtype=np.float64).reshape(shape)


@settings(deadline=None, max_examples=60)
@given(arrays())
def test_with_all_digits_the_text_is_the_tensor(array):
    tensor = torch.tensor(array.tolist(), dtype=torch.float64)
    with printing.printoptions(precision=17, sci_mode=True, profile="full"):
        text = repr(tensor)
    again = eval(text, {**NAMES, "tensor": torch.tensor})
    np.testing.assert_array_equal(np.array(again.tolist()).reshape(array.shape), array)
    assert tuple(again.shape) == array.shape and again.dtype == torch.float64


@settings(deadline=None, max_examples=60)
@given(arrays(), st.integers(1, 3), st.integers(20, 120), st.integers(0, 60), st.sampled_from(["modern", "1.0", "0.4"]))
def test_shape_of_the_text(array, edge, width, threshold, style):
    with printing.printoptions(edgeitems=edge, linewidth=width, threshold=threshold):
        lines = printing.tensor_repr(torch.tensor(array.tolist(), dtype=torch.float32), style).split("\n")
    text = "".join(lines)
    assert text.startswith("tensor(") and text.endswith(")")
    assert text.count("[") == text.count("]")
    assert ("..." in text) == (array.size > threshold and max(array.shape, default=0) > 2 * edge)
    for line in lines[:-1]:
        assert line == "" or line.endswith(",") or line.endswith(" *")
        assert len(line) <= width + 3 or ", " not in line.strip()      # the brackets are not counted


@settings(deadline=None, max_examples=60)
@given(arrays(), st.integers(1, 3), st.integers(0, 60))
def test_shape_of_the_text_in_rows(array, edge, threshold):
    with printing.printoptions(edgeitems=edge, threshold=threshold):
        text = printing.tensor_repr(torch.tensor(array.tolist(), dtype=torch.float32), "0.3")
    sizes = "x".join(map(str, array.shape or (1,)))
    assert text.startswith("\n") and text.endswith(f"\n[torch.FloatTensor of size {sizes}]\n")


def rows(*lines):
    return "\n" + "\n".join(lines) + "\n"


ROWS = [
    (
        lambda: torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
        rows(" 1  2  3", " 4  5  6", "[torch.FloatTensor of size 2x3]"),
    ),
    (lambda: torch.tensor([1, -20, 3]), rows("  1", "-20", "  3", "[torch.LongTensor of size 3]")),
    (
        lambda: torch.tensor([0, 1, 255], dtype=torch.uint8),
        rows("   0", "   1", " 255", "[torch.ByteTensor of size 3]"),
    ),
    (lambda: torch.tensor([0.5, -0.25]), rows(" 0.5000", "-0.2500", "[torch.FloatTensor of size 2]")),
    (lambda: torch.tensor([[0.5, 10.0]]), rows("  0.5000  10.0000", "[torch.FloatTensor of size 1x2]")),
    (lambda: torch.tensor([1.5, nan, -inf]), rows(" 1.5000", "    nan", "   -inf", "[torch.FloatTensor of size 3]")),
    (lambda: torch.tensor([nan, nan]), rows("nan", "nan", "[torch.FloatTensor of size 2]")),
    (
        lambda: torch.tensor([0.0125, 0.0625]),
        rows("1.00000e-02 *", "  1.2500", "  6.2500", "[torch.FloatTensor of size 2]"),
    ),
    (
        lambda: torch.tensor([[1234567.5, -200000.25]], dtype=torch.float64),
        rows("1.00000e+06 *", "  1.2346 -0.2000", "[torch.DoubleTensor of size 1x2]"),
    ),
    (lambda: torch.tensor([1e-5, 10.0]), rows(" 1.0000e-05", " 1.0000e+01", "[torch.FloatTensor of size 2]")),
    (lambda: torch.tensor([1000000, 1]), rows(" 1.0000e+06", " 1.0000e+00", "[torch.LongTensor of size 2]")),
    (lambda: torch.tensor([99999, 1]), rows(" 99999", "     1", "[torch.LongTensor of size 2]")),
    (lambda: torch.tensor(3), rows(" 3", "[torch.LongTensor of size 1]")),
    (lambda: torch.tensor([]), "[torch.FloatTensor with no dimension]\n"),
    (
        lambda: torch.zeros(1, 10),  # more than two edges wide: at least five characters a number
        rows("    0     0     0     0     0     0     0     0     0     0", "[torch.FloatTensor of size 1x10]"),
    ),
    (
        lambda: torch.arange(10, 50).view(1, -1),
        rows(
            "",
            "Columns 0 to 12 ",
            "   10    11    12    13    14    15    16    17    18    19    20    21    22",
            "",
            "Columns 13 to 25 ",
            "   23    24    25    26    27    28    29    30    31    32    33    34    35",
            "",
            "Columns 26 to 38 ",
            "   36    37    38    39    40    41    42    43    44    45    46    47    48",
            "",
            "Columns 39 to 39 ",
            "   49",
            "[torch.LongTensor of size 1x40]",
        ),
    ),
    (
        lambda: torch.arange(8.0).view(2, 2, 2) / 4,
        rows(
            "(0 ,.,.) = ",
            "  0.0000  0.2500",
            "  0.5000  0.7500",
            "",
            "(1 ,.,.) = ",
            "  1.0000  1.2500",
            "  1.5000  1.7500",
            "[torch.FloatTensor of size 2x2x2]",
        ),
    ),
    (
        lambda: torch.arange(4.0).view(2, 1, 2, 1) / 64,
        rows(
            "(0 ,0 ,.,.) = ",
            "1.00000e-02 *",
            "   0.0000",
            "   1.5625",
            "",
            "(1 ,0 ,.,.) = ",
            "1.00000e-02 *",
            "   3.1250",
            "   4.6875",
            "[torch.FloatTensor of size 2x1x2x1]",
        ),
    ),
    (
        lambda: torch.arange(1000.0),
        rows("   0", "   1", "   2", " ⋮  ", " 997", " 998", " 999", "[torch.FloatTensor of size 1000]"),
    ),
    (
        lambda: torch.arange(1600).view(40, 40) % 7 / 2.0,
        rows(
            " 0.0000  0.5000  1.0000  ...   1.0000  1.5000  2.0000",
            " 2.5000  3.0000  0.0000  ...   0.0000  0.5000  1.0000",
            " 1.5000  2.0000  2.5000  ...   2.5000  3.0000  0.0000",
            "          ...             ⋱             ...          ",
            " 1.5000  2.0000  2.5000  ...   2.5000  3.0000  0.0000",
            " 0.5000  1.0000  1.5000  ...   1.5000  2.0000  2.5000",
            " 3.0000  0.0000  0.5000  ...   0.5000  1.0000  1.5000",
            "[torch.FloatTensor of size 40x40]",
        ),
    ),
    (
        lambda: torch.arange(1002).view(501, 2),
        rows(
            "    0     1",
            "    2     3",
            "    4     5",
            "     ⋮      ",
            "  996   997",
            "  998   999",
            " 1000  1001",
            "[torch.LongTensor of size 501x2]",
        ),
    ),
    (
        lambda: torch.arange(1002).view(2, 501),
        rows(
            "    0     1     2  ...    498   499   500",
            "  501   502   503  ...    999  1000  1001",
            "[torch.LongTensor of size 2x501]",
        ),
    ),
]


@pytest.mark.parametrize("make, text", ROWS)
def test_rows_of_0_3(make, text):
    assert printing.tensor_repr(make(), "0.3") == text


def test_rows_of_0_3_mark_what_they_leave_out():
    lines = printing.tensor_repr(torch.zeros(7, 2, 80, 1, dtype=torch.int64), "0.3").split("\n")
    matrix = ["   0", "   0", "   0", " ⋮  ", "   0", "   0", "   0"]
    assert lines[1:18] == ["(0 ,0 ,.,.) = "] + matrix + ["", "(0 ,1 ,.,.) = "] + matrix
    assert lines[18:21] == ["     ⋮ ", "", "(1 ,0 ,.,.) = "]
    skipped = lines.index("(4 ,0 ,.,.) = ")
    assert lines[skipped - 3:skipped] == ["...   ", "     ⋮ ", ""]
    assert [line for line in lines if line.startswith("(") and ",1 ," in line] == [
        f"({i} ,1 ,.,.) = " for i in (0, 1, 2, 4, 5, 6)
    ]
    assert lines[-2:] == ["[torch.LongTensor of size 7x2x80x1]", ""]


def test_column_groups_of_an_inner_matrix_start_further_in():
    text = printing.tensor_repr(torch.zeros(1, 2, 30, dtype=torch.int64), "0.3")
    zeros = "   0" * 19
    assert text == rows(
        "(0 ,.,.) = ",
        "",
        "Columns 0 to 18 ",
        "  " + zeros[1:],
        " " + zeros[1:],
        "",
        "Columns 19 to 29 ",
        "  " + zeros[1:44],
        " " + zeros[1:44],
        "[torch.LongTensor of size 1x2x30]",
    )


def test_sparse_of_0_3():
    i, v = torch.tensor([[1, 2]]), torch.tensor([[0.5, 1.0], [1.5, 2.0]])
    assert printing.tensor_repr(torch.sparse_coo_tensor(i, v, (10, 2)), "0.3") == (
        "SparseFloatTensor of size 10x2 with indices:\n"
        "\n 1  2\n[torch.LongTensor of size 1x2]\n"
        "and values:\n"
        "\n 0.5000  1.0000\n 1.5000  2.0000\n[torch.FloatTensor of size 2x2]\n"
    )
    empty = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), (2, 3))
    assert printing.tensor_repr(empty, "0.3") == (
        "SparseFloatTensor of size 2x3 with indices:\n[torch.LongTensor with no dimension]\n"
        "and values:\n[torch.FloatTensor with no dimension]\n"
    )


def test_variables_and_parameters_of_0_3():
    ones = torch.ones(1, 2)
    assert printing.variable_repr(ones) == "Variable containing:\n 1  1\n[torch.FloatTensor of size 1x2]\n"
    assert printing.parameter_repr(ones, "0.3") == "Parameter containing:\n 1  1\n[torch.FloatTensor of size 1x2]\n"


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: torch.tensor([[1.0, 2.0], [3.0, 4.0]]), "tensor([[ 1.,  2.],\n        [ 3.,  4.]])"),
        (lambda: torch.tensor([1, 2]), "tensor([ 1,  2])"),
        (lambda: torch.tensor([1, 0], dtype=torch.uint8), "tensor([ 1,  0], dtype=torch.uint8)"),
        (lambda: torch.tensor([0.5, -1.25]), "tensor([ 0.5000, -1.2500])"),
        (lambda: torch.tensor([0.5], dtype=torch.float64), "tensor([ 0.5000], dtype=torch.float64)"),
        (lambda: torch.tensor([-10000.0, 0.0]), "tensor([-10000.,      0.])"),
        (lambda: torch.tensor([[0.0125, -0.0625]]), "tensor(1.00000e-02 *\n       [[ 1.2500, -6.2500]])"),
        (lambda: torch.tensor(125875.0 + 0.5), "tensor(1.00000e+05 * 1.2588)"),
        (lambda: torch.tensor(0.5), "tensor(0.5000)"),
        (lambda: torch.tensor(3), "tensor(3)"),
        (lambda: torch.tensor([]), "tensor([])"),
        (lambda: torch.tensor([], dtype=torch.int64), "tensor([], dtype=torch.int64)"),
        (
            lambda: torch.arange(11.0),
            "tensor([  0.,   1.,   2.,   3.,   4.,   5.,   6.,   7.,   8.,   9.,\n         10.])",
        ),
        (lambda: torch.ones(2, requires_grad=True), "tensor([ 1.,  1.])"),
        (lambda: torch.arange(1001), "tensor([    0,     1,     2,  ...,   998,   999,  1000])"),
        (
            lambda: torch.sparse_coo_tensor(torch.tensor([[0, 2]]), torch.tensor([0.5, 1.0]), (3,)),
            "torch.sparse.FloatTensor of size (3,) with indices:\ntensor([[ 0,  2]])\n"
            "and values:\ntensor([ 0.5000,  1.0000])",
        ),
    ],
)
def test_brackets_of_0_4(make, text):
    assert printing.tensor_repr(make(), "0.4") == text


def test_dtypes_that_old_versions_lacked_print_in_old_styles():
    assert printing.tensor_repr(torch.tensor([1 + 2j]), "0.3") == "tensor([1.+2.j])"
    assert printing.tensor_repr(torch.tensor([1 + 2j]), "0.4") == "tensor([1.+2.j])"
    halves = torch.ones(2, dtype=torch.bfloat16)
    assert printing.tensor_repr(halves, "0.4") == "tensor([ 1.,  1.], dtype=torch.bfloat16)"
    assert printing.tensor_repr(torch.eye(2).to_sparse_csr(), "0.3").startswith("tensor(crow_indices=")
