"""Draws for resampling: one set for all measures and systems, and means of all of them at once.

Draws come in blocks from a counter-based generator (Philox): which block, and which stretch of the
queries, is the counter. So the first thousand of ten thousand draws are those of a thousand, in
any order, on any number of threads, and what is held at a time is bounded. A block of draws is a
matrix; the means of every measure and system are its product with their values.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Ints
from irbatch.errors import InputError, shown
from irbatch.runtime.checks import check_whole
from irbatch.runtime.jit import kernel
from irbatch.runtime.numbers import is_real
from irbatch.runtime.threads import map_ranges

MOST_EXACT = 20  # queries of which all signs are tried
AT_ONCE = 256  # draws
STRETCH = 8192  # queries
TUKEY_STRETCH = 1024  # queries whose systems are permuted at once
FEW = 16  # columns up to which looking eight queries up at a time is sooner than a matrix product

# Sums that differ by no more than rounding are equal: a part of the sum of absolute differences.
ROUNDING = 1e-12


def flip_signs(differences: Floats, draws: int, seed: int) -> tuple[Ints, int]:
    """Count how often random signs of ``(queries, columns)`` make sums as large, ``(columns,)``.

    Also returns how many draws there were: 0 if all assignments of signs were tried, as they are
    of up to `MOST_EXACT` queries.
    """
    if len(differences) <= MOST_EXACT:
        return count_extreme_flips(differences), 0
    total, limit = _limits(differences)
    counts = np.zeros(differences.shape[1], np.int64)
    stretches = range(0, len(differences), STRETCH)
    parts = [differences[start : start + STRETCH] for start in stretches]
    tables = [_tabulate(part) for part in parts] if differences.shape[1] <= FEW else None
    for start in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - start)
        sums = np.zeros((AT_ONCE, differences.shape[1]))
        for number, part in enumerate(parts):
            drawn = _generator(seed, start, number).bytes(AT_ONCE * STRETCH // 8)
            eights = np.frombuffer(drawn, np.uint8).reshape(AT_ONCE, STRETCH // 8)
            if tables is None:
                signs = np.unpackbits(eights, axis=1)[:, : len(part)]
                sums += signs.astype(np.float64) @ part
            else:
                work = sums.size * tables[number].shape[1]
                _add_looked_up.run(work, tables[number], eights.copy(), sums)
        # A sum over those kept less one over those flipped.
        counts += (np.abs(2.0 * sums[:rows] - total) >= limit).sum(axis=0)
    return counts, draws


def _tabulate(differences: Floats) -> Floats:
    """Sum every choice among each eight queries: float64 ``(columns, eights, 256)``."""
    eights = -(-len(differences) // 8)
    padded = np.zeros((8 * eights, differences.shape[1]))
    padded[: len(differences)] = differences
    choices = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1).astype(np.float64)
    tables = choices @ padded.T.reshape(-1, eights, 8, 1)
    return np.ascontiguousarray(tables[..., 0])


@kernel
def _add_looked_up(tables: Floats, eights: Bytes, sums: Floats) -> None:
    """Add, to each draw's sums, those of the choices that its bytes are."""
    for k in range(tables.shape[0]):
        for d in range(eights.shape[0]):
            total = 0.0
            for j in range(tables.shape[1]):
                total += tables[k, j, eights[d, j]]
            sums[d, k] += total


def count_extreme_flips(differences: Floats) -> Ints:
    """Count, over all assignments of signs, sums at least as large as the observed."""
    n = len(differences)
    total, limit = _limits(differences)
    counts = np.zeros(differences.shape[1], np.int64)
    for start in range(0, 1 << n, 1 << 14):
        numbers = np.arange(start, min(start + (1 << 14), 1 << n))
        signs = ((numbers[:, None] >> np.arange(n)) & 1).astype(np.float64)
        counts += (np.abs(2.0 * (signs @ differences) - total) >= limit).sum(axis=0)
    return counts


def check_level(level: object) -> None:
    """Check the chance that an interval misses, or that a test finds what is not there."""
    if not is_real(level) or not 0 < level <= 0.5:
        problem = f"level={shown(level)} must be above 0 and at most 0.5, such as 0.05"
        raise InputError(problem, value=level)


def check_draws(draws: object, seed: object, least: int = 1) -> None:
    """Check how often is drawn, at least so often, and what the generator starts from."""
    check_whole("draws", draws, least)
    check_whole("seed", seed, 0)


def draw_counts(size: int, draws: int, seed: int) -> Iterator[Floats]:
    """Draw `size` of as many with replacement; yield how often each came, ``(draws, size)``."""
    for start in range(0, draws, AT_ONCE):
        generator = _generator(seed, start, 0)
        rows = min(AT_ONCE, draws - start)
        for row in range(0, rows, _rows_at_once(size)):
            some = min(_rows_at_once(size), AT_ONCE - row)
            yield _count_picks(generator, size, some)[: rows - row]


def draw_means(
    values: Floats, draws: int, seed: int, strata: Sequence[Ints] | None = None
) -> Iterator[Floats]:
    """Draw queries of ``(queries, columns)`` with replacement; yield means ``(draws, columns)``.

    As many are drawn from each of the strata, positions of queries, as it has.
    """
    groups = [np.arange(len(values))] if strata is None else list(strata)
    for start in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - start)
        sums = np.zeros((AT_ONCE, values.shape[1]))
        for number, group in enumerate(groups):
            generator = _generator(seed, start, number)
            for row in range(0, rows, _rows_at_once(group.size)):
                some = min(_rows_at_once(group.size), AT_ONCE - row)
                often = _count_picks(generator, group.size, some)
                sums[row : row + some] += often @ values[group]
        yield sums[:rows] / len(values)


def draw_quantiles(values: Floats, shares: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Draw columns of values ``(repeats, columns)``, at least 0, with replacement.

    Yields their mean and their linear quantiles at `shares`, ``(some draws, 1 + quantiles)``.
    """
    repeats, columns = values.shape
    order = np.argsort(values, axis=None, kind="stable")
    ordered, column_of = values.ravel()[order], order % columns
    scale = 2.0 ** (np.frexp(values.max())[1] - 1)  # as sums of huge values are beyond float64
    by_column = (values / scale).sum(axis=0) / repeats
    place = shares * (values.size - 1)
    below = np.floor(place)
    upper = np.minimum(below + 1, values.size - 1)
    for some in draw_counts(columns, draws, seed):
        low, high = np.empty((2, len(some), len(shares)))
        for i, often in enumerate(some):  # one by one: repeats make these long
            # How many of the drawn values stand at or before each of the ordered ones.
            upto = np.cumsum(often[column_of])
            low[i], high[i] = (ordered[np.searchsorted(upto, at, "right")] for at in (below, upper))
        means = (some @ by_column / columns * scale)[:, None]
        yield np.concatenate([means, low + (place - below) * (high - low)], axis=1)


def draw_ranges(values: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Permute systems of ``(queries, systems, measures)``; yield ranges ``(draws, measures)``."""
    queries, systems, measures = values.shape
    for start in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - start)
        sums = np.zeros((AT_ONCE, systems, measures))
        for number in range(-(-queries // TUKEY_STRETCH)):
            part = values[number * TUKEY_STRETCH : (number + 1) * TUKEY_STRETCH]
            generator = _generator(seed, start, number)
            # 16 bits choose among the systems left: to a part in some thousands, alike.
            size = (AT_ONCE, TUKEY_STRETCH, max(systems - 1, 1))
            picks = generator.integers(0, 1 << 16, size, np.uint16)
            add = functools.partial(_permute, np.ascontiguousarray(part), picks, sums)
            map_ranges(add, AT_ONCE, cells=picks.size * measures)
        yield (sums.max(axis=1) - sums.min(axis=1))[:rows] / queries


def _permute(
    values: Floats, picks: npt.NDArray[np.uint16], sums: Floats, first: int, last: int
) -> None:
    order = np.empty(values.shape[1], np.int64)
    _add_permuted.run(20 * picks.size, values, picks, sums, order, first, last)


def _count_picks(generator: np.random.Generator, size: int, draws: int) -> Floats:
    """Draw from so many with replacement: how often each came, float64 ``(draws, size)``."""
    picks = generator.integers(0, size, (draws, size))
    picks += np.arange(draws)[:, None] * size
    often = np.bincount(picks.ravel(), minlength=draws * size)
    return often.reshape(draws, size).astype(np.float64)


def _rows_at_once(size: int) -> int:
    return max(1, min(AT_ONCE, (1 << 22) // max(size, 1)))


@kernel
def _add_permuted(
    values: Floats, picks: npt.NDArray[np.uint16], sums: Floats, order: Ints, first: int, last: int
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


def _limits(differences: Floats) -> tuple[Floats, Floats]:
    """Return the observed sums, and what an absolute sum has to reach to be as large."""
    total = differences.sum(axis=0)
    return total, np.abs(total) - ROUNDING * np.abs(differences).sum(axis=0)


def _generator(seed: int, start: int, stretch: int) -> np.random.Generator:
    """Return the generator of a block of draws, and of a part of the queries."""
    counter = [0, 0, stretch, start // AT_ONCE]
    return np.random.Generator(np.random.Philox(key=int(seed) % (1 << 128), counter=counter))


def extremes_to_p(counts: Ints, draws: int, n: int) -> Floats:
    """Turn counts into p-values: (b + 1) / (m + 1) of m draws; exact if all were tried."""
    if draws:
        return (counts + 1) / (draws + 1)
    return counts / math.ldexp(1.0, n)
