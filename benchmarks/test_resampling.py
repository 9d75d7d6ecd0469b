"""What draws of queries and of signs cost, with means under them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from irbatch.statistics.resampling import draw_means, flip_signs

QUERIES = 6_980


@pytest.mark.parametrize("columns", [2, 180])
@pytest.mark.parametrize("way", [draw_means, flip_signs])
def test_draws(benchmark: Any, way: Any, columns: int) -> None:
    values = np.random.default_rng(0).normal(0.01, 0.3, (QUERIES, columns))
    benchmark(way, values, 1000, 0)
