"""TREC files, reading included: each tool in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator

from benchmarks.names import IN_QUERIES, usual
from benchmarks.one import TREC_EVAL
from benchmarks.processes import Measured, Paths, measure_files
from benchmarks.report import Table, absence, amount, compare_values, duration, multiple
from benchmarks.settings import Settings

__all__ = ["tables"]

COLUMNS = ("tool", "takes", "reads a second", "peak memory", "irbatch is faster", "values")
PACKAGES = {
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir_measures",
    "polars": "polars",
    "duckdb": "duckdb",
}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare with tools that evaluate, then with engines that can be told how to."""
    judged = settings.judged[-1]
    problem = settings.problem(settings.queries, settings.depth, judged)
    files = settings.files(problem, "whole")
    small = settings.files(settings.small(judged), "small")
    compared = (
        (["trec_eval", "pytrec_eval", "ir_measures"], usual(settings.depth)),
        (["polars", "duckdb"], list(IN_QUERIES)),
    )
    for peers, names in compared:
        title = f"TREC files, run of {amount(files[1].stat().st_size)}: {settings.size(judged)}; "
        table = Table(f"{title}{len(names)} measures, reading included", COLUMNS)
        _compare(table, peers, files, small, names, settings.rounds)
        yield table


def _compare(
    table: Table, peers: list[str], files: Paths, small: Paths, names: list[str], rounds: int
) -> None:
    absent = {peer: _absence(peer) for peer in peers}
    present = [peer for peer in peers if absent[peer] is None]
    found = measure_files(["irbatch", *present], files, small, names, rounds)
    size = files[1].stat().st_size
    ours = found["irbatch"]
    table.add("irbatch", *_figures(ours, size))
    for peer in peers:
        if absent[peer] is not None:
            table.add(peer, "", "", "", "", f"skipped: {absent[peer]}")
            continue
        # trec_eval prints four digits; the mean of many such values is nearly as exact as one.
        tolerance = 1e-4 if peer == "trec_eval" else 1e-9
        agreement = compare_values(ours.values, found[peer].values, tolerance)
        table.check(peer, agreement)
        ratio = multiple(found[peer].seconds / ours.seconds) if agreement.equal else "none"
        table.add(peer, *_figures(found[peer], size), ratio, agreement.text)


def _figures(found: Measured, size: int) -> tuple[str, str, str]:
    return duration(found.seconds), amount(size / found.seconds), amount(found.peak)


def _absence(peer: str) -> str | None:
    if peer == "trec_eval":
        program = os.environ.get(TREC_EVAL)
        return None if program else f"not named (set {TREC_EVAL} to the program's path)"
    return absence(peer, PACKAGES[peer])
