"""Measuring a search: what it is asked and may answer, how long its calls take, what is shown."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.clocks import Clock

from irbatch import InputError
from irbatch.efficiency import (
    Hardware,
    Latency,
    Measurement,
    measure,
    measure_search,
)

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), system="s")


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


def answering(answer: Any) -> dict[Any, Any]:
    """Return the run of a search that always answers the same, at one query."""
    return quick(lambda query: answer, {"q": "cat"}).run.to_dict()["q"]


# Queries and calls


@pytest.mark.parametrize(
    "queries",
    [
        ["cat", "dog"], deque(["cat", "dog"]), np.array(["cat", "dog"]),
        (each for each in ("cat", "dog")), {"cat": 0, "dog": 1}.keys(),
    ],
)  # fmt: skip
def test_queries_without_ids_are_numbered(queries: Any) -> None:
    asked: list[str] = []
    run = quick(lambda query: asked.append(query) or ["d"], queries, warmup=0).run
    assert asked == ["cat", "dog"]
    assert list(run.queries) == [0, 1]


def test_a_measurement_is_a_record_and_a_run() -> None:
    measured = quick(search, QUERIES)
    record, run = measured
    assert (record.system, run.name, record.n_queries) == ("s", "s", 3)
    assert run.to_dict() == {query: {"d1": 2.0, "d2": 1.0} for query in QUERIES}
    assert not measured.latencies.flags.writeable


def test_a_series_is_a_mapping_of_its_index() -> None:
    pandas = pytest.importorskip("pandas")
    run = quick(lambda query: [query], pandas.Series({"q1": "cat", "q2": "dog"})).run
    assert run.to_dict() == {"q1": {"cat": 1.0}, "q2": {"dog": 1.0}}
    filtered = pandas.Series(["cat", "dog", "cow"])[1:]
    assert quick(lambda query: [query], filtered).run.to_dict() == {
        1: {"dog": 1.0}, 2: {"cow": 1.0},
    }  # fmt: skip
    assert list(quick(search, pandas.Index(["cat", "dog"])).run.queries) == [0, 1]


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ({}, "there are no queries"),
        ("cat", "queries are a str"),
        ({"cat"}, "queries are a set"),
        (3, "queries are an int"),
        (SimpleNamespace(columns=["text"]), "not a mapping of ids to queries"),
        ({1.5: "cat"}, "query id 1.5 is a float"),
        ({1: "cat", "q": "dog"}, "query ids are of two kinds"),
    ],
)
def test_what_is_no_queries_is_rejected(queries: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        quick(search, queries, system="bm25")
    assert "'bm25'" in str(refused.value)


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


def test_names() -> None:
    class Retriever:
        def __call__(self, query: str, k: int = 10) -> list[str]:
            return [query]

        find = __call__

    retriever = Retriever()
    for each in (retriever, retriever.find, retriever.__call__):
        assert quick(each, QUERIES, system=None).record.system == "Retriever"
        assert quick(partial(partial(each), k=5), QUERIES, system=None).record.system == "Retriever"
    assert quick(partial(search), QUERIES, system=None).record.system == "search"
    assert quick(partial(lambda query: [query]), QUERIES, system=None).record.system == "function"
    assert quick(lambda query: [query], QUERIES, system=None).record.system == "function"
    record, run = quick(search, QUERIES, system="bm25", dataset="zoo")
    assert (record.system, run.name, record.dataset) == ("bm25", "bm25", "zoo")


# Answers


@pytest.mark.parametrize(
    ("answer", "ranking"),
    [
        ({"b": 1, "a": 2.5}, {"b": 1.0, "a": 2.5}),
        ([("b", 0.5), ["a", 1]], {"b": 0.5, "a": 1.0}),
        ((("b", 0.5), ("a", 1)), {"b": 0.5, "a": 1.0}),
        ({"b": float("inf"), "a": float("-inf")}, {"b": float("inf"), "a": float("-inf")}),
        ([("b", np.float32(0.5))], {"b": 0.5}),
        (["b", "a", "c"], {"b": 3.0, "a": 2.0, "c": 1.0}),
        ((np.str_("b"), np.str_("a")), {"b": 2.0, "a": 1.0}),
        (range(5, 7), {5: 2.0, 6: 1.0}),
        (deque([3, 1]), {3: 2.0, 1: 1.0}),
        (np.array(["b", "a"]), {"b": 2.0, "a": 1.0}),
        (np.array([3, 1], np.uint32), {3: 2.0, 1: 1.0}),
        (np.array(["b", "a"], object), {"b": 2.0, "a": 1.0}),
        ((np.array([3, 1]), np.array([0.5, 0.25], np.float32)), {3: 0.5, 1: 0.25}),
        ((["b", "a"], np.array([2, 1])), {"b": 2.0, "a": 1.0}),
        *((empty, {}) for empty in (([], np.array([])), {}, [], (), np.array([]))),
    ],
    ids=repr,
)
def test_answers(answer: Any, ranking: dict[Any, float]) -> None:
    found = answering(answer)
    assert list(found.items()) == list(ranking.items())
    assert {type(document) for document in found} <= {str, int}
    assert {type(score) for score in found.values()} <= {float}


NO_ANSWERS: list[tuple[Any, str]] = [
    *((value, "is not an answer") for value in (None, "d1", b"d1", 3, {"d1"}, np.array(3))),
    (iter(["d1"]), "made after the clock has stopped"),
    ([("d1", 1.0), ("d2",)], "('d2',), at place 1, is not a (document, score) pair"),
    ([("q", "d1", 1.0)], "at place 0, is not a (document, score) pair"),
    (["d1", ("d2", 1.0)], "document id ('d2', 1.0) is a tuple"),
    (["d1", 2], "document ids are of two kinds"),
    ([1.5], "1.5, at place 0, is not"),
    (np.array([1.5]), "document id 1.5 is a float"),
    (np.zeros((2, 2)), "an array of shape (2, 2) is not an answer"),
    ((np.array([1, 2]), np.array([1.0])), "2 documents and 1 score"),
    ((["b", "a"], [0.5, 0.25]), "two lists may be ids and scores, or two pairs"),
    (["d1", "d2", "d1"], "document 'd1'): it is in the answer twice"),
    ([("d1", 1.0), ("d1", 2.0)], "document 'd1'): it is in the answer twice"),
    ({"d1": float("nan")}, "document 'd1'): score nan is not a number"),
    ({"d1": "high"}, "document 'd1'): score 'high' is not a number"),
]


@pytest.mark.parametrize(("answer", "message"), NO_ANSWERS)
def test_what_is_no_answer_is_rejected(answer: Any, message: str) -> None:
    """Of one call, and of a batch: the query and the document are named."""
    if not hasattr(answer, "__next__"):
        with pytest.raises(InputError, match=re.escape(message)) as refused:
            quick(lambda some: [["d"], answer][: len(some)], ["cat", "dog"], batch_size=2)
        assert refused.value.query == 1
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        answering(answer)
    assert refused.value.query == "q"
    assert str(refused.value).startswith("answer of 's' (query 'q'")


def test_without_a_warm_up_the_first_timed_answer_is_read_at_once() -> None:
    asked: list[Any] = []
    with pytest.raises(InputError, match="None is not an answer") as refused:
        quick(asked.append, QUERIES, warmup=0, repeat=3)
    assert (asked, refused.value.query) == (["cat"], "q1")
    asked.clear()
    with pytest.raises(InputError, match="None is not a list of answers"):
        quick(asked.append, QUERIES, warmup=0, batch_size=2)
    assert asked == [["cat", "dog"]]


def test_documents_are_text_or_numbers_throughout() -> None:
    answers = {"cat": [], "dog": ["d"], "cow": [3]}
    with pytest.raises(InputError, match="text in query 'q2' and whole numbers in query 'q3'"):
        quick(answers.get, QUERIES)


def test_tensors_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    assert answering(torch.tensor([3, 1])) == {3: 2.0, 1: 1.0}
    assert answering((torch.tensor([3, 1]), torch.tensor([0.5, 0.25]))) == {3: 0.5, 1: 0.25}
    assert answering({"d": torch.tensor(0.5)}) == {"d": 0.5}
    elsewhere = torch.empty(2, device="meta")  # a tensor without numbers
    with pytest.raises(InputError, match="no data"):
        answering(elsewhere)
    # It stands for one on an accelerator, which a machine that tests may lack.
    monkeypatch.setattr(measure, "is_on_accelerator", lambda values: values is elsewhere)
    for answer in (elsewhere, (["a", "b"], elsewhere)):
        with pytest.raises(InputError, match="may come after the call has ended") as refused:
            answering(answer)
        assert refused.value.query == "q"
    with pytest.raises(InputError, match="may come after the call has ended"):
        quick(lambda queries: [elsewhere], ["cat"], batch_size=2, warmup=0)


# Times


def test_times_are_those_of_the_calls(clock: Clock) -> None:
    def slow(query: int) -> list[str]:
        clock.now += query * 1_000_000
        return ["d"]

    measured = quick(slow, [1, 2, 3, 6], warmup=2, repeat=2, price_per_hour=3.6)
    record = measured.record
    assert measured.latencies.tolist() == [[1.0, 2.0, 3.0, 6.0]] * 2
    assert record.latency == replace(Latency.from_samples(measured.latencies), loop="closed")
    assert (record.latency.mean, record.latency.p50, record.latency.calls) == (3.0, 2.5, 8)
    assert record.throughput == 8 / 0.024
    assert record.cost_per_million == pytest.approx(3.6 / 3600 * 0.003 * 1e6)
    assert record.throughput_cost_per_million == pytest.approx(3.6 / 3600 / (8 / 0.024) * 1e6)
    assert (record.repeat, record.n_queries, record.throughput_batch_size) == (2, 4, None)


def test_batches_are_calls(clock: Clock) -> None:
    def slow(queries: list[int]) -> list[list[str]]:
        clock.now += 1_000_000 * len(queries)
        return [["d"]] * len(queries)

    measured = quick(slow, range(5), batch_size=2, price_per_hour=3.6)
    assert measured.latencies.tolist() == [[2.0, 2.0, 1.0]]
    assert measured.record.throughput == 1000.0
    assert measured.record.latency.calls == 3
    assert measured.record.cost_per_million == pytest.approx(1.0), "1 ms a query"
    assert measured.record.throughput_cost_per_million == pytest.approx(1.0)


# What search raises


@pytest.mark.parametrize("warmup", [0, 3])
def test_what_search_raises_names_the_query(warmup: int) -> None:
    problem = KeyError("index")

    def failing(query: str) -> list[str]:
        if query == "dog":
            raise problem
        return ["d"]

    with pytest.raises(KeyError) as raised:
        quick(failing, QUERIES, warmup=warmup)
    assert raised.value is problem
    assert raised.value.__notes__ == ["in the call for 1 query: 'q2'"]


# Searches that are awaited


class Client:
    """A search that waits for a server; all calls come within one loop."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.loops: set[Any] = set()

    async def __call__(self, query: int) -> list[str]:
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        self.clock.now += query * 1_000_000
        return [f"d{query}"]

    async def find(self, query: int, depth: int = 10) -> list[str]:
        return await self(query)

    async def find_many(self, queries: list[int]) -> list[list[str]]:
        answers = [await self(query) for query in queries]
        self.clock.now -= sum(queries) * 500_000
        return answers


@pytest.mark.parametrize("face", ["object", "method", "partial"])
def test_an_async_search_is_awaited(clock: Clock, face: str) -> None:
    client = Client(clock)
    faces = {"object": client, "method": client.find, "partial": partial(client.find, depth=5)}
    measured = quick(faces[face], [1, 2, 3], warmup=1, repeat=2)
    assert measured.latencies.tolist() == [[1.0, 2.0, 3.0]] * 2
    assert measured.run.to_dict() == {0: {"d1": 1.0}, 1: {"d2": 1.0}, 2: {"d3": 1.0}}
    assert len(client.loops) == 1


def test_an_async_search_of_several_queries(clock: Clock) -> None:
    client = Client(clock)
    measured = quick(client.find_many, [1, 2, 3], batch_size=2)
    assert measured.latencies.tolist() == [[1.5, 1.5]]


@pytest.mark.parametrize("batch_size", [1, 2])
def test_a_coroutine_that_nothing_awaits_is_rejected(batch_size: int) -> None:
    async def search(query: Any) -> list[str]:
        return ["d"]

    message = "the answer is a coroutine, which nothing has awaited; make search an async def"
    with pytest.raises(InputError, match=message) as refused:
        quick(lambda query: search(query), QUERIES, batch_size=batch_size)
    assert refused.value.query == "q1"
    with pytest.raises(InputError, match=message):
        quick(lambda queries: [search(queries)], ["cat"], batch_size=2)


def test_within_a_loop_an_async_search_is_rejected() -> None:
    asked: list[str] = []

    async def searching(query: str) -> list[str]:
        asked.append(query)
        return ["d"]

    async def here() -> None:
        quick(searching, QUERIES)

    async def elsewhere() -> Measurement:
        return await asyncio.to_thread(quick, searching, QUERIES)

    with pytest.raises(InputError, match=r"'s': search is async def, and a loop is running here"):
        asyncio.run(here())
    assert asked == []
    assert asyncio.run(elsewhere()).record.n_queries == 3


# Queries of the warm-up


@pytest.mark.parametrize("others", [["a", "b"], {"w1": "a", "w2": "b"}, iter(["a", "b"])])
def test_a_warm_up_of_other_queries(others: Any) -> None:
    asked: list[str] = []
    record = quick(
        lambda query: asked.append(query) or ["d"], ["x", "y"], warmup=3, warmup_queries=others
    ).record
    assert asked == ["a", "b", "a", "x", "y"]
    assert (record.warmup, record.n_queries) == (3, 2)


# Arguments


def several(queries: list[Any]) -> list[Any]:
    raise AssertionError("called")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"search": 3}, "search is an int, not to be called"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"warmup": -1}, "warmup=-1"),
        ({"hardware": " "}, "instance is ' '"),
        ({"flops": "many"}, "flops='many'"),
        ({"system": ""}, "system is ''"),
    ],
    ids=lambda each: each if isinstance(each, str) else ", ".join(each),
)
def test_arguments_are_rejected_before_a_call(options: dict[str, Any], message: str) -> None:
    asked: list[str] = []
    given = {"search": asked.append, "system": "s", **options}
    with pytest.raises(InputError, match=re.escape(message)):
        measure_search(queries=QUERIES, **given)
    assert asked == []


def test_what_calls_tell_is_not_given() -> None:
    for name, hint in (("peak_memory", "did you mean"), ("latency", ""), ("currncy", "currency")):
        with pytest.raises(TypeError, match=rf"measure_search\(\) got .*'{name}'.*{hint}"):
            measure_search(several, QUERIES, **{name: 1})


# What is shown and loaded
