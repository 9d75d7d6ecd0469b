"""Evaluating batches of scores: what can be refused is refused at once, values may wait."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from irbatch.array_types import Bytes, Floats, Ints
from irbatch.data.cells import (
    GradedCandidates,
    read_labels,
    read_n_relevant,
    read_positives,
    read_score_rows,
)
from irbatch.data.frames import check_same_labels
from irbatch.data.ids import read_query_ids
from irbatch.engine.ties import TiePolicy
from irbatch.errors import InputError, warn
from irbatch.evaluation.counts import count_queries
from irbatch.evaluation.pipeline import compute_blocks
from irbatch.evaluation.results import Results
from irbatch.evaluation.score_notices import (
    say_certain,
    say_hidden,
    say_swapped,
    were_16_bits,
)
from irbatch.evaluation.settings import Settings, check_option
from irbatch.measures import Plan
from irbatch.pack.candidates import Candidates
from irbatch.pack.counting import count_candidates
from irbatch.pack.on_accelerator import count_on_accelerator
from irbatch.pack.scores import (
    CountedCandidates,
    Ranked,
    TieError,
    count_by_keys,
    pack_candidates,
    rank_candidates,
    read_tie_keys,
)
from irbatch.runtime.arrays import significant_bits
from irbatch.runtime.threads import check_threads

if TYPE_CHECKING:
    from irbatch.data.items import ItemStatistics
    from irbatch.evaluation.items import ItemMeasures
    from irbatch.evaluation.run_items import RunItems

HEAVY_TIES = 0.1  # share of the queries from which ties are worth a word
NO_KEYS = np.empty(0, np.int64)
MODEST_GRADE = 500.0  # up to which no gain of the catalogue, nor a sum of them, overflows


@dataclass(eq=False)
class ScoreEvaluator:
    """What stays the same over the batches of an evaluation, see `irbatch.evaluate_scores`."""

    plan: Plan
    settings: Settings
    ties: str
    threads: int | None
    scored_by: str = "score"  # what the scores are, for the signature
    items: ItemStatistics | None = None  # the columns, for measures that read them
    _said: set[str] = field(default_factory=set)  # warnings, each of which is said once

    def __post_init__(self) -> None:
        check_option("ties", self.ties)
        check_threads(self.threads)
        self._policy = TiePolicy(self.ties)
        self.signature = self.settings.signature(f"{self.scored_by} descending, ties: {self.ties}")
        self._certain = say_certain(self.plan)
        self._of_items: ItemMeasures | None = None
        if self.plan.of_items:
            from irbatch.evaluation.items import ItemMeasures  # for those who have items

            self._of_items = ItemMeasures(self.plan, self.items, self.settings, self.threads)
            self.signature["items"] = self._of_items.known.arrays.fingerprint

    def rank(
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
    ) -> ScoreBatch:
        """Read a batch, see `irbatch.evaluate_scores`, and find where relevant candidates stand.

        Scores and labels are not looked at any more afterwards.

        Raises:
            InputError: see there.
        """
        self._check_arguments(relevance, positives, document_ids)
        check_same_labels(scores, relevance)
        scores, relevance, lengths = read_score_rows(scores, relevance, lengths)
        candidates = Candidates(scores, read_query_ids(query_ids))
        there = None
        if positives is not None:
            graded = read_positives(positives, candidates.shape, candidates.queries)
        else:
            graded, there = read_labels(relevance, candidates.shape, candidates.queries)
        skips = self.settings.no_relevant == "skip"
        candidates.leave_out(there, mask, lengths, exclude, may_be_none=skips)
        shown = candidates.without_hidden(graded)
        if shown is not graded:
            self.warn_once(say_hidden(graded, shown, labels=positives is None))
            graded = shown
        if n_relevant is None:
            self.warn_once(self._certain)
        graded.check_grades(candidates.queries)
        if not graded.all_one:
            self.warn_once(say_swapped(candidates, graded))
        found = None if n_relevant is None else _check_relevant(n_relevant, graded, candidates)
        if candidates.on_accelerator:
            above, equal = count_on_accelerator(candidates, graded)
        else:
            above, equal = count_candidates(candidates, graded, self.threads)
        keys = read_tie_keys(self._policy, document_ids, candidates.shape)
        before = NO_KEYS if keys is None else count_by_keys(candidates, graded, equal, keys)
        given = graded.starts, graded.grades, graded.all_one, above, equal, before
        counted = CountedCandidates(candidates.sizes, candidates.shape[1], *given)
        batch = ScoreBatch(self, counted, found, candidates.queries)
        if self._of_items is not None:
            listed = self._of_items.of_scores(candidates, graded, self._policy, document_ids)
            batch.item_values, batch.items_of_queries = listed
        if self._policy == TiePolicy.ERROR:
            self._refuse_ties(batch, candidates, graded)
        self._warn_of_ties(batch, candidates, scores)
        return batch

    def nothing(self) -> Results:
        """Return the results of a batch without queries."""
        marks = np.zeros(0, np.uint8)
        values = np.empty((0, self.plan.columns))
        return Results(
            values, [], self.plan.measures, count_queries(marks), self.signature, None, marks
        )

    def rank_counted(self, counted: CountedCandidates) -> Ranked:
        """Turn counts into ranks."""
        return rank_candidates(counted, self._policy)

    def compute(self, ranked: Ranked, n_relevant: Ints | None = None) -> tuple[Floats, Bytes]:
        """Compute the values of some queries, ``(queries, measures)``, and their marks."""
        every_cell = self.plan.reads_cells(ties=ranked.ties is not None)
        blocks = pack_candidates(ranked, n_relevant, every_cell=every_cell)
        queries = ranked.counted.sizes.size
        computed = compute_blocks(self.plan, blocks, queries, self.settings, self.threads)
        return computed.values, computed.marks

    def is_sure(self, counted: CountedCandidates) -> bool:
        """Tell whether there will be values, whatever the ranks, and the same beside any others."""
        may_tie = self._policy == TiePolicy.EXPECTED and bool((counted.equal > 1).any())
        if not self.plan.is_catalogued or self.plan.reads_cells(ties=may_tie):
            return False
        grades = counted.grades
        modest = counted.all_one or (grades.max() <= MODEST_GRADE and (grades % 1 == 0).all())
        return bool(modest)

    def _warn_of_ties(self, batch: ScoreBatch, candidates: Candidates, scores: Any) -> None:
        """Warn of scores that cannot tell candidates apart."""
        counted, queries = batch.counted, len(batch)
        enough = HEAVY_TIES * queries
        shared = np.flatnonzero(counted.equal > 1)
        if shared.size <= enough:  # at most one query each
            return
        found = np.diff(counted.starts)
        sizes = np.repeat(counted.sizes, found)[shared]
        if (counted.equal[shared] == sizes).any() and batch.ranked.constant > enough:
            which = "scores: all candidates of some queries"
            self.warn_once([f"{which} have one and the same score; has the model collapsed?"])
        elif significant_bits(scores) == 16 or were_16_bits(candidates.scores):
            # One relevant candidate of each query, as a rule: then each of these is a tied query.
            single = counted.all_one and found.max() == 1 and not self._policy.by_id
            tied = shared.size if single else int(batch.ranked.tied.sum())
            if tied > enough:
                which = "scores of 16 bits: relevant candidates of some queries"
                said = f"{which} share their score with others (counts.tied has their number)"
                advice = "compute the product in float32, outside autocast; casting finished scores"
                said = f"{said}; {advice} doesn't help"
                slow = self.plan.over_orders if batch.ranked.ties is not None else []
                if slow:
                    said += f". {', '.join(slow)} is averaged over a thousand orders of each such "
                    said += "query, which takes its time; ties='index' doesn't"
                self.warn_once([said])

    def warn_once(self, texts: Iterable[str]) -> None:
        """Warn once of each; without numbers, as Python and logs tell warnings by their texts."""
        for text in texts:
            if text not in self._said:
                self._said.add(text)
                warn(text)

    def _refuse_ties(
        self, batch: ScoreBatch, candidates: Candidates, graded: GradedCandidates
    ) -> None:
        try:
            _ = batch.ranked
        except TieError as problem:
            row, column = graded.row_index[problem.place], graded.columns[problem.place]
            score = candidates.score_of(row, column)
            said = (
                f"candidates of different relevance share the score {score:g}: say what decides "
                "with ties='expected', 'pessimistic', 'optimistic' or 'index'"
            )
            query = candidates.queries[row]
            raise InputError(said, source="scores", query=query, value=score) from None

    def _check_arguments(self, relevance: Any, positives: Any, document_ids: Any) -> None:
        if (relevance is None) == (positives is None):
            what = "neither is given" if relevance is None else "both are given"
            problem = f"say what is relevant by labels or by positives=: {what}"
            raise InputError(problem, source="relevance")
        if self._policy.by_id != (document_ids is not None):
            needed, unused = f"needed for ties='{self.ties}'", "for ties='id' or 'id_ascending'"
            problem = f"are {needed if document_ids is None else unused}"
            raise InputError(problem, source="document_ids")


class ScoreBatch:
    """A batch of counted candidates, whose values are computed when they are asked for."""

    def __init__(
        self,
        evaluator: ScoreEvaluator,
        counted: CountedCandidates,
        n_relevant: Ints | None,
        queries: Sequence[Any],
    ) -> None:
        self.counted = counted
        self._evaluator, self._n_relevant, self._queries = evaluator, n_relevant, queries
        self.item_values: Floats | None = None  # (queries, measures): of those that read items
        self.items_of_queries: RunItems | None = None
        self._ranked: Ranked | None = None
        self._computed: tuple[Floats, Bytes] | None = None

    def __len__(self) -> int:
        return len(self._queries)

    @property
    def values(self) -> Floats:
        """Float64 ``(queries, measures)``."""
        return self._compute()[0]

    @property
    def marks(self) -> Bytes:
        """See `QueryMark`."""
        return self._compute()[1]

    @property
    def size(self) -> int:
        """How many queries and graded candidates are kept until values are computed."""
        return self.counted.starts.size + self.counted.grades.size

    @property
    def ranked(self) -> Ranked:
        """The candidates with their ranks."""
        if self._ranked is None:
            self._ranked = self._evaluator.rank_counted(self.counted)
        return self._ranked

    def can_wait(self) -> bool:
        """Tell whether values can be computed later, perhaps with those of other batches.

        They are the same bits then, and nothing is refused any more.
        """
        return self._n_relevant is None and self._evaluator.is_sure(self.counted)

    def results(self) -> Results:
        """Return the batch's results."""
        evaluator, (values, marks) = self._evaluator, self._compute()
        measures, settings = evaluator.plan.measures, evaluator.signature
        given = self._queries, measures, count_queries(marks), settings, None, marks
        return Results(values, *given, self.items_of_queries)

    @staticmethod
    def compute_together(batches: Sequence[ScoreBatch]) -> None:
        """Compute the values of batches of one evaluator that can wait, all at once."""
        waiting = [each for each in batches if each._computed is None]
        if len(waiting) < 2:
            return
        evaluator, (first, *others) = waiting[0]._evaluator, (each.counted for each in waiting)
        values, marks = evaluator.compute(evaluator.rank_counted(first.join(others)))
        start = 0
        for each in waiting:
            stop = start + len(each)
            each._keep(values[start:stop], marks[start:stop])
            start = stop

    def _compute(self) -> tuple[Floats, Bytes]:
        if self._computed is None:
            return self._keep(*self._evaluator.compute(self.ranked, self._n_relevant))
        return self._computed

    def _keep(self, values: Floats, marks: Bytes) -> tuple[Floats, Bytes]:
        if self.item_values is not None:
            places = self._evaluator.plan.of_items
            values[:, places] = self.item_values[:, places]
        self._computed = values, marks
        return self._computed


def has_no_rows(scores: Any) -> bool:
    """Tell whether scores are of no queries: a matrix without rows, or an empty list."""
    if isinstance(scores, list | tuple):
        return not scores
    shape: Any = getattr(scores, "shape", ())
    return len(shape) == 2 and shape[0] == 0


def _check_relevant(n_relevant: Any, graded: GradedCandidates, candidates: Candidates) -> Ints:
    """Return how many relevant documents there are in all, checked."""
    numbers = read_n_relevant(n_relevant, candidates.queries)
    refuse = functools.partial(InputError, source="n_relevant")
    if not graded.all_one:
        row = int(graded.row_index[np.argmax(graded.grades != 1)])
        raise refuse("n_relevant= is for labels 0 and 1", query=candidates.queries[row])
    found = np.diff(graded.starts)
    if (found > numbers).any():
        row = int(np.argmax(found > numbers))
        total = int(numbers[row])
        problem = f"{found[row]} candidates are relevant, but only {total} documents in all"
        raise refuse(problem, query=candidates.queries[row], value=total)
    return numbers
