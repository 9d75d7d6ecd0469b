"""Comparing systems: sign flips against one matrix product of that size, and against SciPy."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np

import irbatch
from benchmarks.names import TWENTY
from benchmarks.report import Table, absence
from benchmarks.settings import Settings
from benchmarks.timing import multiple
from benchmarks.turns import in_turn, times_as_long
from irbatch.statistics.resampling import flip_signs

__all__ = ["tables"]

SYSTEMS = 9
DRAWS = 10_000


def tables(settings: Settings) -> Iterator[Table]:
    """Time 9 systems against a baseline on 20 measures, and pairs; the tests alone, and all."""
    queries, draws = (200, 500) if settings.quick else (6_980, DRAWS)
    random = np.random.default_rng(0)
    differences = random.normal(0.01, 0.3, (queries, len(TWENTY) * SYSTEMS))
    signs = random.choice([-1.0, 1.0], (draws, queries))
    table = settings.table(
        f"comparing systems: {draws:,} sign flips × {queries:,} queries; {SYSTEMS} systems against "
        f"a baseline, {len(TWENTY)} measures"
    )
    flip_signs(differences[:, :1], 300, 0)  # compiles
    timed = in_turn(
        {
            "ours": lambda: flip_signs(differences, draws, 0),
            "product": lambda: signs @ differences,
        },
        settings.rounds,
        patience=math.inf,
    )
    flips, product = timed["ours"], timed["product"]
    table.measure_by("sign flips", flips, "the product", product, key="comparing, flips")
    _compare_scipy(table, differences[:, 0].copy(), draws, settings)
    _default_settings(table, queries, settings)
    yield table


def _default_settings(table: Table, queries: int, settings: Settings) -> None:
    """Time p-values and intervals in seconds of all processors together."""
    draws = 500 if settings.quick else DRAWS
    random = np.random.default_rng(1)
    results = {
        f"system {number}": irbatch.evaluate_matrix(random.random((queries, 20)) < 0.2, TWENTY)
        for number in range(SYSTEMS + 1)
    }
    many = queries if settings.quick else 50_000
    documents = [f"d{number}" for number in range(10)]
    qrels = {f"q{number}": {documents[number % 7]: 1} for number in range(many)}
    runs = {
        name: {query: dict(zip(documents, scores, strict=True))
               for query, scores in zip(qrels, random.random((many, 10)).tolist(), strict=True)}
        for name in ("first", "second")
    }  # fmt: skip
    first = "system 0"
    timed = in_turn(
        {
            "pair": lambda: irbatch.compare(qrels, runs, "AP nDCG@10", draws=draws),
            "systems": lambda: irbatch.compare(results, baseline=first, draws=draws),
        },
        settings.rounds,
        clock=time.process_time,
    )
    work = f"compare, one pair, 2 measures, {many:,} queries, CPU"
    table.alone(work, timed["pair"], key="comparing, one pair")
    work = f"compare, values of {SYSTEMS} systems against a baseline, CPU"
    table.alone(work, timed["systems"], key="comparing, systems")


def _compare_scipy(table: Table, differences: np.ndarray, draws: int, settings: Settings) -> None:
    """One pair; p-values of different draws agree within their spread."""
    peer, key = "scipy.stats.permutation_test", "comparing, scipy"
    reason = absence("scipy", "scipy")
    if reason is not None:
        table.skip("one pair", peer, reason, key=key)
        return
    from scipy.stats import permutation_test

    def theirs() -> float:
        found = permutation_test(
            (differences,), lambda x, axis: x.mean(axis=axis), permutation_type="samples",
            n_resamples=draws, batch=256, rng=np.random.default_rng(0),
        )  # fmt: skip
        return float(found.pvalue)

    timed = in_turn(
        {
            "ours": lambda: float((flip_signs(differences[:, None], draws, 0)[0] + 1)
                                  / (draws + 1)),
            "scipy": theirs,
        },
        settings.rounds,
    )  # fmt: skip
    mine, other = timed["ours"].result, timed["scipy"].result
    spread = 5 * math.sqrt(max(mine * (1 - mine), 1e-3) * 2 / draws)
    agree = f"p {mine:.4f} and {other:.4f}, of other draws"
    if abs(mine - other) > spread:
        table.problems.append(f"{table.title}: one pair: {agree}")
    ratio = times_as_long(timed["ours"], timed["scipy"])
    cells = str(timed["ours"]), peer, str(timed["scipy"]), multiple(ratio), agree
    table.add("one pair, sign flips", *cells, key=key, figure=ratio)
