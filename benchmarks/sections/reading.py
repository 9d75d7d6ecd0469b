"""Files in new processes: judgments read first, and runs from small to large."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import irbatch
from benchmarks.processes import json_of, rounds_of
from benchmarks.report import Table
from benchmarks.settings import Settings
from benchmarks.turns import Timed

__all__ = ["tables"]

SIZES = (5, 10, 21, 25, 50)  # megabytes
LINE, DEPTH = 33.3, 1_000  # bytes of a run's line, lines of a query
QUERIES, JUDGED = 1_100, 100  # of judgments alone

# Each prints the processor time that it took, in all threads, and what came out.
READ = """
import json, sys, time, numpy, irbatch
start = time.process_time()
qrels = irbatch.read_qrels(sys.argv[1])
spent = time.process_time() - start
print(json.dumps([spent, {"sum": sum(sum(each.values()) for each in qrels.to_dict().values())}]))
"""
LOOP = """
import json, sys, time
start = time.process_time()
qrels = {}
with open(sys.argv[1]) as file:
    for line in file:
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
spent = time.process_time() - start
print(json.dumps([spent, {"sum": sum(sum(each.values()) for each in qrels.values())}]))
"""
EVALUATE = """
import json, sys, time, irbatch
values = irbatch.evaluate(*sys.argv[1:], "AP RR nDCG@10 P@10").mean()
print(json.dumps([time.process_time(), values]))
"""


def tables(settings: Settings) -> Iterator[Table]:
    """Time processor seconds, which a busy machine does not lengthen."""
    irbatch.runtime.warmup()
    table = settings.table("files in new processes, kernels cached; CPU")
    path = settings.files(settings.problem(QUERIES, 1, JUDGED), "judgments")[0]
    ours, loop = (_timed(code, path, settings=settings) for code in (READ, LOOP))
    work = f"read_qrels, first call, {QUERIES * JUDGED:,} lines"
    table.compare(work, ours, "a loop in Python", loop, key="reading, read_qrels")
    before = None
    for size in SIZES:
        before = _run_rows(table, size, before, settings)
    yield table


def _timed(code: str, *paths: Path, settings: Settings) -> Timed:
    work = partial(json_of, ["-c", code, *map(str, paths)])
    rounds = rounds_of({"": work}, settings.rounds)[""]
    return Timed(rounds[0][1], tuple(spent for spent, _ in rounds))


def _run_rows(table: Table, size: int, before: Timed | None, settings: Settings) -> Timed:
    """Compare with the file before; return the time of a megabyte, which is to fall."""
    queries = round(size * 1e6 / LINE / DEPTH / (10 if settings.quick else 1))
    files = settings.files(settings.problem(queries, DEPTH, 20), f"run{size}")
    timed = _timed(EVALUATE, *files, settings=settings)
    megabytes = files[1].stat().st_size / 1e6
    work, key = f"evaluate, whole process, run of {megabytes:.1f} MB", f"reading, {size} MB"
    table.alone(work, timed, key=key)
    each = Timed(None, tuple(spent / megabytes for spent in timed.rounds))
    if before is not None:
        table.measure_by("a megabyte of it", each, "of the file before", before,
                         key=f"{key} a MB")  # fmt: skip
    return each
