"""Texts in views of 16 bytes, as polars has them, beside slices with a start and a length each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

import irbatch
from irbatch.data.columns import QueryTable
from irbatch.data.ids import TextColumn
from irbatch.data.short_texts import ShortTexts

QUERIES, DEPTH = 1_000, 1_000


def make_columns() -> tuple[TextColumn, TextColumn, np.ndarray]:
    """Queries, documents of 7 digits and descending scores."""
    random = np.random.default_rng(0)
    documents = [random.choice(9_000_000, DEPTH, replace=False) + 1_000_000 for _ in range(QUERIES)]
    texts = TextColumn.encode([str(each) for some in documents for each in some.tolist()])
    queries = TextColumn.encode([str(q) for q in range(QUERIES) for _ in range(DEPTH)])
    return queries, texts, np.tile(np.arange(float(DEPTH), 0, -1), QUERIES)


@pytest.mark.parametrize(
    "of", [ShortTexts.of_column, lambda column: column], ids=["views", "slices"]
)
def test_run_of_columns(
    benchmark: BenchmarkFixture, of: Callable[[TextColumn], TextColumn]
) -> None:
    queries, documents, scores = make_columns()
    irbatch.warmup()
    run = benchmark(irbatch.Run.from_columns, of(queries), of(documents), scores)
    assert isinstance(run.rankings, QueryTable)
