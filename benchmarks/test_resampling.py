"""What random weights cost, and sums under them, beside the matrix product that they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from irbatch.statistics.draws import COUNTED, count_draws
from irbatch.statistics.resampling import draw_means, flip_signs
from irbatch.statistics.weighted_sums import add_counted, as_whole, pad_columns

QUERIES = 6_980


@pytest.mark.parametrize("columns", [1, 4, 24, 184])
@pytest.mark.parametrize("way", ["ours", "BLAS", "BLAS, of bytes"])
def test_sums_of_drawn_queries(benchmark: Any, way: str, columns: int) -> None:
    counts = count_draws(QUERIES, 0, 0)
    values = pad_columns(as_whole(np.random.default_rng(0).random((QUERIES, columns)))[0])
    sums, floats = np.zeros((columns, COUNTED)), counts.astype(np.float64)
    work = {
        "ours": lambda: add_counted(counts, values, sums),
        "BLAS": lambda: np.matmul(values, floats, out=sums),
        "BLAS, of bytes": lambda: np.matmul(values, counts.astype(np.float64), out=sums),
    }
    benchmark(work[way])


@pytest.mark.parametrize("queries", [50, 1000, 50_000])
@pytest.mark.parametrize("way", ["ours", "one by one"])
def test_counts_of_draws(benchmark: Any, way: str, queries: int) -> None:
    """Against what `numpy.bincount` makes of one random number a query."""
    random = np.random.default_rng(0)
    offsets = np.arange(COUNTED)[:, None] * queries

    def count() -> Any:
        picks = random.integers(0, queries, (COUNTED, queries)) + offsets
        return np.bincount(picks.ravel(), minlength=picks.size)

    benchmark((lambda: count_draws(queries, 0, 0)) if way == "ours" else count)


@pytest.mark.parametrize("columns", [2, 180])
@pytest.mark.parametrize("way", [draw_means, flip_signs])
def test_draws(benchmark: Any, way: Any, columns: int) -> None:
    values = np.random.default_rng(0).normal(0.01, 0.3, (QUERIES, columns))
    benchmark(way, values, 1000, 0)
