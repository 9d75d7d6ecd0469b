"""Evaluating a score for every candidate of every query: read, count, rank, average."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.arguments.arrays import check_real, read_n_relevant
from irbatch.data.arguments.candidates import GradedCandidates, read_labels, read_positives
from irbatch.data.arguments.ids import read_query_ids
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError, warn
from irbatch.evaluation.pipeline import evaluate_blocks
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Cutoffs, Measures
from irbatch.evaluation.settings import Settings, check_option
from irbatch.measures import Plan, parse_measures
from irbatch.pack.candidates import Candidates
from irbatch.pack.counting import count_candidates
from irbatch.pack.on_accelerator import count_on_accelerator
from irbatch.pack.scores import Ranked, pack_candidates, rank_candidates, read_tie_keys
from irbatch.runtime.arrays import significant_bits, to_numpy
from irbatch.runtime.threads import check_threads

HEAVY_TIES = 0.1  # share of the queries from which ties are worth a word


class CandidateArguments(TypedDict, total=False):
    """What `evaluate_scores` is told of candidates, and describes, where others take it."""

    positives: Any
    mask: Any
    lengths: Any
    exclude: Any
    n_relevant: Any
    document_ids: Any


def evaluate_scores(
    scores: Any,
    relevance: Any = None,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    positives: Any = None,
    mask: Any = None,
    lengths: Any = None,
    exclude: Any = None,
    n_relevant: Any = None,
    ties: str = "expected",
    document_ids: Any = None,
    query_ids: Sequence[Any] | None = None,
    no_relevant: str = "zero",
    threads: int | None = None,
) -> Results:
    """Evaluate a score for every candidate of every query, at any depth and without sorting.

    What is no candidate (hidden by a mask, excluded, of label -100) is neither ranked nor
    relevant. Tensors on an accelerator are counted there, and only small arrays travel.

    Args:
        scores: ``(queries, candidates)`` real numbers, higher is better: an array, a tensor, or
            nested lists. They are compared in their own precision.
        relevance: the candidates' labels, of the same shape: 0/1 or grades, dense or sparse; -100
            says that there is no candidate.
        measures, cutoffs, no_relevant, threads: as in `irbatch.evaluate`.
        positives: instead of `relevance`, the relevant candidates' columns: one a query, a matrix
            of them padded with -100, lists, or mappings of columns to grades; ``"diagonal"`` (row
            i's is column i, as in a batch of pairs) or ``"first"`` (column 0, followed by sampled
            negatives).
        mask: ``(queries, candidates)`` bools, True for a candidate.
        lengths: ``(queries,)``, how many cells of each row, from the first, are candidates.
        exclude: candidates to leave out, such as what a user has seen: bools of the scores'
            shape, a sparse matrix, or lists of columns.
        n_relevant: ``(queries,)``, how many relevant documents there are in all where some are
            not among the candidates; for labels 0 and 1.
        ties: what becomes of candidates that share a score, as in `irbatch.evaluate`: by default
            the expected value over all of their orders. ``"index"`` puts earlier columns first;
            ``"id"`` and ``"id_ascending"`` need `document_ids`.
        document_ids: ``(candidates,)``, or ``(queries, candidates)``.
        query_ids: the queries' ids; default 0, 1, ….

    Raises:
        InputError: if shapes don't match, a score is not a number, a column is not one of the
            candidates, or all candidates of a query are hidden.

    >>> evaluate_scores([[0.1, 0.9, 0.4]], [[1, 0, 1]], "RR P@2").mean()
    {'RR': 0.5, 'P@2': 0.5}
    >>> batch = [[0.9, 0.1, 0.3], [0.2, 0.2, 0.1], [0.3, 0.1, 0.5]]
    >>> evaluate_scores(batch, measures="R@1", positives="diagonal").per_query("R@1")
    {0: 1.0, 1: 0.5, 2: 1.0}
    """
    plan = plan_measures(relevance, measures, cutoffs)
    evaluator = ScoreEvaluator(plan, Settings(no_relevant=no_relevant), ties, threads)
    return evaluator.evaluate(
        scores,
        relevance,
        positives=positives,
        mask=mask,
        lengths=lengths,
        exclude=exclude,
        n_relevant=n_relevant,
        document_ids=document_ids,
        query_ids=query_ids,
    )


def evaluate_triples(
    positive: Any,
    negatives: Any,
    measures: Measures | None = None,
    cutoffs: Cutoffs = None,
    *,
    ties: str = "expected",
    query_ids: Sequence[Any] | None = None,
    threads: int | None = None,
) -> Results:
    """Evaluate triples: for each query the score of a positive, and those of its negatives.

    Args:
        positive: ``(queries,)``.
        negatives: ``(queries,)``, or ``(queries, n)`` for several.
        measures, cutoffs, ties, query_ids, threads: as in `evaluate_scores`.

    Raises:
        InputError: if numbers of queries differ, and as `evaluate_scores`.

    >>> evaluate_triples([0.9, 0.2], [[0.1, 0.3], [0.6, 0.1]], "RR P@1").mean()
    {'RR': 0.75, 'P@1': 0.5}
    """
    first, others = to_numpy(positive, "positive"), to_numpy(negatives, "negatives")
    first = first[:, 0] if first.ndim == 2 and first.shape[1] == 1 else first
    others = others[:, None] if others.ndim == 1 else others
    if first.ndim != 1 or others.ndim != 2 or len(first) != len(others):
        shapes = f"{first.shape} and {to_numpy(negatives, 'negatives').shape}"
        problem = f"one score a query, and one or more of negatives: not arrays of shapes {shapes}"
        raise InputError(problem, source="positive")
    for name, part in (("positive", first), ("negatives", others)):
        check_real(part.dtype, "scores", name)
    scores = np.concatenate([first[:, None], others], axis=1)
    masks = np.ma.getmaskarray(positive), np.ma.getmaskarray(negatives)
    if any(map(np.any, masks)):
        shaped = [mask.reshape(len(first), -1) for mask in masks]
        scores = np.ma.array(scores, mask=np.concatenate(shaped, axis=1))
    options: dict[str, Any] = {"ties": ties, "query_ids": query_ids, "threads": threads}
    return evaluate_scores(scores, None, measures, cutoffs, positives="first", **options)


def plan_measures(relevance: Any, measures: Measures | None, cutoffs: Cutoffs) -> Plan:
    """Plan the measures; say so where they stand in the place of relevance."""
    if measures is None:
        names = isinstance(relevance, str) or (
            isinstance(relevance, list | tuple) and any(isinstance(e, str) for e in relevance)
        )
        hint = " by keyword: relevance comes before them" if names else ""
        raise InputError(f"say which: measures='nDCG@10'{hint}", source="measures")
    return Plan(parse_measures(measures, cutoffs))


@dataclass(eq=False)
class ScoreEvaluator:
    """What stays the same over the batches of an evaluation, see `evaluate_scores`."""

    plan: Plan
    settings: Settings
    ties: str
    threads: int | None
    scored_by: str = "score"  # what the scores are, for the signature

    def __post_init__(self) -> None:
        check_option("ties", self.ties)
        check_threads(self.threads)
        self._policy = TiePolicy(self.ties)

    def evaluate(
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
        """Evaluate a batch; see `evaluate_scores`."""
        self._check_arguments(relevance, positives, document_ids)
        candidates = Candidates(scores, read_query_ids(query_ids))
        there = None
        if positives is not None:
            graded = read_positives(positives, candidates.shape, candidates.queries)
        else:
            graded, there = read_labels(relevance, candidates.shape, candidates.queries)
        candidates.leave_out(there, mask, lengths, exclude)
        named = graded.columns.size if positives is not None else 0
        graded = candidates.without_hidden(graded)
        if graded.columns.size < named:
            which = f"{named - graded.columns.size} of {named} positives are no candidates"
            hidden = "being masked, excluded or beyond lengths"
            warn(f"{which}, {hidden}: they don't count as relevant")
        graded.check_grades(candidates.queries)
        found = None if n_relevant is None else _check_relevant(n_relevant, graded, candidates)
        if candidates.on_accelerator:
            above, equal = count_on_accelerator(candidates, graded)
        else:
            above, equal = count_candidates(candidates, graded, self.threads)
        keys = read_tie_keys(self._policy, document_ids, candidates.shape)
        ranked = rank_candidates(candidates, graded, above, equal, self._policy, keys)
        _warn_of_ties(ranked, significant_bits(scores))
        every_cell = self.plan.reads_cells(ties=ranked.ties is not None)
        blocks = pack_candidates(candidates, ranked, found, every_cell=every_cell)
        order = f"{self.scored_by} descending, ties: {self.ties}"
        queries, settings = candidates.queries, self.settings
        return evaluate_blocks(self.plan, blocks, queries, settings, order, self.threads)

    def _check_arguments(self, relevance: Any, positives: Any, document_ids: Any) -> None:
        if (relevance is None) == (positives is None):
            what = "neither is given" if relevance is None else "both are given"
            problem = f"say what is relevant by labels or by positives=: {what}"
            raise InputError(problem, source="relevance")
        if self._policy.by_id != (document_ids is not None):
            needed, unused = f"needed for ties='{self.ties}'", "for ties='id' or 'id_ascending'"
            problem = f"are {needed if document_ids is None else unused}"
            raise InputError(problem, source="document_ids")


def _check_relevant(n_relevant: Any, graded: GradedCandidates, candidates: Candidates) -> Ints:
    """Return how many relevant documents there are in all, checked."""
    numbers = read_n_relevant(n_relevant, candidates.queries)
    refuse = functools.partial(InputError, source="n_relevant")
    if (graded.grades != 1).any():
        row = int(graded.row_index[np.argmax(graded.grades != 1)])
        raise refuse("n_relevant= is for labels 0 and 1", query=candidates.queries[row])
    found = np.diff(graded.starts)
    if (found > numbers).any():
        row = int(np.argmax(found > numbers))
        total = int(numbers[row])
        problem = f"{found[row]} candidates are relevant, but only {total} documents in all"
        raise refuse(problem, query=candidates.queries[row], value=total)
    return numbers


def _warn_of_ties(ranked: Ranked, bits: int) -> None:
    """Warn of scores that cannot tell candidates apart."""
    queries, tied = ranked.tied.size, int(ranked.tied.sum())
    if ranked.constant > HEAVY_TIES * queries:
        which = f"all candidates of {ranked.constant} of {queries} queries"
        warn(f"scores: {which} have one and the same score; has the model collapsed?")
    elif bits == 16 and tied > HEAVY_TIES * queries:
        which = f"relevant candidates of {tied} of {queries} queries"
        warn(f"scores of 16 bits: {which} share their score with others; compute scores in float32")
