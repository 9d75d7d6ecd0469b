"""Comparing systems: sign flips against one matrix product of that size, and against SciPy."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from benchmarks.report import Table, absence, duration
from benchmarks.settings import Settings
from benchmarks.turns import in_turn, times_as_long
from irbatch.statistics.resampling import flip_signs

__all__ = ["tables"]

MEASURES, SYSTEMS = 20, 9
DRAWS = 10_000
AIM = "(aim: 3)"


def tables(settings: Settings) -> Iterator[Table]:
    """Time 9 systems against a baseline on 20 measures, and one pair on one measure."""
    queries, draws = (200, 500) if settings.quick else (6_980, DRAWS)
    random = np.random.default_rng(0)
    differences = random.normal(0.01, 0.3, (queries, MEASURES * SYSTEMS))
    signs = random.choice([-1.0, 1.0], (draws, queries))
    table = Table(
        f"comparing systems: {draws:,} sign flips × {queries:,} queries; {SYSTEMS} systems against "
        f"a baseline, {MEASURES} measures"
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
    times = times_as_long(timed["product"], timed["ours"])
    cells = duration(timed["ours"].seconds), "the product", duration(timed["product"].seconds)
    table.add("p-values", *cells, f"{times:.1f} × the product {AIM}", "")
    _compare_scipy(table, differences[:, 0].copy(), draws, settings)
    yield table


def _compare_scipy(table: Table, differences: np.ndarray, draws: int, settings: Settings) -> None:
    """One pair; p-values of different draws agree within their spread."""
    reason = absence("scipy", "scipy")
    if reason is not None:
        table.skip("one pair", "scipy.stats.permutation_test", reason)
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
            "ours": lambda: float((flip_signs(differences[:, None], draws, 0)[0][0] + 1)
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
    table.add("one pair", duration(timed["ours"].seconds), "scipy.stats.permutation_test",
              duration(timed["scipy"].seconds), f"{ratio:.0f} × (aim: 30)", agree)  # fmt: skip
