"""Draws for resampling: which are made, and what is taken of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from irbatch.statistics import resampling
from irbatch.statistics.resampling import draw_counts, draw_quantiles


@pytest.mark.parametrize("size", [3, 100_000])  # of the larger one, 41 draws are made at a time
def test_fewer_draws_are_the_first_of_more(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    count_picks = resampling._count_picks

    def watched(generator: np.random.Generator, size: int, draws: int) -> Any:
        made.append(draws)
        return count_picks(generator, size, draws)

    monkeypatch.setattr(resampling, "_count_picks", watched)
    many = [each.argmax(axis=1) for each in draw_counts(size, 258, 7)]
    all_of_many = len(made)
    for draws in (1, 41, 42, 256, 257):
        made.clear()
        few = [each.argmax(axis=1) for each in draw_counts(size, draws, 7)]
        assert all(map(len, few))
        assert np.concatenate(few).tolist() == np.concatenate(many)[:draws].tolist()
        assert len(made) == len(few) <= all_of_many, "none is made that is not handed out"


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 4)])
def test_quantiles_are_those_of_the_drawn_columns(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).gamma(2, 10, shape)
    shares = np.array([0.0, 0.5, 0.95, 1.0])
    found = np.concatenate(list(draw_quantiles(values, shares, 20, 3)))
    counts = np.concatenate(list(draw_counts(shape[1], 20, 3))).astype(int)
    for row, often in zip(found, counts, strict=True):
        drawn = np.repeat(values, often, axis=1).ravel()
        expected = [drawn.mean(), *np.quantile(drawn, shares)]
        np.testing.assert_allclose(row, expected, rtol=1e-12)
