"""The memory that a run file takes, and one ten times as long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.data import Problem, write_run
from benchmarks.names import usual
from benchmarks.processes import Paths, in_new_process
from benchmarks.report import Table, compare_values
from benchmarks.settings import Settings
from benchmarks.timing import amount, duration
from benchmarks.turns import Timed

__all__ = ["tables"]

COLUMNS = ("run file", "judged queries", "takes", "peak memory", "aim", "values")
COPIES = 10


def tables(settings: Settings) -> Iterator[Table]:
    """Evaluate the file, and copies of it under further query ids, not judged and judged."""
    judged = settings.judged[0]
    problem = settings.problem(settings.queries, settings.depth, judged)
    files = settings.files(problem, f"judged{judged}")
    small = settings.files(settings.small(judged), f"small{judged}")
    long_run, long_qrels = settings.folder / "long.run", settings.folder / "long.qrels"
    write_run(problem, long_run, COPIES)
    _write_qrels(problem, long_qrels)
    title = f"memory of irbatch: {settings.size(judged)}, and {COPIES} times as many queries"
    table = settings.table(title, COLUMNS)
    expected = _row(table, "memory, once", files, small, settings)
    _row(table, "memory, ten times", (files[0], long_run), small, settings, expected)
    _row(table, "memory, ten times, judged", (long_qrels, long_run), small, settings, expected)
    long_run.unlink()
    yield table


def _row(
    table: Table, key: str, files: Paths, small: Paths, settings: Settings,
    expected: Timed | None = None,
) -> Timed:  # fmt: skip
    """Evaluate in a new process; all the files' means are those of the first."""
    found = in_new_process("irbatch", files, small, usual(settings.depth))
    queries = len({line.split(b" ", 1)[0] for line in files[0].read_bytes().splitlines()})
    size = amount(files[1].stat().st_size)
    agreement = compare_values((expected or found).result, found.result)
    table.check(size, agreement)
    cells = size, f"{queries:,}", duration(found.seconds), amount(found.peak)
    table.add(*cells, "" if expected is None else agreement.text, key=key, figure=found.peak)
    return found


def _write_qrels(problem: Problem, path: Path) -> None:
    """Judge the copies as `write_run` numbers them."""
    with path.open("w") as file:
        for copy in range(COPIES):
            queries = np.repeat(problem.queries + copy * len(problem.queries),
                                problem.judged.shape[1])  # fmt: skip
            cells = queries.tolist(), problem.judged.ravel().tolist(), problem.grades.ravel()
            rows = zip(cells[0], cells[1], cells[2].tolist(), strict=True)
            file.writelines(f"{query} 0 {document} {grade}\n" for query, document, grade in rows)
