"""Measures, cutoffs and settings that cannot be, and lookups of what was not evaluated."""

import pickle
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import (
    Results,
    Run,
    define_discount,
    define_gain,
    define_measure,
    evaluate,
    evaluate_matrix,
    evaluate_runs,
    evaluate_scores,
    measure,
    parse_measures,
)
from irbatch.measures import CATALOGUE

QRELS = {"q1": {"d1": 1, "d2": 0}}
RUN = {"q1": {"d1": 1.0, "d2": 0.5}}


@pytest.mark.parametrize(
    "cutoff",
    [0, -1, 2.5, 3.0, True, "abc", "10", float("nan"), [1], np.float64(3), np.int64(0)],
    ids=repr,
)
def test_cutoff_is_none(cutoff: Any) -> None:
    fact = f"cutoff {cutoff!r} must be a whole number of at least 1"
    for call in (
        lambda: measure("P") @ cutoff,
        lambda: parse_measures("P", [5, cutoff]),
        lambda: evaluate(QRELS, RUN, "P", [cutoff]),
        lambda: evaluate_matrix([[1, 0]], "P", [cutoff]),
    ):
        error = input_error(call, fact)
        assert error.value is cutoff


@pytest.mark.parametrize(
    "cutoffs",
    [b"5", bytearray(b"5"), memoryview(b"5"), "5", {5: 1}, np.array(5.0), b""],
    ids=lambda each: type(each).__name__,
)
def test_cutoffs_are_none(cutoffs: Any) -> None:
    """Bytes are series of numbers, of which 53 is b"5"."""
    input_error(lambda: evaluate(QRELS, RUN, "P", cutoffs), "cutoff", "a whole number of at least")
    if isinstance(cutoffs, bytearray | memoryview):
        said = "is not a measure or its name"
        assert len(input_error(lambda: evaluate(QRELS, RUN, cutoffs), said).problems) == 1


def test_no_cutoff_is_full_depth_among_cutoffs_only() -> None:
    assert [str(each) for each in parse_measures("P", [5, None])] == ["P@5", "P"]
    input_error(lambda: measure("P") @ None, "cutoff None")


@pytest.mark.parametrize("text", ["0", "-1", "2.5", "abc", "1e3", "٣", "5@6", "1_0", "0x10"])
def test_cutoff_in_a_name_is_none(text: str) -> None:
    facts = (repr(text), repr(f"P@{text}"), "whole number of at least 1")
    input_error(lambda: measure(f"P@{text}"), *facts, source="measures", value=text)
    input_error(lambda: evaluate(QRELS, RUN, f"AP P@{{5,{text}}}"), repr(text), value=text)


def test_cutoff_of_more_digits_than_python_reads() -> None:
    input_error(lambda: measure("P@" + "9" * 5000), "P@")


@pytest.mark.parametrize("cutoff", [1, 2, 3, 1000, 2**31, 2**63, 10**30, np.int64(7)], ids=repr)
def test_cutoff_beyond_the_ranking(cutoff: Any) -> None:
    wish = f"P@{cutoff}"
    expected = 1 / float(cutoff)
    assert evaluate(QRELS, RUN, wish)[wish] == expected
    assert evaluate(QRELS, RUN, "P", [cutoff]).mean() == {wish: expected}
    assert evaluate_matrix([[1, 0]], wish)[wish] == expected
    assert evaluate(QRELS, RUN, f"nDCG@{cutoff} AP@{cutoff} RR@{cutoff}").values.tolist() == [
        [1.0, 1.0, 1.0]
    ]


def test_the_first_measure_of_subtopics_is_named() -> None:
    fact = "StRecall reads judgments of subtopics: see irbatch.Qrels"
    error = input_error(lambda: evaluate_matrix([[1]], "P StRecall alpha_nDCG"), fact)
    assert error.value == "StRecall"


def test_a_style_is_unknown() -> None:
    input_error(lambda: measure("AP").spelled("latin"), "names", "latin", "trec_eval")


def test_duplicates_count_once() -> None:
    wishes = ["P@5", "P@05", "P_5", measure("P@5"), "precision@5", "AP", "map", "P@{5,5,10}"]
    assert [str(each) for each in parse_measures(wishes)] == ["P@5", "AP", "P@10"]
    assert evaluate(QRELS, RUN, wishes).measures == ["P@5", "AP", "P@10"]
    assert evaluate(QRELS, RUN, "P P", [5, 5]).measures == ["P@5"]


def test_unknown_measures_are_named_all_at_once() -> None:
    wishes = ["nDGC@10", "AP", "presicion@5", "P@0", "zzzzzzzz", 7, "AP(foo=1)"]
    facts = (
        "6 problems",
        "'nDGC@10' (did you mean nDCG@10?)",
        "'presicion@5' (did you mean P@5?)",
        "'P@0'",
        "'zzzzzzzz'",
        "`irbatch measures`",
        "7 is not a measure",
        "no parameter 'foo'",
    )
    error = input_error(lambda: evaluate(QRELS, RUN, wishes), *facts, source="measures")
    assert [each.value for each in error.problems[:5]] == [
        *("nDGC@10", "presicion@5", "0", "zzzzzzzz", 7)
    ]
    input_error(
        lambda: evaluate(QRELS, RUN, " ".join(wishes[:3])), "2 problems", "nDGC", "presicion"
    )


@pytest.mark.parametrize(
    ("wish", "fact"),
    [
        ("P(rel=abc)", "rel='abc' must be a number"),
        ("P(rel=nan)", "rel='nan' must be a number"),
        ("P(rel=inf)", "rel='inf' must be a number"),
        ("P(rel=1e400)", "rel=inf must be a finite number"),
        ("P(rel=-1)", "rel=-1.0 must be a number of at least 0"),
        ("P(rel)", "'rel' in 'P(rel)' is not of the form parameter=value"),
        ("P(gain=exp)", "no parameter 'gain'"),
        ("P(judged_only=1)", "evaluate(…, judged_only=True)"),
        ("nDCG(gain=cubic)", "gain='cubic' must be one of linear"),
        ("nDCG(gain={1:x})", "'1:x'"),
        ("nDCG(gain={})", "grade:gain"),
        ("nDCG(discount=log3)", "discount='log3' must be one of log2"),
        ("P(rel=2", "'P(rel=2' is not of the form"),
        ("P@", "'P@' is not of the form"),
        ("@5", "'@5' is not of the form"),
        ("NumRel@5", "NumRel takes no cutoff"),
        ("P\0", "'P\\x00'"),
        ("", "no measures were asked for"),
        ("  ", "no measures were asked for"),
        ([], "no measures were asked for"),
        ([None], "None is not a measure"),
        ([b"P"], "b'P' is not a measure"),
    ],
    ids=repr,
)
def test_name_cannot_be_understood(wish: Any, fact: str) -> None:
    input_error(lambda: parse_measures(wish), fact)
    input_error(lambda: evaluate(QRELS, RUN, wish), fact)


@pytest.mark.parametrize("value", ["x", None, True, float("nan"), [1], -1, 10**400], ids=type)
def test_parameter_of_the_wrong_kind(value: Any) -> None:
    input_error(lambda: measure("AP")(rel=value), "AP: rel=", "must be")


def test_one_name_one_measure() -> None:
    input_error(lambda: measure("P@{1,5}"), "'P@{1,5}' stands for 2 measures")
    input_error(lambda: measure("P AP"), "stands for 2 measures")


class TestDefinitions:
    @pytest.mark.parametrize("name", ["", "a b", "a-b", "1a", "a@5", "a(b", None, 5], ids=repr)
    def test_name_is_no_word(self, name: Any) -> None:
        input_error(lambda: define_measure(name, definition="-"), repr(name), value=name)
        input_error(lambda: define_gain(name, lambda grades: grades), repr(name), value=name)
        input_error(lambda: define_discount(name, float), repr(name), value=name)

    def test_name_is_taken(self) -> None:
        input_error(lambda: define_measure("nDCG", definition="-"), "'nDCG'", value="nDCG")
        input_error(lambda: define_gain("exp", lambda grades: grades), "'exp'", value="exp")
        input_error(lambda: define_discount("log2", float), "'log2'", value="log2")
        input_error(lambda: define_measure("X", definition="-", aggregate="max"), "'max'", "'mean'")

    @pytest.mark.parametrize(
        ("gain", "fact"),
        [
            (lambda grades: -grades, "-1"),
            (lambda grades: grades + float("nan"), "nan"),
            (lambda grades: grades + float("inf"), "inf"),
            (lambda grades: grades[:0], "shape (0,)"),
            (lambda grades: None, "shape ()"),
        ],
        ids=["negative", "nan", "inf", "too few", "None"],
    )
    def test_gain_of_no_use(self, gain: Any, fact: str) -> None:
        name = f"gain{fact.encode().hex()}"
        define_gain(name, gain)
        input_error(lambda: evaluate(QRELS, RUN, f"nDCG(gain={name})"), repr(name), fact)

    @pytest.mark.parametrize("worth", [0, -1, float("nan"), float("inf"), None], ids=repr)
    def test_discount_of_no_use(self, worth: Any) -> None:
        name = f"discount{repr(worth).encode().hex()}"
        define_discount(name, lambda rank: worth if rank == 3 else 1.0)
        input_error(lambda: evaluate(QRELS, RUN, f"nDCG(discount={name})"), repr(name), "rank 3")

    @pytest.mark.parametrize(
        "formula",
        [lambda s: 1 / 0, lambda s: np.zeros((7, 7)), lambda s: "abc", lambda s: s.nope, None],
        ids=["raises", "wrong shape", "text", "no such statistic", "not callable"],
    )
    def test_formula_that_fails(self, formula: Any) -> None:
        def define_and_use() -> object:
            define_measure("Fails", definition="-")(formula)
            return evaluate(QRELS, RUN, "AP Fails@5")

        input_error(define_and_use, "formula of Fails")

    def test_measure_of_another_process(self) -> None:
        pickled = pickle.dumps(define_measure("Gone", definition="-")(lambda s: s.hits))
        del CATALOGUE["Gone"]
        input_error(lambda: pickle.loads(pickled), "'Gone'")


@pytest.fixture
def results() -> Results:
    return evaluate(QRELS, RUN, "P@1 AP nDCG(gain=exp)@10")


@pytest.mark.parametrize("name", ["nope", "P@2", "P", "", None, 5, measure("RR")], ids=repr)
def test_lookup_of_what_was_not_evaluated(results: Results, name: Any) -> None:
    with pytest.raises(KeyError, match="was not evaluated; there are: P@1, AP, nDCG"):
        results[name]
    if name is not None:  # which a single measure is
        with pytest.raises(KeyError, match="was not evaluated"):
            results.per_query(name)


@pytest.mark.parametrize("name", ["precision@1", "P_1", "map", measure("AP"), "ap"], ids=repr)
def test_lookup_by_any_spelling(results: Results, name: Any) -> None:
    assert results[name] == 1.0
    assert results.per_query(name) == {"q1": 1.0}


def test_results_cannot_be_written_to(results: Results) -> None:
    with pytest.raises(ValueError, match="read-only"):
        results.values[0, 0] = 5.0


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        *(("missing", each) for each in ("skip ", True, 0)),
        *(("no_relevant", each) for each in ("error", None, 1)),
        *(("judged_only", each) for each in ("yes", None, 2)),
        *(("score_dtype", each) for each in ("float16", np.float32)),
        *(("trec_eval", each) for each in ("11", 11, 10.0, True)),
    ],
)
def test_setting_is_no_option(setting: str, value: Any) -> None:
    fact = f"{setting}={value!r} must be one of"
    wrong = {setting: value}
    input_error(lambda: evaluate(QRELS, RUN, "RR", **wrong), fact, value=value)
    input_error(lambda: evaluate_runs(QRELS, {"a": RUN}, "RR", **wrong), fact)


@pytest.mark.parametrize("ties", ["first", 5, ["error"]], ids=repr)
def test_ties_is_no_option(ties: Any) -> None:
    fact = f"ties={ties!r} must be one of 'expected'"
    input_error(lambda: evaluate_scores([[1, 2]], [[1, 0]], "RR", ties=ties), fact, value=ties)


@pytest.mark.parametrize(
    ("runs", "fact"),
    [
        pytest.param([RUN], "has no name", id="a mapping without a name"),
        pytest.param([Run(RUN)], "has no name", id="a run without a name"),
        pytest.param([Run(RUN, "a"), Run(RUN, "a")], "two runs are called 'a'", id="one name"),
        pytest.param(Run(RUN, "a"), "runs are several", id="one run"),
        pytest.param("bm25.trec", "runs are several", id="one path"),
    ],
)
def test_runs_need_names(runs: Any, fact: str) -> None:
    input_error(lambda: evaluate_runs(QRELS, runs, "RR"), fact)
