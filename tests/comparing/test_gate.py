"""Conditions on a comparison: what they say, when they hold, and what is none."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

import irbatch
from irbatch.comparing.gate import Limit, Verdict, check, failures, parse_condition, unmet
from irbatch.report.text import show_p
from irbatch.statistics.intervals import bounded_intervals
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
SEVERAL = compared(c=3, old=5, a=4, b=6, d=5)
LATER = compared(measures=f"{ALL} FirstRank AP", old=8, new=[6] * 9 + [0])
FROM_NOTHING = compared(old=0, new=5)
FLOORS = compared(baseline=None, new=6, newer=8)
GROUPED = compared(
    old=5,
    new=[6, 3] * 5,
    groups={f"q{i}": "even" if i % 2 == 0 else "odd: b" for i in range(QUERIES)},
)
LISTS = irbatch.evaluate_matrix([[1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]], "RR P@2 NumRelRet")


# ---------------------------------------------------------------- what a condition says


@pytest.mark.parametrize(
    ("text", "expected", "scope"),
    [
        ("nDCG@10 drops 1% p<0.05", ("drops", 0.01, True, 0.05), None),
        ("nDCG@10 drops", ("drops", 0.0, False, None), None),
        ("nDCG@10 rises by 0.02", ("rises", 0.02, False, None), None),
        ("nDCG@10 changes .5 % p < .001", ("changes", 0.005, True, 0.001), None),
        ("  ndcg_cut_10 \t drops   12.5%   p  <  0.05\n", ("drops", 0.125, True, 0.05), None),
        ("in every  group:  nDCG@10 worsens", ("worsens", 0.0, False, None), "every  group"),
        ("in a: b: nDCG@10 improves p<0.05", ("improves", 0.0, False, 0.05), "a: b"),
        ("nDCG@10 not worse by 0.02 p<0.01", ("not worse", 0.02, False, 0.01), None),
        ("in long: nDCG@10 not  worse than  my old run by 2.5 %",
         ("not worse", 0.025, True, None, "my old run"), "long"),
        ("nDCG@10 equivalent to old within 1%", ("equivalent", 0.01, True, None, "old"), None),
        ("nDCG@10 equivalent by 0.02", ("equivalent", 0.02, False, None), None),
        ("AP >= 0.35", Limit("AP", None, ">=", 0.35), None),
        ("map lower bound > .3", Limit("AP", 0, ">", 0.3), None),
        ("in a: FirstRank upper bound <= 3", Limit("FirstRank", 1, "<=", 3.0), "a"),
        ("judged@10 >= 90%", Limit("Judged@10", None, ">=", 0.9), None),
        ("missing  queries <= 5", Limit("missing queries", None, "<=", 5.0), None),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)  # fmt: skip
def test_forms(text: str, expected: tuple[Any, ...], scope: str | None) -> None:
    form: Limit | Verdict
    if isinstance(expected, Limit):
        form, required = expected, True
    else:
        verb, amount, relative, p, *baseline = expected
        form = Verdict("nDCG@10", verb, Margin(amount, relative), p, *baseline)
        required = verb in ("not worse", "equivalent")
    assert parse_condition(text, required=required) == (scope, form)


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
    ("comparison", "condition", "systems"),
    [
        (FALLEN, "drops 24.9%", "new"),
        (FALLEN, "drops 25.1%", ""),
        (FALLEN, "drops 0.19", "new"),
        (FALLEN, "drops 0.21", ""),
        (FALLEN, "rises", ""),
        (RISEN, "rises 24.9%", "new"),
        (RISEN, "improves 24.9%", "new"),
        (RISEN, "rises 0.11", ""),
        (RISEN, "changes", "new"),
        (RISEN, "drops 0", ""),
        (MIXED, "drops", "new"),
        (MIXED, "drops 10%", ""),
        (MIXED, "drops p<0.05", ""),
        (TIED, "changes 0%", ""),
        (TIED, "changes p<1", ""),
        (FALLEN, "drops p<0.05", "new"),
        (FALLEN, f"drops p<{P + 1e-9:.12f}", "new"),
        (FALLEN, "drops 30% p<0.05", ""),
        (FALLEN, "rises p<1", ""),
        (compared(old=10, new=9), "drops 10%", "new"),  # exactly the amount
        (compared(old=5, new=4), "drops 20%", "new"),
        (compared(old=5, new=4), "drops 0.1", "new"),
        (compared(old=10, new=8), "changes 20%", "new"),
        (SEVERAL, "drops", "c a"),  # in their order
        (SEVERAL, "drops 30%", "c"),
        (SEVERAL, "changes", "c a b"),
        (SEVERAL, "rises", "b"),
        (FROM_NOTHING, "rises 0.4", "new"),
        (FROM_NOTHING, "rises 1%", "new"),  # any rise is more than a share of nothing
        (FROM_NOTHING, "drops", ""),
        (compared(old=0, new=0), "changes 0%", ""),
        (compared(old=8, new=6, newer=5), f"drops p<{2.1 * P:.9f}", "new newer"),  # corrected
        (FALLEN, f"drops p<{1.9 * P:.9f}", "new"),
        *((compared(old=8, new=[7, 8] * 5, test=test), "rises p<0.000000001", "")
          for test in ("t", "anova")),  # which have no least p-value
        (compared(old=8, new=6, alternative="greater"), "drops 1%", "new"),
        (compared(old=8, new=6, alternative="less"), f"worsens p<{P * 0.6:.9f}", "new"),
    ],
)  # fmt: skip
def test_when_it_holds(comparison: irbatch.Comparison, condition: str, systems: str) -> None:
    told = comparison.failures(f"{ALL} {condition}")
    assert " ".join(sentence.partition(":")[0] for sentence in told) == systems


@pytest.mark.parametrize(
    ("options", "least", "what"),
    [
        ({}, P, "10 queries and 1 pair"),
        ({"test": "wilcoxon", "correction": "none"}, P, "With 10 queries no"),
        ({"test": "bootstrap", "draws": 99}, 0.01, "99 draws and 1 pair"),
        ({"test": "tukey", "draws": 99}, 0.01, "99 draws no"),
    ],
)
def test_a_p_value_that_cannot_come_out_is_rejected(
    options: dict[str, Any], least: float, what: str
) -> None:
    comparison = compared(old=8, new=6, **options)
    assert comparison.least_p == pytest.approx(least)
    comparison.failures(f"{ALL} drops p<{least * 1.01:.9f}")
    error = input_error(lambda: comparison.failures(f"{ALL} drops p<{least:.9f}"),
                        "can never hold", what)  # fmt: skip
    assert ("more draws= can" in str(error)) == ("draws" in options)


def test_the_measure_in_any_spelling() -> None:
    both = compared(measures="P@10 AP", old=8, new=6)
    for name in ("P_10", "p@10", "P@10"):
        assert both.failures(f"{name} drops") == FALLEN.failures("P@10 drops")
    assert "AP -0.2000 (-25.0%)" in both.failures("map drops")[0]
    more = compared(measures="NumRelRet GMAP", old=8, new=6)
    assert "NumRelRet -2.0000 (-25.0%)" in more.failures("num_rel_ret drops 1.9")[0]
    assert "GMAP -0.2000 (-25.0%)" in more.failures("gm_map drops 24%")[0]
    assert not more.failures("NumRelRet drops 2.1")


def test_worse_is_what_the_measure_says() -> None:
    assert LATER.failures("FirstRank worsens 10%") == LATER.failures("FirstRank rises 10%") != []
    assert LATER.failures("FirstRank changes")
    assert not LATER.failures("FirstRank improves")
    assert LATER.failures(f"{ALL} worsens 20%") == LATER.failures(f"{ALL} drops 20%") != []
    assert LATER.failures(f"{ALL} worsens p<0.002")


# ---------------------------------------------------------------- what is rejected

NO_BASELINE = compared(baseline=None, old=8, new=6)
GREATER = compared(old=8, new=6, alternative="greater")
LESS = compared(old=8, new=6, alternative="less")
FORM = "is not of the form 'nDCG@10 not worse than baseline by 1%', 'nDCG@10"


@pytest.mark.parametrize(
    ("systems", "text", "facts"),
    [
        (TIED, "FirstRank drops",
         ("lower values of FirstRank are better: say 'worsens', 'improves'",)),
        (TIED, "cwlRR(number=ED) worsens",
         ("neither higher nor lower values of cwlRR(number=ED)",)),
        (TIED, "P@10 drops 1",
         ("that is the whole range of P@10 or more: is a point or a per cent sign",)),
        (TIED, "P@10 drops 100%", ("whole mean of P@10",)),
        (TIED, "P@10 >= 0.35", ("is a requirement: higher values of P@10 are better",)),
        (TIED, "FirstRank < 3", ("is a requirement: lower values of FirstRank are better",)),
        (TIED, "P@10 not worse than baseline by 1%",
         ("is a requirement, not a condition to fail by",)),
        (TIED, "P@10 equivalent to old within 0.05", ("is a requirement",)),
        (TIED, "P@10 > 0.1 and P@10 < 0.35", ("more than one condition",)),
        (NO_BASELINE, "P@10 drops 1%", ("needs a baseline",)),
        (FALLEN, "map drops", ("AP was not evaluated", "there are: P@10")),
        (FALLEN, "ndcg_cut_10 drops", ("nDCG@10 was not evaluated",)),
        (FALLEN, "in every group: P@10 drops", ("give groups= to compare",)),
        (GREATER, "P@10 drops p<0.05",
         ("can never hold", "alternative='greater' tests the other side")),
        (LESS, "P@10 improves p<0.05", ("can never hold",)),
        (compared(old=8, new=6, newer=5), f"{ALL} drops p<{1.9 * P:.9f}", ("can never hold",)),
        (GROUPED, "in even : P@10 drops p<0.05", ("can never hold", "With 5 queries")),
        (GROUPED, "in web: P@10 drops", ("no group 'web'", "'odd: b'")),
        (LISTS, "RR drops 1%", ("needs a baseline, which irbatch.compare takes",)),
    ],
)  # fmt: skip
def test_conditions_that_cannot_be_meant(systems: Any, text: str, facts: tuple[str, ...]) -> None:
    input_error(lambda: failures(systems, text), *facts)


@pytest.mark.parametrize(
    ("systems", "text", "said"),
    [
        (TIED, "AP drops 1%", "is a condition to fail by, not a requirement"),
        (TIED, "AP < 0.35", "is a condition to fail by: higher values of AP are better"),
        (TIED, "AP not worse by 0", "a margin is above 0"),
        (TIED, "AP not worse by 1", "whole range of AP"),
        (TIED, "AP not worse by 1% p<5", "p is above 0"),
        (TIED, "AP equivalent to baseline within 0%", "a margin is above 0"),
        (TIED, "cwlRR(number=ED) not worse by 1%", "neither higher nor lower"),
        (TIED, "missing queries >= 5", "lower values of missing queries are better"),
        (TIED, "AP is good", FORM),
        (TIED, "AP not worse than baseline", FORM),
        (TIED, None, FORM),
        (NO_BASELINE, "P@10 not worse by 1%", "needs a baseline"),
        (FALLEN, "P@10 not worse than new by 1%", "the baseline is 'old'"),
        (FALLEN, "in web: P@10 > 0.1", "there are none"),
        (LISTS, "AP > 0.5", "AP was not evaluated; there are: RR"),
        (LISTS, "RR not worse by 1%", "needs a baseline, which irbatch.compare takes"),
        (LISTS, "in a: RR > 0.5", "needs groups"),
        (LISTS, "RR < 0.5", "is a condition to fail by: higher values of RR are better"),
    ],
)
def test_requirements_that_cannot_be_meant(systems: Any, text: Any, said: str) -> None:
    input_error(lambda: check(systems, [text], required=True), said)


def test_errors_have_fields() -> None:
    input_error(lambda: NO_BASELINE.failures("P@10 drops"), source="baseline")
    input_error(lambda: FALLEN.unmet("in web: P@10 > 0.1"), source="groups", value="web")
    input_error(lambda: FALLEN.unmet(["P@10 >= 0.65", "AP"]), value="AP")
    for nothing in ((), ([],)):
        for ask in (FALLEN.failures, FALLEN.unmet):
            input_error(lambda ask=ask, given=nothing: ask(*given), source="conditions")  # type: ignore[misc]


# ---------------------------------------------------------------- what is said


def not_worse_p(comparison: irbatch.Comparison) -> Any:
    return replace(comparison, margin=0.1).not_worse_p


def test_what_is_said() -> None:
    for comparison, condition, change in (
        (FALLEN, "drops 1% p<0.05", "-0.2000 (-25.0%)"),
        (RISEN, "changes", "+0.1000 (+25.0%)"),
        (FROM_NOTHING, "rises", "+0.5000"),
    ):
        told = f"new: P@10 {change} against old, p {show_p(P, 0.05)}"
        assert comparison.failures(f"{ALL} {condition}") == [told]


def test_not_worse_has_to_be_shown() -> None:
    assert RISEN.unmet(f"{ALL} not worse by 0.01") == [
        "new: P@10 +0.1000 (+25.0%) against old, not shown to be less than 0.01 worse, p 0.372"
    ]
    p = not_worse_p(MIXED)[0, 0]
    for comparison, text, shown in (
        (RISEN, "than baseline by 50%", True),
        (RISEN, "than old by 0.5 p<0.001", True),
        (FALLEN, "by 0.6 p<0.5", True),
        (FALLEN, "by 0.2", False),  # as much as the margin
        (MIXED, "by 10%", False),  # too little to be sure
        (MIXED, "by 90%", True),
        (TIED, "by 1%", False),  # of losses that ten queries do not show
        (MIXED, f"by 0.1 p<{p + 1e-6:.9f}", True),
        (MIXED, f"by 0.1 p<{p - 1e-6:.9f}", False),
    ):
        assert (comparison.unmet(f"{ALL} not worse {text}") == []) == shown, text
    assert compared(measures="DCG", old=8, new=8).unmet("DCG not worse by 1%"), "it has no range"


@pytest.mark.parametrize("test", ["bounded", "t", "randomisation"])
def test_two_identical_queries_pass_no_gate(test: str) -> None:
    results = irbatch.evaluate_matrix([[1, 0], [0, 1]], "nDCG@10 P@1")
    found = irbatch.compare({"old": results, "new": results}, baseline="old",
                                    margin_test=test)  # fmt: skip
    for text in ("equivalent to baseline within 0.1%", "not worse than baseline by 1%"):
        assert found.unmet(f"nDCG@10 {text}")
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
        "new: P@10 +0.1000 (+25.0%) against old, not shown to be less than 0.05 apart, p 1.000"
    ]
    assert FALLEN.unmet(text)
    assert not RISEN.unmet(f"{ALL} equivalent within 0.6")
    uneven = compared(old=5, new=[4, 6] * 5)
    turned = replace(uneven, pairs=[(b, a) for a, b in uneven.pairs])
    p = float(replace(uneven, margin=0.1).equivalence_p[0, 0])
    assert p == max(not_worse_p(uneven)[0, 0], not_worse_p(turned)[0, 0])
    assert bool(uneven.unmet(f"{ALL} equivalent within 0.1 p<{p:.6f}")) != bool(
        uneven.unmet(f"{ALL} equivalent within 0.1 p<{p * 1.01:.6f}")
    )


def test_what_is_not_worse_is_corrected() -> None:
    pytest.importorskip("scipy")
    several = compared(old=5, a=[6, 5] * 5, b=[4, 6] * 5, c=[5, 6, 4, 6, 5] * 2)
    alone = compared(old=5, a=[6, 5] * 5)
    assert not_worse_p(several)[0] > not_worse_p(alone)[0]


# ---------------------------------------------------------------- floors, and groups


def bounds(comparison: irbatch.Comparison, column: int) -> Any:
    """Return intervals of P@k or RR whatever the values, ``(systems, 2)``."""
    values = comparison.values[..., column].T
    ends = np.zeros(values.shape[1]), np.ones(values.shape[1])
    return bounded_intervals(values, *ends, comparison.level)


def test_floors() -> None:
    for found in (FALLEN, FLOORS):
        assert found.unmet(f"{ALL} >= 0.65") == ["new: P@10 is 0.6, not >= 0.65"]
        assert found.failures(f"{ALL} < 0.65") == ["new: P@10 is 0.6, < 0.65"]
        assert not found.unmet(f"{ALL} >= 0.6")
        assert found.unmet(f"{ALL} > 0.6")
        assert not found.failures(f"{ALL} < 0.6")
    tenths = compared(old=5, new=[1, 2, 3] * 3 + [2])
    assert not tenths.unmet(f"{ALL} >= 0.2"), "the mean of tenths"
    low, high = bounds(MIXED, 0)[1].tolist()
    for bound, value in (("lower", low), ("upper", high)):
        assert not MIXED.unmet(f"{ALL} {bound} bound >= {value - 0.001:.6f}")
        assert MIXED.unmet(f"{ALL} {bound} bound >= {value + 0.001:.6f}") == [
            f"new: the {bound} bound of P@10 is {value:.4g}, not >= {round(value + 0.001, 6)}"
        ]
    assert MIXED.unmet(f"{ALL} >= 0.4700001") == ["new: P@10 is 0.47, not >= 0.4700001"]


def test_floors_of_one_system() -> None:
    """The bounds are those of comparisons; `irbatch eval` says the same."""
    both = irbatch.compare({"one": LISTS, "other": LISTS})
    low, other = (bounds(both, column)[0, 0].item() for column in (0, 1))
    assert not unmet(LISTS, "RR >= 0.7", f"RR lower bound >= {low - 1e-9!r}")
    assert unmet(LISTS, f"RR lower bound >= {low + 1e-9!r}", ["P@2 lower bound > 0.5"]) == [
        f"run: the lower bound of RR is {low:.4g}, not >= {low + 1e-9!r}",
        f"run: the lower bound of P@2 is {other:.4g}, not > 0.5",
    ]
    assert failures({"a": LISTS, "b": LISTS}, "recip_rank < 0.75") == [
        "a: RR is 0.7083, < 0.75", "b: RR is 0.7083, < 0.75"
    ]  # fmt: skip
    assert unmet(LISTS, "NumRelRet lower bound > 0") == [
        "run: the lower bound of NumRelRet is nan, not > 0"
    ]


def test_groups() -> None:
    assert GROUPED.failures(f"{ALL} drops")
    assert not GROUPED.failures(f"in even: {ALL} drops")
    (told,) = GROUPED.failures(f"in odd: b: {ALL} drops")
    assert told.startswith("in odd: b: new: P@10 -0.2000 (-40.0%) against old, p ")
    assert GROUPED.failures(f"in every group: {ALL} drops") == [told]
    assert GROUPED.unmet(f"in every group: {ALL} >= 0.5") == [
        "in odd: b: new: P@10 is 0.3, not >= 0.5"
    ]


def test_a_group_of_one_query() -> None:
    groups = {f"q{i}": "solo" if i == 0 else "others" for i in range(QUERIES)}
    with pytest.warns(irbatch.InputWarning, match="one query"):
        found = compared(old=5, new=[2] + [6] * 9, groups=groups)
    assert not found.failures(f"in every group: {ALL} drops 90%")
    input_error(lambda: found.unmet(f"in solo: {ALL} not worse by 1%"), "no group 'solo'")


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
