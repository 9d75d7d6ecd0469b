"""Tables of a comparison: values first, then times, then where it ran."""

from __future__ import annotations

import importlib.util
import os
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.timing import machine
from benchmarks.turns import Timed, times_as_long

__all__ = [
    "Agreement",
    "Table",
    "absence",
    "amount",
    "compare_values",
    "duration",
    "multiple",
    "where",
]

PACKAGES = (
    "irbatch", "numpy", "numba", "pytrec_eval-terrier", "ir_measures", "ranx", "polars", "duckdb",
    "pandas", "pyarrow", "torch", "torchmetrics", "scikit-learn", "sentence-transformers",
)  # fmt: skip
AGREED = 1e-9
COMPARISON = ("work", "irbatch", "compared with", "takes", "ratio", "values")


@dataclass
class Table:
    """Rows of text under a title.

    Attributes:
        problems: what has to make the whole run fail, such as values that differ.
    """

    title: str
    columns: tuple[str, ...] = COMPARISON
    rows: list[tuple[str, ...]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def add(self, *cells: str) -> None:
        """Add a row; cells that are left out at its end are empty."""
        self.rows.append(cells + ("",) * (len(self.columns) - len(cells)))

    def compare(self, work: str, ours: Timed, peer: str, theirs: Timed) -> None:
        """Add a row of `COMPARISON`; the results of both are names to values."""
        agreement = compare_values(ours.result, theirs.result)
        self.check(f"{work}, {peer}", agreement)
        ratio = multiple(times_as_long(ours, theirs)) if agreement.equal else "none"
        cells = duration(ours.seconds), peer, duration(theirs.seconds), ratio, agreement.text
        self.add(work, *cells)

    def skip(self, work: str, peer: str, reason: str, ours: Timed | None = None) -> None:
        """Add a row of `COMPARISON` that says why there is nothing to compare."""
        mine = "" if ours is None else duration(ours.seconds)
        self.add(work, mine, peer, "", "", f"skipped: {reason}")

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
        lines = ["| " + " | ".join(cells) + " |" for cells in rows]
        return "\n".join([f"**{self.title}**", "", *lines, ""])


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


def duration(seconds: float) -> str:
    """Write seconds readably."""
    return f"{seconds:.2f} s" if seconds >= 1 else f"{seconds * 1e3:.1f} ms"


def multiple(ratio: float) -> str:
    """Write how many times something is something else."""
    return f"{ratio:.1f} ×" if ratio >= 2 else f"{ratio:.2f} ×"


def amount(size: float) -> str:
    """Write bytes as megabytes."""
    return f"{size / 1e6:.0f} MB" if size >= 1e7 else f"{size / 1e6:.1f} MB"


def where() -> str:
    """Name processor, cores, memory, Python and packages."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{_processor()}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}; "
        f"{machine(*PACKAGES)}"
    )


def _processor() -> str:
    """Return the processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
