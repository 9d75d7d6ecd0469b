"""Joining a run that is a table with the judgments: no document becomes a Python object."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.lookup import KeyedIds, find_rows
from irbatch.data.qrels import Qrels
from irbatch.data.query_table import QueryTable
from irbatch.engine.ties.by_score import as_compared, order_scores, round_scores
from irbatch.engine.ties.policy import Ordering
from irbatch.errors import InputError
from irbatch.pack.block import Block, blank_matrix, plan_query_blocks
from irbatch.pack.joined import Joined, pack_joined
from irbatch.runtime.ragged import joined_ranges, offsets_of

__all__ = ["can_join", "pack_ranked", "pack_table"]


def can_join(qrels: Qrels, table: QueryTable) -> bool:
    """Tell whether documents are of one kind, so that columns can be compared."""
    if not len(table.documents):
        return True
    if qrels.document_kind not in (None, table.document_kind):
        return False
    try:
        return qrels.column is not None
    except OverflowError:  # whole numbers of any size are ids, but no columns
        return False


def pack_table(
    qrels: Qrels, table: QueryTable, rows: Positions, ordering: Ordering
) -> Iterator[Block]:
    """Pack rankings of some of the judged queries, see `irbatch.pack.pack_run`.

    Args:
        qrels: the judgments.
        table: the rankings, their values scores; `can_join` with the judgments.
        rows: intp ``(queries,)``, positions in `qrels.queries`.
        ordering: what documents are ordered by.
    """
    places, depths = _find_queries(qrels, table, rows)
    for picks in plan_query_blocks(qrels, rows, depths):
        block = rows[picks], places[picks], depths[picks]
        yield replace(_pack_by_score(qrels, table, *block, ordering), rows=picks)


def pack_ranked(qrels: Qrels, table: QueryTable, rows: Positions) -> Iterator[Block]:
    """Do the same for rankings that stand in order; their values are not looked at.

    Raises:
        InputError: if documents are of another kind than the judged ones.
    """
    if not can_join(qrels, table):
        query, document = table.where(int(table.begins[table.begins < table.ends][0]))
        raise InputError(
            f"document ids are {table.document_kind}, such as {document!r}, but the relevant ones "
            f"are {qrels.document_kind}",
            source="run",
            query=query,
            document=document,
        )
    places, depths = _find_queries(qrels, table, rows)
    for picks in plan_query_blocks(qrels, rows, depths):
        matrix, codes, row_index = blank_matrix(qrels, rows[picks], depths[picks])
        found_at = _find_judged(qrels, table, rows[picks], places[picks])
        found = np.flatnonzero(found_at >= 0)
        ranks = found_at[found] - table.begins[places[picks][row_index[found]]]
        matrix.codes[row_index[found], ranks] = codes[found]
        yield Block(picks, matrix)


def _find_queries(qrels: Qrels, table: QueryTable, rows: Positions) -> tuple[Ints, Ints]:
    """Return where queries stand in a table, -1 for those missing, and their rankings' lengths."""
    queries = map(qrels.queries.__getitem__, rows.tolist())
    found = map(table.places.get, queries, itertools.repeat(-1))
    places = np.fromiter(found, np.int64, rows.size)
    depths = np.zeros(places.size, np.int64)
    there = places >= 0
    depths[there] = (table.ends - table.begins)[places[there]]
    return places, depths


def _pack_by_score(
    qrels: Qrels,
    table: QueryTable,
    rows: Positions,
    places: Ints,
    depths: Ints,
    ordering: Ordering,
) -> Block:
    begins = np.zeros(places.size, np.int64)
    begins[places >= 0] = table.begins[places[places >= 0]]
    ends = begins + depths
    found_at = _find_judged(qrels, table, rows, places)
    judged_scores = np.full(found_at.size, np.nan)
    judged_scores[found_at >= 0] = table.numbers[found_at[found_at >= 0]]
    judged_scores = as_compared(judged_scores, ordering.score_dtype)

    def ids_at(row: int, score: float) -> Sequence[Any]:
        part = slice(int(begins[row]), int(ends[row]))
        compared = as_compared(table.numbers[part], ordering.score_dtype)
        return table.ids(begins[row] + np.flatnonzero(compared == score))

    scores, bounds = _ordered(table, begins, ends, ordering.score_dtype)
    near = found_at if scores is table.numbers else None
    joined = Joined(scores, *bounds, judged_scores, ids_at, near)
    return pack_joined(qrels, rows, joined, ordering.ties)


def _ordered(
    table: QueryTable, begins: Ints, ends: Ints, score_dtype: str
) -> tuple[Floats, tuple[Ints, Ints]]:
    """Return rankings' scores, descending and as compared, and where each begins and ends."""
    if table.is_ordered and score_dtype == "float64":
        return table.numbers, (begins, ends)
    parts = [table.numbers[start:stop] for start, stop in zip(begins, ends, strict=True)]
    scores = np.concatenate([np.empty(0), *parts])
    round_scores(scores, score_dtype)
    starts = offsets_of(ends - begins)
    order_scores(scores, starts)  # NaN was refused when the table was made
    return scores, (starts[:-1], starts[1:])


def _find_judged(qrels: Qrels, table: QueryTable, rows: Positions, places: Ints) -> Ints:
    """Return the row of each judged document of some queries, -1 where it was not retrieved."""
    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    starts = offsets_of(counts)
    if not len(table.documents) or not starts[-1]:
        return np.full(starts[-1], -1, np.int64)
    judged = qrels.column.take(joined_ranges(qrels.starts[rows], counts))
    return find_rows(table.keyed, KeyedIds.of(judged, starts[:-1], starts[1:]), places)
