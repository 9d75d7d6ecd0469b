"""Evaluating score matrices, batch after batch: read what is given, count, rank, average."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.arguments.arrays import read_n_relevant
from irbatch.data.arguments.candidates import Listed, read_labels, read_positives
from irbatch.data.arguments.ids import read_query_ids
from irbatch.engine.ties.policy import TiePolicy
from irbatch.errors import InputError, warn
from irbatch.evaluation.averaging import make_results
from irbatch.evaluation.pipeline import compute_blocks
from irbatch.evaluation.results import Results
from irbatch.evaluation.runs import Cutoffs, Wishes
from irbatch.evaluation.settings import Settings, check_option
from irbatch.measures import Plan, parse_measures
from irbatch.pack.candidates import Candidates
from irbatch.pack.counting import count_candidates
from irbatch.pack.on_accelerator import count_on_accelerator
from irbatch.pack.scores import Ranked, pack_candidates, rank_candidates, read_tie_keys
from irbatch.runtime.arrays import significant_bits

__all__ = ["ScoreEvaluator", "plan_measures"]


HEAVY_TIES = 0.1  # share of the queries from which ties are worth a word


def plan_measures(relevance: Any, measures: Wishes | None, cutoffs: Cutoffs) -> Plan:
    """Plan the measures, which are to be given by name where relevance is given otherwise.

    Raises:
        InputError: if there is no such measure, or they stand in the place of relevance.
    """
    if measures is None:
        names = isinstance(relevance, str) or (
            isinstance(relevance, list | tuple) and any(isinstance(e, str) for e in relevance)
        )
        hint = " by keyword: relevance comes before them" if names else ""
        raise InputError(f"say which: measures='nDCG@10'{hint}", source="measures")
    return Plan(parse_measures(measures, cutoffs))


class ScoreEvaluator:
    """What stays the same over the batches of an evaluation.

    Args:
        plan: the measures.
        settings: how queries are averaged.
        ties: see `evaluate_scores`.
        threads: how many threads share the rows; default: as many as the work is worth.
        scored_by: what the scores are, for the signature.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        ties: str,
        threads: int | None,
        scored_by: str = "score",
    ) -> None:
        check_option("ties", ties)
        self.plan, self.settings, self.threads = plan, settings, threads
        self.ties = TiePolicy(ties)
        self._scored_by = scored_by

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
            listed = read_positives(positives, candidates.shape, candidates.queries)
        else:
            listed, there = read_labels(relevance, candidates.shape, candidates.queries)
        candidates.leave_out(there, mask, lengths, exclude)
        named = listed.columns.size if positives is not None else 0
        listed = candidates.without_hidden(listed)
        if listed.columns.size < named:
            which = f"{named - listed.columns.size} of {named} positives are no candidates"
            hidden = "being masked, excluded or beyond lengths"
            warn(f"{which}, {hidden}: they don't count as relevant")
        listed.check_grades(candidates.queries)
        found = None if n_relevant is None else _check_relevant(n_relevant, listed, candidates)
        if candidates.on_accelerator:
            above, equal = count_on_accelerator(candidates, listed)
        else:
            above, equal = count_candidates(candidates, listed, self.threads)
        keys = read_tie_keys(self.ties, document_ids, candidates.shape)
        ranked = rank_candidates(candidates, listed, above, equal, self.ties, keys)
        _warn_of_ties(ranked, significant_bits(scores))
        return self._results(candidates, ranked, found)

    def _results(self, candidates: Candidates, ranked: Ranked, n_relevant: Ints | None) -> Results:
        every_cell = self.plan.reads_cells(ties=ranked.ties is not None)
        blocks = pack_candidates(candidates, ranked, n_relevant, every_cell=every_cell)
        n = candidates.shape[0]
        computed = compute_blocks(self.plan, blocks, n, self.settings, self.threads)
        order = f"{self._scored_by} descending, ties: {self.ties}"
        return make_results(computed, candidates.queries, order)

    def _check_arguments(self, relevance: Any, positives: Any, document_ids: Any) -> None:
        if (relevance is None) == (positives is None):
            what = "neither is given" if relevance is None else "both are given"
            problem = f"say what is relevant by labels or by positives=: {what}"
            raise InputError(problem, source="relevance")
        if self.ties.by_id != (document_ids is not None):
            problem = f"are needed for ties='{self.ties}'"
            if document_ids is not None:
                problem = "are for ties='id' or 'id_ascending'"
            raise InputError(problem, source="document_ids")


def _check_relevant(n_relevant: Any, listed: Listed, candidates: Candidates) -> Ints:
    """Return how many relevant documents there are in all, checked."""
    numbers = read_n_relevant(n_relevant, candidates.shape[0])
    refuse = functools.partial(InputError, source="n_relevant")
    if (listed.grades != 1).any():
        row = int(listed.row_index[np.argmax(listed.grades != 1)])
        raise refuse("n_relevant= is for labels 0 and 1", query=candidates.queries[row])
    found = np.diff(listed.starts)
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
