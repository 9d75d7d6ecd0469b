"""Draws for resampling, the same for all systems and measures, on any machine; what is drawn from.

Draws come in blocks from a counter-based generator (Philox): which block, and which part of the
queries, is the counter. So the first thousand of ten thousand draws are those of a thousand, in
any order, and what is held at a time is bounded.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from irbatch.array_types import Floats, Floats3, Ints, NDArray
from irbatch.errors import InputError, shown
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import check_whole, is_real
from irbatch.runtime.threads import cached_property, map_ranges

COUNTED = 128  # draws with replacement that are made at once
AT_ONCE = 256  # draws of signs
STRETCH = 8192  # queries whose random signs are held at once
DRAWN = 1 << 17  # queries drawn that are held at once
SMALL, LARGE = 1 << 18, 1 << 24  # products, see `_multiply`
TUKEY_STRETCH = 1024  # queries whose systems are permuted at once
MANTISSA = 53
# Sums that differ by no more than rounding are equal: a part of the sum of absolute differences.
ROUNDING = 1e-12


def generator_of(seed: int, block: int, part: int) -> np.random.Generator:
    """Return the generator of a block of draws, and of a part of the queries."""
    counter = [0, 0, part, block]
    return np.random.Generator(np.random.Philox(key=int(seed) % (1 << 128), counter=counter))


def check_level(level: object) -> None:
    """Check the chance that an interval misses, or that a test finds what is not there."""
    if not is_real(level) or not 0 < level <= 0.5:
        problem = f"level={shown(level)} must be above 0 and at most 0.5, such as 0.05"
        raise InputError(problem, value=level)


def check_draws(draws: object, seed: object, least: int = 1) -> None:
    """Check how often is drawn, at least so often, and what the generator starts from."""
    check_whole("draws", draws, least)
    check_whole("seed", seed, 0)


def flip_signs(differences: Floats, draws: int, seed: int, *, one_sided: bool = False) -> Ints:
    """Count how often random signs of ``(queries, columns)`` make sums as large, or as high."""
    total = differences.sum(axis=0)
    limit = (total if one_sided else np.abs(total)) - ROUNDING * np.abs(differences).sum(axis=0)
    counts = np.zeros(total.size, np.int64)
    for start in range(0, draws, AT_ONCE):
        kept = np.zeros((AT_ONCE, total.size))
        for number, first in enumerate(range(0, len(differences), STRETCH)):
            random = generator_of(seed, start // AT_ONCE, number).bit_generator
            words = random.random_raw(AT_ONCE * STRETCH // 64)
            eights = np.asarray(words, "<u8").view(np.uint8).reshape(AT_ONCE, -1)
            part = differences[first : first + STRETCH]
            kept += _multiply(np.unpackbits(eights, axis=1, count=len(part)), part)
        # A sum over those kept less one over those flipped.
        flipped = 2.0 * kept[: draws - start] - total
        counts += ((flipped if one_sided else np.abs(flipped)) >= limit).sum(axis=0)
    return counts


def _multiply(often: Any, values: Floats) -> Floats:
    """Add up values ``(queries, columns)`` as often as ``(draws, queries)`` say, all exactly.

    In small products, which BLAS works on in one thread: threads wait for each other at the end.
    """
    weights = often.astype(np.float64)
    if len(weights) * values.size > LARGE:
        return np.asarray(weights @ values)
    rows = max(SMALL // max(values.size, 1), 1)
    parts = [weights[first : first + rows] @ values for first in range(0, len(weights), rows)]
    return np.concatenate(parts)


def draw_counts(size: int, draws: int, seed: int, part: int = 0) -> Iterator[Floats]:
    """Draw `size` of as many with replacement; yield how often each came, ``(draws, size)``."""
    at_once = min(max(DRAWN // size, 1), COUNTED)
    for start in range(0, draws, COUNTED):
        generator = generator_of(seed, start // COUNTED, part)
        for first in range(start, min(start + COUNTED, draws), at_once):
            rows = min(at_once, start + COUNTED - first)
            picks = generator.integers(0, size, (rows, size)) + size * np.arange(rows)[:, None]
            counts = np.bincount(picks.ravel(), minlength=rows * size).reshape(rows, size)
            yield counts[: draws - first].astype(np.float64)


def draw_means(
    values: Floats, draws: int, seed: int, strata: Sequence[Ints] | None = None
) -> tuple[Floats, Floats]:
    """Draw queries of ``(queries, columns)`` with replacement, and find their means.

    As many are drawn from each of the strata, positions of queries, as it has.

    Returns:
        The means of the queries as they are, ``(columns,)``, and of those drawn, ``(columns,
        draws)``: to the bit the same for any columns beside them and any number of threads.
    """
    n = len(values)
    whole, means = _as_whole(values)
    sums = np.zeros((draws, values.shape[1]))
    for number, group in enumerate([np.arange(n)] if strata is None else strata):
        part, first = whole[group], 0
        for counts in draw_counts(group.size, draws, seed, number):
            sums[first : first + len(counts)] += _multiply(counts, part)
            first += len(counts)
    return means(whole.sum(axis=0)[:, None])[:, 0], means(sums.T)


def _as_whole(values: Floats) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Return values ``(queries, columns)`` as whole numbers, and what makes means of their sums.

    Sums of as many as there are queries are exact, as none is beyond 2^53. What rounding leaves of
    values, less than 1e-10 of the largest for 10,000 queries, is the same for any draw: its mean.
    """
    n = len(values)
    bits = MANTISSA - n.bit_length()
    grain = _grain_of(np.abs(values).max(axis=0, initial=0.0), bits)
    with np.errstate(invalid="ignore"):
        whole = np.rint(values / grain)
        left = values - whole * grain
        finer = _grain_of(grain, bits)
        rest = np.rint(left / finer).sum(axis=0) * finer

    def means(sums: Floats) -> Floats:
        return np.asarray((sums * grain[:, None] + rest[:, None]) / n)

    return whole, means


def _grain_of(largest: Floats, bits: int) -> Floats:
    """Return the power of two of which numbers up to the largest are so many bits."""
    grain = np.ldexp(1.0, np.frexp(largest)[1] - bits)
    return np.where(np.isfinite(largest) & (grain > 0), grain, 1.0)


def draw_column_means(values: Floats, draws: int, seed: int) -> Floats:
    """Draw columns of values ``(repeats, columns)``, at least 0; return means, ``(draws,)``."""
    repeats, columns = values.shape
    scale = 2.0 ** (np.frexp(values.max())[1] - 1)  # as sums of huge values are beyond float64
    by_column = (values / scale).sum(axis=0) / repeats
    drawn = [counts @ by_column / columns * scale for counts in draw_counts(columns, draws, seed)]
    return np.concatenate(drawn)


def draw_ranges(values: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Permute systems of ``(queries, systems, measures)``; yield ranges ``(draws, measures)``."""
    queries, systems, measures = values.shape
    for start in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - start)
        sums = np.zeros((AT_ONCE, systems, measures))
        for number, first in enumerate(range(0, queries, TUKEY_STRETCH)):
            part = values[first : first + TUKEY_STRETCH]
            generator = generator_of(seed, start // AT_ONCE, number)
            # 16 bits choose among the systems left: to a part in some thousands, alike.
            size = (AT_ONCE, TUKEY_STRETCH, max(systems - 1, 1))
            picks = generator.integers(0, 1 << 16, size, np.uint16)
            add = functools.partial(_permute, np.ascontiguousarray(part), picks, sums)
            map_ranges(add, AT_ONCE, cells=picks.size * measures)
        yield (sums.max(axis=1) - sums.min(axis=1))[:rows] / queries


def _permute(
    values: Floats, picks: NDArray[np.uint16], sums: Floats, first: int, last: int
) -> None:
    order = np.empty(values.shape[1], np.int64)
    _add_permuted.run(20 * picks.size, values, picks, sums, order, first, last)


@kernel
def _add_permuted(
    values: Floats3,
    picks: Annotated[NDArray[np.uint16], 3],
    sums: Floats3,
    order: Ints,
    first: int,
    last: int,
) -> None:
    """Add each query's values to its systems in random order, by draw; `order` is scratch."""
    queries, systems, measures = values.shape
    for d in range(first, last):
        for s in range(systems):
            order[s] = s
        for q in range(queries):
            for s in range(systems - 1, 0, -1):
                other = (int(picks[d, q, s - 1]) * (s + 1)) >> 16
                order[s], order[other] = order[other], order[s]
            for s in range(systems):
                for m in range(measures):
                    sums[d, order[s], m] += values[q, s, m]


def extremes_to_p(counts: Ints, draws: int) -> Floats:
    """Turn how many of some draws are as extreme into p-values: (b + 1) / (m + 1)."""
    return (counts + 1) / (draws + 1)


Pairs = Sequence[tuple[int, int]]
BLOCK = 1 << 23  # differences, from which on some pairs are looked at at a time

# Bits of a measure's largest value that differences keep. 0.3 - 0.2 and 0.8 - 0.7 differ in the
# 53rd: as such they would be ranked one above the other, and a constant difference would vary.
BITS = 46


def paired_differences(values: Floats, pairs: Pairs) -> Floats:
    """Subtract systems' values ``(systems, queries, measures)``: ``(pairs, queries, measures)``.

    Differences are multiples of one power of two a measure, so that nothing is left over of
    subtracting decimal fractions in binary.

    >>> values = np.array([[[0.3], [0.8]], [[0.2], [0.7]]])
    >>> first, second = paired_differences(values, [(0, 1)]).ravel().tolist()
    >>> first == second, 0.3 - 0.2 == 0.8 - 0.7
    (True, False)
    """
    return np.concatenate(list(blocks_of_differences(values, pairs)))


def row_blocks(rows: int, values: Floats) -> list[slice]:
    """Part rows, of a pair or system each, so that values of a block's take bounded memory.

    A block has two rows or more: with a single column NumPy adds up in another order.
    """
    of_row = values.shape[1] * values.shape[2]
    blocks = min(max(-(-rows * of_row // BLOCK), 1), max(rows // 2, 1))
    edges = [rows * block // blocks for block in range(blocks + 1)]
    return [slice(*ends) for ends in itertools.pairwise(edges)]


def blocks_of_differences(values: Floats, pairs: Pairs) -> Iterator[Floats]:
    """Yield `paired_differences` of some pairs at a time."""
    rounded = grain_of(values)
    for block in row_blocks(len(pairs), values):
        firsts, seconds = ([pair[side] for pair in pairs[block]] for side in (0, 1))
        yield rounded(values[firsts] - values[seconds])


def grain_of(values: Floats) -> Callable[[Floats], Floats]:
    """Return what rounds ``(…, measures)`` to what `BITS` of a measure's largest value resolve."""
    largest = np.zeros(values.shape[2])
    for system in values:  # at a time: none is copied whole
        largest = np.maximum(largest, np.abs(system).max(axis=0, initial=0.0))
    grain = np.ldexp(1.0, np.frexp(largest)[1] - BITS)
    usable = np.isfinite(largest) & (grain > 0)
    size = np.where(usable, grain, 1.0)

    def rounded(differences: Floats) -> Floats:
        multiples: Floats = np.rint(differences / size)
        multiples *= size
        return multiples if usable.all() else np.where(usable, multiples, differences)

    return rounded


def measure_blocks(values: Floats) -> list[tuple[Any, Any]]:
    """Part measures by the queries that have values: positions of measures, and of queries."""
    has_value = ~np.isnan(values[0])
    if has_value.all():
        return [(np.arange(values.shape[2]), slice(None))]
    rows, place = np.unique(has_value, axis=1, return_inverse=True)
    columns = [np.flatnonzero(place.ravel() == number) for number in range(rows.shape[1])]
    return list(zip(columns, map(np.flatnonzero, rows.T), strict=True))


def join_measures(parts: Sequence[Any], blocks: Sequence[tuple[Any, Any]]) -> Any:
    """Join what is ``(…, measures, …)`` of such blocks, with measures on the second axis."""
    if len(parts) == 1:
        return parts[0]
    order = np.argsort(np.concatenate([columns for columns, _ in blocks]))
    return np.concatenate(parts, axis=1)[:, order]


@dataclass(frozen=True, eq=False)
class Sample:
    """What is tested: values ``(systems, queries, measures)``, and pairs of systems."""

    values: Floats
    pairs: Pairs
    draws: int
    seed: int
    alternative: str = "two-sided"  # or whether the first of a pair is "greater", or "less"

    @property
    def queries(self) -> int:
        """The number of queries."""
        return int(self.values.shape[1])

    @property
    def one_sided(self) -> bool:
        """Whether differences to one side are looked for."""
        return self.alternative != "two-sided"

    @cached_property
    def ranges(self) -> Floats:
        """Best less worst mean of permuted systems, in order: ``(draws, measures)``."""
        by_query = np.ascontiguousarray(np.moveaxis(self.values, 0, 1))
        drawn = draw_ranges(by_query, self.draws, self.seed)
        return np.sort(np.concatenate(list(drawn)), axis=0)

    def find(self, find: Callable[[Floats], Any]) -> Floats:
        """Return ``(pairs, measures)`` of what is found of ``(queries, some pairs x measures)``."""
        blocks = blocks_of_differences(self.values, self.pairs)
        by_query = (np.ascontiguousarray(np.moveaxis(block, 1, 0)) for block in blocks)
        parts = [find(block.reshape(self.queries, -1)) for block in by_query]
        columns = np.asarray(np.concatenate(parts), np.float64)
        return columns.reshape(len(self.pairs), self.values.shape[2])
