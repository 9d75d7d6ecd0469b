"""What a machine does of a run in many files: ``python -m benchmarks.scale``.

Rows a second of one process with one core, of two, and of two workers of Dask; how long a process
takes until it has evaluated something; bytes of a row, and of a query that a partition sends back.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import irbatch
from benchmarks.data import make_problem, write_parquet
from benchmarks.harness import absence, duration, in_turn, where
from benchmarks.tools import IN_QUERIES
from irbatch.partial import evaluate_partition

DEPTH, JUDGED = 1_000, 20
PARTS = 8  # files
NAMES = list(IN_QUERIES)


def measure(folder: Path, queries: int) -> Iterator[str]:
    """Measure on files of so many queries; yield what was found, line by line."""
    os.environ["IRBATCH_THREADS"] = "1"
    problem = make_problem(queries, DEPTH, JUDGED)
    qrels, runs = folder / "qrels.parquet", []
    write_parquet(problem.judgments(), qrels, PARTS)
    for part in range(PARTS):
        runs.append(folder / f"part-{part}.parquet")
        shifted = dataclasses.replace(problem, queries=problem.queries + part * queries)
        write_parquet(shifted.run(), runs[-1])
    judged, parts, rows = irbatch.read_qrels(qrels), folder / "part-*.parquet", queries * DEPTH
    expected = irbatch.evaluate(judged, parts, NAMES).mean()

    def rate(evaluate: Callable[..., Any], **options: Any) -> float:
        work = partial(evaluate, judged, measures=NAMES, **options)
        timed = in_turn({"": work}, 1, patience=math.inf)[""]
        if timed.result.mean() != expected:
            raise SystemExit(f"other means: {timed.result.mean()}")
        return PARTS * rows / timed.seconds / 1e6

    rates = []
    for processes in (1, 2):
        with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
            rates.append(rate(irbatch.evaluate, run=parts, executor=pool))
    yield f"one process, one core: {rates[0]:.1f} M rows/s"
    yield f"two processes, one core each: {rates[1]:.1f} M rows/s, {rates[1] / rates[0]:.2f} ×"
    if missing := absence("distributed"):
        yield f"Dask: {missing}"
    else:
        of_dask = _with_dask(rate, parts)
        yield f"two workers of Dask: {of_dask:.1f} M rows/s, {rates[1] / of_dask:.2f} × as long"
    yield f"until a process has evaluated something: {duration(_start(folder, problem))}"
    yield f"a row: {runs[0].stat().st_size / rows:.1f} bytes in Parquet"
    sums, values = (
        len(json.dumps(evaluate_partition(qrels, runs[0], NAMES, keep=keep).state_dict())) / queries
        for keep in ("sums", "queries")
    )
    yield f"a query, sent back by a partition: {sums:.0f} bytes; with values {values:.0f}"


def _with_dask(rate: Callable[..., float], parts: Path) -> float:
    from dask import dataframe
    from distributed import Client, LocalCluster

    from irbatch.integrations import dask

    frame = dataframe.read_parquet(str(parts))
    workers = LocalCluster(2, threads_per_worker=1, dashboard_address=None)
    with workers as cluster, Client(cluster):
        return rate(dask.evaluate, run=frame)


def _start(folder: Path, problem: Any) -> float:
    """Return the seconds that a new process takes for one query."""
    write_parquet(problem.head(1).run(), folder / "one.parquet")
    judgments = {str(problem.queries[0]): {"d": 1}}
    code = f"import irbatch, sys; irbatch.evaluate({judgments}, sys.argv[1], 'RR')"
    started = time.perf_counter()
    subprocess.run([sys.executable, "-c", code, str(folder / "one.parquet")], check=True)
    return time.perf_counter() - started


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    text = f"in each of {PARTS} files (default 2000, of {DEPTH:,} rows each)"
    parser.add_argument("--queries", type=int, default=2_000, help=text)
    options = parser.parse_args(arguments)
    print(where())
    with tempfile.TemporaryDirectory(prefix="irbatch-scale-") as folder:
        for line in measure(Path(folder), options.queries):
            print(line, flush=True)


if __name__ == "__main__":
    main()
