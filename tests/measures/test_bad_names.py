"""Measures, cutoffs, parameters and settings that cannot be, and lookups of what is not there."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import Run, evaluate, evaluate_matrix, evaluate_runs, evaluate_scores, measure
from irbatch.measures import parse_measures

QRELS = {"q1": {"d1": 1, "d2": 0}}
RUN = {"q1": {"d1": 1.0, "d2": 0.5}}

# What is wrong, and what is said of it.
NAMES: dict[str, str] = {
    **{f"P@{text}": f"cutoff {text!r}" for text in ("0", "-1", "2.5", "1e3", "٣", "1_0", "ten")},
    **{f"P{text}": f"'P{text}' is not of the form" for text in ("@", "(rel=2")},
    **dict.fromkeys(("", "  "), "no measures were asked for"),
    **dict.fromkeys(("P@{1,5}", "P AP"), "stands for 2 measures"),
    "@5": "'@5' is not of the form", "P@{}": "cutoff ''", "P@{5": "cutoff '{5'",
    "P@{1,0}": "cutoff '0'", "P@5(rel=2)": "cutoff '5(rel=2)'", "P@5@6": "cutoff '5@6'",
    "NumQ@5": "NumQ takes no cutoff",
    "P_2.5": "'2.5' of trec_eval's P", "P.5,2.5": "'5,2.5' of trec_eval's P",
    "ndcg_cut.23.4": "'23.4' of trec_eval's ndcg_cut", "recall_1e2": "'1e2' of trec_eval's recall",
    "map.5": "trec_eval's map takes no cutoff: 'map.5'",
    "bpref.5": "bpref takes no cutoff", "set_P.5": "set_P takes no cutoff",
    "rbp.0": "p=0.0 must be a number above 0", "rbp_resid.1=2": "RBPresid has no parameter 'gain'",
    "rbp_resid.0.8": "parameters '0.8' of trec_eval's rbp_resid must be p=0.9, grade=gain",
    "P(rel=1,rel=2)": "gives rel twice", "nDCG(gain=exp,gains={1:2})": "gives gain twice",
    "P(rel)": "'rel' in 'P(rel)' is not of the form parameter=value", "nDCG(10)": "'10' in",
    "P(judged_only=1)": "no parameter 'judged_only'",
    "IPrecAvg(points={.5,x})": "'x' in 'IPrecAvg(points={.5,x})' is not a number",
    "nDCG(gain={1:3,1.0:9})": "two gains", "nDCG(gain={1:x})": "'1:x' in",
    "nDCG(gain={})": "grade:gain",
    # Parameters, by kind; many more are tried by the fuzzer.
    "AP(depth=3)": "AP has no parameter 'depth' (it has: norm, rel)",
    "AP(norm=max)": "norm='max' must be one of all, min, found",
    "AP(rel=-1)": "rel=-1.0 must be a number of at least 0", "AP(rel=x)": "rel='x' must be a num",
    "AP(rel=nan)": "rel='nan' must be a number", "AP(rel=1e400)": "must be a finite number",
    "RBP(p=1)@5": "p=1.0 must be a number", "Compat(normalize=0)": "must be True or False",
    "IPrec@1.5": "at most 1", "IPrec@-0.1": "at least 0", "IPrec@0.x": "must be a number",
    "IPrecAvg(points={.5,.5})": "several numbers, each once",
    "IPrecAvg(points={0,2})": "at most 1", "IPrecAvg(points={.5:1})": "several numbers",
    "INST(number={EU,EX})": "number='EX' must be one of EU, ETU",
    "INST(T={EU,ED})": "T=['EU', 'ED'] must be a number",
    "INST(max_n=2.5)": "max_n=2.5 must be a whole number",
    "nDCG(gain=cubic)": "gain='cubic' must be one of linear, exp, binary",
    "nDCG(discount=log3)": "discount='log3' must be one of log2", "nDCG(discount=jk1)": "jk and a",
    # Unknown ones, with the nearest.
    "map_5": "unknown measure 'map_5' (did you mean AP@5?)", "qqq@10": "; `irbatch measures` lists",
    "prefs_simp": "unknown measure 'prefs_simp'; `irbatch measures` lists all",
    "nDG@10": "(did you mean nDCG@10?)", "precison_at_5": "(did you mean P@5?)",
    "reciprocal_rnak": "(did you mean RR?)", "map100": "(did you mean AP@100?)",
    "NDCG10": "(did you mean nDCG@10?)", "nrbp": "unknown measure", "P\0": "'P\\x00'",
}  # fmt: skip


@pytest.mark.parametrize(("name", "said"), NAMES.items())
def test_names(name: str, said: str) -> None:
    input_error(lambda: measure(name), said)
    if "stands for" not in said:
        input_error(lambda: evaluate(QRELS, RUN, name), said)


@pytest.mark.parametrize("wish", [[None], [b"P"], 7, bytearray(b"P"), {"AP": 1}], ids=repr)
def test_what_is_not_a_name(wish: Any) -> None:
    assert len(input_error(lambda: evaluate(QRELS, RUN, wish), "not").problems) == 1


def test_all_bad_names_are_reported_at_once() -> None:
    wishes = ["nDGC@10", "AP", "presicion@5", "P@0", "zzzzzzzz", 7, "AP(foo=1)"]
    error = input_error(lambda: evaluate(QRELS, RUN, wishes), "6 problems", source="measures")
    bad = ["nDGC@10", "presicion@5", "0", "zzzzzzzz", 7]
    assert [each.value for each in error.problems[:5]] == bad
    input_error(lambda: evaluate(QRELS, RUN, " ".join(wishes[:3])), "2 problems", "nDGC")


@pytest.mark.parametrize(
    "cutoff", [0, -1, 2.5, 3.0, True, "abc", math.nan, [1], np.float64(3), np.int64(0)], ids=repr
)
def test_cutoffs(cutoff: Any) -> None:
    fact = f"cutoff {cutoff!r} must be a whole number of at least 1"
    for call in (
        lambda: measure("P") @ cutoff,
        lambda: parse_measures("P", [5, cutoff]),
        lambda: evaluate_matrix([[1, 0]], "P", [cutoff]),
    ):
        assert input_error(call, fact).value is cutoff


@pytest.mark.parametrize("cutoffs", [b"5", memoryview(b"5"), "5", {5: 1}, np.array(5.0), b"", []])
def test_what_is_not_cutoffs(cutoffs: Any) -> None:
    """Bytes are series of numbers, of which 53 is b"5"."""
    input_error(lambda: evaluate(QRELS, RUN, "P", cutoffs), "cutoff")


VALUES: list[tuple[str, str, list[Any], str]] = [
    ("AP", "rel", ["x", None, True, math.nan, [1], -1, 10**400], "must be"),
    ("IPrec", "recall", [1.5, np.float32(2)], "at most 1"),
    ("IPrec", "recall", ["0.5", True, 1j, np.array([0.5])], "a number"),
    ("IPrec", "rounding", ["down", "", None, 1], "one of nearest, up"),
    ("IPrecAvg", "points", [(), (0.5, 0.5), [0.0, -0.0], iter(())], "each once"),
    ("IPrecAvg", "points", ["x", {0.5: 1}, 0.5, None], "several numbers"),
    ("IPrecAvg", "points", [[[0.5]], [0.5, None], [0.5, True]], "a number"),
    ("IPrecAvg", "points", [[0.5, 1.5]], "at most 1"),
    ("RBP", "p", [0, -1], "above 0"),
    ("RBP", "p", [1, 2], "below 1"),
    ("G", "gain", ["nope", 3, None], "one of linear, exp, binary"),
    ("G", "gain", [{"a": 1}, {1: math.nan}, [(1,)], {-1: 2}], "a map of grades"),
    ("nDCG", "discount", ["jk", "jk0", "jk2.5", None, 2], "jk and a base"),
    ("Exposure", "group", ["a,b", "", " a", 1.5, True, "1e3", "('a')"], "a name"),
]


@pytest.mark.parametrize(("name", "parameter", "values", "fact"), VALUES)
def test_values_of_parameters(name: str, parameter: str, values: list[Any], fact: str) -> None:
    for value in values:
        error = input_error(functools.partial(measure(name), **{parameter: value}), name, fact)
        assert error.value is value


def test_values_that_are_the_same() -> None:
    assert math.copysign(1.0, measure("Qmeasure")(beta=-0.0)["beta"]) == 1.0
    assert measure("G")(gain={-1: 0, 1: 2}) == measure("G")(gain={1: 2})
    assert str(measure("Exposure")(group=7)) == "Exposure(group=7)"
    assert measure("Exposure(group=new in town)@3")["group"] == "new in town"


@pytest.mark.parametrize("name", ["ERR", "nEBR", "iRBU", "RBP(max_grade=4)", "Rpref(max_grade=4)"])
def test_grade_above_the_scale(name: str) -> None:
    qrels = {"q": {"a": 1, "b": 4}, "r": {"c": 2, "d": 5}}
    run = {"q": {"a": 1.0}, "r": {"c": 1.0}}
    fact = f"grade 5 is above the max_grade of {name}"
    where: dict[str, Any] = {"query": "r", "document": "d", "value": 5.0}
    input_error(lambda: evaluate(qrels, run, ["AP", f"{name}@3"]), fact, **where)
    input_error(lambda: evaluate_matrix([[1, 5]], name), fact, value=5.0)
    assert evaluate({"q": qrels["q"]}, run, name)[name] > 0


def test_a_lower_grade_of_higher_gain() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 1.0}}
    wish = "ERR(max_grade=2,gain={1:3,2:2})"
    input_error(lambda: evaluate(qrels, run, wish), "gain 3 of grade 1 is above 2", value=1.0)
    # A grade that a map doesn't name keeps itself as gain.
    assert evaluate(qrels, run, "ERR(max_grade=3,gain={1:2})").values.item() == 2 / 4


@pytest.mark.parametrize(
    ("reads", "name"), [("subtopics", "StRecall"), ("strata", "xInfAP"), ("probabilities", "StatP")]
)
def test_the_first_measure_of_marks_is_named(reads: str, name: str) -> None:
    fact = f"{name} reads judgments of {reads}: see irbatch.Qrels"
    assert input_error(lambda: evaluate_matrix([[1]], f"P {name}"), fact).value == name


SETTINGS = {
    "missing": ("skip ", True, 0), "no_relevant": ("error", None, 1),
    "judged_only": ("yes", None, 2), "score_dtype": ("float16", np.float32),
    "trec_eval": ("11", 11, 10.0, True),
}  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS)
def test_settings(setting: str) -> None:
    for value in (*SETTINGS[setting], ["a", "b"]):
        fact, wrong = f"{setting}=", {setting: value}
        input_error(lambda wrong=wrong: evaluate(QRELS, RUN, "RR", **wrong), fact, value=value)
        input_error(lambda wrong=wrong: evaluate_runs(QRELS, {"a": RUN}, "RR", **wrong), fact)
    for ties in ("first", 5, ["error"]):
        input_error(lambda t=ties: evaluate_scores([[1]], [[1]], "RR", ties=t), "ties=")
    input_error(lambda: measure("AP").spelled("latin"), "names", "latin", "trec_eval")


@pytest.mark.parametrize(
    ("runs", "fact"),
    [
        ([RUN], "has no name"),
        ([Run(RUN)], "has no name"),
        ([Run(RUN, "a"), Run(RUN, "a")], "two runs are called 'a'"),
        (Run(RUN, "a"), "runs are several"),
        ("bm25.trec", "runs are several"),
    ],
    ids=["mapping without a name", "run without a name", "one name", "one run", "one path"],
)
def test_runs_need_names(runs: Any, fact: str) -> None:
    input_error(lambda: evaluate_runs(QRELS, runs, "RR"), fact)
