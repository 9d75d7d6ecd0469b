"""Joining runs of scored documents with the judgments, in bounded blocks.

The judged documents of a query are looked up in its ranking; their ranks come from where their
scores stand. Nothing is factorised across queries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Floats, Ints, NDArray, Positions
from irbatch.data.dicts import NOT_COUNTED, find_in_rankings, is_table
from irbatch.data.ids import KINDS, IdColumn, TextColumn, check_alike, check_id, id_kind, kinds_of
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import (
    BLOCK_BYTES,
    BYTE_LEVELS,
    RelevanceMatrix,
    count_levels,
    plan_blocks,
)
from irbatch.engine.ties import (
    DEFAULT_ORDERING,
    Ordering,
    Texts,
    TieGroups,
    TiePolicy,
    as_compared,
    find_ranks,
    id_texts,
    order_rows,
    order_scores,
    rank_tied,
    round_scores,
)
from irbatch.errors import InputError, raise_problems
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats, distinct, number_errors, pack_floats
from irbatch.runtime.ragged import joined_ranges, offsets_of

if TYPE_CHECKING:
    from irbatch.data.columns import QueryTable


class Block:
    """Some of the queries, packed.

    Args:
        rows: intp ``(queries,)``, places among the queries to evaluate.
        matrix: what they retrieved.
        tied: bool ``(queries,)``, which have ties that matter and ids didn't decide.
    """

    def __init__(self, rows: Positions, matrix: RelevanceMatrix, tied: Bools | None = None) -> None:
        self.rows, self.matrix, self.tied = rows, matrix, tied

    def split(self, most: int) -> Iterator[Block]:
        """Yield the same queries in blocks of so many at most."""
        if self.rows.size <= most:
            yield self
            return
        for first in range(0, self.rows.size, most):
            last = min(first + most, self.rows.size)
            tied = None if self.tied is None else self.tied[first:last]
            yield Block(self.rows[first:last], self.matrix.of_rows(first, last), tied)


def plan_query_blocks(qrels: Qrels, rows: Positions, depths: Ints) -> Iterator[Positions]:
    """Group the judged queries at `rows` by the depths of their rankings, see `plan_blocks`."""
    levels = qrels.levels.size
    if levels > BYTE_LEVELS and rows.size:
        # A block of n queries with j judgments each has at most n*j levels of its own, so that
        # its n*n*j counts fill the budget at about this many levels.
        most = int((qrels.starts[rows + 1] - qrels.starts[rows]).max())
        levels = min(levels, math.isqrt(BLOCK_BYTES * most // 8) + 1)
    return plan_blocks(depths, levels)


def blank_matrix(
    qrels: Qrels, rows: Positions, retrieved: Ints
) -> tuple[RelevanceMatrix, NDArray[np.int32], Ints]:
    """Start a block, nothing judged at any rank; also return its judgments' codes and rows."""
    codes, row_index = qrels.gather(rows)
    levels = qrels.levels
    if levels.size > BYTE_LEVELS:
        used = distinct(codes[codes >= 0])
        codes = np.where(codes < 0, codes, np.searchsorted(used, codes)).astype(np.int32)
        levels = levels[used]
    counts = count_levels(row_index, codes, (rows.size, levels.size))
    return RelevanceMatrix.unjudged(retrieved, levels, counts), codes, row_index


class Joined(NamedTuple):
    """Rankings of some queries, and the judged documents, query after query, found in them."""

    scores: Floats  # descending within a ranking
    begins: Ints  # (queries,): of each ranking in `scores`
    ends: Ints
    judged_scores: Floats  # NaN where a document was not retrieved
    # Of some rankings, one after the other as they came in: ids, scores, and where each begins.
    listed: Callable[[Ints], tuple[IdColumn | list[Any], Floats, Ints]]
    near: Ints | None = None  # where judged documents may stand in `scores`, or -1
    # Instead of `scores` and `near`: how many documents score higher, how many the same, and how
    # many of these ids put before it, or NOT_COUNTED.
    counts: Sequence[Ints] | None = None


def pack_joined(
    qrels: Qrels, rows: Positions, picks: Positions, joined: Joined, policy: TiePolicy
) -> Block:
    """Pack the queries at `rows` of the qrels, at `picks` of those to evaluate."""
    scores, begins, ends, judged_scores, _, near, counts = joined
    matrix, codes, row_index = blank_matrix(qrels, rows, ends - begins)
    retrieved = np.flatnonzero(~np.isnan(judged_scores))
    codes, row_index = codes[retrieved], row_index[retrieved]
    judged_scores = judged_scores[retrieved]
    before = np.full(retrieved.size, NOT_COUNTED)
    if counts is not None:
        ranks, equal, before = (count[retrieved] for count in counts)
    else:
        near = before if near is None else near[retrieved]
        ranks, equal = find_ranks(scores, begins, ends, judged_scores, row_index, near)
    shared = np.flatnonzero(equal > 1)
    block = Block(picks, matrix)

    def rank_by_key() -> Ints:
        left = shared[before[shared] == NOT_COUNTED]
        if left.size:
            ties = row_index[left], ranks[left], equal[left]
            before[left] = _rank_by_ids(qrels, rows, retrieved[left], joined, policy, *ties)
        return before[shared]

    if shared.size and policy.by_id:
        ranks[shared] += rank_by_key()
    elif shared.size:
        grades = np.append(matrix.levels, -1.0)[np.maximum(codes[shared], -1)]
        in_rows = row_index[shared]
        groups = TieGroups(policy, in_rows, grades, ranks[shared], equal[shared])
        if (rejected := groups.find_rejected()) is not None:
            score = float(judged_scores[shared[rejected]])
            problem = f"documents of different grades share the score {score:g}"
            query = qrels.queries[rows[in_rows[rejected]]]
            raise InputError(problem, source="run", query=query, value=score)
        ranks[shared] += groups.count_before(rank_by_key)
        matrix.ties = groups.list_open()
        block = Block(picks, matrix, groups.mark_rows(rows.size))
    matrix.codes[row_index, ranks] = codes
    return block


def _rank_by_ids(
    qrels: Qrels,
    rows: Positions,
    judged: Positions,
    joined: Joined,
    policy: TiePolicy,
    row_index: Ints,
    above: Ints,
    equal: Ints,
) -> Ints:
    """Rank some of the judged documents, of rankings `row_index`, among those of their scores."""
    chosen = distinct(row_index)
    ids, scores, starts = joined.listed(chosen)
    begins = starts[np.searchsorted(chosen, row_index)] + above
    own = judged - offsets_of(qrels.starts[rows + 1] - qrels.starts[rows])[row_index]
    documents = {row: list(qrels.documents[int(rows[row])]) for row in chosen.tolist()}
    places = zip(row_index.tolist(), own.tolist(), strict=True)
    names = _texts([documents[row][place] for row, place in places])
    return rank_tied(policy, _texts(ids), order_rows(scores, starts), begins, equal, names)


def _texts(ids: IdColumn | list[Any]) -> Texts:
    """Return ids as they compare."""
    if not isinstance(ids, TextColumn):
        ids = TextColumn.encode(id_texts(ids if isinstance(ids, list) else ids.tolist()))
    return Texts(ids.text, ids.starts, ids.lengths)


PLANNED = 1 << 18  # queries of a table whose blocks are planned at once
Rankings = list[Mapping[Any, Any]]  # documents to scores, of some queries
EMPTY: Mapping[Any, Any] = {}


def pack_run(
    qrels: Qrels, run: Run, rows: Positions, ordering: Ordering = DEFAULT_ORDERING
) -> Iterator[Block]:
    """Pack rankings of the queries at `rows` of the qrels; blocks' `rows` are places in these."""
    if is_table(run.rankings) and can_join(qrels, run.rankings):
        yield from pack_table(qrels, run.rankings, rows, ordering)
        return
    rankings = [run.rankings.get(qrels.queries[row], EMPTY) for row in rows.tolist()]
    depths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    for picks in plan_query_blocks(qrels, rows, depths):
        chosen = [rankings[pick] for pick in picks.tolist()]
        starts = offsets_of(depths[picks])
        joined = _join_mappings(qrels, run, rows[picks], chosen, starts, ordering)
        yield pack_joined(qrels, rows[picks], picks, joined, ordering.ties)


def _join_mappings(
    qrels: Qrels, run: Run, rows: Positions, rankings: Rankings, starts: Ints, ordering: Ordering
) -> Joined:
    """Order the scores of rankings, of which each begins at `starts`; look the judged ones up."""
    dtype, ties = ordering

    def listed(chosen: Ints) -> tuple[list[Any], Floats, Ints]:
        some = [rankings[row] for row in chosen.tolist()]
        scores = as_floats([score for ranking in some for score in ranking.values()])
        ids = list(itertools.chain.from_iterable(some))
        return ids, as_compared(scores, dtype), offsets_of(list(map(len, some)))

    if qrels.document_kind != "int" and qrels.table is None:  # simple dictionaries, as a rule
        documents = [qrels.documents[row] for row in rows.tolist()]
        judged_starts = offsets_of(qrels.starts[rows + 1] - qrels.starts[rows])
        direction = {TiePolicy.ID: 1, TiePolicy.ID_ASCENDING: -1}.get(ties, 0)
        judged = documents, judged_starts
        found = find_in_rankings(rankings, starts, *judged, dtype, direction)
        if found is not None:
            own = found.scores, listed
            return Joined(np.empty(0), starts[:-1], starts[1:], *own, counts=found[1:])
    _check_documents(qrels, run, rows, rankings)
    scores = np.empty(starts[-1])
    try:
        judged_scores = _read_scores(qrels, rows, rankings, scores, dtype)
        if not order_scores(scores, starts):
            raise ValueError("a score is not a number")
    except NUMBER_ERRORS:
        values = (
            (qrels.queries[row], document, score)
            for row, ranking in zip(rows.tolist(), rankings, strict=True)
            for document, score in ranking.items()
        )
        raise_problems(list(number_errors("score", values, source="run", path=run.name)))
        raise
    return Joined(scores, starts[:-1], starts[1:], judged_scores, listed)


def _read_scores(
    qrels: Qrels, rows: Positions, rankings: Rankings, scores: Floats, score_dtype: str
) -> Floats:
    """Read all scores into `scores`; return the judged documents', NaN where not retrieved.

    One ranking at a time for both: what is looked up was just read and is still near.
    """
    raw = scores.data.cast("B")  # a slice of it is filled sooner than one of an array
    judged_scores: list[Any] = []
    missing = itertools.repeat(math.nan)
    start = 0
    for row, ranking in zip(rows.tolist(), rankings, strict=True):
        packed = pack_floats(ranking.values())
        raw[start : start + len(packed)] = packed
        start += len(packed)
        judged_scores.extend(map(ranking.get, qrels.documents[row], missing))
    round_scores(scores, score_dtype)
    return as_compared(as_floats(judged_scores), score_dtype)


def _check_documents(qrels: Qrels, run: Run, rows: Positions, rankings: Rankings) -> None:
    """Reject documents whose ids are of another kind than the judged ones'."""
    kind = qrels.document_kind
    # 1, 1.0 and True are one key to Python: where ids are numbers all are looked at.
    documents = itertools.chain.from_iterable(rankings)
    firsts = map(next, map(iter, filter(None, rankings)))
    if kind is None or kinds_of(documents if kind == "int" else firsts) <= {kind}:
        return
    for row, ranking in zip(rows.tolist(), rankings, strict=True):
        for document in ranking:
            check_id(document, "document", "run", qrels.queries[row])
            if id_kind(type(document)) != kind:
                judged = next(iter(qrels.documents[row]), "?")
                own = "text" if kind == "int" else "a whole number"
                theirs = f"the qrels' ids are {KINDS[kind]}, such as {judged!r}"
                problem = f"document id {document!r} is {own}, but {theirs}"
                fields = {"query": qrels.queries[row], "document": document}
                raise InputError(problem, source="run", path=run.name, **fields)


def can_join(qrels: Qrels, table: QueryTable) -> bool:
    """Tell whether documents are of one kind, so that columns can be compared."""
    return not len(table.documents) or qrels.document_kind in (None, table.document_kind)


def pack_table(
    qrels: Qrels, table: QueryTable, rows: Positions, ordering: Ordering | None
) -> Iterator[Block]:
    """Pack as `pack_run` a table; without an ordering its rankings are in order as they stand."""
    if not can_join(qrels, table):
        ids = table.documents, qrels.column
        check_alike("document", *ids, "of relevant documents", source="run", **table.where(0))
    places = qrels.places_in(table, rows)
    for picks, begins, ends in _plan_table_blocks(qrels, table, rows, places):
        found_at = _find_judged(qrels, table, rows[picks], places[picks])
        if ordering is not None:
            joined = _join(table, begins, ends, found_at, ordering.score_dtype)
            yield pack_joined(qrels, rows[picks], picks, joined, ordering.ties)
            continue
        matrix, codes, row_index = blank_matrix(qrels, rows[picks], ends - begins)
        retrieved = np.flatnonzero(found_at >= 0)
        in_rows = row_index[retrieved]
        matrix.codes[in_rows, found_at[retrieved] - begins[in_rows]] = codes[retrieved]
        yield Block(picks, matrix)


def _plan_table_blocks(
    qrels: Qrels, table: QueryTable, rows: Positions, places: Ints
) -> Iterator[tuple[Positions, Ints, Ints]]:
    """Yield places among the queries, see `plan_query_blocks`, with where rankings begin and end.

    So many queries at a time that what is known of them takes no memory to speak of.
    """
    for first in range(0, rows.size, PLANNED):
        some = slice(first, first + PLANNED)
        begins, ends = bounds_of(table, places[some])
        for picks in plan_query_blocks(qrels, rows[some], ends - begins):
            yield first + picks, begins[picks], ends[picks]


def bounds_of(table: QueryTable, places: Ints) -> tuple[Ints, Ints]:
    """Return where the rankings at some places begin and end; 0 at place -1, of queries missing."""
    begins, ends = np.zeros((2, places.size), np.int64)
    present = places >= 0
    begins[present], ends[present] = table.begins[places[present]], table.ends[places[present]]
    return begins, ends


def _join(table: QueryTable, begins: Ints, ends: Ints, found_at: Ints, score_dtype: str) -> Joined:
    """Order some rankings' scores; `found_at` are the rows of the judged documents, or -1."""
    judged_scores = np.full(found_at.size, np.nan)
    judged_scores[found_at >= 0] = table.numbers[found_at[found_at >= 0]]
    judged_scores = as_compared(judged_scores, score_dtype)

    def listed(chosen: Ints) -> tuple[IdColumn, Floats, Ints]:
        sizes = ends[chosen] - begins[chosen]
        own = joined_ranges(begins[chosen], sizes)
        scores = as_compared(table.numbers[own], score_dtype)
        return table.documents.take(own), scores, offsets_of(sizes)

    if table.is_ordered and score_dtype == "float64":
        return Joined(table.numbers, begins, ends, judged_scores, listed, near=found_at)
    parts = [table.numbers[start:stop] for start, stop in zip(begins, ends, strict=True)]
    scores = np.concatenate([np.empty(0), *parts])
    round_scores(scores, score_dtype)
    starts = offsets_of(ends - begins)
    order_scores(scores, starts)  # NaN was rejected when the table was made
    return Joined(scores, starts[:-1], starts[1:], judged_scores, listed)


def _find_judged(qrels: Qrels, table: QueryTable, rows: Positions, places: Ints) -> Ints:
    """Return the row of each judged document of some queries, -1 where it was not retrieved."""
    from irbatch.data.lookup import KeyedIds, find_rows

    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    starts = offsets_of(counts)
    if not len(table.documents) or not starts[-1]:
        return np.full(starts[-1], -1, np.int64)
    judged = qrels.column.take(joined_ranges(qrels.starts[rows], counts))
    return find_rows(table.keyed, KeyedIds.of(judged, starts[:-1], starts[1:]), places)


def shortened(run: Run, depth: int, ordering: Ordering) -> Run | None:
    """Return rankings down to a rank, with all that tie with what stands there.

    None if they are not a table in order, if what it holds is to be checked first, or if ids don't
    decide between documents of one score.
    """
    from irbatch.data.columns import QueryTable

    table = run.rankings
    if not isinstance(table, QueryTable) or table.repeated >= 0 or not ordering.ties.by_id:
        return None
    if ordering.score_dtype != "float64" or not table.is_ordered:
        return None
    deep = np.flatnonzero(table.ends - table.begins > depth)
    begins, ends = table.begins[deep], table.ends.copy()
    last = begins + depth - 1
    scores = table.numbers, begins, ends[deep], table.numbers[last]
    above, equal = find_ranks(*scores, np.arange(deep.size), last)
    ends[deep] = begins + above + equal
    starts, rows = offsets_of(ends - table.begins), joined_ranges(table.begins, ends - table.begins)
    first = table.documents.take(rows), table.numbers[rows]
    return Run(QueryTable(table.queries, starts, *first))
