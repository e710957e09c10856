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


def add_ratios(row, subject, reference, rivals):
    """Put the ratios of the subject to the reference, and to rivals, into a row that has figures of both."""
    cell, base = row["columns"].get(subject, {}), row["columns"].get(reference, {})
    for rival in rivals:
        other = row["columns"].get(rival, {})
        if "min" in cell and "min" in other and not failure(cell) and not failure(other):
            cell.setdefault("rivals", {})[rival] = cell["min"] / other["min"]
    if "min" in cell and "min" in base and "wrong" not in cell:
        cell["ratio"] = cell["min"] / base["min"]
        cell["doubtful"] = not 1 / DOUBTFUL < cell["ratio"] / (cell["median"] / base["median"]) < DOUBTFUL


def failure(cell):
    """The word for a cell without a usable figure and why, or None."""
    return next(((word, cell[word]) for word in ("wrong", "missing", "error") if word in cell), None)


def head(subject, reference, rivals):
    columns = f"{subject:>14}" + (f"{reference:>14}{'ratio':>10}" if reference else "")
    return f"{'':32}{columns}" + "".join([f"{'to ' + rival:>15}" for rival in rivals])


def line(row, subject, reference, rivals=()):
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
    for rival in rivals:
        ratio = cell.get("rivals", {}).get(rival)
        text += f"{'' if ratio is None else f'{ratio:.3f}':>15}"
    return text + reasons


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


def rival_means(rows, subject):
    """{rival: {group: (mean of the ratios to it, their number)}}."""
    rivals = dict.fromkeys([name for row in rows for name in row["columns"].get(subject, {}).get("rivals", ())])
    return {rival: geometric_means([{"group": row["group"], "columns": {subject: {"ratio": row["columns"].get(
        subject, {}).get("rivals", {}).get(rival)}}} for row in rows], subject) for rival in rivals}
