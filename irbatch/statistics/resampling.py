"""Draws for resampling: one set for all measures and systems, and means of all of them at once."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Floats, Floats3, Ints
from irbatch.errors import InputError, shown
from irbatch.runtime.kernels import kernel
from irbatch.runtime.numbers import check_whole, is_real
from irbatch.runtime.threads import map_items, map_ranges
from irbatch.statistics.draws import COUNTED, count_draws, generator_of, random_bytes
from irbatch.statistics.flips import ROUNDING
from irbatch.statistics.weighted_sums import (
    add_chosen,
    add_counted,
    add_looked_up,
    as_whole,
    pad_columns,
    pad_rows,
    zeros,
)

AT_ONCE = 256  # draws of signs
STRETCH = 8192  # queries
IN_THREADS = 1 << 24  # products, from which on blocks of draws are shared among threads
WIDE = 24  # columns from which on sums of choices are looked up
TUKEY_STRETCH = 1024  # queries whose systems are permuted at once


def flip_signs(
    differences: Floats, draws: int, seed: int, *, one_sided: bool = False, wide: bool | None = None
) -> Ints:
    """Count how often random signs of ``(queries, columns)`` make sums as large, ``(columns,)``.

    As far from 0, or `one_sided` as high. `wide` tells of some columns whether all are `WIDE`.
    """
    n = len(differences)
    total = differences.sum(axis=0)[:, None]
    reached = total if one_sided else np.abs(total)
    limit = reached - ROUNDING * np.abs(differences).sum(axis=0)[:, None]
    is_wide = differences.shape[1] >= WIDE if wide is None else wide
    values = pad_rows(differences) if is_wide else pad_columns(differences)
    shape = (AT_ONCE, values.shape[1]) if is_wide else (len(values), AT_ONCE)
    add = add_looked_up if is_wide else add_chosen

    def count(start: int) -> Ints:
        sums = zeros(*shape)
        for number, first in enumerate(range(0, n, STRETCH)):
            generator = generator_of(seed, start // AT_ONCE, number)
            eights = random_bytes(generator, AT_ONCE * STRETCH // 8).reshape(AT_ONCE, -1)
            some = -(-min(n - first, STRETCH) // 8)
            add(np.ascontiguousarray(eights[:, :some].T), values, first, sums)
        sums = (sums.T[: len(total)] if is_wide else sums)[:, : draws - start]
        # A sum over those kept less one over those flipped.
        flipped = 2.0 * sums - total
        as_large = (flipped if one_sided else np.abs(flipped)) >= limit
        return np.asarray(as_large.sum(axis=1))

    counts = np.zeros(differences.shape[1], np.int64)
    starts = range(0, draws, AT_ONCE)
    for some in (map_items if differences.size * draws > IN_THREADS else map)(count, starts):
        counts += some
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
    for start in range(0, draws, COUNTED):
        counts = count_draws(size, start // COUNTED, seed)
        yield counts[:size, : draws - start].T.astype(np.float64)


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
    whole, means = as_whole(values)
    groups = [np.arange(n)] if strata is None else list(strata)
    parts = [pad_columns(whole[group]) for group in groups]
    spare: list[Bytes] = []  # memory that was in use is faster than new

    def draw(start: int) -> Floats:
        sums = zeros(values.shape[1], COUNTED)
        memory = spare.pop() if spare else np.empty((8 * -(-n // 8), COUNTED), np.uint8)
        for number, (group, part) in enumerate(zip(groups, parts, strict=True)):
            counts = count_draws(group.size, start // COUNTED, seed, number, memory)
            add_counted(counts, part, sums)
        spare.append(memory)
        return means(sums[:, : draws - start])

    starts = range(0, draws, COUNTED)
    drawn = (map_items if values.size * draws > IN_THREADS else map)(draw, starts)
    return means(whole.sum(axis=0)[:, None])[:, 0], np.concatenate(list(drawn), axis=1)


def draw_column_means(values: Floats, draws: int, seed: int) -> Floats:
    """Draw columns of values ``(repeats, columns)``, at least 0; return means, ``(draws,)``."""
    repeats, columns = values.shape
    scale = 2.0 ** (np.frexp(values.max())[1] - 1)  # as sums of huge values are beyond float64
    by_column = (values / scale).sum(axis=0) / repeats
    drawn = [some @ by_column / columns * scale for some in draw_counts(columns, draws, seed)]
    return np.concatenate(drawn)


def draw_ranges(values: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """Permute systems of ``(queries, systems, measures)``; yield ranges ``(draws, measures)``."""
    queries, systems, measures = values.shape
    for start in range(0, draws, AT_ONCE):
        rows = min(AT_ONCE, draws - start)
        sums = np.zeros((AT_ONCE, systems, measures))
        for number in range(-(-queries // TUKEY_STRETCH)):
            part = values[number * TUKEY_STRETCH : (number + 1) * TUKEY_STRETCH]
            generator = generator_of(seed, start // AT_ONCE, number)
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


@kernel
def _add_permuted(
    values: Floats3,
    picks: Annotated[npt.NDArray[np.uint16], 3],
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
