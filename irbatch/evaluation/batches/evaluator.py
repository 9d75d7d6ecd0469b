"""The evaluator of a training loop: update with a batch, compute over all of them, reset."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from irbatch.data.frames import pair_series
from irbatch.data.ids import read_query_ids
from irbatch.errors import InputError, kind_of, many
from irbatch.evaluation.batches.columns import Columns
from irbatch.evaluation.batches.reading import FORMAT, SHAPING, read_state
from irbatch.evaluation.batches.state import State, join_settings
from irbatch.evaluation.means import Means, nothing_relevant
from irbatch.evaluation.partitions.item_state import items_of_run, write_items
from irbatch.evaluation.partitions.kept import REPEATED, QueryValues
from irbatch.evaluation.partitions.reading import check_values, may_skip
from irbatch.evaluation.partitions.sums import Sums, empty_kept
from irbatch.evaluation.rankings import evaluate_ids
from irbatch.evaluation.results import LazyResults, Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.score_evaluator import ScoreEvaluator, has_no_rows
from irbatch.evaluation.settings import Settings
from irbatch.evaluation.task import Cutoffs, Measures
from irbatch.measures import Plan, parse_measures
from irbatch.runtime.numbers import check_choice

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics

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
