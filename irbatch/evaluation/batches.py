"""The evaluator of a training loop: update with a batch, compute over all of them, reset."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from irbatch.data.frames import pair_series
from irbatch.data.ids import read_query_ids
from irbatch.data.qrels import Qrels
from irbatch.errors import InputError, many, warnings_kept
from irbatch.evaluation.accumulator import Accumulator
from irbatch.evaluation.evaluation import Cutoffs, Measures
from irbatch.evaluation.queries import notes_on
from irbatch.evaluation.ranked import evaluate_ids
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import evaluate
from irbatch.evaluation.scores import BatchOptions, ScoreEvaluator, ScoreSettings, has_no_rows
from irbatch.measures import parse_measures
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import check_keywords


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
        repeated: str = "error",
        **settings: Unpack[ScoreSettings],
    ) -> None:
        check_keywords(BatchEvaluator.__init__, settings, ScoreSettings.__annotations__)
        self._measures = parse_measures(measures, cutoffs)
        self.measures = [str(measure) for measure in self._measures]
        # Of documents without ids, and with them.
        self._scores, self._by_id = (
            ScoreEvaluator(self._measures, document_ids=ids, **settings) for ids in (None, ())
        )
        self._options: dict[str, Any] = {**settings, "keep": keep, "repeated": repeated}
        chosen = self._scores.evaluation.settings
        shared = {  # by states that add up
            "ties": settings.get("ties"), "no_relevant": chosen.no_relevant, "rel": chosen.rel,
        }  # fmt: skip
        self._lock = threading.RLock()  # of what is kept
        self._kept = Accumulator(keep, self._measures, shared, settings.get("items"), repeated)

    def __len__(self) -> int:
        with self._lock:
            return len(self._kept)

    def __repr__(self) -> str:
        return f"BatchEvaluator({' '.join(self.measures)!r}): {many(len(self), 'query')} so far"

    @uncompiled
    def update(self, scores: Any, relevance: Any = None, **batch: Unpack[BatchOptions]) -> Results:
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
        check_keywords(self.update, batch, BatchOptions.__annotations__)
        ids, batch["query_ids"] = self._read_ids(batch.get("query_ids"))
        if not ids and has_no_rows(scores):
            return self._scores.nothing()
        evaluator = self._scores if batch.get("document_ids") is None else self._by_id
        ranked = evaluator.rank(scores, relevance, **batch)
        results = ranked.results()
        with self._lock:
            self._kept.add(ranked, ids, evaluator.signature)
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
        options = {"pad": pad, "query_ids": different, **self._scores.shared}
        results = evaluate_ids(ranked, relevant, self._measures, **options)
        ids = results.query_ids if isinstance(ranked, Mapping) else ids
        with self._lock:
            self._kept.add(results.of_queries, ids, results.settings, results.counts.extra)
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
            self._kept.add_documents((query_ids, document_ids, scores, grades))

    @uncompiled
    def compute(self) -> Results:
        """Return the results of all queries so far; with ``keep="sums"``, their means.

        Raises:
            InputError: if there was no query yet.
        """
        with self._lock:
            kept = self._kept
            if not len(kept):
                raise InputError("there are no queries yet: update first")
            if kept.run:
                options = {"ties": self._options.get("ties") or "id", **self._scores.shared}
                with warnings_kept():  # they are of all queries
                    results = evaluate(kept.judgments, kept.run, self._measures, **options)
                kept = kept.merged()
                kept.add(results.of_queries, results.query_ids, results.settings)
            results = kept.results()
        self._scores.warn_once(notes_on(results))
        return results

    def reset(self) -> None:
        """Forget all queries."""
        with self._lock:
            self._kept = self._kept.read_anew()

    def merge(self, *others: BatchEvaluator | Mapping[str, Any]) -> None:
        """Add what other evaluators, or their states, have kept.

        Raises:
            InputError: if measures or settings are others, or a query has other values; nothing
                has changed then.
        """
        states = [o.state_dict() if isinstance(o, BatchEvaluator) else o for o in others]
        with self._lock:
            self._kept = self._kept.read_anew(self.state_dict(), *states)

    def state_dict(self) -> dict[str, Any]:
        """Return the state in numbers, texts and lists: JSON and safe unpicklers take it."""
        with self._lock:
            return self._kept.state()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take over a state of the same measures and settings; what was kept is forgotten.

        Raises:
            InputError: if it is the state of something else; nothing has changed then.
        """
        with self._lock:
            self._kept = self._kept.read_anew(state)

    def __getstate__(self) -> dict[str, Any]:
        return {"options": self._options, "state": self.state_dict()}

    def __setstate__(self, pickled: dict[str, Any]) -> None:
        self.__init__(pickled["state"]["measures"], **pickled["options"])  # type: ignore[misc]
        self.load_state_dict(pickled["state"])

    def _read_ids(self, query_ids: object) -> tuple[list[Any] | None, list[Any] | None]:
        """Return the ids of a batch; and those it is evaluated with, if they are different ones."""
        if query_ids is not None and self._options["keep"] == "sums":
            problem = "sums cannot tell a query that comes again"
            advice = "keep='queries', or leave the ids out"
            raise InputError(f"{problem}: {advice}", source="query_ids")
        ids = read_query_ids(query_ids)
        return ids, None if ids is None or len(set(ids)) < len(ids) else ids
