"""What is doubtful in a run file, though not wrong: one warning for each kind of doubt."""

from __future__ import annotations

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.errors import many, warn
from irbatch.formats.lines import ParsedLines
from irbatch.formats.pieces import Piece
from irbatch.runtime.ragged import joined_ranges


class FileWarnings:
    """What to warn of in the `rows` lines of data that have been read of a file."""

    def __init__(self) -> None:
        self.last_tag: str | None = None
        self.rows = 0
        self._tags: dict[bytes, None] = {}
        self._contradicting: dict[str, None] = {}
        self._counted = self._fractional = True  # as long as all lines are so
        self._several = False  # whether some query has more than one document
        self._query, self._documents = "", 0  # the last query, and its lines so far

    def add_piece(self, piece: Piece) -> None:
        """Take note of the next piece of a file."""
        self._see_tags(piece.tags, piece.last_tag)
        goes_on = bool(piece.queries) and piece.queries[0] == self._query
        doubtful = piece.queries[0] if piece.reversed and goes_on else None
        sure = (query for query in piece.contradicting if query != doubtful)
        self._contradicting.update(dict.fromkeys(sure))
        self._fractional &= piece.fractional
        self._count(piece.queries, piece.values, piece.firsts)

    def add_lines(self, rows: ParsedLines) -> None:
        """Take note of all lines of a file."""
        firsts = rows.firsts()
        self._see_tags(tuple(rows.tags), rows.last_tag)
        self._contradicting.update(dict.fromkeys(rows.contradicting()))
        self._fractional &= rows.fractional
        queries = [rows.queries[row] for row in firsts]
        self._count(queries, np.array(rows.values, np.float64), firsts)

    def issue(self, path: str, *, ranked: bool) -> None:
        """Warn of what is doubtful in a file, `ranked` if it has ranks beside the scores."""
        if ranked and (self._fractional or (self._counted and self._several)):
            what = "ranks are numbers with a point" if self._fractional else "scores count 1, 2, 3"
            warn(f"run {path!r}: {what}: are rank and score swapped?")
        elif self._contradicting:
            first, n = next(iter(self._contradicting)), len(self._contradicting)
            others = f" and {many(n - 1, 'other query')}" if n > 1 else ""
            problem = f"in query {first!r}{others} ranks and scores contradict each other"
            warn(f"run {path!r}: {problem}; scores decide, or ranks with order_by='rank'")
        if len(self._tags) > 1:
            one, other = (tag.decode(errors="backslashreplace") for tag in list(self._tags)[:2])
            warn(f"run {path!r}: lines of several systems, {one!r} and {other!r}")

    def _see_tags(self, tags: tuple[bytes, ...], last: bytes) -> None:
        self._tags.update(dict.fromkeys((*tags, last) if last else tags))
        if last:
            self.last_tag = last.decode(errors="backslashreplace")

    def _count(self, queries: list[str], values: Floats, firsts: Ints) -> None:
        """Look whether the values of each query go on counting 1, 2, 3, …."""
        self.rows += values.size
        if not queries:
            return
        if not self._counted:
            self._query = queries[-1]
            return
        sizes = np.diff(firsts, append=values.size)
        begins = np.ones(sizes.size, np.int64)
        if queries[0] == self._query:
            begins[0] += self._documents
        self._counted = bool((values == joined_ranges(begins, sizes)).all())
        self._query, self._documents = queries[-1], int(begins[-1] - 1 + sizes[-1])
        self._several |= bool(sizes.max() > 1) or self._documents > 1
