"""Measuring a search: which queries it is asked, in which calls, and what it may answer."""

from __future__ import annotations

import re
from collections import deque
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import irbatch
from irbatch import InputError, InputWarning
from irbatch.efficiency import EfficiencyRecord, Hardware, Measurement, answers, measure_search

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), draws=0, progress=False)


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


def answering(answer: Any) -> dict[Any, Any]:
    """Return the run of a search that always answers the same, at one query."""
    return quick(lambda query: answer, {"q": "cat"}, system="s").run.to_dict()["q"]


# Queries and calls


def test_a_measurement_is_a_record_and_a_run() -> None:
    measured = quick(search, QUERIES)
    record, run = measured
    assert isinstance(measured, Measurement)
    assert isinstance(record, EfficiencyRecord)
    assert isinstance(run, irbatch.Run)
    assert (record.system, run.name, record.n_queries) == ("search", "search", 3)
    assert run.to_dict() == {query: {"d1": 2.0, "d2": 1.0} for query in QUERIES}
    assert (measured.latencies.shape, measured.latencies.dtype) == ((1, 3), np.float64)
    assert not measured.latencies.flags.writeable


@pytest.mark.parametrize(
    "queries",
    [
        ["cat", "dog"],
        ("cat", "dog"),
        deque(["cat", "dog"]),
        np.array(["cat", "dog"]),
        (each for each in ("cat", "dog")),
        {"cat": 0, "dog": 1}.keys(),
    ],
    ids=lambda queries: type(queries).__name__,
)
def test_queries_without_ids_are_numbered(queries: Any) -> None:
    asked: list[str] = []
    run = quick(lambda query: asked.append(query) or ["d"], queries, warmup=0).run
    assert asked == ["cat", "dog"]
    assert list(run.queries) == [0, 1]


def test_rows_of_a_matrix_are_queries() -> None:
    matrix = np.eye(3)
    run = quick(lambda row: [int(row.argmax())], matrix).run
    assert run.to_dict() == {0: {0: 1.0}, 1: {1: 1.0}, 2: {2: 1.0}}


def test_ids_are_those_of_the_mapping() -> None:
    run = quick(lambda query: [query], {np.int64(7): "x", 9: "y"}).run
    assert run.to_dict() == {7: {"x": 1.0}, 9: {"y": 1.0}}
    assert {type(query) for query in run.queries} == {int}


def test_a_series_is_a_mapping_of_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    run = quick(lambda query: [query], pandas.Series({"q1": "cat", "q2": "dog"})).run
    assert run.to_dict() == {"q1": {"cat": 1.0}, "q2": {"dog": 1.0}}
    filtered = pandas.Series(["cat", "dog", "cow"])[1:]
    assert quick(lambda query: [query], filtered).run.to_dict() == {
        1: {"dog": 1.0}, 2: {"cow": 1.0},
    }  # fmt: skip
    assert list(quick(search, pandas.Index(["cat", "dog"])).run.queries) == [0, 1]


def test_a_series_names_each_query_once() -> None:
    pandas = pytest.importorskip("pandas")
    asked: list[str] = []
    with pytest.raises(InputError, match="'s': queries have an id twice in their index"):
        quick(asked.append, pandas.Series(["cat", "dog"], ["q1", "q1"]), system="s")
    assert asked == []


def test_a_frame_is_no_mapping() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="queries are a DataFrame, a table: make a mapping"):
        quick(search, pandas.DataFrame({"id": ["q1"], "text": ["cat"]}))


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({}, "there are no queries"),
        ([], "there are no queries"),
        ("cat", "queries are a str: put it in a list"),
        (b"cat", "queries are a bytes"),
        ({"cat"}, "queries are a set: it has no order"),
        (3, "queries are 3"),
        (None, "queries are None"),
        (SimpleNamespace(columns=["text"]), "a table: make a mapping"),
        ({1.5: "cat"}, "query id 1.5 is a float"),
        ({1: "cat", "q": "dog"}, "query ids are of two kinds"),
    ],
)
def test_what_is_no_queries_is_refused(queries: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        quick(search, queries, system="bm25")
    assert "'bm25'" in str(refused.value)


def test_passes_follow_the_warm_up() -> None:
    asked: list[str] = []
    quick(lambda query: asked.append(query) or [], QUERIES, warmup=4, repeat=2)
    assert asked == [*("cat", "dog", "cow", "cat"), *("cat", "dog", "cow"), *("cat", "dog", "cow")]


@pytest.mark.parametrize(("warmup", "calls"), [(0, 3), (1, 4), (2, 5), (None, 13)])
def test_warm_up_calls_are_counted(warmup: int | None, calls: int) -> None:
    asked: list[str] = []
    options = {} if warmup is None else {"warmup": warmup}
    record = quick(lambda query: asked.append(query) or [], QUERIES, **options).record
    assert len(asked) == calls
    assert record.warmup == calls - 3


def test_batches_and_a_shorter_last_one() -> None:
    asked: list[list[str]] = []

    def batched(queries: list[str]) -> list[list[str]]:
        asked.append(queries)
        return [[f"{query}-page"] for query in queries]

    measured = quick(batched, QUERIES, batch_size=2, warmup=3, repeat=2)
    full, short = ["cat", "dog"], ["cow"]
    assert asked == [full, short, full, full, short, full, short]
    assert len({id(each) for each in asked}) == len(asked), "a list of its own for each call"
    assert measured.latencies.shape == (2, 2)
    assert measured.record.batch_size == 2
    assert measured.run.to_dict() == {
        "q1": {"cat-page": 1.0}, "q2": {"dog-page": 1.0}, "q3": {"cow-page": 1.0},
    }  # fmt: skip


def test_the_last_pass_makes_the_run() -> None:
    count = iter(range(100))
    run = quick(lambda query: [next(count)], QUERIES, warmup=1, repeat=2).run
    assert run.to_dict() == {"q1": {4: 1.0}, "q2": {5: 1.0}, "q3": {6: 1.0}}


def test_names() -> None:
    class Retriever:
        def __call__(self, query: str, k: int = 10) -> list[str]:
            return [query]

        find = __call__

    retriever = Retriever()
    for each in (retriever, retriever.find, retriever.__call__):
        assert quick(each, QUERIES).record.system == "Retriever"
        assert quick(partial(partial(each), k=5), QUERIES).record.system == "Retriever"
    assert quick(partial(search), QUERIES).record.system == "search"
    assert quick(partial(lambda query: [query]), QUERIES).record.system == "function"
    assert quick(lambda query: [query], QUERIES).record.system == "function"
    record, run = quick(search, QUERIES, system="bm25", dataset="zoo")
    assert (record.system, run.name, record.dataset) == ("bm25", "bm25", "zoo")


# Answers


@pytest.mark.parametrize(
    ("answer", "ranking"),
    [
        ({"b": 1, "a": 2.5}, {"b": 1.0, "a": 2.5}),
        ([("b", 0.5), ("a", 1)], {"b": 0.5, "a": 1.0}),
        ([["b", 0.5], ["a", 1]], {"b": 0.5, "a": 1.0}),
        ((("b", 0.5), ("a", 1)), {"b": 0.5, "a": 1.0}),
        ({"b": float("inf"), "a": float("-inf")}, {"b": float("inf"), "a": float("-inf")}),
        ((["b"], np.array([np.inf])), {"b": float("inf")}),
        ([("b", np.float32(0.5))], {"b": 0.5}),
        (["b", "a", "c"], {"b": 3.0, "a": 2.0, "c": 1.0}),
        (("b", "a"), {"b": 2.0, "a": 1.0}),
        ((np.str_("b"), np.str_("a")), {"b": 2.0, "a": 1.0}),
        (range(5, 7), {5: 2.0, 6: 1.0}),
        (deque([3, 1]), {3: 2.0, 1: 1.0}),
        (np.array(["b", "a"]), {"b": 2.0, "a": 1.0}),
        (np.array([3, 1], np.uint32), {3: 2.0, 1: 1.0}),
        (np.array(["b", "a"], object), {"b": 2.0, "a": 1.0}),
        ((np.array([3, 1]), np.array([0.5, 0.25], np.float32)), {3: 0.5, 1: 0.25}),
        ((["b", "a"], np.array([2, 1])), {"b": 2.0, "a": 1.0}),
        (([], np.array([])), {}),
        ({}, {}),
        ([], {}),
        ((), {}),
        (np.array([]), {}),
    ],
    ids=repr,
)
def test_answers(answer: Any, ranking: dict[Any, float]) -> None:
    read = answering(answer)
    assert list(read.items()) == list(ranking.items())
    assert {type(document) for document in read} <= {str, int}
    assert {type(score) for score in read.values()} <= {float}


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "None is no answer"),
        ("d1", "'d1' is no answer"),
        (b"d1", "is no answer"),
        (3, "3 is no answer"),
        ({"d1"}, "{'d1'} is no answer"),
        (iter(["d1"]), "would be made after the clock has stopped"),
        ([("d1", 1.0), ("d2",)], "('d2',), at place 1, is no (document, score) pair"),
        ([("d1", 1.0), "d2"], "'d2', at place 1, is no (document, score) pair"),
        ([("q", "d1", 1.0)], "at place 0, is no (document, score) pair"),
        (["d1", ("d2", 1.0)], "document id ('d2', 1.0) is a tuple"),
        (["d1", 2], "document ids are of two kinds"),
        ([1.5], "1.5, at place 0, is no"),
        (np.array([1.5]), "document id 1.5 is a float"),
        (np.zeros((2, 2)), "an array of shape (2, 2) is no answer"),
        (np.array(3), "is no answer"),
        ((np.zeros((2, 2)), np.zeros((2, 2))), "an array of shape (2, 2) is no answer"),
        ((np.array([1, 2]), np.array([1.0])), "2 documents and 1 score"),
        ((np.array([0.5, 0.2]), np.array([1, 2])), "document id 0.5 is a float"),
        ([True], "at place 0, is no"),
        ((["b", 0.5], ["a", 1]), "two lists may be ids and scores, or two pairs"),
        ((["b", "a"], [0.5, 0.25]), "two lists may be ids and scores, or two pairs"),
    ],
)
def test_what_is_no_answer_is_refused(answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        answering(answer)
    assert refused.value.query == "q"
    assert str(refused.value).startswith("answer of 's' (query 'q'): ")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (["d1", "d2", "d1"], "it is in the answer twice"),
        ([("d1", 1.0), ("d1", 2.0)], "it is in the answer twice"),
        ({"d1": float("nan")}, "score nan is not a number"),
        ({"d1": "high"}, "score 'high' is not a number"),
        ({"d1": None}, "score None is not a number"),
        ((["d1"], np.array([np.nan])), "score nan is not a number"),
    ],
)
def test_a_wrong_document_is_named(answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        answering(answer)
    assert (refused.value.query, refused.value.document) == ("q", "d1")


def test_a_wrong_answer_of_the_last_pass_is_named() -> None:
    answers = iter([["d"]] * 5 + [None])
    with pytest.raises(InputError) as refused:
        quick(lambda query: next(answers), QUERIES, warmup=0, repeat=2)
    assert refused.value.query == "q3"


def test_a_wrong_answer_is_refused_before_anything_is_timed() -> None:
    asked = []
    with pytest.raises(InputError, match="None is no answer"):
        quick(asked.append, QUERIES)
    assert asked == ["cat"]


def test_without_a_warm_up_the_first_timed_answer_is_read_at_once() -> None:
    asked: list[Any] = []
    with pytest.raises(InputError, match="None is no answer") as refused:
        quick(asked.append, QUERIES, warmup=0, repeat=3)
    assert (asked, refused.value.query) == (["cat"], "q1")
    asked.clear()
    with pytest.raises(InputError, match="None is no list of answers"):
        quick(asked.append, QUERIES, warmup=0, batch_size=2)
    assert asked == [["cat", "dog"]]


# Answers of larger calls


def both(alike: int, found: int = 10, **options: Any) -> Any:
    """Measure a search whose larger calls find so many of the same documents."""
    return quick(
        lambda query: list(range(found)),
        ["cat"],
        system="s",
        search_many=lambda queries: [[*range(alike), *range(100, 100 + found - alike)]],
        throughput_batch_size=2,
        **options,
    )


@pytest.mark.parametrize("warmup", [0, 1])
def test_larger_calls_that_find_other_documents(warmup: int) -> None:
    told = "larger calls of 's' find other documents than the timed ones, 8 of 10 are the same"
    with pytest.warns(InputWarning, match=told):
        measured = both(8, warmup=warmup)
    assert measured.run.to_dict() == {0: {d: 10.0 - d for d in range(10)}}, "that of search"
    both(9, warmup=warmup)
    both(10, warmup=warmup)


def test_documents_of_all_queries_are_compared() -> None:
    options = {"throughput_batch_size": 2, "system": "s"}
    answers = {"cat": ["a"] * 0, "dog": ["a", "b"], "cow": ["c"]}
    quick(answers.get, QUERIES, search_many=lambda some: [answers[q] for q in some], **options)
    with pytest.warns(InputWarning, match="3 of 5 are the same"):
        quick(answers.get, QUERIES,
              search_many=lambda some: [["x"] * (q == "cat") + answers[q] + ["y"] * (q == "cow")
                                        for q in some], **options)  # fmt: skip
    with pytest.warns(InputWarning, match="0 of 3 are the same"):
        quick(answers.get, QUERIES, search_many=lambda some: [[]] * len(some), **options)


@pytest.mark.parametrize("warmup", [0, 1])
@pytest.mark.parametrize(
    ("wrong", "message"), [(None, "None is no answer"), ({"d": float("nan")}, "score nan"),
                           (["d", "d"], "it is in the answer twice")],
)  # fmt: skip
def test_a_wrong_answer_of_a_larger_call_is_refused(wrong: Any, message: str, warmup: int) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        quick(search, QUERIES, search_many=lambda some: [search("")] * (len(some) - 1) + [wrong],
              throughput_batch_size=3, warmup=warmup, system="s")  # fmt: skip
    assert refused.value.query == "q3"
    assert str(refused.value).startswith("answer of 's' (query 'q3'")


def test_answers_of_larger_calls_are_read_after_the_last(monkeypatch: pytest.MonkeyPatch) -> None:
    events: list[str] = []
    read = irbatch.efficiency.answers.read_answers

    def watched(*arguments: Any) -> Any:
        events.append("read")
        return read(*arguments)

    def several(queries: list[str]) -> list[Any]:
        events.append("call")
        return [search(query) for query in queries]

    monkeypatch.setattr("irbatch.efficiency.measuring.read_answers", watched)
    monkeypatch.setattr("irbatch.efficiency.timing.read_answers", watched)
    quick(search, QUERIES, search_many=several, throughput_batch_size=1, warmup=0)
    assert events == ["read", "call", "call", "call", "read", "read"]


def test_documents_are_text_or_numbers_throughout() -> None:
    answers = {"cat": [], "dog": ["d"], "cow": [3]}
    with pytest.raises(InputError, match="text in query 'q2' and whole numbers in query 'q3'"):
        quick(answers.get, QUERIES)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([["d"]], "queries 'q1' to 'q3': 1 answer to 3 queries"),
        ([["d"]] * 4, "queries 'q1' to 'q3': 4 answers to 3 queries"),
        (None, "queries 'q1' to 'q3': None is no list of answers"),
        ("abc", "'abc' is no list of answers"),
        ({"q1": []}, "is no list of answers"),
        (iter([]), "would be made after the clock has stopped"),
    ],
)
def test_a_batch_has_an_answer_a_query(answer: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        quick(lambda queries: answer, QUERIES, batch_size=3, system="s")
    assert str(refused.value).startswith("answer of 's': ")


def test_rows_of_a_matrix_answer_a_batch() -> None:
    run = quick(lambda queries: np.array([[4, 2]] * len(queries)), QUERIES, batch_size=2).run
    assert run.to_dict() == {query: {4: 2.0, 2: 1.0} for query in QUERIES}


def test_tensors_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    assert answering(torch.tensor([3, 1])) == {3: 2.0, 1: 1.0}
    assert answering((torch.tensor([3, 1]), torch.tensor([0.5, 0.25]))) == {3: 0.5, 1: 0.25}
    assert answering({"d": torch.tensor(0.5)}) == {"d": 0.5}
    elsewhere = torch.empty(2, device="meta")  # a tensor without numbers
    with pytest.raises(InputError, match="no data"):
        answering(elsewhere)
    # It stands for one on an accelerator, which a machine that tests may lack.
    monkeypatch.setattr(answers, "is_on_accelerator", lambda values: values is elsewhere)
    for answer in (elsewhere, (["a", "b"], elsewhere)):
        with pytest.raises(InputError, match="may come after the call has ended") as refused:
            answering(answer)
        assert refused.value.query == "q"
    with pytest.raises(InputError, match="may come after the call has ended"):
        quick(lambda query: ["d"], ["cat"], search_many=lambda queries: [elsewhere],
              throughput_batch_size=2, warmup=0)  # fmt: skip


def test_the_run_is_evaluated() -> None:
    answers = {"cat": {"d1": 0.1, "d2": 0.9}, "dog": ["d2", "d1"], "cow": []}
    qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}, "q3": {"d1": 1}}
    results = irbatch.evaluate(qrels, quick(answers.get, QUERIES).run, ["RR", "P@1"])
    assert results.mean() == {"RR": (1 / 2 + 1 + 0) / 3, "P@1": 1 / 3}


def test_queries_are_not_changed() -> None:
    queries = dict(QUERIES)

    def greedy(given: list[str]) -> list[list[str]]:
        answers = [["d"] for _ in given]
        given.clear()
        return answers

    quick(greedy, queries, batch_size=2)
    assert queries == QUERIES
