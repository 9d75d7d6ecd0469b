"""Where irbatch means to differ from pytrec_eval and trec_eval, with a reason each.

Both sides of pytrec_eval's entries are run, and an entry whose disagreement has gone fails.
trec_eval isn't here to be run: its side is in words, and only those of trec_eval-exactness.md (§)
or of trec_eval's public source (the file is named).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pytest
import pytrec_eval
from support.input_errors import input_error
from support.other_tools import Table, outcome, python
from support.trec_eval_command import Command

from irbatch import InputError
from irbatch.integrations import pytrec_eval as ours

NO_QUERY = "no query"  # pytrec_eval's own mark; as an id it spoils the query of that name


def one(module: Any, *, run: Any = None, qrels: Any = None, **options: Any) -> Any:
    """One value of one query, by default an average precision of 1."""
    measure = options.pop("measure", "map")
    qrels = {"q": {"a": 1}} if qrels is None else qrels
    evaluator = module.RelevanceEvaluator(qrels, [measure], **options)
    found = evaluator.evaluate({"q": {"a": 1.0}} if run is None else run)
    (values,) = found.values()
    (value,) = values.values()
    return value


def of_nothing(module: Any, measure: str) -> float:
    """One value of an empty ranking, after one that is not: pytrec_eval's first of all gets 0."""
    evaluator = module.RelevanceEvaluator({"p": {"a": 1}, "q": {"a": 1}}, [measure])
    evaluator.evaluate({"p": {"a": 1.0}})
    (value,) = evaluator.evaluate({"q": {}})["q"].values()
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
        lambda m: str(of_nothing(m, "iprec_at_recall.0")), "nan", "0.0"),
    "and so has its average": Accepted(
        lambda m: str(of_nothing(m, "11pt_avg")), "nan", "0.0"),
    "a NaN score has no rank": Accepted(lambda m: one(m, run=TIED), 0.5, InputError),
    "NumPy's scores are numbers": Accepted(
        lambda m: one(m, run={"q": {"a": np.float32(1)}}), TypeError, 1.0),
    "NumPy's whole scores, too": Accepted(
        lambda m: one(m, run={"q": {"a": np.int64(1)}}), TypeError, 1.0),
    "NumPy's grades are numbers": Accepted(
        lambda m: one(m, qrels={"q": {"a": np.int64(1)}}), TypeError, 1.0),
    "a grade with a fraction is bad input": Accepted(
        lambda m: one(m, qrels={"q": {"a": 1.5}}), TypeError, InputError),
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


@pytest.mark.parametrize("reason", DEADLY)
def test_what_ends_the_process_there(reason: str) -> None:
    query, document, measures, said = DEADLY[reason]
    code = SETUP.format("pytrec_eval", query, document, measures, query, document)
    assert python(code).returncode < 0, "killed by a signal"
    qrels, run = {query: {document: 1}}, {query: {document: 1.0}}
    if said.startswith("{"):
        assert str(ours.RelevanceEvaluator(qrels, measures).evaluate(run)) == said
    else:
        input_error(lambda: ours.RelevanceEvaluator(qrels, measures), said)


def test_a_query_of_the_name_that_it_uses_itself() -> None:
    found = [python(SETUP.format(module, NO_QUERY, "a", ["map"], NO_QUERY, "a")).stdout.strip()
             for module in ("pytrec_eval", "irbatch.integrations.pytrec_eval")]  # fmt: skip
    assert found == ["{'no query': {'map': 0.0}}", "{'no query': {'map': 1.0}}"]


# trec_eval itself


class InWords(NamedTuple):
    """What trec_eval does, a call of `irbatch trec_eval`, its exit status and some of its text."""

    theirs: str
    words: str
    status: int
    said: str
    qrels: str = "q1 0 a 2\nq1 0 b 1\n"
    run: str = "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n"


MISSING = "q1 0 a 2\nq1 0 b 1\nq2 0 d 1\n"
TREC_EVAL = {
    "a gain is not negative": InWords(
        "allows negative gains, and sums them (m_ndcg.c)", "-m ndcg.1=-1", 2,
        "a gain is finite and not negative"),
    "what is not judged has no gain": InWords(
        "10 takes -1 and -2, the values of unjudged documents; 9 what atol reads (§4.3)",
        "-m ndcg.-2=-1", 2, "must be grade=gain of whole grades of 0 or more"),
    # 1/log2(3) of the gain of 2, 0.7, over the ideal 0.7 + 0.4/log2(3)
    "the ideal list is in the order of gains": InWords(
        "sorts by the difference of gains as a whole number (comp_rel_gain)",
        "-m ndcg.1=0.4,2=0.7", 0, "\tall\t0.8837"),
    "no recall is above 1": InWords(
        "checks only that points differ (meas_init.c)", "-m iprec_at_recall.1.5", 2, "at most 1"),
    "nor one of several": InWords(
        "checks only that points differ (meas_init.c)", "-m 11pt_avg.1.5", 2, "at most 1"),
    "recall points come in ascending order": InWords(
        "takes a point that needs more hits than the one before for recall 0 (m_11pt_avg.c)",
        "-m 11pt_avg.5,.2", 2, "different numbers in ascending order"),
    "a weight of 0 is refused": InWords(
        "reads any number, by atof (meas_init.c)", "-m set_F.0", 2, "a number above 0"),
    "bad parameters are shown": InWords(
        "says 'duplicate cutoffs detected' (meas_init.c)", "-m P.5,5", 2, "parameters '5,5'"),
    "unknown measures leave with 2": InWords(
        "says 'illegal measure' and leaves with 1 (trec_eval.c)", "-m nope", 2,
        "illegal measure 'nope'"),
    "an unreadable score is refused": InWords(
        "reads scores by atof (§4.1)", "-m map", 2, "score 'x' is not a number",
        run="q1 Q0 a 1 x t\n"),
    "NaN has no rank": InWords(
        "compares it as equal to any score, and orders inconsistently (§4.2)", "-m map", 2,
        "score 'nan' is not", run="q1 Q0 a 1 nan t\n"),
    "an unreadable grade is refused": InWords(
        "reads 0, as atol does (§4.1)", "-m map", 2, "grade 'x' is not a number",
        qrels="q1 0 a x\n"),
    "a document given twice is named, with its line": InWords(
        "says 'duplicate docs' (form_res_rels.c) and leaves with 4 (§4.2)", "-m map", 2,
        "line 3 (query 'q1', document 'b'): this document was given before",
        run="q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\nq1 Q0 b 3 0 t\n"),
    "nor may judgments be given twice": InWords(
        "says 'duplicate docs' (form_res_rels.c) and leaves with 4 (§4.2)", "-m map", 2,
        "given before", qrels="q1 0 a 2\nq1 0 a 1\n"),
    "blank lines of judgments are skipped": InWords(
        "skips them in runs only (§4.1); says 'Malformed line' (get_qrels.c)", "-m map", 0,
        "\tall\t1.0000", qrels="q1 0 a 2\n\nq1 0 b 1\n"),
    "comments may stand anywhere, in both versions": InWords(
        "10 breaks at consecutive or trailing ones of judgments (§4.1)", "--as 9 -m map", 0,
        "\tall\t1.0000", qrels="# c\n# d\nq1 0 a 2\nq1 0 b 1\n# e\n"),
    "a topic of unjudged documents is a topic": InWords(
        "leaves with 4 when it is the first evaluated (§4.2)", "-m map", 0, "\tall\t0.0000",
        qrels="q1 0 a -1\n"),
    "whatever the negative grade": InWords(
        "crashes when the largest grade is below -1 (§4.2)", "-m map", 0, "\tall\t0.0000",
        qrels="q1 0 a -2\n"),
    "nothing retrieved has precision 0": InWords(
        "says nan (§4.3, §4.4)", "-J -m iprec_at_recall.0.5", 0, "\tall\t0.0000",
        run="q1 Q0 z 1 2 t\n"),
    "a rank of 0 is no depth": InWords(
        "reads any number, by atol (trec_eval.c)", "-m map -M 0", 2, "at least 1"),
}  # fmt: skip


@pytest.mark.parametrize("reason", TREC_EVAL)
def test_trec_evals_accepted_disagreements(reason: str, trec_eval: Command) -> None:
    case = TREC_EVAL[reason]
    printed = trec_eval(*case.words.split(), qrels=case.qrels, run=case.run)
    assert printed.status == case.status
    assert case.said in (printed.err if case.status else printed.out)
