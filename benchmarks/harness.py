"""Timing works in turn, so that a busy machine slows all; tables of what came out; processes."""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import irbatch
from benchmarks.rows import AIMS, UNITS

Values = Mapping[str, float]
Work = Callable[[], Any]
PATIENCE = 4.0  # seconds; what takes longer is called once only
AGREED = 1e-9
COMPARISON = ("work", "irbatch", "compared with", "takes", "ratio", "aim", "values")
JUDGED = (1, 20, 60)  # documents a query; USUAL where a section takes one number
USUAL = JUDGED[1]
PACKAGES = (
    "numpy", "numba", "pytrec_eval-terrier", "ir_measures", "ranx", "polars", "pandas",
    "pyarrow", "torch", "torchmetrics", "scikit-learn",
)  # fmt: skip
SLOW_IMPORTS = ("torch", "torchmetrics", "sklearn")  # not with --quick


# ---------------------------------------------------------------- timing


@dataclass(frozen=True)
class Timed:
    """What a work returned, the seconds that it took, round by round, and its memory if known."""

    result: Any
    rounds: tuple[float, ...]
    peak: int = 0

    @property
    def seconds(self) -> float:
        """The median."""
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        memory = f", {amount(self.peak)}" if self.peak else ""
        return duration(self.seconds) + memory

    def times_as_long_as(self, other: Timed) -> float:
        """Return the median over rounds."""
        if len(self.rounds) != len(other.rounds):
            return self.seconds / other.seconds
        return statistics.median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))

    def becomes(self, change: Callable[[Any], Any]) -> Timed:
        """Return it with its result changed, which is not timed."""
        return replace(self, result=change(self.result))


def in_turn(
    works: Mapping[str, Work], rounds: int, patience: float = PATIENCE,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Timed]:  # fmt: skip
    """Call each work once for its result, then time them: A B C, A B C.

    The first call counts only for a work that takes longer than `patience` seconds, and is then
    its only one: callers have each tool compile on something small before.
    """
    results: dict[str, Any] = {}

    def seconds(name: str) -> float:
        start = clock()
        results[name] = works[name]()
        return clock() - start

    first = {name: seconds(name) for name in works}
    taken: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name in works:
            if first[name] <= patience:
                taken[name].append(seconds(name))
    return {name: Timed(results[name], tuple(taken[name] or [first[name]])) for name in works}


def rounds_of(works: Mapping[str, Work], rounds: int) -> dict[str, list[Any]]:
    """Return what works return that time themselves, round by round: A B C, A B C.

    A first round, which fills caches of files and of compiled code, does not count.
    """
    found: dict[str, list[Any]] = {name: [] for name in works}
    for number in range(rounds + 1):
        for name, work in works.items():
            result = work()
            if number:
                found[name].append(result)
    return found


# ---------------------------------------------------------------- figures


def _digits(number: float) -> str:
    """Write three digits, or all before the point."""
    return f"{number:,.{2 if number < 9.995 else 1 if number < 99.95 else 0}f}"


def duration(seconds: float) -> str:
    """Write seconds with three digits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * size:
            return f"{_digits(seconds / size)} {unit}"
    return f"{_digits(seconds * 1e6)} µs"


def multiple(ratio: float) -> str:
    """Write how many times something is something else."""
    return f"{ratio:.1f} ×" if 2 <= ratio < 10 else f"{_digits(ratio)} ×"


def amount(size: float) -> str:
    """Write bytes as megabytes."""
    return f"{_digits(size / 1e6)} MB"


def where() -> str:
    """Name processor, cores, memory, Python and packages."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    told = Path("/proc/cpuinfo")
    lines = told.read_text().splitlines() if told.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    versions = []
    for name in PACKAGES:
        try:
            versions.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            versions.append(f"{name} not installed")
    return (
        f"{(names or [platform.machine()])[0]}, {os.cpu_count()} cores, {memory:.0f} GiB, "
        f"{platform.system()}; irbatch {irbatch.__version__}, Python {platform.python_version()}, "
        f"{platform.machine()}; {', '.join(versions)}"
    )


def compare_values(ours: Values, theirs: Values, tolerance: float = AGREED) -> tuple[bool, str]:
    """Compare values by name; a name that is missing on one side is a disagreement."""
    if ours.keys() != theirs.keys() or not ours:
        odd = sorted(ours.keys() ^ theirs.keys())
        return False, f"DIFFERENT: only on one side: {', '.join(odd[:3]) or 'nothing'}"
    name = max(ours, key=lambda each: abs(ours[each] - theirs[each]))
    largest = abs(ours[name] - theirs[name])
    if largest <= tolerance:  # not so for NaN
        return True, f"{len(ours)} equal, within {largest:.0e}"
    return False, f"DIFFERENT: {name} {ours[name]:.6g} and {theirs[name]:.6g}"


# ---------------------------------------------------------------- tables


@dataclass
class Table:
    """Rows of text under a title.

    Attributes:
        settings: of the run.
        keyed: the rows that have a key: an aim, or a place in the guide.
        missed: rows that don't reach their aim.
        problems: what has to make the whole run fail, such as values that differ.
    """

    title: str
    settings: Settings
    columns: tuple[str, ...] = COMPARISON
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
        if aim is None or figure is None or self.settings.quick:
            return "" if aim is None else str(aim)
        if aim.reached(figure):
            return f"{aim}: reached"
        self.missed.append(f"{key}: {figure / UNITS[aim.unit]:.3g}, aim {aim}")
        return f"{aim}: MISSED"

    def check(self, what: str, equal: bool, text: str) -> bool:
        """Keep a disagreement in mind; return whether there is none."""
        if not equal:
            self.problems.append(f"{self.title}: {what}: {text}")
        return equal

    def compare(self, work: str, ours: Timed, peer: str, theirs: Timed | str, *, key: str = "",
                tolerance: float = AGREED, some: bool = False) -> None:  # fmt: skip
        """Add a row of `COMPARISON`; the results of both are names to values.

        Args:
            work, ours, peer, key: of the row.
            theirs: what the peer took, or why there is nothing to compare.
            tolerance: of values.
            some: the peer has some of the values only.
        """
        aim = AIMS.get(key)
        own = ours.seconds if aim and aim.unit in ("µs", "ms", "s") else None
        if isinstance(theirs, str):
            self.add(work, str(ours), peer, "", "", f"skipped: {theirs}", key=key, figure=own)
            return
        mine = {name: ours.result[name] for name in theirs.result} if some else ours.result
        agreement = compare_values(mine, theirs.result, tolerance)
        times = theirs.times_as_long_as(ours)
        self.judge(work, ours, peer, theirs, agreement, multiple(times), own or times, key)

    def judge(self, work: str, ours: Timed, peer: str, theirs: Timed, agreement: tuple[bool, str],
              ratio: str, figure: float, key: str) -> None:  # fmt: skip
        """Add a row of both times, with their ratio if the values agree."""
        cells = work, str(ours), peer, str(theirs)
        if self.check(f"{work}, {peer}", *agreement):
            self.add(*cells, ratio, agreement[1], key=key, figure=figure)
        else:
            self.add(*cells, "none", agreement[1], key=key)

    def race(
        self, work: str, ours: Work, peers: Mapping[str, tuple[str | None, Work | None, str]],
        *, rounds: int | None = None, means: Callable[[Any], Values] = dict, **options: Any,
    ) -> Timed:  # fmt: skip
        """Time irbatch and peers in turn and add a row for each; return irbatch's time.

        Args:
            work: of the rows.
            ours: irbatch's; `means` makes values of what it returns.
            peers: name to why it is left out, if it is, what it does, and the row's key.
            rounds: other than the run's.
            means: as said.
            **options: of `compare`.
        """
        works = {"": ours} | {
            name: theirs for name, (missing, theirs, _) in peers.items() if theirs and not missing
        }
        timed = in_turn(works, rounds or self.settings.rounds)
        mine = timed[""].becomes(means)
        for name, (missing, _, key) in peers.items():
            theirs = missing or timed[name].becomes(means)
            self.compare(work, mine, name, theirs, key=key, **options)
        return mine

    def alone(self, work: str, ours: Timed, *, key: str = "", note: str = "") -> None:
        """Add a row of what is compared with nothing but its aim, in seconds."""
        self.add(work, str(ours), "", "", "", note, key=key, figure=ours.seconds)

    def measure_by(self, work: str, ours: Timed, standard: str, other: Timed, *, key: str = "",
                   agreement: tuple[bool, str] = (True, "")) -> None:  # fmt: skip
        """Add a row of `COMPARISON` that says how many times as long as a standard it takes."""
        times = ours.times_as_long_as(other)
        ratio = f"{multiple(times)} as long"
        self.judge(work, ours, standard, other, agreement, ratio, times, key)

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


def markdown_line(cells: Iterable[str]) -> str:
    """Write a row of GitHub Markdown."""
    return f"| {' | '.join(cells)} |"


@dataclass
class Settings:
    """Sizes of a run, and what its sections share: rankings, and documents in each.

    Attributes:
        folder: for files, gone at the end.
        quick: leave out what takes longer than the tests can wait.
        rounds: how often each work is timed.
    """

    folder: Path
    quick: bool = False
    rounds: int = 0
    kept: dict[Any, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.queries, self.depth = (60, 50) if self.quick else (6_980, 1_000)
        self.rounds = self.rounds or (1 if self.quick else 3)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what is made once."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def size(self, judged: int | None = None) -> str:
        """Describe the whole problem."""
        text = f"{self.queries:,} queries × {self.depth:,} documents"
        return text if judged is None else f"{text}, {judged} judged"

    def absence(self, module: str, package: str = "") -> str | None:
        """Say why there is no comparison with a tool, if there is none."""
        missing = absence(module, package)
        if missing is None and self.quick and module in SLOW_IMPORTS:
            return "left out by --quick"
        return missing


def absence(module: str, package: str = "") -> str | None:
    """Say that a module isn't there, and how to get it."""
    if importlib.util.find_spec(module) is None:
        return f"not installed (pip install {package or module})"
    return None


# ---------------------------------------------------------------- processes


def output_of(command: list[str], environment: Mapping[str, str] | None = None) -> str:
    """Return what a command prints.

    Raises:
        RuntimeError: with the end of its error output, when it fails.
    """
    # As on anyone's machine, where Python keeps the bytecode of what it has imported before.
    inherited = {name: os.environ[name] for name in os.environ.keys() - {"PYTHONDONTWRITEBYTECODE"}}
    environment = {**inherited, **(environment or {})}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{command[:3]} failed: {done.stderr.strip()[-600:]}")
    return done.stdout


def json_of(
    arguments: list[str], environment: Mapping[str, str] | None = None, python: str = sys.executable
) -> Any:
    """Return what the last line says that Python prints when it is started with arguments."""
    return json.loads(output_of([python, *arguments], environment).splitlines()[-1])
