"""Evaluating a score for every candidate of every query: read, count, rank, average."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.cells import (
    GradedCandidates,
    read_labels,
    read_n_relevant,
    read_positives,
    read_score_rows,
)
from irbatch.data.frames import check_same_labels, ids_of_rows
from irbatch.data.ids import read_query_ids
from irbatch.engine.ties import TiePolicy
from irbatch.errors import InputError, warn
from irbatch.evaluation.evaluation import Cutoffs, Evaluation, Measures
from irbatch.evaluation.pipeline import compute_blocks
from irbatch.evaluation.queries import Rows, notes_on
from irbatch.evaluation.results import Results
from irbatch.pack.candidates import Candidates
from irbatch.pack.counting import (
    CountedCandidates,
    TieError,
    count_by_keys,
    count_candidates,
    pack_candidates,
    rank_candidates,
    read_tie_keys,
)
from irbatch.runtime.arrays import uncompiled
from irbatch.runtime.numbers import check_choice, check_keywords

if TYPE_CHECKING:
    from irbatch.data.items import Items
    from irbatch.evaluation.items import ItemMeasures


NAN = ("error", "last")
SHARED = ("no_relevant", "rel", "items", "threads")  # with verbs for documents with ids
NO_KEYS = np.empty(0, np.int64)
SOME_HIDDEN = (
    "some positives are not candidates, being masked, excluded or beyond lengths: they don't count "
    "as relevant; mask= is True for a candidate, exclude= for a document to leave out"
)
MODEST_GRADE = 500.0  # up to which no gain of the catalogue, nor a sum of them, overflows


class BatchOptions(TypedDict, total=False):
    """What `irbatch.evaluate_scores` is told of a batch, where others take it, too."""

    positives: Any
    mask: Any
    lengths: Any
    exclude: Any
    n_relevant: Any
    document_ids: Any
    query_ids: Any


class ScoreSettings(TypedDict, total=False):
    """What `irbatch.evaluate_scores` is told of all batches, where others take it, too."""

    ties: str | None
    no_relevant: str
    rel: float | None
    items: Items | None
    threads: int | None
    nan: str


class ScoreOptions(BatchOptions, ScoreSettings, total=False):
    """The keyword options of `irbatch.evaluate_scores`, which describes them."""


class ScoreEvaluator:
    """What is asked of scores: finds where relevant candidates stand, batch after batch.

    It warns once of each thing.
    """

    def __init__(
        self,
        measures: Measures | None,
        cutoffs: Cutoffs = None,
        *,
        scored_by: str = "score",
        **options: Unpack[ScoreOptions],
    ) -> None:
        self.nan = options.get("nan", "error")
        check_choice("nan", self.nan, NAN)
        if measures is None:
            hint = "by keyword, or behind scores and relevance"
            raise InputError(f"say which: measures='nDCG@10', {hint}", source="measures")
        ties = options.get("ties")
        if ties is None:
            ties = "expected" if options.get("document_ids") is None else "id"
        shared: dict[str, Any] = {name: value for name, value in options.items() if name in SHARED}
        self.evaluation = Evaluation.choose(measures, cutoffs, ties=ties, marks=False, **shared)
        self.shared = shared
        self.plan, self.policy = self.evaluation.plan, TiePolicy(ties)
        self._said: set[str] = set()
        self._of_items: ItemMeasures | None = None
        if self.plan.of_items:
            from irbatch.evaluation.items import ItemMeasures  # for those who have items

            self._of_items = ItemMeasures(self.evaluation)
        last = ", NaN last" if self.nan == "last" else ""
        order = f"{scored_by} descending{last}, ties: {ties}"
        self.signature = self.evaluation.signature() | {"order": order}

    def rank(self, scores: Any, relevance: Any = None, **batch: Unpack[ScoreOptions]) -> ScoreBatch:
        """Read a batch, see `irbatch.evaluate_scores`; its arrays may be used again afterwards."""
        candidates, graded = self._read(scores, relevance, batch)
        n_relevant, document_ids = batch.get("n_relevant"), batch.get("document_ids")
        in_all = None if n_relevant is None else _check_relevant(n_relevant, graded, candidates)
        above, equal = count_candidates(candidates, graded, self.evaluation.threads)
        keys = read_tie_keys(self.policy, document_ids, candidates.shape)
        before = NO_KEYS if keys is None else count_by_keys(candidates, graded, equal, keys)
        grades = graded.starts, graded.grades, graded.all_one
        counted = CountedCandidates(
            candidates.sizes, candidates.shape[1], *grades, above, equal, before
        )
        ranked = ScoreBatch(self, counted, in_all, candidates.queries)
        of_items = self._of_items
        try:
            if of_items is not None or not ranked.can_wait():
                ranked.rows()
        except TieError as problem:
            row, column = graded.row_index[problem.place], graded.columns[problem.place]
            score = candidates.score_of(row, column)
            text = (
                f"candidates of different relevance share the score {score:g}: say what "
                "decides with ties='expected', 'pessimistic', 'optimistic' or 'index'"
            )
            query = candidates.queries[row]
            raise InputError(text, source="scores", query=query, value=score) from None
        if of_items is not None:
            of_items.of_scores(ranked.rows(), candidates, graded, self.policy, document_ids)
        return ranked

    def _read(
        self, scores: Any, relevance: Any, batch: ScoreOptions
    ) -> tuple[Candidates, GradedCandidates]:
        """Return the candidates of a batch, and those with grades."""
        positives = batch.get("positives")
        if (relevance is None) == (positives is None):
            what = "neither is given" if relevance is None else "both are given"
            problem = f"say what is relevant by labels or by positives=: {what}"
            raise InputError(problem, source="relevance")
        has_ids = batch.get("document_ids") is not None
        if self.policy.by_id != has_ids:
            needed, unused = f"needed for ties='{self.policy}'", "for ties='id' or 'id_ascending'"
            problem = f"are {unused if has_ids else needed}"
            raise InputError(problem, source="document_ids")
        check_same_labels(scores, relevance)
        scores, relevance, lengths = read_score_rows(scores, relevance, batch.get("lengths"))
        candidates = Candidates(scores, read_query_ids(batch.get("query_ids")))
        if self.nan == "last":
            candidates.put_nan_last()
        is_candidate = None
        if positives is not None:
            graded = read_positives(positives, candidates.shape, candidates.queries)
        else:
            graded, is_candidate = read_labels(relevance, candidates.shape, candidates.queries)
        skips = self.evaluation.settings.no_relevant == "skip"
        mask, exclude = batch.get("mask"), batch.get("exclude")
        candidates.leave_out(is_candidate, mask, lengths, exclude, may_be_none=skips)
        left = candidates.without_hidden(graded)
        if left is not graded and positives is not None:
            self.warn_once([SOME_HIDDEN])
        return candidates, left.as_grades(candidates.queries)

    def results(self, of_queries: Rows | Callable[[], Rows], queries: Sequence[Any]) -> Results:
        """Return the results of queries, see `Results`."""
        return Results(of_queries, queries, self.plan.measures, None, self.signature)

    def nothing(self) -> Results:
        """Return the results of a batch without queries."""
        return self.results(Rows(np.empty((0, self.plan.columns))), [])

    def warn_once(self, texts: Iterable[str]) -> None:
        """Warn once of each; without numbers, as Python and logs tell warnings by their texts."""
        for text in texts:
            if text not in self._said:
                self._said.add(text)
                warn(text)


@dataclass(eq=False)
class ScoreBatch:
    """A batch of counted candidates; values that can wait are computed when they are asked for."""

    evaluator: ScoreEvaluator
    counted: CountedCandidates
    n_relevant: Ints | None
    queries: Sequence[Any]
    computed: Rows | None = None

    def __len__(self) -> int:
        return len(self.queries)

    def can_wait(self) -> bool:
        """Tell whether values can be computed later, perhaps with those of other batches.

        They are the same bits then, whatever the ranks, and nothing is rejected any more.
        """
        grades, asked = self.counted.grades, self.evaluator
        ties = asked.policy == TiePolicy.EXPECTED and bool(np.count_nonzero(self.counted.equal > 1))
        if self.n_relevant is not None or asked.policy == TiePolicy.ERROR:
            return False
        if not asked.plan.is_catalogued or asked.plan.reads_cells(ties=ties):
            return False
        all_one = self.counted.all_one
        return all_one or bool(grades.max() <= MODEST_GRADE and (grades % 1 == 0).all())

    def results(self) -> Results:
        """Return the batch's results, which may be computed later."""
        return self.evaluator.results(self.rows, self.queries)

    def rows(self) -> Rows:
        """Return what is known of the queries, computed once."""
        if self.computed is None:
            asked = self.evaluator
            ranked = rank_candidates(self.counted, asked.policy)
            every_cell = asked.plan.reads_cells(ties=ranked.ties is not None)
            blocks = pack_candidates(ranked, self.n_relevant, every_cell=every_cell)
            self.computed = compute_blocks(asked.evaluation, blocks, self.queries)
        return self.computed


def join_batches(batches: Sequence[ScoreBatch | Rows]) -> Rows:
    """Put what is known of batches one after the other; what waits is computed together."""
    left = [some for some in batches if isinstance(some, ScoreBatch) and some.computed is None]
    for evaluator in dict.fromkeys(batch.evaluator for batch in left):
        waiting = [batch for batch in left if batch.evaluator is evaluator]
        first, *others = (batch.counted for batch in waiting)
        ends = np.cumsum(list(map(len, waiting))).tolist()
        rows = ScoreBatch(evaluator, first.join(others), None, range(ends[-1])).rows()
        for batch, end in zip(waiting, ends, strict=True):
            batch.computed = rows.take(slice(end - len(batch), end))
    return Rows.join([some if isinstance(some, Rows) else some.rows() for some in batches])


def has_no_rows(scores: Any) -> bool:
    """Tell whether scores are of no queries: a matrix without rows, or an empty list."""
    if isinstance(scores, list | tuple):
        return not scores
    shape: Any = getattr(scores, "shape", ())
    return len(shape) == 2 and shape[0] == 0


def _check_relevant(n_relevant: Any, graded: GradedCandidates, candidates: Candidates) -> Ints:
    """Return how many relevant documents there are in all, checked."""
    numbers = read_n_relevant(n_relevant, candidates.queries)
    reject = functools.partial(InputError, source="n_relevant")
    if not graded.all_one:
        row = int(graded.row_index[np.argmax(graded.grades != 1)])
        raise reject("n_relevant= is for labels 0 and 1", query=candidates.queries[row])
    counts = np.diff(graded.starts)
    if (counts > numbers).any():
        row = int(np.argmax(counts > numbers))
        total = int(numbers[row])
        problem = f"{counts[row]} candidates are relevant, but only {total} documents in all"
        raise reject(problem, query=candidates.queries[row], value=total)
    return numbers


@uncompiled
def evaluate_scores(
    scores: Any,
    relevance: Any = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    **options: Unpack[ScoreOptions],
) -> Results:
    """Evaluate a score for every candidate of every query, at any depth and without sorting.

    What is no candidate (hidden by a mask, excluded, of label -100) is neither ranked nor
    relevant. Tensors on an accelerator are counted there, and only small arrays travel.

    Args:
        scores: ``(queries, candidates)`` real numbers, higher is better: an array, a tensor, or
            nested lists. They are compared in their own precision, so that whole numbers beyond
            2^53 that differ don't tie, as they may in `irbatch.evaluate`. Rows of different
            lengths, in lists or a nested tensor, have labels in rows of the same lengths.
        relevance: the candidates' labels, of the same shape: 0/1 or grades, dense or sparse; -100
            says that there is no candidate.
        measures, cutoffs, no_relevant, rel, threads: as in `irbatch.evaluate`.
        positives: instead of `relevance`, the relevant candidates' columns: one a query (-100 for
            none), a matrix of them padded with -100, or lists; ``"diagonal"`` (row i's is column i,
            as in a batch of pairs) or ``"first"`` (column 0, followed by sampled negatives). A
            query without any is as `no_relevant` says.
        mask: ``(queries, candidates)`` bools, True for a candidate.
        lengths: ``(queries,)``, how many cells of each row, from the first, are candidates.
        exclude: candidates to leave out, such as what a user has seen: bools of the scores'
            shape, a sparse matrix, or columns as of `positives`.
        n_relevant: ``(queries,)``, how many relevant documents there are in all where some are
            not among the candidates; for labels 0 and 1.
        ties: what becomes of candidates that share a score, as in `irbatch.evaluate`: by default
            ``"id"`` where `document_ids` are given, else the expected value over all of their
            orders. ``"index"`` puts earlier columns first; ``"id"`` and ``"id_ascending"`` need
            `document_ids`.
        document_ids: ``(candidates,)``, or ``(queries, candidates)``.
        query_ids: the queries' ids; default: what a frame of pandas has as its index, else 0, 1, ….
        items: what is known of the columns, in their order, for measures that read items. These
            need an order: candidates that share a score at a cutoff are an error unless `ties` are
            decided by ids or ``"index"``.
        nan: what a score that is NaN is: an ``"error"``, or minus infinity, the worst (``"last"``).

    Raises:
        InputError: if shapes, or the labels of two frames of pandas, don't match, a score is not
            a number, a column is not one of the candidates, or, unless queries without relevant
            documents are skipped, there are no queries or all candidates of one are hidden.

    >>> evaluate_scores([[0.1, 0.9, 0.4]], [[1, 0, 1]], "RR P@2").mean()
    {'RR': 0.5, 'P@2': 0.5}
    >>> batch = [[0.9, 0.1, 0.3], [0.2, 0.2, 0.1], [0.3, 0.1, 0.5]]
    >>> evaluate_scores(batch, measures="R@1", positives="diagonal").per_query("R@1")
    {0: 1.0, 1: 0.5, 2: 1.0}
    """
    check_keywords(evaluate_scores, options, ScoreOptions.__annotations__)
    evaluator = ScoreEvaluator(measures, cutoffs, **options)
    if options.get("no_relevant") == "skip" and has_no_rows(scores):
        return evaluator.nothing()
    if options.get("query_ids") is None:
        options["query_ids"] = ids_of_rows(scores)
    results = evaluator.rank(scores, relevance, **options).results()
    evaluator.warn_once(notes_on(results))
    return results


__test__ = {"evaluate_scores": evaluate_scores}  # as it is wrapped, doctest would miss it
