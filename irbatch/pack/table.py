"""Joining a run that is a table with the judgments: no document becomes a Python object."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any, cast

import numpy as np

from irbatch.array_types import Ints, Positions
from irbatch.data import short_texts
from irbatch.data.columns import QueryTable
from irbatch.data.ids import KINDS, IdColumn, TextColumn
from irbatch.data.lookup import KeyedIds, find_rows
from irbatch.data.qrels import Qrels
from irbatch.data.short_texts import ShortIds, ShortTexts
from irbatch.engine.ties import Ordering, as_compared, order_scores, round_scores
from irbatch.errors import InputError
from irbatch.pack.block import Block, Joined, blank_matrix, pack_joined, plan_query_blocks
from irbatch.runtime.ragged import joined_ranges, offsets_of


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
    """Pack as `irbatch.pack.pack_run` a table of scores that `can_join` with the judgments."""
    places, depths = _find_queries(qrels, table, rows)
    for picks in plan_query_blocks(qrels, rows, depths):
        bounds = _find_bounds(table, places[picks])
        found_at = _find_judged(qrels, table, rows[picks], places[picks])
        joined = _join(table, *bounds, found_at, ordering.score_dtype)
        yield pack_joined(qrels, rows[picks], picks, joined, ordering.ties)


def pack_ranked(qrels: Qrels, table: QueryTable, rows: Positions) -> Iterator[Block]:
    """Do the same for rankings in order, whatever their values; refuse ids of another kind."""
    if not can_join(qrels, table):
        query, document = table.where(int(table.begins[table.begins < table.ends][0]))
        ours = f"document ids are {KINDS[table.document_kind]}, such as {document!r}"
        problem = f"{ours}, but the relevant ones are {KINDS[str(qrels.document_kind)]}"
        raise InputError(problem, source="run", query=query, document=document)
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
    begins, ends = _find_bounds(table, places)
    return places, ends - begins


def _find_bounds(table: QueryTable, places: Ints) -> tuple[Ints, Ints]:
    """Return where the rankings of some queries begin and end in a table."""
    begins, ends = np.zeros((2, places.size), np.int64)
    there = places >= 0
    begins[there], ends[there] = table.begins[places[there]], table.ends[places[there]]
    return begins, ends


def _join(table: QueryTable, begins: Ints, ends: Ints, found_at: Ints, score_dtype: str) -> Joined:
    """Order some rankings' scores; `found_at` are the rows of the judged documents, or -1."""
    judged_scores = np.full(found_at.size, np.nan)
    judged_scores[found_at >= 0] = table.numbers[found_at[found_at >= 0]]
    judged_scores = as_compared(judged_scores, score_dtype)

    def ids_at(row: int, score: float) -> Sequence[Any]:
        part = slice(int(begins[row]), int(ends[row]))
        compared = as_compared(table.numbers[part], score_dtype)
        return table.ids(begins[row] + np.flatnonzero(compared == score))

    if table.is_ordered and score_dtype == "float64":
        return Joined(table.numbers, begins, ends, judged_scores, ids_at, near=found_at)
    parts = [table.numbers[start:stop] for start, stop in zip(begins, ends, strict=True)]
    scores = np.concatenate([np.empty(0), *parts])
    round_scores(scores, score_dtype)
    starts = offsets_of(ends - begins)
    order_scores(scores, starts)  # NaN was refused when the table was made
    return Joined(scores, starts[:-1], starts[1:], judged_scores, ids_at)


def _find_judged(qrels: Qrels, table: QueryTable, rows: Positions, places: Ints) -> Ints:
    """Return the row of each judged document of some queries, -1 where it was not retrieved."""
    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    starts = offsets_of(counts)
    if not len(table.documents) or not starts[-1]:
        return np.full(starts[-1], -1, np.int64)
    judged = qrels.column.take(joined_ranges(qrels.starts[rows], counts))
    return find_documents(table, judged, (starts[:-1], starts[1:]), places)


def find_documents(
    table: QueryTable, wanted: IdColumn, bounds: tuple[Ints, Ints], places: Ints
) -> Ints:
    """Return the row of each document, -1 where its query's ranking doesn't have it.

    `wanted` are documents of the table's kind, of each query from one bound to the other; `places`
    the places of their queries, or -1.
    """
    if isinstance(table.keyed, ShortIds) and isinstance(wanted, TextColumn):
        words = ShortTexts.of_column(wanted).words
        return short_texts.find_rows(table.keyed, ShortIds(words, *bounds), places)
    return find_rows(cast("KeyedIds", table.keyed), KeyedIds.of(wanted, *bounds), places)
