"""Timing a search, query by query or batch by batch, and keeping what it answered."""

from __future__ import annotations

import importlib
import inspect
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from os import PathLike
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.runs import Run
from irbatch.efficiency.answers import Ranking, read_answers, read_queries, split_answers
from irbatch.efficiency.fields import Whole, check_fields, check_value, field_error, only_known
from irbatch.efficiency.quantities import of_system
from irbatch.efficiency.readings import (
    BETWEEN_CALLS,
    IN_WARM_UP,
    MemoryWatch,
    Paths,
    Watch,
    model_size,
    size_on_disk,
)
from irbatch.efficiency.record import CLOSED, EfficiencyRecord, Hardware, Latency
from irbatch.errors import ErrorsIn, kind_of, many, shown, warn
from irbatch.report.numbers import show_quantity
from irbatch.runtime.numbers import check_whole
from irbatch.runtime.progress import Step, steps_on_bar
from irbatch.statistics.resampling import check_level

MILLISECOND, SECOND = 1e6, 1e9  # in nanoseconds
NAMED = 5  # queries of a call that failed
COUNTED = 32  # queries whose floating-point operations torch counts
FEWEST = 5  # calls on both sides: the median of fewer is that of a cold start
FACTOR = 2.0  # between two medians that differ much
LEAST = 0.1  # ms between them: of less the caches of the processor are the reason
ALIKE = 0.9  # share of documents that two answers have in common
COMPARED = str | bytes | int | float  # kinds of queries that are known to be alike


# ---------------------------------------------------------------- calls


@dataclass(frozen=True)
class Calls:
    """The calls that answer all queries once."""

    source: str  # what errors call the answers
    search: Callable[[Any], Any]
    ids: list[Any]
    queries: list[Any]
    size: int  # queries that a call answers; the last may be left fewer
    takes_list: bool  # whether `search` takes a list of queries, not one
    loop: Any = None  # an `asyncio.Runner`, where `search` is `async def`

    def __len__(self) -> int:
        return -(-len(self.ids) // self.size)

    def ids_of(self, number: int) -> list[Any]:
        """Return the ids of the queries that a call answers."""
        return self.ids[number * self.size : (number + 1) * self.size]

    def time(self, number: int) -> tuple[int, Any]:
        """Make a call; return how many nanoseconds it took, and what came back."""
        queries: Any = self.queries[number * self.size : (number + 1) * self.size]
        if not self.takes_list:
            (queries,) = queries
        search, clock = self.search, time.perf_counter_ns
        try:
            if self.loop is not None:
                return self.loop.run(self._await(queries))
            begin = clock()
            answer = search(queries)
            end = clock()
        except Exception as problem:
            ids = self.ids_of(number)
            named = ", ".join(map(shown, ids[:NAMED])) + (", …" if len(ids) > NAMED else "")
            problem.add_note(f"in the call for {many(len(ids), 'query')}: {named}")
            raise
        return end - begin, answer

    async def _await(self, queries: Any) -> tuple[int, Any]:
        """Time a call within the loop, that what the loop itself takes is not timed."""
        clock = time.perf_counter_ns
        begin = clock()
        answer = await self.search(queries)
        end = clock()
        return end - begin, answer

    def within(self, loop: Any) -> Calls:
        """Return the calls as they are made where this loop is, which only some need."""
        return replace(self, loop=loop if is_async(self.search) else None)

    def answers(self, number: int, answer: Any) -> list[Any]:
        """Return what a call returned as a list, an answer to each of its queries."""
        if not self.takes_list:
            return [answer]
        return split_answers(self.source, self.ids_of(number), answer)

    def warm_up(self, count: int, step: Step) -> dict[int, int]:
        """Make calls that do not count; return each call's number and the ns that it first took.

        The first answer is checked, as all may be of its kind.
        """
        first: dict[int, int] = {}
        for i in range(count):
            number = i % len(self)
            taken, answer = self.time(number)
            first.setdefault(number, taken)
            if i == 0:
                self.check(number, answer)
            step("warm-up", i + 1, count)
        return first

    def check(self, number: int, answer: Any) -> None:
        """Reject what a call returned, if it is not an answer to each of its queries."""
        read_answers(self.source, self.ids_of(number), self.answers(number, answer))

    def time_all(
        self,
        step: Step,
        what: str,
        *,
        checks: bool = False,
        look: Callable[[], None] = lambda: None,
    ) -> tuple[Ints, list[Any]]:
        """Make all calls; return the nanoseconds that each took, and what came back.

        After each `look` is called; with `checks` the first answer is checked at once.
        """
        times, answers = np.zeros(len(self), np.int64), []
        for number in range(len(self)):
            times[number], answer = self.time(number)
            if checks and number == 0:
                self.check(number, answer)
            answers.append(answer)
            look()
            step(what, number + 1, len(self))
        return times, answers

    def list_answers(self, answers: list[Any]) -> list[Any]:
        """Return an answer to each query, of what all calls returned."""
        return [one for number, some in enumerate(answers) for one in self.answers(number, some)]

    def asking(self, queries: tuple[list[Any], list[Any]] | None) -> Calls:
        """Return calls for other queries, ids and queries, if there are some."""
        return replace(self, ids=queries[0], queries=queries[1]) if queries else self


def is_async(search: Any) -> bool:
    """Tell whether calls are to be awaited."""
    return inspect.iscoroutinefunction(search) or inspect.iscoroutinefunction(
        getattr(type(search), "__call__", None)  # noqa: B004 - it may be `async def`
    )


def loop_for(source: str, *searches: Any) -> AbstractContextManager[Any]:
    """Return the loop that calls are awaited in, to be entered; None is in it if none needs it."""
    if not any(map(is_async, searches)):
        return nullcontext()
    asyncio = importlib.import_module("asyncio")
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.Runner()
    why = "is async def, and a loop is running here already: measure it in another thread"
    raise field_error(source, "search", f"{why}, as with asyncio.to_thread", searches[0])


def name_of(search: Any) -> str:
    """Name a function, or the class of an object or a method's object."""
    while isinstance(search, partial):
        search = search.func
    owner, name = getattr(search, "__self__", None), getattr(search, "__name__", "")
    if owner is None and str(name).isidentifier():
        return str(name)
    return type(search if owner is None else owner).__name__


def here(hardware: Hardware | str | None) -> Hardware:
    """Return what a system runs on: this machine, unless it is described."""
    if hardware is None or isinstance(hardware, str):
        return Hardware.here(hardware)
    return hardware


# ---------------------------------------------------------------- measuring a search


@dataclass(frozen=True, eq=False)
class Measurement:
    """What `measure_search` found: ``record, run = measure_search(…)``.

    Attributes:
        record: what the system takes.
        run: what it answered, to be evaluated.
        latencies: float64 ``(repeat, calls)``, ms of each call.
    """

    record: EfficiencyRecord
    run: Run
    latencies: Floats

    def __iter__(self) -> Iterator[Any]:
        return iter((self.record, self.run))

    def to_json(self, path: str | PathLike[str] | None = None) -> str:
        """Return the record as JSON, or also write it; `EfficiencyRecord.from_json` reads it."""
        return self.record.to_json(path)

    def __repr__(self) -> str:
        record, latency = self.record, self.record.latency
        said = f"{many(record.n_queries or 0, 'query')}, batch size {record.batch_size}"
        lines = [f"<Measurement of {shown(record.system)}: {said}, {many(record.repeat, 'repeat')}"]
        if latency is not None:
            times = {name: getattr(latency, name) for name in ("mean", "p50", "p95", "p99")}
            parts = ", ".join(f"{name} {show_quantity(time)}" for name, time in times.items())
            lines.append(f"  latency {parts} ms a call, {latency.loop} loop")
        if record.throughput is not None:
            lines.append(f"  throughput {show_quantity(record.throughput)} queries/s")
        return "\n".join(lines) + ">"


def measure_search(
    search: Callable[[Any], Any],
    queries: Mapping[Any, Any] | Iterable[Any],
    *,
    system: str | None = None,
    batch_size: int = 1,
    warmup: int = 10,
    warmup_queries: Mapping[Any, Any] | Iterable[Any] | None = None,
    repeat: int = 1,
    search_many: Callable[[list[Any]], Iterable[Any]] | None = None,
    throughput_batch_size: int | None = None,
    dataset: str | None = None,
    hardware: Hardware | str | None = None,
    price_per_hour: float | None = None,
    currency: str | None = None,
    flops: float | None = None,
    model: Any = None,
    model_memory: float | None = None,
    index_memory: float | None = None,
    model_path: Paths | None = None,
    index_path: Paths | None = None,
    indexing: Indexing | None = None,
    level: float = 0.05,
    draws: int = 2000,
    seed: int = 0,
    progress: bool | None = None,
) -> Measurement:
    """Time a search in a closed loop, and keep what it answers.

    After the warm-up every call is timed alone, one after the other. So no query waits for another,
    as they do where they come whether others are answered or not: `measure_load` has them come so.

    Nothing stands between the two readings of the clock but the call: answers are read, and a bar
    is drawn, outside. So a search has to return what is ready: on an accelerator it waits for its
    result, as ``.cpu()`` does; and memory that the next call writes to again has to be copied
    first.

    An answer is a mapping of documents to scores; (document, score) pairs; document ids from the
    best on, in a sequence or an array; or a tuple of two arrays, ids and scores. Ids alone score n,
    n - 1, … 1. Answers of the last pass make the run.

    A search that is ``async def`` is awaited, one call after the other, in an event loop of its
    own; the loop's time does not count.

    CPU time and memory are those of the calls of `search`, by the whole process with all of its
    threads. The peak of memory is that from the first call of the warm-up on. Where calls take more
    than the process has ever held it is exact, by the mark that the operating system keeps, which
    is left as it is. Else it is the most that was seen: every ms of the warm-up, and between timed
    calls, which nothing disturbs; without a warm-up it lacks what a call takes and gives back.
    What one system has loaded counts for the next that the process measures: a process each tells
    them apart.

    Memory on accelerators is that of torch's tensors, without its cache, or else what NVIDIA's
    driver counts for the process and its children, where nvidia-ml-py is installed
    (``irbatch[nvml]``). Children's memory is the most that was seen of them together, and pages
    that they share count for each; their CPU time is exact where they have ended, and else to some
    10 ms.

    Where calls take half as long, or twice, when they are made again (median of 5 or more, and 0.1
    ms of difference), a warning says so with both times: a search that keeps answers is timed by
    them, as the warm-up and the passes ask the same queries, and one that is still warming up by
    its start. A single pass after a warm-up of other queries shows neither.

    Args:
        search: answers a query: ``search(query)``. With a larger `batch_size` it is given a list of
            queries, and returns a sequence of as many answers, in their order.
        queries: a mapping (or a series of pandas) of ids to queries; or queries alone, such as the
            rows of a matrix, whose ids are their places 0, 1, ….
        system: its name, and the run's; default: the function's, or the class that a method or an
            object is of.
        batch_size: how many queries a call answers. Those left at the end are a call like others.
        warmup: calls before the timed ones.
        warmup_queries: what these ask, from the start again where they are fewer; default: the
            first of `queries`. The record says how many of the timed queries they asked.
        repeat: how often all queries are timed, one pass after the other.
        search_many: answers a list of queries, where `search` doesn't; for the throughput. What it
            answers is compared with the run, and not kept.
        throughput_batch_size: time one more pass, with so many queries a call, and take the
            throughput from there; default: it is that of the timed calls.
        hardware: what it runs on, or what the provider calls this machine; default: this machine.
        dataset, price_per_hour, currency: as in `EfficiencyRecord`.
        flops: floating-point operations of a query.
        model: a ``torch.nn.Module`` that `search` calls. Where `flops` are not given, torch counts
            those of some more calls, which answer the first 32 queries: of matrix products,
            convolutions and attention. `model_memory` is the size of its parameters and buffers.
        model_memory, index_memory: in MB (10⁶ bytes), where you know better.
        model_path, index_path: files and folders, whose sizes are the sizes on disk.
        indexing: what `measure_indexing` found; its size on disk, where there is no `index_path`.
        level, draws, seed: of the latencies' intervals, see `Latency.from_samples`.
        progress: show a bar of rich; default: where standard error is a terminal and rich is
            installed.

    Raises:
        InputError: before anything is called, naming the system and the argument, if an argument
            is wrong; naming the query, and the document, if an answer is not one of the above or a
            score is not a number; naming it after the first call, if the first answer is wrong.
        ImportError: naming the extra, when psutil is not installed, or a bar is wanted and rich is
            not.

    What `search` raises is raised as it is, with a note that names the queries of the call.

    >>> documents = {"d1": "a cat and a dog", "d2": "a cat"}
    >>> def count_words(query):
    ...     return {d: sum(map(text.split().count, query)) for d, text in documents.items()}
    >>> queries = {"q1": ["dog"], "q2": ["cat", "dog"]}
    >>> record, run = measure_search(count_words, queries, progress=False)
    >>> record.system, record.n_queries, record.latency.calls
    ('count_words', 2, 2)
    >>> run.rankings["q2"]
    {'d1': 2.0, 'd2': 1.0}
    >>> import irbatch
    >>> irbatch.evaluate({"q1": {"d1": 1}, "q2": {"d2": 1}}, run, "RR")["RR"]
    0.75
    """
    name = name_of(search) if system is None else system
    source = of_system(name)
    for argument, value in (("search", search), ("search_many", search_many)):
        if not callable(value) and (value is not None or argument == "search"):
            raise field_error(source, argument, f"is {kind_of(value)}, not to be called", value)
    torch = sys.modules.get("torch")  # which every model has loaded
    if model is not None and (torch is None or not isinstance(model, torch.nn.Module)):
        raise field_error(source, "model", f"is {kind_of(model)}, not a torch.nn.Module", model)
    if indexing is not None and not isinstance(indexing, Indexing):
        raise field_error(source, "indexing", f"is {kind_of(indexing)}, not an Indexing", indexing)
    with ErrorsIn(source=source):
        check_value("warmup", Whole, warmup)
        check_level(level)
        draws, seed = check_whole("draws", draws, 0), check_whole("seed", seed, 0)
    ids, asked = read_queries(source, queries)
    warm = None if warmup_queries is None else read_queries(f"warm-up of {source}", warmup_queries)
    built: dict[str, Any] = {} if indexing is None else indexing.fields
    if index_path is not None:
        built["index_disk"] = size_on_disk(source, "index_path", index_path)
    record = EfficiencyRecord(
        system=name,
        dataset=dataset,
        hardware=here(hardware),
        n_queries=len(ids),
        batch_size=batch_size,
        warmup=warmup,
        repeat=repeat,
        throughput_batch_size=throughput_batch_size,
        model_memory=model_memory,
        index_memory=index_memory,
        model_disk=size_on_disk(source, "model_path", model_path),
        **built,
        flops=flops,
        price_per_hour=price_per_hour,
        currency=currency,
    )
    if throughput_batch_size is None and search_many is not None:
        raise field_error(source, "throughput_batch_size", "is missing: search_many needs it", None)
    if throughput_batch_size is not None and search_many is None and record.batch_size == 1:
        why = "search takes one query, and throughput_batch_size needs what takes a list"
        raise field_error(source, "search_many", f"is missing: {why}", None)
    record = replace(record, warmed_queries=_count_warmed(record, asked, warm and warm[1]))
    with loop_for(source, search, search_many) as loop, steps_on_bar(progress) as step:
        answer = f"answer of {shown(name)}"
        calls = Calls(answer, search, ids, asked, record.batch_size, record.batch_size > 1)
        calls = calls.within(loop)
        measured, times, answers = _time_calls(calls, warm, record, step)
        larger = None
        if throughput_batch_size is not None:
            several = replace(calls, size=throughput_batch_size, takes_list=True)
            several = replace(several, search=search_many or search).within(loop)
            several.asking(warm).warm_up(min(warmup, 1), step)
            nanoseconds, answered = several.time_all(step, "throughput")
            measured["throughput"] = _per_second(len(ids), int(nanoseconds.sum()))
            larger = several.list_answers(answered)
        if flops is None and model is not None:
            measured["flops"] = _torch_flops(calls)
    run = Run(read_answers(answer, ids, answers), record.system)
    if larger is not None:
        _compare_answers(record.system, run.rankings, read_answers(answer, ids, larger))
    if model is not None and record.model_memory is None:
        measured["model_memory"] = model_size(model)
    latency = Latency.from_samples(times, level=level, draws=draws, seed=seed)
    return Measurement(
        replace(record, latency=replace(latency, loop=CLOSED), **measured), run, times
    )


def _count_warmed(record: EfficiencyRecord, timed: list[Any], warm: list[Any] | None) -> int:
    """Count the timed queries that the warm-up asks; of its own queries texts and numbers."""
    most = (record.warmup or 0) * record.batch_size
    if warm is None:
        return min(most, len(timed))
    asked = {query for query in warm[:most] if isinstance(query, COMPARED)}
    return sum(isinstance(query, COMPARED) and query in asked for query in timed)


def _time_calls(
    calls: Calls, warm: tuple[list[Any], list[Any]] | None, record: EfficiencyRecord, step: Step
) -> tuple[dict[str, Any], Floats, list[Any]]:
    """Return fields of the record; ms float64 ``(repeats, calls)``; an answer to each query.

    The warm-up asks the queries of `warm`, ids and queries, or else the timed ones.
    """
    memory = MemoryWatch()
    with memory.looking(IN_WARM_UP) if record.warmup else nullcontext():
        first = calls.asking(warm).warm_up(record.warmup or 0, step)
    times = np.zeros((record.repeat, len(calls)), np.int64)
    watch = Watch()
    for turn in range(record.repeat):
        kept: list[Any] = []  # no longer those of the last pass
        checks, what = turn == 0 and not record.warmup, f"pass {turn + 1} of {record.repeat}"
        times[turn], kept = calls.time_all(step, what, checks=checks, look=memory.look)
    measured = {**watch.read(), **memory.read()}
    measured["throughput"] = _per_second(len(calls.ids) * record.repeat, int(times.sum()))
    milliseconds: Floats = times / MILLISECOND
    milliseconds.flags.writeable = False
    again = {} if warm else {number: ns / MILLISECOND for number, ns in first.items()}
    _warn_of_two_kinds(record.system, again, milliseconds)
    return measured, milliseconds, calls.list_answers(kept)


def _per_second(queries: int, nanoseconds: int) -> float | None:
    """Return how many queries were answered in a second; None if the clock stood still."""
    return queries / (nanoseconds / SECOND) if nanoseconds else None


def _compare_answers(
    system: str, rankings: Mapping[Any, Mapping[Any, Any]], others: Mapping[Any, Ranking]
) -> None:
    """Warn where larger calls find more other documents than rounding explains."""
    same = sum(len(ranking.keys() & others[query].keys()) for query, ranking in rankings.items())
    total = sum(max(len(ranking), len(others[query])) for query, ranking in rankings.items())
    if same < ALIKE * total:
        larger = f"larger calls of {shown(system)} find other documents than the timed ones"
        warn(f"{larger}, {same} of {total} are the same: their throughput is of something else")


def _torch_flops(calls: Calls) -> float | None:
    """Return the mean FLOPs of a query that torch counts in this thread, over the first calls.

    Where it counts none, warn and return None.
    """
    counter = importlib.import_module("torch.utils.flop_counter")
    queries = 0
    with counter.FlopCounterMode(display=False) as counting:
        for number in range(min(max(COUNTED // calls.size, 1), len(calls))):
            calls.time(number)
            queries += len(calls.ids_of(number))
    total = int(counting.get_total_flops())
    if total:
        return total / queries
    why = "search doesn't call the model, or calls it in another thread or process"
    warn(f"torch counted no FLOPs: {why}; flops= says what they are")
    return None


def _warn_of_two_kinds(system: str, warm: Mapping[int, float], times: Floats) -> None:
    """Warn where calls that were made before take another time than when they were made first.

    Args:
        system: whose times they are.
        warm: ms that timed calls took when the warm-up made them first, by their number.
        times: ms ``(passes, calls)``.
    """
    asked = np.array(list(warm), np.int64)
    fresh = np.delete(times[0], asked)
    sides = [("the warm-up", np.array(list(warm.values())), times[0, asked], fresh)]
    if len(times) > 1:
        sides.append(("the first pass", times[0], np.median(times[1:], axis=0), fresh[:0]))
    for where, first, again, others in sides:
        if len(first) < FEWEST:
            continue
        before, after = float(np.median(first)), float(np.median(again))
        # Where calls that nothing made before are as quick, it is the beginning that was slow.
        slow_start = len(others) and np.median(others) < FACTOR * after
        much = max(before, after) >= FACTOR * min(before, after) and abs(before - after) >= LEAST
        if much and not slow_start:
            said = f"{show_quantity(before)} ms in {where}, and {show_quantity(after)} ms later"
            why = "it keeps answers, its warm-up was not over, or the machine did other work"
            hint = "warmup_queries=, a longer warmup= or repeat=1 may tell"
            kinds = f"times of {shown(system)} are of two kinds: calls took {said} (medians)"
            warn(f"{kinds}; {why} ({hint})")
            return


# ---------------------------------------------------------------- building an index


@dataclass(frozen=True, kw_only=True)
class Indexing:
    """What building an index took, by `measure_indexing`.

    Attributes:
        index: what the function returned that built it.
        time: in s.
        memory: the most that the process held meanwhile, and its children, in MB.
        disk: what the index takes on disk, in MB.
    """

    index: Any = field(default=None, repr=False)  # it may be large
    time: float
    memory: float | None = None
    disk: float | None = None

    def __post_init__(self) -> None:
        check_fields(self, "indexing")

    @property
    def fields(self) -> dict[str, float]:
        """The fields of an `EfficiencyRecord` that are known."""
        names = {"indexing_time": "time", "indexing_memory": "memory", "index_disk": "disk"}
        return only_known({name: getattr(self, own) for name, own in names.items()})


def measure_indexing(build: Callable[[], Any], *, index_path: Paths | None = None) -> Indexing:
    """Build an index once, and tell what that took.

    Memory is read as `measure_search` reads it, every 10 ms where it stays below what the process
    has ever held; to it the most is added that was seen of child processes.

    Args:
        build: builds the index; what it returns is `Indexing.index`.
        index_path: files and folders that are the index on disk, when it is built.

    Raises:
        InputError: naming the argument, before anything is built if `build` can't be called or is
            ``async def``; when it is built, if a path is not there.
        ImportError: naming the extra, when psutil is not installed.

    What `build` raises is raised as it is.

    >>> from irbatch.efficiency import EfficiencyRecord
    >>> built = measure_indexing(lambda: {"cat": ["d1"]})
    >>> built.index
    {'cat': ['d1']}
    >>> EfficiencyRecord(system="words", **built.fields).indexing_time == built.time
    True
    """
    if not callable(build) or is_async(build):
        why = f"is {kind_of(build)}, not to be called"
        if callable(build):
            why = "is async def: give a function that runs it, as with asyncio.run"
        raise field_error("indexing", "build", why, build)
    memory = MemoryWatch()
    with memory.looking(BETWEEN_CALLS):
        begin = time.perf_counter()
        index = build()
        taken = time.perf_counter() - begin
    held = memory.read()
    most = (held["peak_memory"] or 0.0) + (held["children_memory"] or 0.0)
    disk = size_on_disk("indexing", "index_path", index_path)
    return Indexing(index=index, time=taken, memory=most, disk=disk)
