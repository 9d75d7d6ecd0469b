"""Joining runs of scored documents with the judgments, in bounded blocks.

The judged documents of a query are looked up in its ranking; their ranks come from where their
scores stand. Nothing is factorised across queries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irbatch.array_types import Bools, Codes2, Floats, Ints, Ints2, NDArray, Positions
from irbatch.data.dicts import NOT_COUNTED, find_in_rankings, is_table
from irbatch.data.ids import KINDS, IdColumn, TextColumn, check_alike, check_id, id_kind, kinds_of
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.matrix import BLOCK_BYTES, BYTE_LEVELS, RelevanceMatrix, plan_blocks
from irbatch.engine.ties import (
    DEFAULT_ORDERING,
    Ordering,
    Standings,
    Texts,
    TieGroups,
    TiePolicy,
    as_compared,
    find_standings,
    id_texts,
    order_rows,
    order_scores,
    rank_tied,
    round_scores,
)
from irbatch.errors import InputError, raise_problems
from irbatch.runtime.kernels import kernel
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


def fill_matrix(
    qrels: Qrels, rows: Positions, retrieved: Ints, standings: Standings
) -> tuple[RelevanceMatrix, tuple[NDArray[np.int32], Ints], int]:
    """Make the matrix of some queries; also return the judgments, and how many ties leave open.

    Judgments are codes and where each query's begin. A document that shares its score, if it isn't
    known how many ids put before it, is left out.
    """
    codes, levels, begins = qrels.codes, qrels.levels, qrels.starts[rows]
    if levels.size > BYTE_LEVELS:  # those that the block has will be fewer
        codes, begins = qrels.gather(rows)[0], standings.starts[:-1]
        used = distinct(codes[codes >= 0])
        codes = np.where(codes < 0, codes, np.searchsorted(used, codes)).astype(np.int32)
        levels = levels[used]
    counts = np.zeros((rows.size, levels.size), np.int64)
    matrix = RelevanceMatrix.unjudged(retrieved, levels, counts)
    work = 10 * standings.above.size
    left = _place_judged.run(work, codes, begins, standings, matrix.codes, counts)
    return matrix, (codes, begins), left


@kernel
def _place_judged(
    judged: NDArray[np.int32], begins: Ints, standings: Standings, codes: Codes2, counts: Ints2
) -> int:
    """Write judged documents where they stand, count them by level; return how many ties leave."""
    starts, above, equal, before = standings
    left = 0
    for q in range(codes.shape[0]):
        for i in range(starts[q], starts[q + 1]):
            code = judged[begins[q] + i - starts[q]]
            if code >= 0:
                counts[q, code] += 1
            if equal[i] > 1 and before[i] == NOT_COUNTED:
                left += 1
            elif equal[i] > 0:
                codes[q, above[i] + (before[i] if equal[i] > 1 else 0)] = code
    return left


class Joined(NamedTuple):
    """Rankings of some queries, and the judged documents, query after query, found in them."""

    sizes: Ints  # (queries,): of the rankings
    judged_scores: Floats  # NaN where a document was not retrieved
    standings: Standings
    # Of some rankings, one after the other as they came in: ids, scores, and where each begins.
    listed: Callable[[Ints], tuple[IdColumn | list[Any], Floats, Ints]]


def pack_joined(
    qrels: Qrels, rows: Positions, picks: Positions, joined: Joined, policy: TiePolicy
) -> Block:
    """Pack the queries at `rows` of the qrels, at `picks` of those to evaluate."""
    matrix, (codes, begins), left = fill_matrix(qrels, rows, joined.sizes, joined.standings)
    if not left:
        return Block(picks, matrix)
    starts, above, equal, before = joined.standings
    shared = np.flatnonzero((equal > 1) & (before == NOT_COUNTED))
    row_index = np.searchsorted(starts, shared, side="right") - 1
    own = shared - starts[row_index]  # each document's place among its query's
    codes, above, equal = codes[begins[row_index] + own], above[shared], equal[shared]

    def rank_by_key() -> Ints:
        return _rank_by_ids(qrels, rows, own, joined, policy, row_index, above, equal)

    tied = None
    if policy.by_id:
        ranks = above + rank_by_key()
    else:
        grades = np.append(matrix.levels, -1.0)[np.maximum(codes, -1)]
        groups = TieGroups(policy, row_index, grades, above, equal)
        if (rejected := groups.find_rejected()) is not None:
            score = float(joined.judged_scores[shared[rejected]])
            problem = f"documents of different grades share the score {score:g}"
            query = qrels.queries[rows[row_index[rejected]]]
            raise InputError(problem, source="run", query=query, value=score)
        ranks = above + groups.count_before(rank_by_key)
        matrix.ties, tied = groups.list_open(), groups.mark_rows(rows.size)
    matrix.codes[row_index, ranks] = codes
    return Block(picks, matrix, tied)


def _rank_by_ids(
    qrels: Qrels,
    rows: Positions,
    own: Positions,
    joined: Joined,
    policy: TiePolicy,
    row_index: Ints,
    above: Ints,
    equal: Ints,
) -> Ints:
    """Rank judged documents of rankings `row_index`, at their places `own`, among those tied."""
    chosen = distinct(row_index)
    ids, scores, starts = joined.listed(chosen)
    begins = starts[np.searchsorted(chosen, row_index)] + above
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
    judged_starts = offsets_of(qrels.starts[rows + 1] - qrels.starts[rows])

    def listed(chosen: Ints) -> tuple[list[Any], Floats, Ints]:
        some = [rankings[row] for row in chosen.tolist()]
        scores = as_floats([score for ranking in some for score in ranking.values()])
        ids = list(itertools.chain.from_iterable(some))
        return ids, as_compared(scores, dtype), offsets_of(list(map(len, some)))

    if qrels.document_kind != "int" and qrels.table is None:  # simple dictionaries, as a rule
        documents = [qrels.documents[row] for row in rows.tolist()]
        direction = {TiePolicy.ID: 1, TiePolicy.ID_ASCENDING: -1}.get(ties, 0)
        found = find_in_rankings(rankings, starts, documents, judged_starts, dtype, direction)
        if found is not None:
            standings = Standings(judged_starts, *found[1:])
            return Joined(starts[1:] - starts[:-1], found.scores, standings, listed)
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
    if judged_scores.size != judged_starts[-1]:
        raise RuntimeError("judgments changed while they were read")
    standings = find_standings(scores, starts[:-1], starts[1:], judged_scores, judged_starts)
    return Joined(starts[1:] - starts[:-1], judged_scores, standings, listed)


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
        found_at, judged = _find_judged(qrels, table, rows[picks], places[picks])
        if ordering is not None:
            joined = _join(table, begins, ends, found_at, judged, ordering.score_dtype)
            yield pack_joined(qrels, rows[picks], picks, joined, ordering.ties)
            continue
        above = found_at - np.repeat(begins, np.diff(judged))
        standings = Standings(judged, above, (found_at >= 0).astype(np.int64), above)
        yield Block(picks, fill_matrix(qrels, rows[picks], ends - begins, standings)[0])


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


def _join(
    table: QueryTable, begins: Ints, ends: Ints, found_at: Ints, judged: Ints, score_dtype: str
) -> Joined:
    """Order some rankings' scores; `found_at` are the rows of the documents `judged`, or -1."""
    judged_scores = np.full(found_at.size, np.nan)
    judged_scores[found_at >= 0] = table.numbers[found_at[found_at >= 0]]
    judged_scores = as_compared(judged_scores, score_dtype)

    def listed(chosen: Ints) -> tuple[IdColumn, Floats, Ints]:
        sizes = ends[chosen] - begins[chosen]
        own = joined_ranges(begins[chosen], sizes)
        scores = as_compared(table.numbers[own], score_dtype)
        return table.documents.take(own), scores, offsets_of(sizes)

    if table.is_ordered and score_dtype == "float64":
        searched = judged_scores, judged, found_at
        standings = find_standings(table.numbers, begins, ends, *searched)
        return Joined(ends - begins, judged_scores, standings, listed)
    parts = [table.numbers[start:stop] for start, stop in zip(begins, ends, strict=True)]
    scores = np.concatenate([np.empty(0), *parts])
    round_scores(scores, score_dtype)
    starts = offsets_of(ends - begins)
    order_scores(scores, starts)  # NaN was rejected when the table was made
    standings = find_standings(scores, starts[:-1], starts[1:], judged_scores, judged)
    return Joined(ends - begins, judged_scores, standings, listed)


def _find_judged(
    qrels: Qrels, table: QueryTable, rows: Positions, places: Ints
) -> tuple[Ints, Ints]:
    """Return the row of each judged document of some queries, -1 where it was not retrieved.

    Also return where those of each query begin.
    """
    from irbatch.data.lookup import KeyedIds, find_rows

    counts = qrels.starts[rows + 1] - qrels.starts[rows]
    starts = offsets_of(counts)
    if not len(table.documents) or not starts[-1]:
        return np.full(starts[-1], -1, np.int64), starts
    judged = qrels.column.take(joined_ranges(qrels.starts[rows], counts))
    return find_rows(table.keyed, KeyedIds.of(judged, starts[:-1], starts[1:]), places), starts


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
    standings = find_standings(*scores, np.arange(deep.size + 1), last)
    ends[deep] = begins + standings.above + standings.equal
    starts, rows = offsets_of(ends - table.begins), joined_ranges(table.begins, ends - table.begins)
    first = table.documents.take(rows), table.numbers[rows]
    return Run(QueryTable(table.queries, starts, *first))
