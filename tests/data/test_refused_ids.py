"""Ids of queries and documents: which are ids, and that they match by equality alone."""

import itertools
from typing import Any

import numpy as np
import pytest
from support.input_errors import input_error

from irbatch import Qrels, Run, evaluate, evaluate_ids

NOT_IDS = [
    pytest.param(1.0, "float", id="float"),
    pytest.param(float("nan"), "float", id="nan"),
    pytest.param(np.float64(1.0), "float64", id="numpy float"),
    pytest.param(True, "bool", id="bool"),
    pytest.param(np.bool_(True), "bool", id="numpy bool"),
    pytest.param(None, "NoneType", id="None"),
    pytest.param(b"1", "bytes", id="bytes"),
    pytest.param((1, 2), "tuple", id="tuple"),
    pytest.param(frozenset(), "frozenset", id="frozenset"),
]


@pytest.mark.parametrize(("name", "kind"), NOT_IDS)
class TestNotIds:
    def test_query_of_qrels(self, name: Any, kind: str) -> None:
        self.refused_query(lambda: Qrels({name: {"d": 1}}), "qrels", name, kind)
        self.refused_query(lambda: Qrels({"q": {"d": 1}, name: {"d": 1}}), "qrels", name, kind)
        run = {"q": {"d": 1.0}}
        self.refused_query(lambda: evaluate({name: {"d": 1}}, run, "RR"), "qrels", name, kind)

    def test_query_of_run(self, name: Any, kind: str) -> None:
        self.refused_query(lambda: Run({name: {"d": 1.0}}), "run", name, kind)
        self.refused_query(lambda: Run({"q": {"d": 1.0}, name: {"d": 1.0}}), "run", name, kind)
        qrels = {1: {"d": 1}}
        self.refused_query(lambda: evaluate(qrels, {name: {"d": 1.0}}, "RR"), "run", name, kind)

    def refused_query(self, call: Any, source: str, name: Any, kind: str) -> None:
        error = input_error(call, source, "query id", repr(name), kind, source=source)
        assert error.value is name

    def test_document_of_qrels(self, name: Any, kind: str) -> None:
        for documents in ({name: 1}, {"d": 1, name: 1}, {7: 1, name: 1}):
            if len(documents) == 2 or name != 7:
                facts = ("qrels", "query 'q2'", "document id", repr(name), kind)
                qrels = {"q1": {"d": 1}, "q2": documents}
                error = input_error(lambda q=qrels: Qrels(q), *facts, source="qrels", query="q2")
                assert error.value is name

    @pytest.mark.parametrize("judged", ["d", 1], ids=["text in qrels", "int in qrels"])
    def test_document_of_run(self, name: Any, kind: str, judged: Any) -> None:
        qrels, run = {"q": {judged: 1}}, {"q": {name: 1.0}}
        facts = ("run", "query 'q'", "document id", repr(name), kind)
        error = input_error(lambda: evaluate(qrels, run, "RR"), *facts, source="run", query="q")
        assert error.value is name

    def test_document_of_run_behind_integers(self, name: Any, kind: str) -> None:
        # 1.0 and True equal 1, so all ids are looked at where ids are numbers.
        qrels, run = {"q": {1: 1}}, {"q": {5: 2.0, name: 1.0}}
        facts = ("run", "query 'q'", "document id", repr(name), kind)
        error = input_error(lambda: evaluate(qrels, run, "RR"), *facts, source="run", query="q")
        assert error.value is name

    def test_document_of_run_behind_text_is_an_unjudged_document(
        self, name: Any, kind: str
    ) -> None:
        # It equals no text: only the first id of each ranking is looked at, for speed.
        run = {"q": {"x": 3.0, name: 2.0, "d": 1.0}}
        assert evaluate({"q": {"d": 1}}, run, "RR")["RR"] == 1 / 3


@pytest.mark.parametrize("query", [1.0, True, None, b"1"], ids=repr)
def test_query_ids_of_id_lists(query: Any) -> None:
    relevant = {1: [5], 2: [5]}
    facts = ("query id", repr(query))
    input_error(lambda: evaluate_ids({2: [5], query: [5]}, relevant, "RR"), *facts)
    input_error(lambda: evaluate_ids({2: [5]}, {2: [5], query: [5]}, "RR"), *facts)


def test_bytes_are_told_how_to_become_text() -> None:
    input_error(lambda: Qrels({b"q": {"d": 1}}), ".decode()", value=b"q")


@pytest.mark.parametrize(("one", "other"), [("1", 1), (1, "1")], ids=["str, int", "int, str"])
class TestTwoKinds:
    """Text on one side, numbers on the other: nothing could match."""

    def test_queries(self, one: Any, other: Any) -> None:
        facts = (repr(one), repr(other), "text", "whole number")
        qrels, run = {one: {"d": 1}}, {other: {"d": 1.0}}
        input_error(lambda: evaluate(qrels, run, "RR"), *facts, source="run")

    def test_queries_of_id_lists(self, one: Any, other: Any) -> None:
        ranked, relevant = {other: ["d"]}, {one: ["d"]}
        input_error(lambda: evaluate_ids(ranked, relevant, "RR"), repr(one), repr(other))

    def test_documents(self, one: Any, other: Any) -> None:
        facts = (repr(one), repr(other), "text", "whole number", "query 'q'")
        fields = {"source": "run", "query": "q", "document": other}
        input_error(lambda: evaluate({"q": {one: 1}}, {"q": {other: 1.0}}, "RR"), *facts, **fields)

    def test_documents_of_id_lists(self, one: Any, other: Any) -> None:
        facts = (repr(other), "text", "whole number")
        fields = {"source": "run", "query": 0, "document": other}
        input_error(lambda: evaluate_ids([[other]], [[one]], "RR"), *facts, **fields)

    def test_queries_of_one_side(self, one: Any, other: Any) -> None:
        both = (repr(one), repr(other), "two kinds")
        input_error(lambda: Qrels({one: {"d": 1}, other: {"d": 1}}), *both, source="qrels")
        input_error(lambda: Run({one: {"d": 1.0}, other: {"d": 1.0}}), *both, source="run")

    def test_documents_of_one_query(self, one: Any, other: Any) -> None:
        both = (repr(one), repr(other), "two kinds")
        input_error(lambda: Qrels({"q": {one: 1, other: 1}}), *both, source="qrels", query="q")
        mixed = [[one, other]]
        input_error(lambda: evaluate_ids(mixed, [["d"]], "RR"), *both, source="run", query=0)

    def test_documents_of_two_queries(self, one: Any, other: Any) -> None:
        qrels = {"q1": {one: 1}, "q2": {other: 1}}
        input_error(lambda: Qrels(qrels), "'q1'", "'q2'", source="qrels")


@pytest.mark.parametrize(
    ("judged", "retrieved"),
    [
        pytest.param(
            -1,
            -2,
            id="-1 and -2, of one hash",
            marks=pytest.mark.filterwarnings("ignore:.* in -1, which counts"),
        ),
        pytest.param(2**53, 2**53 + 1, id="2^53 and 2^53+1, one float64"),
        pytest.param(0, 2**61 - 1, id="0 and 2^61-1, of one hash"),
        pytest.param(1, 2**64 + 1, id="one low word"),
        pytest.param("a", "a\0", id="trailing NUL"),
        pytest.param("a", "a\0x", id="NUL"),
        pytest.param("\ud800", "\ud801", id="lone surrogates"),
        pytest.param("é", "e\u0301", id="composed and decomposed"),
        pytest.param("", " ", id="empty and blank"),
        pytest.param("a", "A", id="case"),
        pytest.param("7", "007", id="leading zeros"),
        pytest.param("1", "1.0", id="number-like text"),
        pytest.param("None", "nan", id="words"),
        pytest.param("x" * 10**6, "x" * 10**6 + "y", id="a million characters"),
    ],
)
def test_different_ids_differ(judged: Any, retrieved: Any) -> None:
    run = {"q": {retrieved: 2.0, judged: 1.0}}
    assert evaluate({"q": {judged: 1}}, {"q": {retrieved: 1.0}}, "RR")["RR"] == 0.0
    assert evaluate({"q": {judged: 1}}, run, "RR")["RR"] == 0.5
    if retrieved != 2**64 + 1:
        assert evaluate_ids([[retrieved, judged]], [[judged]], "RR")["RR"] == 0.5
    queries = evaluate({judged: {"d": 1}, retrieved: {"d": 1}}, {judged: {"d": 1.0}}, "RR")
    assert queries.per_query("RR") == {judged: 1.0, retrieved: 0.0}


@pytest.mark.parametrize(
    "name",
    [
        *("no query", "ceci_nest_pas_un_docno", "#1", "", " ", "a b", "a\nb", "NA", "null", "007"),
        *("é", "\ud800", "a\0x", "\x1b[31m", "=1+1", "all", "runid"),
        *(0, -1, 2**53 + 1, 10**30),
    ],
    ids=repr,
)
def test_no_id_is_special(name: Any) -> None:
    other = "other" if isinstance(name, str) else 77
    qrels = {other: {other: 1}, name: {name: 1, other: 0}}
    run = {name: {other: 2.0, name: 1.0}, other: {name: 2.0, other: 1.0}}
    assert evaluate(qrels, run, "RR AP").to_dict() == {
        other: {"RR": 0.5, "AP": 0.5},
        name: {"RR": 0.5, "AP": 0.5},
    }


def test_numpy_ids_equal_python_ids() -> None:
    qrels = {np.int64(1): {np.uint8(5): 1}, 2: {np.int32(6): 1}}
    run = {1: {5: 1.0}, np.int16(2): {6: 1.0}}
    assert evaluate(qrels, run, "RR")["RR"] == 1.0
    assert evaluate({np.str_("q"): {np.str_("d"): 1}}, {"q": {"d": 1.0}}, "RR")["RR"] == 1.0


def test_order_of_the_input_is_no_matter() -> None:
    qrels = {"q1": {"a": 2, "b": 1}, "q2": {"c": 1}}
    run = {"q1": {"a": 0.5, "b": 0.7, "c": 0.7}, "q2": {"c": 0.1, "a": 0.2}}
    means = set()
    for flip_queries, flip_documents in itertools.product((False, True), repeat=2):
        flipped = {
            query: dict(reversed(each.items()) if flip_documents else each.items())
            for query, each in (reversed(run.items()) if flip_queries else run.items())
        }
        means.add(tuple(evaluate(qrels, flipped, "nDCG AP RR").mean().items()))
    assert len(means) == 1
