"""Draws for resampling: which are made, and what is taken of them."""

from __future__ import annotations

import math
import operator
from fractions import Fraction

import numpy as np
import pytest

from irbatch.statistics import resampling
from irbatch.statistics.resampling import (
    COUNTED,
    draw_column_means,
    draw_counts,
    draw_means,
    flip_signs,
    generator_of,
)


@pytest.mark.parametrize("size", [1, 3, 9, 10, 100, 20_000])  # of the last, in several stretches
def test_draws_are_with_replacement(size: int) -> None:
    draws = 300 if size > 1000 else 20_000
    often = np.concatenate(list(draw_counts(size, draws, 7)))
    assert (often.sum(axis=1) == size).all(), "as many as there are"
    # How often a query is drawn is binomial, whichever it is, and two of them rival each other.
    share = np.bincount(often.astype(int).ravel(), minlength=12)[:12] / often.size
    expected = [math.comb(size, k) * (size - 1) ** max(size - k, 0) / size**size for k in range(12)]
    spread = 5 * np.sqrt(np.array(expected) / often.size) + 1e-9
    assert (np.abs(share - expected) < spread).all()
    assert np.abs(often.mean(axis=0) - 1).max() < 5.5 / math.sqrt(draws)
    together = ((often[:, 0] - 1) * (often[:, -1] - 1)).mean()
    variance = 1 - 1 / size
    assert together == pytest.approx(-1 / size if size > 1 else 0, abs=6 * variance / draws**0.5)


@pytest.mark.parametrize("size", [3, 500])
def test_fewer_draws_are_the_first_of_more(size: int) -> None:
    many = np.concatenate(list(draw_counts(size, COUNTED + 2, 7)))
    for draws in (1, 41, COUNTED, COUNTED + 1):
        few = np.concatenate(list(draw_counts(size, draws, 7)))
        assert few.tolist() == many[:draws].tolist()
    assert (many[0] != many[COUNTED]).any(), "no block is like another"
    assert (many[0] != next(draw_counts(size, 1, 9))[0]).any()


@pytest.mark.parametrize("queries", [1, 8, 61, 9000])
def test_means_are_those_of_the_drawn(queries: int) -> None:
    """Exactly rounded, whatever columns there are and however the sums are made."""
    random = np.random.default_rng(1)
    values = random.normal(0, 1, (queries, 5)) * [1e-200, 1, 1e8, 1e200, 0]
    values[:, 1] = 0.3
    observed, drawn = draw_means(values, 3, 4)
    often = next(draw_counts(queries, 3, 4)).astype(int).tolist()
    for column, means in zip(values.T, drawn, strict=True):
        exact = [
            sum(map(operator.mul, counts, map(Fraction, column))) / queries for counts in often
        ]
        close = 2.0 ** (queries.bit_length() - 52) * np.abs(column).max()
        assert means == pytest.approx(list(map(float, exact)), abs=close, rel=0)
    assert observed.tolist() == [math.fsum(column) / queries for column in values.T]
    assert (drawn[1] == observed[1]).all(), "what doesn't vary stays as it is"
    for some in ([1], [3, 0], [0, 1, 2, 3, 4] * 40):
        again = draw_means(values[:, some], 3, 4)
        assert again[0].tolist() == observed[some].tolist()
        assert again[1].tolist() == drawn[some].tolist()


def test_numbers_next_to_zero_may_be_zero() -> None:
    for means in draw_means(np.full((2, 1), 5e-324), 3, 4):
        assert (abs(means) <= 5e-324).all()


def test_strata_are_drawn_from_apart() -> None:
    values = np.concatenate([np.zeros((30, 1)), np.ones((10, 1))])
    groups = [np.arange(30), np.arange(30, 40)]
    observed, drawn = draw_means(values, 50, 0, groups)
    assert observed == 0.25
    assert (drawn == 0.25).all()
    assert len(np.unique(draw_means(values, 50, 0)[1])) > 5
    mixed = np.random.default_rng(2).permutation(40)
    places = np.argsort(mixed)
    moved = draw_means(values[mixed], 50, 0, [places[group] for group in groups])
    assert (moved[1] == 0.25).all()


@pytest.mark.parametrize("queries", [25, 9000])
def test_signs_are_the_bits_of_the_generator(queries: int) -> None:
    differences = np.random.default_rng(4).normal(0.01, 1, (queries, 3))
    signs = []
    for block in range(2):
        stretches = [generator_of(5, block, part) for part in range(-(-queries // 8192))]
        drawn = [np.frombuffer(each.bytes(256 * 1024), np.uint8) for each in stretches]
        bits = [np.unpackbits(each.reshape(256, -1), axis=1) for each in drawn]
        signs.append(2.0 * np.concatenate(bits, axis=1)[:, :queries] - 1)
    sums = np.abs(np.concatenate(signs)[:300] @ differences)
    expected = (sums >= np.abs(differences.sum(axis=0))).sum(axis=0)
    assert flip_signs(differences, 300, 5).tolist() == expected.tolist()


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (3, 4)])
def test_means_are_those_of_the_drawn_columns(shape: tuple[int, int]) -> None:
    values = np.random.default_rng(1).gamma(2, 10, shape)
    found = draw_column_means(values, 20, 3)
    counts = np.concatenate(list(draw_counts(shape[1], 20, 3))).astype(int)
    expected = [np.repeat(values, often, axis=1).mean() for often in counts]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("stretch", [2, 1024])
def test_every_query_permutes_its_systems(stretch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "TUKEY_STRETCH", stretch)
    values = np.zeros((3, 2, 1))
    values[:, 1, 0] = [1, 2, 4]
    ranges = np.concatenate(list(resampling.draw_ranges(values, 600, 1)))[:, 0] * 3
    found, often = np.unique(np.round(ranges), return_counts=True)
    assert found.tolist() == [1, 3, 5, 7]
    assert often.min() > 100, "of 600 draws 150 each are expected"
