"""Joining a run of scored documents with the judgments.

The judged documents of a query are looked up in its ranking (or the other way round, whichever is
shorter); their ranks come from where their scores stand. Nothing is factorised across queries.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from irbatch.array_types import Floats, Ints, Positions
from irbatch.data.columns import QueryTable
from irbatch.data.dicts import NOT_COUNTED, Found, find_in_rankings
from irbatch.data.ids import KINDS, check_id, id_kind, kinds_of
from irbatch.data.qrels import Qrels
from irbatch.data.runs import Run
from irbatch.engine.ties import DEFAULT_ORDERING, Ordering, as_compared, order_scores, round_scores
from irbatch.errors import InputError, raise_problems
from irbatch.pack.block import Block, Joined, pack_joined, plan_query_blocks
from irbatch.runtime.numbers import NUMBER_ERRORS, as_floats, number_problem, pack_floats
from irbatch.runtime.ragged import offsets_of

Ranking = Mapping[Any, Any]
EMPTY: Ranking = {}
SIDES: tuple[Any, ...] = "left", "right"


def pack_run(
    qrels: Qrels, run: Run, rows: Positions, ordering: Ordering = DEFAULT_ORDERING
) -> Iterator[Block]:
    """Pack rankings of the queries at `rows` of the qrels; blocks' `rows` are places in these."""
    if isinstance(run.rankings, QueryTable):
        from irbatch.pack.table import can_join, pack_table  # for those who have tables

        if can_join(qrels, run.rankings):
            yield from pack_table(qrels, run.rankings, rows, ordering)
            return
    rankings = [run.rankings.get(qrels.queries[row], EMPTY) for row in rows.tolist()]
    depths = np.fromiter(map(len, rankings), np.int64, len(rankings))
    blocks = list(plan_query_blocks(qrels, rows, depths))
    # One buffer for all blocks: fresh memory costs as much as filling it.
    buffer = np.empty(max((int(depths[picks].sum()) for picks in blocks), default=0))
    for picks in blocks:
        chosen = [rankings[pick] for pick in picks.tolist()]
        yield _Join(qrels, run, rows[picks], chosen, ordering, buffer).block(picks)


@dataclass(eq=False)
class _Join:
    """The join of one block: its rankings' scores and where the judged documents stand."""

    qrels: Qrels
    run: Run
    rows: Positions
    rankings: list[Ranking]
    ordering: Ordering
    buffer: Floats
    _listed: tuple[int, list[Any], Floats] = -1, [], np.empty(0)

    def block(self, picks: Positions) -> Block:
        """Look up, rank and place the judged documents; `picks` are the block's `rows`."""
        starts = offsets_of(np.fromiter(map(len, self.rankings), np.int64, len(self.rankings)))
        scores, counts = self.buffer[: starts[-1]], None
        if (found := self._find_in_dicts(starts)) is not None:
            judged_scores, *counts = found
        else:
            self._check_documents()
            judged_scores = self._read(scores)
            if not order_scores(scores, starts):
                raise_problems(list(self._score_problems()))
        joined = Joined(scores, starts[:-1], starts[1:], judged_scores, self._ids_at, counts=counts)
        return pack_joined(self.qrels, self.rows, picks, joined, self.ordering.ties)

    def _find_in_dicts(self, starts: Ints) -> Found | None:
        """Find the judged documents where rankings are simple dictionaries; else return None."""
        qrels, dtype = self.qrels, self.ordering.score_dtype
        if qrels.document_kind == "int" or qrels.table is not None:
            return None
        documents = [qrels.documents[row] for row in self.rows.tolist()]
        judged_starts = offsets_of(qrels.starts[self.rows + 1] - qrels.starts[self.rows])
        found = find_in_rankings(self.rankings, starts, documents, judged_starts, dtype)
        if found is None:
            return None
        uncounted = np.flatnonzero(found.equal == NOT_COUNTED)
        rows = np.searchsorted(judged_starts, uncounted, side="right") - 1
        for row in np.flatnonzero(np.bincount(rows)).tolist():
            some, scores = uncounted[rows == row], np.sort(self._scores(row))
            first, last = (np.searchsorted(scores, found.scores[some], side) for side in SIDES)
            found.above[some], found.equal[some] = scores.size - last, last - first
        return found

    def _read(self, scores: Floats) -> Floats:
        """Read all scores into `scores`; return the judged documents', NaN where not retrieved.

        One ranking at a time for both: what is looked up was just read and is still near.
        """
        raw = scores.data.cast("B")  # a slice of it is filled sooner than one of an array
        wanted: list[Any] = []
        missing = itertools.repeat(math.nan)
        start = 0
        counts = np.diff(self.qrels.starts)
        try:
            for row, ranking in zip(self.rows.tolist(), self.rankings, strict=True):
                if not ranking:  # a table of judgments need not make ids for it
                    wanted.extend(itertools.repeat(math.nan, counts[row]))
                    continue
                packed = pack_floats(ranking.values())
                end = start + len(packed)
                raw[start:end] = packed
                start = end
                judged = self.qrels.documents[row]
                if len(judged) <= len(ranking):
                    wanted.extend(map(ranking.get, judged, missing))
                else:
                    part = np.frombuffer(packed)
                    wanted.extend(_spread(part, ranking, self.qrels.place_of(row)))
            found = as_floats(wanted)
        except NUMBER_ERRORS:
            raise_problems(list(self._score_problems()))
            raise
        round_scores(scores, self.ordering.score_dtype)
        return as_compared(found, self.ordering.score_dtype)

    def _ids_at(self, row: int, score: float) -> list[Any]:
        """List the documents of a ranking that have some score; a ranking is read once for many."""
        if self._listed[0] != row:
            self._listed = row, list(self.rankings[row]), self._scores(row)
        _, retrieved, scores = self._listed
        return [retrieved[i] for i in np.flatnonzero(scores == score).tolist()]

    def _scores(self, row: int) -> Floats:
        """Read the scores of a ranking anew."""
        return as_compared(as_floats(self.rankings[row].values()), self.ordering.score_dtype)

    def _refuse(self, problem: str, **fields: Any) -> InputError:
        return InputError(problem, source="run", path=self.run.name, **fields)

    def _check_documents(self) -> None:
        """Refuse documents whose ids are of another kind than the judged ones'."""
        kind = self.qrels.document_kind
        if kind is None:
            return
        # 1, 1.0 and True are one key to Python: where ids are numbers all are looked at.
        every = itertools.chain.from_iterable(self.rankings)
        firsts = map(next, map(iter, filter(None, self.rankings)))
        if not kinds_of(every if kind == "int" else firsts) <= {kind}:
            for row, ranking in zip(self.rows.tolist(), self.rankings, strict=True):
                self._check_kinds(row, ranking, kind)

    def _check_kinds(self, row: int, ranking: Ranking, kind: str) -> None:
        query = self.qrels.queries[row]
        for document in ranking:
            check_id(document, "document", "run", query)
            if id_kind(type(document)) != kind:
                judged = next(iter(self.qrels.documents[row]), "?")
                own = "text" if kind == "int" else "a whole number"
                theirs = f"the qrels' ids are {KINDS[kind]}, such as {judged!r}"
                problem = f"document id {document!r} is {own}, but {theirs}"
                raise self._refuse(problem, query=query, document=document)

    def _score_problems(self) -> Iterator[InputError]:
        for row, ranking in zip(self.rows.tolist(), self.rankings, strict=True):
            for document, score in ranking.items():
                if problem := number_problem(score):
                    where = {"query": self.qrels.queries[row], "document": document}
                    yield self._refuse(f"score {problem}", **where, value=score)


def _spread(scores: Floats, ranking: Ranking, places: Mapping[Any, int]) -> list[float]:
    """Return each judged document's score, NaN where not retrieved, by looking them up in turn."""
    place = np.fromiter(map(places.get, ranking, itertools.repeat(-1)), np.intp, len(ranking))
    spread = np.full(len(places), math.nan)
    spread[place[place >= 0]] = scores[place >= 0]
    return spread.tolist()
