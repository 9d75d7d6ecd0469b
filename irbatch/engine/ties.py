"""Documents that share a score: who stands before whom, and where that is left open.

Only where judged documents stand matters. Scores that are in order already are left alone, a
judged document's rank is found by binary search for its score, and ids are compared only inside
the ties that a judged document is part of. Ids compare as text, integers as their decimal digits:
the same order whatever container they came in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Bytes, Codes, Floats, Ints, NDArray
from irbatch.runtime.kernels import as_input, kernel
from irbatch.runtime.ragged import joined_ranges
from irbatch.runtime.threads import map_ranges

SCORE_DTYPES = ("float64", "float32")
ORDERS = ("score", "rank")  # what a run's documents can be ordered by


class TiePolicy(StrEnum):
    """What becomes of documents that share a score, see `irbatch.evaluate_scores`."""

    EXPECTED = "expected"
    PESSIMISTIC = "pessimistic"
    OPTIMISTIC = "optimistic"
    INDEX = "index"
    ID = "id"
    ID_ASCENDING = "id_ascending"
    ERROR = "error"

    @property
    def by_id(self) -> bool:
        """Whether ids decide, so that nothing is left to chance."""
        return self in (TiePolicy.ID, TiePolicy.ID_ASCENDING)

    @property
    def by_key(self) -> bool:
        """Whether ids or positions decide, whatever the documents' grades."""
        return self.by_id or self == TiePolicy.INDEX


class Ordering(NamedTuple):
    """What documents are ordered by: scores in some precision, and what becomes of equal ones."""

    score_dtype: str = "float64"  # one of `SCORE_DTYPES`
    ties: TiePolicy = TiePolicy.ID

    def describe(self, by: str = "score") -> str:
        """Describe the order of documents that have ids and scores, or ``by="rank"`` ranks."""
        first = "rank ascending" if by == "rank" else f"score ({self.score_dtype}) descending"
        then = {"id": "document id descending", "id_ascending": "document id ascending"}
        return f"{first}, {f'then {then[self.ties]}' if self.ties.by_id else f'ties: {self.ties}'}"


DEFAULT_ORDERING = Ordering()


CHUNK = 1 << 14  # scores

DESCENDING, UNORDERED, HAS_NAN = 0, 1, 2  # what `check_order` says of a ranking


def as_compared(scores: Floats, score_dtype: str) -> Floats:
    """Round scores to the precision they are compared in: float64 in and out, any shape.

    float32 is what trec_eval 9 and pytrec_eval compare; what overflows it becomes infinite there.
    """
    if score_dtype == "float64":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def round_scores(scores: Floats, score_dtype: str) -> None:
    """Do the same in place, a cache's share at a time, which takes half as long as all at once."""
    for start in range(0, scores.size if score_dtype != "float64" else 0, CHUNK):
        part = scores[start : start + CHUNK]
        part[:] = as_compared(part, score_dtype)


def order_scores(scores: Floats, starts: Ints) -> bool:
    """Sort each ranking's scores descending, in place; return False, unsorted, if one is NaN."""
    states = check_order(scores, starts[:-1], starts[1:])
    if (states == HAS_NAN).any():
        return False
    for row in np.flatnonzero(states):
        scores[starts[row] : starts[row + 1]][::-1].sort()
    return True


def check_order(scores: Floats, begins: Ints, ends: Ints) -> NDArray[np.int8]:
    """Tell of each ranking, at `begins` to `ends`: `DESCENDING`, `UNORDERED` or `HAS_NAN`."""
    states = np.empty(begins.size, np.int8)

    def look(first: int, last: int) -> None:
        _check_order.run(scores.size, as_input(scores), begins, ends, first, last, states)

    map_ranges(look, begins.size, cells=scores.size)
    return states


class Standings(NamedTuple):
    """Where judged documents stand, query after query: each but the first ``(judged,)``."""

    starts: Ints  # (queries + 1,): where each query's begin
    above: Ints  # how many documents score higher
    equal: Ints  # how many score the same, itself included; 0: it was not retrieved
    before: Ints  # how many of these ids put before it, -1 if it isn't known


def find_standings(
    scores: Floats, begins: Ints, ends: Ints, judged: Floats, starts: Ints, near: Ints | None = None
) -> Standings:
    """Find where judged documents stand by their scores, NaN of those not retrieved.

    Scores descend from `begins` to `ends` of a ranking and contain its judged ones, which stand
    from `starts` on; `near` is where each may stand in them, -1 where that is not known.
    """
    above, equal = np.zeros((2, judged.size), np.int64)
    standings = Standings(starts, above, equal, unknown := np.full(judged.size, -1))
    rankings = as_input(scores), begins, ends
    _search.run(20 * judged.size, *rankings, judged, unknown if near is None else near, standings)
    return standings


@kernel
def _check_order(
    scores: Floats, begins: Ints, ends: Ints, first: int, last: int, states: NDArray[np.int8]
) -> None:
    """Write the state of each ranking."""
    for row in range(first, last):
        state = DESCENDING
        previous = np.inf
        for i in range(begins[row], ends[row]):
            if not scores[i] <= previous:
                state = UNORDERED
                if scores[i] != scores[i]:
                    state = HAS_NAN
                    break
            previous = scores[i]
        states[row] = state


@kernel
def _search(
    scores: Floats, begins: Ints, ends: Ints, judged: Floats, near: Ints, standings: Standings
) -> None:
    """Binary search for the first and the last place of each judged document's score."""
    starts, above, equal, _ = standings
    for row in range(begins.size):
        for i in range(starts[row], starts[row + 1]):
            low, high, at, score = begins[row], ends[row], near[i], judged[i]
            if score != score:
                continue
            if (
                at >= 0
                and (at == low or scores[at - 1] > score)
                and (at + 1 == high or scores[at + 1] < score)
            ):
                above[i], equal[i] = at - low, 1
                continue
            first = place_of(scores, score, low, high)
            behind = first + 1  # no tie, as a rule
            if behind < high and scores[behind] >= score:
                behind = place_behind(scores, score, behind, high)
            above[i], equal[i] = first - low, behind - first


@kernel
def place_of(scores: Floats, score: float, low: int, high: int) -> int:
    """Return the first place of a score between two, where scores descend."""
    while low < high:
        middle = (low + high) // 2
        if scores[middle] > score:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def place_behind(scores: Floats, score: float, low: int, high: int) -> int:
    """Return the place behind the last of a score between two, where scores descend."""
    while low < high:
        middle = (low + high) // 2
        if scores[middle] >= score:
            low = middle + 1
        else:
            high = middle
    return low


def id_texts(ids: Sequence[Any]) -> Sequence[str]:
    """Return ids as they compare."""
    return ids if set(map(type, ids)) == {str} else [str(document) for document in ids]


def order_documents(
    scores: Floats,
    starts: Ints,
    ids_at: Callable[[Ints], Sequence[Any]],
    *,
    descending: bool = True,
    rows: Ints | None = None,
) -> Ints:
    """Return the rows of rankings in rank order, equal scores in the order of ids.

    Args:
        scores, starts: of rankings, one after the other, and where each begins.
        ids_at: returns the ids of documents in some rows, as they compare; it is asked for those in
            ties alone.
        descending: whether higher ids come first.
        rows: where scores are known to descend, the rows that they are of, which are put in order.
    """
    order = order_rows(scores, starts) if rows is None else rows
    ordered = scores[order] if rows is None else scores
    tied = within_rows(starts, ordered[1:] == ordered[:-1])
    if tied.any():
        edges = np.flatnonzero(np.diff(tied, prepend=False, append=False)).reshape(-1, 2)
        begins, sizes = edges[:, 0], edges[:, 1] - edges[:, 0] + 1
        tied_rows = order[joined_ranges(begins, sizes)]
        ids, first = ids_at(tied_rows), 0
        for begin, size in zip(begins.tolist(), sizes.tolist(), strict=True):
            tie = range(first, first + size)
            by_id = sorted(tie, key=ids.__getitem__, reverse=descending)
            order[begin : begin + size] = tied_rows[by_id]
            first += size
    return order


def within_rows(starts: Ints, flags: Bools) -> Bools:
    """Clear flags, of documents and the next ones, where the next one is another ranking's."""
    edges = starts[1:-1]
    flags[edges[(edges > 0) & (edges <= flags.size)] - 1] = False
    return flags


def place_ids(policy: TiePolicy, ids: Sequence[Any]) -> Ints:
    """Return the place of each document when all are ordered by id."""
    texts = id_texts(ids)
    descending = policy != TiePolicy.ID_ASCENDING
    places = np.empty(len(ids), np.int64)
    places[sorted(range(len(ids)), key=texts.__getitem__, reverse=descending)] = range(len(ids))
    return places


class Texts(NamedTuple):
    """Ids in UTF-8, whose bytes have the order of texts; see `irbatch.data.ids.TextColumn`."""

    text: Bytes
    starts: Ints
    lengths: NDArray[np.int32]


def rank_tied(
    policy: TiePolicy, ids: Texts, order: Ints, begins: Ints, sizes: Ints, judged: Texts
) -> Ints:
    """Rank judged documents among those of their scores, from 0, where ids or positions decide.

    Args:
        ids, order: of whole rankings, one after the other, and their rows from the highest score
            down, equal ones as they came in.
        begins, sizes: int64 ``(judged,)``, where in `order` the tie of each begins, its size.
        judged: the ids of these.
    """
    by_tie, before = np.argsort(begins, kind="stable"), np.empty(begins.size, np.int64)
    work = 40 * int(sizes.sum())
    _rank_tied.run(work, ids, order, begins, sizes, judged, policy.by_id, by_tie, before)
    return sizes - 1 - before if policy == TiePolicy.ID else before


@kernel
def _rank_tied(
    ids: Texts,
    order: Ints,
    begins: Ints,
    sizes: Ints,
    judged: Texts,
    by_id: bool,
    by_tie: Ints,
    before: Ints,
) -> None:
    """Rank judged documents, `by_tie`, which is then by id within a tie, too, both ascending.

    Each document of a tie is looked up among the judged ones, which are few.
    """
    first = 0
    while first < by_tie.size:
        begin, size = begins[by_tie[first]], sizes[by_tie[first]]
        last = first
        while last < by_tie.size and begins[by_tie[last]] == begin:
            before[by_tie[last]] = 0
            last += 1
        _sort_judged(judged, by_tie, first, last)
        for place in range(size):
            row = order[begin + place]
            low, high, is_same = first, last, False
            while low < high:
                middle = (low + high) // 2
                unlike = _compare(judged, by_tie[middle], ids, row)
                is_same = is_same or unlike == 0
                if unlike < 0:
                    low = middle + 1
                else:
                    high = middle
            if not by_id and is_same:
                before[by_tie[low]] = place
            elif by_id and low + is_same < last:
                before[by_tie[low + is_same]] += 1
        for i in range(first + 1, last if by_id else first):
            before[by_tie[i]] += before[by_tie[i - 1]]
        first = last


@kernel
def _sort_judged(judged: Texts, rows: Ints, first: int, last: int) -> None:
    """Sort some rows by their ids: Shell's way, in place."""
    gap = last - first
    while gap > 1:
        gap = (5 * gap) // 11 if gap > 2 else 1
        for i in range(first + gap, last):
            row, at = rows[i], i
            while at - gap >= first and _compare(judged, rows[at - gap], judged, row) > 0:
                rows[at] = rows[at - gap]
                at -= gap
            rows[at] = row


@kernel
def _compare(some: Texts, row: int, others: Texts, other: int) -> int:
    """Return a number below 0, 0 or above 0: whether a text comes before another one."""
    start, other_start = some.starts[row], others.starts[other]
    length, other_length = int(some.lengths[row]), int(others.lengths[other])
    for i in range(min(length, other_length)):
        # As signed numbers: of bytes compiled code would make unsigned ones.
        unlike = np.int64(some.text[start + i]) - np.int64(others.text[other_start + i])
        if unlike != 0:
            return int(unlike)
    return length - other_length


def order_rows(scores: Floats, starts: Ints) -> Ints:
    """Return the rows of rankings, one after the other, by score descending, equal ones as is."""
    order = np.arange(scores.size)
    for row in np.flatnonzero(check_order(scores, starts[:-1], starts[1:]) != DESCENDING).tolist():
        own = slice(starts[row], starts[row + 1])
        order[own] = starts[row] + np.argsort(-scores[own], kind="stable")
    return order


class OpenTies(NamedTuple):
    """Ranks whose documents, of one score and several codes, could stand in any order."""

    rows: Ints  # the query of each; ascending
    begins: Ints  # its first rank less one; ascending within a row
    ends: Ints  # its last rank

    def of_rows(self, first: int, last: int) -> OpenTies:
        """Return those of rows `first` to `last`, which are counted from 0 then."""
        mine = slice(*np.searchsorted(self.rows, [first, last]).tolist())
        return OpenTies(self.rows[mine] - first, self.begins[mine], self.ends[mine])

    def condensed(self, kept: Bools, codes: Codes) -> OpenTies:
        """Return what is left of them in a matrix of `codes`, to which some cells were `kept`."""
        kept_before = np.cumsum(kept, axis=1, dtype=np.int64)
        begins = np.where(self.begins > 0, kept_before[self.rows, self.begins - 1], 0)
        ends = kept_before[self.rows, self.ends - 1]
        return OpenTies(self.rows, begins, ends).regraded(codes)

    def regraded(self, codes: Codes) -> OpenTies:
        """Return those that are mixed in a matrix of other `codes`."""
        spans = zip(self.rows.tolist(), self.begins.tolist(), self.ends.tolist(), strict=True)
        mixed = [len(set(codes[row, first:last].tolist())) > 1 for row, first, last in spans]
        picks = np.flatnonzero(mixed)
        return OpenTies(self.rows[picks], self.begins[picks], self.ends[picks])


class TieGroups:
    """Judged documents that share their score with others, grouped by query and score.

    Documents that are not among them stand between those graded below 0 and the others. Of each
    are given its row and grade, and how many of the query score higher, and the same.
    """

    def __init__(
        self, policy: TiePolicy, row_index: Ints, grades: Floats, above: Ints, equal: Ints
    ) -> None:
        self.policy = policy
        # Group after group from the highest score, lower grades first.
        order = self._order = np.lexsort((grades, above, row_index))
        self._rows, self._above, self._equal = row_index[order], above[order], equal[order]
        grades = grades[order]
        new = np.ones(order.size + 1, bool)
        new[1:-1] = (self._rows[1:] != self._rows[:-1]) | (self._above[1:] != self._above[:-1])
        begins = np.flatnonzero(new)  # of the groups, and the end of the last
        self._firsts, lasts = begins[:-1], begins[1:] - 1
        self._group = np.cumsum(new[:-1]) - 1
        self._judged = np.diff(begins)  # in each group
        all_judged = self._judged == self._equal[self._firsts]
        mixed = ~((grades[self._firsts] == grades[lasts]) & all_judged)
        self._negative = np.bincount(self._group, grades < 0, mixed.size).astype(np.int64)
        self._mixed = mixed
        self._matters = (mixed & (grades[lasts] > 0))[self._group]

    def count_before(self, by_key: Callable[[], Ints]) -> Ints:
        """Count how many of its group stand before each: `by_key` if ids or positions decide."""
        if self.policy.by_key:
            return by_key()
        group = self._group
        within = np.arange(group.size) - self._firsts[group]
        after = within >= self._negative[group]  # behind those that are not judged
        if self.policy == TiePolicy.OPTIMISTIC:
            within, after = self._judged[group] - 1 - within, ~after
        before = np.empty(group.size, np.int64)
        before[self._order] = within + (self._equal - self._judged[group]) * after
        return before

    def find_rejected(self) -> int | None:
        """Return the position of a document in a tie that the policy rejects, None without any."""
        if self.policy != TiePolicy.ERROR or not self._matters.any():
            return None
        return int(self._order[np.argmax(self._matters)])

    def list_open(self) -> OpenTies | None:
        """Return the ties whose order matters, if the policy leaves it open."""
        if self.policy != TiePolicy.EXPECTED:
            return None
        firsts = self._firsts[self._mixed]
        above = self._above[firsts]
        return OpenTies(self._rows[firsts], above, above + self._equal[firsts])

    def mark_rows(self, rows: int) -> Bools:
        """Tell which rows have a tie whose order matters to a grade above 0; none by ids."""
        marked = np.zeros(rows, bool)
        if not self.policy.by_id:
            marked[self._rows[self._matters]] = True
        return marked
