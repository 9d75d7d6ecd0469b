"""Session DCG and groups of documents, against their definitions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from oracle.graded_measures import session_dcg as twin
from support.random_problems import nasty_problems

import irbatch
from irbatch import InputError
from irbatch.evaluation import evaluate_groups, session_dcg

QRELS = {"q1": {"a": 3, "b": 1}, "q2": {"a": 1, "c": 2}, "q3": {"d": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"x": 9.0, "c": 8.0, "a": 7.0}}
RESULTS = irbatch.evaluate(QRELS, RUN, "DCG@10 nDCG@10")
SKIPPED = irbatch.evaluate({**QRELS, "none": {"a": 0}}, RUN, "DCG", no_relevant="skip")


def test_worked_example() -> None:
    first, second = 1 + 3 / math.log2(3), 2 / math.log2(3) + 1 / 2
    found = session_dcg(RESULTS, {"all": ["q1", "q2", "q3"], 7: np.array(["q2", "q1", "q2"])})
    # log_4 of 2 is a half.
    assert found == pytest.approx({
        "all": first + second / 1.5,
        7: second + first / 1.5 + second / (1 + math.log(3, 4)),
    }, rel=1e-15)  # fmt: skip
    assert session_dcg(RESULTS, {"s": ["q2"]}) == {"s": RESULTS.per_query("DCG@10")["q2"]}
    assert session_dcg(RESULTS, {}) == {}


@pytest.mark.parametrize("base", [1.5, 4, 1000])
def test_against_the_twin(base: float) -> None:
    for qrels, run in nasty_problems(seed=4, count=8):
        results = irbatch.evaluate(qrels, run, ["DCG(gain=binary)@5", "nDCG"])
        sessions = {"s": list(qrels), "back": list(qrels)[::-1] * 2}
        for name in ("DCG(gain=binary)@5", "nDCG"):
            values = results.per_query(name)
            expected = {s: twin([values[q] for q in each], base) for s, each in sessions.items()}
            found = session_dcg(results, sessions, base, name)
            assert found == pytest.approx(expected, rel=1e-13)
        assert session_dcg(results, sessions) == session_dcg(
            results, sessions, 4, results.measures[0]
        )


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((RESULTS, {"s": ["q1", "q9"]}), r"query 'q9'\): a query of session 's' has no value"),
        ((SKIPPED, {"s": ["q1", "none"]}), r"query 'none'\)"),
        ((RESULTS, {"s": [["q1"]]}), "a query of session 's' has no value"),
        ((RESULTS, {"s": "q1"}), "session 's' is a list of query ids, not a str"),
        ((RESULTS, {"s": {"q1"}}), "session 's' is a list of query ids, not a set"),
        ((RESULTS, {"s": []}), "session 's' has no queries"),
        ((RESULTS, [["q1"]]), "sessions are a mapping of ids to query ids, not a list"),
        ((RESULTS, {"s": ["q1"]}, 1), "base=1 must be a number above 1"),
        ((irbatch.evaluate(QRELS, RUN, "AP"), {"s": ["q1"]}), "have 0 of DCG, not one"),
        ((irbatch.evaluate(QRELS, RUN, "DCG@1 DCG"), {"s": ["q1"]}), "have 2 of DCG, not one"),
    ],
)
def test_refused(arguments: tuple[Any, ...], what: str) -> None:
    with pytest.raises(InputError, match=what):
        session_dcg(*arguments)


def test_the_measure_is_one_that_was_evaluated() -> None:
    with pytest.raises(KeyError, match="AP was not evaluated"):
        session_dcg(RESULTS, {"s": ["q1"]}, measure="AP")


def test_groups_of_relevant_documents() -> None:
    """Each by judgments in which the others' documents have grade 0."""
    of_group = {"a": "head", "b": "head", "c": "tail", "e": "nobody's"}
    measures = "nDCG@2 AP RR P@2 Judged@2"
    for qrels, run in [(QRELS, RUN), *nasty_problems(seed=9, count=6)]:
        documents = sorted({each for of in qrels.values() for each in of}, key=str)
        groups = of_group if qrels is QRELS else {d: f"g{i % 3}" for i, d in enumerate(documents)}
        found = evaluate_groups(qrels, run, measures, groups=groups)
        assert set(found) == set(groups.values())
        for name, results in found.items():
            alone = {
                query: {d: g if g <= 0 or groups.get(d) == name else 0 for d, g in judged.items()}
                for query, judged in qrels.items()
            }
            wanted = irbatch.evaluate(alone, run, measures, no_relevant="skip")
            assert results.to_dict() == wanted.to_dict()
            assert name in results.signature


def test_groups_by_shares_and_settings() -> None:
    groups = irbatch.Groups({"a": {"new": 0.5, "old": 0.5}, "b": "new", "c": "old", "d": "old"})
    found = evaluate_groups(QRELS, RUN, "R", groups=groups, no_relevant="zero")
    assert found["new"].per_query() == {"q1": 1.0, "q2": 1.0, "q3": 0.0}
    assert found["old"].per_query() == {"q1": 1.0, "q2": 1.0, "q3": 0.0}
    for bad, said in (([], "mapping"), ({}, "no items")):
        with pytest.raises(InputError, match=said):
            evaluate_groups(QRELS, RUN, "R", groups=bad)
