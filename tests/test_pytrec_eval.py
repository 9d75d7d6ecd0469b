"""pytrec_eval's interface against pytrec_eval, and the disagreements that are meant.

Those that are meant are in tables, with a reason each; an entry whose disagreement has gone
fails. trec_eval's own are stated in words, since it isn't here to be run.
"""

from __future__ import annotations

import copy
import math
import subprocess
import sys
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import pytrec_eval
from problems import nasty_problems
from refusal import refused
from test_against_tools import tamed

from irbatch import InputError
from irbatch.cli import main
from irbatch.integrations import pytrec_eval as ours

EVERYTHING = sorted(pytrec_eval.supported_measures)
# pytrec_eval leaves them unset: 0 or whatever the memory held.
UNSET = ("runid", "relstring")
NO_QUERY = "no query"  # pytrec_eval's own mark; as an id it spoils the query of that name
CUTOFFS = "5,10,15,20,30,100,200,500,1000"

Table = dict[Any, dict[Any, Any]]
Evaluated = dict[str, dict[str, float]]

JUDGED: Table = {"q": {"a": 1, "b": 0, "c": 2}, "p": {"d": 1}}
RANKED: Table = {"p": {"x": 2.0, "d": 1.0}, "q": {"b": 3.0, "a": 2.0, "x": 1.5, "c": 1.0}}


def evaluated(module: Any, qrels: Table, run: Table, measures: Iterable[str], *options: Any) -> Any:
    """What a script with either import gets."""
    return module.RelevanceEvaluator(qrels, measures, *options).evaluate(run)


def agree(
    theirs: Evaluated, found: Evaluated, rel: float = 0, ignore: Iterable[str] = UNSET
) -> int:
    """Check that queries, names, their orders and values are the same; the number compared."""
    assert list(found) == list(theirs)
    compared = 0
    for query in theirs.keys() - {NO_QUERY}:
        assert list(found[query]) == list(theirs[query])
        for name, value in theirs[query].items():
            mine = found[query][name]
            assert type(mine) is float
            if name in ignore:
                assert mine == 0.0
            elif math.isnan(value):  # of an empty ranking, see ACCEPTED
                assert mine == 0.0
                assert name.startswith(("iprec", "11pt"))
            else:
                assert mine == pytest.approx(value, rel=rel, abs=0), (query, name)
                compared += 1
    return compared


# Values


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("judged_only", [False, True])
def test_nasty_problems(level: int, judged_only: bool) -> None:
    compared = 0
    for problem in nasty_problems(seed=17 + level, count=120):
        qrels, run = tamed(*problem)
        both = [evaluated(module, qrels, run, EVERYTHING, level, judged_only)
                for module in (pytrec_eval, ours)]  # fmt: skip
        compared += agree(*both)
    assert compared > 20_000


SPECIFIC: dict[str, tuple[Table, Table]] = {
    "float32 near-ties": ({"q": {"a": 1}}, {"q": {"a": 1 + 1e-9, "x": 1.0, "b": 1 - 1e-9}}),
    "not quite near-ties": ({"q": {"a": 1}}, {"q": {"a": 1.0, "x": 1 + 2e-7}}),
    "beyond float32": ({"q": {"a": 1}}, {"q": {"a": 1e39, "x": 1e300, "b": math.inf}}),
    "ties": ({"q": {"a": 1, "c": 2}}, {"q": dict.fromkeys("cabd", 0.5)}),
    "negative grades": ({"q": {"a": -1, "b": -3, "c": 1, "d": 0}}, {"q": dict.fromkeys("abcd", 1)}),
    "missing and extra queries": (JUDGED | {"m": {"a": 1}}, {"x": {"a": 1.0}} | RANKED),
    "an empty query": (JUDGED | {"e": {}}, RANKED | {"e": {"a": 1.0}}),
    "nothing judged": ({}, RANKED),
    "nothing retrieved": (JUDGED, {}),
    "an empty ranking": ({"p": {"a": 1}, "q": {"a": 1, "b": 0}}, {"p": {"a": 1.0}, "q": {}}),
    "R = 0": ({"q": {"a": 0, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}),
    "R > k": ({"q": {f"d{i}": 1 + i % 3 for i in range(40)}}, {"q": {"d3": 1.0, "d7": 2.0}}),
    "n < k": ({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}),
    "non-ASCII ids": ({"é": {"ü": 1, "\uffff": 1}}, {"é": dict.fromkeys(["ü", "\U0001f600"], 1)}),
    "gaps in grades": ({"q": {"a": 7, "b": 0, "c": 50}}, {"q": {"b": 3, "a": 2, "c": 1}}),
    "whole scores, and truths": ({"q": {"a": True, "b": False}}, {"q": {"a": 1, "b": True}}),
    "queries in neither order": (
        {q: {"a": 1} for q in ("10", "9", "b", "A")}, {q: {"a": 1.0} for q in ("b", "9", "A", "10")}
    ),
}  # fmt: skip


@pytest.mark.parametrize("options", [(), (2,), (1, True), (2, 1), (np.int64(3),), (100,)])
@pytest.mark.parametrize("case", SPECIFIC)
def test_specific_problems(case: str, options: tuple[Any, ...]) -> None:
    qrels, run = SPECIFIC[case]
    both = [evaluated(each, qrels, run, EVERYTHING, *options) for each in (pytrec_eval, ours)]
    agree(*both)


def test_no_query_in_common() -> None:
    both = [evaluated(m, {"m": {"a": 1}}, RANKED, ["map", "P"]) for m in (pytrec_eval, ours)]
    assert both == [{}, {}]


@pytest.mark.parametrize("kind", [OrderedDict, lambda table: defaultdict(dict, table)])
def test_kinds_of_dictionaries(kind: Callable[[Table], Table]) -> None:
    both = [evaluated(m, kind(JUDGED), kind(RANKED), EVERYTHING) for m in (pytrec_eval, ours)]
    assert agree(*both)


SPELLINGS: list[Iterable[str]] = [
    *([name] for name in EVERYTHING), *([name] for name in ("official", "set", "all_trec")),
    ["P.5,10"], ["P_5"], ["P_5,10"], ["P", "P_3"], ["P_3", "P"], ["P_10", "P_3"], ["P.5,5"],
    ["P.5", "P_5"], ["P.2.5"], ["P.5x"], ["P_5 10"], ["P.5, 10"], ["P.1e2"], ["P.10,9,100,2"],
    ["P.1000000"], ["P.99999999999"], ["P_010"], ["official", "P.3"], ["ndcg_cut_10"],
    ["ndcg_cut.1,2", "ndcg_cut_2"], ["ndcg_cut.99999999999"], ["map_cut.1,10"], ["map.5"],
    ["map_5"], ["map", "map.5"], ["recall.2", "recall_3"], ["relative_P.1,4"], ["success.3"],
    ["success_1,2"], ["iprec_at_recall.0.1,0.3"], ["iprec_at_recall_0.5"], ["iprec_at_recall.1"],
    ["iprec_at_recall.0.5,0.5"], ["iprec_at_recall.0.101,0.1"], ["Rprec_mult.0.5"],
    ["Rprec_mult.0,1"], ["Rprec_mult.2.5,10"], ["11pt_avg.0.5,0.75"], ["11pt_avg_0.5"],
    ["11pt_avg.0"], ["set_F.2"], ["set_F_2"], ["set_F.0.5"], ["set_F.1,2"], ["set_F.2", "set_F.3"],
    ["utility.1,2,3,4"], ["utility.4,3,2,1"], ["recip_rank.3"], ["num_ret.3"], ["num_q.2"],
    ["runid.3"], ["binG.1"], ["set_map.1"], ["bpref.1"], ["infAP.1"], [],
    ("map", "P_5"), {"map", "P_5"}, {"map": 0, "P_5": 0},
    ["relstring.5"],
]  # fmt: skip


@pytest.mark.parametrize("measures", SPELLINGS, ids=str)
def test_spellings(measures: Iterable[str]) -> None:
    relevant = {f"d{i}": i % 4 for i in range(60)}
    qrels, run = relevant | {"e": -1}, {f"d{i}": float(i * 7 % 61) for i in range(10, 70)}
    both = [evaluated(module, JUDGED | {"r": qrels}, RANKED | {"r": run}, measures)
            for module in (pytrec_eval, ours)]  # fmt: skip
    weighted = any(each.startswith("set_F") for each in measures)  # by the square of a root
    agree(*both, rel=1e-14 if weighted else 0)


@pytest.mark.parametrize("measures", [["foo"], ["P."], ["P_"], ["P_a"], ["P-5"], ["P@5"], ["MAP"],
    ["map "], ["official.5"], ["dcg"], ["rbp"], ["yaap"], ["prefs"], ["qrels_jg"],
    ["map", "nope"]])  # fmt: skip
def test_unsupported_measures(measures: Iterable[str]) -> None:
    with pytest.raises(ValueError, match="unsupported measure"):
        pytrec_eval.RelevanceEvaluator(JUDGED, measures)
    refused(lambda: ours.RelevanceEvaluator(JUDGED, measures), "unsupported measure",
            source="measures")  # fmt: skip


# What else is in the module


def test_supported() -> None:
    assert ours.supported_measures == pytrec_eval.supported_measures
    known = {name: set(names) for name, names in pytrec_eval.supported_nicknames.items()
             if set(names) <= pytrec_eval.supported_measures}  # fmt: skip
    assert ours.supported_nicknames == known
    assert known.keys() == {"official", "set", "all_trec"}


@pytest.mark.parametrize("lines", [
    ["q Q0 d 1 2.5 t"], ["q Q0 d 1 2 t\n", "p Q0 d 7 -1e-3 u\r\n", "q Q0 e 0 inf t"],
    ["q\tQ0 \t d  1 2 t"], ["é Q0 ü 1 2 t"], ["\ufeffq Q0 d 1 2 t"], ["007 x 1e1 1 2 t"],
])  # fmt: skip
def test_parse_run(lines: list[str]) -> None:
    assert ours.parse_run(lines) == pytrec_eval.parse_run(lines)
    assert list(ours.parse_run(iter(lines))) == list(pytrec_eval.parse_run(iter(lines)))


@pytest.mark.parametrize("lines", [
    ["q 0 d 1"], ["q 0 d -1", "p 0 d 01", "q 0 e +3\n"], ["q\t0\td  2\r\n"],
    ["é 0 ü 9007199254740991"],
])  # fmt: skip
def test_parse_qrel(lines: list[str]) -> None:
    found = ours.parse_qrel(lines)
    assert found == pytrec_eval.parse_qrel(lines)
    assert all(type(grade) is int for each in found.values() for grade in each.values())


@pytest.mark.parametrize("lines", [["q 0 d"], ["q 0 d 1 2"], ["q 0 d x"], ["q 0 d 1.5"]])
def test_both_refuse_bad_qrels(lines: list[str]) -> None:
    with pytest.raises(ValueError, match=r"unpack|literal"):
        pytrec_eval.parse_qrel(lines)
    refused(lambda: ours.parse_qrel(lines), source="qrels", query="q")


@pytest.mark.parametrize("name", ["map", "num_q", "num_rel_ret", "gm_map", "gm_bpref", "P_5"])
@pytest.mark.parametrize("values", [[1.0, 0.5], (1, 2), np.array([1.0, 2.0]), [1e16, 1.0, -1e16],
                                    [math.nan, 1.0], [0.1] * 1001])  # fmt: skip
def test_aggregates(name: str, values: Any) -> None:
    found = ours.compute_aggregated_measure(name, values)
    assert type(found) is float
    assert found == pytest.approx(
        pytrec_eval.compute_aggregated_measure(name, values), rel=0, abs=0, nan_ok=True
    )


# An evaluator over time


def test_runs_follow_each_other() -> None:
    evaluator = ours.RelevanceEvaluator(JUDGED, EVERYTHING)
    first = evaluator.evaluate(RANKED)
    other = evaluator.evaluate({"q": {"c": 1.0}})
    assert other == evaluated(ours, JUDGED, {"q": {"c": 1.0}}, EVERYTHING)
    assert evaluator.evaluate(RANKED) == first
    assert evaluator.evaluate({}) == {}


@pytest.mark.parametrize("module", [pytrec_eval, ours])
def test_later_changes_of_judgments_are_not_seen(module: Any) -> None:
    qrels, measures = copy.deepcopy(JUDGED), ["map", "ndcg"]
    evaluator = module.RelevanceEvaluator(qrels, measures)
    before = evaluator.evaluate(RANKED)
    qrels["q"].update(a=0, b=5, new=1)
    qrels["new"] = qrels.pop("p")
    measures.append("P")
    assert evaluator.evaluate(RANKED | {"new": {"d": 1.0}}) == before


def test_nothing_is_changed() -> None:
    frozen = MappingProxyType({q: MappingProxyType(each) for q, each in JUDGED.items()})
    ranked = MappingProxyType({q: MappingProxyType(each) for q, each in RANKED.items()})
    expected = evaluated(pytrec_eval, JUDGED, RANKED, ["map", "P"])
    assert ours.RelevanceEvaluator(frozen, frozenset({"map", "P"})).evaluate(ranked) == expected


NUMBERS: list[Callable[[float], Any]] = [int, np.int8, np.int64, np.float32, np.float64, np.uint16]


@pytest.mark.parametrize("score", [*NUMBERS, float])
@pytest.mark.parametrize("grade", [*NUMBERS, bool])
def test_numbers_of_any_type(score: Callable[..., Any], grade: Callable[..., Any]) -> None:
    qrels: Table = {"q": {"a": 1, "b": 0}, "p": {"a": 1}}
    run: Table = {"q": {"b": 3, "a": 2, "x": 2}, "p": {"a": 1}}
    found = evaluated(
        ours,
        {q: {d: grade(each) for d, each in documents.items()} for q, documents in qrels.items()},
        {q: {d: score(each) for d, each in documents.items()} for q, documents in run.items()},
        EVERYTHING,
    )
    agree(evaluated(pytrec_eval, qrels, run, EVERYTHING), found)


def test_ids_of_numbers() -> None:
    named = {1: {10: 1, 9: 0}, 2: {9: 1}}, {2: {10: 1.0, 9: 2.0}, 1: {9: 3.0, 10: 2.0}}
    texts = [{str(q): {str(d): v for d, v in each.items()} for q, each in side.items()}
             for side in named]  # fmt: skip
    expected = evaluated(pytrec_eval, *texts, ["map", "P_1"])
    found = evaluated(ours, *named, ["map", "P_1"])
    assert found == {int(query): values for query, values in expected.items()}
    assert list(found) == [2, 1]


# Accepted disagreements


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or the type of what it raises."""
    try:
        return call()
    except (ArithmeticError, AssertionError, SystemError, TypeError, ValueError) as error:
        return type(error)


def one(module: Any, *, run: Any = None, qrels: Any = None, **options: Any) -> Any:
    """One value of one query, by default an average precision of 1."""
    measure = options.pop("measure", "map")
    qrels = {"q": {"a": 1}} if qrels is None else qrels
    evaluator = module.RelevanceEvaluator(qrels, [measure], **options)
    found = evaluator.evaluate({"q": {"a": 1.0}} if run is None else run)
    (values,) = found.values()
    (value,) = values.values()
    return value


class Accepted(NamedTuple):
    """A call on either module, why the answers differ, and what they are."""

    call: Callable[[Any], Any]
    theirs: Any
    ours: Any


TIED: Table = {"q": {"a": math.nan, "b": 1.0}}
LINE = "q Q0 d 1 2.5 t"
ACCEPTED = {
    "an empty ranking has precision 0, not 0/0": Accepted(
        lambda m: str(one(m, run={"q": {}}, measure="iprec_at_recall.0")), "nan", "0.0"),
    "and so has its average": Accepted(
        lambda m: str(one(m, run={"q": {}}, measure="11pt_avg")), "nan", "0.0"),
    "a NaN score has no rank": Accepted(lambda m: one(m, run=TIED), 0.5, InputError),
    "NumPy's scores are numbers": Accepted(
        lambda m: one(m, run={"q": {"a": np.float32(1)}}), TypeError, 1.0),
    "NumPy's whole scores, too": Accepted(
        lambda m: one(m, run={"q": {"a": np.int64(1)}}), TypeError, 1.0),
    "NumPy's grades are numbers": Accepted(
        lambda m: one(m, qrels={"q": {"a": np.int64(1)}}), TypeError, 1.0),
    "grades may have fractions": Accepted(
        lambda m: one(m, qrels={"q": {"a": 1.5}}), TypeError, 1.0),
    "a score too large for a double is refused, not a SystemError": Accepted(
        lambda m: one(m, run={"q": {"a": 10**400}}), SystemError, InputError),
    "a grade of no number is bad input": Accepted(
        lambda m: one(m, qrels={"q": {"a": "1"}}), TypeError, InputError),
    "a score of no number is bad input": Accepted(
        lambda m: one(m, run={"q": {"a": None}}), TypeError, InputError),
    "scores of queries that are not judged are not read": Accepted(
        lambda m: one(m, run={"q": {"a": 1.0}, "z": {"a": "x"}}), TypeError, 1.0),
    "ids may be numbers": Accepted(
        lambda m: one(m, qrels={1: {2: 1}}, run={1: {2: 1.0}}), TypeError, 1.0),
    "any mapping will do": Accepted(
        lambda m: one(m, qrels=MappingProxyType({"q": {"a": 1}}),
                      run=MappingProxyType({"q": {"a": 1.0}})), TypeError, 1.0),
    "a run that is no mapping is bad input": Accepted(
        lambda m: one(m, run=["q"]), TypeError, InputError),
    "an id ends at its end, not at a NUL": Accepted(
        lambda m: one(m, qrels={"q": {"a\0x": 1, "b": 0}}, run={"q": {"a\0y": 2.0, "b": 1.0}}),
        1.0, 0.0),
    "a level of 0 is bad input": Accepted(
        lambda m: one(m, relevance_level=0), TypeError, InputError),
    "a truth is no level": Accepted(lambda m: one(m, relevance_level=True), 1.0, InputError),
    "any truth is a flag": Accepted(
        lambda m: one(m, judged_docs_only_flag=None), TypeError, 1.0),
    "what is no text is no measure": Accepted(lambda m: one(m, measure=5), TypeError, InputError),
    "there are four coefficients; as a set, 1,-1,0,0 and 1,1,0,0 lose theirs": Accepted(
        lambda m: one(m, measure="utility.1,1,0,0"), 0.0, InputError),
    "no recall is above 1": Accepted(
        lambda m: one(m, measure="iprec_at_recall.1.5"), 0.0, InputError),
    "nor one of several": Accepted(lambda m: one(m, measure="11pt_avg.1.5"), 0.0, InputError),
    "F of a weight of 0 is P": Accepted(lambda m: one(m, measure="set_F.0"), 1.0, InputError),
    "a blank line says nothing": Accepted(
        lambda m: m.parse_run([LINE, "", "\n"]), ValueError, {"q": {"d": 2.5}}),
    "nor does a comment": Accepted(
        lambda m: m.parse_run(["# a comment", LINE]), ValueError, {"q": {"d": 2.5}}),
    "a tag may be of several words": Accepted(
        lambda m: m.parse_run([LINE + " u"]), ValueError, {"q": {"d": 2.5}}),
    "only ASCII is white space": Accepted(
        lambda m: m.parse_run(["q Q0 d\xa0x 1 2 t"]), ValueError, {"q": {"d\xa0x": 2.0}}),
    "lines of bytes are text": Accepted(
        lambda m: m.parse_run([LINE.encode()]), {b"q": {b"d": 2.5}}, {"q": {"d": 2.5}}),
    "a document given twice is bad input": Accepted(
        lambda m: m.parse_run([LINE, LINE]), AssertionError, InputError),
    "NaN is no score": Accepted(
        lambda m: str(m.parse_run(["q Q0 d 1 nan t"])["q"]), "{'d': nan}", InputError),
    "1e400 is no double": Accepted(
        lambda m: m.parse_run(["q Q0 d 1 1e400 t"]), {"q": {"d": math.inf}}, InputError),
    "1_0 is Python's": Accepted(
        lambda m: m.parse_run(["q Q0 d 1 1_0 t"]), {"q": {"d": 10.0}}, InputError),
    "a grade of 1.0 is whole": Accepted(
        lambda m: m.parse_qrel(["q 0 d 1.0"]), ValueError, {"q": {"d": 1}}),
    "a grade beyond 2^53 is not exact": Accepted(
        lambda m: m.parse_qrel([f"q 0 d {2**60}"]), {"q": {"d": 2**60}}, InputError),
    "what is parsed doesn't grow by looking": Accepted(
        lambda m: type(m.parse_run([LINE])), defaultdict, dict),
    "values may come one by one": Accepted(
        lambda m: m.compute_aggregated_measure("map", iter([1.0, 0.5])), TypeError, 0.75),
}  # fmt: skip


@pytest.mark.parametrize("reason", ACCEPTED)
def test_accepted_disagreements(reason: str) -> None:
    call, theirs, mine = ACCEPTED[reason]
    found = outcome(lambda: call(pytrec_eval)), outcome(lambda: call(ours))
    assert found == (theirs, mine)
    assert found[0] != found[1]


SETUP = """
from {} import RelevanceEvaluator
print(RelevanceEvaluator({{{!r}: {{{!r}: 1}}}}, {!r}).evaluate({{{!r}: {{{!r}: 1.0}}}}))
"""
# What ends the process: a query, a document, measures, and what we say.
DEADLY: dict[str, tuple[str, str, list[str], str]] = {
    "a cutoff of 0": ("q", "a", ["P.0"], "cutoff 0 must be"),
    "a cutoff written twice": ("q", "a", ["P_5", "P_5.0"], "must be different numbers"),
    "a recall written twice": ("q", "a", ["iprec_at_recall.0.1,0.10"], "must be different numbers"),
    "gains without =": ("q", "a", ["ndcg_10"], "must be grade=gain"),
    "half a character": ("q", "\ud800", ["map"], "{'q': {'map': 1.0}}"),
}


def python(code: str) -> subprocess.CompletedProcess[str]:
    """Run code in a process of its own."""
    words = [sys.executable, "-c", code]
    return subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)


@pytest.mark.parametrize("reason", DEADLY)
def test_what_ends_the_process_there(reason: str) -> None:
    query, document, measures, said = DEADLY[reason]
    code = SETUP.format("pytrec_eval", query, document, measures, query, document)
    assert python(code).returncode < 0, "killed by a signal"
    qrels, run = {query: {document: 1}}, {query: {document: 1.0}}
    if said.startswith("{"):
        assert str(evaluated(ours, qrels, run, measures)) == said
    else:
        refused(lambda: ours.RelevanceEvaluator(qrels, measures), said)


def test_a_query_of_the_name_that_it_uses_itself() -> None:
    found = [python(SETUP.format(module, NO_QUERY, "a", ["map"], NO_QUERY, "a")).stdout.strip()
             for module in ("pytrec_eval", "irbatch.integrations.pytrec_eval")]  # fmt: skip
    assert found == ["{'no query': {'map': 0.0}}", "{'no query': {'map': 1.0}}"]


# trec_eval itself: what it does is in words, what irbatch does is tested


class Printed(NamedTuple):
    theirs: str
    words: str
    status: int
    said: str
    qrels: str = "q1 0 a 2\nq1 0 b 1\n"
    run: str = "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"


MISSING = "q1 0 a 2\nq1 0 b 1\nq2 0 d 1\n"
TREC_EVAL = {
    "a gain is not negative": Printed(
        "sums negative gains", "-m ndcg.1=-1", 2, "a gain is finite and not negative"),
    "what is not judged has no gain": Printed(
        "10 takes them (-1 unjudged, -2 negative), 9 reads what atol makes of them",
        "-m ndcg.-2=-1", 2, "must be grade=gain of whole grades of 0 or more"),
    # 1/log2(3) of the gain of 2, 0.7, over the ideal 0.7 + 0.4/log2(3)
    "the ideal list is in the order of gains": Printed(
        "compares gains as whole numbers: those closer than 1 stay in any order",
        "-m ndcg.1=0.4,2=0.7", 0, "\tall\t0.8837"),
    "no recall is above 1": Printed(
        "prints 0 for it", "-m iprec_at_recall.1.5", 2, "at most 1"),
    "nor one of several": Printed("averages it as 0", "-m 11pt_avg.1.5", 2, "at most 1"),
    "a weight of 0 is refused": Printed("prints P", "-m set_F.0", 2, "a number above 0"),
    "bad parameters leave with 2": Printed("leaves with 5 or so", "-m P.5,5", 2, "different"),
    "unknown measures leave with 2": Printed(
        "prints its usage and leaves with 1", "-m nope", 2, "illegal measure 'nope'"),
    "an unreadable score is refused": Printed(
        "reads 0, as atof does", "-m map", 2, "score 'x' is not a number", run="q1 Q0 a 1 x t\n"),
    "NaN has no rank": Printed(
        "sorts inconsistently", "-m map", 2, "score 'nan' is not", run="q1 Q0 a 1 nan t\n"),
    "an unreadable grade is refused": Printed(
        "reads 0, as atol does", "-m map", 2, "grade 'x' is not a number", qrels="q1 0 a x\n"),
    "a document given twice is named, with its line": Printed(
        "says 'duplicate docs' and leaves with 4", "-m map", 2,
        "line 3 (query 'q1', document 'b'): this document was given before",
        run="q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq1 Q0 b 3 0 t\n"),
    "nor may judgments be given twice": Printed(
        "says 'duplicate docs' and leaves with 4", "-m map", 2, "given before",
        qrels="q1 0 a 2\nq1 0 a 1\n"),
    "blank lines of judgments are skipped": Printed(
        "says 'Malformed line', and leaves with an error", "-m map", 0, "\tall\t1.0000",
        qrels="q1 0 a 2\n\nq1 0 b 1\n"),
    "comments may stand anywhere, in both versions": Printed(
        "10 stumbles over consecutive and last ones, 9 knows none", "--as 9 -m map", 0,
        "\tall\t1.0000", qrels="# c\n# d\nq1 0 a 2\nq1 0 b 1\n# e\n"),
    "a topic of unjudged documents is a topic": Printed(
        "leaves with 4 when it is the first", "-m map", 0, "\tall\t0.0000", qrels="q1 0 a -1\n"),
    "whatever the negative grade": Printed(
        "9 reads memory that isn't its own", "-m map", 0, "\tall\t0.0000", qrels="q1 0 a -2\n"),
    "nothing retrieved has precision 0": Printed(
        "prints nan", "-J -m iprec_at_recall.0.5", 0, "\tall\t0.0000", run="q1 Q0 z 1 2 t\n"),
    "a missing topic has no utility, with parameters or without": Printed(
        "10 resets utility, not utility_0,0,1,1: 4.0000", "-q -c -N 5 -m utility.0,0,1,1", 0,
        "\tq2\t0.0000", qrels=MISSING),
    "and no relstring of any length": Printed(
        "10 resets relstring, not relstring_5: '-'", "-q -c -m relstring.5", 0, "\tq2\t''",
        qrels=MISSING),
    "a rank of 0 is no depth": Printed("keeps nothing", "-m map -M 0", 2, "at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("reason", TREC_EVAL)
def test_trec_evals_accepted_disagreements(
    reason: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    case = TREC_EVAL[reason]
    (tmp_path / "qrels").write_text(case.qrels)
    (tmp_path / "run").write_text(case.run)
    files = [str(tmp_path / "qrels"), str(tmp_path / "run")]
    assert main(["trec_eval", *case.words.split(), *files]) == case.status
    printed = capsys.readouterr()
    assert case.said in (printed.err if case.status else printed.out)


# Patching


def test_importing_patches_nothing() -> None:
    code = """
import sys, irbatch.integrations.pytrec_eval as ours
assert "pytrec_eval" not in sys.modules
import pytrec_eval, importlib
before = dict(vars(pytrec_eval))
importlib.reload(ours)
assert dict(vars(pytrec_eval)) == before
assert pytrec_eval.RelevanceEvaluator is not ours.RelevanceEvaluator
"""
    assert python(code).stderr == ""


PATCHED = [name for name in ours.__all__ if name != "patched"]


def is_theirs() -> bool:
    return all(getattr(pytrec_eval, name) is not getattr(ours, name) for name in PATCHED)


def is_ours() -> bool:
    return all(getattr(pytrec_eval, name) is getattr(ours, name) for name in PATCHED)


def test_patched() -> None:
    assert is_theirs()
    before = dict(vars(pytrec_eval))
    with ours.patched() as module:
        assert module is pytrec_eval
        assert is_ours()
        with ours.patched():
            assert is_ours()
        assert is_ours()
    assert dict(vars(pytrec_eval)) == before
    assert is_theirs()


def test_patched_ends_with_an_exception() -> None:
    with pytest.raises(KeyError), ours.patched():
        raise KeyError(is_ours())
    assert is_theirs()


WITHOUT = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "pytrec_eval":
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocker())
from irbatch.integrations import pytrec_eval as ours
def missing():
    try:
        import pytrec_eval
    except ImportError:
        return "pytrec_eval" not in sys.modules
assert missing()
with ours.patched() as module:
    import pytrec_eval
    from pytrec_eval import RelevanceEvaluator
    assert pytrec_eval is module is ours and RelevanceEvaluator is ours.RelevanceEvaluator
    with ours.patched():
        import pytrec_eval
    import pytrec_eval
assert missing()
try:
    with ours.patched():
        raise KeyError
except KeyError:
    assert missing()
"""


def test_patched_without_pytrec_eval() -> None:
    assert python(WITHOUT).stderr == ""
