"""Conditions on a comparison: what they say, when they hold, and what is none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from support.input_errors import ANYTHING, input_error

import irbatch
from irbatch.comparing.gate import (
    Condition,
    Limit,
    Verdict,
    check,
    failures,
    parse_condition,
    unmet,
)
from irbatch.errors import InputError
from irbatch.report.numbers import show_p
from irbatch.statistics.tests import Margin

DEPTH = 10
QUERIES = 10
P = 2 / 2**QUERIES  # all signs alike
ALL = f"P@{DEPTH}"


def compared(baseline: str | None = "old", measures: str = ALL, **given: Any) -> irbatch.Comparison:
    """Compare systems with so many relevant documents among their first ten, by query."""
    names = ("test", "correction", "draws", "alternative", "margin_test", "groups", "level")
    options = {name: given.pop(name) for name in names if name in given}
    relevant: dict[str, int | list[int]] = given
    qrels: dict[str, dict[str, int]] = {}
    runs: dict[str, dict[str, dict[str, float]]] = {name: {} for name in relevant}
    for i in range(QUERIES):
        qrels[f"q{i}"] = {**{f"r{j}": 1 for j in range(DEPTH)}, "n0": 0}
        for name, counts in relevant.items():
            count = counts if isinstance(counts, int) else counts[i]
            ids = [f"r{j}" if j < count else f"n{j - count}" for j in range(DEPTH)]
            runs[name][f"q{i}"] = {each: float(-rank) for rank, each in enumerate(ids)}
    return irbatch.compare(qrels, runs, measures, baseline=baseline, **options)


FALLEN = compared(old=8, new=6)  # by 0.2, a quarter
RISEN = compared(old=4, new=5)  # by 0.1, a quarter
MIXED = compared(old=5, new=[4, 6, 4, 6, 4, 6, 4, 6, 4, 3])  # by 0.3 / 10
TIED = compared(old=5, new=5)


# ---------------------------------------------------------------- what a condition says


@pytest.mark.parametrize(
    ("text", "expected", "scope"),
    [
        ("nDCG@10 drops 1% p<0.05", ("drops", 0.01, True, 0.05), None),
        ("nDCG@10 drops 1%", ("drops", 0.01, True, None), None),
        ("nDCG@10 drops p<0.05", ("drops", 0.0, False, 0.05), None),
        ("nDCG@10 drops", ("drops", 0.0, False, None), None),
        ("nDCG@10 rises by 0.02", ("rises", 0.02, False, None), None),
        ("nDCG@10 changes .5 % p < .001", ("changes", 0.005, True, 0.001), None),
        ("  ndcg_cut_10 \t drops   12.5%   p  <  0.05\n", ("drops", 0.125, True, 0.05), None),
        ("in web: nDCG@10 improves", ("improves", 0.0, False, None), "web"),
        ("in every  group:  nDCG@10 worsens", ("worsens", 0.0, False, None), "every  group"),
        ("in a: b: nDCG@10 drops", ("drops", 0.0, False, None), "a: b"),
        ("nDCG@10 not worse than old by 1%", ("not worse", 0.01, True, None, "old"), None),
        ("nDCG@10 not worse by 0.02 p<0.01", ("not worse", 0.02, False, 0.01), None),
        ("in long: nDCG@10 not  worse than  my old run by 2.5 %",
         ("not worse", 0.025, True, None, "my old run"), "long"),
        ("nDCG@10 equivalent to old within 1%", ("equivalent", 0.01, True, None, "old"), None),
        ("nDCG@10 equivalent by 0.02", ("equivalent", 0.02, False, None), None),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_forms(text: str, expected: tuple[Any, ...], scope: str | None) -> None:
    verb, amount, relative, p, *baseline = expected
    required = verb in ("not worse", "equivalent")
    form = Verdict("nDCG@10", verb, Margin(amount, relative), p, *baseline)
    assert parse_condition(text, required=required) == Condition(text, required, form, scope)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AP >= 0.35", Limit("AP", None, ">=", 0.35)),
        ("map lower bound > .3", Limit("AP", 0, ">", 0.3)),
        ("in a: FirstRank upper bound <= 3", Limit("FirstRank", 1, "<=", 3.0)),
        ("judged@10 >= 90%", Limit("Judged@10", None, ">=", 0.9)),
        ("missing  queries <= 5", Limit("missing queries", None, "<=", 5.0)),
    ],
)
def test_limits(text: str, expected: Limit) -> None:
    assert parse_condition(text, required=True).form == expected


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "AP", "drops", "drops 1%", "AP falls 1%", "AP drop 1%", "AP DROPS 1%",
        "AP drops -1%", "AP drops +1%", "AP drops 1,5%", "AP drops 1e-3", "AP drops one",
        "AP drops %", "AP drops 1%%", "AP drops nan", "AP drops inf%", "AP drops 1.2.3",
        "AP drops 1% p", "AP drops 1% p<", "AP drops 1% p<=0.05", "AP drops 1% p>0.05",
        "AP drops 1% p=0.05", "AP drops 1% P<0.05", "AP drops 1% p<5%", "AP drops 1% p<-1",
        "AP drops 1%p<0.05", "AP drops p<0.05 1%", "AP drops 1% q<0.05", "AP drops 1% p<0.05!",
        "AP drops 1% p<0.05, RR drops", "AP RR drops", "drops AP 1%", "AP drops ١%", "AP drops ½",
        "in web AP drops", "in : AP drops", "web: AP drops", "AP 0.35", "AP <", "AP drops < 0.35",
        "AP drops more than 1%", "AP >= 80%%", None, 1, b"AP drops",
    ],
)  # fmt: skip
def test_what_is_none(text: Any) -> None:
    shown = repr(text)
    fact = "is not of the form 'nDCG@10 drops 1% p<0.05'"
    forms = "worsens", "'nDCG@10 < 0.35'", "not worse than baseline by 1%", "'nDCG@10 >= 0.35'"
    input_error(lambda: parse_condition(text, required=False), fact, shown, *forms, value=text)
    input_error(lambda: TIED.failures(text), shown, value=text)


# ---------------------------------------------------------------- when it holds


@pytest.mark.parametrize(
    ("comparison", "condition", "holds"),
    [
        (FALLEN, "drops 24.9%", True),
        (FALLEN, "drops 25.1%", False),
        (FALLEN, "drops 0.19", True),
        (FALLEN, "drops 0.21", False),
        (FALLEN, "rises", False),
        (RISEN, "rises 24.9%", True),
        (RISEN, "rises 0.11", False),
        (RISEN, "changes", True),
        (RISEN, "drops 0", False),
        (MIXED, "drops", True),
        (MIXED, "drops p<0.05", False),
        (TIED, "changes 0%", False),
        (TIED, "changes p<1", False),
        (FALLEN, "drops p<0.05", True),
        (FALLEN, f"drops p<{P + 1e-9:.12f}", True),
        (FALLEN, "drops 30% p<0.05", False),
        (FALLEN, "rises p<1", False),
        *((compared(old=old, new=new), condition, True)  # exactly the amount
          for old, new, condition in ((10, 9, "drops 10%"), (5, 4, "drops 20%"),
                                      (5, 4, "drops 0.1"), (10, 8, "changes 20%"))),
    ],
)  # fmt: skip
def test_when_it_holds(comparison: irbatch.Comparison, condition: str, holds: bool) -> None:
    found = comparison.failures(f"{ALL} {condition}")
    assert [each.partition(":")[0] for each in found] == ["new"] * holds


def test_p_values_are_corrected() -> None:
    two = compared(old=8, new=6, newer=5)
    assert len(two.failures(f"{ALL} drops p<{2.1 * P:.9f}")) == 2
    assert FALLEN.failures(f"{ALL} drops p<{1.9 * P:.9f}")
    with pytest.raises(InputError, match="can never hold"):
        two.failures(f"{ALL} drops p<{1.9 * P:.9f}")


@pytest.mark.parametrize(
    ("options", "least", "what"),
    [
        ({}, P, "10 queries and 1 pair"),
        ({"test": "wilcoxon", "correction": "none"}, P, "With 10 queries no"),
        ({"test": "bootstrap", "draws": 99}, 0.01, "99 draws and 1 pair"),
        ({"test": "tukey", "draws": 99}, 0.01, "99 draws no"),
    ],
)
def test_a_p_value_that_cannot_come_out_is_refused(
    options: dict[str, Any], least: float, what: str
) -> None:
    found = compared(old=8, new=6, **options)
    assert found.least_p == pytest.approx(least)
    found.failures(f"{ALL} drops p<{least * 1.01:.9f}")
    with pytest.raises(InputError, match="can never hold") as caught:
        found.failures(f"{ALL} drops p<{least:.9f}")
    assert what in str(caught.value)
    assert ("more draws= can" in str(caught.value)) == ("draws" in options)


@pytest.mark.parametrize("test", ["t", "anova"])
def test_tests_by_distribution_have_no_least_p_value(test: str) -> None:
    assert not compared(old=8, new=[7, 8] * 5, test=test).failures(f"{ALL} rises p<0.000000001")


def test_what_is_said() -> None:
    assert FALLEN.failures(f"{ALL} drops 1% p<0.05") == [
        f"new: P@10 -0.2000 (-25.0%) against old, p {show_p(P, 0.05)}"
    ]
    assert RISEN.failures(f"{ALL} changes") == [
        f"new: P@10 +0.1000 (+25.0%) against old, p {show_p(P, 0.05)}"
    ]


def test_each_system_is_judged_in_its_order() -> None:
    several = compared(c=3, old=5, a=4, b=6, d=5)
    assert [each[0] for each in several.failures("P@10 drops")] == ["c", "a"]
    assert [each[0] for each in several.failures("P@10 drops 30%")] == ["c"]
    assert [each[0] for each in several.failures("P@10 changes")] == ["c", "a", "b"]
    assert [each[0] for each in several.failures("P@10 rises")] == ["b"]


def test_the_measure_in_any_spelling() -> None:
    both = compared(measures="P@10 AP", old=8, new=6)
    for name in ("P_10", "p@10", "P@10"):
        assert both.failures(f"{name} drops") == FALLEN.failures("P@10 drops")
    assert "AP -0.2000 (-25.0%)" in both.failures("map drops")[0]
    more = compared(measures="NumRelRet GMAP", old=8, new=6)
    assert "NumRelRet -2.0000 (-25.0%)" in more.failures("num_rel_ret drops 1.9")[0]
    assert "GMAP -0.2000 (-25.0%)" in more.failures("gm_map drops 24%")[0]
    assert not more.failures("NumRelRet drops 2.1")


def test_a_baseline_of_zero() -> None:
    from_nothing = compared(old=0, new=5)
    assert from_nothing.failures("P@10 rises 0.4")
    assert not from_nothing.failures("P@10 drops")
    assert not compared(old=0, new=0).failures("P@10 changes 0%")
    assert from_nothing.failures("P@10 rises 1%"), "any rise is more than a share of nothing"
    assert "nan" not in from_nothing.failures("P@10 rises")[0]


# ---------------------------------------------------------------- what is refused


def test_what_was_not_compared() -> None:
    none = compared(baseline=None, old=8, new=6)
    for condition in ("P@10 drops 1%", "P@10 drops"):
        input_error(lambda text=condition: none.failures(text), "needs a baseline",  # type: ignore[misc]
                    source="baseline")  # fmt: skip
    input_error(lambda: none.unmet("P@10 not worse by 1%"), "needs a baseline", source="baseline")
    for name, canonical in (("AP", "AP"), ("P@5", "P@5"), ("ndcg_cut_10", "nDCG@10")):
        input_error(lambda name=name: FALLEN.failures(f"{name} drops"),  # type: ignore[misc]
                f"{canonical} was not evaluated", "there are: P@10", value=ANYTHING)  # fmt: skip
    text = "P@10 not worse than new by 1%"
    input_error(lambda: FALLEN.unmet(text), "the baseline is 'old'", value=text)


# ---------------------------------------------------------------- which way is worse


def test_worse_is_what_the_measure_says() -> None:
    later = compared(measures=f"{ALL} FirstRank AP", old=8, new=[6] * 9 + [0])
    assert [each.split()[1] for each in later.failures("FirstRank worsens")] == ["FirstRank"]
    assert later.failures("FirstRank worsens 10%") == later.failures("FirstRank rises 10%")
    assert later.failures("FirstRank changes")
    assert not later.failures("FirstRank improves")
    assert later.failures(f"{ALL} worsens 20%") == later.failures(f"{ALL} drops 20%")
    assert not later.failures(f"{ALL} improves")
    assert RISEN.failures(f"{ALL} improves 20%") == RISEN.failures(f"{ALL} rises 20%")
    assert later.failures(f"{ALL} worsens p<0.002")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("FirstRank drops", "lower values of FirstRank are better: say 'worsens', 'improves'"),
        ("cwlRR(number=ED) worsens", "neither higher nor lower values of cwlRR(number=ED)"),
        ("P@10 drops 1.5", "whole range of P@10"),
        ("P@10 drops 1", "that is the whole range of P@10 or more: is a point or a per cent sign"),
        ("P@10 drops 100%", "whole mean of P@10"),
        ("P@10 == 1.5", "never holds: P@10 is between 0 and 1"),
        ("P@10 >= 0.35", "is a requirement: higher values of P@10 are better"),
        ("FirstRank < 3", "is a requirement: lower values of FirstRank are better"),
        ("P@10 not worse than baseline by 1%", "is a requirement, not a condition to fail by"),
        ("P@10 > 0.1 and P@10 < 0.35", "more than one condition"),
    ],
)
def test_conditions_that_cannot_be_meant(text: str, said: str) -> None:
    input_error(lambda: parse_condition(text, required=False), said, value=text)


def test_one_sided_p_values_tell_of_one_side() -> None:
    greater = compared(old=8, new=6, alternative="greater")
    input_error(lambda: greater.failures(f"{ALL} drops p<0.05"), "can never hold",
                "alternative='greater' tests the other side", value=ANYTHING)  # fmt: skip
    assert greater.failures(f"{ALL} drops 1%")
    less = compared(old=8, new=6, alternative="less")
    assert less.failures(f"{ALL} worsens p<{P * 0.6:.9f}")
    input_error(lambda: less.failures(f"{ALL} improves p<0.05"), "can never hold", value=ANYTHING)


# ---------------------------------------------------------------- what must be


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("AP drops 1%", "is a condition to fail by, not a requirement"),
        ("AP < 0.35", "is a condition to fail by: higher values of AP are better"),
        ("AP not worse by 0", "a margin is above 0"),
        ("AP not worse by 1", "whole range of AP"),
        ("AP not worse by 1% p<5", "p is above 0"),
        ("AP equivalent to baseline within 0%", "a margin is above 0"),
        ("cwlRR(number=ED) not worse by 1%", "neither higher nor lower"),
        ("AP >= 800%", "never holds"),
        ("missing queries >= 5", "lower values of missing queries are better"),
        ("AP is good", "is not of the form 'nDCG@10 not worse than baseline by 1%', 'nDCG@10"),
        ("AP not worse than baseline", "is not of the form"),
        (None, "is not of the form"),
    ],
)
def test_requirements_that_cannot_be_meant(text: Any, said: str) -> None:
    input_error(lambda: parse_condition(text, required=True), said, value=text)
    input_error(lambda: TIED.unmet(text), said, value=text)


def test_not_worse_has_to_be_shown() -> None:
    assert not RISEN.unmet(f"{ALL} not worse than baseline by 50%")
    assert not RISEN.unmet(f"{ALL} not worse than old by 0.5 p<0.001")
    few = "10 queries are too few, 368 could show it if none were lost"
    assert RISEN.unmet(f"{ALL} not worse by 0.01") == [
        "new: P@10 +0.1000 (+25.0%) against old, not shown to be less than 0.01 worse, p 0.372: "
        + few
    ]
    assert FALLEN.unmet(f"{ALL} not worse by 0.6 p<0.5") == []
    assert FALLEN.unmet(f"{ALL} not worse by 0.2"), "as much as the margin"
    assert not MIXED.failures(f"{ALL} drops 10%"), "too little to see"
    assert MIXED.unmet(f"{ALL} not worse by 10%"), "and too little to be sure"
    assert not MIXED.unmet(f"{ALL} not worse by 90%")
    assert TIED.unmet(f"{ALL} not worse by 1%"), "of losses that ten queries do not show"
    p = MIXED.not_worse_than(0.1)[0, 0]
    assert not MIXED.unmet(f"{ALL} not worse by 0.1 p<{p + 1e-6:.9f}")
    assert MIXED.unmet(f"{ALL} not worse by 0.1 p<{p - 1e-6:.9f}")
    (told,) = compared(measures="DCG", old=8, new=8).unmet("DCG not worse by 1%")
    assert told.endswith(
        "no query differs, 10 queries are too few, 30 where a measure has no range"
    )


@pytest.mark.parametrize("test", ["bounded", "t", "randomisation"])
def test_two_identical_queries_pass_no_gate(test: str) -> None:
    results = irbatch.evaluate_matrix([[1, 0], [0, 1]], "nDCG@10 P@1")
    found = irbatch.compare({"old": results, "new": results}, baseline="old",
                                    margin_test=test)  # fmt: skip
    for text in ("equivalent to baseline within 0.1%", "not worse than baseline by 1%"):
        (told,) = found.unmet(f"nDCG@10 {text}")
        reason = "2 queries are too few" if test == "bounded" else f"{test!r} says nothing"
        assert ": no query differs, " in told
        assert reason in told
    perfect = irbatch.evaluate_matrix([[1, 0], [1, 0]], "P@1")
    both = irbatch.compare({"old": perfect, "new": perfect}, baseline="old")
    for said in (unmet(perfect, "P@1 lower bound >= 0.99"),
                 both.unmet("P@1 lower bound >= 0.99")):  # fmt: skip
        assert len(said) == 1
        assert "the lower bound of P@1 is 0.1377, not >= 0.99" in said[0]


def test_equivalence_has_to_be_shown() -> None:
    """On both sides: what is better than the baseline is not equivalent to it."""
    assert not TIED.unmet(f"{ALL} equivalent to baseline within 90%")
    text = f"{ALL} equivalent to old within 0.05"
    assert RISEN.unmet(text) == [
        "new: P@10 +0.1000 (+25.0%) against old, not shown to be less than 0.05 apart, p 1.000: "
        "10 queries are too few, 72 could show it if none were lost"
    ]
    assert FALLEN.unmet(text)
    assert not RISEN.unmet(f"{ALL} equivalent within 0.6")
    uneven = compared(old=5, new=[4, 6] * 5)
    p = float(uneven.equivalent_to(0.1)[0, 0])
    assert p == max(uneven.not_worse_than(0.1)[0, 0], turned(uneven).not_worse_than(0.1)[0, 0])
    assert bool(uneven.unmet(f"{ALL} equivalent within 0.1 p<{p:.6f}")) != bool(
        uneven.unmet(f"{ALL} equivalent within 0.1 p<{p * 1.01:.6f}")
    )
    input_error(lambda: parse_condition(text, required=False), "is a requirement", value=text)


def turned(comparison: irbatch.Comparison) -> irbatch.Comparison:
    """The same pair, seen from the other side."""
    return replace(comparison, pairs=[(b, a) for a, b in comparison.pairs])


def test_what_is_not_worse_is_corrected() -> None:
    pytest.importorskip("scipy")
    several = compared(old=5, a=[6, 5] * 5, b=[4, 6] * 5, c=[5, 6, 4, 6, 5] * 2)
    alone = compared(old=5, a=[6, 5] * 5)
    assert several.not_worse_than(0.1)[0] > alone.not_worse_than(0.1)[0]


# ---------------------------------------------------------------- floors, and groups


def test_floors() -> None:
    for found in (FALLEN, compared(baseline=None, new=6, newer=8)):
        assert found.unmet(f"{ALL} >= 0.65") == ["new: P@10 is 0.6, not >= 0.65"]
        assert found.failures(f"{ALL} < 0.65") == ["new: P@10 is 0.6, < 0.65"]
        assert not found.unmet(f"{ALL} >= 0.6")
        assert found.unmet(f"{ALL} > 0.6")
        assert not found.failures(f"{ALL} < 0.6")
    tenths = compared(old=5, new=[1, 2, 3] * 3 + [2])
    assert not tenths.unmet(f"{ALL} >= 0.2"), "the mean of tenths"
    low, high = MIXED.sure_intervals(0)[1].tolist()
    for bound, value in (("lower", low), ("upper", high)):
        assert not MIXED.unmet(f"{ALL} {bound} bound >= {value - 0.001:.6f}")
        assert MIXED.unmet(f"{ALL} {bound} bound >= {value + 0.001:.6f}") == [
            f"new: the {bound} bound of P@10 is {value:.4g}, not >= {round(value + 0.001, 6)}"
        ]
    assert MIXED.unmet(f"{ALL} >= 0.4700001") == ["new: P@10 is 0.47, not >= 0.4700001"]


def test_floors_of_one_system() -> None:
    """The bounds are those of comparisons; `irbatch eval` says the same."""
    lists = [[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]]
    found = irbatch.evaluate_matrix(lists, "RR P@2 NumRelRet")
    both = irbatch.compare({"one": found, "other": found})
    low, other = (both.sure_intervals(column)[0, 0].item() for column in (0, 1))
    assert not unmet(found, "RR >= 0.7", f"RR lower bound >= {low - 1e-9!r}")
    assert unmet(found, f"RR lower bound >= {low + 1e-9!r}", ["P@2 lower bound > 0.5"]) == [
        f"run: the lower bound of RR is {low:.4g}, not >= {low + 1e-9!r}",
        f"run: the lower bound of P@2 is {other:.4g}, not > 0.5",
    ]
    assert failures({"a": found, "b": found}, "recip_rank < 0.75") == [
        "a: RR is 0.7083, < 0.75", "b: RR is 0.7083, < 0.75"
    ]  # fmt: skip
    assert unmet(found, "NumRelRet lower bound > 0") == [
        "run: the lower bound of NumRelRet is nan, not > 0"
    ]
    for text, said in (
        ("AP > 0.5", "AP was not evaluated; there are: RR"),
        ("RR not worse by 1%", "needs a baseline, which irbatch.compare takes"),
        ("in a: RR > 0.5", "needs groups"),
        ("RR < 0.5", "is a condition to fail by: higher values of RR are better"),
    ):
        input_error(lambda text=text: unmet(found, text), said, value=ANYTHING)
    input_error(lambda: failures(found, "RR drops 1%"), "needs a baseline", value=ANYTHING)
    input_error(lambda: failures(found), "there is no condition to check", source="conditions")


def test_groups() -> None:
    groups = {f"q{i}": "even" if i % 2 == 0 else "odd: b" for i in range(QUERIES)}
    found = compared(old=5, new=[6, 3] * 5, groups=groups)
    assert found.failures(f"{ALL} drops")
    assert not found.failures(f"in even: {ALL} drops")
    expected = "in odd: b: new: P@10 -0.2000 (-40.0%) against old, p "
    assert found.failures(f"in odd: b: {ALL} drops")[0].startswith(expected)
    assert found.failures(f"in every group: {ALL} drops") == found.failures(
        f"in odd: b: {ALL} drops"
    )
    assert found.unmet(f"in every group: {ALL} >= 0.5") == [
        "in odd: b: new: P@10 is 0.3, not >= 0.5"
    ]
    input_error(lambda: found.failures(f"in even : {ALL} drops p<0.05"), "can never hold",
                "With 5 queries", value=ANYTHING)  # fmt: skip
    input_error(lambda: found.failures(f"in web: {ALL} drops"), "no group 'web'", "'odd: b'",
                source="groups", value="web")  # fmt: skip
    input_error(lambda: FALLEN.failures(f"in every group: {ALL} drops"), "give groups= to compare",
                source="groups", value=ANYTHING)  # fmt: skip
    input_error(lambda: FALLEN.unmet(f"in web: {ALL} > 0.1"), "none", source="groups", value="web")


def test_a_group_of_one_query() -> None:
    groups = {f"q{i}": "solo" if i == 0 else "others" for i in range(QUERIES)}
    with pytest.warns(irbatch.InputWarning, match="one query"):
        found = compared(old=5, new=[2] + [6] * 9, groups=groups)
    said = ["in solo: it has one query, which says nothing of others"]
    for condition in ("drops 1% p<0.05", "drops 90%", "lower bound < 0.1", "< 0.1"):
        assert found.failures(f"in every group: {ALL} {condition}") == said
    assert found.unmet(f"in solo: {ALL} not worse by 1%") == said


def test_outcomes_have_values_and_limits() -> None:
    both = [*check(FALLEN, [f"{ALL} drops 20%"], required=False),
            *check(FALLEN, [f"{ALL} >= 50%"], required=True)]  # fmt: skip
    assert [(each.system, each.passed, each.value, each.limit) for each in both] == [
        ("new", False, pytest.approx(-0.25), 0.2), ("new", True, pytest.approx(0.6), 0.5)
    ]  # fmt: skip
    assert json.loads(FALLEN.to_json(gates=both))["gates"][1]["told"] == "new: P@10 is 0.6, >= 0.5"


def test_missing_queries() -> None:
    qrels = {f"q{i}": {"d": 1} for i in range(4)}
    runs = {
        "old": {query: {"d": 1.0} for query in qrels},
        "new": {"q0": {"d": 1.0}, "q1": {"d": 1.0}},
    }
    for missing in ("zero", "skip"):
        found = irbatch.compare(qrels, runs, "RR", missing=missing)
        told = ["new: missing queries is 2, not <= 1"]
        assert found.unmet("missing queries <= 1") == told
        results = irbatch.evaluate_runs(qrels, runs, "RR", missing=missing)
        assert unmet(results, "missing queries <= 1") == told


def test_several_conditions() -> None:
    texts = [f"{ALL} >= 0.65", f"{ALL} >= 0.5", f"{ALL} >= 0.7"]
    told = ["new: P@10 is 0.6, not >= 0.65", "new: P@10 is 0.6, not >= 0.7"]
    assert FALLEN.unmet(texts) == FALLEN.unmet(*texts) == FALLEN.unmet(iter(texts)) == told
    falls = f"{ALL} drops", f"{ALL} rises", f"{ALL} < 0.65"
    assert FALLEN.failures(falls) == FALLEN.failures(falls[0]) + FALLEN.failures(falls[2])
    input_error(lambda: FALLEN.unmet([texts[0], "AP"]), "is not of the form", value="AP")
    for nothing in ((), ([],)):
        input_error(lambda given=nothing: FALLEN.failures(*given), "no condition")  # type: ignore[misc]
        input_error(lambda given=nothing: FALLEN.unmet(*given), "no condition")  # type: ignore[misc]
