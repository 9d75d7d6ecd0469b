"""Random draws of queries, the same for all systems and measures, on any machine.

Draws come in blocks from a counter-based generator (Philox): which block, and which part of the
queries, is the counter. So the first thousand of ten thousand draws are those of a thousand, in
any order, on any number of threads, and what is held at a time is bounded.
"""

from __future__ import annotations

import functools
import math
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from irbatch.array_types import Bytes, Bytes2, Floats, Ints
from irbatch.runtime.kernels import kernel

COUNTED = 128  # draws with replacement that are made at once
STRETCH = 8192  # queries whose random bits are held at once
# How many times the spread of a Poisson sum fewer queries than needed are drawn at first.
SHORT = 3.0
CELLS = 1 << 16  # which 16 random bits choose among
MOST = 16  # times that one query is drawn: the chance of more is 1e-14

Words = npt.NDArray[np.uint16]


def generator_of(seed: int, block: int, part: int) -> np.random.Generator:
    """Return the generator of a block of draws, and of a part of the queries."""
    counter = [0, 0, part, block]
    return np.random.Generator(np.random.Philox(key=int(seed) % (1 << 128), counter=counter))


def random_bytes(generator: np.random.Generator, count: int) -> Bytes:
    """Return so many random bytes, a multiple of 8."""
    words = generator.bit_generator.random_raw(count // 8)
    return np.asarray(words, "<u8").view(np.uint8)  # in this order on any machine


class _Fours(NamedTuple):
    """How often each of four queries is drawn: four Poisson numbers, the digits of a word.

    Sixteen random bits choose a cell, and the cell holds a word. A word has as many whole cells as
    its chance is worth. The cells from `sure` on (under 1%) hold none: sixteen more bits choose
    among the chances left, in the same way, and for the few that remain a float does.
    """

    words: Words
    sure: int
    next_words: Words
    next_sure: int
    rare: Words
    chances: Floats  # of the rare, added up


@functools.lru_cache(4)
def _make_fours(size: int) -> _Fours:
    """Tabulate numbers that together, of so many queries, are a little below their number."""
    rate = max(0.0, 1.0 - SHORT / math.sqrt(size))
    each = np.array([math.exp(-rate) * rate**k / math.factorial(k) for k in range(MOST)])
    chances = functools.reduce(np.multiply.outer, [each] * 4).ravel()
    tables: list[tuple[Words, int]] = []
    for _ in range(2):
        expected = CELLS * chances
        whole = np.floor(expected).astype(np.int64)
        words = np.zeros(CELLS, np.uint16)
        words[: whole.sum()] = np.repeat(np.arange(CELLS, dtype=np.uint16), whole)
        tables.append((words, int(whole.sum())))
        chances = expected - whole
        chances /= max(chances.sum(), 1e-300)
    rare = np.flatnonzero(chances).astype(np.uint16)
    return _Fours(*tables[0], *tables[1], rare, np.cumsum(chances[rare]))


def _draw_words(generator: np.random.Generator, table: _Fours, number: int) -> Words:
    """Draw as many words for cells that hold none."""
    cells = _draw_cells(generator, number)
    words = table.next_words[cells]
    unsure = np.flatnonzero(cells >= table.next_sure)
    at = np.searchsorted(table.chances, generator.random(unsure.size), "right")
    words[unsure] = table.rare[np.minimum(at, table.rare.size - 1)]
    return words


def _draw_cells(generator: np.random.Generator, number: int) -> Words:
    count = 8 * -(-number // 4)
    return np.asarray(random_bytes(generator, count)[: 2 * number].view("<u2"), np.uint16)


def count_draws(
    size: int, block: int, seed: int, part: int = 0, memory: Bytes | None = None
) -> Bytes:
    """Draw queries with replacement, as many as there are, `COUNTED` times.

    Poisson numbers, one a query, that add up to `m` are `m` draws with replacement (whatever `m`
    is), and are made many at once. Their rate is such that hardly ever more are drawn than there
    are queries; as many as are lacking are drawn one by one.

    Returns:
        How often each query was drawn, uint8 ``(queries, draws)``, and rows of zeros that make
        queries a multiple of eight; in `memory`, if that is given and large enough.
    """
    generator = generator_of(seed, block, part)
    table = _make_fours(size)
    rows = 8 * -(-size // 8)
    counts = np.empty((rows, COUNTED), np.uint8) if memory is None else memory[:rows]
    totals = np.zeros(COUNTED, np.int64)
    for start in range(0, len(counts), STRETCH):
        _count_stretch(generator, table, counts[start : start + STRETCH], totals)
    totals -= counts[size:].sum(axis=0, dtype=np.int64)
    counts[size:] = 0
    too_many = np.flatnonzero(totals > size)
    counts[:, too_many] = 0
    totals[too_many] = 0
    lacking = size - totals
    picks = generator.integers(0, size, lacking.sum()) * COUNTED
    picks += np.repeat(np.arange(COUNTED), lacking)
    np.add.at(counts.reshape(-1), picks, np.uint8(1))
    return counts


def _count_stretch(
    generator: np.random.Generator, table: _Fours, counts: Bytes, totals: Ints
) -> None:
    """Write how often each query is drawn, and add up how many a draw has."""
    shape = len(counts) // 4, COUNTED
    cells = _draw_cells(generator, shape[0] * shape[1])
    _look_up(cells.reshape(shape), table.words, counts, totals)
    unsure = np.flatnonzero(cells >= table.sure)
    words = _draw_words(generator, table, unsure.size)
    fours, draws = np.divmod(unsure, COUNTED)
    for digit in range(4):
        often = words >> (4 * digit) & (MOST - 1)
        counts[4 * fours + digit, draws] = often
        totals += np.bincount(draws, often, COUNTED).astype(np.int64)


def _look_up(cells: Words, table: Words, counts: Bytes, totals: Ints) -> None:
    """Write counts of cells ``(fours, draws)``: ``(queries, draws)``, and add up how many."""
    arguments = (cells, table, np.empty(COUNTED, np.int64), counts, totals)
    if _tally.runs_compiled(cells.size, *arguments):
        _tally.run(cells.size, *arguments)
        return
    words = table[cells]
    for digit in range(4):
        counts[digit::4] = words >> (4 * digit) & (MOST - 1)
    totals += counts.sum(axis=0, dtype=np.int64)


@kernel
def _tally(
    cells: Annotated[Words, 2], table: Words, words: Ints, counts: Bytes2, totals: Ints
) -> None:
    """Write down the four counts of each cell, and add them up; `words` is scratch."""
    for i in range(cells.shape[0]):
        for d in range(cells.shape[1]):
            words[d] = table[cells[i, d]]
        for d in range(cells.shape[1]):
            first = words[d] & 15
            second = (words[d] >> 4) & 15
            third = (words[d] >> 8) & 15
            fourth = words[d] >> 12
            counts[4 * i, d] = first
            counts[4 * i + 1, d] = second
            counts[4 * i + 2, d] = third
            counts[4 * i + 3, d] = fourth
            totals[d] += first + second + third + fourth
