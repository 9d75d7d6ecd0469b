"""Timing a search, query by query or batch by batch, and keeping what it answered; its memory.

Queries come, and answers are given, in many containers.
"""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.ids import first_repeated, id_kind, kind_of_documents, same_kind
from irbatch.data.runs import Run
from irbatch.efficiency.interchange import field_error, of_system
from irbatch.efficiency.record import CLOSED, EfficiencyRecord, Hardware, Latency
from irbatch.errors import ErrorsIn, InputError, imported, kind_of, many, shown
from irbatch.report.text import show_quantity
from irbatch.runtime.arrays import is_on_accelerator, is_tensor, to_numpy
from irbatch.runtime.numbers import check_keywords, number_errors

try:
    import resource
except ImportError:  # on Windows
    resource = None  # type: ignore[assignment]

if TYPE_CHECKING:
    import asyncio

MILLISECOND, SECOND = 1e6, 1e9  # in nanoseconds
MEGA = 1e6  # bytes
INTERVAL = 0.01  # seconds from one look at the memory to the next
Ranking = dict[Any, float]

ABOUT = (  # fields of a record that measuring a search doesn't tell
    *("dataset", "source", "hardware", "price_per_hour", "currency"),
    *("flops", "energy", "emissions", "model_memory", "index_memory", "model_disk", "index_disk"),
    *("indexing_time", "indexing_memory", "throughput"),
)
FORMS = (
    "an answer is a mapping of documents to scores, (document, score) pairs, document ids from the "
    "best on, or a tuple of two arrays, ids and scores"
)


class Caller:
    """A search, what it is asked, and the record of both before it is measured.

    It checks the arguments of a function that measures; `own` are more fields of the record.
    """

    def __init__(
        self, function: Any, search: Any, queries: Any, system: str | None, about: Any, **own: Any
    ) -> None:
        check_keywords(function, about, ABOUT)
        name = _name_of(_without_partial(search)) if system is None else system
        if not callable(search):
            problem = f"is {kind_of(search)}, not to be called"
            raise field_error(of_system(name), "search", problem, search)
        self.search = search  # of a batch size of more than one, it takes a list
        self.ids, self.queries = read_queries(of_system(name), queries)
        hardware = about.get("hardware")
        if hardware is None or isinstance(hardware, str):
            about = {**about, "hardware": Hardware.here(hardware)}
        self.record = EfficiencyRecord(system=name, n_queries=len(self.ids), **own, **about)

    @property
    def source(self) -> str:
        """What errors call the answers."""
        return f"answer of {shown(self.record.system)}"

    @property
    def is_async(self) -> bool:
        """Whether calls are to be awaited."""
        search = _without_partial(self.search)
        return any(map(inspect.iscoroutinefunction, (search, search.__call__)))

    def loop(self) -> AbstractContextManager[asyncio.Runner | None]:
        """Return the loop that calls are awaited in, to be entered; None is in it if none is."""
        if not self.is_async:
            return nullcontext()
        import asyncio

        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.Runner()
        why = "is async def, and a loop is running here already: measure it in another thread"
        problem = f"{why}, as with asyncio.to_thread"
        raise field_error(of_system(self.record.system), "search", problem, self.search)

    def ask(
        self,
        runner: asyncio.Runner | None,
        calls: int | None = None,
        look: Callable[[], None] = lambda: None,
    ) -> tuple[Ints, list[Any]]:
        """Return the nanoseconds that each call took, and an answer to each query.

        More calls than all queries take begin with the first query again; `look` follows each.
        """
        size = self.record.batch_size
        all_calls = -(-len(self.ids) // size)
        count = all_calls if calls is None else calls
        times, answers = np.zeros(count, np.int64), []
        for number in range(count):
            begin = number % all_calls * size
            part = slice(begin, begin + size)
            ids, asked = self.ids[part], self.queries[part]
            try:
                times[number], answer = self._time(runner, asked if size > 1 else asked[0])
            except Exception as problem:
                problem.add_note(f"in the call for {many(len(ids), 'query')}, {ids[0]!r}")
                raise
            some = split_answers(self.source, ids, answer) if size > 1 else [answer]
            if number == 0:
                read_answers(self.source, ids, some)
            answers += some
            look()
        return times, answers

    def _time(self, runner: asyncio.Runner | None, argument: Any) -> tuple[int, Any]:
        search, clock = self.search, time.perf_counter_ns
        if runner is not None:

            async def call() -> tuple[int, Any]:  # what the loop itself takes is not timed
                begin = clock()
                answer = await search(argument)
                return clock() - begin, answer

            return runner.run(call())
        begin = clock()
        answer = search(argument)
        return clock() - begin, answer


def _without_partial(function: Any) -> Any:
    while isinstance(function, partial):
        function = function.func
    return function


def _name_of(search: Any) -> str:
    """Name a function, or the class of an object or a method's object."""
    owner, name = getattr(search, "__self__", None), getattr(search, "__name__", "")
    if owner is None and str(name).isidentifier():
        return str(name)
    return type(search if owner is None else owner).__name__


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

    def __repr__(self) -> str:
        record, latency = self.record, self.record.latency or Latency()
        size = f"{many(record.n_queries or 0, 'query')}, batch size {record.batch_size}"
        p50, p99 = (show_quantity(ms or 0.0) for ms in (latency.p50, latency.p99))
        rate = show_quantity(record.throughput or 0.0)
        times = f"p50 {p50} ms, p99 {p99} ms a call, {rate} queries/s"
        return f"<Measurement of {shown(record.system)}: {size}; {times}>"


def measure_search(
    search: Callable[[Any], Any],
    queries: Mapping[Any, Any] | Iterable[Any],
    *,
    system: str | None = None,
    batch_size: int = 1,
    warmup: int = 10,
    repeat: int = 1,
    **about: Any,
) -> Measurement:
    """Time a search in a closed loop, and keep what it answers.

    After the warm-up every call is timed alone, one after the other, so that no query waits for
    another; in `measure_load` they come at a rate. One that is ``async def`` is awaited in an event
    loop of its own, whose time does not count. The clock is read right before and after the call:
    on an accelerator a search waits for its result, as ``.cpu()`` does. One that keeps answers is
    faster where the same queries come again: with ``warmup=0`` and a single pass none does.

    An answer is a mapping of documents to scores; (document, score) pairs; document ids from the
    best on, in a sequence or an array; or a tuple of two arrays, ids and scores. Ids alone score n,
    n - 1, … 1. Answers of the last pass make the run, so none may be memory that a later call
    writes to.

    CPU time and memory are those of the whole process, so what one system has loaded counts for the
    next one that it measures. The peak of memory, from the warm-up on, is exact where calls take
    more than the process has ever held; else it is the most that was seen every 10 ms of the
    warm-up and between timed calls. Memory on accelerators is that of torch's tensors, without its
    cache, whose mark of the most begins anew. What child processes take doesn't count.

    Args:
        search: answers a query: ``search(query)``. With a larger `batch_size` it is given a list of
            queries, and returns a sequence of as many answers, in their order.
        queries: a mapping (or a series of pandas) of ids to queries; or queries alone, such as the
            rows of a matrix, whose ids are their places 0, 1, ….
        system: its name, and the run's; default: the function's, or the class that a method or an
            object is of.
        batch_size: how many queries a call answers. Those left at the end are a call like others.
        warmup: calls of the first of `queries` before the timed ones.
        repeat: how often all queries are timed, one pass after the other.
        **about: fields of the `EfficiencyRecord` that calls don't tell: ``dataset``, ``source``,
            ``price_per_hour``, ``currency``, ``flops``, ``index_disk``, ``indexing_time`` and
            others; ``hardware``, or what the provider calls this machine; default: this machine;
            ``throughput``, where larger calls reach a higher one than the timed calls.

    Raises:
        InputError: before anything is called, naming the system and the argument, if an argument
            is wrong; naming the query, and the document, if an answer is not one of the above or a
            score is not a number; naming it after the first call, if the first answer is wrong.
        ImportError: naming the extra, when psutil is not installed.

    What `search` raises is raised as it is, with a note that names the queries of the call.

    >>> documents = {"d1": "a cat and a dog", "d2": "a cat"}
    >>> def count_words(query):
    ...     return {d: sum(map(text.split().count, query)) for d, text in documents.items()}
    >>> queries = {"q1": ["dog"], "q2": ["cat", "dog"]}
    >>> record, run = measure_search(count_words, queries)
    >>> record.system, record.n_queries, record.latency.calls
    ('count_words', 2, 2)
    >>> run.rankings["q2"]
    {'d1': 2.0, 'd2': 1.0}
    >>> import irbatch
    >>> irbatch.evaluate({"q1": {"d1": 1}, "q2": {"d2": 1}}, run, "RR")["RR"]
    0.75
    """
    own = {"batch_size": batch_size, "warmup": warmup, "repeat": repeat}
    caller = Caller(measure_search, search, queries, system, about, **own)
    record, times = caller.record, list[Ints]()
    with caller.loop() as runner:
        watch = Watch()
        with watch.looking():
            caller.ask(runner, warmup)
        begin, cpu_begin = time.perf_counter(), time.process_time()
        for _ in range(record.repeat):
            answers: list[Any] = []  # no longer those of the last pass
            taken, answers = caller.ask(runner, look=watch.look)
            times.append(taken)
        wall, cpu = time.perf_counter() - begin, time.process_time() - cpu_begin
    milliseconds: Floats = np.stack(times) / MILLISECOND
    milliseconds.flags.writeable = False
    measured: dict[str, Any] = {**watch.memory(), "wall_time": wall}
    if wall:  # or the clock stood still
        measured["cpu_used"] = cpu / wall
    spent = sum(int(taken.sum()) for taken in times)
    if spent and record.throughput is None:
        measured["throughput"] = len(caller.ids) * record.repeat / (spent / SECOND)
    measured["latency"] = replace(Latency.from_samples(milliseconds), loop=CLOSED)
    run = Run(read_answers(caller.source, caller.ids, answers), record.system)
    return Measurement(replace(record, **measured), run, milliseconds)


# ---------------------------------------------------------------- memory


class Watch:
    """Tells the most memory that this process holds from now on; see `measure_search`.

    The system's mark of the most that was ever held is exact where it rises; else the most that was
    seen here counts. Of accelerators torch has a mark, which begins anew.
    """

    def __init__(self) -> None:
        self._process = imported("measuring", "efficiency", "psutil").Process()
        self._due = 0.0
        self._before, self._most = self.most_held(), self.held()
        for torch, device in _accelerators():
            torch.cuda.reset_peak_memory_stats(device)

    def held(self) -> float:
        """Return the memory that this process holds, in MB."""
        return self._process.memory_info().rss / MEGA

    def most_held(self) -> float:
        """Return the most that it ever held, in MB, as the system marks it; 0 if it doesn't."""
        if resource is None:
            return getattr(self._process.memory_info(), "peak_wset", 0) / MEGA
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most * (1 if sys.platform == "darwin" else 1024) / MEGA

    def look(self) -> None:
        """Look how much is held now, if the last look is some time ago."""
        now = time.perf_counter()
        if now >= self._due:
            self._most = max(self._most, self.held())
            self._due = now + INTERVAL

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look all the while, in a thread: not while anything short is timed."""
        done = threading.Event()

        def look() -> None:
            while not done.wait(INTERVAL):
                self.look()

        thread = threading.Thread(target=look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
            self._due = 0.0

    def memory(self) -> dict[str, float | None]:
        """Return the most, in MB, as fields of a record; that of several accelerators added up."""
        mark = self.most_held()
        gpus = sum(torch.cuda.max_memory_allocated(device) for torch, device in _accelerators())
        return {
            "peak_memory": mark if mark > self._before else self._most,
            "peak_gpu_memory": gpus / MEGA or None,
        }


def _accelerators() -> Iterator[tuple[Any, int]]:
    """Yield torch, if it is loaded, and the number of each accelerator that it uses."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_initialized():
        yield from ((torch, device) for device in range(torch.cuda.device_count()))


# ---------------------------------------------------------------- queries and answers


def read_queries(source: str, queries: Any) -> tuple[list[Any], list[Any]]:
    """Return ids of queries, and the queries; those without ids are numbered from 0."""
    from irbatch.data.frames import by_label  # not for those who only read records

    with ErrorsIn(source=source):
        queries = by_label(queries)
        several = isinstance(queries, Iterable) and not hasattr(queries, "columns")  # of a table
        if not several or isinstance(queries, str | bytes | set | frozenset):
            expected = "a mapping of ids to queries, or several queries in order, as in a list"
            raise InputError(f"queries are {kind_of(queries)}, not {expected}", value=queries)
        is_named = isinstance(queries, Mapping)
        values = list(queries.values() if is_named else queries)
        ids = list(queries if is_named else range(len(values)))
        same_kind(ids, "query", source)
        if not values:
            raise InputError("there are no queries", value=queries)
    return ids, values


def split_answers(source: str, ids: Sequence[Any], answers: Any) -> list[Any]:
    """Return the answers of a call that answered several queries."""
    problem = f"{shown(answers)} is not a list of answers, one a query"
    if _is_sequence(answers) or _is_array(answers):
        if len(answers) == len(ids):
            return list(answers)
        problem = f"{many(len(answers), 'answer')} to {many(len(ids), 'query')}"
    problem = f"queries {ids[0]!r} to {ids[-1]!r}: {problem}"
    raise InputError(problem, source=source, value=answers)


def read_answers(source: str, ids: Sequence[Any], answers: Sequence[Any]) -> dict[Any, Ranking]:
    """Return each query's answer, document to score, in order; ids alone score n, n - 1, … 1."""
    rankings: dict[Any, Ranking] = {}
    for query, answer in zip(ids, answers, strict=True):
        with ErrorsIn(source=source, query=query):
            rankings[query] = _read_answer(answer)
    kind_of_documents(list(rankings), list(rankings.values()), source)
    return rankings


def _read_answer(answer: Any) -> Ranking:
    documents, scores = _columns(answer)
    same_kind(documents, "document", "answer")
    if (repeated := first_repeated(documents)) is not None:
        raise InputError("it is in the answer twice", document=repeated)
    if scores is None:
        scores = range(len(documents), 0, -1)
    elif len(documents) != len(scores):
        raise InputError(f"{many(len(documents), 'document')} and {many(len(scores), 'score')}")
    ranking = dict(zip(documents, scores, strict=True))
    for error in number_errors("score", ((None, *row) for row in ranking.items())):
        raise error
    return {document: float(score) for document, score in ranking.items()}


def _columns(answer: Any) -> tuple[Sequence[Any], Sequence[Any] | None]:
    """Return documents and scores; None where there are only documents."""
    if isinstance(answer, Mapping):
        return list(answer), list(answer.values())
    if isinstance(answer, tuple) and len(answer) == 2:
        if any(map(_is_array, answer)):
            return _items(answer[0]), _items(answer[1])
        if all(isinstance(part, list) for part in answer):
            hint = "put ids and scores into arrays, or pairs into a list"
            raise InputError(f"two lists may be ids and scores, or two pairs: {hint}")
    items = _items(answer)
    if _is_array(answer) or not items or id_kind(type(items[0])):
        return items, None
    for place, pair in enumerate(items):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            problem = f"{shown(pair)}, at place {place}, is not a (document, score) pair"
            raise InputError(f"{problem}; {FORMS}", value=pair)
    return [pair[0] for pair in items], [pair[1] for pair in items]


def _items(values: Any) -> Sequence[Any]:
    """List what a sequence, or an array of one dimension, holds."""
    if _is_sequence(values):
        return values
    if not _is_array(values):
        raise InputError(f"{shown(values)} is not an answer; {FORMS}", value=values)
    if is_on_accelerator(values):  # the clock may have stopped before it was computed
        problem = f"the answer is on {values.device}, where it may come after the call has ended"
        raise InputError(f"{problem}; return it in main memory, as with .cpu()")
    array = to_numpy(values, "answer")
    if array.ndim != 1:
        problem = f"an array of shape {array.shape} is not an answer; {FORMS}"
        raise InputError(problem, value=array.shape)
    return array.tolist()


def _is_sequence(value: Any) -> bool:
    texts = str | bytes | bytearray | memoryview
    return isinstance(value, Sequence) and not isinstance(value, texts)


def _is_array(value: Any) -> bool:
    """Tell arrays, tensors and series from the containers of Python, and from single numbers."""
    if getattr(value, "ndim", 1) == 0:
        return False
    return is_tensor(value) or hasattr(value, "__array__") or hasattr(value, "__dlpack__")
