"""The first documents of rankings as rows of a catalogue of items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Ints, Positions
from irbatch.data.columns import QueryTable
from irbatch.data.ids import item_of
from irbatch.data.items import Items
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.items import PAST_END, JudgedItems
from irbatch.engine.ties import (
    Ordering,
    TiePolicy,
    as_compared,
    id_texts,
    order_documents,
    order_rows,
    within_rows,
)
from irbatch.errors import InputError, keyword
from irbatch.pack.candidates import Candidates
from irbatch.pack.counting import read_tie_keys
from irbatch.pack.join import bounds_of
from irbatch.runtime.ragged import joined_ranges, offsets_of, row_index_of

CELLS_AT_ONCE = 1 << 21  # of scores that are sorted together


class Wanted(NamedTuple):
    """What measures read of rankings."""

    cutoffs: tuple[int | None, ...]  # None: full depth
    in_order: bool  # whether a measure tells ranks apart, or only who is within a cutoff

    @property
    def depth(self) -> float:
        """The deepest rank that is read."""
        depths = (math.inf if cutoff is None else float(cutoff) for cutoff in self.cutoffs)
        return max(depths, default=0)

    def find_open(self, same: Bools) -> tuple[int, int] | None:
        """Return the row and the first rank of an open tie that matters; None without one.

        `same` ``(queries, ranks)`` tells whether a document has the score of the next one.
        """
        if self.in_order:
            matters = same & (np.arange(same.shape[1]) < min(self.depth, same.shape[1]))
        else:
            matters = np.zeros_like(same)
            places = [cutoff - 1 for cutoff in self.cutoffs if cutoff and cutoff <= same.shape[1]]
            matters[:, places] = same[:, places]
        ties = np.argwhere(matters)
        return None if not len(ties) else (int(ties[0, 0]), int(ties[0, 1]) + 1)


def rank_run(
    items: Items, run: Run, queries: Sequence[Any], wanted: Wanted, ordering: Ordering | None
) -> Ints:
    """Order the documents of queries, as far as they are read, and look them up.

    Returns the items at their first ranks, int64 ``(queries, depth)``, see
    `irbatch.engine.items.ItemRanks`.

    Args:
        ordering: what documents are ordered by; None: they are in order.
    """
    table = run.as_table()
    begins, ends = bounds_of(table, table.find(queries))
    sizes = ends - begins
    depths = np.minimum(sizes, wanted.depth).astype(np.int64)
    if ordering is None or _stand_in_order(table, begins, sizes, depths, ordering):
        chosen = joined_ranges(begins, depths)
    else:
        chosen, open_tie = _first_rows(table, begins, sizes, depths, wanted, ordering)
        if open_tie is not None:
            row, rank, score = open_tie
            raise _open(ordering.ties, queries[row], score, rank, "run", run.name)
    item_rows = items.find(table.documents.take(chosen))
    if items.outside == "error" and (item_rows < 0).any():
        place = table.where(int(chosen[np.argmax(item_rows < 0)]))
        raise _outside(items, source="run", path=run.name, **place)
    ranked = np.full((sizes.size, int(depths.max(initial=0))), PAST_END, np.int64)
    ranked[np.arange(ranked.shape[1]) < depths[:, None]] = item_rows
    return ranked


def _outside(items: Items, **fields: Any) -> InputError:
    problem = f"this document is not in the catalogue of {len(items)} items; "
    problem += f"items with {keyword('outside', 'ignore')} leave such ones out"
    return InputError(problem, **fields)


def _first_rows(
    table: QueryTable, begins: Ints, sizes: Ints, depths: Ints, wanted: Wanted, ordering: Ordering
) -> tuple[Ints, tuple[int, int, float] | None]:
    """Return the rows of queries' first documents; and query, rank and score of an open tie."""
    rows, starts = joined_ranges(begins, sizes), offsets_of(sizes)
    scores = as_compared(table.numbers[rows], ordering.score_dtype)
    order = order_rows(scores, starts)
    ordered, first = scores[order], joined_ranges(starts[:-1], depths)
    is_tied = np.append(within_rows(starts, ordered[1:] == ordered[:-1]), False)[first]
    if ordering.ties.by_id and is_tied.any():
        order = order_documents(
            scores,
            starts,
            lambda at: id_texts(table.ids(rows[at])),
            descending=ordering.ties == TiePolicy.ID,
        )
    elif not ordering.ties.by_key:
        same = np.zeros((sizes.size, int(depths.max(initial=0))), bool)
        same[np.arange(same.shape[1]) < depths[:, None]] = is_tied
        if (open_tie := wanted.find_open(same)) is not None:
            row, rank = open_tie
            return rows[order[first]], (row, rank, float(ordered[starts[row] + rank - 1]))
    return rows[order[first]], None


def _stand_in_order(
    table: QueryTable, begins: Ints, sizes: Ints, depths: Ints, ordering: Ordering
) -> bool:
    """Tell whether the first rows of queries have the first documents, none tied with the next."""
    if ordering.score_dtype != "float64" or not table.is_ordered:
        return False
    looked = np.minimum(sizes, depths + 1)
    scores = table.numbers[joined_ranges(begins, looked)]
    same = scores[1:] == scores[:-1]
    same[np.cumsum(looked[looked > 0])[:-1] - 1] = False  # the next query's
    return not same.any()


def _open(
    policy: TiePolicy, query: Any, score: float, rank: int, source: str, path: str | None = None
) -> InputError:
    problem = f"which document is at rank {rank} is open: ties={str(policy)!r}, and several have "
    problem += f"the score {score:g}; measures of items need ties='id' or 'index'"
    return InputError(problem, source=source, query=query, value=score, path=path)


def judged_items(items: Items, qrels: Qrels, rows: Positions) -> JudgedItems:
    """Return all judged documents of the queries at `rows` of the judgments."""
    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    starts = offsets_of(counts)
    if not starts[-1]:
        return JudgedItems(starts, np.empty(0, np.int64), np.empty(0))
    judged = joined_ranges(qrels.starts[rows], counts)
    documents = qrels.column.take(judged)
    item_rows = items.find(documents)
    if items.outside == "error" and (item_rows < 0).any():
        at = int(np.argmax(item_rows < 0))
        query = qrels.queries[int(rows[row_index_of(starts)[at]])]
        place = {"query": query, "document": item_of(documents, at)}
        raise _outside(items, source="qrels", path=qrels.name, **place)
    return JudgedItems(starts, item_rows, qrels.grades[judged])


def rank_columns(
    items: Items,
    candidates: Candidates,
    wanted: Wanted,
    policy: TiePolicy,
    document_ids: Any = None,
) -> Ints:
    """Return the items of the highest scores, int64 ``(queries, depth)``; see `rank_run`.

    NaN among the scores was rejected before.
    """
    queries, width = candidates.shape
    if width != len(items):
        problem = f"the columns of scores are the items: {width} columns, {len(items)} items"
        raise InputError(problem, source="items", value=width)
    depth = int(min(wanted.depth, width))
    keys = read_tie_keys(policy, document_ids, candidates.shape)
    ranked = np.full((queries, depth), PAST_END, np.int64)
    all_columns = np.arange(width)
    at_once = max(CELLS_AT_ONCE // max(width, 1), 1)
    for first in range(0, queries, at_once):
        last = min(first + at_once, queries)
        scores, _ = candidates.block(first, last)
        is_candidate = None if candidates.whole else candidates.are_candidates(first, last)
        for row in range(last - first):
            mine = all_columns if is_candidate is None else np.flatnonzero(is_candidate[row])
            key = None if keys is None else keys[(first + row) % len(keys)][mine]
            row_scores = scores[row] if is_candidate is None else scores[row][mine]
            order, same = _highest(row_scores, depth, key)
            ranked[first + row, : order.size] = mine[order]
            is_open = not policy.by_key and same.any()
            if is_open and (open_tie := wanted.find_open(same[None])) is not None:
                rank, query = open_tie[1], candidates.queries[first + row]
                score = candidates.score_of(first + row, int(mine[order[rank - 1]]))
                raise _open(policy, query, score, rank, "scores")
    return ranked


def _highest(scores: Any, depth: int, key: Ints | None) -> tuple[Ints, Bools]:
    """Return the highest scores' places, equal ones by `key` or place; and which equal the next."""
    places = np.arange(scores.size)
    if depth + 1 < scores.size // 2:  # all that might be among the first, and what ties with them
        least = np.partition(scores, scores.size - depth - 1)[scores.size - depth - 1]
        places = np.flatnonzero(scores >= least)
    values = scores[places]
    downwards = ~values if values.dtype.kind in "iu" else -values
    ranks = np.lexsort((places if key is None else key[places], downwards))
    ordered = values[ranks[: depth + 1]]
    same = np.zeros(min(depth, ordered.size), bool)
    same[: ordered.size - 1] = (ordered[1:] == ordered[:-1])[: same.size]
    return places[ranks[:depth]], same
