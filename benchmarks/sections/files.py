"""TREC files, reading included: each tool in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import irbatch
from benchmarks.data import Problem, write_parquet
from benchmarks.names import IN_QUERIES, usual
from benchmarks.processes import TREC_EVAL, Paths, measure_files, trec_eval_program
from benchmarks.report import Table, absence, compare_values
from benchmarks.settings import Settings
from benchmarks.timing import amount

__all__ = ["no_trec_eval", "tables"]

PACKAGES = {
    "pytrec_eval": "pytrec_eval-terrier",
    "ir_measures": "ir_measures",
    "polars": "polars",
    "duckdb": "duckdb",
}


def tables(settings: Settings) -> Iterator[Table]:
    """Compare with tools that evaluate, then with engines that can be told how to."""
    files = settings.files(_problem(settings), "whole")
    small = settings.files(settings.small(settings.usual), "small")
    compared = (
        (["trec_eval", "pytrec_eval", "ir_measures"], usual(settings.depth)),
        (["polars", "duckdb"], list(IN_QUERIES)),
    )
    size = amount(files[1].stat().st_size)
    for peers, names in compared:
        title = f"TREC files, run of {size}: {settings.size(settings.usual)}; "
        table = settings.table(f"{title}{len(names)} measures, reading included")
        _compare(table, peers, files, small, names, settings.rounds)
        if "polars" in peers:
            _parquet(table, settings, names)
        yield table


def _problem(settings: Settings) -> Problem:
    return settings.problem(settings.queries, settings.depth, settings.usual)


def no_trec_eval() -> str | None:
    """Say that trec_eval isn't there, if so."""
    return None if trec_eval_program() else f"not on PATH, nor named by {TREC_EVAL}"


def _compare(
    table: Table, peers: list[str], files: Paths, small: Paths, names: list[str], rounds: int
) -> None:
    absent = {peer: _absence(peer) for peer in peers}
    present = [peer for peer in peers if absent[peer] is None]
    found = measure_files(["irbatch", *present], files, small, names, rounds)
    ours = found["irbatch"]
    for peer in peers:
        row, missing = {"key": f"files, {peer}"}, absent[peer]
        if missing is None:
            # trec_eval prints four digits; the mean of many such values is nearly as exact as one.
            tolerance = 1e-4 if peer == "trec_eval" else 1e-9
            table.compare("files to means", ours, peer, found[peer], tolerance=tolerance, **row)
        else:
            table.skip("files to means", peer, missing, ours, **row)


def _absence(peer: str) -> str | None:
    return no_trec_eval() if peer == "trec_eval" else absence(peer, PACKAGES[peer])


def _parquet(table: Table, settings: Settings, names: list[str]) -> None:
    """Time the same run in a file of columns, and say how many rows a second that is."""
    work, key = "Parquet to means", "files, Parquet"
    missing = absence("pyarrow", "pyarrow")
    if missing:
        table.skip(work, "", missing, key=key)
        return
    pairs = []
    for name, problem in (("whole", _problem(settings)), ("small", settings.small(settings.usual))):
        qrels, run = settings.files(problem, name)
        columns = run.with_suffix(".parquet")
        write_parquet(problem, columns)
        pairs.append((qrels, columns))
    ours = measure_files(["irbatch"], *pairs, names, settings.rounds)["irbatch"]
    lines = irbatch.evaluate(*settings.files(_problem(settings), "whole"), names).mean()
    agreement = compare_values(ours.result, lines)
    table.check(work, agreement)
    rate = settings.queries * settings.depth / ours.seconds
    cells = str(ours), "", "", f"{rate / 1e6:.1f} M rows/s", agreement.text
    table.add(work, *cells, key=key, figure=rate)
