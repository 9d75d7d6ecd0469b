"""What is in pictures and pages, and that they can be read: one system or fifty, long names."""

from __future__ import annotations

import itertools
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.comparisons import constant, make, nasty
from support.pages import Page, pictures
from support.paths import REPOSITORY

import irbatch
from irbatch import InputError

pytest.importorskip("matplotlib")

from irbatch.comparing import Comparison
from irbatch.comparing.plots import plot_differences, plot_figures, plot_forest
from irbatch.report.axes import fit_names, new_axes, styles

LONG = "a-dense-retriever-with-a-long-name-checkpoint"


def made_comparison(systems: int, queries: int, seed: int = 0) -> Comparison:
    draw = np.random.default_rng(seed)
    names = [f"{LONG}-{i}" for i in range(systems)]
    p = draw.random((systems * (systems - 1) // 2, 2)) ** 3
    values = draw.beta(2, 2, (systems, queries, 2))
    ids = [f"query-{i}" for i in range(queries)]
    return make(values, names, ["nDCG@10", "AP"], p=p, query_ids=ids, simultaneous=True)


def small_comparison() -> Comparison:
    values = np.full((2, 4, 2), 0.5)
    values[:, :, 0] = [[0.9, 0.2, 0.5, 0.4], [0.5, 0.7, 0.5, 0.0]]
    ids = [f"query-{i}" for i in range(4)]
    return make(values, ["new", "old"], ["nDCG@10", "AP"], query_ids=ids)


@pytest.fixture(scope="module")
def results() -> irbatch.evaluation.SystemResults:
    data = REPOSITORY / "examples" / "data"
    wanted = ["nDCG", "R", "iprec_at_recall", "NumRelRet"]
    runs = [data / "pca10.run", data / "random-projection.run"]
    return irbatch.evaluate_runs(data / "qrels.txt", runs, wanted, [1, 5, 10, 50, None])


def check_readable(ax: Any) -> None:
    """No label on another, none outside the picture."""
    figure = ax.get_figure()
    canvas = pytest.importorskip("matplotlib.backends.backend_agg").FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for axis in (ax.xaxis, ax.yaxis):
        labels = [each for each in axis.get_ticklabels() if each.get_text() and each.get_visible()]
        boxes = [each.get_window_extent(renderer) for each in labels]
        for one, other in itertools.pairwise(boxes):
            assert not one.overlaps(other), [each.get_text() for each in labels]
    texts = [*ax.texts, ax.title, ax._left_title, ax._right_title, ax.xaxis.label, ax.yaxis.label]
    said = [each for each in texts if each.get_text()]
    boxes = [each.get_window_extent(renderer) for each in said]
    if legend := ax.get_legend():
        boxes.append(legend.get_window_extent(renderer))
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other), [each.get_text() for each in said]
    whole = figure.bbox.padded(1)
    for box in boxes:
        assert whole.containsx(box.x0), box
        assert whole.containsx(box.x1), box
        assert whole.containsy(box.y0), box
        assert whole.containsy(box.y1), box
    drawn = ax.get_window_extent(renderer)
    assert drawn.width > 0.35 * figure.bbox.width


def drawn(system_count: int, query_count: int) -> list[tuple[str, Callable[[], Any]]]:
    qrels = {f"query-{q}": {f"d{i}": i % 4 for i in range(20)} for q in range(query_count)}
    runs = {
        f"{LONG}-{s}": {
            query: {f"d{(i * (s + 2)) % 31}": -i for i in range(15)} for query in list(qrels)
        }
        for s in range(system_count)
    }
    found = irbatch.evaluate_runs(qrels, runs, "nDCG AP RR iprec_at_recall")
    cut = irbatch.evaluate_runs(qrels, runs, "nDCG", [1, 2, 3, 5, 10, 100])
    made = made_comparison(max(system_count, 2), query_count)
    a, b = made.systems[:2]
    return [
        ("cutoffs", cut.plot),
        ("precision and recall", lambda: found.plot("iprec_at_recall")),
        ("bars", lambda: found.plot("nDCG AP RR")),
        ("differences", lambda: plot_differences(made, a, b, "AP")),
        ("forest", made.plot),
    ]


@pytest.mark.parametrize(("systems", "queries"), [(1, 1), (3, 12), (40, 9)])
def test_pictures_can_be_read(systems: int, queries: int) -> None:
    for name, draw in drawn(systems, queries):
        try:
            check_readable(draw())
        except AssertionError as problem:
            raise AssertionError(f"{name}: {problem}") from problem


def test_axes_are_those_given_and_nothing_global_is_touched() -> None:
    mine = new_axes(None)
    before = mine.get_figure().get_size_inches().tolist()
    for _, draw in drawn(2, 3):
        assert draw().get_figure() is not mine.get_figure()
    assert small_comparison().plot(ax=mine) is mine
    assert mine.get_figure().get_size_inches().tolist() == before
    with pytest.raises(InputError, match="axes, not a str"):
        small_comparison().plot(ax="here")
    program = (
        "import sys, irbatch, irbatch.comparing.plots, irbatch.leaderboard.report\n"
        "found = irbatch.evaluate_matrix([[1]], 'RR')\n"
        "assert 'matplotlib' not in sys.modules\n"
        "found.plot('RR').figure.savefig(sys.stdout.buffer)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.startswith(b"\x89PNG")


def test_cutoffs(results: Any) -> None:
    ax = results.plot("ndcg")
    assert (ax.get_ylabel(), ax.get_xlabel(), ax.get_xscale()) == ("nDCG@k", "cutoff", "log")
    assert results.plot().get_ylabel() == "nDCG@k", "the first measure, at its cutoffs"
    for line, band, each in zip(ax.lines, ax.collections, results.values(), strict=True):
        assert line.get_xdata().tolist() == [1, 5, 10, 50]
        assert list(line.get_ydata()) == [each[f"nDCG@{k}"] for k in (1, 5, 10, 50)]
        box = band.get_datalim(ax.transData)
        assert box.y0 < min(line.get_ydata())
        assert max(line.get_ydata()) < box.y1
    assert not results.plot("R", interval=None).collections
    counts = results["pca10"].plot("NumRelRet")
    assert not counts.collections, "sums have no interval of a mean"
    assert counts.get_title(loc="left") == ""


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ({"measure": "P@3"}, "P@3 was not evaluated for every system; there are: nDCG@1"),
        ({"interval": "se"}, "interval='se' must be"),
        ({"level": 95}, "level=95 must be a number below 1"),
    ],
)
def test_what_cannot_be_plotted(results: Any, choice: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        results.plot(**choice)


def test_bars(results: Any) -> None:
    ax = results.plot("nDCG@10")
    widths = [bar.get_width() for bars in ax.containers for bar in bars]
    assert widths == [each["nDCG@10"] for each in results.values()]
    for line, mean in zip(ax.lines, widths, strict=True):
        low, high = line.get_xdata()
        assert low < mean < high
    assert not results.plot("nDCG@10", interval=None).lines
    some = results.plot(["R@5", "nDCG@10"])
    assert [label.get_text() for label in some.get_yticklabels()] == ["R@5", "nDCG@10"]


def test_bars_of_many_and_of_one() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {f"{LONG}-{i}": {"q1": {"a": 1}, "q2": {"a": i, "b": 1}} for i in range(30)}
    found = irbatch.evaluate_runs(qrels, runs, "AP RR NumRel")
    ax = found.plot(interval=None)
    assert [each.get_text() for each in ax.get_yticklabels()] == ["AP", "RR"], "no counts"
    check_readable(ax)
    one = found[f"{LONG}-2"]
    assert [each.get_text() for each in one.plot(interval=None).texts] == ["0.7500", "0.7500"]
    check_readable(one.plot(interval=None))
    counts = one.plot("NumRel")
    assert [each.get_text() for each in counts.texts] == ["2"]
    assert (counts.get_xlabel(), len(counts.lines)) == ("sum over 2 queries", 0)
    assert one.plot("AP").get_xlabel() == "mean over 2 queries"


def test_a_notebook_shows_axes_as_a_picture() -> None:
    ax = small_comparison().plot()
    assert ax._repr_png_().startswith(b"\x89PNG")
    assert pickle.loads(pickle.dumps(ax))._repr_png_().startswith(b"\x89PNG")


def test_precision_and_recall(results: Any) -> None:
    for line, each in zip(results.plot("iprec_at_recall").lines, results.values(), strict=True):
        assert list(line.get_xdata()) == pytest.approx([i / 10 for i in range(11)])
        assert list(line.get_ydata())[:2] == [each["IPrec"], each["IPrec(recall=0.1)"]]
    points = ["IPrec@50", "IPrec(recall=0.5)@50"]
    cut = irbatch.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, points).plot(points)
    assert cut.get_ylabel() == "interpolated precision in the first 50"


def test_differences() -> None:
    ax = plot_differences(small_comparison(), "new", "old", "ndcg_cut_10")
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.4, 0.4, 0.0, -0.5])
    told = "2 better, 1 equal, 1 worse; mean +0.0750 (dashed)"
    assert ax.get_title(loc="left") == f"new − old\n{told}"
    assert ax.get_ylabel() == "difference in nDCG@10"


def test_differences_of_many_queries() -> None:
    made = made_comparison(2, 1000)
    a, b = made.systems
    ax = plot_differences(made, a, b, "AP")
    assert len(ax.patches) == 200
    for other, measure, said in (("c", "AP", "no system 'c'"), (b, "P@5", "P@5 was not")):
        with pytest.raises(InputError, match=said):
            plot_differences(made, a, other, measure)


def test_forest() -> None:
    made = made_comparison(4, 10)
    ax = plot_forest(made, "AP")
    order = np.argsort(-made.differences[:, 1])
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [line.get_xdata()[0] for line in dots] == made.differences[order, 1].tolist()
    full = [line.get_markerfacecolor() != "white" for line in dots]
    assert full == made.significant[order, 1].tolist()
    assert len(ax.texts) == 7, "six p-values and what they are"
    assert {text.get_text() for text in ax.texts} >= {"p (holm)"}
    few = plot_forest(made_comparison(11, 5), "AP")
    assert len(few.get_yticklabels()) == 45
    assert "10 smaller ones not shown" in few.get_title(loc="left")
    unknown = replace(made, corrected=np.full((6, 2), np.nan))
    assert "–" in {text.get_text() for text in plot_forest(unknown, "AP").texts}


def test_names_are_shortened_and_stay_apart() -> None:
    names = [f"{LONG}-{i}" for i in range(12)] + [f"{LONG[:20]}-and-{LONG[21:]}-1", LONG * 3]
    short = fit_names(names, 20)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 20
    assert fit_names(["a\nb", "$x$"]) == ["a b", r"\$x\$"]
    assert len({(style.color, style.linestyle) for style in styles(40)}) == 40


# ---------------------------------------------------------------- pages


def random_comparison(
    count: int = 4, queries: int = 30, columns: int = 2, **more: object
) -> Comparison:
    values = np.random.default_rng(5).random((count, queries, columns))
    return make(values, p=0.01, **more)


def test_cells_hold_exact_values_to_sort_by() -> None:
    compared = random_comparison()
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
    page = Page(Comparison.to_html(random_comparison(30, 3, 1), pairs=False))
    order = [attrs["data-v"] for attrs, text in page.of("td") if text.isalpha()]
    assert sorted(map(int, order)) == list(range(30)), "z before aa"
    infinite = Comparison.to_html(constant(0.25, math.inf, scaled=np.zeros((2, 4, 1))))
    assert 'data-v="Infinity"' in infinite, "as JavaScript reads it"


def test_captions_of_tables() -> None:
    page = Page(Comparison.to_html(random_comparison()))
    assert page.of("caption")[0][1] == "Means of 30 queries"
    assert page.of("caption")[1][1] == "Differences; significant p-values are bold"


@pytest.mark.filterwarnings("ignore:Glyph")  # letters that browsers have, but not DejaVu Sans
def test_labels_stand_apart_and_inside() -> None:
    large = make(np.random.default_rng(2).random((3, 9, 1)) * 0.5 + 1e5)
    for compared in (random_comparison(), nasty(), random_comparison(30, 3, 1), large):
        for figure in plot_figures(compared):
            check_readable(figure.draw())


def test_pictures_tell_what_they_show() -> None:
    compared = random_comparison()
    told = [attrs["alt"] for attrs, _ in pictures(Comparison.to_html(compared))]
    assert len(told) == 2, "one a measure"
    assert told[0].endswith("and their 95% percentile bootstrap intervals.")
    assert not pictures(Comparison.to_html(compared, plots=False))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -0.0, 1e9])
def test_pictures_of_odd_numbers(value: float) -> None:
    with np.errstate(all="ignore"):
        values = [[[value], [0.25]], [[0.0], [value]]]
        compared = make(values, scaled=np.zeros((2, 2, 1)))
        assert compared.relative.size
    assert Comparison.to_html(compared)
