"""Matrices of scores, a score for every candidate: against sorting them, and other tools."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import irbatch
from benchmarks.peers import (
    SENTENCE_TRANSFORMERS_NAMES,
    left_out,
    sentence_transformers_work,
    torchmetrics_work,
)
from benchmarks.report import Table, compare_values
from benchmarks.settings import Settings
from benchmarks.timing import multiple
from benchmarks.turns import Timed, in_turn, times_as_long
from benchmarks.workloads import ScoreProblem, score_problem
from irbatch.pack.counting import SORTED_FROM

__all__ = ["FLOAT32", "check_known", "tables", "values_of_order"]

Matrix = npt.NDArray[Any]
Work = Callable[[], Any]

FULL_DEPTH = "AP nDCG nDCG@10 RR R@100"
DENSE = "AP nDCG@10 R@100 RR"
OF_LABELS = "AUC LRAP CoverageError RankingLoss"
FLOAT32 = 1e-5  # how far apart values are that a tool computes in float32
GROWTH = ("what grows", "scores", "takes", "a cell", "times the first", "values")


def tables(settings: Settings) -> Iterator[Table]:
    """Compare at full depth, then on labels as other tools take them, then grow."""
    irbatch.runtime.warmup()
    yield _full_depth(settings)
    yield _dense(settings)
    yield _growth(settings)


def check_known(table: Table, work: str, ours: Timed, problem: ScoreProblem) -> None:
    """Add a row that says whether values are those that the data were made to have."""
    agreement = compare_values(ours.result, problem.means(ours.result))
    table.check(work, agreement)
    peer = "ranks the data were made with"
    table.add(work, str(ours), peer, "", "", agreement.text)


def values_of_order(order: Matrix, labels: npt.NDArray[np.bool_]) -> dict[str, float]:
    """Return what can be said of a ranking's first columns: recall, and RR of a whole ranking."""
    hits = np.take_along_axis(labels, np.asarray(order), axis=1)
    k = hits.shape[1]
    if k == labels.shape[1]:
        return {"RR": float((1 / (hits.argmax(axis=1) + 1)).mean())}
    return {f"R@{k}": float((hits.sum(axis=1) / labels.sum(axis=1)).mean())}


def _full_depth(settings: Settings) -> Table:
    """Rank a few relevant candidates among very many."""
    problem = score_problem(*((50, 1_000) if settings.quick else (2_000, 20_000)), 10)
    scores, labels = problem.scores, problem.labels()
    evaluate = partial(irbatch.evaluate_scores, measures=FULL_DEPTH, positives=problem.positives)
    table = settings.table(
        f"score matrix: {_size(scores)} float32, 10 positives each; {FULL_DEPTH}"
    )
    works: dict[str, Work] = {
        "ours": lambda: evaluate(scores).mean(),
        "argsort": lambda: _by_sorting(scores, labels),
    }
    missing = left_out("torch", "torch", quick=settings.quick)
    if missing is None:
        torch = importlib.import_module("torch")
        tensor = torch.from_numpy(scores)
        works["tensor"] = lambda: evaluate(tensor).mean()
        works["topk"] = lambda: torch.topk(tensor, 100).indices
    works["ours"]()  # compiles
    timed = in_turn(works, 2 * settings.rounds + 1)
    ours = timed["ours"]
    check_known(table, "scores to means", ours, problem)
    work, peer = "scores to means", "torch.topk(100) alone"
    sorting = timed["argsort"]
    table.compare(work, ours, "np.argsort, evaluate_matrix", sorting, key="scores, argsort")
    if missing is None:
        found = values_of_order(timed["topk"].result.numpy(), labels)
        topk = replace(timed["topk"], result=found)
        table.compare(work, ours, peer, topk, key="scores, topk", some=True)
        table.compare(work, ours, "irbatch, torch tensor", timed["tensor"])
    else:
        table.skip(work, peer, missing, ours, key="scores, topk")
    return table


def _by_sorting(scores: Matrix, labels: Matrix) -> dict[str, float]:
    order = np.argsort(-scores, axis=1)
    return irbatch.evaluate_matrix(np.take_along_axis(labels, order, axis=1), FULL_DEPTH).mean()


def _dense(settings: Settings) -> Table:
    """Compare with tools that take labels: each candidate's, or the relevant ones' ids."""
    queries, candidates = (40, 200) if settings.quick else (1_000, 1_000)
    problem = score_problem(queries, candidates, 19)
    chosen = np.random.default_rng(2).random(problem.positives.shape) < 0.5
    chosen[:, 0] = True  # sentence-transformers leaves queries out that have none
    scores = problem.scores
    labels = np.zeros(scores.shape, np.int64)
    np.put_along_axis(labels, problem.positives, chosen.astype(np.int64), axis=1)
    table = settings.table(
        f"score matrix with labels: {_size(scores)} float32, about 10 relevant each"
    )

    def against(names: str, peer: str, module: str, package: str, make: Callable[[], Work],
                tolerance: float = 1e-9, key: str = "") -> None:  # fmt: skip
        key = key or f"scores, {module}"
        works: dict[str, Work] = {
            "ours": lambda: irbatch.evaluate_scores(scores, labels, names).mean()
        }
        works["ours"]()  # compiles
        missing = left_out(module, package, quick=settings.quick)
        if missing is None:
            works["theirs"] = make()
        timed = in_turn(works, 2 * settings.rounds + 1)
        count = len(irbatch.measures.parse_measures(names))
        work = names if count < 5 else f"its {count} measures"
        if missing is None:
            table.compare(work, timed["ours"], peer, timed["theirs"], key=key,
                          tolerance=tolerance, some=True)  # fmt: skip
        else:
            table.skip(work, peer, missing, timed["ours"], key=key)

    against(
        DENSE,
        "torchmetrics",
        "torchmetrics",
        "torchmetrics",
        lambda: torchmetrics_work(scores, labels, DENSE.split()),
        FLOAT32,
    )
    against("nDCG@10", "scikit-learn ndcg_score", "sklearn", "scikit-learn",
            lambda: _sklearn(scores, labels))  # fmt: skip
    against(OF_LABELS, "scikit-learn's four functions", "sklearn", "scikit-learn",
            lambda: _sklearn_of_labels(scores, labels), key="scores, labels")  # fmt: skip
    against(SENTENCE_TRANSFORMERS_NAMES, "sentence-transformers compute_metrics, top 100 ready",
            "sentence_transformers", "sentence-transformers",
            lambda: sentence_transformers_work(scores, labels))  # fmt: skip
    return table


def _sklearn(scores: Matrix, labels: Matrix) -> Work:
    metrics = importlib.import_module("sklearn.metrics")
    return lambda: {"nDCG@10": float(metrics.ndcg_score(labels, scores, k=10))}


def _sklearn_of_labels(scores: Matrix, labels: Matrix) -> Work:
    metrics = importlib.import_module("sklearn.metrics")
    return lambda: {
        "AUC": float(metrics.roc_auc_score(labels, scores, average="samples")),
        "LRAP": float(metrics.label_ranking_average_precision_score(labels, scores)),
        "CoverageError": float(metrics.coverage_error(labels, scores)),
        "RankingLoss": float(metrics.label_ranking_loss(labels, scores)),
    }


def _growth(settings: Settings) -> Table:
    """Grow candidates at equal numbers of cells, then positives, which are counted, then sorted."""
    table = settings.table(f"growth of evaluate_scores, float32; {FULL_DEPTH}", GROWTH)
    shapes = ((100, 200), (10, 2_000)) if settings.quick else (
        (20_000, 1_000), (2_000, 10_000), (200, 100_000))  # fmt: skip
    first: Timed | None = None
    for queries, candidates in shapes:
        problem = score_problem(queries, candidates, 10)
        first = _growth_row(table, f"candidates: {candidates:,}", problem, settings, first)
    shape, positives = ((20, 2_000), (1, 10)) if settings.quick else ((1_000, 10_000), (
        1, 10, 100, SORTED_FROM, SORTED_FROM + 1, 1_000))  # fmt: skip
    first = None
    for number in positives:
        problem = score_problem(*shape, number)
        first = _growth_row(table, f"positives: {number:,}", problem, settings, first)
    return table


def _growth_row(
    table: Table, what: str, problem: ScoreProblem, settings: Settings, first: Timed | None
) -> Timed:
    """Time one size; return the first size's times."""
    scores, positives = problem.scores, problem.positives
    work = partial(irbatch.evaluate_scores, scores, None, FULL_DEPTH, positives=positives)
    work()  # compiles
    timed = in_turn({"ours": lambda: work().mean()}, 2 * settings.rounds + 1)["ours"]
    agreement = compare_values(timed.result, problem.means(FULL_DEPTH.split()))
    table.check(what, agreement)
    first = first or timed
    cells = f"{timed.seconds / scores.size * 1e9:.2f} ns", multiple(times_as_long(first, timed))
    table.add(what, _size(scores), str(timed), *cells, agreement.text)
    return first


def _size(scores: Matrix) -> str:
    return " × ".join(f"{side:,}" for side in scores.shape)
