"""Recommenders: very many users, and tools of their own.

``python -m benchmarks.recommending sessions USERS`` prints the seconds that a document a user
takes, and the bytes; ``… tools USERS ROUNDS`` what each tool took, and its values.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import irbatch
from benchmarks.data import make_problem
from benchmarks.harness import Settings, Table, Timed, absence, amount, in_turn, json_of
from benchmarks.tools import peak_memory

PYTHON = "IRBATCH_RECOMMENDERS"  # names a Python that has RecTools and LensKit
MEASURES = ("nDCG@10", "P@10", "RR@10", "Success@10")
DEPTH, RELEVANT = 100, 10

# ---------------------------------------------------------------- very many users


def users(settings: Settings) -> Iterator[Table]:
    """Lists of ids, interactions, and sessions of which the next document is looked for."""
    count = 2_000 if settings.quick else 1_000_000
    table = Table(f"{count:,} users", settings)
    irbatch.runtime.warmup()
    problem = make_problem(count // 100, DEPTH, RELEVANT)
    ranked, relevant = (np.tile(side, (100, 1)) for side in (problem.documents, problem.judged))

    def evaluate(judged: Any) -> dict[str, float]:
        return irbatch.evaluate_ids(ranked, judged, "nDCG@10 RR").mean()

    works = {"matrix": partial(evaluate, relevant), "list": partial(evaluate, [*relevant])}
    timed = in_turn(works, settings.rounds)
    table.alone(f"evaluate_ids, {DEPTH} ids a user", timed["matrix"], key="users, ids")
    table.measure_by("relevant ids as a list of arrays", timed["list"], "as a matrix",
                     timed["matrix"], key="users, list")  # fmt: skip
    _frames(table, ranked, relevant)
    _interactions(table, 5 * count)
    for size in (count, 10 * count):
        seconds, taken = json_of(["-m", "benchmarks.recommending", "sessions", str(size)])
        alone = Timed(None, (seconds,))
        key = "users, sessions" if size > count else ""
        note = f"{amount(taken)}, {taken / size:.0f} bytes a query"
        table.alone(f"columns of {size:,} sessions × 1 document", alone, key=key, note=note)
    table.add("the same, memory", f"{taken / size:.0f} bytes a query", "", "", "", "",
              key="users, memory", figure=taken / size)  # fmt: skip
    yield table


def _frames(table: Table, ranked: Any, relevant: Any) -> None:
    """Time frames of polars, a row a document."""
    work, key = f"frames of polars, {ranked.size:,} rows", "users, polars"
    if missing := absence("polars"):
        table.add(work, "", "", "", "", f"skipped: {missing}", key=key)
        return
    polars = importlib.import_module("polars")

    def frame(side: Any, value: str) -> Any:
        values = np.tile(np.arange(side.shape[1], 0, -1), len(side))
        users = np.repeat(np.arange(len(side)), side.shape[1])
        return polars.DataFrame({"user_id": users, "item_id": side.ravel(), value: values})

    sides = frame(relevant, "rating"), frame(ranked, "score")
    works = {"": lambda: irbatch.evaluate(*sides, "nDCG@10 RR").mean()}
    table.alone(work, in_turn(works, table.settings.rounds)[""], key=key)


def _interactions(table: Table, count: int) -> None:
    """Time `Items` of a sparse matrix of users by items."""
    work, key = f"Items of {count:,} interactions, CSR", "users, items"
    if missing := absence("scipy"):
        table.add(work, "", "", "", "", f"skipped: {missing}", key=key)
        return
    from scipy.sparse import csr_matrix

    random = np.random.default_rng(1)
    rows = np.repeat(np.arange(count // 50), 50)
    columns = (random.random(count) ** 2 * 50_000).astype(np.int64)
    matrix = csr_matrix((np.ones(count), (rows, columns)))
    works = {"": lambda: irbatch.Items(interactions=matrix)}
    table.alone(work, in_turn(works, table.settings.rounds)[""], key=key)


def _sessions(count: int) -> None:
    """Evaluate a document a query, of columns; print seconds and bytes."""
    random = np.random.default_rng(1)
    queries, documents = np.arange(count), random.integers(0, 100_000, count)
    judged = documents + random.integers(0, 2, count)
    irbatch.runtime.warmup()
    before = peak_memory(children=False)

    def work() -> dict[str, float]:
        qrels = irbatch.Qrels.from_columns(queries, judged, np.ones(count, np.int64))
        run = irbatch.Run.from_columns(queries, documents, np.ones(count))
        return irbatch.evaluate(qrels, run, "RR nDCG@10").mean()

    timed = in_turn({"": work}, 0)[""]
    if timed.result["RR"] != (judged == documents).mean():
        raise SystemExit(f"DIFFERENT: {timed.result}")
    print(json.dumps([timed.seconds, peak_memory(children=False) - before]))


# ---------------------------------------------------------------- tools


def recommenders(settings: Settings) -> Iterator[Table]:
    """Compare with RecTools and LensKit, in the Python that the environment names or this one."""
    count = 200 if settings.quick else 10_000
    title = (
        f"recommendations to {count:,} users, {DEPTH} each, frames of pandas; {' '.join(MEASURES)}"
    )
    table = Table(title, settings)
    words = ["-m", "benchmarks.recommending", "tools", str(count), str(settings.rounds)]
    found = json_of(words, python=os.environ.get(PYTHON, sys.executable))
    ours, *others = (
        each if isinstance(each, str) else Timed(each[0], tuple(each[1])) for each in found.values()
    )
    for name, theirs in zip([*found][1:], others, strict=True):
        key = f"recommenders, {name.partition(',')[0]}"
        if isinstance(ours, str):
            table.add("frames to means", "", name, "", "", f"skipped: {ours}", key=key)
        else:
            table.compare("frames to means", ours, name, theirs, key=key)
    yield table


def _rectools(judged: Any, ranked: Any) -> Callable[[], Any]:
    metrics = importlib.import_module("rectools.metrics")
    kinds = (
        metrics.NDCG(10, divide_by_achievable=True),
        *(kind(10) for kind in (metrics.Precision, metrics.MRR, metrics.HitRate)),
    )
    named = dict(zip(MEASURES, kinds, strict=True))
    return lambda: metrics.calc_metrics(named, reco=ranked, interactions=judged)


def _lenskit(judged: Any, ranked: Any) -> Callable[[], Any]:
    metrics = importlib.import_module("lenskit.metrics")
    lists = importlib.import_module("lenskit.data").ItemListCollection
    sides = [lists.from_df(side, ["user_id"]) for side in (ranked, judged)]
    discount = importlib.import_module("lenskit.metrics.ranking").LogRankWeight(offset=1)
    kinds = (
        metrics.NDCG(10, weight=discount),
        *(kind(10) for kind in (metrics.Precision, metrics.RecipRank, metrics.Hit)),
    )
    analysis = metrics.RunAnalysis()
    for name, kind in zip(MEASURES, kinds, strict=True):
        analysis.add_metric(kind, label=name)
    return lambda: dict(analysis.measure(*sides).list_summary()["mean"])


TOOLS = {
    "irbatch": (
        "pandas",
        "pandas",
        lambda *sides: lambda: irbatch.evaluate(*sides, MEASURES).mean(),
    ),
    "RecTools": ("rectools", "RecTools", _rectools),
    "LensKit, of lists made before": ("lenskit", "lenskit", _lenskit),
}


def _compare_tools(count: int, rounds: int) -> None:
    """Print what each tool took and found, or why it is left out."""
    problem = make_problem(count, DEPTH, RELEVANT)
    found: dict[str, Any] = {name: absence(*where) for name, (*where, _) in TOOLS.items()}
    works = {}
    if not found["irbatch"]:
        pandas = importlib.import_module("pandas")
        ranks = np.tile(np.arange(1, DEPTH + 1), count)
        judged, ranked = (
            pandas.DataFrame({"user_id": np.repeat(problem.queries, side.shape[1]),
                              "item_id": side.ravel()})
            for side in (problem.judged, problem.documents)
        )  # fmt: skip
        irbatch.runtime.warmup()
        for name, (*_, make) in TOOLS.items():
            if not found[name]:
                works[name] = make(judged, ranked.assign(rank=ranks))
    for name, timed in in_turn(works, rounds).items():
        means = {name: float(value) for name, value in timed.result.items()}
        found[name] = means, timed.rounds
    print(json.dumps(found))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    {"sessions": _sessions, "tools": _compare_tools}[sys.argv[1]](*map(int, sys.argv[2:]))
