"""What runs beyond this machine would take: ``python -m benchmarks.scale``.

Measured here: rows a second of one process with one core, and of two; how long a worker takes until
it has evaluated something; the bytes that a shuffle by query moves, and that partitions send back.
What 10⁹, 10¹⁰ and 10¹² rows take follows from these, by the assumptions printed beside it.
"""

from __future__ import annotations

import argparse
import dataclasses
import io
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pyarrow
from pyarrow import parquet

import irbatch
from benchmarks.data import make_problem, write_parquet
from benchmarks.harness import Settings, Table, duration, in_turn, where
from benchmarks.tools import IN_QUERIES
from irbatch.partial import evaluate_partition

DEPTH, JUDGED = 1_000, 20
PARTS = 8  # files
ROWS = (10**9, 10**10, 10**12)
MACHINES = (1, 10, 100)
CORES = 16  # of a machine
DISK = 1e9  # bytes a second that a machine reads
NETWORK = 10e9 / 8  # bytes a second, into a machine and at the same time out of it
JOB = 30.0  # seconds until an engine has started a job
NAMES = list(IN_QUERIES)


class Measured(NamedTuple):
    """What was found here.

    Attributes:
        rates: rows a second, by number of processes, each with a core.
        start: seconds until a new process has evaluated a query.
        stored, shuffled: bytes a row, as Parquet and as Arrow's stream packed with LZ4.
        sums, values: bytes a query that a partition sends back.
    """

    rates: dict[int, float]
    start: float
    stored: float
    shuffled: float
    sums: float
    values: float

    def seconds(self, rows: int, machines: int, *, shuffle: bool) -> float:
        """Say how long so many rows take on machines; a process a core, and an engine's shuffle."""
        computing = rows / (machines * CORES * self.rates[2] / 2)
        reading = rows * self.stored / (machines * DISK)
        moving = rows * self.shuffled / (machines * NETWORK) if shuffle and machines > 1 else 0.0
        # Reading goes on beside computing; a shuffle ends before.
        return self.start + max(computing, reading) + (JOB + moving if shuffle else 0.0)


def measure(folder: Path, queries: int) -> Measured:
    """Measure on files of so many queries."""
    problem = make_problem(queries, DEPTH, JUDGED)
    qrels, runs = folder / "qrels.parquet", []
    write_parquet(problem.judgments(), qrels, PARTS)
    for part in range(PARTS):
        runs.append(folder / f"part-{part}.parquet")
        shifted = dataclasses.replace(problem, queries=problem.queries + part * queries)
        write_parquet(shifted.run(), runs[-1])
    rates = {
        processes: _rate(processes, qrels, folder, PARTS * queries * DEPTH) for processes in (1, 2)
    }
    command = "import irbatch, sys; irbatch.evaluate({'q': {'d': 1}}, sys.argv[1], 'RR')"
    write_parquet(problem.head(1).run(), folder / "one.parquet")
    started = time.perf_counter()
    arguments = [sys.executable, "-c", command.replace("'q'", repr(str(problem.queries[0])))]
    subprocess.run([*arguments, str(folder / "one.parquet")], check=True)
    start = time.perf_counter() - started
    rows = queries * DEPTH
    stored, shuffled = runs[0].stat().st_size / rows, _shuffled(runs[0]) / rows
    given = qrels, runs[0], NAMES
    sums, values = (
        len(evaluate_partition(*given, keep=keep).to_json()) / queries
        for keep in ("sums", "queries")
    )
    return Measured(rates, start, stored, shuffled, sums, values)


def _rate(processes: int, qrels: Path, folder: Path, rows: int) -> float:
    """Return the rows a second of some processes with a core each, means checked."""
    os.environ["IRBATCH_THREADS"] = "1"
    judged, parts = irbatch.read_qrels(qrels), folder / "part-*.parquet"
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        work = partial(irbatch.evaluate, judged, parts, NAMES, executor=pool)
        timed = in_turn({"": work}, 1, patience=math.inf)[""]
    if timed.result.mean() != irbatch.evaluate(judged, parts, NAMES).mean():
        raise SystemExit(f"{processes} processes give other means: {timed.result.mean()}")
    return rows / timed.seconds


def _shuffled(run: Path) -> int:
    """Return the bytes of a run on its way from one machine to another."""
    table = parquet.read_table(run)
    stream = io.BytesIO()
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    with pyarrow.ipc.new_stream(stream, table.schema, options=options) as writer:
        writer.write_table(table)
    return stream.tell()


def show(found: Measured) -> None:
    """Print what was measured, what follows from it, and what that assumes."""
    gain = found.rates[2] / found.rates[1]
    rates = [f"{rate / 1e6:.1f} M rows/s" for rate in found.rates.values()]
    print(f"one process, one core: {rates[0]}")
    print(f"two processes, one core each: {rates[1]}, {gain:.2f} ×")
    print(f"until a worker has evaluated something: {duration(found.start)}")
    print(f"a row: {found.stored:.1f} bytes in Parquet, {found.shuffled:.1f} when it is shuffled")
    print(
        f"a query, sent back by a partition: {found.sums:.0f} bytes; with values {found.values:.0f}"
    )
    ways = ("rows", "machines", "partitions as they are", "shuffled by an engine")
    table = Table("\nwhat a run takes", Settings(Path()), ways)
    for rows in ROWS:
        for machines in MACHINES:
            times = (found.seconds(rows, machines, shuffle=each) for each in (False, True))
            table.add(f"{rows:.0e}", str(machines), *map(_long, times))
    print(table.text())
    print(
        f"Assumed: machines of {CORES} cores as those here, each with a process that is as fast\n"
        f"as one of two here; {DISK / 1e9:g} GB/s read by a machine while it computes, and\n"
        f"{NETWORK / 1e9:g} GB/s moved before; an engine's job begins after {JOB:g} s;\n"
        f"equal parts, {JUDGED} judged a query, each process with the judgments of its queries,\n"
        "nobody else at work."
    )


def _long(seconds: float) -> str:
    for size, unit in ((86_400, "days"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}"
    return f"{seconds:.0f} s"


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    told = f"in each of {PARTS} files (default 2000, of {DEPTH:,} rows each)"
    parser.add_argument("--queries", type=int, default=2_000, help=told)
    options = parser.parse_args(arguments)
    print(where())
    with tempfile.TemporaryDirectory(prefix="irbatch-scale-") as folder:
        show(measure(Path(folder), options.queries))


if __name__ == "__main__":
    main()
