"""Measuring a search: its calls, how long they take, and what is shown of them."""

from __future__ import annotations

import asyncio
import io
import re
import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from support.clocks import Clock

import irbatch
from irbatch import InputError
from irbatch.efficiency import EfficiencyRecord, Hardware, Latency, Measurement, measure_search
from irbatch.runtime.progress import make_bar

QUERIES = {"q1": "cat", "q2": "dog", "q3": "cow"}
quick = partial(measure_search, hardware=Hardware(), draws=0, progress=False)


def search(query: Any) -> dict[str, float]:
    return {"d1": 2.0, "d2": 1.0}


def search_list(queries: list[Any]) -> list[dict[str, float]]:
    return [search(query) for query in queries]


# Times


def test_times_are_those_of_the_calls(clock: Clock) -> None:
    def slow(query: int) -> list[str]:
        clock.now += query * 1_000_000
        return ["d"]

    measured = quick(slow, [1, 2, 3, 6], warmup=2, repeat=2, price_per_hour=3.6)
    record = measured.record
    assert measured.latencies.tolist() == [[1.0, 2.0, 3.0, 6.0]] * 2
    assert record.latency == replace(
        Latency.from_samples(measured.latencies, draws=0), loop="closed"
    )
    assert (record.latency.mean, record.latency.p50, record.latency.calls) == (3.0, 2.5, 8)
    assert record.throughput == 8 / 0.024
    assert record.cost_per_million == pytest.approx(3.6 / 3600 * 0.003 * 1e6)
    assert record.throughput_cost_per_million == pytest.approx(3.6 / 3600 / (8 / 0.024) * 1e6)
    assert (record.repeat, record.n_queries, record.throughput_batch_size) == (2, 4, None)


def test_what_is_between_calls_is_not_timed(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    class Queries(list):  # type: ignore[type-arg]
        def __getitem__(self, at: Any) -> Any:
            clock.now += 999
            return super().__getitem__(at)

    def read(source: str, queries: Any) -> Any:
        return list(range(len(queries))), Queries(queries)

    monkeypatch.setattr("irbatch.efficiency.measuring.read_queries", read)

    def steady(query: int) -> list[str]:
        clock.now += 2_000_000
        return ["d"]

    assert quick(steady, [1, 2, 3]).latencies.tolist() == [[2.0, 2.0, 2.0]]


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


def test_intervals_are_those_of_the_draws(clock: Clock) -> None:
    def slow(query: int) -> list[str]:
        clock.now += query * 1_000_000
        return ["d"]

    measured = quick(slow, range(1, 30), draws=200, level=0.1, seed=5)
    expected = Latency.from_samples(measured.latencies, draws=200, level=0.1, seed=5)
    assert measured.record.latency == replace(expected, loop="closed")
    assert expected.intervals


def test_throughput_of_larger_calls(clock: Clock) -> None:
    asked: list[list[int]] = []

    def one(query: int) -> list[str]:
        clock.now += 4_000_000
        return ["d"]

    def several(queries: list[int]) -> list[list[str]]:
        asked.append(queries)
        clock.now += 1_000_000 + 1_000_000 * len(queries)
        return [["d"]] * len(queries)

    record = quick(one, range(5), search_many=several, throughput_batch_size=3).record
    assert asked == [[0, 1, 2], [0, 1, 2], [3, 4]], "one of them is to warm up"
    assert record.throughput == 5 / 0.007
    assert (record.throughput_batch_size, record.batch_size) == (3, 1)
    assert record.latency.mean == 4.0


def test_throughput_without_a_warm_up_or_another_search(clock: Clock) -> None:
    asked: list[list[int]] = []

    def several(queries: list[int]) -> list[list[str]]:
        asked.append(queries)
        clock.now += 1_000_000
        return [["d"]] * len(queries)

    record = quick(several, range(4), batch_size=2, throughput_batch_size=4, warmup=0).record
    assert asked == [[0, 1], [2, 3], [0, 1, 2, 3]]
    assert record.throughput == 4000.0


@pytest.mark.parametrize("warmup", [0, 1])
def test_throughput_needs_an_answer_a_query(warmup: int) -> None:
    with pytest.raises(InputError, match="0 answers to 2 queries"):
        quick(search, QUERIES, search_many=lambda queries: [], throughput_batch_size=2,
              warmup=warmup)  # fmt: skip


def test_a_clock_that_stands_still_has_no_throughput(clock: Clock) -> None:
    record = quick(search, QUERIES).record
    assert record.throughput is None
    assert record.latency.mean == 0.0


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


def test_what_search_raises_names_the_queries_of_a_batch() -> None:
    def failing(queries: list[int]) -> None:
        raise OSError("no index")

    with pytest.raises(OSError, match="no index") as raised:
        quick(failing, range(7), batch_size=7)
    assert raised.value.__notes__ == ["in the call for 7 queries: 0, 1, 2, 3, 4, …"]


# Searches that are awaited


def slow_loop(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the loop take time of its own, before and after each call."""

    class Slow(asyncio.Runner):
        def run(self, coroutine: Any, **options: Any) -> Any:
            clock.now += 7_000_000
            answer = super().run(coroutine, **options)
            clock.now += 7_000_000
            return answer

    monkeypatch.setattr(asyncio, "Runner", Slow)


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
        found = [await self(query) for query in queries]
        self.clock.now -= sum(queries) * 500_000
        return found


@pytest.mark.parametrize("face", ["object", "method", "partial", "lambda's"])
def test_an_async_search_is_awaited(
    clock: Clock, monkeypatch: pytest.MonkeyPatch, face: str
) -> None:
    slow_loop(clock, monkeypatch)
    client = Client(clock)

    async def function(query: int) -> list[str]:
        return await client(query)

    faces = {"object": client, "method": client.find, "partial": partial(client.find, depth=5),
             "lambda's": function}  # fmt: skip
    measured = quick(faces[face], [1, 2, 3], warmup=1, repeat=2)
    assert measured.latencies.tolist() == [[1.0, 2.0, 3.0]] * 2
    assert measured.run.to_dict() == {0: {"d1": 1.0}, 1: {"d2": 1.0}, 2: {"d3": 1.0}}
    assert len(client.loops) == 1


def test_an_async_search_of_several_queries(clock: Clock) -> None:
    client = Client(clock)
    measured = quick(client.find_many, [1, 2, 3], batch_size=2)
    assert measured.latencies.tolist() == [[1.5, 1.5]]
    measured = quick(client, [1, 2, 3], search_many=client.find_many, throughput_batch_size=3)
    assert measured.record.throughput == 3 / 0.003
    plain = quick(search_list, [1, 2, 3], batch_size=2, search_many=client.find_many,
                  throughput_batch_size=3, warmup=0)  # fmt: skip
    assert plain.record.throughput == 3 / 0.003


@pytest.fixture(autouse=True)
def _alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """Larger calls may find what they like here."""
    monkeypatch.setattr("irbatch.efficiency.measuring.compare_answers", lambda *given: None)


@pytest.mark.parametrize("warmup", [0, 2])
def test_what_an_async_search_raises_names_the_query(warmup: int) -> None:
    async def failing(query: str) -> list[str]:
        if query == "dog":
            raise KeyError("index")
        return ["d"]

    with pytest.raises(KeyError) as raised:
        quick(failing, QUERIES, warmup=warmup)
    assert raised.value.__notes__ == ["in the call for 1 query: 'q2'"]


@pytest.mark.parametrize("batch_size", [1, 2])
def test_a_coroutine_that_nothing_awaits_is_refused(batch_size: int) -> None:
    async def search(query: Any) -> list[str]:
        return ["d"]

    message = "the answer is a coroutine, which nothing has awaited; make search an async def"
    with pytest.raises(InputError, match=message) as refused:
        quick(lambda query: search(query), QUERIES, batch_size=batch_size, system="s")
    assert refused.value.query == "q1"
    with pytest.raises(InputError, match=message):
        quick(lambda queries: [search(queries)], ["cat"], batch_size=2)


def test_an_async_generator_is_no_answer() -> None:
    async def search(query: str) -> Any:
        yield "d"

    with pytest.raises(InputError, match="it would be made after the clock has stopped"):
        quick(search, QUERIES)


def test_within_a_loop_an_async_search_is_refused() -> None:
    asked: list[str] = []

    async def searching(query: str) -> list[str]:
        asked.append(query)
        return ["d"]

    async def here() -> None:
        quick(searching, QUERIES, system="s")

    async def elsewhere() -> Measurement:
        return await asyncio.to_thread(quick, searching, QUERIES)

    with pytest.raises(InputError, match=r"'s': search is async def, and a loop is running here"):
        asyncio.run(here())
    assert asked == []
    assert asyncio.run(elsewhere()).record.n_queries == 3


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a terminal; called by tests, as pytest sets it anew for each phase."""
    pytest.importorskip("rich")
    shown = Terminal()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "100")
    return shown


def bar_of(**options: Any) -> None:
    measure_search(search, QUERIES, hardware=Hardware(), draws=0, **options)


def test_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setattr("irbatch.runtime.progress.REDRAWN_AFTER", 0.0)
    import threading

    threads = threading.active_count()
    counts = []

    def watched(query: str) -> list[str]:
        counts.append((threading.active_count(), sys.stderr is terminal))
        return ["d"]

    measure_search(watched, QUERIES, hardware=Hardware(), draws=0, repeat=2, warmup=2,
            search_many=lambda many: [["d"]] * len(many), throughput_batch_size=2)  # fmt: skip
    assert set(counts[2:]) == {(threads, True)}, "neither a thread nor a redirection of its own"
    shown = terminal.getvalue()
    for text in ("warm-up", "pass 1 of 2", "pass 2 of 2", "throughput", "3 of 3 calls", "100%"):
        assert text in shown


def test_progress_is_drawn_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    on_terminal(monkeypatch)
    now = [0.0]
    monkeypatch.setattr("irbatch.runtime.progress.time", SimpleNamespace(monotonic=lambda: now[0]))
    drawn = []
    rich = pytest.importorskip("rich.progress")
    monkeypatch.setattr(rich.Progress, "refresh", lambda bar: drawn.append(now[0]))

    def slow(query: int) -> list[str]:
        now[0] += 1 / 64
        return ["d"]

    measure_search(slow, range(128), hardware=Hardware(), draws=0, warmup=0)
    during = [at for at in drawn if at]
    assert len(during) >= 10
    assert all(later - earlier >= 0.1 for earlier, later in pairwise(during))


def test_no_terminal_no_progress(capsys: pytest.CaptureFixture[str]) -> None:
    bar_of()
    assert capsys.readouterr() == ("", "")
    assert make_bar() is None


def test_progress_that_is_not_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    bar_of(progress=False)
    assert terminal.getvalue() == ""


def test_progress_that_is_wanted_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rich")
    assert make_bar(wanted=True) is not None
    bar_of(progress=True)
    assert capsys.readouterr().out == ""


def test_without_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    bar_of()
    assert terminal.getvalue() == ""
    asked: list[str] = []
    with pytest.raises(ImportError, match=re.escape("pip install 'irbatch[cli]'")):
        measure_search(asked.append, QUERIES, progress=True)
    assert asked == []


def test_a_failure_takes_the_bar_away(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = on_terminal(monkeypatch)

    def failing(query: str) -> None:
        raise OSError("no index")

    for _ in range(2):  # a bar that still stands would refuse the next
        with pytest.raises(OSError, match="no index"):
            measure_search(failing, QUERIES)
    shown = terminal.getvalue()
    assert shown.count("\x1b[?25h") == shown.count("\x1b[?25l") == 2, "the cursor is back"


def test_no_standard_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert make_bar() is None


# Arguments


def several(queries: list[Any]) -> list[Any]:
    raise AssertionError("called")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"batch_size": 0}, "batch_size is 0"),
        ({"batch_size": 1.5}, "batch_size is 1.5"),
        ({"batch_size": None}, "batch_size is missing"),
        ({"batch_size": True}, "batch_size is True"),
        ({"warmup": -1}, "warmup is -1"),
        ({"warmup": None}, "warmup is missing"),
        ({"repeat": 0}, "repeat is 0"),
        ({"repeat": "2"}, "repeat is '2'"),
        ({"throughput_batch_size": 0, "search_many": several}, "throughput_batch_size is 0"),
        ({"throughput_batch_size": 8}, "search_many is missing"),
        ({"search_many": several}, "throughput_batch_size is missing"),
        ({"search_many": 3, "throughput_batch_size": 8}, "search_many is an int"),
        ({"draws": -1}, "draws is -1"),
        ({"draws": None}, "draws is missing"),
        ({"seed": -1}, "seed is -1"),
        ({"seed": 0.5}, "seed is 0.5"),
        ({"level": 0}, "level=0"),
        ({"dataset": ""}, "dataset is ''"),
        ({"hardware": 4}, "hardware is an int"),
        ({"hardware": " "}, "instance is ' '"),
        ({"price_per_hour": -1}, "price_per_hour is -1"),
        ({"price_per_hour": "1"}, "price_per_hour is '1'"),
        ({"currency": ""}, "currency is ''"),
        ({"flops": -1}, "flops is -1"),
        ({"flops": "many"}, "flops is 'many'"),
        ({"model_memory": -1}, "model_memory is -1"),
        ({"index_memory": float("inf")}, "index_memory is inf"),
        ({"model_path": "/nowhere/model"}, "model_path is '/nowhere/model', which is not there"),
        ({"index_path": ["/nowhere/index"]}, "index_path is '/nowhere/index'"),
        ({"index_path": []}, "index_path names no path"),
        ({"index_path": ""}, "index_path is '', which is no path"),
        ({"index_path": 3}, "index_path is 3, which is no path"),
        ({"index_path": b"."}, "which is no path"),
        ({"system": ""}, "system is ''"),
        ({"system": 3}, "system is 3"),
        ({"model": 3}, "model is an int"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arguments_are_refused_before_a_call(options: dict[str, Any], message: str) -> None:
    asked: list[str] = []
    with pytest.raises(InputError, match=re.escape(message)):
        measure_search(asked.append, QUERIES, **{"progress": False, "system": "s", **options})
    assert asked == []


@pytest.mark.parametrize("wrong", [None, "search", 3])
def test_search_is_called(wrong: Any) -> None:
    with pytest.raises(InputError, match=r"'s': search is an? .*, not to be called"):
        quick(wrong, QUERIES, system="s")


def test_whole_numbers_of_any_type() -> None:
    record = quick(search_list, QUERIES, batch_size=np.int64(2), warmup=2.0).record
    assert (record.batch_size, record.warmup) == (2, 2)


# What is shown and loaded


def test_repr(clock: Clock) -> None:
    def slow(query: str) -> list[str]:
        clock.now += 2_500_000
        return ["d"]

    lines = repr(quick(slow, QUERIES, price_per_hour=3.6, repeat=2)).splitlines()
    assert lines[0] == "<Measurement of 'slow': 3 queries, batch size 1, 2 repeats"
    assert lines[1] == "  latency mean 2.5, p50 2.5, p95 2.5, p99 2.5 ms a call, closed loop"
    assert lines[2] == "  throughput 400 queries/s"
    assert lines[-1] == "  cost 2.5 per million queries>"
    assert re.fullmatch(r"  peak memory [\d,]+ MB", lines[3]) or len(lines) == 4


def test_repr_of_what_is_not_known() -> None:
    record = EfficiencyRecord(system="s", n_queries=1)
    shown = repr(Measurement(record, irbatch.Run({}), np.zeros((1, 1))))
    assert shown == "<Measurement of 's': 1 query, batch size 1, 1 repeat>"


def test_records_go_through_json() -> None:
    record = quick(search, QUERIES, draws=50, price_per_hour=1).record
    assert EfficiencyRecord.from_json(record.to_json()) == record


@pytest.mark.parametrize(
    "use", ["", "; irbatch.efficiency.measure_search(lambda query: [query], ['cat'])"]
)
def test_measuring_loads_no_framework(use: str) -> None:
    program = f"import sys, irbatch.efficiency{use}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    loaded = set(done.stdout.decode().split())
    assert not loaded & {"torch", "rich", "pandas", "scipy", "matplotlib", "yaml"}
    assert "numpy" in loaded


def test_the_old_name_is_an_alias() -> None:
    assert irbatch.efficiency.measure is irbatch.efficiency.measure_search
