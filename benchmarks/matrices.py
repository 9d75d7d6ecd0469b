"""Matrices: scores of candidates, updates in a training loop, embeddings, and the scan."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import irbatch
from benchmarks import data
from benchmarks.data import score_problem
from benchmarks.harness import Settings, Table, compare_values, in_turn
from benchmarks.tools import torchmetrics_work, usual
from irbatch.engine.scan import FULL_DEPTH, ScanRequest, scan
from irbatch.measures import Plan, parse_measures
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
    _few_queries(table, given[:64], labels[:64])
    return table


def _few_queries(table: Table, given: Any, labels: Any) -> None:
    work, peer, key = _size(given), "torch.topk(100) alone", "scores, 64 × 1,000"
    if missing := table.settings.absence("torch"):
        table.add(work, "", peer, "", "", f"skipped: {missing}", key=key)
        return
    torch = importlib.import_module("torch")
    tensor = torch.from_numpy(given)
    works = {
        "ours": lambda: irbatch.evaluate_scores(given, labels, DENSE),
        "topk": lambda: torch.topk(tensor, 100),
    }
    timed = in_turn(works, 20 * table.settings.rounds + 1)
    table.measure_by(work, timed["ours"], peer, timed["topk"], key=key)


def _by_sklearn(labels: Any, given: Any) -> Work:
    metrics = importlib.import_module("sklearn.metrics")
    return lambda: {"nDCG@10": float(metrics.ndcg_score(labels, given, k=10))}


# ---------------------------------------------------------------- updates

UPDATED = "AP nDCG@10 R@10 RR"


def updates(settings: Settings) -> Iterator[Table]:
    """What an update costs, against sorting the batch's scores, which it needn't."""
    irbatch.runtime.warmup()
    table = Table(f"training-loop updates: scores, a positive each; {UPDATED}", settings)
    for size in ((32, 1_000), (64, 64), (256, 1_000)):
        problem = score_problem(*size, 1)
        given, labels = problem.scores, problem.labels()
        evaluator = irbatch.BatchEvaluator(UPDATED, keep="sums")
        works: dict[str, Work] = {
            "ours": partial(evaluator.update, given, positives=problem.positives[:, 0]),
            "sorted": lambda given=given: np.argsort(-given, axis=1),
        }
        timed = in_turn(works, 20 * settings.rounds + 1)
        work, batch = _size(given), timed["ours"].becomes(lambda found: found.mean())
        order = timed["sorted"].becomes(lambda found, labels=labels: _of_order(found, labels))
        key = f"updates, {work}"
        table.compare(work, batch, "np.argsort(-scores)", order, key=key, some=True)
    yield table


# ---------------------------------------------------------------- embeddings


def embeddings(settings: Settings) -> Iterator[Table]:
    """Scores that are never held, against the product alone of what is made float32 or scaled."""
    queries, documents, width = (20, 2_000, 16) if settings.quick else (500, 500_000, 64)
    random = np.random.default_rng(1)
    first, second = (random.standard_normal((n, width), np.float32) for n in (queries, documents))
    positives = random.integers(0, documents, queries)
    irbatch.runtime.warmup()
    size = f"{queries:,} × {documents:,} of {width} dimensions"
    table = Table(f"embeddings: {size}, a positive each; nDCG@10 RR", settings)
    for name, given, similarity, prepare in (
        ("dot", second, "dot", np.asarray),
        ("cosine", second, "cosine", lambda given: given / np.linalg.norm(given, axis=1)[:, None]),
        ("float16", second.astype(np.float16), "dot", lambda given: given.astype(np.float32)),
    ):
        evaluate = partial(irbatch.evaluate_embeddings, first, given, None, "nDCG@10 RR",
                           positives=positives, similarity=similarity)  # fmt: skip
        product = lambda given=given, prepare=prepare: first @ prepare(given).T  # noqa: E731
        timed = in_turn({"": evaluate, "product": product}, settings.rounds, patience=math.inf)
        scores = timed["product"].result
        ranks = 1 + (scores > scores[np.arange(queries), positives][:, None]).sum(axis=1)
        found = {"RR": timed[""].result.mean()["RR"]}
        agreement = compare_values(found, {"RR": float((1 / ranks).mean())}, FLOAT32)
        table.measure_by(name, timed[""], "the product", timed["product"],
                         key=f"embeddings, {name}", agreement=agreement)  # fmt: skip
    yield table


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
    works = {"copy": matrix.codes.copy, "scan": partial(scan, matrix, request, 2)}
    timed = in_turn(works, 2 * settings.rounds + 1)
    hits = timed["scan"].result.sums.hits[0, :, : len(CUTOFFS)]
    agreed = all((hits[:, i] == (matrix.codes[:, :k] >= 1).sum(axis=1)).all()
                 for i, k in enumerate(CUTOFFS))  # fmt: skip
    agreement = agreed, "hits equal" if agreed else "DIFFERENT hits"
    table.measure_by(f"scan at {len(CUTOFFS)} cutoffs, 2 threads", timed["scan"], "codes.copy()",
                     timed["copy"], key="scan, copy", agreement=agreement)  # fmt: skip
    plan = Plan(parse_measures(usual(depth)))
    works = {"scan": partial(scan, matrix, plan._request), "": partial(plan.values, matrix)}
    timed = in_turn(works, settings.rounds)
    table.measure_by(f"scan and formulas of {len(usual(depth))} measures", timed[""], "their scan",
                     timed["scan"], key="scan, formulas")  # fmt: skip
    yield table
