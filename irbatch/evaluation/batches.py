"""The evaluator of a training loop: update with a batch, compute over all of them, reset."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.data.frames import pair_series
from irbatch.data.ids import read_query_ids, same_kind
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.accumulator import (
    KEEPS,
    REPEATED,
    QueryValues,
    Sums,
    check_state,
    check_values,
    in_lists,
    keep_nothing,
    may_skip,
    plain,
    reading_state,
    reject,
    size_of,
)
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.notices import nothing_relevant
from irbatch.evaluation.ranked import evaluate_ids
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.scores import ScoreBatch, ScoreEvaluator, choose_ties, has_no_rows
from irbatch.evaluation.settings import Settings
from irbatch.measures import Plan, parse_measures
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, check_choice, grade_problem, read_numbers

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

FORMAT = 2
SHAPING = ("keep", "ties", "no_relevant", "rel")  # options that states must share to add up
COLUMNS = ("query_ids", "document_ids", "scores", "grades")
WHAT = "BatchEvaluator"

Documents = dict[Any, tuple[float, float]]


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
        no_relevant, rel, items, threads: as there.
        repeated: what becomes of a query that comes again with other values: ``"error"``, or the
            ``"first"`` or the ``"last"`` stays. With the same values it is counted once anyway.

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
        items: ItemStatistics | None = None,
        threads: int | None = None,
    ) -> None:
        check_choice("keep", keep, KEEPS)
        check_choice("repeated", repeated, REPEATED)
        self._measures = parse_measures(measures, cutoffs)
        self.measures = [str(each) for each in self._measures]
        settings = Settings(no_relevant=no_relevant, rel=rel)
        plan = Plan(self._measures, settings.open_parameters(), items=items is not None)
        # Of documents without ids, and with them.
        self._scores, self._by_id = (
            ScoreEvaluator(plan, settings, choose_ties(ties, ids), threads, items=items)
            for ids in (None, ())
        )
        self._shared: dict[str, Any] = {"no_relevant": no_relevant, "rel": rel}
        self._shared |= {"items": items, "threads": threads}
        self._options = {"keep": keep, "ties": ties, "repeated": repeated, **self._shared}
        self._lock = threading.RLock()  # of everything that changes below
        self.reset()

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept) + len(self._columns)

    def __repr__(self) -> str:
        return f"BatchEvaluator({' '.join(self.measures)!r}): {many(len(self), 'query')} so far"

    @property
    def repeats(self) -> int:
        """How often a query, or a document in columns, came again and was not counted again."""
        with self._lock:
            return self._kept.repeats + self._columns.repeats

    def update(
        self,
        scores: Any,
        relevance: Any = None,
        *,
        positives: Any = None,
        mask: Any = None,
        lengths: Any = None,
        exclude: Any = None,
        n_relevant: Any = None,
        document_ids: Any = None,
        query_ids: Sequence[Any] | None = None,
    ) -> Results:
        """Add a batch of scores, and return the results of this batch alone.

        A batch without rows, ``(0, candidates)``, adds nothing.

        Args:
            scores, relevance, positives, mask, lengths, exclude, n_relevant, document_ids: as in
                `irbatch.evaluate_scores`.
            query_ids: the queries' ids; with them a query that comes again is counted once. Not
                for ``keep="sums"``.

        Raises:
            InputError: as `irbatch.evaluate_scores`, and if a query has other values than before.
        """
        self._check_ids(query_ids)
        ids = read_query_ids(query_ids)
        if not ids and has_no_rows(scores):
            return self._scores.nothing()
        named = None if ids is None or len(set(ids)) < len(ids) else ids
        evaluator = self._scores if document_ids is None else self._by_id
        batch = evaluator.rank(
            scores,
            relevance,
            positives=positives,
            mask=mask,
            lengths=lengths,
            exclude=exclude,
            n_relevant=n_relevant,
            document_ids=document_ids,
            query_ids=named,
        )
        results = batch.results()
        self._add(batch, ids, evaluator.signature)
        return results

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
        self._check_ids(query_ids)
        ranked, relevant = pair_series(ranked, relevant, sliced=True)
        ids = None if isinstance(ranked, Mapping) else read_query_ids(query_ids)
        try:
            results = evaluate_ids(ranked, relevant, self._measures, pad=pad, **self._shared)
        except InputError as problem:
            place = problem.query  # of rankings that are not a mapping
            if ids is None or not isinstance(place, int) or place >= len(ids):
                raise
            raise problem.with_fields(query=ids[place]) from None
        ids = results.query_ids if isinstance(ranked, Mapping) else ids
        self._add(results, ids, results.settings)
        return results

    def update_columns(self, query_ids: Any, document_ids: Any, scores: Any, grades: Any) -> None:
        """Add scored and judged documents in columns, in any order.

        A query may go on in a later batch, so its documents are kept until `compute`. A document
        that comes again is counted once.

        Args:
            query_ids, document_ids, scores, grades: one entry a document.

        Raises:
            InputError: if lengths differ, a score or grade is not a number, or a document comes
                again with another score or grade.
        """
        with self._lock:
            self._columns.add(query_ids, document_ids, scores, grades)

    def add(self, results: Results) -> None:
        """Add results of an evaluation of the same measures, such as `evaluate_embeddings`.

        Queries keep their ids; those that were given none are new ones.

        Raises:
            InputError: if measures are others, no measure has such values, or a query has other
                values than before.
        """
        if not isinstance(results, Results):
            raise InputError(f"{kind_of(results)} is not Results", source="results")
        if results.measures != self.measures:
            theirs, mine = ", ".join(results.measures), ", ".join(self.measures)
            raise InputError(f"results of {theirs} don't add to those of {mine}", source="results")
        if (known := self._kept.known) is not None:
            of = results.settings.get("items")
            if results.items_of_queries is None or of != known.fingerprint:
                problem = f"results of items {of!r}, not {known.fingerprint!r}"
                raise InputError(problem, source="results")
        skips, values = may_skip(results.settings), results.weighted_values
        check_values(values, results.columns, results.query_ids, "results", skips=skips)
        self._add(results, results.query_ids if results.has_ids else None, results.settings)

    def compute(self) -> Results:
        """Return the results of all queries so far; with ``keep="sums"``, their means.

        Raises:
            InputError: if there was no query yet.
        """
        with self._lock:
            if not len(self):
                raise InputError("there are no queries yet: update first")
            kept, signature = self._kept, self._signature
            if len(self._columns):
                judgments, run = map(self._columns.by_query, ("grades", "scores"))
                ties = choose_ties(self._options["ties"], COLUMNS)
                found = evaluate(judgments, run, self._measures, ties=ties, **self._shared)
                kept, signature = kept.copy(), join_settings(signature, found.settings)
                kept.add(found, found.query_ids)
            results = kept.results(signature)
        self._scores.warn_once(nothing_relevant(results))
        return results

    def reset(self) -> None:
        """Forget all queries."""
        with self._lock:
            self._kept, self._columns, self._signature = self._nothing()

    def merge(self, *others: BatchEvaluator | Mapping[str, Any]) -> None:
        """Add what other evaluators, or their states, have kept.

        Raises:
            InputError: if measures or settings are others, or a query has other values; nothing
                has changed then.
        """
        for each in others:
            if isinstance(each, list | tuple):
                problem = f"{kind_of(each)} is not an evaluator: give them one by one"
                raise InputError(f"{problem}, merge(*evaluators)", source="state")
        states = [e.state_dict() if isinstance(e, BatchEvaluator) else e for e in others]
        with self._lock:
            self._load([self.state_dict(), *states])

    def state_dict(self) -> dict[str, Any]:
        """Return the state in numbers, texts and lists: JSON and safe unpicklers take it."""
        with self._lock:
            kept = in_lists(self._kept.state())
            if isinstance(self._kept, QueryValues):
                kept |= {"repeats": self.repeats, "extra": self._kept.extra}
            return {
                "format": FORMAT,
                "measures": list(self.measures),
                **{name: self._options[name] for name in SHAPING},
                "signature": dict(self._signature),
                "columns": self._columns.state(),
                **kept,
            }

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

    def _check_ids(self, query_ids: object) -> None:
        if query_ids is not None and self._options["keep"] == "sums":
            problem = "sums cannot tell a query that comes again"
            advice = "keep='queries', or leave the ids out"
            raise InputError(f"{problem}: {advice}", source="query_ids")

    def _add(
        self, batch: ScoreBatch | Results, ids: Sequence[Any] | None, settings: Mapping[str, str]
    ) -> None:
        """Add a batch; if it is rejected, nothing has changed."""
        if ids is not None and len(ids) != size_of(batch):
            problem = f"{many(len(ids), 'id')} for {many(size_of(batch), 'query')}"
            raise InputError(problem, source="query_ids")
        with self._lock:
            for each in ids or () if len(self._columns) else ():
                if each in self._columns:
                    raise InputError("it came in columns before", source="query_ids", query=each)
            self._kept.add(batch, ids)
            self._signature = join_settings(self._signature, settings)

    def _load(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Replace the state by the sum of some states, unless one of them doesn't fit."""
        kept, columns, signature = self._nothing()
        same = {"format": FORMAT, "measures": self.measures}
        same |= {name: self._options[name] for name in SHAPING}
        keys = [*same, "signature", "columns", *KEEPS[kept.keep]]
        keys += ["repeats", "extra"] if kept.keep == "queries" else []
        keys += [] if kept.known is None else ["items"]
        for state in states:
            with reading_state(WHAT):
                check_state(state, WHAT, keys, same)
                settings = {str(key): str(each) for key, each in state["signature"].items()}
                skips = self._options["no_relevant"] == "skip" or may_skip(settings)
                kept.add_state(state, skips=skips)
                if kept.keep == "queries":
                    for key in ("repeats", "extra"):
                        if type(state[key]) is not int or state[key] < 0:
                            raise reject(f"{key!r} is not a count", value=state[key])
                    kept.repeats += state["repeats"]
                    kept.extra += state["extra"]
                check_state(state["columns"], WHAT, COLUMNS, {})
                columns.add(*(state["columns"][name] for name in COLUMNS))
                signature = join_settings(signature, settings)
        self._kept, self._columns, self._signature = kept, columns, signature

    def _nothing(self) -> tuple[QueryValues | Sums, Columns, Mapping[str, str]]:
        """Return the state that there is before the first update."""
        keep, repeated = self._options["keep"], self._options["repeated"]
        return keep_nothing(keep, self._measures, self._shared["items"], repeated), Columns(), {}


class Columns:
    """Documents by query and id, with score and grade; a query may come in several batches."""

    def __init__(self) -> None:
        self._queries: defaultdict[Any, Documents] = defaultdict(dict)
        self.repeats = 0

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, query: object) -> bool:
        return query in self._queries

    def add(self, query_ids: Any, document_ids: Any, scores: Any, grades: Any) -> None:
        """Keep some documents, see `BatchEvaluator`; if one is rejected, nothing has changed."""
        given = zip(COLUMNS, (query_ids, document_ids, scores, grades), strict=True)
        columns = {name: _as_list(column, name) for name, column in given}
        if len({len(column) for column in columns.values()}) > 1:
            lengths = (f"{many(len(each), 'entry')} in {name}" for name, each in columns.items())
            problem = f"columns are of one length, one entry a document, not {', '.join(lengths)}"
            raise InputError(problem, source="update_columns")
        self._check(*columns.values())
        fresh: defaultdict[Any, Documents] = defaultdict(dict)
        repeats, nothing = 0, Documents()
        for query, document, score, grade in zip(*columns.values(), strict=True):
            mine = fresh[query]
            known = mine.get(document) or self._queries.get(query, nothing).get(document)
            if known is None:
                mine[document] = (score, grade)
            elif known != (score, grade):
                before = f"it came before with score {known[0]} and grade {known[1]}"
                fields = {"source": "update_columns", "query": query, "document": document}
                raise InputError(f"{before}, now with {score} and {grade}", **fields, value=score)
            else:
                repeats += 1
        for query, documents in fresh.items():
            self._queries[query].update(documents)
        self.repeats += repeats

    def by_query(self, column: str) -> dict[Any, dict[Any, float]]:
        """Return query to document to one of ``"scores"`` and ``"grades"``."""
        place = ("scores", "grades").index(column)
        return {
            query: {document: both[place] for document, both in documents.items()}
            for query, documents in self._queries.items()
        }

    def state(self) -> dict[str, list[Any]]:
        """Return the columns, as `add` takes them."""
        rows = [
            (query, document, *both)
            for query, documents in self._queries.items()
            for document, both in documents.items()
        ]
        return {name: plain(row[i] for row in rows) for i, name in enumerate(COLUMNS)}

    def _check(
        self, queries: list[Any], documents: list[Any], scores: list[Any], grades: list[Any]
    ) -> None:
        """Check ids, which are of one kind with those that came before, and numbers."""
        query = next(iter(self._queries), None)
        one = [] if query is None else [query]
        same_kind([*one, *queries], "query", "query_ids")
        same_kind([*list(self._queries[query])[:1], *documents] if one else documents,
                  "document", "document_ids")  # fmt: skip
        for name, numbers in (("score", scores), ("grade", grades)):
            names = zip(queries, documents, strict=True)
            read = read_numbers(name, numbers, names, source=f"{name}s")
            if name == "grade" and (wrong := np.flatnonzero(abs(read) > LARGEST_WHOLE)).size:
                row = int(wrong[0])
                problem = f"grade {grade_problem(numbers[row])}"
                fields = {"query": queries[row], "document": documents[row], "value": numbers[row]}
                raise InputError(problem, source="grades", **fields)


def _as_list(column: Any, name: str) -> list[Any]:
    if isinstance(column, str) or not hasattr(column, "__len__"):
        raise InputError(f"{kind_of(column)} is not a column", source=name)
    if isinstance(column, list | tuple):
        return list(column)
    values = to_numpy(column, name)
    if values.ndim != 1:
        raise InputError(f"a column is 1-D, not of shape {values.shape}", source=name)
    return values.tolist()


def join_settings(settings: Mapping[str, str], more: Mapping[str, str]) -> Mapping[str, str]:
    """Join settings: where they differ, both are told."""
    if settings == more:
        return settings
    joined = dict(settings)
    for name, value in more.items():
        said = joined.get(name, value)
        joined[name] = said if value in said.split("; ") else f"{said}; {value}"
    return joined
