"""Overlap and correlation of rankings, with ties: against twins, other tools and their outputs."""

from __future__ import annotations

import csv
import functools
import gzip
import itertools
import math
import re
from collections import defaultdict
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from oracle.similarity import tied_rbo
from support.paths import MORE_REFERENCE_DATA

import irbatch
from irbatch import InputError, Run
from irbatch.comparing.rankings import (
    Overlap,
    kendall_tau,
    overlap,
    ranking_correlation,
    rbo,
    tau_ap,
)

NAMES = {"min": "minimum", "max": "maximum", "ext": "extrapolated", "res": "residual"}
# What is ours of what tools print, of rankings of the same length.
MEANING = {
    **{("sigir2024-rbo", f"untied.{theirs}"): ("id", ours) for theirs, ours in NAMES.items()},
    **{("sigir2024-rbo", f"{ties}.{theirs}"): (ties, ours)
       for ties in "wab" for theirs, ours in NAMES.items()},
    ("rbo", "rbo(p)"): ("id", "truncated"),
    ("rbo", "rbo(p,ext)"): ("id", "evened"),
    ("rbo", "rbo_ext"): ("id", "extrapolated"),
    ("rbo", "average_overlap"): ("id", "average"),
}  # fmt: skip
ALPHABET = "abcdefghijklmnopqrstuvwxyz"

# William Webber's own program on the alphabet and another ranking: the extrapolated value. Recorded
# in the tests of M. Petri's rbo (https://github.com/mpetri/rbo, test_data/uneven_abc.json, MIT).
WEBBER = [
    ("drfuoxnpszeva", 0.1, 0.000246),
    ("akdwcjomxrubqitenhspyl", 0.1, 0.948509),
    ("av", 0.2, 0.900000),
    ("afdqwtvehcpubinloygrs", 0.4, 0.782330),
    ("iqrveuoxaynlfsdwgjtbczhpk", 0.4, 0.004781),
    ("f", 0.9, 0.053090),
    ("bzdmynpquaiflrcojtwsxkvhe", 0.9, 0.449902),
    ("ctnzrhablsei", 0.99, 0.713432),
    ("cgpadjwrxqzktnmlouhebsfv", 0.99, 0.901064),
    ("lzou", 0.99, 0.132849),
]

OF_RBO = sorted(path.name for path in MORE_REFERENCE_DATA.glob("e_*/expected/dl19.rbo.*"))
TOLERANCE = 1e-12

Groups = list[list[str]]


def tied(ranking: str) -> list[Any]:
    """Read ``a (b c) d``."""
    groups = re.findall(r"\(([^)]*)\)|(\S+)", ranking)
    return [set(several.split()) if several else one for several, one in groups]


def some_groups(draw: Random, pool: str, size: int) -> Groups:
    documents = draw.sample(pool, size)
    found: Groups = []
    while documents:
        number = draw.choice((1, 1, 2, 3, 5))
        found.append(documents[:number])
        documents = documents[number:]
    return found


def as_sets(groups: Groups) -> list[Any]:
    return [set(each) if len(each) > 1 else each[0] for each in groups]


def problems(count: int) -> list[tuple[Groups, Groups]]:
    draw, pairs = Random(11), []
    for _ in range(count):
        pool = ALPHABET[: draw.randint(1, 20)]
        first, second = (draw.randint(0, len(pool)) for _ in range(2))
        pairs.append((some_groups(draw, pool, first), some_groups(draw, pool, second)))
    return pairs


@pytest.mark.parametrize(("other", "p", "expected"), WEBBER)
def test_rbo_is_that_of_its_author(other: str, p: float, expected: float) -> None:
    found = rbo(list(ALPHABET), list(other), p)
    assert found.extrapolated == pytest.approx(expected, abs=1.1e-6)
    assert rbo(list(other), list(ALPHABET), p) == found, "which one is the first doesn't matter"


def test_rbo_of_identical_and_of_disjoint_rankings_is_exact() -> None:
    for length, p in itertools.product((1, 7, 1000), (1e-300, 0.1, 0.9, 0.98, 1 - 1e-12)):
        ids = list(range(length))
        same = rbo(ids, ids, p)
        assert same.extrapolated == 1.0
        assert same.minimum + same.residual == pytest.approx(1.0, abs=1e-14)
        assert rbo(ids, ids[: length // 2 + 1], p).extrapolated == 1.0, "one begins the other"
        other = rbo(ids, [-1 - each for each in ids], p)
        assert (other.minimum, other.extrapolated) == (0.0, 0.0)
        assert 0 <= other.residual <= 1
    # Known of rankings of length 7 at p = 0.9, Webber, Moffat and Zobel's residual (30).
    assert rbo(list("abcdefg"), list("abcdefg"), 0.9).residual == pytest.approx(0.232861, abs=1e-6)
    assert rbo([], []).extrapolated == 1.0
    assert rbo([], ["d1"])[:4] == (0.0, 0.0, 1.0, 1.0)


def test_rbo_to_a_depth_is_that_of_the_beginnings() -> None:
    first, second = list("abcdef"), list("badxyzc")
    assert rbo(first, second, 0.9, depth=3) == rbo(first[:3], second[:3], 0.9)
    assert rbo(np.array([1, 2, 3]), [1, 3, 2], 0.9) == rbo([1, 2, 3], [1, 3, 2], 0.9)


@pytest.mark.parametrize("ties", ["w", "a", "b"])
def test_ties_against_the_twin(ties: str) -> None:
    for first, second in problems(60):
        if not first and not second:
            continue
        for p in (0.4, 0.95):
            expected = tied_rbo(first, second, p, ties)
            found = rbo(as_sets(first), as_sets(second), p, ties=ties)
            other_way_round = rbo(as_sets(second), as_sets(first), p, ties=ties)
            assert found == pytest.approx(other_way_round, rel=1e-14, abs=1e-15)
            for theirs, ours in (("min", found.minimum), ("max", found.maximum),
                                 ("ext", found.extrapolated), ("truncated", found.truncated),
                                 ("evened", found.evened), ("average", found.average)):  # fmt: skip
                assert ours == pytest.approx(expected[theirs], rel=1e-12, abs=1e-14), theirs


def test_a_is_the_mean_over_all_orders() -> None:
    first, second = tied("a (b c) d (e f)"), tied("(b a) (c e d) x")
    orders = [
        rbo(list(itertools.chain(*one)), list(itertools.chain(*other)), 0.8)
        for one in itertools.product(*(itertools.permutations(each) for each in first))
        for other in itertools.product(*(itertools.permutations(each) for each in second))
    ]
    expected = Overlap(*map(fmean, zip(*orders, strict=True)))
    assert rbo(first, second, 0.8, ties="a") == pytest.approx(expected, rel=1e-13)


def test_a_ranking_is_like_itself() -> None:
    ranking = tied("a (b c d) e (f g)")
    alike = {each: rbo(ranking, ranking, 0.9, ties=each).extrapolated for each in ("id", "w", "b")}
    assert alike == pytest.approx(dict.fromkeys(alike, 1.0), rel=1e-15)
    assert rbo(ranking, ranking, 0.9, ties="a").extrapolated < 1
    assert rbo([], [], 0.9, ties="a").extrapolated == 1.0
    of_nothing = rbo([], tied("(a b)"), 0.9, ties="a")
    assert (of_nothing.minimum, of_nothing.extrapolated) == (0.0, 0.0)


def test_equal_documents_are_ordered_by_id_unless_told() -> None:
    assert rbo(tied("x (a c b)"), tied("x c b a")) == rbo(list("xcba"), list("xcba"))
    assert rbo([10, {9, 100}], [10, 9, 100]) == rbo([10, 9, 100], [10, 9, 100]), "as text"
    cut = rbo(tied("(a b c)"), tied("a c"), depth=2, ties="a")
    assert cut == rbo(tied("(c b)"), tied("a c"), ties="a")


def test_forms_of_uneven_rankings() -> None:
    first, second = list("abcdefg"), list("bacx")
    found = rbo(first, second, 0.8)
    agreements = [0, 1, 1, 3 / 4]
    assert found.truncated == pytest.approx(0.2 * sum(a * 0.8**i for i, a in enumerate(agreements)))
    assert found.evened == pytest.approx(found.truncated + 0.75 * 0.8**4)
    assert found.evened == rbo(first[:4], second, 0.8).extrapolated
    assert found.average == fmean(agreements)
    assert found.maximum == found.minimum + found.residual


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((["a", {"b", "a"}], ["a"]), r"first \(document 'a'\): the ranking has this"),
        ((["a", "b", "a"], ["a"]), r"first \(document 'a'\): the ranking has this document twice"),
        ((["a"], [1]), "one is text, the other a number"),
        ((["a"], ["a", 2]), "second: document ids are of two kinds"),
        (([None], ["a"]), "document id None is a NoneType"),
        (("abc", ["a"]), "the first ranking is a list of ids, not a str"),
        ((["a"], ["a"], 1.0), "p=1.0 must be a number below 1"),
        ((["a"], ["a"], 0), "p=0 must be"),
        ((["a"], ["a"], math.nan), "p=nan must be"),
        ((["a"], ["a"], "0.9"), "p='0.9' must be"),
        ((["a"], ["a"], 0.9, 0), "depth=0 must be a whole number of at least 1"),
        ((["a"], ["a"], 0.9, 2.5), r"depth=2\.5 must be"),
        ((["a"], [{"b", 1}]), "second: document ids are of two kinds"),
        ((["a"], [{1, 2}]), "one is text, the other a number"),
        ((["a"], ["a"], 0.9, None, "c"), "ties='c' must be one of"),
        (({"a"}, ["a"]), "the first ranking is a list of ids, not a set"),
    ],
)
def test_refused(arguments: tuple[Any, ...], what: str) -> None:
    with pytest.raises(InputError, match=what):
        rbo(*arguments)


# ---------------------------------------------------------------- runs


def some_runs(kind: Any = str) -> tuple[dict[Any, dict[Any, float]], ...]:
    draw = Random(5)

    def scores() -> dict[Any, float]:
        chosen = draw.sample(range(40), draw.randint(0, 30))
        return {kind(i): float(draw.randint(0, 6)) for i in chosen}

    return tuple({f"q{q}": scores() for q in draw.sample(range(9), 8)} for _ in range(2))


def as_ranking(scores: dict[Any, float]) -> list[Any]:
    groups = defaultdict(set)
    for document, score in scores.items():
        groups[-score].add(document)
    return [groups[score] for score in sorted(groups)]


@pytest.mark.parametrize("ties", ["id", "w", "a", "b"])
@pytest.mark.parametrize("depth", [None, 7])
@pytest.mark.parametrize("kind", [str, int, lambda i: f"a long id, {i:03}"])
def test_runs_are_compared_query_by_query(ties: str, depth: int | None, kind: Any) -> None:
    runs = some_runs(kind)
    found = overlap(*runs, 0.8, depth, ties)
    assert found.query_ids == [query for query in runs[0] if query in runs[1]]
    for row, query in enumerate(found.query_ids):
        expected = rbo(*(as_ranking(run[query]) for run in runs), 0.8, depth, ties)
        alone = [found.values[name][row] for name in expected._fields]
        assert alone == pytest.approx(list(expected), rel=1e-14, abs=1e-15)
    assert found.mean() == pytest.approx(fmean(found.per_query().values()))
    assert found.mean("maximum") == pytest.approx(fmean(found.per_query("maximum").values()))
    with pytest.raises(InputError, match="value='p' must be one of"):
        found.mean("p")


def test_runs_of_any_form_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = some_runs()
    expected = overlap(first, second, ties="a")
    path = tmp_path / "first.run"
    Run(first).to_trec(path)
    monkeypatch.setattr("irbatch.pack.pairs.DOCUMENTS_AT_ONCE", 30)
    frame = {
        "query_id": np.repeat(list(second), [len(each) for each in second.values()]),
        "doc_id": [document for each in second.values() for document in each],
        "score": [score for each in second.values() for score in each.values()],
    }
    found = overlap(path, Run.from_table(frame), ties="a")
    known = [query for query in expected.query_ids if first[query] and second[query]]
    assert found.query_ids == known
    values = expected.per_query()
    assert found.per_query() == {query: values[query] for query in known}


@pytest.mark.parametrize("ties", ["id", "a"])
def test_rankings_without_documents(ties: str) -> None:
    empty: dict[str, dict[str, float]] = {"p": {}, "q": {}}
    found = overlap(empty, {"q": {"a": 1.0}, "p": {}}, ties=ties)
    assert list(found.per_query().values()) == [1.0, 0.0]
    found = overlap({"p": {"a": 2.0, "b": 1.0}, "q": {}}, empty, ties=ties)
    assert list(found.per_query().values()) == [0.0, 1.0]
    assert overlap(Run(empty).prepared(), empty, ties=ties).mean() == 1.0


@pytest.mark.parametrize(
    ("first", "second", "p", "what"),
    [
        ({"q1": {"a": 1}}, {"q2": {"a": 1}}, 0.9, "one has 'q1', the other 'q2'"),
        (
            {"q": {"a": 1, "b": "x"}},
            {"q": {"a": 1}},
            0.9,
            r"\(query 'q', document 'b'\): score 'x'",
        ),
        (
            {"q": {"a": 1}},
            {"q": {1: 1}},
            0.9,
            r"query 'q'\): document ids are 'a' on one side and 1",
        ),
        ({"q": {"a": 1}}, {"q": {"a": 1}}, 2, "p=2 must be"),
    ],
)
def test_runs_that_are_rejected(first: Any, second: Any, p: float, what: str) -> None:
    with pytest.raises(InputError, match=what):
        overlap(first, second, p)


# ---------------------------------------------------------------- other tools


@functools.cache
def read_run(name: str, data: Path) -> Run:
    return irbatch.read_run(data.parent / "data" / "dl19_passage" / "runs" / f"{name}.run.gz")


@pytest.mark.parametrize("name", OF_RBO or ["none"])
def test_outputs_of_other_tools(name: str, more_reference_data: Path) -> None:
    first, second = name.removeprefix("dl19.rbo.").removesuffix(".tsv.gz").split(".")
    runs = [read_run(each, more_reference_data) for each in (first, second)]
    with gzip.open(more_reference_data / "e_compat_rbo" / "expected" / name, "rt") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) > 1000
    values: dict[tuple[Any, ...], dict[str, float]] = {}
    uneven = 0
    for row in rows:
        if row["tool"] == "ranked-overlap":
            continue  # it doesn't extrapolate the shorter ranking
        ties, value = MEANING[row["tool"], row["score"]]
        p, depth = float(row["p"]) if row["p"] != "1" else 0.9, int(row["depth"])
        key = p, depth, ties, value
        if key not in values:
            values[key] = overlap(*runs, p, depth, ties).per_query(value)
        # A residual is the difference of two numbers there.
        close = pytest.approx(float(row["value"]), rel=TOLERANCE, abs=1e-14)
        assert values[key][row["topic"]] == close, row
        uneven += 1
    assert uneven > 1000


@pytest.mark.parametrize("compare", [overlap, ranking_correlation])
def test_it_prints(compare: Any) -> None:
    found = compare(*some_runs())
    name = "extrapolated" if compare is overlap else "tau"
    assert repr(found).endswith(f"mean {name} {found.mean():.4f}")


# ---------------------------------------------------------------- correlation


Scores = dict[str, dict[str, float]]


def correlated_runs(levels: int) -> tuple[Scores, Scores]:
    draw = Random(levels)

    def scores() -> dict[str, float]:
        chosen = draw.sample(range(30), draw.choice((0, 3, 20, 28)))
        return {f"d{i:02}": float(draw.randrange(levels)) for i in chosen}

    one, other = ({f"q{q}": scores() for q in range(12)} for _ in range(2))
    return one, other


def common(first: Scores, second: Scores, query: str) -> tuple[list[float], list[float]]:
    both = [each for each in first[query] if each in second[query]]
    return [first[query][each] for each in both], [second[query][each] for each in both]


def same(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == pytest.approx(expected, rel=1e-13, abs=1e-14)


@pytest.mark.parametrize("levels", [2, 5, 1000])
@pytest.mark.parametrize("ties", ["a", "b"])
def test_rankings_are_compared_as_lists_of_scores(levels: int, ties: str) -> None:
    first, second = correlated_runs(levels)
    found = ranking_correlation(first, second, ties=ties)
    assert found.query_ids == list(first)
    for row, query in enumerate(found.query_ids):
        lists = common(first, second, query)
        assert found.values["documents"][row] == len(lists[0])
        defined = len(lists[0]) > 1
        assert same(found.values["tau"][row], kendall_tau(*lists, ties) if defined else math.nan), (
            query
        )
        if ties == "b" and defined and min(len(set(each)) for each in lists) == 1:
            assert math.isnan(found.values["tau_ap"][row])
        else:
            assert same(
                found.values["tau_ap"][row], tau_ap(*lists, ties) if defined else math.nan
            ), query
    known = [each for each in found.per_query().values() if not math.isnan(each)]
    assert found.mean() == pytest.approx(fmean(known))


@pytest.mark.parametrize("depth", [None, 10])
def test_ties_of_correlated_runs_are_ordered_by_id_unless_told(depth: int | None) -> None:
    first, second = correlated_runs(4)

    def ranks(scores: dict[str, float]) -> dict[str, float]:
        ordered = sorted(scores, key=lambda each: (scores[each], each), reverse=True)[:depth]
        return {document: -float(rank) for rank, document in enumerate(ordered)}

    ranked = [{query: ranks(each) for query, each in run.items()} for run in (first, second)]
    found = ranking_correlation(first, second, depth)
    for row, query in enumerate(found.query_ids):
        lists = common(*ranked, query)
        if len(lists[0]) > 1:
            assert same(found.values["tau"][row], kendall_tau(*lists))
            assert same(found.values["tau_ap"][row], tau_ap(*lists))


def test_a_of_tau_is_the_mean_over_all_orders() -> None:
    x, y = [3.0, 2.0, 2.0, 1.0, 1.0], [5.0, 5.0, 4.0, 5.0, 1.0]

    def orders(scores: list[float]) -> list[tuple[float, ...]]:
        every = itertools.permutations(range(5))
        return [each for each in every if all(  # more for a higher score
            each[i] > each[j] for i in range(5) for j in range(5) if scores[i] > scores[j]
        )]  # fmt: skip

    values = [(tau_ap(a, b), kendall_tau(a, b)) for a in orders(x) for b in orders(y)]
    assert len(values) == 4 * 6
    assert tau_ap(x, y, "a") == pytest.approx(fmean(each for each, _ in values), rel=1e-13)
    assert kendall_tau(x, y, "a") == pytest.approx(fmean(each for _, each in values), rel=1e-13)


# Test data and results of the authors' R package: J. Urbano, ircor 1.0 (CRAN; MIT), files
# tests/testthat/helper_data.R, test_tau.R and test_tauAP.R.
SETS = [
    (
        [0.897, 0.372, 0.908, 0.898, 0.661, 0.062, 0.177, 0.384, 0.498, 0.992],
        [0.82, 0.406, 0.817, 0.953, 0.673, 0.073, 0.364, 0.547, 0.589, 0.988],
        [0.9, 0.4, 0.9, 0.9, 0.7, 0.1, 0.2, 0.4, 0.5, 1],
        [0.8, 0.4, 0.8, 1, 0.7, 0.1, 0.4, 0.5, 0.6, 1],
    ),
    (
        [0.266, 0.573, 0.202, 0.945, 0.629, 0.206, 0.687, 0.77, 0.718, 0.38],
        [0.263, 0.843, 0.728, 0.928, 0.08, 0.114, 0.467, 0.641, 0.973, 0.644],
        [0.3, 0.6, 0.2, 0.9, 0.6, 0.2, 0.7, 0.8, 0.7, 0.4],
        [0.3, 0.8, 0.7, 0.9, 0.1, 0.1, 0.5, 0.6, 1, 0.6],
    ),
    (
        [0.185, 0.573, 0.944, 0.129, 0.468, 0.553, 0.761, 0.405, 0.976, 0.445],
        [0.845, 0.272, 0.275, 0.924, 0.605, 0.334, 0.162, 0.872, 0.018, 0.25],
        [0.2, 0.6, 0.9, 0.1, 0.5, 0.6, 0.8, 0.4, 1, 0.4],
        [0.8, 0.3, 0.3, 0.9, 0.6, 0.3, 0.2, 0.9, 0, 0.2],
    ),
]
# tau, tau_ap, tau_ap_b of the lists without ties; tau_b, tau_ap_b of those with ties.
COEFFICIENTS = [
    (0.9111, 0.8519, 0.8333, 0.9398, 0.7321),
    (0.2889, 0.2504, 0.2880, 0.3765, 0.2970),
    (-0.6889, -0.6971, -0.6680, -0.6510, -0.7047),
]


@pytest.mark.parametrize(("lists", "expected"), [*zip(SETS, COEFFICIENTS, strict=True)])
def test_coefficients_are_those_of_ircor(
    lists: tuple[list[float], ...], expected: tuple[float, ...]
) -> None:
    x, y, x_ties, y_ties = lists
    found = (
        kendall_tau(x, y),
        tau_ap(x, y),
        tau_ap(x, y, "b"),
        kendall_tau(x_ties, y_ties),
        tau_ap(x_ties, y_ties, "b"),
    )
    assert found == pytest.approx(expected, abs=5e-5)
    assert kendall_tau(y_ties, x_ties) == found[3]
    assert tau_ap(y_ties, x_ties, "b") == found[4]
    assert tau_ap(x, y, "b") == pytest.approx((tau_ap(x, y) + tau_ap(y, x)) / 2, abs=1e-15)


def test_kendall_tau_is_that_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    draw = np.random.default_rng(5)
    for size in (2, 3, 10, 60):
        for levels in (2, 5, 1000):
            x, y = draw.integers(0, levels, (2, size)).astype(float)
            if len(set(x)) > 1 < len(set(y)):
                expected = float(stats.kendalltau(x, y).statistic)
                assert kendall_tau(x, y) == pytest.approx(expected, abs=1e-12)
    assert kendall_tau([1, 2, 3], [10, 20, 30]) == 1.0
    assert kendall_tau([1, 2, 3], [3, 2, 1]) == -1.0
    assert math.isnan(kendall_tau([1, 1], [1, 2]))
    assert kendall_tau([-math.inf, 0, math.inf], [1, 2, 3]) == 1.0


def test_tau_ap_counts_the_top_most() -> None:
    assert tau_ap([3, 2, 1], [30, 20, 10]) == 1.0
    assert tau_ap([3, 2, 1], [10, 20, 30]) == -1.0
    # Swapping at the top costs more than at the bottom.
    assert tau_ap([4, 3, 2, 1], [3, 4, 2, 1]) < tau_ap([4, 3, 2, 1], [4, 3, 1, 2])
    assert tau_ap([2, 1, 1], [2, 1, 1], "b") == 1.0
    assert math.isnan(tau_ap([1, 1], [1, 2], "b"))


@pytest.mark.parametrize("coefficient", [kendall_tau, tau_ap])
def test_coefficients_refuse(coefficient: Any) -> None:
    for x, y, what in (
        ([1, 2, 3], [1, 2], "x has 3 scores, y has 2"),
        ([], [], "an order takes at least two systems, not 0"),
        ([1], [1], "not 1"),
        ([1, math.nan], [1, 2], "x: score nan is not a number"),
        ([1, 2], [1, "2"], "y: score '2' is not a number"),
        ([1, 2], None, "y is a list of scores, not a NoneType"),
    ):
        with pytest.raises(InputError, match=what):
            coefficient(x, y)


def test_tau_ap_refuses_ties_and_says_what_takes_them() -> None:
    with pytest.raises(InputError, match=r"y has 1\.0 more than once: ties="):
        tau_ap([1, 2, 3], [1, 1, 3])


@pytest.mark.parametrize(
    ("lists", "expected"), [*zip(SETS, (0.7454, 0.2692, -0.5558), strict=True)]
)
def test_a_is_ircors(lists: tuple[list[float], ...], expected: float) -> None:
    x, _, _, y = lists
    assert tau_ap(x, y, "a") == pytest.approx(expected, abs=5e-5)
    assert tau_ap(x, sorted(x), "a") == pytest.approx(tau_ap(x, sorted(x)), rel=1e-13)


def test_correlations_that_are_rejected() -> None:
    with pytest.raises(InputError, match="no query in common"):
        ranking_correlation({"q": {"a": 1}}, {"p": {"a": 1}})
    with pytest.raises(InputError, match="ties='w' must be one of"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}, ties="w")
    with pytest.raises(InputError, match="depth=0 must be"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}, 0)
    with pytest.raises(InputError, match="value='p' must be"):
        ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}).mean("p")
    assert math.isnan(ranking_correlation({"q": {"a": 1}}, {"q": {"a": 1}}).mean())


def test_tau_ap_of_systems(more_reference_data: Path) -> None:
    """What tau-ap prints of systems ordered by means that trec_eval printed.

    Its first list is the one whose ranks are gone through, which is our second, the estimate.
    """
    data = more_reference_data.parent / "data" / "dl19_passage" / "expected"
    means: dict[str, dict[str, float]] = {}
    for path in sorted(data.glob("*.v10_q.15digits.txt.gz")):
        with gzip.open(path, "rt") as file:
            for measure, query, value in map(str.split, file):
                if query == "all" and measure in ("map", "ndcg_cut_10", "recip_rank", "bpref"):
                    means.setdefault(measure, {})[path.name] = float(value)
    path = more_reference_data / "e_compat_rbo" / "expected" / "dl19.tau_ap.systems.tsv.gz"
    with gzip.open(path, "rt") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len(rows) == 12
    for row in rows:
        lists = [list(means[row[name]].values()) for name in ("second", "first(truth)")]
        assert len(lists[0]) == int(row["n"])
        assert tau_ap(*lists) == pytest.approx(float(row["tau_ap"]), rel=1e-12)
