"""The evaluator of a training loop: update with a batch, compute over all of them, reset."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np

from irbatch.data.frames import pair_series
from irbatch.data.ids import read_query_ids, same_kind
from irbatch.engine.items import Items
from irbatch.errors import InputError, kind_of, many, shown
from irbatch.evaluation.accumulator import (
    REPEATED,
    Addition,
    QueryValues,
    Rows,
    Sums,
    check_mixture,
    empty_kept,
    items_of_run,
    plain,
    values_of,
    write_items,
)
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.queries import Counts
from irbatch.evaluation.ranked import evaluate_ids
from irbatch.evaluation.results import LazyResults, Means, Results, nothing_relevant
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.scores import ScoreBatch, ScoreEvaluator, has_no_rows
from irbatch.evaluation.settings import Settings
from irbatch.evaluation.states import (
    check_keys,
    check_same,
    check_values,
    get,
    may_skip,
    read_count,
    read_kept,
    read_texts,
    refuse,
)
from irbatch.measures import Measure, Plan, parse_measures
from irbatch.runtime.arrays import to_numpy
from irbatch.runtime.numbers import LARGEST_WHOLE, check_choice, grade_problem, read_numbers

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics


Documents = dict[Any, tuple[float, float]]

NAMES = ("query_ids", "document_ids", "scores", "grades")


class Columns:
    """Documents by query and id, with score and grade."""

    def __init__(self) -> None:
        self._queries: dict[Any, Documents] = {}
        self.repeats = 0

    def __len__(self) -> int:
        return len(self._queries)

    def __contains__(self, query: object) -> bool:
        return query in self._queries

    def add(self, query_ids: Any, document_ids: Any, scores: Any, grades: Any) -> None:
        """Keep some documents, see `BatchEvaluator`; if one is refused, nothing has changed."""
        given = zip(NAMES, (query_ids, document_ids, scores, grades), strict=True)
        columns = {name: _as_list(column, name) for name, column in given}
        lengths = {name: len(column) for name, column in columns.items()}
        if len(set(lengths.values())) > 1:
            said = ", ".join(
                f"{many(length, 'entry')} in {each}" for each, length in lengths.items()
            )
            problem = f"columns are of one length, one entry a document, not {said}"
            raise InputError(problem, source="update_columns")
        _check(self._sample(), *columns.values())
        fresh: defaultdict[Any, Documents] = defaultdict(dict)
        repeats_before = repeats = self.repeats
        nothing: Documents = {}
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
        try:
            for query, documents in fresh.items():
                self._queries.setdefault(query, {}).update(documents)
            self.repeats = repeats
        except BaseException:  # an interrupt, or too little memory
            self._remove(fresh)
            self.repeats = repeats_before
            raise

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
        return {name: plain(row[i] for row in rows) for i, name in enumerate(NAMES)}

    def add_state(self, state: Mapping[str, Any]) -> None:
        """Add the columns of another."""
        try:
            self.add(*(state[name] for name in NAMES))
        except InputError as problem:
            raise problem.with_fields(source=f"state columns: {problem.source}") from None

    def _sample(self) -> tuple[Any, Any]:
        """Return a query and a document, if there are any."""
        query = next(iter(self._queries), None)
        return query, next(iter(self._queries.get(query, ())), None)

    def _remove(self, fresh: Mapping[Any, Documents]) -> None:
        """Take out what was being added, as far as it was."""
        for query, documents in fresh.items():
            mine = self._queries.get(query, {})
            for document in documents:
                mine.pop(document, None)
            if not mine:
                self._queries.pop(query, None)


def _as_list(column: Any, name: str) -> list[Any]:
    if isinstance(column, str) or not hasattr(column, "__len__"):
        raise InputError(f"{kind_of(column)} is no column", source=name)
    if isinstance(column, list | tuple):
        return list(column)
    values = to_numpy(column, name)
    if values.ndim != 1:
        raise InputError(f"a column is 1-D, not of shape {values.shape}", source=name)
    return values.tolist()


def _check(
    known: tuple[Any, Any],
    queries: list[Any],
    documents: list[Any],
    scores: list[Any],
    grades: list[Any],
) -> None:
    """Check ids, which are of one kind with those known, and numbers."""
    for what, ids, one in zip(("query", "document"), (queries, documents), known, strict=True):
        same_kind(ids if one is None else [one, *ids], what, f"{what}_ids")
    for name, numbers in (("score", scores), ("grade", grades)):
        names = zip(queries, documents, strict=True)
        read = read_numbers(name, numbers, names, source=f"{name}s")
        if name == "grade" and (wrong := np.flatnonzero(abs(read) > LARGEST_WHOLE)).size:
            row = int(wrong[0])
            problem = f"grade {grade_problem(numbers[row])}"
            fields = {"query": queries[row], "document": documents[row], "value": numbers[row]}
            raise InputError(problem, source="grades", **fields)


# Queries and graded candidates that wait to be evaluated together. What that costs once, a third
# of a millisecond, is then less than a tenth of the time of updates with 32 queries each
# (python -m benchmarks --only updates).
MOST_WAITING = 8192


class State(NamedTuple):
    """What has come so far; nothing of it changes but the columns."""

    kept: QueryValues | Sums
    columns: Columns
    signature: Mapping[str, str]
    waiting: tuple[Addition, ...] = ()  # to be added to what is kept
    load: int = 0  # what they hold, see `MOST_WAITING`
    recent: set[Hashable] | None = None  # their ids; after an error perhaps more

    @property
    def queries(self) -> int:
        """How many there are, without those in columns."""
        return len(self.kept) + sum(each.fresh for each in self.waiting)

    def settled(self) -> State:
        """Return the same with nothing waiting."""
        if not self.waiting:
            return self
        return State(self.kept.added(self.waiting), self.columns, self.signature)

    def adding(
        self,
        batch: ScoreBatch | Results,
        queries: int,
        ids: Sequence[Hashable] | None,
        settings: Mapping[str, str],
        counts: Counts | None = None,
    ) -> State:
        """Return this with a batch of some queries.

        Raises:
            InputError: if there are not as many ids, only some queries have any, or one that came
                before has other values.
        """
        if ids is not None and len(ids) != queries:
            raise InputError(
                f"{many(len(ids), 'id')} for {many(queries, 'query')}", source="query_ids"
            )
        twice = [each for each in ids or () if each in self.columns] if len(self.columns) else ()
        if twice:
            raise InputError("it came in columns before", source="query_ids", query=twice[0])
        state = self.settled() if self.load >= MOST_WAITING else self
        addition = Addition(None, batch, counts, queries)
        if isinstance(state.kept, QueryValues):
            state, addition = state._with_ids(state.kept, addition, ids)
        return state._replace(
            waiting=(*state.waiting, addition),
            load=state.load + (batch.size if isinstance(batch, ScoreBatch) else queries),
            signature=join_settings(state.signature, settings),
        )

    def _with_ids(
        self, kept: QueryValues, addition: Addition, ids: Sequence[Hashable] | None
    ) -> tuple[State, Addition]:
        """Return what is to be added of queries with ids, or without, and what to add it to."""
        have_ids = self.waiting[0].ids is not None if self.waiting else kept.have_ids
        check_mixture(len(self.waiting) or len(kept), have_ids, ids)
        if ids is None:
            return self, addition
        recent, different = self.recent or set(), set(ids)
        if len(different) == len(ids) and recent.isdisjoint(ids) and not kept.may_have(ids):
            recent |= different
            return self._replace(recent=recent), addition._replace(ids=ids)
        kept = kept.added(self.waiting) if self.waiting else kept
        batch = addition.batch
        rows = Rows(values_of(batch), batch.marks, batch.items_of_queries)
        settled = kept.settle(ids, rows)._replace(counts=addition.counts)
        return State(kept, self.columns, self.signature, recent=different), settled


def join_settings(settings: Mapping[str, str], more: Mapping[str, str]) -> Mapping[str, str]:
    """Join settings: where they differ, both are told."""
    if settings == more:
        return settings
    joined = dict(settings)
    for name, value in more.items():
        said = joined.get(name, value)
        joined[name] = said if value in said.split("; ") else f"{said}; {value}"
    return joined


FORMAT = 1
SHAPING = ("keep", "ties", "no_relevant")  # options that states must share to add up
KEPT = {
    "queries": ("query_ids", "values", "marks", "repeats", "extra"),
    "sums": ("sums", "counted", "zeros", "counts"),
}


def read_state(
    state: Mapping[str, Any],
    settings: Mapping[str, Any],
    measures: Sequence[Measure],
    known: Items | None = None,
) -> dict[str, Any]:
    """Return what a state of such settings and measures has kept, in arrays and lists.

    `known` are the items, where measures of the whole run read them.

    Raises:
        InputError: if it is the state of something else, or of nothing.
    """
    if not isinstance(state, Mapping):
        raise refuse(f"{kind_of(state)} is no state of a BatchEvaluator", value=state)
    wanted = {"format": FORMAT, "measures": [str(each) for each in measures]}
    wanted |= {name: settings[name] for name in SHAPING}
    keys = [*wanted, "signature", "columns", *KEPT[settings["keep"]]]
    keys += [] if known is None else ["items"]
    for key, mine in wanted.items():
        check_same(key, get(state, key, "BatchEvaluator"), mine)
    check_keys(state, keys)
    signature, columns = read_texts("signature", state["signature"]), state["columns"]
    if not isinstance(columns, Mapping):
        raise refuse(f"'columns' are {shown(columns)}, not lists by name", value=columns)
    check_keys(columns, NAMES, " of its columns")
    skips = settings["no_relevant"] == "skip" or may_skip(signature)
    found = read_kept(state, settings["keep"], measures, known, skips=skips)
    if settings["keep"] == "queries":
        found |= {key: read_count(key, state[key]) for key in ("repeats", "extra")}
    return {
        "signature": signature,
        "columns": {name: columns[name] for name in NAMES},  # checked where they are added
        **found,
    }


Change = TypeVar("Change", bound=Callable[..., Any])


def _all_or_nothing(change: Change) -> Change:
    """Let a method that raises, for whatever reason, leave the state as it was."""

    @functools.wraps(change)
    def changed(self: BatchEvaluator, *given: Any, **named: Any) -> Any:
        before = self._state
        try:
            return change(self, *given, **named)
        except BaseException:
            self._state = before
            raise

    return cast(Change, changed)


class BatchEvaluator:
    """Evaluate batch after batch, and average over all of them.

    What is kept is the values of each query, or with ``keep="sums"`` their exact sums, never
    predictions; only documents that come in columns, whose query may go on, are kept until
    `compute`. An update that raises changes nothing.

    Args:
        measures, cutoffs: as in `irbatch.evaluate`.
        keep: ``"queries"``, values by query, or ``"sums"``, a state that is the same size whatever
            comes, and adds up: over processes to the same bits as in one.
        ties, no_relevant, items, threads: as in `irbatch.evaluate_scores`.
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
        ties: str = "expected",
        no_relevant: str = "zero",
        repeated: str = "error",
        items: ItemStatistics | None = None,
        threads: int | None = None,
    ) -> None:
        check_choice("keep", keep, ("queries", "sums"))
        check_choice("repeated", repeated, REPEATED)
        self._measures = parse_measures(measures, cutoffs)
        self.measures = [str(each) for each in self._measures]
        settings = Settings(no_relevant=no_relevant)
        plan = Plan(self._measures, items=items is not None)
        self._scores = ScoreEvaluator(plan, settings, ties, threads, items=items)
        self._shared: dict[str, Any] = {"no_relevant": no_relevant, "threads": threads}
        self._shared["items"] = items
        self._known = items_of_run(self._measures, items)
        self._options = {"keep": keep, "ties": ties, "repeated": repeated, **self._shared}
        self._state = self._nothing()

    def __len__(self) -> int:
        return self._state.queries + len(self._state.columns)

    def __repr__(self) -> str:
        return f"BatchEvaluator({' '.join(self.measures)!r}): {many(len(self), 'query')} so far"

    @property
    def repeats(self) -> int:
        """How often a query, or a document in columns, came again and was not counted again."""
        kept, waiting, columns = self._state.kept, self._state.waiting, self._state.columns
        return kept.repeats + sum(each.repeats for each in waiting) + columns.repeats

    @_all_or_nothing
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
        batch = self._scores.rank(
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
        results = LazyResults(batch.results) if batch.can_wait() else batch.results()
        self._state = self._state.adding(batch, len(batch), ids, self._scores.signature)
        return results

    @_all_or_nothing
    def update_ids(
        self,
        ranked: Any,
        relevant: Any,
        *,
        query_ids: Sequence[Any] | None = None,
        pad: object = None,
    ) -> Results:
        """Add a batch of rankings of document ids, given as to `irbatch.evaluate_ids`.

        `query_ids` are for rankings that are no mapping. Raises as that does and as `update`.
        """
        self._check_ids(query_ids)
        ranked, relevant = pair_series(ranked, relevant, sliced=True)
        ids = None if isinstance(ranked, Mapping) else read_query_ids(query_ids)
        try:
            results = evaluate_ids(ranked, relevant, self._measures, pad=pad, **self._shared)
        except InputError as problem:
            place = problem.query  # of rankings that are no mapping
            if ids is None or not isinstance(place, int) or place >= len(ids):
                raise
            raise problem.with_fields(query=ids[place]) from None
        self._keep_results(results, results.query_ids if isinstance(ranked, Mapping) else ids)
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
        self._state.columns.add(query_ids, document_ids, scores, grades)

    @_all_or_nothing
    def add(self, results: Results) -> None:
        """Add results of an evaluation of the same measures, such as `evaluate_embeddings`.

        Queries keep their ids; those that were given none are new ones.

        Raises:
            InputError: if measures are others, no measure has such values, or a query has other
                values than before.
        """
        if not isinstance(results, Results):
            raise InputError(f"{kind_of(results)} is no Results", source="results")
        if results.measures != self.measures:
            theirs, mine = ", ".join(results.measures), ", ".join(self.measures)
            raise InputError(f"results of {theirs} don't add to those of {mine}", source="results")
        if self._known is not None:
            of, known = results.settings.get("items"), self._known.fingerprint
            if results.items_of_queries is None or of != known:
                raise InputError(f"results of items {of!r}, not {known!r}", source="results")
        skips, values = may_skip(results.settings), results.weighted_values
        check_values(values, results.columns, results.query_ids, "results", skips=skips)
        self._keep_results(results, results.query_ids if results.has_ids else None)

    def compute(self) -> Results | Means:
        """Return the results of all queries so far; with ``keep="sums"``, their means.

        Raises:
            InputError: if there was no query yet.
        """
        if not len(self):
            raise InputError("there are no queries yet: update first")
        self._settle()
        state = self._state
        if len(state.columns):
            judgments, run = map(state.columns.by_query, ("grades", "scores"))
            ties = self._options["ties"]
            found = evaluate(judgments, run, self._measures, ties=ties, **self._shared)
            # A copy: what is kept is not to share its memory with what ends here.
            kept = self._nothing().kept.with_state(state.kept.state())
            state = State(kept, Columns(), state.signature)
            queries, ids = len(found.query_ids), found.query_ids
            state = state.adding(found, queries, ids, found.settings, found.counts).settled()
        results = state.kept.results(state.signature)
        self._scores.warn_once(nothing_relevant(results))
        return results

    def reset(self) -> None:
        """Forget all queries."""
        self._state = self._nothing()

    def merge(self, *others: BatchEvaluator | Mapping[str, Any]) -> None:
        """Add what other evaluators, or their states, have kept.

        Raises:
            InputError: if measures or settings are others, or a query has other values; nothing
                has changed then.
        """
        for each in others:
            if isinstance(each, list | tuple):
                problem = f"{kind_of(each)} is no evaluator: give them one by one"
                raise InputError(f"{problem}, merge(*evaluators)", source="state")
        given = (self, *others)
        self._load([e.state_dict() if isinstance(e, BatchEvaluator) else e for e in given])

    def state_dict(self) -> dict[str, Any]:
        """Return the state in numbers, texts and lists: JSON and safe unpicklers take it."""
        kept = self._settle().state()
        if "repeats" in kept:
            kept["repeats"] = self.repeats  # of documents, too
        if self._known is not None:
            kept["items"] = write_items(self._known, kept["items"])
        return {
            "format": FORMAT,
            "measures": list(self.measures),
            **{name: self._options[name] for name in SHAPING},
            "signature": dict(self._state.signature),
            "columns": self._state.columns.state(),
            **{
                name: each.tolist() if hasattr(each, "tolist") else each
                for name, each in kept.items()
            },
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state of the same measures and settings; what was kept is forgotten.

        Raises:
            InputError: if it is the state of something else, naming the key; nothing has changed
                then.
        """
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

    def _keep_results(self, results: Results, ids: Sequence[Any] | None) -> None:
        queries, counts = len(results.query_ids), results.counts
        self._state = self._state.adding(results, queries, ids, results.settings, counts)

    def _settle(self) -> QueryValues | Sums:
        """Evaluate what waits to be evaluated."""
        self._state = self._state.settled()
        return self._state.kept

    def _load(self, states: Sequence[Mapping[str, Any]]) -> None:
        """Replace the state by the sum of some states, unless one of them doesn't fit."""
        kept, columns, signature = self._nothing()[:3]
        for state in states:
            read = read_state(state, self._options, self._measures, self._known)
            kept = kept.with_state(read)
            columns.add_state(read["columns"])
            signature = join_settings(signature, read["signature"])
        self._state = State(kept, columns, signature)

    def _nothing(self) -> State:
        """Return the state that there is before the first update."""
        keep, repeated = self._options["keep"], self._options["repeated"]
        return State(empty_kept(keep, self._measures, self._known, repeated), Columns(), {})
