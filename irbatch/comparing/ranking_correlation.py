"""Rank correlation of two runs: how alike they order the documents that both retrieved."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.comparing.two_runs import shared_queries
from irbatch.data.column_names import Columns
from irbatch.engine.concordance import Concordance, compare_pairs
from irbatch.evaluation.evaluation import Rankings
from irbatch.pack.pairs import Pairs, pair_rankings
from irbatch.runtime.numbers import check_choice, check_whole
from irbatch.runtime.ragged import offsets_of, row_index_of

TIES = ("id", "a", "b")


class RankingCorrelations(NamedTuple):
    """Rank correlation of the queries that two runs have, in the order of the first.

    Values are float64 ``(queries,)``, NaN where fewer than two documents are in both rankings, or
    (ties b) one ranking has them all at one rank.

    Args:
        documents: how many documents both rankings have, int64 ``(queries,)``.
        tau: Kendall's tau of these.
        tau_ap: the AP correlation of the second ranking with the first; with ties b symmetric.
    """

    query_ids: list[Any]
    documents: Ints
    tau: Floats
    tau_ap: Floats

    def per_query(self, value: str = "tau") -> dict[Any, float]:
        """Return one of the values for each query id."""
        check_choice("value", value, self._fields[1:])
        return dict(zip(self.query_ids, getattr(self, value).tolist(), strict=True))

    def mean(self, value: str = "tau") -> float:
        """Return the mean of one of the values over queries that have it; NaN of none."""
        known = [each for each in self.per_query(value).values() if not math.isnan(each)]
        return math.fsum(known) / len(known) if known else math.nan


def ranking_correlation(
    run_a: Rankings,
    run_b: Rankings,
    depth: int | None = None,
    ties: str = "id",
    *,
    columns: Columns = None,
) -> RankingCorrelations:
    """Compare two systems by the rank correlation of their rankings, query by query.

    Documents that only one of them retrieved are left out; see `rbo` for a comparison that is
    lower with each of these.

    Args:
        run_a, run_b: `Run`, query to document to score, the path of a run file, or a table. The
            first is the true one for the AP correlation.
        depth: leave out documents beyond this rank.
        ties: what becomes of documents of one score: ``"id"`` orders them by id, descending;
            ``"a"`` is tau-a, in which they are in neither order, and the mean of the AP correlation
            over all their orders; ``"b"`` is tau-b and the symmetric AP correlation tau_ap,b.
        columns: what tables call their columns, see `irbatch.evaluate`.

    Raises:
        InputError: if the runs have no query in common, or a score is not a number.

    Source: see `kendall_tau`, `tau_ap`, `tau_ap_a` and `tau_ap_b`.

    >>> first = {"q": {"d1": 4.0, "d2": 3.0, "d3": 2.0, "d4": 1.0}}
    >>> second = {"q": {"d2": 9.0, "d1": 8.0, "d7": 7.0, "d3": 6.0, "d4": 5.0}}
    >>> found = ranking_correlation(first, second)
    >>> found.documents.tolist(), found.tau.round(4).tolist(), found.tau_ap.round(4).tolist()
    ([4], [0.6667], [0.3333])
    """
    if depth is not None:
        check_whole("depth", depth, 1)
    check_choice("ties", ties, TIES)
    runs, queries = shared_queries(run_a, run_b, columns)
    documents, values = np.empty(len(queries), np.int64), np.empty((2, len(queries)))
    for pairs in pair_rankings(runs, queries, depth, tied=ties != "id"):
        block = slice(pairs.first, pairs.last)
        common = _of_common(pairs, by_score=ties != "id")
        documents[block] = np.diff(common.starts)
        variant = "b" if ties == "b" else "a"
        values[0, block] = common.kendall_tau(variant)
        values[1, block] = common.ap_correlation(variant)
    return RankingCorrelations(queries, documents, *values)


def _of_common(pairs: Pairs, *, by_score: bool) -> Concordance:
    """Compare the documents of both in the order of the second, with the first's as values."""
    first, second = pairs.sides
    common = np.flatnonzero(second.partners >= 0)
    rows, partners = row_index_of(second.starts)[common], second.partners[common]
    starts = offsets_of(np.bincount(rows, minlength=second.starts.size - 1))
    if not by_score:
        return compare_pairs(starts, -partners.astype(np.float64))
    ranks = np.arange(common.size) - starts[rows]
    tops = second.tops[common]
    new = np.ones(common.size, bool)
    new[1:] = (tops[1:] != tops[:-1]) | (rows[1:] != rows[:-1])
    above = np.maximum.accumulate(np.where(new, np.arange(common.size), 0))
    above = ranks[above] if common.size else ranks
    return compare_pairs(starts, pairs.scores[0][first.starts[rows] + partners], above)
