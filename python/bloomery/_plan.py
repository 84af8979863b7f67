"""The rows of plan(), for people."""

from __future__ import annotations

from typing import NamedTuple

_ABILITIES = {1: "add", 4: "remove", 8: "count", 16: "value", 32: "merge", 64: "grow", 128: "forget"}


class PlanRow(NamedTuple):
    """A filter that there could be."""

    kind: str
    bits_per_key: float
    bytes: int
    probes: int
    fpr: float
    times_lower_bound: float
    lines: int  # cache lines that a lookup reads
    can: tuple[str, ...]


class Plan(list):
    """Rows, one for each kind that can have such a filter."""

    def __init__(self, keys, rows):
        super().__init__(
            PlanRow(*row[:-1], tuple(word for bit, word in _ABILITIES.items() if row[-1] & bit)) for row in rows)
        self.keys = keys

    def __getitem__(self, index):
        """A row by its place, or by the name of its kind."""
        if isinstance(index, str):
            for row in self:
                if row.kind == index:
                    return row
            raise KeyError(index)
        return super().__getitem__(index)

    _HEAD = ("kind", "bytes", "bits a key", "probes", "fpr", "x lower bound", "lines", "can")

    def _cells(self):
        for row in self:
            yield (row.kind, f"{row.bytes:,}", f"{row.bits_per_key:.2f}", str(row.probes), f"{row.fpr:.3g}",
                   f"{row.times_lower_bound:.2f}", str(row.lines), " ".join(row.can) or "static")

    def __str__(self):
        lines = [self._HEAD, *self._cells()]
        widths = [max(len(line[i]) for line in lines) for i in range(len(self._HEAD))]
        texts = []
        for line in lines:
            cells = [cell.ljust(width) if i in (0, len(line) - 1) else cell.rjust(width)
                     for i, (cell, width) in enumerate(zip(line, widths))]
            texts.append("  ".join(cells).rstrip())
        return "\n".join(texts)

    def _repr_html_(self):
        def row(tag, cells):
            return "<tr>" + "".join(f"<{tag}>{cell}</{tag}>" for cell in cells) + "</tr>"
        body = "".join(row("td", cells) for cells in self._cells())
        return f"<table><caption>{self.keys:,} keys</caption>{row('th', self._HEAD)}{body}</table>"

    def plot(self, axes=None):
        """Bars of the bits a key, by matplotlib; returns the axes."""
        if axes is None:
            from matplotlib import pyplot
            axes = pyplot.subplots()[1]
        axes.barh([row.kind for row in self], [row.bits_per_key for row in self])
        axes.invert_yaxis()
        axes.set_xlabel("bits a key")
        axes.set_title(f"{self.keys:,} keys")
        return axes
