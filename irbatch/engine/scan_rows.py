"""The kernels of the scan: what comes of rows of a relevance matrix.

Each row is walked once for where its judged documents stand (words of documents that count for
nothing are skipped whole); sums over these few documents are read off at all cutoffs, for all
relevance thresholds and all gains, and the ideal ranking's come off the level counts. Sums run in
rank order in float64, and a ranking and its ideal are summed the same way, so that a perfect
ranking comes to exactly its ideal.

Many rows take each step together: most loops are long, few branch, and the memory that results
are written to is fetched in long runs (half the time of row after
row). All kernels stand in this file because they call each other.
"""

from typing import Annotated, Any, NamedTuple

from irbatch.array_types import Codes2, Floats, Floats2, Floats3, Ints, Ints2, NDArray
from irbatch.engine.matrix import NEGATIVE, PAD
from irbatch.runtime.kernels import kernel

Counts2 = Annotated[NDArray[Any], "i4 f8", 2]  # float64 where they are expected
Counts3 = Annotated[NDArray[Any], "i4 f8", 3]
Naturals = Annotated[Ints, "u4"]


class PrefixSums(NamedTuple):
    """What a scan counts and adds up: ``(thresholds or weightings, queries, cutoffs)``.

    `judged` and `negative` lack the first axis; `first_hit`, `hits_at_relevant` and `relevant`
    the last.
    """

    judged: Counts2
    negative: Counts2
    hits: Counts3
    precision_sum: Floats3
    first_hit: Ints2
    hits_at_relevant: Counts2
    relevant: Ints2
    gain: Floats3
    discounted_gain: Floats3
    ideal_gain: Floats3
    ideal_discounted_gain: Floats3


class KernelRequest(NamedTuple):
    """A `ScanRequest` as kernels read it, for the levels of a block."""

    cutoffs: Ints  # (cutoffs,)
    slots: Naturals  # (ranks,): the number of the first cutoff that each rank is within
    lowest_relevant: Ints  # (thresholds,): the lowest relevant level at each
    gains: Floats2  # (weightings, levels - PAD): by code less `PAD`
    ideal_order: Ints2  # (weightings, levels): levels from the highest gain down
    divisors: Floats2  # (weightings, ranks): the discounts


class Rows(NamedTuple):
    """A block as the scan reads it: cells to walk, or entries that are written down already."""

    codes: Codes2  # (queries, depth); without columns where there are entries
    words: Ints2  # the same memory
    code_shift: int  # a code has ``1 << code_shift`` bits
    blank: int  # the code that is passed over
    blank_word: int  # a word of it
    ones: int  # a word of codes that are 1
    starts: Ints  # this and the next two are `Entries`; empty where cells are walked
    ranks: Ints
    entry_codes: Ints
    complete: bool  # whether all retrieved documents are judged
    lengths: Ints  # (queries,): how many ranks to look at
    level_counts: Ints2  # (queries, levels): the judged documents of each level


class Space(NamedTuple):
    """Memory that a thread works in: the documents of a batch of rows, and sums over them.

    A row's documents that are not blank are `starts[r]` to `starts[r + 1]`. The first of them
    stands for none: a cutoff before all others reads off its sums, which are 0.
    """

    words: Naturals  # where a row's words hold documents
    starts: Naturals  # (rows + 1,)
    places: Naturals  # (documents,): ranks from 0
    codes: Naturals  # less `PAD`, which makes them 0 or more
    last_within: Annotated[Ints, "u4", 2]  # (rows, cutoffs): the last document within each cutoff
    counts: Annotated[Ints, "i4"]  # (documents,)
    gained: Floats  # (documents,)
    terms: Floats


# An index of which the compiler knows that it isn't negative is used as it is.
NATURAL = 2**31 - 1
LARGEST = 2**63 - 1


@kernel
def scan_rows(
    rows: Rows,
    request: KernelRequest,
    sums: Annotated[PrefixSums, "i4"],
    space: Space,
    start: int,
    stop: int,
) -> None:
    """Scan rows `start` to `stop`, batch after batch, and write what comes of them."""
    first = start
    while first < stop:
        if rows.starts.size > 0:
            last = _copy_entries(rows, space, first, stop)
        else:
            last = _collect_judged(rows, space, first, stop)
        _find_cutoffs(request, space, last - first)
        _count_judged(rows, request, sums, space, first, last)
        for t in range(request.lowest_relevant.size):
            _sum_hits(rows, request, t, sums, space, first, last)
        for g in range(request.gains.shape[0]):
            _sum_gains(request, g, sums, space, first, last)
            for q in range(first, last):
                gain, discounted = sums.ideal_gain[g, q], sums.ideal_discounted_gain[g, q]
                _sum_ideal_gains(rows.level_counts[q], request, g, gain, discounted)
        first = last


@kernel
def _copy_entries(rows: Rows, space: Space, first: int, stop: int) -> int:
    """Copy the documents of as many rows as there is space for; return where these end."""
    starts, places, codes = space.starts, space.places, space.codes
    n = 0
    q = first
    last = min(first + starts.size - 1, stop)
    while q < last and n + rows.starts[q + 1] - rows.starts[q] < places.size:
        places[n] = 0
        codes[n] = 0
        n += 1
        for i in range(rows.starts[q], rows.starts[q + 1]):
            if rows.ranks[i] <= rows.lengths[q]:
                places[n] = rows.ranks[i] - 1
                codes[n] = rows.entry_codes[i] - PAD
                n += 1
        q += 1
        starts[q - first] = n
    return q


@kernel
def _collect_judged(rows: Rows, space: Space, first: int, stop: int) -> int:
    """Write places and codes of as many rows' documents as there is space for.

    Returns where these rows end. Words are written down first and then kept or not, without a
    branch: which of them hold documents cannot be predicted.
    """
    starts, filled_words, places, codes = space.starts, space.words, space.places, space.codes
    n = 0
    q = first
    last = min(first + starts.size - 1, stop)
    while q < last and n + rows.codes.shape[1] < places.size:
        words, row, length = rows.words[q], rows.codes[q], rows.lengths[q]
        n_words = ((length << rows.code_shift) + 63) >> 6
        filled = 0
        for w in range(n_words):
            filled_words[filled] = w
            filled += words[w] != rows.blank_word
        places[n] = 0
        codes[n] = 0
        n = (n + 1) & NATURAL
        begin = n
        if 2 * filled > n_words:
            n = _look_at_cells(rows, q, space, filled, n)
        else:
            n = _look_at_bits(rows, q, space, filled, n)
        while n > begin and places[n - 1] >= length:  # beyond the last cutoff, or the end
            n -= 1
        for i in range(begin, n):
            codes[i] = int(row[places[i]]) - PAD
        q += 1
        starts[q - first] = n
    return q


@kernel
def _look_at_cells(rows: Rows, q: int, space: Space, filled: int, n: int) -> int:
    """Write the places of a row's documents from `n` on; return where they end.

    Each cell of the words that hold some is looked at, which takes less than the other way does
    where most words hold some.
    """
    row, places = rows.codes[q], space.places
    cells = 64 >> rows.code_shift
    for j in range(filled):
        start = space.words[j] * cells
        for i in range(cells):
            places[n & NATURAL] = start + i
            n += row[start + i] != rows.blank
    return n


@kernel
def _look_at_bits(rows: Rows, q: int, space: Space, filled: int, n: int) -> int:
    """Do the same by stepping from one document of a word to the next."""
    words, places, shift = rows.words[q], space.places, rows.code_shift
    top = (1 << shift) - 1
    below_top = rows.ones * ((1 << top) - 1)
    for j in range(filled):
        word = int(words[space.words[j]]) ^ rows.blank_word
        # The addition carries into the top bit of each cell that has another bit.
        bits = ((((word & below_top) + below_top) | word) >> top) & rows.ones
        while bits != 0:
            places[n & NATURAL] = (64 * space.words[j] + _lowest_bit(bits)) >> shift
            n += 1
            bits &= bits - 1
    return n


@kernel
def _lowest_bit(bits: int) -> int:
    """Return the number of the lowest bit that is set; the processor has an instruction for it."""
    lowest = bits & -bits & LARGEST
    number = -1
    while lowest != 0:
        lowest >>= 1
        number += 1
    return number


@kernel
def _find_cutoffs(request: KernelRequest, space: Space, n_rows: int) -> None:
    """Find the last document within each cutoff, of each row."""
    starts, places, slots = space.starts, space.places, request.slots
    for r in range(n_rows):
        last = space.last_within[r]
        last[:] = starts[r]
        for i in range(starts[r] + 1, starts[r + 1]):
            last[slots[places[i]]] = i
        for k in range(1, last.size):
            last[k] = max(last[k], last[k - 1])


@kernel
def _count_judged(
    rows: Rows, request: KernelRequest, sums: PrefixSums, space: Space, first: int, last: int
) -> None:
    """Write the number of judged documents, and of those graded below 0, at each cutoff."""
    starts, codes, counts = space.starts, space.codes, space.counts
    last_within = space.last_within
    cutoffs, judged, negative = request.cutoffs, sums.judged, sums.negative
    for q in range(first, last):
        r = q - first
        below = 0
        for i in range(starts[r], starts[r + 1]):
            below += 1 if codes[i] == NEGATIVE - PAD else 0
            counts[i] = below
        for k in range(cutoffs.size):
            within = last_within[r, k]
            negative[q, k] = counts[within]
            judged[q, k] = within - starts[r]
        if rows.complete:  # those passed over are judged, too
            for k in range(cutoffs.size):
                judged[q, k] = min(cutoffs[k], rows.lengths[q])


@kernel
def _sum_hits(
    rows: Rows,
    request: KernelRequest,
    t: int,
    sums: PrefixSums,
    space: Space,
    first: int,
    last: int,
) -> None:
    """Write hits and precision sums at each cutoff, and what hits say of whole rankings."""
    starts, places, codes = space.starts, space.places, space.codes
    counts, terms, last_within = space.counts, space.terms, space.last_within
    hits, precision_sum = sums.hits[t], sums.precision_sum[t]
    lowest = int(request.lowest_relevant[t])
    for q in range(first, last):
        r = q - first
        relevant = 0
        for level in range(lowest, rows.level_counts.shape[1]):
            relevant += int(rows.level_counts[q, level])
        count = first_hit = at_relevant = 0
        for i in range(starts[r], starts[r + 1]):
            hit = 1 if codes[i] >= lowest - PAD else 0
            count += hit
            counts[i] = count
            terms[i] = hit * count
            if hit * count == 1:
                first_hit = places[i] + 1
            at_relevant += hit if places[i] < relevant else 0
        sums.relevant[t, q] = relevant
        sums.first_hit[t, q] = first_hit
        sums.hits_at_relevant[t, q] = at_relevant
    for i in range(starts[last - first]):
        terms[i] /= places[i] + 1
    for q in range(first, last):
        r = q - first
        total = 0.0
        for i in range(starts[r], starts[r + 1]):
            total += terms[i]
            terms[i] = total
        for k in range(last_within.shape[1]):
            hits[q, k] = counts[last_within[r, k]]
            precision_sum[q, k] = terms[last_within[r, k]]


@kernel
def _sum_gains(
    request: KernelRequest, g: int, sums: PrefixSums, space: Space, first: int, last: int
) -> None:
    """Write gain and discounted gain at each cutoff, of one weighting."""
    starts, places, codes = space.starts, space.places, space.codes
    gained, terms, last_within = space.gained, space.terms, space.last_within
    gain, discounted_gain = sums.gain[g], sums.discounted_gain[g]
    gains, divisors = request.gains[g], request.divisors[g]
    for i in range(starts[last - first]):
        gained[i] = gains[codes[i]]
        terms[i] = gains[codes[i]] / divisors[places[i]]
    for q in range(first, last):
        r = q - first
        plain_sum = discounted_sum = 0.0
        for i in range(starts[r], starts[r + 1]):
            plain_sum += gained[i]
            discounted_sum += terms[i]
            gained[i] = plain_sum
            terms[i] = discounted_sum
        for k in range(last_within.shape[1]):
            gain[q, k] = gained[last_within[r, k]]
            discounted_gain[q, k] = terms[last_within[r, k]]


@kernel
def _sum_ideal_gains(
    level_counts: Ints, request: KernelRequest, g: int, gain: Floats, discounted: Floats
) -> None:
    """Write the same for an ideal ranking: all judged documents from the highest gain down."""
    cutoffs, gains, divisors = request.cutoffs, request.gains[g, -PAD:], request.divisors[g]
    plain_sum = 0.0
    discounted_sum = 0.0
    rank = 0
    k = 0
    for level in request.ideal_order[g]:
        if gains[level] <= 0.0:
            break
        for _ in range(level_counts[level]):
            if cutoffs[k] == rank:
                gain[k] = plain_sum
                discounted[k] = discounted_sum
                k += 1
                if k == cutoffs.size:
                    return
            plain_sum += gains[level]
            discounted_sum += gains[level] / divisors[rank]
            rank += 1
    gain[k:] = plain_sum
    discounted[k:] = discounted_sum
