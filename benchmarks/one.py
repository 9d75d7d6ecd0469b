"""One tool on files in a process of its own: ``python -m benchmarks.one TOOL FILES… NAMES…``.

Prints JSON: seconds, values, and the most memory that the process, or the program it started,
ever had resident. Nothing is imported but what the tool itself needs.
"""

from __future__ import annotations

import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

__all__ = ["FILE_TOOLS", "FileTool"]

Values = dict[str, float]
FileTool = Callable[[Path, Path, list[str]], Values]


def irbatch(qrels: Path, run: Path, names: list[str]) -> Values:
    """Hand over paths."""
    import irbatch

    return irbatch.evaluate(qrels, run, names).mean()


def pytrec_eval(qrels: Path, run: Path, names: list[str]) -> Values:
    """Read with its own functions."""
    from pytrec_eval import parse_qrel, parse_run

    from benchmarks.peers import PYTREC_EVAL

    with qrels.open() as judgments, run.open() as rankings:
        sides = parse_qrel(judgments), parse_run(rankings)
    return PYTREC_EVAL.means(PYTREC_EVAL.evaluate(*sides, names), names)


def ir_measures(qrels: Path, run: Path, names: list[str]) -> Values:
    """Read with its own functions."""
    from ir_measures import read_trec_qrels, read_trec_run

    from benchmarks.peers import IR_MEASURES

    sides = read_trec_qrels(str(qrels)), read_trec_run(str(run))
    return IR_MEASURES.means(IR_MEASURES.evaluate(*sides, names), names)


def trec_eval(qrels: Path, run: Path, names: list[str]) -> Values:
    """Start its program, and average what it prints of queries.

    Its own means have four digits after the point.
    """
    from benchmarks.names import trec_names, trec_options
    from benchmarks.processes import trec_eval_program

    command = [trec_eval_program() or "trec_eval", "-q", *trec_options(names)]
    command += [str(qrels), str(run)]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    spelled = trec_names(names, "_")
    sums, counts = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0)
    for theirs, query, value in re.findall(r"^(\S+)\s+(\S+)\s+(\S+)$", printed, re.MULTILINE):
        if query != "all" and theirs in spelled:
            sums[spelled[theirs]] += float(value)
            counts[spelled[theirs]] += 1
    return {name: sums[name] / counts[name] for name in names}


def polars(qrels: Path, run: Path, names: list[str]) -> Values:
    """Evaluate by expressions."""
    from benchmarks.engines import polars_files

    return polars_files(qrels, run, names)


def duckdb(qrels: Path, run: Path, names: list[str]) -> Values:
    """Evaluate in SQL."""
    from benchmarks.engines import duckdb_files

    return duckdb_files(qrels, run, names)


FILE_TOOLS: dict[str, FileTool] = {
    each.__name__: each for each in (irbatch, pytrec_eval, ir_measures, trec_eval, polars, duckdb)
}


def warm_up(name: str, qrels: Path, run: Path, names: list[str]) -> None:
    """Evaluate small files, and have irbatch load what it compiles for larger ones only."""
    FILE_TOOLS[name](qrels, run, names)
    if name == "irbatch":
        import irbatch

        irbatch.runtime.warmup()


def peak_memory(*, children: bool) -> int:
    """Return the most bytes ever resident.

    Linux carries ru_maxrss over from the process that started this one, so its own high-water
    mark comes first.
    """
    if children:
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * _unit()
    try:
        found = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    except OSError:
        found = None
    if found:
        return int(found[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _unit()


def _unit() -> int:
    return 1 if sys.platform == "darwin" else 1024


def main(arguments: list[str]) -> None:
    """Warm up, time one evaluation, print."""
    name, *paths = arguments[:5]
    qrels, run, small_qrels, small_run = map(Path, paths)
    names = arguments[5:]
    warm_up(name, small_qrels, small_run, names)
    start = time.perf_counter()
    values = FILE_TOOLS[name](qrels, run, names)
    seconds = time.perf_counter() - start
    peak = peak_memory(children=name == "trec_eval")
    print(json.dumps({"seconds": seconds, "values": values, "peak": peak}))


if __name__ == "__main__":
    main(sys.argv[1:])
