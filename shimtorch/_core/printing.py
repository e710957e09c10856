"""How tensors print: ``tensor([[1., 2.]])`` and its kin, as PyTorch 1.0 and later write them.

The two older forms (``0.3`` and ``0.4``) live in ``printing_legacy`` and are imported when first asked for.
"""

from contextlib import contextmanager
from itertools import chain

from .autograd import shown_class
from .dtype import get_default_dtype

# Types whose repr starts with "tensor(". Any other subclass prints under its own name, since 2.x.
_PLAIN_TYPES = frozenset(("Tensor", "Variable", "Parameter"))

_COMPLEX_DEFAULTS = {"torch.float64": "torch.complex128"}

_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, float("inf"), 3, 80),
}


class PrintOptions:
    """The settings that ``set_printoptions`` writes; the attributes bear its arguments' names."""

    def __init__(self):
        self.precision, self.threshold, self.edgeitems, self.linewidth = _PROFILES["default"]
        self.sci_mode = None


PRINT_OPTS = PrintOptions()


def set_printoptions(precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None):
    """Choose how tensors print.

    ``precision``: digits after the point; ``threshold``: more elements than this are summarised by ``edgeitems`` at
    either end of each dimension; ``linewidth``: characters a line; ``profile``: ``"default"``, ``"short"`` or
    ``"full"``, the starting point for the others; ``sci_mode``: scientific notation on, off, or (None) as fits.
    """
    options = PRINT_OPTS
    if profile in _PROFILES:
        options.precision, options.threshold, options.edgeitems, options.linewidth = _PROFILES[profile]
    if precision is not None:
        options.precision = precision
    if threshold is not None:
        options.threshold = threshold
    if edgeitems is not None:
        options.edgeitems = edgeitems
    if linewidth is not None:
        options.linewidth = linewidth
    options.sci_mode = sci_mode


def get_printoptions():
    """The current settings as a dict that ``set_printoptions(**...)`` takes."""
    return dict(PRINT_OPTS.__dict__)


@contextmanager
def printoptions(**kwargs):
    """``set_printoptions(**kwargs)`` for the length of a ``with`` block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_repr(tensor, style="modern", contents=None):
    """The text of ``repr(tensor)``.

    ``style``: ``"modern"`` (2.x), ``"1.0"`` (1.0 to 1.13), ``"0.4"`` or ``"0.3"``; ``contents``: text to show, from
    1.0 on, in place of the elements.
    """
    if style == "modern" or style == "1.0":
        return _bracketed_repr(tensor, style, contents)
    if style != "0.3" and style != "0.4":
        raise ValueError(f"unknown print style {style!r}")
    if tensor.dtype.is_complex or str(tensor.layout) not in ("torch.strided", "torch.sparse_coo"):
        return _bracketed_repr(tensor, "1.0")  # such tensors came later
    from . import printing_legacy

    return printing_legacy.rows_repr(tensor) if style == "0.3" else printing_legacy.bracketed_repr(tensor)


def variable_repr(variable, style="0.3"):
    """The text of ``repr(variable)`` where Tensor and Variable are two types; later styles have one."""
    text = tensor_repr(variable, style)
    return "Variable containing:" + text if style == "0.3" else text


def parameter_repr(parameter, style="modern"):
    """The text of the repr of an ``nn.Parameter``."""
    text = tensor_repr(parameter, style)
    if style == "0.3":  # the text starts with a newline of its own
        return "Parameter containing:" + text
    if style == "modern" and type(parameter).__name__ not in _PLAIN_TYPES:
        text = "Parameter(" + text + ")"
    return "Parameter containing:\n" + text


def _bracketed_repr(tensor, style, contents=None):
    name = type(tensor).__name__
    prefix = "tensor(" if style == "1.0" or name in _PLAIN_TYPES else name + "("
    indent = len(prefix)
    shape = tuple(tensor.shape)
    dtype = str(tensor.dtype)
    default = str(get_default_dtype())
    usual = dtype in (default, "torch.int64", "torch.bool", _COMPLEX_DEFAULTS.get(default, "torch.complex64"))

    device = str(tensor.device)
    suffixes = [] if device == "cpu" else ["device='" + device + "'"]
    layout = str(tensor.layout)
    own_line = False
    if layout != "torch.strided":
        own_line = layout == "torch.sparse_coo"
        text = contents or _sparse_fields(tensor, layout, indent, style)
        suffixes += ["size=" + str(shape), "nnz=" + str(tensor._nnz())]
        if not usual:
            suffixes.append("dtype=" + dtype)
        suffixes.append("layout=" + layout)
    elif tensor.numel() == 0:
        text = contents or "[]"
        if len(shape) != 1:
            suffixes.append("size=" + str(shape))
        if dtype != default:  # no element shows whether these were to be integers
            suffixes.append("dtype=" + dtype)
    else:
        text = contents or _brackets(tensor, indent, style)
        if text == "[...]":
            suffixes.append("size=" + str(shape))
        if not usual:
            suffixes.append("dtype=" + dtype)

    if tensor.grad_fn is not None:
        suffixes.append("grad_fn=<" + shown_class(tensor.grad_fn) + ">")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    return _append(prefix + text, suffixes, indent, own_line)


def _append(text, suffixes, indent, own_line):
    """``text`` with the suffixes behind it, each on the line where it fits; ``own_line`` starts a new one first."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if own_line or used + len(suffix) + 2 > PRINT_OPTS.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
            own_line = False
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _sparse_fields(tensor, layout, indent, style):
    """``indices=tensor(...)``, ``values=tensor(...)`` and so on, one below the other."""
    if layout == "torch.sparse_coo":
        fields = [("indices", tensor._indices()), ("values", tensor._values())]
    elif layout in ("torch.sparse_csr", "torch.sparse_bsr"):
        fields = [("crow_indices", tensor.crow_indices()), ("col_indices", tensor.col_indices())]
        fields.append(("values", tensor.values()))
    else:
        fields = [("ccol_indices", tensor.ccol_indices()), ("row_indices", tensor.row_indices())]
        fields.append(("values", tensor.values()))
    texts = []
    for name, part in fields:
        head = name + "=tensor("
        if part.numel():
            texts.append(head + _brackets(part, indent + len(head), style) + ")")
        else:
            texts.append(head + "[], size=" + str(tuple(part.shape)) + ")")
    return (",\n" + " " * indent).join(texts)


def _brackets(tensor, indent, style):
    """The elements between brackets, numpy-like, wrapped to the line width. ``tensor`` has at least one element."""
    values, shape, cut = visible_elements(tensor)
    if not values:
        return "[...]"
    cells, width = _format(values, style)
    return lay_out(cells, shape, cut, width + 2, indent)


def visible_elements(tensor):
    """The elements that will show, as ``(flat list, shape, cut)``.

    Of a tensor with more than ``threshold`` elements only ``edgeitems`` at either end of a dimension show; ``cut``
    says which dimensions that shortens. Nothing but the visible elements is copied.
    """
    sizes = tuple(tensor.shape)
    cut = [False] * len(sizes)
    edge = PRINT_OPTS.edgeitems
    if tensor.numel() > PRINT_OPTS.threshold:
        cut = [size > 2 * edge for size in sizes]
        if edge == 0:
            return [], sizes, cut
    values = _edges(tensor, cut, 0) if True in cut else tensor.tolist()
    if not sizes:
        return [values], sizes, cut
    for _ in sizes[1:]:
        values = list(chain.from_iterable(values))
    return values, tuple(2 * edge if cut[dim] else size for dim, size in enumerate(sizes)), cut


def _edges(tensor, cut, dim):
    """Nested lists of ``tensor`` with the middle of the cut dimensions, from ``dim`` on, left out."""
    while dim < len(cut) and not cut[dim]:
        dim += 1
    if dim == len(cut):
        return tensor.tolist()
    edge = PRINT_OPTS.edgeitems
    first = _edges(tensor.narrow(dim, 0, edge), cut, dim + 1)
    last = _edges(tensor.narrow(dim, tensor.shape[dim] - edge, edge), cut, dim + 1)
    return _join_at(first, last, dim)


def _join_at(first, last, depth):
    if depth == 0:
        return first + last
    return [_join_at(first[i], last[i], depth - 1) for i in range(len(first))]


def lay_out(cells, shape, cut, cell_width, indent):
    """Nest formatted cells in brackets by ``shape``, ``indent`` characters from the left.

    ``cell_width`` is a cell with its separator; dimensions in ``cut`` show ``...`` in their middle.
    """
    dims = len(shape)
    if dims == 0:
        return cells[0]
    edge = PRINT_OPTS.edgeitems
    count = shape[-1]
    indent += dims - 1
    per_line = max(1, int((min(PRINT_OPTS.linewidth, 1 << 30) - indent) // cell_width))
    wrap = ",\n" + " " * (indent + 1)
    blocks = []
    for start in range(0, len(cells), count):
        row = cells[start:start + count]
        if cut[-1]:
            row.insert(edge, " ...")
        if len(row) > per_line:
            lines = [", ".join(row[i:i + per_line]) for i in range(0, len(row), per_line)]
            blocks.append("[" + wrap.join(lines) + "]")
        else:
            blocks.append("[" + ", ".join(row) + "]")
    for dim in range(dims - 2, -1, -1):
        separator = "," + "\n" * (dims - 1 - dim) + " " * indent
        indent -= 1
        count = shape[dim]
        groups = []
        for start in range(0, len(blocks), count):
            group = blocks[start:start + count]
            if cut[dim]:
                group.insert(edge, "...")
            groups.append("[" + separator.join(group) + "]")
        blocks = groups
    return blocks[0]


def _format(values, style):
    """The values as ``(strings padded to one width, that width)``."""
    kind = type(values[0])
    if kind is float:
        cells, width = _format_floats(values, style)
    elif kind is complex:
        return _format_complex(values, style)
    else:
        cells = [str(value) for value in values]
        width = max(map(len, cells))
    return [cell.rjust(width) for cell in cells], width


def _format_complex(values, style):
    reals, real_width = _format_floats([value.real for value in values], style)
    imags, imag_width = _format_floats([value.imag for value in values], style)

    def cell(real, imag):
        return real.rjust(real_width) + ("" if imag[0] == "-" else "+") + imag + "j"

    return list(map(cell, reals, imags)), real_width + imag_width + 1


def _format_floats(values, style):
    """The values as ``(strings, width)``. Zeros, infinities and NaN have no say in the notation or the width."""
    telling = [value for value in values if value and value - value == 0]
    if not telling:
        return _whole(values), 1
    sizes = [abs(value) for value in telling]
    low, high = min(sizes), max(sizes)
    whole = all(map(float.is_integer, sizes))
    scientific = high > 1e8 or high / low > 1000 or (low < 1e-4 and not whole)
    automatic = scientific
    if PRINT_OPTS.sci_mode is not None:
        scientific = PRINT_OPTS.sci_mode
    cells = _in_notation(values, scientific, whole)
    if style == "1.0":  # measured before a forced notation was applied
        measured = _in_notation(telling, automatic, whole)
    elif len(telling) == len(values):
        measured = cells
    else:
        measured = _in_notation(telling, scientific, whole)
    return cells, max(map(len, measured))


def _in_notation(values, scientific, whole):
    if scientific:
        pattern = f"%.{PRINT_OPTS.precision}e"
    elif whole:
        return _whole(values)
    else:
        pattern = f"%.{PRINT_OPTS.precision}f"
    return [pattern % value for value in values]


def _whole(values):
    return [f"{value:.0f}." if value - value == 0 else str(value) for value in values]
