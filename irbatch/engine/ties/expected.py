"""Expected statistics where documents share a score: the mean over every order they could stand in.

Inside a tie each document is as likely as any other at each of its ranks (McSherry & Najork,
"Computing information retrieval performance measures efficiently in the presence of tied scores",
ECIR 2008). A statistic that is a sum over ranks is then a sum of chances, and no order needs to be
tried. Rows without ties are not looked at: their statistics are those of the scan, bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.listed import ListedMatrix
from irbatch.engine.matrix import NEGATIVE, PAD, RelevanceMatrix
from irbatch.engine.prefix import PrefixStatistics, Scan, ScanRequest
from irbatch.engine.scan import choose_blank, find_lowest_relevant, tabulate_gains
from irbatch.engine.ties.open_ties import OpenTies
from irbatch.runtime.jit import kernel
from irbatch.runtime.ragged import joined_ranges, offsets_of

__all__ = ["Expected", "ExpectedStatistics", "expect"]


@dataclass(frozen=True, eq=False)
class Expected:
    """Expected statistics of the queries that have ties.

    Arrays are float64, of the shapes that `Scan` has them in, for these queries
    only; `reciprocal` is ``(thresholds, queries, cutoffs)``.

    Attributes:
        rows: int64 ``(queries,)``, their rows in the block.
        scan: what is not a sum over ranks stands here as in any scan.
        reciprocal: expected reciprocal rank of the first hit.
        any_hit: chance of a hit.
    """

    rows: Ints
    scan: Scan
    reciprocal: Floats
    any_hit: Floats
    hits_at_relevant: Floats

    def select(self, threshold: int, weighting: int, columns: list[int]) -> ExpectedStatistics:
        """View them as `irbatch.engine.prefix.Scan.select` does."""
        return ExpectedStatistics(self, threshold, weighting, columns)


class ExpectedStatistics(PrefixStatistics):
    """What is to be expected of the first k documents of each ranking.

    A formula that is linear in one statistic, the others being the same in every order, has its
    expected value when it is given these.
    """

    def __init__(
        self, expected: Expected, threshold: int, weighting: int, columns: list[int]
    ) -> None:
        super().__init__(expected.scan, threshold, weighting, columns)
        self._expected = expected

    @cached_property
    def any_hit(self) -> Floats:
        """Chance that there is a hit among the first k."""
        return self._at(self._expected.any_hit[self._threshold])

    @cached_property
    def reciprocal_rank(self) -> Floats:
        """Expected reciprocal rank of the first hit among the first k."""
        return self._at(self._expected.reciprocal[self._threshold])

    @cached_property
    def first_hit(self) -> Floats:
        """One over `reciprocal_rank`, 0 where that is 0."""
        nothing = np.zeros_like(self.reciprocal_rank)
        return np.divide(1.0, self.reciprocal_rank, out=nothing, where=self.reciprocal_rank > 0)

    @cached_property
    def hits_at_relevant(self) -> Floats:
        """Hits among the first min(k, `relevant`) documents."""
        of_all = self._expected.hits_at_relevant[self._threshold][:, None]
        return np.where(self.cutoff < self.relevant, self.hits, of_all)


def expect(
    matrix: RelevanceMatrix, ties: OpenTies, request: ScanRequest, scanned: Scan
) -> Expected:
    """Compute the expected statistics of a block's queries with ties.

    Args:
        matrix: a block of queries.
        ties: its ties, at least one.
        request: what was scanned for.
        scanned: what the scan of the block returned.
    """
    rows, tie_starts = np.unique(ties.rows, return_index=True)
    lowest_relevant = find_lowest_relevant(matrix.levels, request)
    gains = tabulate_gains(matrix.levels, request)
    blank = choose_blank(matrix, lowest_relevant, gains)
    starts, ranks, codes = _listing(matrix, rows, blank)
    at = rows.size, len(request.cutoffs)
    binary, graded = len(request.thresholds), len(request.weightings)
    counted = {
        name: np.zeros((*leading, *at))
        for name, leading in {
            "judged": (), "negative": (), "hits": (binary,), "precision_sum": (binary,),
            "any_hit": (binary,), "reciprocal": (binary,), "gain": (graded,),
            "discounted_gain": (graded,),
        }.items()
    }  # fmt: skip
    hits_at_relevant = np.zeros((binary, rows.size))
    cutoffs = scanned.cutoffs
    deepest = max(matrix.depth, 1)
    _expect_rows.run(
        20 * int((ties.ends - ties.begins).sum() + ranks.size) * (binary + graded),
        starts, ranks, codes, np.append(tie_starts, ties.rows.size), ties.begins, ties.ends,
        matrix.complete, np.minimum(matrix.retrieved[rows], cutoffs[-1]).astype(np.int64),
        np.minimum(cutoffs, deepest + 1).astype(np.int64),
        lowest_relevant, gains,
        np.stack([each.discount(deepest)[:deepest] for each in request.weightings]),
        scanned.relevant[:, rows], *counted.values(), hits_at_relevant,
    )  # fmt: skip
    reciprocal, any_hit = counted.pop("reciprocal"), counted.pop("any_hit")
    scan = Scan(
        cutoffs=cutoffs,
        retrieved=scanned.retrieved[rows],
        first_hit=scanned.first_hit[:, rows],
        hits_at_relevant=scanned.hits_at_relevant[:, rows],
        relevant=scanned.relevant[:, rows],
        ideal_gain=scanned.ideal_gain[:, rows],
        ideal_discounted_gain=scanned.ideal_discounted_gain[:, rows],
        **counted,  # type: ignore[arg-type]  # counts that are not whole
    )
    return Expected(rows, scan, reciprocal, any_hit, hits_at_relevant)


def _listing(matrix: RelevanceMatrix, rows: Ints, blank: int) -> tuple[Ints, Ints, Ints]:
    """List the documents of some rows that are not blank: where each row's begin, ranks, codes."""
    if isinstance(matrix, ListedMatrix) and blank == 0:
        counts = np.diff(matrix.starts)[rows]
        picks = joined_ranges(matrix.starts[rows], counts)
        return offsets_of(counts), matrix.ranks[picks], matrix.listed[picks]
    codes = matrix.codes[rows]
    row_index, places = np.nonzero((codes != blank) & (codes != PAD))
    starts = np.searchsorted(row_index, np.arange(rows.size + 1))
    return starts, places + 1, codes[row_index, places].astype(np.int64)


@kernel
def _expect_rows(
    starts: Ints, ranks: Ints, codes: Ints, tie_starts: Ints, begins: Ints, ends: Ints,
    complete: bool, lengths: Ints, cutoffs: Ints,
    lowest_relevant: Ints, gains: Floats, divisors: Floats, relevant: Ints,
    judged: Floats, negative: Floats, hits: Floats, precision_sum: Floats, any_hit: Floats,
    reciprocal: Floats, gain: Floats, discounted_gain: Floats, hits_at_relevant: Floats,
) -> None:  # fmt: skip
    """Walk each row, rank by rank inside ties and from document to document outside."""
    for q in range(lengths.size):
        tied = tie_starts[q], tie_starts[q + 1]
        listed = starts[q], starts[q + 1]
        _expect_judged(
            ranks, codes, listed, begins, ends, tied, complete, lengths[q], cutoffs,
            judged[q], negative[q],
        )  # fmt: skip
        for t in range(lowest_relevant.size):
            hits_at_relevant[t, q] = _expect_hits(
                ranks, codes, listed, begins, ends, tied, lengths[q], cutoffs,
                lowest_relevant[t], relevant[t, q],
                hits[t, q], precision_sum[t, q], any_hit[t, q], reciprocal[t, q],
            )  # fmt: skip
        for g in range(gains.shape[0]):
            _expect_gains(
                ranks, codes, listed, begins, ends, tied, lengths[q], cutoffs,
                gains[g], divisors[g], gain[g, q], discounted_gain[g, q],
            )  # fmt: skip


@kernel
def _span(rank: int, begins: Ints, ends: Ints, tie: int, last_tie: int) -> tuple[int, int, int]:
    """Find the ranks that a document shares: the first, the last, and the tie to go on from."""
    while tie < last_tie and ends[tie] < rank:
        tie += 1
    if tie < last_tie and begins[tie] < rank:
        return begins[tie] + 1, ends[tie], tie
    return rank, rank, tie


@kernel
def _expect_judged(
    ranks: Ints, codes: Ints, listed: tuple[int, int], begins: Ints, ends: Ints,
    tied: tuple[int, int], complete: bool, length: int, cutoffs: Ints,
    judged: Floats, negative: Floats,
) -> None:  # fmt: skip
    """Write the expected number of judged documents, and of those graded below 0."""
    below = 0.0
    seen = 0.0
    k = 0
    i, stop = listed
    j, last_tie = tied
    while i < stop:
        first, last, j = _span(ranks[i], begins, ends, j, last_tie)
        mine = 0
        minus = 0
        while i < stop and ranks[i] <= last:
            mine += 1
            minus += codes[i] == NEGATIVE
            i += 1
        size = last - first + 1
        for rank in range(first, last + 1):
            if rank > length:
                break
            while k < cutoffs.size and cutoffs[k] < rank:
                judged[k] = seen
                negative[k] = below
                k += 1
            seen += mine / size
            below += minus / size
    judged[k:] = seen
    negative[k:] = below
    if complete:
        for k in range(cutoffs.size):
            judged[k] = min(cutoffs[k], length)


@kernel
def _expect_hits(
    ranks: Ints, codes: Ints, listed: tuple[int, int], begins: Ints, ends: Ints,
    tied: tuple[int, int], length: int, cutoffs: Ints, lowest: int, total: int,
    hits: Floats, precision_sum: Floats, any_hit: Floats, reciprocal: Floats,
) -> float:  # fmt: skip
    """Write what is expected of the hits at each cutoff; return that of those at rank `total`."""
    before = 0  # hits above the tie: their number is certain
    count = 0.0
    precisions = 0.0
    none = 1.0  # chance that there was no hit yet
    first_rank = 0.0
    at_total = 0.0
    k = 0
    i, stop = listed
    j, last_tie = tied
    while i < stop:
        first, last, j = _span(ranks[i], begins, ends, j, last_tie)
        mine = 0
        while i < stop and ranks[i] <= last:
            mine += codes[i] >= lowest
            i += 1
        if mine == 0:
            continue
        size = last - first + 1
        others = (mine - 1) / max(size - 1, 1)  # hits expected at each other rank of the tie
        for rank in range(first, last + 1):
            if rank > length:
                break
            while k < cutoffs.size and cutoffs[k] < rank:
                hits[k] = count
                precision_sum[k] = precisions
                any_hit[k] = 1.0 - none
                reciprocal[k] = first_rank
                k += 1
            above = rank - first
            count = before + mine * (above + 1) / size
            precisions += mine / size * (before + 1 + above * others) / rank
            if before == 0 and size - above >= mine:
                chance = none * mine / (size - above)
                first_rank += chance / rank
                none = none * (size - above - mine) / (size - above)
            else:
                none = 0.0
            if rank <= total:
                at_total = count
        before += mine
    hits[k:] = count
    precision_sum[k:] = precisions
    any_hit[k:] = 1.0 - none
    reciprocal[k:] = first_rank
    return at_total


@kernel
def _expect_gains(
    ranks: Ints, codes: Ints, listed: tuple[int, int], begins: Ints, ends: Ints,
    tied: tuple[int, int], length: int, cutoffs: Ints, gains: Floats, divisors: Floats,
    gain: Floats, discounted_gain: Floats,
) -> None:  # fmt: skip
    """Write the expected gain and discounted gain at each cutoff."""
    plain = 0.0
    discounted = 0.0
    k = 0
    i, stop = listed
    j, last_tie = tied
    while i < stop:
        first, last, j = _span(ranks[i], begins, ends, j, last_tie)
        of_all = 0.0
        while i < stop and ranks[i] <= last:
            if codes[i] >= 0:
                of_all += gains[codes[i]]
            i += 1
        if of_all == 0.0:
            continue
        mean = of_all / (last - first + 1)
        for rank in range(first, last + 1):
            if rank > length:
                break
            while k < cutoffs.size and cutoffs[k] < rank:
                gain[k] = plain
                discounted_gain[k] = discounted
                k += 1
            plain += mean
            discounted += mean / divisors[rank - 1]
    gain[k:] = plain
    discounted_gain[k:] = discounted
