"""Tables of a comparison: values first, then times, then aims."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from benchmarks.aims import AIMS, UNITS
from benchmarks.timing import multiple
from benchmarks.turns import Timed, times_as_long

__all__ = [
    "COMPARISON",
    "Agreement",
    "Table",
    "absence",
    "compare_values",
    "markdown_line",
]

AGREED = 1e-9
TIMES = ("ms", "s")  # units of aims that are of irbatch's own time
COMPARISON = ("work", "irbatch", "compared with", "takes", "ratio", "aim", "values")


@dataclass
class Table:
    """Rows of text under a title.

    Attributes:
        whole: whether sizes are those that aims are of.
        keyed: the rows that have a key: an aim, or a place in the guide.
        missed: rows that don't reach their aim.
        problems: what has to make the whole run fail, such as values that differ.
    """

    title: str
    columns: tuple[str, ...] = COMPARISON
    whole: bool = True
    rows: list[tuple[str, ...]] = field(default_factory=list)
    keyed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    missed: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, *cells: str, key: str = "", figure: float | None = None) -> None:
        """Add a row of all cells but the aim's; those that are left out at its end are empty."""
        row = list(cells) + [""] * (len(self.columns) - len(cells))
        if "aim" in self.columns:
            place = self.columns.index("aim")
            row = [*row[:place], self._judge(key, figure), *row[place:-1]]
        self.rows.append(tuple(row))
        if key:
            self.keyed[key] = self.rows[-1]

    def _judge(self, key: str, figure: float | None) -> str:
        """Write the aim of a row, if it has one, and whether it is reached."""
        aim = AIMS.get(key)
        if aim is None or figure is None or not self.whole:
            return "" if aim is None else str(aim)
        if aim.reached(figure):
            return f"{aim}: reached"
        self.missed.append(f"{key}: {figure / UNITS[aim.unit]:.3g}, aim {aim}")
        return f"{aim}: MISSED"

    def compare(self, work: str, ours: Timed, peer: str, theirs: Timed, *, key: str = "",
                tolerance: float = AGREED, some: bool = False) -> None:  # fmt: skip
        """Add a row of `COMPARISON`; the results of both are names to values.

        `some`: the peer has some of the values only.
        """
        mine = ours.result
        if some:
            mine = {name: mine[name] for name in theirs.result}
        agreement = compare_values(mine, theirs.result, tolerance)
        self.check(f"{work}, {peer}", agreement)
        times = times_as_long(ours, theirs)
        cells = work, str(ours), peer, str(theirs)
        if agreement.equal:
            aim = AIMS.get(key)
            figure = ours.seconds if aim and aim.unit in TIMES else times
            self.add(*cells, multiple(times), agreement.text, key=key, figure=figure)
        else:
            self.add(*cells, "none", agreement.text, key=key)

    def alone(self, work: str, ours: Timed, *, key: str = "", note: str = "") -> None:
        """Add a row of what is compared with nothing but its aim, in seconds."""
        self.add(work, str(ours), "", "", "", note, key=key, figure=ours.seconds)

    def measure_by(self, work: str, ours: Timed, standard: str, other: Timed, *,
                   key: str = "", agreement: Agreement | None = None) -> None:  # fmt: skip
        """Add a row of `COMPARISON` that says how many times as long as a standard it takes."""
        times = times_as_long(other, ours)
        cells = work, str(ours), standard, str(other)
        agreement = agreement or Agreement(True, "")
        self.check(f"{work}, {standard}", agreement)
        if agreement.equal:
            self.add(*cells, f"{multiple(times)} as long", agreement.text, key=key, figure=times)
        else:
            self.add(*cells, "none", agreement.text, key=key)

    def skip(
        self, work: str, peer: str, reason: str, ours: Timed | None = None, *, key: str = ""
    ) -> None:
        """Add a row of `COMPARISON` that says why there is nothing to compare."""
        aim = AIMS.get(key)
        figure = ours.seconds if ours and aim and aim.unit in TIMES else None
        cells = "" if ours is None else str(ours), peer, "", "", f"skipped: {reason}"
        self.add(work, *cells, key=key, figure=figure)

    def check(self, what: str, agreement: Agreement) -> None:
        """Keep a disagreement in mind."""
        if not agreement.equal:
            self.problems.append(f"{self.title}: {what}: {agreement.text}")

    def text(self) -> str:
        """Return the table as aligned plain text."""
        lines = [self.columns, *self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in lines
        ]
        rule = "  ".join("-" * width for width in widths)
        return "\n".join([self.title, "", padded[0], rule, *padded[1:], ""])

    def markdown(self) -> str:
        """Return the table as GitHub Markdown."""
        rows = [self.columns, ("---",) * len(self.columns), *self.rows]
        return "\n".join([f"**{self.title}**", "", *map(markdown_line, rows), ""])


def markdown_line(cells: Iterable[str]) -> str:
    """Write a row of GitHub Markdown."""
    return f"| {' | '.join(cells)} |"


@dataclass(frozen=True)
class Agreement:
    """How two tools' values compare."""

    equal: bool
    text: str


def compare_values(
    ours: Mapping[str, float], theirs: Mapping[str, float], tolerance: float = AGREED
) -> Agreement:
    """Compare values by name; a name that is missing on one side is a disagreement."""
    if ours.keys() != theirs.keys() or not ours:
        odd = sorted(ours.keys() ^ theirs.keys())
        return Agreement(False, f"DIFFERENT: only on one side: {', '.join(odd[:3]) or 'nothing'}")
    name = max(ours, key=lambda each: abs(ours[each] - theirs[each]))
    largest = abs(ours[name] - theirs[name])
    if largest <= tolerance:  # not so for NaN
        return Agreement(True, f"{len(ours)} equal, within {largest:.0e}")
    return Agreement(False, f"DIFFERENT: {name} {ours[name]:.6g} and {theirs[name]:.6g}")


def absence(module: str, package: str) -> str | None:
    """Say that a module isn't there, and how to get it."""
    if importlib.util.find_spec(module) is None:
        return f"not installed (pip install {package})"
    return None
