"""What an update of a training loop's evaluator costs, against sorting the batch's scores."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import irbatch
from benchmarks.peers import left_out, torchmetrics_work
from benchmarks.report import Table
from benchmarks.sections.scores import FLOAT32, check_known, compare, values_of_order
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn
from benchmarks.workloads import ScoreProblem, in_batch_problem, score_problem
from irbatch.runtime.jit import Kernel

__all__ = ["tables"]

MEASURES = "AP nDCG@10 R@10 RR"
SUMS = 'irbatch, keep="sums"'
SORTS = ("np.argsort(-scores)", "torch.argsort", "torch.topk(10)")


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on batches with candidates of their own, and on batches of pairs."""
    sizes = (16, 32) if settings.quick else (32, 256, 2_048)
    candidates = 100 if settings.quick else 1_000
    small = score_problem(2, 20, 1)
    with Kernel.always_compiled():
        irbatch.evaluate_scores(small.scores, None, MEASURES, positives=small.positives[:, 0])
    table = Table(f"training-loop updates: batches of scores, a positive each; {MEASURES}")
    for size in sizes:
        problem = score_problem(size, candidates, 1)
        _rows(table, problem, problem.positives[:, 0], settings)
    yield table
    table = Table(f'training-loop updates: batches of pairs, positives="diagonal"; {MEASURES}')
    for size in sizes:
        _rows(table, in_batch_problem(size), "diagonal", settings)
    yield table


def _rows(table: Table, problem: ScoreProblem, positives: Any, settings: Settings) -> None:
    """Compare one batch; the same one comes again and again, as queries without ids."""
    evaluator, sums = (irbatch.BatchEvaluator(MEASURES, keep=keep) for keep in ("queries", "sums"))
    scores, labels = problem.scores, problem.labels()
    works: dict[str, Callable[[], Any]] = {
        "ours": partial(evaluator.update, scores, positives=positives),
        SUMS: partial(sums.update, scores, positives=positives),
        SORTS[0]: lambda: np.argsort(-scores, axis=1),
    }
    missing = left_out("torch", "torch", quick=settings.quick)
    if missing is None:
        torch = importlib.import_module("torch")
        tensor = torch.from_numpy(scores)
        works[SORTS[1]] = lambda: torch.argsort(tensor, descending=True)
        works[SORTS[2]] = lambda: torch.topk(tensor, 10).indices
    timed = in_turn(works, 10 * settings.rounds + 1)
    # As many equal batches: what both keep gives the same means.
    batch = _with(timed["ours"], timed["ours"].result.mean())
    kept = _with(timed["ours"], evaluator.compute().mean())
    work = f"{scores.shape[0]:,} × {scores.shape[1]:,}"
    check_known(table, work, batch, problem)
    compare(table, work, kept, SUMS, _with(timed[SUMS], sums.compute().mean()))
    for peer in SORTS:
        if peer in timed:
            found = values_of_order(timed[peer].result, labels)
            aim = " (aim: over 1)" if peer == SORTS[0] else ""
            compare(table, work, batch, peer, _with(timed[peer], found), aim=aim)
        else:
            table.skip(work, peer, missing or "", batch)
    _against_torchmetrics(table, work, problem, works["ours"], settings)


def _against_torchmetrics(
    table: Table, work: str, problem: ScoreProblem, update: Callable[[], Any], settings: Settings
) -> None:
    """Time it apart from the sorts, in fewer rounds: it takes much longer."""
    peer = "torchmetrics, update and compute"
    missing = left_out("torchmetrics", "torchmetrics", quick=settings.quick)
    works: dict[str, Callable[[], Any]] = {"ours": update}
    if missing is None:
        works["theirs"] = torchmetrics_work(problem.scores, problem.labels(), MEASURES.split())
    timed = in_turn(works, settings.rounds)
    ours = _with(timed["ours"], timed["ours"].result.mean())
    if missing is None:
        compare(table, work, ours, peer, timed["theirs"], tolerance=FLOAT32)
    else:
        table.skip(work, peer, missing, ours)


def _with(timed: Timed, values: dict[str, float]) -> Timed:
    return replace(timed, result=values)
