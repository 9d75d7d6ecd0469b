"""Names of measures, conditions on comparisons, and constraints on leaderboards."""

from __future__ import annotations

import math
from random import Random
from typing import Any

from fuzz.mutation import damage
from fuzz.target import Target
from irbatch.comparing.gate import Change, Limit, parse_condition
from irbatch.efficiency import EfficiencyRecord, Latency
from irbatch.errors import InputError
from irbatch.leaderboard import Leaderboard
from irbatch.measures import parse_measures
from irbatch.measures.declare import CATALOGUE, styles
from irbatch.measures.trec_names import TREC_MEASURES, list_measures, list_values

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
    *(
        " ",
        "@",
        "(",
        ")",
        "{",
        "}",
        ",",
        "=",
        ":",
        ".",
        "_",
        "-",
        "-l",
        "0",
        "1",
        "10",
        "2.5",
        "-1",
    ),
    *("rel", "p", "gain", "e5", "1e400", "nan", "inf", "\u0661", "\u00b2", "\0", "\n", "\t", "'"),
    *('"', "\ud800", "\u0130", "\u1e9e", "\uff11", "9" * 30, "9" * 400, "((", "))", "{{", "}}"),
    *(
        "=" * 20,
        "_1" * 20,
        "ndcg",
        "AP",
        "@5@5",
        "\u00a0",
        "\u2028",
        "\U0001f600",
        "-l5-l5",
        "\x1b[1m",
    ),
)
SEPARATORS = (" ", " ", "  ", "\t", "\n", ", ", ",")


def make_name(rng: Random) -> str:
    return rng.choice(STEMS) + rng.choice(SETTINGS) + rng.choice(ENDS)


class Names(Target):
    """Names are refused, or stand for measures whose own names stand for the same measures."""

    name, share = "names", 360

    def __init__(self) -> None:
        self._known: dict[Any, None] = {}  # measures whose names have been looked at

    def generate(self, rng: Random) -> str:
        text = make_name(rng)
        if rng.random() < 0.1:
            text += rng.choice(SEPARATORS) + make_name(rng)
        text = damage(rng, text, TOKENS)
        if rng.random() < 0.002:  # to be worked through in linear time
            text += rng.choice(TOKENS) * rng.choice((1_000, 30_000)) + rng.choice(ENDS)
        return text

    def check(self, given: str) -> None:
        try:
            measures = parse_measures(given)
        except InputError as error:
            assert error.source in ("measures", "cutoffs", None), error.source
            for each in error.problems:
                if each.message.startswith("unknown measure"):
                    hints = ("did you mean ", "`irbatch measures` lists all", "with a measure, as")
                    assert any(hint in each.message for hint in hints), each.message
            return
        assert measures
        assert len(set(measures)) == len(measures)
        for measure in measures:
            if measure not in self._known:
                if len(self._known) > 20_000:
                    self._known.clear()
                name = str(measure)
                assert parse_measures(name) == (measure,), name
                assert str(parse_measures(name)[0]) == name
                for style in styles():
                    spelled = measure.spelled(style)  # may tell less, as points to two digits
                    again = parse_measures(spelled)
                    assert [each.spelled(style) for each in again] == [spelled], spelled
                self._known[measure] = None


RECORD = EfficiencyRecord(system="a", latency=Latency(p95=1), stated_cost=1, throughput=1)
BOARD = Leaderboard({"a": {"nDCG@10": 0.5, "AP(rel=2)@100": 0.5}}, RECORD)
AXES = ("latency_p95", "p95", "cost", "nDCG@10", "ndcg_cut_10", "energy", "queries_per_second")
AMOUNTS = ("", " 1%", " 0.01", " .5 %", " 10", " 1e3", " 5.%")
LEVELS = ("", " p<0.05", " p < .5", " p<1", " p<0", " p<2")


class Conditions(Target):
    """Conditions and constraints are refused, or mean the same once they are written again."""

    name, share = "conditions", 220

    def generate(self, rng: Random) -> tuple[str, str]:
        if rng.random() < 0.5:
            change = rng.choice((" drops", " rises", " changes", "  drops"))
            text = make_name(rng) + change + rng.choice(AMOUNTS) + rng.choice(LEVELS)
            kind = "condition"
        else:
            sign = rng.choice(("<", "<=", ">", ">=", "==", "!=", "=", "<>"))
            parts = (
                rng.choice(AXES),
                sign,
                rng.choice(("50", "0.5", "1e3", "-1", "nan", "9" * 30)),
            )
            text = rng.choice(("", " ")).join(parts)
            kind = "constraint"
        text = damage(rng, text, (*TOKENS, "<", ">", "%", "drops", " p<", " and ", " or "))
        if rng.random() < 0.002:
            text = rng.choice((text, "")) + rng.choice(TOKENS) * 10_000 + rng.choice(LEVELS)
        return kind, text

    def check(self, given: tuple[str, str]) -> None:
        kind, text = given
        try:
            (_check_condition if kind == "condition" else _check_constraint)(text)
        except InputError as error:
            assert str(error)


def _check_condition(text: str) -> None:
    found = parse_condition(text, required=False).form
    if isinstance(found, Limit):  # which constraints are made of, too
        assert math.isfinite(found.limit)
        return
    assert isinstance(found, Change)
    assert math.isfinite(found.amount)
    assert found.amount >= 0
    assert found.p is None or 0 < found.p <= 1
    if "e" in f"{found.amount!r}{found.p!r}".replace("None", ""):
        return
    amount = f"{found.amount * 100!r}%" if found.relative else f"{found.amount!r}"
    if "e" not in amount:
        level = "" if found.p is None else f" p<{found.p!r}"
        again = parse_condition(f"{found.name} {found.change} {amount}{level}", required=False).form
        assert isinstance(again, Change)
        assert again._replace(amount=0.0) == found._replace(amount=0.0)
        assert math.isclose(again.amount, found.amount)


def _check_constraint(text: str) -> None:
    (said,) = BOARD.where(text).constraints
    assert BOARD.where(said).constraints == [said]


class TrecNames(Target):
    """What follows `-m` of trec_eval is refused, or names values with labels."""

    name, share = "trec-names", 70

    def generate(self, rng: Random) -> tuple[str, str]:
        text = rng.choice((*TREC_MEASURES, "all_trec", "set", "official"))
        text += rng.choice(("", "", ".5,10", ".1=3,2=9", ".p=.5,1=1", ".2", ".", ".0.1,.5"))
        return damage(rng, text, TOKENS), rng.choice(("9", "10"))

    def check(self, given: tuple[str, str]) -> None:
        text, version = given
        try:
            for name, parameters in list_measures([text], version).items():
                for value in list_values(TREC_MEASURES[name], parameters):
                    assert value.label.startswith(name)
        except InputError as error:
            assert str(error)
