"""Rows of figures as text: times, ratios of the minima, geometric means."""

import math

UNITS = (("s", 1), ("ms", 1e3), ("us", 1e6), ("ns", 1e9))
DOUBTFUL = 1.25                   # a ratio of medians that differs by this factor from that of the minima


def seconds(value):
    """A time in the unit that suits it."""
    unit, scale = next(((unit, scale) for unit, scale in UNITS if value * scale >= 1), UNITS[-1])
    return f"{value * scale:.3g} {unit}"


def amount(value, unit):
    return seconds(value) if unit == "s" else f"{value:.4g} {unit}"


def add_ratios(row, subject, reference, peers=()):
    """Put the ratios of the subject to the reference and to other libraries into a row that has figures of both."""
    cell, base = row["columns"].get(subject, {}), row["columns"].get(reference, {})
    for name in peers:
        if "min" in cell and "min" in row["columns"].get(name, {}):
            cell.setdefault("to", {})[name] = cell["min"] / row["columns"][name]["min"]
    if "min" in cell and "min" in base and "wrong" not in cell:
        cell["ratio"] = cell["min"] / base["min"]
        cell["doubtful"] = not 1 / DOUBTFUL < cell["ratio"] / (cell["median"] / base["median"]) < DOUBTFUL


def failure(cell):
    """The word for a cell without a usable figure and why, or None."""
    return next(((word, cell[word]) for word in ("wrong", "missing", "error") if word in cell), None)


def head(subject, reference, peers=()):
    """The line above the rows; `peers` are other libraries, whose columns have the ratio of the subject to them."""
    columns = f"{subject:>14}" + (f"{reference:>14}{'ratio':>10}" if reference else "")
    return f"{'':32}{columns}" + "".join(f"{'to ' + name:>18}" for name in peers)


def line(row, subject, reference, peers=()):
    """A row as text, with the reasons of failures under it."""
    text, reasons = f"{row['case']:32}", ""
    for name in filter(None, (subject, reference)):
        cell = row["columns"].get(name, {})
        failed = failure(cell)
        text += f"{amount(cell['min'], row['unit']) if 'min' in cell else failed[0] if failed else '':>14}"
        if failed:
            reasons += f"\n    {name}: {failed[0]}: {failed[1]}"
    cell = row["columns"].get(subject, {})
    if "ratio" in cell:
        text += f"{'~' if cell['doubtful'] else '':>2}{cell['ratio']:8.3f}"
    elif peers:
        text += " " * 10 * bool(reference)
    for name in peers:
        text += f"{cell['to'][name]:18.3f}" if name in cell.get("to", {}) else " " * 18
    return text.rstrip() + reasons


def startup_line(row, subject, reference):
    """A row of the startup group as text: figures of NumPy and the ratio to it are added."""
    text = line(row, subject, reference)
    cell, numpy = row["columns"].get(subject), row["columns"].get("numpy")
    if cell and numpy:
        text += f"   numpy {amount(numpy['min'], row['unit'])}, ratio to it {cell['min'] / numpy['min']:.3f}"
    return text


def geometric_means(rows, subject):
    """{group: (mean of the ratios, their number)}."""
    groups = {}
    for row in rows:
        ratio = row["columns"].get(subject, {}).get("ratio")
        if ratio is not None:
            groups.setdefault(row["group"], []).append(math.log(ratio))
    return {group: (math.exp(sum(logs) / len(logs)), len(logs)) for group, logs in groups.items()}
