"""What is in the pictures, and that they can be read: of one system or fifty, with long names."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.comparisons import make
from support.paths import REPOSITORY
from support.plots import check_readable

import irbatch
from irbatch import InputError

pytest.importorskip("matplotlib")

from irbatch.comparing import Comparison
from irbatch.comparing.plots import (
    plot_cutoffs,
    plot_differences,
    plot_forest,
    plot_precision_recall,
    plot_scores,
)
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


def drawn(system_count: int, query_count: int) -> list[tuple[str, Callable[[], Any]]]:
    qrels = {f"query-{q}": {f"d{i}": i % 4 for i in range(20)} for q in range(query_count)}
    runs = {
        f"{LONG}-{s}": {
            query: {f"d{(i * (s + 2)) % 31}": -i for i in range(15)} for query in list(qrels)
        }
        for s in range(system_count)
    }
    found = irbatch.evaluate_runs(qrels, runs, "nDCG iprec_at_recall", [1, 2, 3, 5, 10, 100])
    made = made_comparison(max(system_count, 2), query_count)
    a, b = made.systems[:2]
    return [
        ("cutoffs", lambda: plot_cutoffs(found, "nDCG")),
        ("precision_recall", lambda: plot_precision_recall(found)),
        ("differences", lambda: plot_differences(made, a, b, "AP")),
        ("scores", lambda: plot_scores(made, "nDCG@10")),
        ("forest", lambda: plot_forest(made, "nDCG@10")),
    ]


@pytest.mark.parametrize(("systems", "queries"), [(1, 1), (3, 12), (50, 50)])
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
    assert plot_scores(small_comparison(), "AP", ax=mine) is mine
    assert mine.get_figure().get_size_inches().tolist() == before
    program = (
        "import sys, irbatch, irbatch.comparing\n"
        "assert 'matplotlib' not in sys.modules\n"
        "from irbatch.comparing.plots import plot_bars\n"
        "assert 'matplotlib' not in sys.modules\n"
        "found = irbatch.evaluate_matrix([[1]], 'RR')\n"
        "plot_bars({'a': found}, ['RR']).figure.savefig(sys.stdout.buffer)\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.startswith(b"\x89PNG")


def test_cutoffs(results: dict[str, irbatch.Results]) -> None:
    ax = plot_cutoffs(results, "ndcg")
    assert (ax.get_ylabel(), ax.get_xlabel(), ax.get_xscale()) == ("nDCG@k", "cutoff", "log")
    for line, each in zip(ax.lines, results.values(), strict=True):
        assert line.get_xdata().tolist() == [1, 5, 10, 50]
        assert list(line.get_ydata()) == [each[f"nDCG@{k}"] for k in (1, 5, 10, 50)]
    assert len(ax.collections) == 2, "a band for each"
    for band, line in zip(ax.collections, ax.lines, strict=True):
        box = band.get_datalim(ax.transData)
        assert box.y0 < min(line.get_ydata())
        assert max(line.get_ydata()) < box.y1
    some = plot_cutoffs(results, "R@5", [10, 5], interval=None)
    assert some.lines[0].get_xdata().tolist() == [5, 10]
    assert not some.collections
    counts = plot_cutoffs(results["pca10"], "NumRelRet")
    assert not counts.collections, "sums have no interval of a mean"
    assert counts.get_title(loc="left") == ""


@pytest.mark.parametrize("interval", ["percentile", "t"])
def test_bands_hold_the_mean(results: dict[str, irbatch.Results], interval: str) -> None:
    if interval == "t":
        pytest.importorskip("scipy")
    ax = plot_cutoffs(results["pca10"], "nDCG", 10, interval=interval)
    mean, (low, high) = ax.lines[1].get_ydata()[0], ax.lines[0].get_ydata()
    values = results["pca10"].values[:, results["pca10"].measures.index("nDCG@10")]
    error = values.std(ddof=1) / math.sqrt(values.size)
    assert mean == results["pca10"]["nDCG@10"]
    assert (low, high) == pytest.approx((mean - 1.96 * error, mean + 1.96 * error), abs=0.006)


def test_cutoffs_refuses(results: dict[str, irbatch.Results]) -> None:
    with pytest.raises(InputError, match="P was not evaluated at any cutoff"):
        plot_cutoffs(results, "P")
    with pytest.raises(InputError, match="nDCG@7 was not evaluated for every system"):
        plot_cutoffs(results, "nDCG", [7])
    with pytest.raises(InputError, match="no cutoffs to plot"):
        plot_cutoffs(results, "nDCG", [])
    with pytest.raises(InputError, match="takes no cutoff"):
        plot_cutoffs(results, "NumQ")
    with pytest.raises(InputError, match="interval='se' must be"):
        plot_cutoffs(results, "nDCG", interval="se")
    with pytest.raises(InputError, match="level=95 must be a number below 1"):
        plot_cutoffs(results, "nDCG", level=95)
    with pytest.raises(InputError, match="no results to plot"):
        plot_cutoffs({}, "nDCG")
    with pytest.raises(InputError, match="'a' is a float, not Results"):
        plot_cutoffs({"a": 0.5}, "nDCG")  # type: ignore[dict-item]
    with pytest.raises(InputError, match="not as a float"):
        plot_cutoffs(0.5, "nDCG")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="two results are called"):
        plot_cutoffs([results["pca10"]] * 2, "nDCG")
    with pytest.raises(InputError, match="axes, not a str"):
        plot_cutoffs(results, "nDCG", ax="here")


def test_results_plot_themselves(results: Any) -> None:
    assert results.plot().get_ylabel() == "nDCG@k", "the first measure, at its cutoffs"
    assert results["pca10"].plot("R").get_ylabel() == "R@k"
    ax = results.plot("nDCG@10")
    widths = [bar.get_width() for bars in ax.containers for bar in bars]
    assert widths == [each["nDCG@10"] for each in results.values()]
    assert len(ax.lines) == 2, "an interval for each"
    for line, mean in zip(ax.lines, widths, strict=True):
        low, high = line.get_xdata()
        assert low < mean < high
    assert not results.plot("nDCG@10", interval=None).lines
    with pytest.raises(InputError, match="RR was not evaluated for every system; there are: nDCG"):
        results.plot("RR")
    with pytest.raises(InputError, match="level=2 must be"):
        results.plot("nDCG@10", level=2)


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
    ax = plot_scores(small_comparison(), "AP")
    assert ax._repr_png_().startswith(b"\x89PNG")
    again = pickle.loads(pickle.dumps(ax))
    assert again._repr_png_().startswith(b"\x89PNG")


def test_precision_recall(results: dict[str, irbatch.Results]) -> None:
    ax = plot_precision_recall(results)
    for line, each in zip(ax.lines, results.values(), strict=True):
        assert list(line.get_xdata()) == pytest.approx([i / 10 for i in range(11)])
        assert list(line.get_ydata())[:2] == [each["IPrec"], each["IPrec(recall=0.1)"]]
        assert (np.diff(line.get_ydata()) <= 0).all()
    other = irbatch.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "iprec_at_recall", trec_eval=9)
    assert len(plot_precision_recall(other).lines[0].get_xdata()) == 11
    cut = irbatch.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "iprec_at_recall", [5, 50, 10])
    assert plot_precision_recall(cut).get_ylabel() == "interpolated precision in the first 50"
    with pytest.raises(InputError, match="two recall points or more"):
        plot_precision_recall(irbatch.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, "AP"))


def test_differences() -> None:
    ax = plot_differences(small_comparison(), "new", "old", "ndcg_cut_10")
    assert [bar.get_height() for bar in ax.patches] == pytest.approx([0.4, 0.4, 0.0, -0.5])
    labels = [label.get_text() for label in ax.get_xticklabels()]
    assert labels == ["query-0", "query-3", "query-2", "query-1"]
    told = "2 wins, 1 tie, 1 loss; mean +0.075 (dashed)"
    assert ax.get_title(loc="left") == f"new − old\n{told}"
    assert ax.get_ylabel() == "difference in nDCG@10"


def test_differences_name_the_best_and_the_worst_queries() -> None:
    made = made_comparison(2, 120)
    a, b = made.systems
    difference = made.values[0, :, 1] - made.values[1, :, 1]
    order = np.argsort(-difference)
    best, worst = (text.get_text() for text in plot_differences(made, a, b, "AP").texts)
    assert [line.split()[0] for line in best.split("\n")[1:]] == [
        f"query-{row}" for row in order[:3]
    ]
    assert [line.split()[0] for line in worst.split("\n")[1:]] == [
        f"query-{row}" for row in order[:-4:-1]
    ]
    assert not plot_differences(made, a, b, "AP", labelled=0).texts
    with pytest.raises(InputError, match="labelled=-1 must be"):
        plot_differences(made, a, b, "AP", labelled=-1)
    with pytest.raises(InputError, match="no system 'c'"):
        plot_differences(made, a, "c", "AP")
    with pytest.raises(InputError, match="P@5 was not evaluated"):
        plot_differences(made, a, b, "P@5")


def test_scores() -> None:
    made = made_comparison(3, 40)
    ax = plot_scores(made, "AP")
    order = np.argsort(-made.means[:, 1])
    assert [label.get_text()[-1] for label in ax.get_yticklabels()] == [str(i) for i in order]
    for dots, system in zip(ax.collections, order, strict=True):
        assert (
            np.sort(dots.get_offsets()[:, 0]).tolist()
            == np.sort(made.values[system, :, 1]).tolist()
        )
    diamonds = [line for line in ax.lines if line.get_marker() == "D"]
    means = [float(line.get_xdata()[0]) for line in diamonds]
    assert means == pytest.approx(made.means[order, 1])
    assert not plot_scores(made_comparison(2, 1001), "AP").collections, "too many dots"
    with pytest.raises(InputError, match="was not evaluated"):
        plot_scores(made, "RR")


def test_a_comparison_plots_its_pairs() -> None:
    values = np.random.default_rng(2).random((2, 5, 1)) < 0.5
    results = {
        name: irbatch.evaluate_matrix(of, "AP RR") for name, of in zip("ab", values, strict=True)
    }
    found = irbatch.compare(results)
    assert [found.plot(each).get_xlabel() for each in (None, "RR")] == [
        "difference in AP",
        "difference in RR",
    ]


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
    few = plot_forest(made, "AP", most=2)
    assert len(few.get_yticklabels()) == 2
    assert "4 smaller ones not shown" in few.get_title(loc="left")
    unknown = replace(made, corrected=np.full((6, 2), np.nan))
    assert "–" in {text.get_text() for text in plot_forest(unknown, "AP").texts}
    with pytest.raises(InputError, match="most=0 must be"):
        plot_forest(made, "AP", most=0)


def test_names_are_shortened_and_stay_apart() -> None:
    names = [f"{LONG}-{i}" for i in range(12)] + [f"{LONG[:20]}-and-{LONG[21:]}-1", LONG * 3]
    short = fit_names(names, 20)
    assert len(set(short)) == len(names)
    assert max(map(len, short)) <= 20
    assert fit_names(["a\nb", "$x$"]) == ["a b", r"\$x\$"]
    assert len({(style.color, style.linestyle) for style in styles(40)}) == 40


def test_a_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'irbatch\[plot\]'"):
        plot_scores(small_comparison(), "AP")
