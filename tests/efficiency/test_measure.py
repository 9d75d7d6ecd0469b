"""Measuring a search: queries, answers, the time of calls, memory."""

from __future__ import annotations

import asyncio
import sys
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.clocks import Clock
from support.input_errors import input_error

from irbatch.efficiency import Hardware, Latency, Measurement, measure, measure_search

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), system="s")


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


def answering(answer: Any) -> dict[Any, Any]:
    """Return the run of a search that always answers the same, at one query."""
    return quick(lambda query: answer, {"q": "cat"}).run.to_dict()["q"]


def rejected(call: Callable[[], object], message: str, query: Any = None) -> str:
    error = input_error(call, message)
    assert query is None or error.query == query
    return str(error)


# Queries and calls


def series(values: Any) -> Any:
    return pytest.importorskip("pandas").Series(values)


@pytest.mark.parametrize(
    ("queries", "ids"),
    [
        *(
            (lambda form=form: form(["cat", "dog"]), [0, 1])
            for form in (list, deque, np.array, iter)
        ),
        (lambda: {"cat": 0, "dog": 1}.keys(), [0, 1]),
        (lambda: {"q1": "cat", "q2": "dog"}, ["q1", "q2"]),
        (lambda: series({"q1": "cat", "q2": "dog"}), ["q1", "q2"]),
        (lambda: series(["cow", "cat", "dog"])[1:], [1, 2]),
        (lambda: series(["cat", "dog"]).set_axis(["cat", "dog"]).index, [0, 1]),
    ],
)
def test_queries_have_ids_or_are_numbered(queries: Callable[[], Any], ids: list[Any]) -> None:
    asked: list[str] = []
    record, run = quick(lambda query: asked.append(query) or [query], queries(), warmup=0)
    assert asked == ["cat", "dog"]
    assert (record.system, run.name, record.n_queries) == ("s", "s", 2)
    assert run.to_dict() == {ids[0]: {"cat": 1.0}, ids[1]: {"dog": 1.0}}


def test_batches_and_a_shorter_last_one() -> None:
    asked: list[list[str]] = []

    def batched(queries: list[str]) -> list[list[str]]:
        asked.append(queries)
        return [[f"{query}-page"] for query in queries]

    measured = quick(batched, QUERIES, batch_size=2, warmup=3, repeat=2)
    assert not measured.latencies.flags.writeable
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
    named = [(each, "Retriever") for each in (retriever, retriever.find, retriever.__call__)]
    named += [(search, "search"), (lambda query: [query], "function")]  # type: ignore[list-item]
    for each, name in named:
        for face in (each, partial(partial(each))):
            assert quick(face, QUERIES, system=None).record.system == name
    record, run = quick(search, QUERIES, system="bm25", dataset="zoo")
    assert (record.system, run.name, record.dataset) == ("bm25", "bm25", "zoo")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queries": {}}, "there are no queries"),
        ({"queries": "cat"}, "queries are a str"),
        ({"queries": {"cat"}}, "queries are a set"),
        ({"queries": 3}, "queries are an int"),
        ({"queries": SimpleNamespace(columns=["text"])}, "not a mapping of ids to queries"),
        ({"queries": {1.5: "cat"}}, "query id 1.5 is a float"),
        ({"queries": {1: "cat", "q": "dog"}}, "query ids are of two kinds"),
        ({"search": 3}, "search is an int, not to be called"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"warmup": -1}, "warmup=-1"),
        ({"hardware": " "}, "instance is ' '"),
        ({"flops": "many"}, "flops='many'"),
        ({"system": ""}, "system is ''"),
    ],
    ids=str,
)
def test_arguments_are_rejected_before_a_call(options: dict[str, Any], message: str) -> None:
    asked: list[str] = []
    given = {"search": asked.append, "queries": QUERIES, "system": "bm25", **options}
    said = rejected(lambda: measure_search(**given), message)
    assert "'bm25'" in said or options.keys() & {"system", "hardware"}
    assert asked == []


def test_what_calls_tell_is_not_given() -> None:
    for name, hint in (("peak_memory", "did you mean"), ("latency", ""), ("currncy", "currency")):
        with pytest.raises(TypeError, match=rf"measure_search\(\) got .*'{name}'.*{hint}"):
            quick(search, QUERIES, **{name: 1})


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
    assert {type(score) for score in found.values()} <= {float}


NO_ANSWERS: list[tuple[Any, str]] = [
    *((value, "is not an answer") for value in (None, "d1", b"d1", 3, {"d1"}, np.array(3))),
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
    batch = partial(quick, lambda some: [["d"], answer][: len(some)], ["cat", "dog"])
    rejected(lambda: batch(batch_size=2), message, 1)
    assert rejected(lambda: answering(answer), message, "q").startswith("answer of 's' (query 'q'")


def test_answers_of_two_kinds_and_batches_of_none() -> None:
    answers = {"cat": [], "dog": ["d"], "cow": [3]}
    rejected(lambda: quick(answers.get, QUERIES),
             "text in query 'q2' and whole numbers in query 'q3'")  # fmt: skip
    batches = partial(quick, lambda some: None, QUERIES, warmup=0, batch_size=2)
    rejected(batches, "None is not a list of answers")


def test_tensors_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    assert answering(torch.tensor([3, 1])) == {3: 2.0, 1: 1.0}
    assert answering((torch.tensor([3, 1]), torch.tensor([0.5, 0.25]))) == {3: 0.5, 1: 0.25}
    assert answering({"d": torch.tensor(0.5)}) == {"d": 0.5}
    elsewhere = torch.empty(2, device="meta")  # a tensor without numbers
    rejected(lambda: answering(elsewhere), "no data")
    # It stands for one on an accelerator, which a machine that tests may lack.
    monkeypatch.setattr(measure, "is_on_accelerator", lambda values: values is elsewhere)
    late = "may come after the call has ended"
    for answer in (elsewhere, (["a", "b"], elsewhere)):
        rejected(lambda answer=answer: answering(answer), late, "q")
    rejected(lambda: quick(lambda some: [elsewhere], ["cat"], batch_size=2, warmup=0), late)


# Times


class Client:
    """A search that takes a millisecond times the query, itself or awaited."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.loops: set[Any] = set()

    def find(self, query: int) -> list[str]:
        self.clock.now += query * 1_000_000
        return [f"d{query}"]

    def find_many(self, queries: list[int]) -> list[list[str]]:
        return [self.find(query) for query in queries]

    async def __call__(self, query: int) -> list[str]:
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0)
        return self.find(query)

    async def find_later(self, query: int, depth: int = 10) -> list[str]:
        return await self(query)

    async def find_many_later(self, queries: list[int]) -> list[list[str]]:
        return [await self(query) for query in queries]


@pytest.mark.parametrize(
    ("face", "batch_size"),
    [
        (lambda client: client.find, 1),
        (lambda client: client, 1),
        (lambda client: client.find_later, 1),
        (lambda client: partial(client.find_later, depth=5), 1),
        (partial, 1),
        (lambda client: client.find_many, 3),
        (lambda client: client.find_many_later, 3),
    ],
)
def test_times_are_those_of_the_calls(
    clock: Clock, face: Callable[[Client], Any], batch_size: int
) -> None:
    client = Client(clock)
    measured = quick(face(client), [1, 2, 3, 6], warmup=2, repeat=2, price_per_hour=3.6,
                     batch_size=batch_size)  # fmt: skip
    record, times = measured.record, [6.0, 6.0] if batch_size > 1 else [1.0, 2.0, 3.0, 6.0]
    assert measured.latencies.tolist() == [times] * 2
    assert measured.run.to_dict() == {i: {f"d{q}": 1.0} for i, q in enumerate([1, 2, 3, 6])}
    assert record.latency == replace(Latency.from_samples(measured.latencies), loop="closed")
    assert record.latency.calls == 2 * len(times)
    assert record.throughput == 8 / 0.024
    cost = 3.6 / 3600 * sum(times) / len(times) / (4 / len(times)) / 1000 * 1e6
    assert record.cost_per_million == pytest.approx(cost)
    assert (record.repeat, record.n_queries) == (2, 4)
    assert (record.wall_time, record.cpu_used) == (pytest.approx(0.024), 1.0)
    assert len(client.loops) <= 1, "all calls come within one loop"


# What search raises, and searches that are awaited


@pytest.mark.parametrize("warmup", [0, 3])
def test_what_search_raises_names_the_query(warmup: int) -> None:
    answers = {"cat": ["d"], "cow": ["d"]}
    with pytest.raises(KeyError, match="dog") as raised:
        quick(answers.__getitem__, QUERIES, warmup=warmup)
    assert raised.value.__notes__ == ["in the call for 1 query, 'q2'"]


def test_searches_are_awaited_where_no_loop_runs() -> None:
    asked: list[Any] = []

    async def searching(query: Any) -> list[str]:
        asked.append(query)
        return ["d"]

    async def here() -> None:
        quick(searching, QUERIES)

    async def elsewhere() -> Measurement:
        return await asyncio.to_thread(quick, searching, QUERIES)

    rejected(lambda: asyncio.run(here()), "'s': search is async def, and a loop is running here")
    assert asked == []
    assert asyncio.run(elsewhere()).record.n_queries == 3


MEGA = 1_000_000


# ---------------------------------------------------------------- time and memory


def test_memory_held_before_does_not_count() -> None:
    np.ones(400_000_000 // 8)
    watch = measure.Watch()
    before = watch.most_held()
    record = quick(search, QUERIES).record
    assert (record.peak_memory or 0.0) < before - 300
    assert watch.most_held() >= before, "the mark of the process stays"


class Memory:
    """What the operating system says of memory and time, as it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.mark, self.held, self.now, self.looks = 500.0, 300.0, 0.0, 0
        monkeypatch.setattr(measure.Watch, "most_held", lambda watch: self.mark)
        monkeypatch.setattr(measure.Watch, "held", self.look)
        clock = Clock()
        monkeypatch.setattr(measure, "time", clock)
        monkeypatch.setattr(clock, "perf_counter", lambda: self.now)

    def look(self, *watch: Any) -> float:
        self.looks += 1
        return self.held


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Memory:
    return Memory(monkeypatch)


def test_a_mark_that_rises_is_the_peak(memory: Memory) -> None:
    def searching(query: str) -> list[str]:
        memory.mark = 512.0
        return ["d"]

    assert quick(searching, QUERIES).record.peak_memory == 512.0


@pytest.mark.parametrize("warmup", [0, 2])
def test_below_the_mark_the_peak_is_what_was_seen(memory: Memory, warmup: int) -> None:
    def searching(query: str) -> list[str]:
        memory.now += 1.0
        memory.held = {"cat": 310.0, "dog": 420.0, "cow": 320.0}[query]
        return ["d"]

    assert quick(searching, QUERIES, warmup=warmup).record.peak_memory == 420.0


# ---------------------------------------------------------------- accelerators


class Cuda:
    """What torch tells of two accelerators."""

    def __init__(self) -> None:
        self.used, self.held, self.most = True, [300 * MEGA, 0], [900 * MEGA, 0]

    def is_initialized(self) -> bool:
        return self.used

    def device_count(self) -> int:
        return 2

    def max_memory_allocated(self, device: int) -> int:
        return self.most[device]

    def reset_peak_memory_stats(self, device: int) -> None:
        self.most[device] = self.held[device]


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Cuda:
    cuda = Cuda()
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda, Tensor=type(None)))
    return cuda


def test_memory_of_accelerators_is_the_most_from_now_on(cuda: Cuda) -> None:
    watch = measure.Watch()
    assert watch.memory()["peak_gpu_memory"] == 300
    cuda.most = [500 * MEGA, 70 * MEGA]
    assert watch.memory()["peak_gpu_memory"] == 570


def test_torch_may_come_to_accelerators_later(cuda: Cuda) -> None:
    cuda.used = False
    watch = measure.Watch()
    assert watch.memory()["peak_gpu_memory"] is None
    cuda.used = True
    assert watch.memory()["peak_gpu_memory"] == 900, "all that it has held was since"
