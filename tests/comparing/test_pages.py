"""Comparisons as a page: what its tables hold, and that its pictures show the numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from support.comparisons import constant, make, nasty
from support.pages import Page, pictures
from support.plots import check_readable

from irbatch.comparing import Comparison
from irbatch.comparing.plots import plot_figures


def random(count: int = 4, queries: int = 30, columns: int = 2, **more: object) -> Comparison:
    values = np.random.default_rng(5).random((count, queries, columns))
    return make(values, p=0.01, **more)


def test_cells_hold_exact_values_to_sort_by() -> None:
    compared = random()
    page = Page(Comparison.to_html(compared))
    exact = [float(attrs["data-v"]) for attrs, _ in page.of("td") if attrs.get("class") == "mean"]
    order = np.argsort(-compared.means[:, 0]).tolist()
    pairs = sorted(range(len(compared.pairs)),
                   key=lambda pair: [order.index(i) for i in compared.pairs[pair]])  # fmt: skip
    means, differences = compared.means[order], compared.differences[pairs].T
    assert exact == [*means.ravel().tolist(), *differences.ravel().tolist()]
    odd = Comparison.to_html(constant(math.nan, 0.25, p=math.nan, scaled=np.zeros((2, 4, 1))))
    assert 'class="n" data-v="">–' in odd
    assert 'data-v="nan"' not in odd
    page = Page(Comparison.to_html(random(30, 3, 1), pairs=False))
    order = [attrs["data-v"] for attrs, text in page.of("td") if text.isalpha()]
    assert sorted(map(int, order)) == list(range(30)), "z before aa"
    infinite = Comparison.to_html(constant(0.25, math.inf, scaled=np.zeros((2, 4, 1))))
    assert 'data-v="Infinity"' in infinite, "as JavaScript reads it"


def test_captions_of_tables() -> None:
    page = Page(Comparison.to_html(random()))
    assert page.of("caption")[0][1] == "Means of 30 queries"
    assert page.of("caption")[1][1] == "Differences; significant p-values are bold"


@pytest.mark.filterwarnings("ignore:Glyph")  # letters that browsers have, but not DejaVu Sans
def test_labels_stand_apart_and_inside() -> None:
    large = make(np.random.default_rng(2).random((3, 9, 1)) * 0.5 + 1e5)
    for compared in (random(), nasty(), random(30, 3, 1), large):
        for figures in plot_figures(compared):
            for figure in figures.figures:
                check_readable(figure.draw().axes[0])


def test_pictures_tell_what_they_show() -> None:
    compared = random()
    told = [attrs["alt"] for attrs, _ in pictures(Comparison.to_html(compared))]
    assert len(told) == 2, "one a measure"
    assert told[0].endswith("Differences of means and their 95% intervals.")
    assert not pictures(Comparison.to_html(compared, plots=False))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1e9])
def test_pictures_of_odd_numbers(value: float) -> None:
    with np.errstate(all="ignore"):
        values = [[[value], [0.25]], [[0.0], [value]]]
        compared = make(values, scaled=np.zeros((2, 2, 1)))
        assert compared.relative.size
    assert Comparison.to_html(compared)
