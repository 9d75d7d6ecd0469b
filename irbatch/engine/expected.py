"""Expected statistics where documents share a score: the mean over every order they could stand in.

Inside a tie each document is as likely as any other at each of its ranks (McSherry & Najork,
"Computing information retrieval performance measures efficiently in the presence of tied scores",
ECIR 2008). A statistic that is a sum over ranks is then a sum of chances, and no order needs to be
tried. Rows without ties are not looked at: their statistics are those of the scan, bit by bit.

Of measures whose expected value is not a function of expected statistics the orders are tried: each
becomes a row of a relevance matrix, and the measure's mean over them is taken.
"""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator
from typing import Annotated, NamedTuple

import numpy as np

from irbatch.array_types import Codes, Floats, Floats3, Ints
from irbatch.engine.matrix import (
    BLOCK_BYTES,
    NEGATIVE,
    PAD,
    UNJUDGED,
    Entries,
    RelevanceMatrix,
    SparseMatrix,
)
from irbatch.engine.scan import Scan, ScanRequest, choose_blank, empty_sums, tabulate
from irbatch.engine.scan_rows import KernelRequest, PrefixSums
from irbatch.engine.ties import OpenTies
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import distinct
from irbatch.runtime.ragged import joined_ranges, offsets_of


class TiedRow(NamedTuple):
    """One query as kernels read it: entries, open ties, how many ranks to look at, cutoffs.

    No rank looked at is beyond the last cutoff.
    """

    ranks: Ints
    codes: Ints
    begins: Ints
    ends: Ints
    length: int
    cutoffs: Ints


def expect(
    matrix: RelevanceMatrix, ties: OpenTies, request: ScanRequest, scanned: Scan
) -> tuple[Ints, Scan]:
    """Return the rows of a block's queries with ties, of which there are some, and expectations."""
    tie_starts = np.flatnonzero(np.append(True, ties.rows[1:] != ties.rows[:-1]))
    rows = ties.rows[tie_starts]
    tabulated = tabulate(matrix, request)
    entries = _list_entries(matrix, rows, choose_blank(matrix, tabulated))
    certain = ("first_hit", "relevant", "ideal_gain", "ideal_discounted_gain")
    known = {name: getattr(scanned.sums, name).take(rows, axis=1) for name in certain}
    sums = empty_sums(request, rows.size, np.float64)._replace(**known)
    any_hit, reciprocal = np.empty_like(sums.hits), np.empty_like(sums.hits)
    lengths = np.minimum(matrix.retrieved[rows], tabulated.cutoffs[-1])
    # Judged documents, and negative ones, are counted as gains that no discount divides. Gains
    # are looked up by code: those below 0 count from the end.
    levels = matrix.levels.size
    gains = np.zeros((len(request.weightings) + 2, levels + 2))
    gains[:-2, :levels] = tabulated.gains[:, -PAD:]
    gains[-2], gains[-1, NEGATIVE] = 1.0, 1.0
    undivided = np.ones((1, tabulated.divisors.shape[1]))
    divisors = np.append(tabulated.divisors, undivided, axis=0)
    tabulated = tabulated._replace(gains=gains, divisors=divisors)
    bounds = np.append(tie_starts, ties.rows.size)
    kinds = len(request.thresholds) + len(request.weightings)
    work = 20 * int((ties.ends - ties.begins).sum() + entries.ranks.size) * kinds
    _expect_rows.run(work, entries, ties, bounds, lengths, tabulated, sums, any_hit, reciprocal)
    if matrix.complete:  # those passed over are judged, too
        np.minimum(tabulated.cutoffs, lengths[:, None], out=sums.judged)
    return rows, Scan(scanned.cutoffs, scanned.retrieved[rows], sums, any_hit, reciprocal)


def _list_entries(matrix: RelevanceMatrix, rows: Ints, blank: int) -> Entries:
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
    sums: Annotated[PrefixSums, "f8"],
    any_hit: Floats3,
    reciprocal: Floats3,
) -> None:
    """Walk each row, rank by rank inside ties and from document to document outside."""
    starts, lowest = entries.starts, request.lowest_relevant
    gains, divisors = request.gains, request.divisors
    for q in range(lengths.size):
        first, last = starts[q], starts[q + 1]
        ranks, codes = entries.ranks[first:last], entries.codes[first:last]
        first, last = tie_starts[q], tie_starts[q + 1]
        begins, ends = ties.begins[first:last], ties.ends[first:last]
        row = TiedRow(ranks, codes, begins, ends, lengths[q], request.cutoffs)
        judged, negative = sums.judged[q], sums.negative[q]
        _expect_sums(row, gains[-2], gains[-1], divisors[-1], judged, negative)
        for t in range(lowest.size):
            hits, precision_sum = sums.hits[t, q], sums.precision_sum[t, q]
            chances, total = (any_hit[t, q], reciprocal[t, q]), sums.relevant[t, q]
            at_total = _expect_hits(row, lowest[t], total, hits, precision_sum, chances)
            sums.hits_at_relevant[t, q] = at_total
        for g in range(sums.gain.shape[0]):
            gain, discounted = sums.gain[g, q], sums.discounted_gain[g, q]
            _expect_sums(row, gains[g], gains[g], divisors[g], gain, discounted)


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
            while cutoffs[k] < rank:
                hits[k] = count
                precision_sum[k] = precisions
                any_hit[k] = 1.0 - none
                reciprocal[k] = first_rank
                k += 1
            above = rank - first
            count = before + mine * (above + 1) / size
            precisions += mine / size * (before + 1 + above * others) / rank
            first_rank += none * mine / (size - above) / rank
            # Comes to exactly 0 where only hits are left of the tie, and stays 0.
            none = none * (size - above - mine) / (size - above)
            if rank <= total:
                at_total = count
        before += mine
    hits[k:] = count
    precision_sum[k:] = precisions
    any_hit[k:] = 1.0 - none
    reciprocal[k:] = first_rank
    return at_total


@kernel
def _expect_sums(
    row: TiedRow,
    added: Floats,
    divided: Floats,
    divisors: Floats,
    plain: Floats,
    discounted: Floats,
) -> None:
    """Write two expected sums at each cutoff: of what documents add by their codes.

    What is `divided` is so by its rank's divisor. A NEGATIVE code counts from the end.
    """
    ranks, codes, length, cutoffs = row.ranks, row.codes, row.length, row.cutoffs
    plain_sum = 0.0
    discounted_sum = 0.0
    i = j = k = 0
    while i < ranks.size:
        first, last, j = _shared_ranks(row, ranks[i], j)
        plain_here = 0.0
        divided_here = 0.0
        while i < ranks.size and ranks[i] <= last:
            plain_here += added[codes[i]]
            divided_here += divided[codes[i]]
            i += 1
        if plain_here == 0.0:
            continue
        size = last - first + 1
        for rank in range(first, last + 1):
            if rank > length:
                break
            while cutoffs[k] < rank:
                plain[k] = plain_sum
                discounted[k] = discounted_sum
                k += 1
            plain_sum += plain_here / size
            discounted_sum += divided_here / size / divisors[rank - 1]
    plain[k:] = plain_sum
    discounted[k:] = discounted_sum


# ---------------------------------------------------------------- all orders


MOST_ORDERS = math.factorial(7)  # of a query: so many are all tried
DRAWS = 1000  # or a few more, of a query that has more orders
SEED = 20081  # the same draws for a query wherever it stands, and others for others


def orders_of(matrix: RelevanceMatrix) -> Iterator[tuple[int, Iterator[RelevanceMatrix]]]:
    """Give every query with ties its orders: all that differ, or a thousand drawn from them.

    Yields its row in the block, and matrices whose rows are its orders, all equally likely.
    """
    if (ties := matrix.ties) is None:
        return
    for row in distinct(ties.rows).tolist():
        _, begins, ends = ties.of_rows(row, row + 1)
        yield row, _matrices(matrix, row, list(map(slice, begins.tolist(), ends.tolist())))


def _matrices(matrix: RelevanceMatrix, row: int, spans: list[slice]) -> Iterator[RelevanceMatrix]:
    """Write a query's orders into matrices of bounded size."""
    codes = matrix.codes[row]
    # Sorted, so that the draws don't depend on the order that the block happens to have.
    tied = [np.sort(codes[span]) for span in spans]
    times = [np.unique(tie, return_counts=True)[1] for tie in tied]
    # Of the orders of each tie that differ.
    counts = [math.prod(map(math.comb, own.cumsum().tolist(), own.tolist())) for own in times]
    if (number := math.prod(counts)) <= MOST_ORDERS:
        arranged = [_arrange(tie) for tie in tied]
        picks = np.unravel_index(np.arange(number), counts)
    else:
        largest = max(tie.size for tie in tied)
        number = -(-DRAWS // largest) * largest if largest <= DRAWS else DRAWS
        # Of grades, not of codes: those are places among the grades of all queries of the block.
        grades = np.append(matrix.levels + 0.0, [NEGATIVE, UNJUDGED])
        places = zip(tied, spans, strict=True)
        own = [zlib.crc32(grades[tie].data, span.start) for tie, span in places]
        random = np.random.default_rng([SEED, *own])
        arranged = [_draw(tie, number, random) for tie in tied]
        picks = (np.arange(number),) * len(tied)
    at_once = max(8 * BLOCK_BYTES // max(codes.nbytes, 1), 1)
    for start in range(0, number, at_once):
        stop = min(start + at_once, number)
        written = np.repeat(codes[None], stop - start, axis=0)
        for span, orders, pick in zip(spans, arranged, picks, strict=True):
            written[:, span] = orders[pick[start:stop]]
        retrieved = np.repeat(matrix.retrieved[row], stop - start)
        judged = np.repeat(matrix.judged[row : row + 1], stop - start, axis=0)
        yield RelevanceMatrix(written, matrix.levels, retrieved, judged, matrix.complete)


def _draw(codes: Codes, number: int, random: np.random.Generator) -> Codes:
    """Draw orders of a tie, ``(number, documents)``.

    Random ones and their rotations: in as many of these as there are documents, each stands once
    at each rank, so that what is a sum over ranks comes out exactly.
    """
    turns = codes.size if codes.size <= number else max(number // 10, 1)
    bases = random.permuted(np.tile(codes, (-(-number // turns), 1)), axis=1)
    draws = random.permutation(number)  # so that ties of one size don't turn in step
    turned = draws % turns * codes.size // turns
    places = (np.arange(codes.size) + turned[:, None]) % codes.size
    return np.take_along_axis(bases[draws // turns], places, axis=1)


def _arrange(codes: Codes) -> Codes:
    """List a tie's different orders, ``(orders, documents)``; the most frequent code fills gaps."""
    kinds, counts = np.unique(codes, return_counts=True)
    most = int(counts.argmax())
    orders = [(np.full_like(codes, kinds[most]), tuple(range(codes.size)))]
    others = [i for i in range(kinds.size) if i != most]
    for code, count in zip(kinds[others].tolist(), counts[others].tolist(), strict=True):
        longer = []
        for order, free in orders:
            for places in itertools.combinations(free, count):
                filled = order.copy()
                filled[list(places)] = code
                left = () if code == kinds[others[-1]] else set(free).difference(places)
                longer.append((filled, tuple(sorted(left))))
        orders = longer
    return np.stack([order for order, _ in orders])
