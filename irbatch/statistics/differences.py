"""Paired differences between systems, of some pairs at a time where there are many."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints
from irbatch.runtime.threads import cached_property
from irbatch.statistics import resampling

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
    return _pairs_apart(values, pairs, _grain_of(values))


def row_blocks(rows: int, values: Floats) -> list[slice]:
    """Part rows, of a pair or system each, so that values of a block's take bounded memory.

    A block has two rows or more, if there are.

    Sums over queries are the same bits in any such block: with a single column NumPy adds up in
    another order.
    """
    of_row = values.shape[1] * values.shape[2]
    blocks = min(max(-(-rows * of_row // BLOCK), 1), max(rows // 2, 1))
    edges = [rows * block // blocks for block in range(blocks + 1)]
    return [slice(*each) for each in itertools.pairwise(edges)]


def blocks_of_differences(values: Floats, pairs: Pairs) -> Iterator[Floats]:
    """Yield `paired_differences` of some pairs at a time."""
    grain = _grain_of(values)
    for some in row_blocks(len(pairs), values):
        yield _pairs_apart(values, pairs[some], grain)


def _pairs_apart(values: Floats, pairs: Pairs, grain: Grain) -> Floats:
    firsts, seconds = ([pair[side] for pair in pairs] for side in (0, 1))
    return _rounded(values[firsts] - values[seconds], grain)


def on_one_grain(differences: Floats, values: Floats) -> Floats:
    """Round ``(…, measures)`` to multiples of what `BITS` of a measure's largest value resolve."""
    return _rounded(differences, _grain_of(values))


class Grain(NamedTuple):
    """What differences of measures are multiples of, ``(measures,)``, where that is of use."""

    size: Floats
    usable: Bools


def _grain_of(values: Floats) -> Grain:
    largest = np.zeros(values.shape[2])
    for system in values:  # at a time: none is copied whole
        largest = np.maximum(largest, np.abs(system).max(axis=0, initial=0.0))
    grain = np.ldexp(1.0, np.frexp(largest)[1] - BITS)
    usable = np.isfinite(largest) & (grain > 0)
    return Grain(np.where(usable, grain, 1.0), usable)


def _rounded(differences: Floats, grain: Grain) -> Floats:
    rounded: Floats = np.rint(differences / grain.size)
    rounded *= grain.size
    return rounded if grain.usable.all() else np.where(grain.usable, rounded, differences)


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

    def differences(self) -> Floats:
        """Return `paired_differences` as ``(queries, pairs, measures)``."""
        differences = paired_differences(self.values, self.pairs)
        return np.ascontiguousarray(np.moveaxis(differences, 1, 0))

    @cached_property
    def ranges(self) -> Floats:
        """Best less worst mean of permuted systems, in order: ``(draws, measures)``."""
        by_query = np.ascontiguousarray(np.moveaxis(self.values, 0, 1))
        drawn = resampling.draw_ranges(by_query, self.draws, self.seed)
        return np.sort(np.concatenate(list(drawn)), axis=0)

    def blocks(self) -> Iterator[Floats]:
        """Yield `flat` of some pairs at a time: ``(queries, some pairs x measures)``."""
        for some in blocks_of_differences(self.values, self.pairs):
            yield np.ascontiguousarray(np.moveaxis(some, 1, 0)).reshape(self.queries, -1)

    def find(self, find: Callable[[Floats], Any]) -> Floats:
        """Return ``(pairs, measures)`` of what is found of each column of `flat`."""
        return self.shaped(np.concatenate([find(some) for some in self.blocks()]))

    def columns(self, some: Ints) -> Floats:
        """Return columns of `flat`."""
        pairs, measures = np.divmod(some, self.values.shape[2])
        grain = self._grain
        firsts, seconds = np.array(self.pairs)[pairs].T
        apart = self.values[firsts, :, measures] - self.values[seconds, :, measures]
        of = Grain(grain.size[measures, None], grain.usable[measures, None])
        return _rounded(apart, of).T

    @cached_property
    def _grain(self) -> Grain:
        return _grain_of(self.values)

    def flat(self) -> Floats:
        """Return them ``(queries, pairs x measures)``."""
        return self.differences().reshape(self.queries, -1)

    def shaped(self, columns: Any) -> Floats:
        """Return a number a column as one a pair and measure."""
        return np.asarray(columns, np.float64).reshape(len(self.pairs), self.values.shape[2])
