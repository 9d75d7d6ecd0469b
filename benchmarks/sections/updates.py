"""What an update of a training loop's evaluator costs, against sorting the batch's scores."""

from __future__ import annotations

import importlib
import statistics
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

import irbatch
from benchmarks.peers import left_out, torchmetrics_work
from benchmarks.processes import json_of, rounds_of
from benchmarks.report import Table, compare_values
from benchmarks.sections.scores import FLOAT32, check_known, values_of_order
from benchmarks.settings import Settings
from benchmarks.timing import duration
from benchmarks.turns import Timed, in_turn
from benchmarks.workloads import ScoreProblem, in_batch_problem, score_problem

__all__ = ["tables"]

MEASURES = "AP nDCG@10 R@10 RR"
SUMS = 'irbatch, keep="sums"'
# Prints the seconds that the first updates of a process take, one by one.
FIRST = """
import json, sys, time, warnings, numpy, torch, irbatch
warnings.simplefilter("ignore")
scores = numpy.random.default_rng(0).random((256, 1_000), dtype=numpy.float32)
scores = torch.from_numpy(scores).to(getattr(torch, sys.argv[1]))
evaluator, spent = irbatch.BatchEvaluator("AP nDCG@10 R@10 RR"), []
for _ in range(20):
    start = time.perf_counter()
    evaluator.update(scores, positives=numpy.arange(256))
    spent.append(time.perf_counter() - start)
print(json.dumps(spent))
"""
LARGEST = 256  # rows that torchmetrics, which takes seconds, is given
SORTS = ("np.argsort(-scores)", "torch.argsort", "torch.topk(10)")


def tables(settings: Settings) -> Iterator[Table]:
    """Compare on batches with candidates of their own, and on batches of pairs."""
    sizes = (32, 256) if settings.quick else (32, 256, 2_048)
    irbatch.runtime.warmup()
    table = settings.table(f"training-loop updates: scores, a positive each; {MEASURES}")
    for size in sizes:
        problem = score_problem(size, 1_000, 1)
        _rows(table, problem, problem.positives[:, 0], settings)
    yield table
    table = settings.table(f'training-loop updates: pairs, positives="diagonal"; {MEASURES}')
    for size in sizes:
        _rows(table, in_batch_problem(size), "diagonal", settings)
    yield table
    yield _on_tensors(settings)


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
    timed = in_turn(works, 20 * settings.rounds + 1)
    # As many equal batches: what both keep gives the same means.
    batch = _with(timed["ours"], timed["ours"].result.mean())
    kept = _with(timed["ours"], evaluator.compute().mean())
    work = f"{scores.shape[0]:,} × {scores.shape[1]:,}"
    check_known(table, work, batch, problem)
    table.compare(work, kept, SUMS, _with(timed[SUMS], sums.compute().mean()),
                  key=f"updates, {work}" if len(scores) == 32 else "")  # fmt: skip
    for peer in SORTS:
        if peer in timed:
            found = values_of_order(timed[peer].result, labels)
            key = f"updates, {work}" if peer == SORTS[0] and len(scores) == 256 else ""
            table.compare(work, batch, peer, _with(timed[peer], found), key=key, some=True)
        else:
            table.skip(work, peer, missing or "", batch)
    if len(scores) <= LARGEST:
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
        table.compare(work, ours, peer, timed["theirs"], tolerance=FLOAT32, some=True)
    else:
        table.skip(work, peer, missing, ours)


def _on_tensors(settings: Settings) -> Table:
    """Compare a tensor of 16 bits with one of 32, warm, and in the first updates of a process."""
    table = settings.table(f"training-loop updates: tensors of 256 × 1,000; {MEASURES}")
    missing = left_out("torch", "torch", quick=settings.quick)
    if missing:
        table.skip("bfloat16", "float32", missing, key="updates, bfloat16")
    else:
        _sixteen_bits(table, settings)
    for dtype in ("float32", "bfloat16"):
        work, key = f"slowest of 20, new process, {dtype}", f"updates, first ones, {dtype}"
        if missing:
            table.skip(work, "", missing, key=key)
            continue
        each = rounds_of({"": partial(json_of, ["-c", FIRST, dtype])}, settings.rounds)[""]
        slowest = Timed(None, tuple(max(spent) for spent in each))
        first = duration(statistics.median(spent[0] for spent in each))
        table.alone(work, slowest, key=key, note=f"the first {first}")
    return table


def _sixteen_bits(table: Table, settings: Settings) -> None:
    """Time updates that differ in nothing but the type of scores."""
    torch = importlib.import_module("torch")
    problem = score_problem(256, 1_000, 1)
    half = torch.from_numpy(problem.scores).bfloat16()
    positives = problem.positives[:, 0]
    works: dict[str, Callable[[], Any]] = {}
    for name, scores in (("bfloat16", half), ("float32", half.float())):
        update = irbatch.BatchEvaluator(MEASURES).update
        works[name] = partial(update, scores, positives=positives)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", irbatch.InputWarning)  # of scores that 16 bits can't tell
        timed = in_turn(works, 20 * settings.rounds + 1)
    values = [timed[name].result.mean() for name in works]
    table.measure_by("bfloat16", timed["bfloat16"], "float32", timed["float32"],
                     key="updates, bfloat16", agreement=compare_values(*values))  # fmt: skip


def _with(timed: Timed, values: dict[str, float]) -> Timed:
    return replace(timed, result=values)
