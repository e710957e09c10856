"""How tensors printed before PyTorch 1.0: rows of numbers with a footer (0.3), and the first bracketed form (0.4).

Both choose one number format for the whole tensor, and may take a power of ten out of it as a common factor.
"""

import math
from itertools import product

import numpy as np

from . import printing
from .dtype import get_default_dtype

PRINT_OPTS = printing.PRINT_OPTS

_SMALLEST_EXPONENT = -323  # of a double: a common factor below would be zero


class _NumberFormat:
    """``pattern % (value / scale)`` prints a number in at least ``width`` characters."""

    __slots__ = ("pattern", "scale", "width")

    def __init__(self, pattern, scale, width):
        self.pattern, self.scale, self.width = pattern, scale, width

    def cells(self, values):
        pattern, scale = self.pattern, self.scale
        return [pattern % (value / scale) for value in values]

    def row(self, values, separator=" "):
        return separator.join(self.cells(values))

    def factor(self):
        return f"{self.scale:.5e} *" if self.scale != 1 else ""


def _number_format(array, least_width=0, point=False):
    """The format for the numbers of ``array``; ``point``: whole numbers end in a point."""
    sizes = np.abs(array.astype(np.float64)).ravel()
    finite = np.isfinite(sizes)
    if not finite.all():
        least_width = max(least_width, 3)  # "nan" and "inf"
        sizes = sizes[finite] if finite.any() else np.zeros(1)
    low, high = _exponent(float(sizes.min())), _exponent(float(sizes.max()))
    precision = PRINT_OPTS.precision
    if not (sizes != np.ceil(sizes)).any():
        if high > precision + 1:
            return _NumberFormat(f"%11.{precision}e", 1, max(least_width, 7 + precision))
        width = max(least_width, high + 1)
        if point:
            return _NumberFormat(f"%{width}.0f.", 1, width + 1)
        return _NumberFormat(f"%{width}.0f", 1, width)
    if high - low > precision:
        width = max(least_width, 7 + precision + (abs(high) > 99 or abs(low) > 99))
        return _NumberFormat(f"%{width}.{precision}e", 1, width)
    scale = 1
    if high > precision + 1 or high < 0:
        width = max(least_width, 7)
        scale = math.pow(10, max(high - 1, _SMALLEST_EXPONENT))
    else:
        width = max(least_width, 7 if high == 0 else high + 6)
    return _NumberFormat(f"%{width}.{precision}f", scale, width)


def _exponent(size):
    """Digits before the point; negative where zeros follow the point."""
    return math.floor(math.log10(size)) + 1 if size else 1


def _array(tensor):
    """The elements as an ndarray."""
    tensor = getattr(tensor, "data", tensor)
    if tensor.is_cuda:
        tensor = tensor.cpu()
    return (tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor).numpy()


def rows_repr(tensor):
    """``repr(tensor)`` in the form of 0.3: an empty line, rows, and ``[torch.FloatTensor of size 2x3]``."""
    kind = tensor.type()
    sizes = "x".join(str(size) for size in tensor.shape)
    if tensor.is_sparse:
        name = "Sparse" + kind.rpartition(".")[2]
        indices, values = rows_repr(tensor._indices()), rows_repr(tensor._values())
        return f"{name} of size {sizes} with indices:\n{indices}and values:\n{values}"
    if tensor.numel() == 0:
        return f"[{kind} with no dimension]\n"
    array = _array(tensor)
    if array.ndim == 0:
        array, sizes = array.reshape(1), "1"
    if array.ndim == 1:
        text = _vector(array)
    elif array.ndim == 2:
        rows, columns = array.shape
        edge = PRINT_OPTS.edgeitems
        shortened = rows > 2 * edge or columns > 2 * edge
        text = _matrix(array, _number_format(array, 5 if shortened else 0), "", False)
    else:
        text = _matrices(array)
    place = f" (GPU {tensor.get_device()})" if tensor.is_cuda else ""
    return f"\n{text}[{kind} of size {sizes}{place}]\n"


def _factor_line(numbers):
    factor = numbers.factor()
    return factor + "\n" if factor else ""


def _centered(text, width):
    return f"{text:^{width}}"


def _vector(array):
    """One number a line."""
    numbers = _number_format(array)
    indent = " " if numbers.scale != 1 else ""
    edge = PRINT_OPTS.edgeitems
    if array.size < PRINT_OPTS.threshold:
        lines = numbers.cells(array.tolist())
    else:
        lines = numbers.cells(array[:edge].tolist())
        lines.append(_centered("⋮", numbers.width))
        lines += numbers.cells(array[len(array) - edge:].tolist())
    return _factor_line(numbers) + "".join(indent + line + "\n" for line in lines)


def _matrix(array, numbers, indent, truncate):
    """Rows of numbers; a wide matrix is split into groups of columns, a large one (or ``truncate``) shows its edges."""
    rows, columns = array.shape
    edge = PRINT_OPTS.edgeitems
    tall, wide = rows > 2 * edge, columns > 2 * edge
    if not truncate and (array.size < PRINT_OPTS.threshold or not (tall or wide)):
        return _column_groups(array, numbers, indent)

    if wide:
        def line(row):
            left, right = numbers.row(row[:edge].tolist()), numbers.row(row[columns - edge:].tolist())
            return f"{indent}{left}  ...  {right}\n"
    else:
        def line(row):
            return indent + numbers.row(row.tolist()) + "\n"

    text = _factor_line(numbers)
    if not tall:
        return text + "".join(map(line, array))
    if wide:
        side = _centered("...", (numbers.width + 1) * edge - 1)
        middle = f"{indent}{side}   ⋱   {side}\n"
    else:
        middle = _centered("⋮", len(numbers.row(array[0].tolist())) + 1) + "\n"
    return text + "".join(map(line, array[:edge])) + middle + "".join(map(line, array[rows - edge:]))


def _column_groups(array, numbers, indent):
    columns = array.shape[1]
    per_line = max(1, int((min(PRINT_OPTS.linewidth, 1 << 30) - len(indent)) // (numbers.width + 1)))
    row_indent = indent + " " if numbers.scale != 1 else indent
    text = ""
    for first in range(0, columns, per_line):
        group = array[:, first:first + per_line]
        if per_line < columns:
            # The indent here is the heading's, so the first row (or the factor) of an inner group starts further in.
            text += f"\nColumns {first} to {first + group.shape[1] - 1} \n{indent}"
        text += _factor_line(numbers)
        for row in group.tolist():
            text += row_indent + numbers.row(row) + "\n"
    return text


def _matrices(array):
    """The matrices of an array of three or more dimensions, each under its index: ``(0 ,.,.) =``."""
    leading, (rows, columns) = array.shape[:-2], array.shape[-2:]
    edge = PRINT_OPTS.edgeitems
    numbers = _number_format(array, 3 if rows > 2 * edge or columns > 2 * edge else 0)
    truncate = array.size >= PRINT_OPTS.threshold
    index_width = max(2, len(str(max(array.shape))))
    shown = [
        [*range(edge), *range(size - edge, size)] if truncate and size > 2 * edge else range(size) for size in leading
    ]
    text, before = "", None
    for index in product(*shown):
        if before is not None:
            if truncate:
                text += _marks(before, index, index_width + 1)
            text += "\n"
        before = index
        heading = ",".join(_centered(str(i), index_width) for i in index)
        text += f"({heading},.,.) = \n" + _matrix(array[index], numbers, " ", truncate)
    return text


def _marks(before, index, width):
    """Lines that say which dimensions skipped entries (``...``) or started over between two indices."""
    moved = next(dim for dim, new in enumerate(index) if new != before[dim])
    dims = range(len(index))
    text = ""
    if index[moved] - before[moved] > 1:
        text += "".join(_centered("..." if dim == moved else "", width) for dim in dims) + "\n"
    if moved + 1 < len(index):
        text += " " + "".join(_centered("⋮" if dim > moved else "", width) for dim in dims) + "\n"
    return text


def bracketed_repr(tensor):
    """``repr(tensor)`` in the form of 0.4.0: ``tensor([ 1.,  2.])``, with a common factor where one is taken out."""
    if tensor.is_sparse:
        sizes = str(tuple(tensor.shape)).replace(" ", "")
        indices, values = bracketed_repr(tensor._indices()), bracketed_repr(tensor._values())
        return f"{tensor.type()} of size {sizes} with indices:\n{indices}\nand values:\n{values}"
    dtype, default = str(tensor.dtype), str(get_default_dtype())
    suffix = "" if dtype == default else ", dtype=" + dtype
    if tensor.numel() == 0:
        text = "[]" if tensor.dim() == 1 else "[], size=" + str(tuple(tensor.shape))
    else:
        array = _array(tensor)
        numbers = _number_format(array, point=array.dtype.kind == "f")
        factor = numbers.factor()
        if array.ndim == 0:
            text = (factor + " " if factor else "") + numbers.row([array.item()]).lstrip()
        else:
            values, shape, cut = printing.visible_elements(tensor)
            text = printing.lay_out(numbers.cells(values), shape, cut, numbers.width + 3, len("tensor("))
            if factor:
                text = factor + "\n" + " " * len("tensor(") + text
        if dtype == "torch.int64":
            suffix = ""
    device = str(tensor.device)
    if device != "cpu":
        suffix += f", device='{device}'"
    return f"tensor({text}{suffix})"
