"""The memory that a run file takes, and one ten times as long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import Problem, write_run
from benchmarks.names import usual
from benchmarks.processes import Paths, in_new_process
from benchmarks.report import Table, amount, compare_values, duration
from benchmarks.settings import Settings

__all__ = ["tables"]

COLUMNS = ("run file", "judged queries", "takes", "reads a second", "peak memory", "aim", "values")
COPIES = 10


def tables(settings: Settings) -> Iterator[Table]:
    """Evaluate the file, and copies of it under further query ids, not judged and judged."""
    judged = settings.judged[0]
    problem = settings.problem(settings.queries, settings.depth, judged)
    names = usual(settings.depth)
    files = settings.files(problem, f"judged{judged}")
    small = settings.files(settings.small(judged), f"small{judged}")
    long_run, long_qrels = settings.folder / "long.run", settings.folder / "long.qrels"
    write_run(problem, long_run, COPIES)
    _write_qrels(problem, long_qrels)
    title = f"memory of irbatch: {settings.size(judged)}, and {COPIES} times as many queries"
    table = Table(title, COLUMNS)
    expected = None
    for pair in (files, (files[0], long_run), (long_qrels, long_run)):
        found = _row(table, pair, small, names, expected)
        expected = found if expected is None else expected
    long_run.unlink()
    yield table


def _row(
    table: Table, files: Paths, small: Paths, names: list[str], expected: dict[str, float] | None
) -> dict[str, float]:
    """Evaluate in a new process; all the files' means are those of the first."""
    found = in_new_process("irbatch", files, small, names)
    size = files[1].stat().st_size
    queries = len({line.split(b" ", 1)[0] for line in files[0].read_bytes().splitlines()})
    cells = [amount(size), f"{queries:,}", duration(found.seconds),
             amount(size / found.seconds), amount(found.peak), "≤ 400 MB"]  # fmt: skip
    if expected is not None:
        agreement = compare_values(expected, found.values)
        table.check(amount(size), agreement)
        cells.append(agreement.text)
    table.add(*cells)
    return found.values


def _write_qrels(problem: Problem, path: Path) -> None:
    """Judge the copies as `write_run` numbers them."""
    with path.open("w") as file:
        for copy in range(COPIES):
            queries = np.repeat(problem.queries + copy * len(problem.queries),
                                problem.judged.shape[1])  # fmt: skip
            cells = queries.tolist(), problem.judged.ravel().tolist(), problem.grades.ravel()
            rows = zip(cells[0], cells[1], cells[2].tolist(), strict=True)
            file.writelines(f"{query} 0 {document} {grade}\n" for query, document, grade in rows)
