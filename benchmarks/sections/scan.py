"""Where the time goes: packing, scanning and formulas apart."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import irbatch
from benchmarks.data import dicts
from benchmarks.names import usual
from benchmarks.report import Agreement, Table
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn
from benchmarks.workloads import sparse_matrix
from irbatch.engine.matrix import RelevanceMatrix
from irbatch.engine.scan import FULL_DEPTH, ScanRequest, scan
from irbatch.measures import Plan, parse_measures
from irbatch.measures.parameters import make_weighting
from irbatch.pack.join import pack_run

__all__ = ["tables"]

AT_FIVE = "@{5,10,20,100,1000}"
CUTOFFS = (1, 3, 5, 10, 20, 30, 50, 100, 500, 1_000)
JUDGED = 20


def tables(settings: Settings) -> Iterator[Table]:
    """Scan and formulas on one matrix, packing on dicts."""
    rows, depth = (2_000, 1_000) if settings.quick else (100_000, 1_000)
    matrix = sparse_matrix(rows, depth, JUDGED)
    irbatch.runtime.warmup()
    names = usual(settings.depth)
    table = settings.table(
        f"parts of the work; matrix {rows:,} × {depth:,} int8, {JUDGED} judged a row"
    )
    _scan_rows(table, matrix, 2 * settings.rounds + 1)
    _formulas_row(table, matrix, 2 * settings.rounds + 1)
    _pack_row(table, settings, names)
    _graded_row(table, settings)
    yield table


def _scan_rows(table: Table, matrix: RelevanceMatrix, rounds: int) -> None:
    """Compare with copying the matrix, the least that any pass over it can cost.

    A copy takes four times as long where the system gives it no huge pages (Linux: `madvise`).
    """
    request = ScanRequest(
        cutoffs=[*CUTOFFS, FULL_DEPTH],
        thresholds=[1.0],
        weightings=[make_weighting("linear", "log2", None)],
    )
    timed = in_turn(
        {
            "copy": matrix.codes.copy,
            "1": lambda: scan(matrix, request, 1),
            "2": lambda: scan(matrix, request, 2),
        },
        rounds,
    )
    hits = timed["2"].result.sums.hits[0, :, : len(CUTOFFS)]
    agreed = all((hits[:, i] == (matrix.codes[:, :k] >= 1).sum(axis=1)).all()
                 for i, k in enumerate(CUTOFFS))  # fmt: skip
    agreement = Agreement(agreed, "hits equal" if agreed else "DIFFERENT hits")
    for threads, key in (("1", ""), ("2", "scan, copy")):
        work = f"scan at {len(CUTOFFS)} cutoffs, {threads} thread(s)"
        copy = timed["copy"]
        table.measure_by(work, timed[threads], "codes.copy()", copy, key=key, agreement=agreement)


def _formulas_row(table: Table, matrix: RelevanceMatrix, rounds: int) -> None:
    """Time scan and formulas of the usual measures; the formulas are what isn't the scan."""
    names = usual(1_000)
    plan = Plan(parse_measures(names))
    request = ScanRequest(
        cutoffs=sorted({*(m.cutoff for m in plan.measures if m.cutoff), FULL_DEPTH}),
        thresholds=[1.0],
        weightings=[make_weighting("linear", "log2", None)],
    )
    timed = in_turn(
        {"scan": lambda: scan(matrix, request), "both": lambda: plan.values(matrix)}, rounds
    )
    pairs = zip(timed["scan"].rounds, timed["both"].rounds, strict=True)
    formulas = Timed(None, tuple(both - scanned for scanned, both in pairs))
    work = f"formulas alone, {len(names)} measures"
    table.measure_by(work, formulas, "their scan", timed["scan"], key="scan, formulas")


def _pack_row(table: Table, settings: Settings, names: list[str]) -> None:
    """Time joining and ordering dicts, and what share of an evaluation that is."""
    sides = dicts(settings.problem(settings.queries, settings.depth, settings.usual))
    qrels, run = irbatch.Qrels(sides[0]), irbatch.Run(sides[1])
    rows = np.arange(len(qrels))
    timed = in_turn(
        {
            "pack": lambda: [block.rows.size for block in pack_run(qrels, run, rows)],
            "all": lambda: irbatch.evaluate(qrels, run, names),
        },
        settings.rounds,
    )
    work = f"pack dicts, {settings.size(settings.usual)}"
    table.measure_by(work, timed["pack"], "evaluate", timed["all"])


def _graded_row(table: Table, settings: Settings) -> None:
    """Time measures that read judged documents one by one, beside those of the scan."""
    qrels, run = dicts(settings.problem(settings.queries, settings.depth, settings.usual))
    works = {"graded": ("ERR", "RBP", "Qmeasure", "GAP"), "usual": ("nDCG", "AP")}
    plans = {work: [name + AT_FIVE for name in names] for work, names in works.items()}
    timed = in_turn(
        {
            "graded": lambda: irbatch.evaluate(qrels, run, plans["graded"]),
            "usual": lambda: irbatch.evaluate(qrels, run, plans["usual"]),
        },
        settings.rounds,
    )
    work = f"ERR, RBP, Q-measure, GAP at 5 cutoffs, dicts, {settings.size(settings.usual)}"
    usual_ones = "nDCG, AP at them"
    table.measure_by(work, timed["graded"], usual_ones, timed["usual"], key="scan, graded")
