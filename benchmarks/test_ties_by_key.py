"""Where tied candidates stand by key: counted one by one, or read off the sorted row.

``pytest benchmarks/test_ties_by_key.py`` gave `irbatch.pack.counting.MANY_TIED`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from irbatch.pack import counting
from irbatch.pack.candidates import Candidates


@pytest.mark.parametrize("way", ["count", "sort"])
@pytest.mark.parametrize("tied", [20, 200, 400])
@pytest.mark.parametrize("width", [1_000, 20_000])
def test_count_lower(
    benchmark: Any, monkeypatch: pytest.MonkeyPatch, width: int, tied: int, way: str
) -> None:
    random = np.random.default_rng(1)
    scores = random.integers(0, 50, (1, width)).astype(np.float32)
    columns = np.sort(random.permutation(width)[:tied])
    rows, keys = np.zeros(tied, np.int64), np.arange(width)[None, :]
    candidates = Candidates(scores, None)
    # A kernel for each, made with its limit.
    monkeypatch.setattr(counting, "MANY_TIED", 0 if way == "sort" else width)
    monkeypatch.setattr(counting._count_lower, "_code", {})
    monkeypatch.setenv("IRBATCH_JIT", "1")
    counting.count_lower(candidates, rows, columns, keys)
    benchmark(counting.count_lower, candidates, rows, columns, keys)
