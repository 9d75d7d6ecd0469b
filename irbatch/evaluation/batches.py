"""The evaluator of a training loop: update with a batch, compute over all of them, reset."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from irbatch.data.frames import pair_series
from irbatch.data.ids import read_query_ids, same_kind
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, many, warnings_kept
from irbatch.evaluation.accumulator import (
    KEEPS,
    REPEATED,
    Accumulator,
    Batch,
    plain,
    reading_state,
)
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.queries import notes_on
from irbatch.evaluation.ranked import evaluate_ids
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.scores import (
    ScoreEvaluator,
    ScoreOptions,
    choose_ties,
    has_no_rows,
)
from irbatch.measures import parse_measures
from irbatch.runtime.arrays import to_numpy, uncompiled
from irbatch.runtime.numbers import check_choice, check_keywords, read_numbers

if TYPE_CHECKING:
    from irbatch.data.items import Items

COLUMNS = ("query_ids", "document_ids", "scores", "grades")
SHAPING = ("ties", "no_relevant", "rel")  # options that states must share to add up
ALIKE = ("format", "measures", "keep", "options")  # in states that add up


class BatchEvaluator:
    """Evaluate batch after batch, and average over all of them.

    What is kept is the values of each query, or with ``keep="sums"`` their exact sums, never
    predictions; only documents that come in columns, whose query may go on, are kept until
    `compute`. An update that raises changes nothing. Threads may share an evaluator.

    Args:
        measures, cutoffs: as in `irbatch.evaluate`.
        keep: ``"queries"``, values by query, or ``"sums"``, a state that is the same size whatever
            comes, and adds up: over processes to the same bits as in one.
        ties: as in `irbatch.evaluate_scores`; documents in columns have ids.
        no_relevant, rel, items, threads, nan: as there.
        repeated: what becomes of a query that comes again with other values: ``"error"``, or the
            ``"first"`` stays. With the same values it is counted once anyway.

    Attributes:
        measures: canonical names.

    Raises:
        InputError: if there is no such measure, or an option has another value than it can have.

    >>> evaluator = BatchEvaluator("RR R@1")
    >>> batch = evaluator.update([[0.9, 0.1], [0.2, 0.6]], positives="diagonal")
    >>> batch["RR"]
    1.0
    >>> batch = evaluator.update([[0.1, 0.9], [0.2, 0.6]], positives="diagonal")
    >>> evaluator.compute().mean()
    {'RR': 0.875, 'R@1': 0.75}
    """

    def __init__(
        self,
        measures: Measures,
        cutoffs: Cutoffs = None,
        *,
        keep: str = "queries",
        ties: str | None = None,
        no_relevant: str = "zero",
        rel: float | None = None,
        repeated: str = "error",
        items: Items | None = None,
        threads: int | None = None,
        nan: str = "error",
    ) -> None:
        check_choice("keep", keep, KEEPS)
        check_choice("repeated", repeated, REPEATED)
        self._measures = parse_measures(measures, cutoffs)
        self.measures = [str(measure) for measure in self._measures]
        shaping: dict[str, Any] = dict(zip(SHAPING, (ties, no_relevant, rel), strict=True))
        more = {**shaping, "items": items, "nan": nan}
        # Of documents without ids, and with them.
        self._scores, self._by_id = (
            ScoreEvaluator(self._measures, document_ids=ids, threads=threads, **more)
            for ids in (None, ())
        )
        self._options = {**more, "keep": keep, "repeated": repeated, "threads": threads}
        self._lock = threading.RLock()  # of everything that changes below
        self.reset()

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept) + len(self._columns.queries)

    def __repr__(self) -> str:
        return f"BatchEvaluator({' '.join(self.measures)!r}): {many(len(self), 'query')} so far"

    @uncompiled
    def update(self, scores: Any, relevance: Any = None, **batch: Unpack[ScoreOptions]) -> Results:
        """Add a batch of scores, and return the results of this batch alone.

        A batch without rows, ``(0, candidates)``, adds nothing.

        Args:
            scores, relevance: as in `irbatch.evaluate_scores`.
            **batch: `positives`, `mask`, `lengths`, `exclude`, `n_relevant` and `document_ids`, as
                there; and `query_ids`, with which a query that comes again is counted once. Not for
                ``keep="sums"``.

        Raises:
            InputError: as `irbatch.evaluate_scores`, and if a query has other values than before.
        """
        check_keywords(self.update, batch, ScoreOptions.__annotations__)
        ids, batch["query_ids"] = self._read_ids(batch.get("query_ids"))
        if not ids and has_no_rows(scores):
            return self._scores.nothing()
        evaluator = self._scores if batch.get("document_ids") is None else self._by_id
        ranked = evaluator.rank(scores, relevance, **batch)
        results = ranked.results()
        self._add(ranked, ids, evaluator.signature)
        return results

    @uncompiled
    def update_ids(
        self,
        ranked: Any,
        relevant: Any,
        *,
        query_ids: Sequence[Any] | None = None,
        pad: object = None,
    ) -> Results:
        """Add a batch of rankings of document ids, given as to `irbatch.evaluate_ids`.

        `query_ids` are for rankings that are not a mapping. Raises as that does and as `update`.
        """
        if isinstance(relevant, Qrels):
            problem = "Qrels are the judgments of all queries: give the relevant ids of the batch"
            raise InputError(problem, source="relevant")
        ranked, relevant = pair_series(ranked, relevant, sliced=True)
        ids, different = self._read_ids(None if isinstance(ranked, Mapping) else query_ids)
        options = {"pad": pad, "query_ids": different, **self._shared()}
        results = evaluate_ids(ranked, relevant, self._measures, **options)
        ids = results.query_ids if isinstance(ranked, Mapping) else ids
        self._add(results.of_queries, ids, results.settings, results.counts.extra)
        return results

    @uncompiled
    def update_columns(self, query_ids: Any, document_ids: Any, scores: Any, grades: Any) -> None:
        """Add scored and judged documents in columns, in any order.

        A query may go on in a later batch, so its documents are kept until `compute`. A document
        that comes again is counted once.

        Args:
            query_ids, document_ids, scores, grades: one entry a document.

        Raises:
            InputError: if lengths differ, a score or grade is not a number, a document comes again
                with another score or grade, or a query came whole before.
        """
        with self._lock:
            self._columns.add((query_ids, document_ids, scores, grades), self._kept)

    @uncompiled
    def compute(self) -> Results:
        """Return the results of all queries so far; with ``keep="sums"``, their means.

        Raises:
            InputError: if there was no query yet.
        """
        with self._lock:
            if not len(self):
                raise InputError("there are no queries yet: update first")
            kept = self._kept
            if self._columns.queries:
                run, judgments = self._columns.by_query()
                ties = choose_ties(self._options["ties"], COLUMNS)
                with warnings_kept():  # they are of all queries
                    results = evaluate(judgments, run, self._measures, ties=ties, **self._shared())
                kept = kept.copy()
                kept.add(results.of_queries, results.query_ids)
                kept.note(results.settings)
            results = kept.results()
        self._scores.warn_once(notes_on(results))
        return results

    def reset(self) -> None:
        """Forget all queries."""
        with self._lock:
            self._kept, self._columns = self._nothing()

    def merge(self, *others: BatchEvaluator | Mapping[str, Any]) -> None:
        """Add what other evaluators, or their states, have kept.

        Raises:
            InputError: if measures or settings are others, or a query has other values; nothing
                has changed then.
        """
        states = [o.state_dict() if isinstance(o, BatchEvaluator) else o for o in others]
        with self._lock:
            self._load([self.state_dict(), *states])

    def state_dict(self) -> dict[str, Any]:
        """Return the state in numbers, texts and lists: JSON and safe unpicklers take it."""
        with self._lock:
            return self._state(self._kept, self._columns)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state of the same measures and settings; what was kept is forgotten.

        Raises:
            InputError: if it is the state of something else; nothing has changed then.
        """
        with self._lock:
            self._load([state])

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self._options, "state": self.state_dict()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(pickled["state"]["measures"], **pickled["options"])  # type: ignore[misc]
        self.load_state_dict(pickled["state"])

    def _shared(self) -> dict[str, Any]:
        """Return the options of verbs for documents with ids, besides ties."""
        return {name: self._options[name] for name in ("no_relevant", "rel", "items", "threads")}

    def _read_ids(self, query_ids: object) -> tuple[list[Any] | None, list[Any] | None]:
        """Return the ids of a batch; and those it is evaluated with, if they are different ones."""
        if query_ids is not None and self._options["keep"] == "sums":
            problem = "sums cannot tell a query that comes again"
            advice = "keep='queries', or leave the ids out"
            raise InputError(f"{problem}: {advice}", source="query_ids")
        ids = read_query_ids(query_ids)
        return ids, None if ids is None or len(set(ids)) < len(ids) else ids

    def _add(
        self, batch: Batch, ids: Sequence[Any] | None, settings: Mapping[str, str], extra: int = 0
    ) -> None:
        """Add a batch; if it is rejected, nothing has changed."""
        if ids is not None and len(ids) != len(batch):
            problem = f"{many(len(ids), 'id')} for {many(len(batch), 'query')}"
            raise InputError(problem, source="query_ids")
        with self._lock:
            if ids is not None and not self._columns.queries.keys().isdisjoint(ids):
                query = next(filter(self._columns.queries.__contains__, ids))
                raise InputError("it came in columns before", source="query_ids", query=query)
            self._kept.add(batch, ids)
            self._kept.note(settings, extra)

    def _load(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Replace the state by the sum of some states, unless one of them doesn't fit."""
        kept, columns = self._nothing()
        like = self._state(kept, columns)
        for state in states:
            with reading_state(state, "BatchEvaluator", like, ALIKE):
                kept.read(state)
                columns.add([state["columns"][name] for name in COLUMNS], kept)
        self._kept, self._columns = kept, columns

    def _nothing(self) -> tuple[Accumulator, Columns]:
        """Return the state that there is before the first update."""
        keep, items, repeated = (self._options[name] for name in ("keep", "items", "repeated"))
        return Accumulator(keep, self._measures, items, repeated), Columns()

    def _state(self, kept: Accumulator, columns: Columns) -> dict[str, Any]:
        options = {name: self._options[name] for name in SHAPING}
        return kept.state(options=options, columns=columns.state())


class Columns:
    """Documents by query and id, with score and grade; a query may come in several batches."""

    def __init__(self) -> None:
        self.queries: dict[Any, None] = {}
        self._rows: dict[tuple[Any, Any], tuple[float, float]] = {}

    def add(self, columns: Sequence[Any], kept: Accumulator) -> None:
        """Keep some documents, of other queries than are kept whole; each once.

        If one is rejected, nothing has changed.
        """
        lists = [_as_list(*named) for named in zip(columns, COLUMNS, strict=True)]
        if len(set(map(len, lists))) > 1:
            pairs = zip(map(len, lists), COLUMNS, strict=True)
            lengths = ", ".join(f"{many(size, 'entry')} in {name}" for size, name in pairs)
            problem = f"columns are of one length, one entry a document, not {lengths}"
            raise InputError(problem, source="update_columns")
        if not lists[0]:
            return
        kept.check_ids(are_there=True)
        for place, what in enumerate(("query", "document")):
            first = [ids[place] for ids in itertools.islice(self._rows, 1)]
            same_kind([*first, *lists[place]], what, f"{what}_ids")
        for what, numbers in zip(("score", "grade"), lists[2:], strict=True):
            read_numbers(what, numbers, zip(*lists[:2], strict=True), source=f"{what}s")
        fresh: dict[tuple[Any, Any], tuple[float, float]] = {}
        for query, document, score, grade in zip(*lists, strict=True):
            ids, now = (query, document), (score, grade)
            before = self._rows.get(ids) or fresh.setdefault(ids, now)
            problem = ""
            if before != now:
                problem = "it came before with score {} and grade {}, now with {} and {}"
            elif query in kept.ids:
                problem = "its query came whole before"
            if problem:
                fields = {"source": "update_columns", "query": query, "document": document}
                raise InputError(problem.format(*before, *now), **fields, value=score)
        self._rows.update(fresh)
        self.queries.update(dict.fromkeys(lists[0]))
        kept.named = True

    def by_query(self) -> Iterator[dict[Any, dict[Any, float]]]:
        """Yield query to document to score, and to grade."""
        for place in range(2):
            numbers: dict[Any, dict[Any, float]] = {query: {} for query in self.queries}
            for (query, document), both in self._rows.items():
                numbers[query][document] = both[place]
            yield numbers

    def state(self) -> dict[str, list[Any]]:
        """Return the columns, as `add` takes them."""
        rows = [(*ids, *both) for ids, both in self._rows.items()]
        return {name: plain(row[i] for row in rows) for i, name in enumerate(COLUMNS)}


def _as_list(column: Any, name: str) -> list[Any]:
    if isinstance(column, list | tuple):
        return list(column)
    values = to_numpy(column, name)
    if values.ndim != 1:
        raise InputError(f"a column is 1-D, not of shape {values.shape}", source=name)
    return values.tolist()
