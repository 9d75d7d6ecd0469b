"""Generated names of measures, conditions on comparisons, and constraints on leaderboards."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.generating import damaged, examples

from irbatch.comparing.gate import Limit, Verdict, parse_condition
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.errors import InputError
from irbatch.leaderboard import Leaderboard
from irbatch.measures import parse_measures
from irbatch.measures.declare import CATALOGUE, styles
from irbatch.measures.names import TREC_MEASURES, list_measures, list_values

STEMS = (
    *CATALOGUE, *TREC_MEASURES, "official", "set", "all_trec", "ndcg", "mrr", "map", "hits",
    "hit_rate", "precision", "f1", "r-precision", "rbp.95", "bpref", "nDCG", "AP", "RR", "nDGC",
)  # fmt: skip
SETTINGS = (
    *("", "", "", "", "(rel=2)", "(gain=exp)", "(gain={1:3,2:9})", "(p=0.8)", "(beta=2,rel=1)"),
    *("(norm=min)", "(discount=rank)", "(recall=0.1)", "(points={0,.5,1})", "(times={.2,1.5})"),
    *("(a=1,b=-1,c=0,d=0)", "()", "( rel = 3 )", "(dcg='exp-log2')", "(judged_only=True)"),
    *("(tail=judged)", "(docs=100)", "(rounding='up')", "(weight=.5)", "(rel=1.5)"),
)
ENDS = (
    *("", "", "@10", "@5", "@{1,5,10}", "@ 20", "@1000", "_5", "_10", ".5,10", "_at_10", "-l2"),
    *("@10-l3", "@0.1", "_cut_10", "_cut.5,10", "_1.0", ".1=3,2=9", "_p=.5,1=3", "_0.20", "@010"),
)
TOKENS = (
    *("@", "(", ")", "{", "}", ",", "=", ":", ".", "_", "-", "-l", "0", "1", "10", "2.5", "-1"),
    *(" ", "\x1b[1m"),
    *("rel", "p", "gain", "e5", "1e400", "nan", "inf", "\u0661", "\u00b2", "\0", "\n", "\t", "'"),
    *('"', "\ud800", "\u0130", "\u1e9e", "\uff11", "9" * 30, "9" * 400, "((", "))", "{{", "}}"),
    *("=" * 20, "_1" * 20, "ndcg", "AP", "@5@5", "\u00a0", "\u2028", "\U0001f600", "-l5-l5"),
)


def joined(*parts: Any) -> Any:
    return st.tuples(*map(st.sampled_from, parts)).map("".join)


NAMES = joined(STEMS, SETTINGS, ENDS)
LISTS = st.one_of(
    NAMES, st.tuples(NAMES, st.sampled_from([" ", "\t", "\n", ", "]), NAMES).map("".join)
)
# To be worked through in linear time, and what broke the reader of names once.
KEPT = [
    "R()@9999999999999999", "ndcg_cut_109999999999999999999999999999993",
    "iprec_at_recall(rounding='up')", "Rprecmult.5,-0", "0" * 300_000 + "!",
    "P@{" + " " * 300_000, "map(gain=" + "_1" * 300_000, "nDCGrel.5," + "9" * 300_000,
]  # fmt: skip


def check_names(text: str) -> None:
    """Names are rejected, or stand for measures whose own names stand for the same measures."""
    try:
        measures = parse_measures(text)
    except InputError as error:
        assert error.source in ("measures", "cutoffs", None)
        for each in error.problems:
            if each.message.startswith("unknown measure"):
                hints = ("did you mean ", "`irbatch measures` lists all", "with a measure, as")
                assert any(hint in each.message for hint in hints), each.message
        return
    assert len(set(measures)) == len(measures) > 0
    for measure in measures:
        assert parse_measures(str(measure)) == (measure,)
        for style in styles():
            spelled = measure.spelled(style)  # may tell less, as points to two digits
            again = parse_measures(spelled)
            assert [each.spelled(style) for each in again] == [spelled]


@pytest.mark.parametrize("text", KEPT, ids=lambda text: text[:20])
def test_names_that_broke_their_reader(text: str) -> None:
    check_names(text)


@examples(400)
@given(damaged(LISTS, TOKENS))
def test_names(text: str) -> None:
    check_names(text)


TREC = joined((*TREC_MEASURES, "all_trec", "set", "official"),
              ("", ".5,10", ".1=3,2=9", ".p=.5,1=1", ".2", ".", ".0.1,.5"))  # fmt: skip


@examples(150)
@given(damaged(TREC, TOKENS), st.sampled_from(["9", "10"]))
def test_names_of_trec_eval(text: str, version: str) -> None:
    """What follows `-m` is rejected, or names values with labels."""
    try:
        for name, parameters in list_measures([text], version).items():
            for value in list_values(TREC_MEASURES[name], parameters):
                assert value.label.startswith(name)
    except InputError as error:
        assert str(error)


# ---------------------------------------------------------------- conditions

RECORD = EfficiencyRecord(system="a", latency=Latency(mean=1, p95=1), price_per_hour=1)
BOARD = Leaderboard({"a": {"nDCG@10": 0.5, "AP(rel=2)@100": 0.5}}, RECORD)
AXES = ("latency_p95", "p95", "cost", "nDCG@10", "ndcg_cut_10", "energy", "queries_per_second")
SIGNS = ("<", "<=", ">", ">=", "==", "!=", "=", "<>")
CONDITIONS = st.tuples(
    NAMES, joined((" drops", " rises", " changes"), ("", " 1%", " 0.01", " .5 %", " 10", " 1e3"),
                  ("", " p<0.05", " p < .5", " p<1", " p<0", " p<2")),
).map("".join)  # fmt: skip
CONSTRAINTS = joined(AXES, ("", " "), SIGNS, ("", " "), ("50", "0.5", "1e3", "-1", "nan", "9" * 30))
SIGNED = (*TOKENS, "<", ">", "%", "drops", " p<", " and ", " or ")


def check_condition(text: str) -> None:
    """A condition means the same once it is written again."""
    found = parse_condition(text, required=False)[1]
    if isinstance(found, Limit):  # which constraints are made of, too
        assert math.isfinite(found.limit)
        return
    assert isinstance(found, Verdict)
    amount = found.margin.amount
    assert math.isfinite(amount)
    assert amount >= 0
    assert found.p is None or 0 < found.p <= 1
    written = f"{amount * 100!r}%" if found.margin.relative else f"{amount!r}"
    level = "" if found.p is None else f" p<{found.p!r}"
    if "e" in written + level:
        return
    again = parse_condition(f"{found.name} {found.verb} {written}{level}", required=False)[1]
    assert isinstance(again, Verdict)
    assert again._replace(margin=found.margin) == found
    assert math.isclose(again.margin.amount, amount)


def check_constraint(text: str) -> None:
    (said,) = BOARD.where(text).constraints
    assert BOARD.where(said).constraints == [said]


@pytest.mark.parametrize(
    ("check", "text"),
    [
        (check_condition, "nDCG@10 drops " + "0" * 300_000 + "!"),
        (check_constraint, "latency_p95 == " + "9" * 300_000 + "!"),
        (check_constraint, "latency_p95 " + " " * 300_000 + "!"),
        (check_constraint, "a < b < 5"),
        (check_constraint, "a << 5"),
    ],
    ids=lambda each: str(each)[:20],
)
def test_conditions_that_broke_their_reader(check: Any, text: str) -> None:
    with pytest.raises(InputError):
        check(text)


@examples(200)
@given(damaged(CONDITIONS, SIGNED))
def test_conditions(text: str) -> None:
    try:
        check_condition(text)
    except InputError as error:
        assert str(error)


@examples(200)
@given(damaged(CONSTRAINTS, SIGNED))
def test_constraints(text: str) -> None:
    try:
        check_constraint(text)
    except InputError as error:
        assert str(error)
