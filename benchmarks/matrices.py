"""Matrices: scores of candidates, a training loop's updates, and the scan."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import irbatch
from benchmarks import data
from benchmarks.data import ScoreProblem, score_problem
from benchmarks.harness import Settings, Table, Timed, compare_values, in_turn
from benchmarks.tools import torchmetrics_work
from irbatch.engine.scan import FULL_DEPTH, ScanRequest, scan
from irbatch.measures.parameters import make_weighting

Work = Callable[[], Any]
FLOAT32 = 1e-5  # how far apart values are that a tool computes in float32

# ---------------------------------------------------------------- scores

AT_FULL_DEPTH = "AP nDCG nDCG@10 RR R@100"
DENSE = "AP nDCG@10 R@100 RR"


def scores(settings: Settings) -> Iterator[Table]:
    """A few relevant candidates among very many; then labels, as other tools take them."""
    irbatch.runtime.warmup()
    yield _full_depth(settings)
    yield _dense(settings)


def _size(matrix: Any) -> str:
    return " × ".join(f"{side:,}" for side in matrix.shape)


def _check_known(table: Table, work: str, ours: Timed, problem: ScoreProblem) -> None:
    """Add a row that says whether values are those that the data were made to have."""
    equal, text = compare_values(ours.result, problem.means(ours.result))
    table.check(work, equal, text)
    table.add(work, str(ours), "ranks the data were made with", "", "", text)


def _of_order(order: Any, labels: Any) -> dict[str, float]:
    """Return what can be said of a ranking's first columns: recall, and RR of a whole ranking."""
    hits = np.take_along_axis(labels, np.asarray(order), axis=1)
    k = hits.shape[1]
    if k == labels.shape[1]:
        return {"RR": float((1 / (hits.argmax(axis=1) + 1)).mean())}
    return {f"R@{k}": float((hits.sum(axis=1) / labels.sum(axis=1)).mean())}


def _full_depth(settings: Settings) -> Table:
    problem = score_problem(*((50, 1_000) if settings.quick else (2_000, 20_000)), 10)
    given, labels = problem.scores, problem.labels()
    title = f"score matrix: {_size(given)} float32, 10 positives each; {AT_FULL_DEPTH}"
    table = Table(title, settings)
    options = {"measures": AT_FULL_DEPTH, "positives": problem.positives}
    evaluate = partial(irbatch.evaluate_scores, **options)
    works: dict[str, Work] = {
        "ours": lambda: evaluate(given).mean(),
        "argsort": lambda: _by_sorting(given, labels),
    }
    missing = settings.absence("torch")
    if not missing:
        torch = importlib.import_module("torch")
        tensor = torch.from_numpy(given)
        works["topk"] = lambda: torch.topk(tensor, 100).indices
    works["ours"]()  # compiles
    timed = in_turn(works, 2 * settings.rounds + 1)
    work, ours = "scores to means", timed["ours"]
    _check_known(table, work, ours, problem)
    sorting = timed["argsort"]
    table.compare(work, ours, "np.argsort, evaluate_matrix", sorting, key="scores, argsort")
    topk = missing or timed["topk"].becomes(lambda found: _of_order(found.numpy(), labels))
    table.compare(work, ours, "torch.topk(100) alone", topk, key="scores, topk", some=True)
    return table


def _by_sorting(given: Any, labels: Any) -> dict[str, float]:
    order = np.argsort(-given, axis=1)
    ordered = np.take_along_axis(labels, order, axis=1)
    return irbatch.evaluate_matrix(ordered, AT_FULL_DEPTH).mean()


def _dense(settings: Settings) -> Table:
    """Compare with tools that take labels: each candidate's, or the relevant ones' ids."""
    problem = score_problem(*((40, 200) if settings.quick else (1_000, 1_000)), 19)
    chosen = np.random.default_rng(2).random(problem.positives.shape) < 0.5
    chosen[:, 0] = True  # sentence-transformers leaves queries out that have none
    given = problem.scores
    labels = np.zeros(given.shape, np.int64)
    np.put_along_axis(labels, problem.positives, chosen.astype(np.int64), axis=1)
    title = f"score matrix with labels: {_size(given)} float32, about 10 relevant each"
    table = Table(title, settings)
    for names, peer, (module, package), make, key in (
        (DENSE, "torchmetrics", ("torchmetrics",) * 2,
         lambda: torchmetrics_work(given, labels, DENSE.split()), "scores, torchmetrics"),
        ("nDCG@10", "scikit-learn ndcg_score", ("sklearn", "scikit-learn"),
         lambda: _by_sklearn(labels, given), "scores, sklearn"),
    ):  # fmt: skip
        ours = partial(irbatch.evaluate_scores, given, labels, names)
        ours()  # compiles
        missing = settings.absence(module, package)
        table.race(
            names, lambda ours=ours: ours().mean(),
            {peer: (missing, None if missing else make(), key)}, rounds=2 * settings.rounds + 1,
            tolerance=FLOAT32 if module == "torchmetrics" else 1e-9, some=True,
        )  # fmt: skip
    return table


def _by_sklearn(labels: Any, given: Any) -> Work:
    metrics = importlib.import_module("sklearn.metrics")
    return lambda: {"nDCG@10": float(metrics.ndcg_score(labels, given, k=10))}


# ---------------------------------------------------------------- updates

UPDATED = "AP nDCG@10 R@10 RR"
SUMS, SORTED = 'irbatch, keep="sums"', "np.argsort(-scores)"
LARGEST = 256  # rows that torchmetrics, which takes seconds, is given


def updates(settings: Settings) -> Iterator[Table]:
    """What an update costs, against sorting the batch's scores, which it needn't."""
    sizes = (32, 256) if settings.quick else (32, 256, 2_048)
    irbatch.runtime.warmup()
    table = Table(f"training-loop updates: scores, a positive each; {UPDATED}", settings)
    for size in sizes:
        problem = score_problem(size, 1_000, 1)
        _update(table, problem, problem.positives[:, 0])
    yield table


def _update(table: Table, problem: ScoreProblem, positives: Any) -> None:
    """Compare one batch; the same one comes again and again, as queries without ids."""
    settings = table.settings
    evaluator, sums = (irbatch.BatchEvaluator(UPDATED, keep=keep) for keep in ("queries", "sums"))
    given, labels = problem.scores, problem.labels()
    update = partial(evaluator.update, given, positives=positives)
    works: dict[str, Work] = {
        "ours": update,
        SUMS: partial(sums.update, given, positives=positives),
        SORTED: lambda: np.argsort(-given, axis=1),
    }
    timed = in_turn(works, 20 * settings.rounds + 1)
    # As many equal batches: what both keep gives the same means.
    batch = timed["ours"].becomes(lambda found: found.mean())
    kept = timed["ours"].becomes(lambda _: evaluator.compute().mean())
    work = _size(given)
    _check_known(table, work, batch, problem)
    table.compare(work, kept, SUMS, timed[SUMS].becomes(lambda _: sums.compute().mean()),
                  key=f"updates, {work}" if len(given) == 32 else "")  # fmt: skip
    order = timed[SORTED].becomes(lambda found: _of_order(found, labels))
    key = f"updates, {work}" if len(given) == 256 else ""
    table.compare(work, batch, SORTED, order, key=key, some=True)
    if len(given) <= LARGEST:  # apart from the sorts, in fewer rounds: it takes much longer
        missing = settings.absence("torchmetrics")
        other = None if missing else torchmetrics_work(given, labels, UPDATED.split())
        table.race(work, lambda: update().mean(), {"torchmetrics": (missing, other, "")},
                   tolerance=FLOAT32, some=True)  # fmt: skip


# ---------------------------------------------------------------- the scan

CUTOFFS = (1, 3, 5, 10, 20, 30, 50, 100, 500, 1_000)


def scan_rows(settings: Settings) -> Iterator[Table]:
    """The scan of a matrix, against copying it."""
    rows, depth = (2_000, 1_000) if settings.quick else (100_000, 1_000)
    matrix = data.sparse_matrix(rows, depth, 20)
    irbatch.runtime.warmup()
    title = f"scan of a matrix {rows:,} × {depth:,} int8, 20 judged a row"
    table = Table(title, settings)
    request = ScanRequest([*CUTOFFS, FULL_DEPTH], [1.0], [make_weighting("linear", "log2", None)])
    # A copy is the least that any pass over it can cost; it takes four times as long where the
    # system gives it no huge pages (Linux: `madvise`).
    works = {"copy": matrix.codes.copy, **{
        threads: partial(scan, matrix, request, threads) for threads in (1, 2)
    }}  # fmt: skip
    timed = in_turn(works, 2 * settings.rounds + 1)
    hits = timed[2].result.sums.hits[0, :, : len(CUTOFFS)]
    agreed = all((hits[:, i] == (matrix.codes[:, :k] >= 1).sum(axis=1)).all()
                 for i, k in enumerate(CUTOFFS))  # fmt: skip
    agreement = agreed, "hits equal" if agreed else "DIFFERENT hits"
    for threads in (1, 2):
        work = f"scan at {len(CUTOFFS)} cutoffs, {threads} thread(s)"
        table.measure_by(work, timed[threads], "codes.copy()", timed["copy"],
                         key="scan, copy" if threads == 2 else "",
                         agreement=agreement)  # fmt: skip
    yield table
