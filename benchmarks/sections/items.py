"""What a recommender recommends: coverage, popularity, novelty and diversity of its lists."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

import irbatch
from benchmarks.report import Agreement, Table
from benchmarks.settings import Settings
from benchmarks.turns import Timed, in_turn

__all__ = ["tables"]

Ids = npt.NDArray[np.int64]
DIMENSIONS = 64
COVERAGE = (
    *("CatalogueCoverage", "UserCoverage", "Gini", "Entropy", "Personalisation"),
    *("AvgPopularity", "TailShare", "Novelty", "RunNovelty"),
)


def tables(settings: Settings) -> Iterator[Table]:
    """Evaluate lists of ids, with what is known of the items; their accuracy beside."""
    users, depth, size = (500, 100, 2_000) if settings.quick else (50_000, 100, 20_000)
    rng = np.random.default_rng(1)
    ranked = _lists(rng, users, depth, size)
    relevant = ranked[:, :3].copy()
    irbatch.runtime.warmup()
    vectors = rng.standard_normal((size, DIMENSIONS))
    popularity = rng.integers(0, 500, size)
    items = irbatch.Items(size, popularity=popularity, embeddings=vectors)
    title = f"recommendations: {users:,} × {depth:,} ids of {size:,} items"
    table = settings.table(f"{title}, {DIMENSIONS} dimensions")
    coverage = [f"{name}@{depth}" for name in COVERAGE]

    def evaluate(names: list[str]) -> dict[str, float]:
        return irbatch.evaluate_ids(ranked, relevant, names, items=items).mean()

    works = {
        "nDCG@10": lambda: evaluate(["nDCG@10"]),
        "coverage": lambda: evaluate(coverage),
        "coverage and diversity": lambda: evaluate([*coverage, f"ILD@{depth}"]),
    }
    timed = in_turn(works, settings.rounds)
    for work, each in timed.items():
        table.alone(work, each, key=f"items, {work}" if work != "nDCG@10" else "")
    _check(table, timed["coverage and diversity"], ranked, popularity)
    yield table


def _lists(rng: np.random.Generator, users: int, depth: int, size: int) -> Ids:
    """Draw lists of different items; a step through them, so that lists overlap unevenly."""
    starts = rng.integers(0, size, users) ** 2 // size
    steps = rng.choice([1, 3, 7, 11], users)
    found: Ids = (starts[:, None] + steps[:, None] * np.arange(depth)) % size
    return found


def _check(table: Table, timed: Timed, ranked: Ids, popularity: npt.NDArray[np.integer]) -> None:
    """Compare what NumPy tells in a line each."""
    depth = ranked.shape[1]
    expected = {
        f"CatalogueCoverage@{depth}": np.unique(ranked).size / popularity.size,
        f"AvgPopularity@{depth}": float(popularity[ranked].mean()),
    }
    wrong = [name for name, value in expected.items() if abs(timed.result[name] - value) > 1e-9]
    table.check("values", Agreement(not wrong, f"DIFFERENT: {', '.join(wrong)}"))
