"""Expected statistics where documents share a score: the mean over every order they could stand in.

Inside a tie each document is as likely as any other at each of its ranks (McSherry & Najork,
"Computing information retrieval performance measures efficiently in the presence of tied scores",
ECIR 2008). A statistic that is a sum over ranks is then a sum of chances, and no order needs to be
tried. Rows without ties are not looked at: their statistics are those of the scan, bit by bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.engine.matrix import NEGATIVE, PAD, Entries, RelevanceMatrix, SparseMatrix
from irbatch.engine.prefix import PrefixStatistics, PrefixSums, Scan, ScanRequest
from irbatch.engine.scan import KernelRequest, choose_blank, tabulate
from irbatch.engine.ties.groups import OpenTies
from irbatch.runtime.jit import kernel
from irbatch.runtime.ragged import joined_ranges, offsets_of


@dataclass(frozen=True, eq=False)
class ExpectedScan(Scan):
    """Expected statistics of the queries that have ties.

    What is not a sum over ranks stands in `sums` as it does of any scan.

    Args:
        rows: int64 ``(queries,)``, their rows in the block.
        any_hit: float64 ``(thresholds, queries, cutoffs)``, chance of a hit.
        reciprocal: of that shape, expected reciprocal rank of the first hit.
    """

    rows: Ints
    any_hit: Floats
    reciprocal: Floats

    def select(self, threshold: int, weighting: int, columns: Sequence[int]) -> ExpectedStatistics:
        """View them as `Scan.select` does."""
        return ExpectedStatistics(self, threshold, weighting, columns)


class ExpectedStatistics(PrefixStatistics):
    """What is to be expected of the first k documents of each ranking.

    A formula that is linear in one statistic, the others being the same in every order, has its
    expected value when it is given these.
    """

    _scan: ExpectedScan

    @cached_property
    def any_hit(self) -> Floats:
        """Chance that there is a hit among the first k."""
        return self._at(self._scan.any_hit[self._threshold])

    @cached_property
    def reciprocal_rank(self) -> Floats:
        """Expected reciprocal rank of the first hit among the first k."""
        return self._at(self._scan.reciprocal[self._threshold])

    @cached_property
    def first_hit(self) -> Floats:
        """One over `reciprocal_rank`, 0 where that is 0."""
        nothing = np.zeros_like(self.reciprocal_rank)
        return np.divide(1.0, self.reciprocal_rank, out=nothing, where=self.reciprocal_rank > 0)


class TiedRow(NamedTuple):
    """One query as kernels read it.

    Args:
        ranks, codes: int64 ``(documents,)``, its documents that are not blank, as in `Entries`.
        begins, ends: int64 ``(ties,)``, see `OpenTies`.
        length: how many ranks to look at.
        cutoffs: int64 ``(cutoffs,)``.
    """

    ranks: Ints
    codes: Ints
    begins: Ints
    ends: Ints
    length: int
    cutoffs: Ints


def expect(
    matrix: RelevanceMatrix, ties: OpenTies, request: ScanRequest, scanned: Scan
) -> ExpectedScan:
    """Compute the expected statistics of a block's queries with ties.

    Args:
        matrix: a block of queries.
        ties: its ties, at least one.
        request: what was scanned for.
        scanned: what the scan of the block returned.
    """
    rows, tie_starts = np.unique(ties.rows, return_index=True)
    tabulated = tabulate(matrix, request)
    entries = _list_entries(matrix, rows, choose_blank(matrix, tabulated))
    binary, graded = len(request.thresholds), len(request.weightings)
    at_cutoffs = rows.size, len(request.cutoffs)
    sums = PrefixSums(
        judged=np.zeros(at_cutoffs),
        negative=np.zeros(at_cutoffs),
        hits=np.zeros((binary, *at_cutoffs)),
        precision_sum=np.zeros((binary, *at_cutoffs)),
        first_hit=scanned.sums.first_hit.take(rows, axis=1),
        hits_at_relevant=np.zeros((binary, rows.size)),
        relevant=scanned.sums.relevant.take(rows, axis=1),
        gain=np.zeros((graded, *at_cutoffs)),
        discounted_gain=np.zeros((graded, *at_cutoffs)),
        ideal_gain=scanned.sums.ideal_gain.take(rows, axis=1),
        ideal_discounted_gain=scanned.sums.ideal_discounted_gain.take(rows, axis=1),
    )
    any_hit, reciprocal = np.zeros_like(sums.hits), np.zeros_like(sums.hits)
    lengths = np.minimum(matrix.retrieved[rows], tabulated.cutoffs[-1])
    work = 20 * int((ties.ends - ties.begins).sum() + entries.ranks.size) * (binary + graded)
    bounds = np.append(tie_starts, ties.rows.size)
    _expect_rows.run(work, entries, ties, bounds, lengths, tabulated, sums, any_hit, reciprocal)
    if matrix.complete:  # those passed over are judged, too
        np.minimum(tabulated.cutoffs, lengths[:, None], out=sums.judged)
    return ExpectedScan(scanned.cutoffs, scanned.retrieved[rows], sums, rows, any_hit, reciprocal)


def _list_entries(matrix: RelevanceMatrix, rows: Ints, blank: int) -> Entries:
    """List the documents of some rows that are not blank."""
    if isinstance(matrix, SparseMatrix) and blank == 0:
        starts, ranks, codes = matrix.entries
        sizes = np.diff(starts)[rows]
        picks = joined_ranges(starts[rows], sizes)
        return Entries(offsets_of(sizes), ranks[picks], codes[picks])
    cells = matrix.codes[rows]
    row_index, columns = np.nonzero((cells != blank) & (cells != PAD))
    starts = np.searchsorted(row_index, np.arange(rows.size + 1))
    return Entries(starts, columns + 1, cells[row_index, columns].astype(np.int64))


@kernel
def _expect_rows(
    entries: Entries,
    ties: OpenTies,
    tie_starts: Ints,
    lengths: Ints,
    request: KernelRequest,
    sums: PrefixSums,
    any_hit: Floats,
    reciprocal: Floats,
) -> None:
    """Walk each row, rank by rank inside ties and from document to document outside."""
    starts = entries.starts
    lowest_relevant = request.lowest_relevant
    for q in range(lengths.size):
        first, last = starts[q], starts[q + 1]
        ranks, codes = entries.ranks[first:last], entries.codes[first:last]
        first, last = tie_starts[q], tie_starts[q + 1]
        begins, ends = ties.begins[first:last], ties.ends[first:last]
        row = TiedRow(ranks, codes, begins, ends, lengths[q], request.cutoffs)
        _expect_judged(row, sums.judged[q], sums.negative[q])
        for t in range(lowest_relevant.size):
            hits, precision_sum = sums.hits[t, q], sums.precision_sum[t, q]
            chances = any_hit[t, q], reciprocal[t, q]
            sums.hits_at_relevant[t, q] = _expect_hits(
                row, lowest_relevant[t], sums.relevant[t, q], hits, precision_sum, chances
            )
        for g in range(request.gains.shape[0]):
            gain, discounted = sums.gain[g, q], sums.discounted_gain[g, q]
            _expect_gains(row, request.gains[g], request.divisors[g], gain, discounted)


@kernel
def _shared_ranks(row: TiedRow, rank: int, tie: int) -> tuple[int, int, int]:
    """Find the ranks that a document shares: the first, the last, and the tie to go on from."""
    begins, ends = row.begins, row.ends
    while tie < ends.size and ends[tie] < rank:
        tie += 1
    if tie < ends.size and begins[tie] < rank:
        return begins[tie] + 1, ends[tie], tie
    return rank, rank, tie


@kernel
def _expect_judged(row: TiedRow, judged: Floats, negative: Floats) -> None:
    """Write the expected number of judged documents, and of those graded below 0."""
    ranks, codes, length, cutoffs = row.ranks, row.codes, row.length, row.cutoffs
    seen = 0.0
    below = 0.0
    i = j = k = 0
    while i < ranks.size:
        first, last, j = _shared_ranks(row, ranks[i], j)
        listed = 0
        minus = 0
        while i < ranks.size and ranks[i] <= last:
            listed += 1
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
            seen += listed / size
            below += minus / size
    judged[k:] = seen
    negative[k:] = below


@kernel
def _expect_hits(
    row: TiedRow,
    lowest: int,
    total: int,
    hits: Floats,
    precision_sum: Floats,
    chances: tuple[Floats, Floats],
) -> float:
    """Write what is expected of the hits at each cutoff; return that of those at rank `total`."""
    ranks, codes, length, cutoffs = row.ranks, row.codes, row.length, row.cutoffs
    any_hit, reciprocal = chances
    before = 0  # hits above the tie: their number is certain
    count = 0.0
    precisions = 0.0
    none = 1.0  # chance that there was no hit yet
    first_rank = 0.0
    at_total = 0.0
    i = j = k = 0
    while i < ranks.size:
        first, last, j = _shared_ranks(row, ranks[i], j)
        mine = 0
        while i < ranks.size and ranks[i] <= last:
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
    row: TiedRow, gains: Floats, divisors: Floats, gain: Floats, discounted: Floats
) -> None:
    """Write the expected gain and discounted gain at each cutoff."""
    ranks, codes, length, cutoffs = row.ranks, row.codes, row.length, row.cutoffs
    plain_sum = 0.0
    discounted_sum = 0.0
    i = j = k = 0
    while i < ranks.size:
        first, last, j = _shared_ranks(row, ranks[i], j)
        of_all = 0.0
        while i < ranks.size and ranks[i] <= last:
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
                gain[k] = plain_sum
                discounted[k] = discounted_sum
                k += 1
            plain_sum += mean
            discounted_sum += mean / divisors[rank - 1]
    gain[k:] = plain_sum
    discounted[k:] = discounted_sum
