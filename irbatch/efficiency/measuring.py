"""Timing a search, query by query or batch by batch, and keeping what it answered."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import ModuleType
from typing import Any

from irbatch.array_types import Floats
from irbatch.data.runs import Run
from irbatch.efficiency.answers import compare_answers, read_answers, read_queries
from irbatch.efficiency.checks import check_count, of_system, refuse, require
from irbatch.efficiency.hardware import Hardware
from irbatch.efficiency.indexing import Indexing
from irbatch.efficiency.latency import CLOSED, Latency
from irbatch.efficiency.quantities import QUANTITIES
from irbatch.efficiency.readings import Paths, model_size, size_on_disk
from irbatch.efficiency.record import EfficiencyRecord
from irbatch.efficiency.timing import (
    Calls,
    loop_for,
    mean_flops,
    time_calls,
    time_throughput,
    torch_flops,
)
from irbatch.errors import kind_of, many, shown
from irbatch.report.numbers import show_quantity
from irbatch.runtime.progress import steps_on_bar
from irbatch.statistics.resampling import check_level

COMPARED = str | bytes | int | float  # kinds of queries that are known to be alike


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

    def __repr__(self) -> str:
        record = self.record
        said = f"{many(record.n_queries or 0, 'query')}, batch size {record.batch_size}"
        lines = [f"<Measurement of {shown(record.system)}: {said}, {many(record.repeat, 'repeat')}"]
        if record.latency is not None:
            times = {name: getattr(record.latency, name) for name in ("mean", "p50", "p95", "p99")}
            parts = ", ".join(f"{name} {show_quantity(each)}" for name, each in times.items())
            lines.append(f"  latency {parts} ms a call, {record.latency.loop} loop")
        if record.throughput is not None:
            lines.append(f"  throughput {show_quantity(record.throughput)} queries/s")
        for name in ("peak_memory", "peak_gpu_memory", "children_memory"):
            if value := getattr(record, name):  # of children 0 says nothing
                lines.append(f"  {QUANTITIES[name].label} {value:,.0f} MB")
        if record.cost_per_million is not None:
            cost = f"cost {show_quantity(record.cost_per_million)} {record.currency or ''}".rstrip()
            lines.append(f"  {cost} per million queries")
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
    flops: float | Callable[[Any], float] | None = None,
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
    calls, which nothing disturbs; without a warm-up it lacks what a call takes and gives back. On
    systems other than Linux it is the most since the process began. What one system has loaded
    counts for the next that the process measures: a process each tells them apart.

    Memory on accelerators is that of torch's tensors, without its cache, or else what NVIDIA's
    driver counts for the process and its children, where nvidia-ml-py is installed
    (``irbatch[nvml]``). On Linux children's memory is the most that was seen of them together, and
    pages that they share count for each; their CPU time is exact where they have ended, and else
    to some 10 ms.

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
        flops: floating-point operations of a query; or a function from a query to them, called
            after the timed calls.
        model: a ``torch.nn.Module`` that `search` calls. Where `flops` are not given, torch counts
            those of some more calls, which answer the first 32 queries: of matrix products,
            convolutions and attention. `model_memory` is the size of its parameters and buffers.
        model_memory, index_memory: in MB (10⁶ bytes), where you know better.
        model_path, index_path: files and folders, whose sizes are the sizes on disk.
        indexing: what `measure_indexing` found; its size on disk, where there is no `index_path`.
        level, draws, seed: of the latencies' intervals, see `Latency.from_samples`.
        progress: show a bar in a notebook or on standard error; default: in a notebook, and where
            standard error is a terminal and rich is installed.

    Raises:
        InputError: before anything is called, naming the system and the argument, if an argument
            is wrong; naming the query, and the document, if an answer is not one of the above or a
            score is not a number; naming it after the first call, if the first answer is wrong.
        ImportError: naming the extra, when a bar is wanted and rich is not installed.

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
            raise refuse(source, argument, f"is {kind_of(value)}, not to be called", value)
    ids, asked = read_queries(source, queries)
    torch = sys.modules.get("torch")  # which every model has loaded
    if model is not None and (torch is None or not isinstance(model, torch.nn.Module)):
        raise refuse(source, "model", f"is {kind_of(model)}, not a torch.nn.Module", model)
    if hardware is None or isinstance(hardware, str):
        hardware = Hardware.here(hardware)
    require(source, warmup=warmup, draws=draws, seed=seed)
    warm = None if warmup_queries is None else read_queries(f"warm-up of {source}", warmup_queries)
    if indexing is not None and not isinstance(indexing, Indexing):
        raise refuse(source, "indexing", f"is {kind_of(indexing)}, no Indexing", indexing)
    built: dict[str, Any] = {} if indexing is None else indexing.fields
    disk = size_on_disk(source, "index_path", index_path)
    record = EfficiencyRecord(
        system=name,
        dataset=dataset,
        hardware=hardware,
        n_queries=len(ids),
        batch_size=batch_size,
        warmup=warmup,
        repeat=repeat,
        throughput_batch_size=throughput_batch_size,
        model_memory=model_memory,
        index_memory=index_memory,
        model_disk=size_on_disk(source, "model_path", model_path),
        **{**built, "index_disk": disk} if disk is not None else built,
        flops=None if callable(flops) else flops,
        price_per_hour=price_per_hour,
        currency=currency,
    )
    check_level(level)
    drawn = {"draws": draws, "seed": seed}.items()
    drawing = {argument: check_count(source, argument, n, least=0) or 0 for argument, n in drawn}
    answer_of, takes_list = f"answer of {shown(name)}", record.batch_size > 1
    calls = Calls(answer_of, search, ids, asked, record.batch_size, takes_list)
    many_calls = _many_calls(source, calls, search_many, record.throughput_batch_size)
    record = replace(record, warmed_queries=_count_warmed(record, asked, warm and warm[1]))
    with loop_for(source, search, search_many) as loop:
        calls, many_calls = calls.within(loop), many_calls and many_calls.within(loop)
        run, times, measured = _make_calls(calls, many_calls, warm, record, model, flops, progress)
    latency = replace(Latency.from_samples(times, level=level, **drawing), loop=CLOSED)
    return Measurement(replace(record, latency=latency, **measured), run, times)


def _make_calls(
    calls: Calls,
    many_calls: Calls | None,
    warm: tuple[list[Any], list[Any]] | None,
    record: EfficiencyRecord,
    model: Any,
    flops: Any,
    progress: bool | None,
) -> tuple[Run, Floats, dict[str, Any]]:
    """Return the run, ms ``(repeat, calls)``, and fields of the record."""
    first = warm and replace(calls, ids=warm[0], queries=warm[1])
    with steps_on_bar(progress) as step:
        measured, times, answers = time_calls(calls, first, record, step)
        if many_calls is not None:
            first = warm and replace(many_calls, ids=warm[0], queries=warm[1])
            measured["throughput"], others = time_throughput(many_calls, first, record, step)
        if flops is None and model is not None:
            measured["flops"] = torch_flops(calls)
    if model is not None and record.model_memory is None:
        measured["model_memory"] = model_size(model)
    run = Run(read_answers(calls.source, calls.ids, answers), record.system)
    if many_calls is not None:
        compare_answers(record.system, run.rankings, read_answers(calls.source, calls.ids, others))
    if callable(flops):
        measured["flops"] = mean_flops(of_system(record.system), flops, calls)
    return run, times, measured


def _count_warmed(record: EfficiencyRecord, timed: list[Any], warm: list[Any] | None) -> int:
    """Count the timed queries that the warm-up asks; of its own queries texts and numbers."""
    most = (record.warmup or 0) * record.batch_size
    if warm is None:
        return min(most, len(timed))
    asked = {each for each in warm[:most] if isinstance(each, COMPARED)}
    return sum(isinstance(each, COMPARED) and each in asked for each in timed)


def name_of(search: Any) -> str:
    """Name what has no name given: a function, or the class that a method or an object is of."""
    while isinstance(search, partial):
        search = search.func
    owner = getattr(search, "__self__", None)
    if isinstance(owner, ModuleType):  # of what is written in C
        owner = None
    name = getattr(search, "__name__", None)
    if isinstance(name, str) and name != "<lambda>" and owner is None:
        return name
    named = search if owner is None else owner
    return (named if isinstance(named, type) else type(named)).__name__


def _many_calls(source: str, calls: Calls, search_many: Any, size: int | None) -> Calls | None:
    """Return the calls of the throughput; None where it is that of the timed ones."""
    if size is None:
        if search_many is not None:
            raise refuse(source, "throughput_batch_size", "is missing: search_many needs it", None)
        return None
    if search_many is None and not calls.takes_list:
        why = "search takes one query, and throughput_batch_size needs what takes a list"
        raise refuse(source, "search_many", f"is missing: {why}", None)
    return replace(calls, search=search_many or calls.search, size=size, takes_list=True)
