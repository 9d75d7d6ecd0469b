"""Packing candidates that have scores and no ids: where the listed ones stand, and blocks of them.

Ranks come from counts. Where candidates share a score a policy decides, or nothing does and the
block says so in its ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from irbatch.errors import InputError
from irbatch.listed import ListedMatrix
from irbatch.matrix import BLOCK_BYTES, NEGATIVE, Ties
from irbatch.pack.block import Block
from irbatch.pack.candidates import Candidates
from irbatch.pack.relevance import Listed

__all__ = ["Ranked", "pack_candidates", "rank_candidates"]

Ints = npt.NDArray[np.int64]
Keys = Callable[[int], Ints]
"""From a row to what decides among its candidates that share a score: lower numbers first."""

# Cells of a block whose matrix is never written out, and of the level counts of any block.
LISTED_CELLS = 64 << 20
COUNT_CELLS = 2 << 20
MANY_TIED = 16  # listed candidates of a row from which sorting it is sooner than a look at each


@dataclass(frozen=True, eq=False)
class Ranked:
    """Listed candidates where they stand, query after query in rank order.

    Args:
        starts: int64 ``(queries + 1,)``.
        ranks: int64 ``(listed,)``, from 1.
        grades: float64 ``(listed,)``.
        ties: where the order was not decided; None if a policy decided all.
        tied: bool ``(queries,)``, which have candidates of different grades that share a score.
        constant: int, how many queries have one score for all of their candidates.
    """

    starts: Ints
    ranks: Ints
    grades: npt.NDArray[np.float64]
    ties: Ties | None
    tied: npt.NDArray[np.bool_]
    constant: int


def rank_candidates(
    candidates: Candidates,
    listed: Listed,
    above: Ints,
    equal: Ints,
    ties: str,
    keys: Keys | None = None,
) -> Ranked:
    """Turn counts into ranks.

    Args:
        candidates: the scores.
        listed: the candidates counted for.
        above, equal: what `irbatch.pack.counting.count_candidates` returned.
        ties: ``"expected"`` leaves the order open, ``"pessimistic"`` puts lower grades first,
            ``"optimistic"`` higher ones, ``"error"`` refuses ties of different grades; any other
            lets `keys` decide.
        keys: what decides then.

    Raises:
        InputError: for refused ties.
    """
    owners = listed.owners
    shared = np.flatnonzero(equal > 1)
    groups = _Groups(owners[shared], listed.grades[shared], above[shared], equal[shared])
    if ties == "error" and groups.mixed.any():
        which = int(shared[groups.order[np.argmax(groups.mixed)]])
        _refuse_ties(candidates, listed, owners, which)
    ranks = above + 1
    if keys is not None:
        ranks += _count_before(candidates, listed, equal, keys)
    elif shared.size:
        ranks[shared] += groups.best_first() if ties == "optimistic" else groups.worst_first()
    # One number of both sorts sooner than two keys do.
    order = np.argsort(owners * (candidates.shape[1] + 1) + ranks)
    tied = np.zeros(candidates.shape[0], bool)
    tied[groups.tied_queries()] = True
    return Ranked(
        listed.starts,
        ranks[order],
        listed.grades[order],
        groups.open_ties() if ties == "expected" else None,
        tied,
        groups.count_constant(candidates.sizes),
    )


def pack_candidates(candidates: Candidates, ranked: Ranked, n_relevant: Ints | None,
                    *, every_cell: bool) -> Iterator[Block]:  # fmt: skip
    """Pack ranked candidates into blocks.

    Args:
        candidates: the scores.
        ranked: where their listed ones stand.
        n_relevant: int64 ``(queries,)``, how many relevant documents each query has in all;
            default: those listed.
        every_cell: whether all of a block's cells will be read, so that it has to be small.
    """
    deepest = max(candidates.shape[1], 1)
    at_once = max((BLOCK_BYTES if every_cell else LISTED_CELLS) // deepest, 1)
    for start in range(0, candidates.shape[0], at_once):
        rows = np.arange(start, min(start + at_once, candidates.shape[0]))
        yield from _pack_rows(candidates, ranked, n_relevant, rows)


def _pack_rows(
    candidates: Candidates, ranked: Ranked, n_relevant: Ints | None, rows: npt.NDArray[np.intp]
) -> Iterator[Block]:
    """Pack some rows; in parts where their grades turn out to be very many."""
    first, last = int(rows[0]), int(rows[-1]) + 1
    part = slice(int(ranked.starts[first]), int(ranked.starts[last]))
    grades = ranked.grades[part]
    levels = np.unique(np.append(grades[grades > 0], [0.0] if n_relevant is None else [0.0, 1.0]))
    if rows.size > 1 and rows.size * levels.size > COUNT_CELLS:
        for half in np.array_split(rows, 2):
            yield from _pack_rows(candidates, ranked, n_relevant, half)
        return
    starts = ranked.starts[first : last + 1] - part.start
    owners = np.repeat(np.arange(rows.size), np.diff(starts))
    codes = np.where(grades < 0, NEGATIVE, np.searchsorted(levels, grades)).astype(np.int64)
    counted = codes >= 0
    cells = owners[counted] * levels.size + codes[counted]
    judged = np.bincount(cells, minlength=rows.size * levels.size).reshape(rows.size, levels.size)
    judged[:, 0] = candidates.sizes[rows] - np.diff(starts)
    if n_relevant is not None:
        judged[:, 1] = n_relevant[rows]
    ties = None
    if ranked.ties is not None:
        mine = slice(*np.searchsorted(ranked.ties.rows, [first, last]).tolist())
        ties = Ties(ranked.ties.rows[mine] - first, ranked.ties.begins[mine],
                    ranked.ties.ends[mine])  # fmt: skip
    matrix = ListedMatrix(
        levels, candidates.sizes[rows], judged, starts, ranked.ranks[part], codes, ties
    )
    yield Block(rows, matrix)


class _Groups:
    """Listed candidates that share their score, grouped by query and score, lower grades first.

    Attributes:
        order: int64 ``(listed,)``, their positions, group after group from the highest score.
        mixed: bool ``(listed,)``, in that order: whether the group's documents, those not listed
            among them, are of different grades.
    """

    def __init__(
        self, owners: Ints, grades: npt.NDArray[np.float64], above: Ints, equal: Ints
    ) -> None:
        self.order = np.lexsort((grades, above, owners))
        self.owners, self.above, self.equal = (each[self.order] for each in (owners, above, equal))
        mine = grades[self.order]
        new = np.ones(owners.size + 1, bool)
        new[1:-1] = (self.owners[1:] != self.owners[:-1]) | (self.above[1:] != self.above[:-1])
        begins = np.flatnonzero(new)  # of the groups, and the end of the last
        self.firsts = begins[:-1]
        self.numbers = np.cumsum(new[:-1]) - 1  # the group of each
        self.listed = np.diff(begins)
        self.places = np.arange(owners.size) - self.firsts[self.numbers]
        alike = (mine[self.firsts] == mine[begins[1:] - 1]) & (
            self.listed == self.equal[self.firsts]
        )
        self.mixed = ~alike[self.numbers]
        self.below = np.bincount(self.numbers, mine < 0, self.listed.size).astype(np.int64)

    def worst_first(self) -> Ints:
        """Return places in the group, lower grades first: below 0, not listed, above 0."""
        after = self.places >= self.below[self.numbers]
        return self._unsorted(self.places + self._others() * after)

    def best_first(self) -> Ints:
        """Return places in the group, higher grades first."""
        backwards = self.listed[self.numbers] - 1 - self.places
        after = self.places < self.below[self.numbers]
        return self._unsorted(backwards + self._others() * after)

    def open_ties(self) -> Ties:
        """Return the groups in which the order matters."""
        firsts = self.firsts[self.mixed[self.firsts]]
        above = self.above[firsts]
        return Ties(self.owners[firsts], above, above + self.equal[firsts])

    def tied_queries(self) -> Ints:
        """Return the queries that have a group in which the order matters."""
        return np.unique(self.owners[self.mixed])

    def count_constant(self, sizes: Ints) -> int:
        """Count the queries all of whose candidates share a score, though not a grade.

        Args:
            sizes: int64 ``(queries,)``, the number of candidates of each.
        """
        same = self.mixed & (self.equal == sizes[self.owners])
        return int(np.unique(self.owners[same]).size)

    def _others(self) -> Ints:
        """Return for each the number of those not listed in its group."""
        others: Ints = self.equal - self.listed[self.numbers]
        return others

    def _unsorted(self, places: Ints) -> Ints:
        unsorted = np.empty(places.size, np.int64)
        unsorted[self.order] = places
        return unsorted


def _count_before(candidates: Candidates, listed: Listed, equal: Ints, keys: Keys) -> Ints:
    """Count for each listed candidate those of the same score that a key puts before it."""
    before = np.zeros(equal.size, np.int64)
    tied = np.flatnonzero(equal > 1)
    if not tied.size:
        return before
    rows, firsts = np.unique(listed.owners[tied], return_index=True)
    for row, mine in zip(rows.tolist(), np.split(tied, firsts[1:]), strict=True):
        scores = candidates.block(row, row + 1)[0][0]
        there, key = candidates.is_candidate(row), keys(row)
        columns = listed.columns[mine]
        if mine.size < MANY_TIED:
            for i, column in zip(mine, columns, strict=True):
                same = there & (scores == scores[column])
                before[i] = np.count_nonzero(key[same] < key[column])
            continue
        cells = np.flatnonzero(there)
        ordered = cells[np.lexsort((-key[cells], scores[cells]))[::-1]]
        # Places in that order, less the place of the first that has the same score.
        place = np.empty(there.size, np.int64)
        place[ordered] = np.arange(ordered.size)
        new = np.append(True, scores[ordered][1:] != scores[ordered][:-1])
        first = np.flatnonzero(new)[np.cumsum(new) - 1]
        before[mine] = place[columns] - first[place[columns]]
    return before


def _refuse_ties(candidates: Candidates, listed: Listed, owners: Ints, which: int) -> None:
    row, column = int(owners[which]), int(listed.columns[which])
    score: Any = candidates.scores[row, column]
    raise InputError(
        f"candidates of different relevance share the score {float(score):g}: say what decides "
        "with ties='expected', 'pessimistic', 'optimistic' or 'index'",
        source="scores",
        query=candidates.queries[row],
        value=float(score),
    )
