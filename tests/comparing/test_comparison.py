"""Comparisons of systems: every number against SciPy, enumeration, or the definition."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch import compare
from irbatch.comparing.rows import NAMES
from irbatch.evaluation.queries import Rows
from irbatch.statistics.tests import CORRECTIONS, TESTS, correct, signed_ranks_p

stats = pytest.importorskip("scipy.stats")

MEASURES = "RR AP nDCG@3"
RANDOM = np.random.default_rng(11)
Options = dict[str, Any]


def systems(queries: int = 40, count: int = 3, depth: int = 8) -> dict[str, irbatch.Results]:
    """Results of systems of which each is a little better than the one before."""
    labels = RANDOM.random((queries, depth)) < 0.3
    found = {}
    for number in range(count):
        scores = labels * 0.25 * number + RANDOM.random(labels.shape)
        ids = [f"q{i}" for i in range(queries)]
        found[f"s{number}"] = irbatch.evaluate_scores(scores, labels, MEASURES, query_ids=ids)
    return found


THREE = systems()
FEW = systems(queries=9)


def column(results: irbatch.Results, measure: str = "AP") -> np.ndarray[Any, Any]:
    return results.values[:, results.measures.index(measure)]


def p_value(results: dict[str, irbatch.Results], test: str, **options: Any) -> float:
    found = compare(results, test=test, correction="none", **options)
    return found.difference("s1", "s0", "AP").p_value


# ---------------------------------------------------------------- tests


def test_classic_tests_are_scipys() -> None:
    a, b = column(THREE["s1"]), column(THREE["s0"])
    wins, losses = int((a > b).sum()), int((a < b).sum())
    expected = {
        "t": stats.ttest_rel(a, b).pvalue,
        "sign": stats.binomtest(wins, wins + losses).pvalue,
    }
    for test, p in expected.items():
        assert p_value(THREE, test) == pytest.approx(p, rel=1e-12), test


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("results", [THREE, FEW], ids=["40 queries", "9 queries"])
def test_identical_systems(test: str, results: dict[str, irbatch.Results]) -> None:
    same = {"s0": results["s0"], "s1": results["s0"], "s2": results["s0"]}
    found = compare(same, test=test, draws=500)
    assert (found.p_values == 1).all()
    assert (found.corrected == 1).all()
    assert np.isnan(found.effects).all(), "nothing is known of their spread"
    assert np.isnan(found.difference_intervals).all()
    assert not found.significant.any()


@pytest.mark.parametrize("test", TESTS)
def test_what_any_test_says(test: str) -> None:
    found = compare(systems(60, 4), test=test, draws=2000)
    p = {pair: found.p_values[i] for i, pair in enumerate(found.pairs)}
    assert ((found.p_values > 0) & (found.p_values <= 1)).all()
    assert (p[3, 0] <= p[1, 0]).all(), "the larger difference"
    assert (p[3, 0] < 0.01).all()
    assert (found.corrected >= found.p_values).all()
    turned = compare(dict(reversed(list(THREE.items()))), test=test, draws=300, correction="none")
    straight = compare(THREE, test=test, draws=300, correction="none")
    if test != "tukey":  # which permutes by position
        for a, b in ("s1", "s0"), ("s2", "s0"):
            one, other = straight.difference(a, b, "AP"), turned.difference(a, b, "AP")
            assert one.p_value == pytest.approx(other.p_value, rel=1e-9)


def test_tukey_of_two_systems_is_the_randomisation_test() -> None:
    two = {name: FEW[name] for name in ("s0", "s1")}
    exact = p_value(two, "randomisation")
    drawn = p_value(two, "tukey", draws=20_000)
    assert drawn == pytest.approx(exact, abs=0.015)


def test_anova_of_two_systems_is_the_t_test() -> None:
    two = {name: THREE[name] for name in ("s0", "s1")}
    assert p_value(two, "anova") == pytest.approx(p_value(two, "t"), rel=1e-6)


def precisions(*hits: int) -> irbatch.Results:
    """Results whose P@10 are so many tenths."""
    return irbatch.evaluate_matrix([[1] * n + [0] * (10 - n) for n in hits], "P@10")


@pytest.mark.parametrize("test", ["wilcoxon", "t", "randomisation", "bootstrap"])
def test_tenths_are_compared_as_tenths(test: str) -> None:
    """0.3 - 0.2 is no larger than 0.8 - 0.7, though it is in binary."""
    a = [8, 10, 2, 2, 8, 9, 5, 1, 9, 5, 1, 1, 4, 7, 4, 9]
    b = [7, 10, 3, 4, 7, 10, 4, 1, 10, 6, 3, 3, 6, 9, 3, 10]
    found = compare({"a": precisions(*a), "b": precisions(*b)}, test=test, draws=999)
    scaled = np.array(b) - a
    expected = {"wilcoxon": lambda: signed_ranks_p(scaled.astype(float)),
                "t": lambda: stats.ttest_1samp(scaled, 0).pvalue}.get(test)  # fmt: skip
    if expected is not None:
        assert found.p_values[0, 0] == pytest.approx(expected(), rel=1e-10)
    constant = compare(
        {"a": precisions(*[3] * 30), "b": precisions(*[4] * 30)}, test=test, draws=999, baseline="b"
    )
    assert constant.p_values[0, 0] < 0.002
    assert math.isnan(constant.effects[0, 0])
    assert constant.failures("P@10 drops 1% p<0.05")
    assert math.isnan(constant.detectable[0, 0]), "the spread is not known"
    even = compare({"a": precisions(1, 3, 8, 6), "b": precisions(3, 1, 6, 8)}, test=test)
    assert even.p_values[0, 0] == 1


# ---------------------------------------------------------------- corrections


def test_corrections() -> None:
    p = RANDOM.random((9, 4)) ** 3
    for name, method in (("bh", "bh"), ("by", "by")):
        expected = stats.false_discovery_control(p, axis=0, method=method)
        assert correct(p, name) == pytest.approx(expected, rel=1e-12)
    assert correct(p, "bonferroni") == pytest.approx(np.minimum(9 * p, 1))
    assert (correct(p, "none") == p).all()
    ordered = np.sort(p[:, 0])
    by_hand = [min(1, max((9 - j) * ordered[j] for j in range(i + 1))) for i in range(9)]
    assert np.sort(correct(p, "holm")[:, 0]) == pytest.approx(by_hand, rel=1e-12)
    assert set(CORRECTIONS) <= set(NAMES)


# ---------------------------------------------------------------- intervals


@pytest.mark.parametrize("kind", ["percentile", "bca", "t"])
def test_intervals(kind: str) -> None:
    found = compare(THREE, interval=kind, simultaneous=False, draws=20_000, baseline="s0")
    difference = column(THREE["s2"]) - column(THREE["s0"])
    for values, interval in (
        (column(THREE["s1"]), found.intervals[1, 1]),
        (difference, np.array(found.difference("s2", "s0", "AP").interval)),
    ):
        if kind == "t":
            reach = stats.t.interval(0.95, 39, values.mean(), stats.sem(values))
            assert interval == pytest.approx(reach, rel=1e-12)
            continue
        theirs = stats.bootstrap((values,), np.mean, n_resamples=20_000, method=kind,
                                 rng=np.random.default_rng(2)).confidence_interval  # fmt: skip
        assert interval == pytest.approx([theirs.low, theirs.high], abs=0.05 * values.std())


def test_intervals_of_means_end_where_values_do() -> None:
    found = compare({"a": precisions(0, 10), "b": precisions(0, 9)})
    assert found.intervals[0, 0].tolist() == [0, 1]
    assert found.difference_intervals[0, 0, 0] < 0
    counted = irbatch.evaluate_matrix([[1, 0], [1, 1]], "NumRelRet")
    low, high = compare({"a": counted, "b": counted}).intervals[0, 0]
    assert (low, high > 2) == (0, True)


# ---------------------------------------------------------------- what a comparison tells


def test_everything_told_of_a_pair() -> None:
    found = compare(THREE, baseline="s1", test="t", margin=0.5, correction="bonferroni")
    a, b = column(THREE["s2"]), column(THREE["s1"])
    told = found.difference("s2", "s1", "AP")
    assert found.pairs == [(0, 1), (2, 1)]
    assert told.difference == pytest.approx((a - b).mean(), rel=1e-12)
    assert told.relative == pytest.approx((a - b).mean() / b.mean(), rel=1e-12)
    assert (told.wins, told.ties, told.losses) == (
        int((a > b).sum()), int((a == b).sum()), int((a < b).sum())
    )  # fmt: skip
    assert told.effect == pytest.approx((a - b).mean() / (a - b).std(ddof=1), rel=1e-12)
    assert told.corrected == min(1, 2 * told.p_value)
    assert told.interval[0] < told.difference < told.interval[1]
    turned = found.difference("s1", "s2", "AP")
    assert turned.difference == -told.difference
    assert turned.interval == (-told.interval[1], -told.interval[0])
    assert (turned.wins, turned.losses, turned.p_value) == (told.losses, told.wins, told.p_value)
    assert found.means[2].tolist() == list(THREE["s2"].mean().values()), "the same bits"
    assert found.equivalence_p is not None
    assert (found.equivalence_p < 0.05).all(), "all differences are within half"
    assert "Bonferroni" in found.caption()
    assert "test: t" in found.signature
    with pytest.raises(ValueError, match="read-only"):
        found.means[0, 0] = 1


def test_power() -> None:
    """A difference as large as the detectable one is found in four of five samples."""
    for options in ({"baseline": "s0"}, {"correction": "bonferroni"}, {"family": "all"}):
        found = compare(THREE, test="t", **options)
        pair = found.pairs.index((1, 0))
        level = found.levels[pair, 1]
        spread = (column(THREE["s1"]) - column(THREE["s0"])).std(ddof=1)
        samples = RANDOM.normal(found.detectable[pair, 1], spread, (4000, 40))
        detected = (stats.ttest_1samp(samples, 0, axis=1).pvalue < level).mean()
        assert detected == pytest.approx(0.8, abs=0.03)
        needed = found.queries_needed[pair, 1]
        samples = RANDOM.normal(found.differences[pair, 1], spread, (2000, int(needed)))
        detected = (stats.ttest_1samp(samples, 0, axis=1).pvalue < level).mean()
        assert detected == pytest.approx(0.8, abs=0.04)
    assert compare(THREE, correction="bonferroni").levels == pytest.approx(0.05 / 3)


def test_groups_of_one_query_are_drawn_from_together() -> None:
    single = {f"q{i}": str(i) for i in range(40)}
    with pytest.warns(irbatch.InputWarning, match="one query"):
        found = compare(THREE, groups=single, interval="bca")
    alone = compare(THREE, interval="bca")
    assert found.intervals.tolist() == alone.intervals.tolist()
    assert "of each group apart" in found.signature


def test_groups_may_be_a_series() -> None:
    pd = pytest.importorskip("pandas")
    groups = {f"q{i}": "ab"[i % 2] for i in range(40)}
    found = compare(THREE, groups=pd.Series(groups))
    assert found.to_text() == compare(THREE, groups=groups).to_text()


def test_groups_and_missing_queries() -> None:
    part = {f"q{i}": each for i, each in enumerate(THREE["s0"].values.tolist()) if i < 30}
    rows = irbatch.Results(Rows(np.array(list(part.values()))), list(part), THREE["s0"].columns,
                           THREE["s0"].counts, THREE["s0"].settings)  # fmt: skip
    groups = {f"q{i}": "even" if i % 2 == 0 else "odd" for i in range(40)}
    found = compare({"s0": rows, "s1": THREE["s1"]}, groups=groups)
    assert len(found.query_ids) == 30
    assert found.missing == {"s0": [f"q{i}" for i in range(30, 40)], "s1": []}
    assert list(found.groups) == ["even", "odd"]
    assert found.groups["odd"].query_ids == [f"q{i}" for i in range(1, 30, 2)]
    alone = compare({"s0": rows, "s1": THREE["s1"]})
    assert alone.p_values.tolist() == found.p_values.tolist()


def test_groups_count_queries_of_their_own() -> None:
    part = {f"q{i}": {"d1": 1} for i in range(20)}
    runs = {"whole": part, "part": {query: part[query] for query in list(part)[:15]}}
    groups = {query: "a" if i < 10 else "b" for i, query in enumerate(part)}
    found = compare(part, runs, "RR", groups=groups)
    assert {name: each.unanswered["part"] for name, each in found.groups.items()} == {
        "a": [],
        "b": list(part)[15:],
    }
    assert "counting 0" not in found.groups["a"].caption()
    skipped = compare(part, runs, "RR", groups=groups, missing="skip")
    assert "Left out" not in skipped.groups["a"].caption()
    assert "Left out, as not all systems have them: 5 queries" in skipped.groups["b"].caption()
    one = compare(part, {**runs, "part": dict(list(part.items())[:19])}, "RR", missing="skip")
    assert "Left out, as not all systems have them: 1 query." in one.caption()


def test_where_lower_is_better() -> None:
    """Who stands higher wins, though the mean of its ranks is lower."""
    runs = {"good": {f"q{i}": {"d1": 9, "d2": 3, "d3": 1} for i in range(12)},
            "bad": {f"q{i}": {"d2": 9, "d3": 3, "d1": 1} for i in range(12)}}  # fmt: skip
    found = compare({f"q{i}": {"d1": 1} for i in range(12)}, runs, "MeanRank RR", baseline="bad")
    assert found.differences[0] == pytest.approx([-2.0, 2 / 3])
    assert (found.wins.tolist(), found.losses.tolist()) == ([[12, 12]], [[0, 0]])
    told = [found.difference("bad", "good", name) for name in ("MeanRank", "RR")]
    assert [(each.wins, each.losses) for each in told] == [(0, 12), (0, 12)]
    good, bad = (line.split() for line in found.to_text().splitlines()[6:8])
    assert (good, bad) == (["good", "*1.0000", "↑", "*1.0000", "↑"],
                           ["bad", "(baseline)", "3.0000", "0.3333"])  # fmt: skip
    pytest.importorskip("matplotlib")
    from irbatch.comparing.plots import plot_differences

    assert "12 better" in plot_differences(found, "good", "bad", "MeanRank").get_title(loc="left")


def test_neither_more_nor_less_is_better_of_some_measures() -> None:
    runs = {"good": {f"q{i}": {"d1": 9, "d2": 3} for i in range(12)},
            "bad": {f"q{i}": {"d2": 9, "d1": 3} for i in range(12)}}  # fmt: skip
    qrels = {f"q{i}": {"d1": 1} for i in range(12)}
    found = compare(qrels, runs, "cwlRR(number=ED)", baseline="good")
    assert found.significant.all()
    table = found.to_text().split("\n\n")[2]
    assert not set("*↑↓") & set(table)


def test_no_difference_has_no_sign() -> None:
    found = compare({"a": THREE["s0"], "b": THREE["s0"]})
    assert [str(found.difference(*pair, "AP").difference) for pair in ("ab", "ba")] == ["0.0"] * 2


@pytest.mark.parametrize("queries", [9, 40])
def test_a_difference_of_nothing_is_no_finding(queries: int) -> None:
    """The studentised bootstrap too, where gains and losses cancel out but for rounding."""
    values = np.resize([0.1, -0.1, 0.7, -0.7, 0.0], queries) + 0.8
    values[-(queries % 5) or queries :] = 0.8
    base = np.full(queries, 0.8)
    made = {}
    for name, each in (("a", values), ("b", base)):
        made[name] = irbatch.Results(Rows(each[:, None]), [f"q{i}" for i in range(queries)],
                                     THREE["s0"].columns[:1], THREE["s0"].counts, {})  # fmt: skip
    assert compare(made, test="bootstrap", draws=500).p_values[0, 0] == 1


def test_geometric_means_are_compared_as_logarithms() -> None:
    labels = RANDOM.random((30, 6)) < 0.5
    runs = {name: irbatch.evaluate_scores(RANDOM.random(labels.shape), labels, "GMAP AP")
            for name in "ab"}  # fmt: skip
    found = compare(runs, test="t", interval="t")
    drawn = compare(runs, test="t", interval="bca", draws=4000)
    assert drawn.difference_intervals[0, 0] == pytest.approx(
        found.difference_intervals[0, 0], abs=0.1
    )
    told = found.difference("a", "b", "GMAP")
    assert told.interval[0] < told.difference < told.interval[1]
    a, b = (np.log(runs[name].values[:, 0]) for name in "ab")
    assert found.p_values[0, 0] == pytest.approx(stats.ttest_rel(b, a).pvalue, rel=1e-12)
    assert found.means[0, 0] == pytest.approx(runs["a"]["GMAP"], rel=1e-12)
    assert found.intervals[0, 0, 0] < found.means[0, 0] < found.intervals[0, 0, 1]


def test_queries_that_no_measure_averages_are_left_out() -> None:
    labels = [[1, 0], [0, 0], [0, 1], [1, 1]]
    runs = {name: irbatch.evaluate_matrix(each, "RR", no_relevant="skip")
            for name, each in (("a", labels), ("b", [row[::-1] for row in labels]))}  # fmt: skip
    assert compare(runs).query_ids == [0, 2, 3]


def test_from_files(digits: Any) -> None:
    names = ("pca10", "pixels-cosine", "random-projection")
    paths = [digits / f"{name}.run" for name in names]
    found = compare(digits / "qrels.txt", paths, "nDCG@10", baseline="pca10", draws=1000)
    assert found.systems == list(names)
    assert found.difference("pixels-cosine", "pca10", "nDCG@10").significant
    assert found.difference("random-projection", "pca10", "nDCG@10").relative < -0.3
    strict = compare(digits / "qrels.txt", paths, "nDCG@10", missing="skip", draws=100)
    assert len(strict.query_ids) < len(found.query_ids)


# ---------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "facts"),
    [
        ({"test": "chi"}, ("test='chi'", "'wilcoxon'")),
        ({"correction": "sidak"}, ("correction='sidak'", "'holm'")),
        ({"interval": "normal"}, ("interval='normal'",)),
        ({"level": 5}, ("level=5",)),
        ({"level": 0.95}, ("level=0.95", "such as 0.05")),
        ({"level": math.nan}, ("level=nan",)),
        ({"draws": -1}, ("draws=-1",)),
        ({"draws": 1e4}, ("draws=10000.0",)),
        ({"seed": -3}, ("seed=-3",)),
        ({"margin": 0}, ("margin=0",)),
        ({"margin": "1"}, ("margin='1'", "'1%'")),
        ({"margin_test": "sign"}, ("margin_test='sign'",)),
        ({"alternative": "more", "baseline": "s0"}, ("alternative='more'", "'greater'")),
        ({"alternative": "less"}, ("alternative='less'", "needs a baseline")),
        ({"alternative": "less", "baseline": "s0", "test": "tukey"}, ("not for test='tukey'",)),
        ({"family": "measures"}, ("family='measures'", "'all'")),
        ({"family": "all", "test": "anova"}, ("family='all'", "test='anova'")),
        ({"baseline": "s9"}, ("'s9'", "'s0', 's1', 's2'")),
        ({"groups": {"q0": "x"}}, ("'q1'", "no group")),
        ({"groups": ["x"] * 40}, ("list",)),
    ],
    ids=str,
)
def test_options_that_there_are_not(options: Options, facts: tuple[str, ...]) -> None:
    input_error(lambda: compare(THREE, **options), *facts)


def test_a_baseline_is_looked_for_before_a_file_is_read() -> None:
    runs = ["there/is/no/old.run", "there/is/no/new.run"]
    input_error(lambda: compare("no.qrels", runs, "AP", baseline="older"), "'old', 'new'")


def test_systems_that_cannot_be_compared() -> None:
    first = THREE["s0"]
    other = irbatch.evaluate_matrix([[1, 0], [0, 1]], MEASURES)
    third = irbatch.evaluate_matrix([[1, 0], [0, 1], [1, 1]], MEASURES)
    input_error(lambda: compare({"a": third, "b": other}), "only places")
    numbered = irbatch.evaluate_matrix([[1, 0], [0, 1]], MEASURES, query_ids=[1, 2])
    facts = "only places 0, 1, …", "'a' has 1, 2", "give query_ids="
    input_error(lambda: compare({"a": numbered, "b": other}), *facts, path="b")
    named = irbatch.evaluate_matrix([[1, 0], [0, 1]], MEASURES, query_ids=["x", "y"])
    input_error(lambda: compare({"a": first, "b": named}), "no query in common", "'q0'", "'x'")
    input_error(lambda: compare({"a": first}), "two systems or more, not 1")
    input_error(lambda: compare([first, other]), "different names")
    input_error(lambda: compare(first), "several")
    input_error(lambda: compare({"a": first, "b": {"RR": 1}}), "mapping of measures")
    alone = irbatch.evaluate_matrix([[1, 0]], MEASURES)
    input_error(lambda: compare({"a": alone, "b": alone}), "fewer than two queries")
    weighted = irbatch.evaluate_matrix([[1, 0, 1], [0, 1, 0]], "RR GAUC")
    others = irbatch.evaluate_matrix([[1, 0, 1], [0, 1, 1]], "RR GAUC")
    input_error(lambda: compare({"a": weighted, "b": others}),
                "GAUC weighs it 2 for 'b', and 1 for 'a'", query=1)  # fmt: skip
    nothing = irbatch.evaluate_matrix([[1, 1], [0, 0]], "RR GAUC")
    input_error(lambda: compare({"a": nothing, "b": nothing}), "no query weighs anything")
    skipped = irbatch.evaluate_matrix([[1, 0], [0, 0]], MEASURES, no_relevant="skip")
    input_error(lambda: compare({"a": other, "b": skipped}), "fewer than two queries")
    found = compare(THREE, baseline="s0")
    input_error(lambda: found.difference("s1", "s2", "AP"), "not compared")
    assert found.difference("s1", "s0", "MAP") == found.difference("s1", "s0", "AP")
    input_error(lambda: found.difference("s1", "s0", "P@5"), "P@5")
    input_error(lambda: found.difference("s1", "other", "AP"), "other")


@pytest.mark.parametrize("test", ["t", "bootstrap", "randomisation"])
def test_without_variance_only_signs_tell(test: str) -> None:
    """Two queries with one difference, of which the spread is not known, show nothing."""
    found = compare({"new": precisions(9, 6), "old": precisions(8, 5)}, test=test, baseline="old")
    told = found.difference("new", "old", "P@10")
    assert (told.p_value, told.significant) == (0.5, False)
    assert all(map(math.isnan, (*told.interval, told.effect)))


def test_intervals_of_differences_end_where_differences_do() -> None:
    found = compare({"a": precisions(10, 0, 10), "b": precisions(0, 0, 1)}, test="t")
    low, high = found.difference("a", "b", "P@10").interval
    assert (low < 0, high) == (True, 1.0)
    one_sided = compare({"a": precisions(10, 0, 10), "b": precisions(0, 0, 1)}, test="t",
                        baseline="b", alternative="greater")  # fmt: skip
    assert one_sided.difference("a", "b", "P@10").interval[1] == math.inf


def test_results_stand_beside_runs() -> None:
    qrels = {f"q{i}": {"d1": 1, "d2": 2} for i in range(12)}
    runs = {name: {q: {"d1": a, "d2": 2.0} for q in qrels} for name, a in (("old", 3), ("new", 1))}
    results = irbatch.evaluate(qrels, runs["old"], "RR nDCG@5")
    found = compare(qrels, {"old": results, "new": runs["new"]}, "nDCG@5", baseline="old")
    right = compare(qrels, runs, "nDCG@5", baseline="old")
    assert found.measures == ["nDCG@5"]
    assert found.to_csv() == right.to_csv()
    input_error(lambda: compare({"a": results, "b": results}, rel=2), "rel= is for rankings")
    input_error(lambda: compare({"a": results, "b": results}, measures="RR"), "measures= is for")
