"""Compare: measurements side by side in tables, one for each label."""

import enum
import math

from .common import Measurement, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]

_BEST, _GOOD, _BAD, _VERY_BAD = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m"
_BOLD, _END = "\033[1m", "\033[0m"


class Colorize(enum.Enum):
    """Whether times are coloured, and what with they are compared."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def _coloured(text, time, best):
    """The cell of a time beside the best one."""
    if time <= best * 1.01 or time <= best + 100e-9:
        return _BEST + _BOLD + text + _END * 2
    if time <= best * 1.1:
        return _GOOD + _BOLD + text + _END * 2
    if time >= best * 5:
        return _VERY_BAD + _BOLD + text + _END * 2
    if time >= best * 2:
        return _BAD + text + _END * 2
    return text


class _Column:
    """The times of one description; *cells* holds a Measurement or None for every row."""

    def __init__(self, cells, scale, trim, warn):
        self.cells, self.scale, self.trim, self.warn = cells, scale, trim, warn
        found = [m for m in cells if m is not None]
        digits = [math.ceil(math.log10(m.median / scale)) for m in found]
        figures = [max(m.significant_figures - d, 0) for m, d in zip(found, digits, strict=True)]
        self.decimals = min(figures) if trim else 1
        self.length = max(digits) + self.decimals + (1 if self.decimals else 0)
        self.warns = warn and any(m.has_warnings for m in found)

    def text(self, m):
        """The cell of a measurement."""
        if m is None:
            return ""
        time = m.median / self.scale
        if self.trim:
            time = trim_sigfig(time, m.significant_figures)
        text = f"{time:>{self.length}.{self.decimals}f}"
        if self.warns:
            text += f" (! {m.iqr / m.median * 100:.0f}%)" if m.has_warnings else " " * 7
        return text


class _Table:
    """The measurements of one label."""

    def __init__(self, results, colorize, trim, warn):
        self.results, self.colorize = results, colorize
        unit, scale = select_unit(min(m.median for m in results))
        self.unit, self.label = unit, results[0].label or ""
        self.rows = sorted(ordered_unique(map(self._row, results)), key=lambda row: (row[0], row[1] or ""))
        self.names = ordered_unique(map(self._column, results))
        placed = {(self._row(m), self._column(m)): m for m in results}
        self.grid = [[placed.get((row, name)) for name in self.names] for row in self.rows]
        self.columns = [_Column(list(cells), scale, trim, warn) for cells in zip(*self.grid, strict=True)]

    @staticmethod
    def _row(m):
        return m.num_threads, m.env, m.as_row_name

    @staticmethod
    def _column(m):
        return m.description

    def _best(self, row, i):
        threads = self.rows[row][0]
        cells = self.grid[row] if self.colorize is Colorize.ROWWISE else [
            line[i] for line, about in zip(self.grid, self.rows, strict=True) if about[0] == threads]
        return min(m.median for m in cells if m is not None)

    def render(self):
        """The table as text."""
        several = len({env for _, env, _ in self.rows}) > 1
        indent = max(len(env or "") for _, env, _ in self.rows) * several + 4
        heads, last = [], None
        for threads, env, name in self.rows:
            shown = f"({env})" if several and env and (threads, env) != last else ""
            heads.append("  " + shown.ljust(indent) + name)
            last = threads, env
        width = max(map(len, heads))
        texts = [[column.text(m) for m in column.cells] for column in self.columns]
        widths = [max(len(name or ""), *map(len, cells)) for name, cells in zip(self.names, texts, strict=True)]
        title = "  |  ".join([" " * width, *[(n or "").center(w) for n, w in zip(self.names, widths, strict=True)]])
        lines = [f" {self.label} ".center(len(title) - 2, "-").join("[]"), title]
        threads = None
        for i, head in enumerate(heads):
            if self.rows[i][0] != threads:
                threads = self.rows[i][0]
                lines.append(f"{threads} threads: ".ljust(len(title), "-"))
            cells = [head.ljust(width)]
            for j, column in enumerate(self.columns):
                text = texts[j][i].center(widths[j])
                if self.colorize is not Colorize.NONE and column.cells[i] is not None:
                    text = _coloured(text, column.cells[i].median, self._best(i, j))
                cells.append(text)
            lines.append("  |  ".join(cells))
        lines += ["", f"Times are in {unit_to_english(self.unit)}s ({self.unit}).", ""]
        if any(column.warns for column in self.columns):
            lines[-1:] = ["(! XX%) Measurement has high variance, where XX is the IQR / median * 100.", ""]
        return "\n".join(lines)


class Compare:
    """Tables of measurements: one for each label, a column for each description, a row for each sub-label.

    Measurements of equal tasks are merged.
    """

    def __init__(self, results):
        self._results = []
        self.extend_results(results)
        self._trim, self._colorize, self._warn = False, Colorize.NONE, False

    def __str__(self):
        results = Measurement.merge(self._results)
        labels = ordered_unique(m.label for m in results)
        return "\n".join(
            _Table([m for m in results if m.label == label], self._colorize, self._trim, self._warn).render()
            for label in labels
        )

    def extend_results(self, results):
        """Add measurements."""
        results = list(results)
        for result in results:
            if not isinstance(result, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(result)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self):
        """Show only figures that can be trusted."""
        self._trim = True

    def colorize(self, rowwise=False):
        """Colour the times: against the best of their column or, with *rowwise*, of their row."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self):
        """Mark times that vary much."""
        self._warn = True

    def print(self):
        """Print the tables."""
        print(str(self))
