"""A piece of a file, parsed: some megabytes of lines as columns."""

from __future__ import annotations

import io
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import irbatch.formats.byte_kernels as kernels
from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.ids import NO_TEXTS, IdColumn, TextColumn, copied, join_ids
from irbatch.errors import InputError
from irbatch.formats.byte_parser import parse_bytes
from irbatch.formats.forms import LineForm
from irbatch.formats.lines import ParsedLines
from irbatch.runtime.ragged import joined_ranges, offsets_of
from irbatch.runtime.threads import cached_property


@dataclass(frozen=True, eq=False)
class Piece:
    """Columns, and what else was seen; `ParsedLines` says more of most fields."""

    queries: list[Any]  # of each group of consecutive rows with one query
    firsts: Ints  # (groups,), the first row of each
    documents: IdColumn
    values: Floats
    lines: int = 0  # data or not
    tags: tuple[bytes, ...] = ()  # of the first lines of queries, one or two that differ
    last_tag: bytes = b""
    contradicting: tuple[str, ...] = ()
    # Whether the first query contradicts itself by its second row alone, which may be a later one:
    # the query may have begun in the piece before.
    reversed: bool = False
    fractional: bool = False
    problems: tuple[InputError, ...] = ()  # lines are numbered from 1 here
    # What it was parsed from and into, which is the memory of `documents` and `values`.
    memory: tuple[bytearray, kernels.Parsed] | None = None

    @classmethod
    def parse(
        cls, text: bytearray, form: LineForm, path: str, room: kernels.Parsed | None = None
    ) -> Piece:
        """Parse whole lines: by the byte parser, into `room`, where all is as it should be."""
        parsed = parse_bytes(text, form, room)
        if parsed is not None:
            return cls._from_bytes(text, parsed, form)
        return cls.parse_lines(text, form, path)

    @classmethod
    def parse_lines(cls, text: bytearray, form: LineForm, path: str) -> Piece:
        """Parse whole lines by the reader of lines."""
        lines = ParsedLines(form, path)
        lines.read(enumerate(io.BytesIO(text), 1))
        return cls._from_lines(lines, text.count(b"\n"))

    @classmethod
    def _from_bytes(cls, text: bytearray, parsed: kernels.Parsed, form: LineForm) -> Piece:
        counts = parsed.counts.tolist()
        rows, groups = counts[kernels.ROWS], parsed.groups[: counts[kernels.GROUPS]]
        queries = [text[start:stop].decode() for _, start, stop, _ in groups.tolist()]
        tag, other, last = (
            bytes(text[counts[at] : counts[at + 1]]) if form.tag_at >= 0 else b""
            for at in (kernels.TAG, kernels.OTHER_TAG, kernels.LAST_TAG)
        )
        contradicting = tuple(itertools.compress(queries, groups[:, 3].tolist()))
        starts, lengths, values = parsed.starts[:rows], parsed.lengths[:rows], parsed.values[:rows]
        return cls(
            queries,
            groups[:, 0].copy(),
            TextColumn(np.frombuffer(text, np.uint8), starts, lengths),
            -values if form.is_ranked else values,
            lines=counts[kernels.LINES],
            tags=tuple(filter(None, (tag, other))),
            last_tag=last,
            contradicting=contradicting,
            reversed=bool(queries)
            and groups[0, 3] == kernels.REVERSED
            and queries[0] not in contradicting[1:],
            fractional=bool(queries) and counts[kernels.FRACTIONS] == len(queries),
            memory=(text, parsed),
        )

    @classmethod
    def _from_lines(cls, lines: ParsedLines, count: int) -> Piece:
        firsts = lines.firsts()
        return cls(
            [lines.queries[row] for row in firsts],
            firsts,
            TextColumn.encode(lines.documents),
            np.array(lines.values, np.float64),
            lines=count,
            tags=tuple(lines.tags)[:2],
            last_tag=lines.last_tag,
            contradicting=tuple(lines.contradicting()),
            reversed=lines.reversed(),
            fractional=lines.fractional,
            problems=tuple(lines.problems),
        )

    @cached_property
    def table(self) -> QueryTable:
        """A table of this piece alone, made by the thread that asks for it first."""
        return QueryTable.from_groups(
            self.queries, self.firsts, self.documents, self.values, threads=1
        )

    def compact(self) -> Piece:
        """Return it in memory of its own, without the text around the ids."""
        return replace(
            self,
            firsts=self.firsts.copy(),
            documents=copied(self.documents),
            values=self.values.copy(),
            memory=None,
        )

    def split(self) -> tuple[Piece, Piece]:
        """Part the last query from those before it, both in memory of their own."""
        row = int(self.firsts[-1])
        rows = np.arange(self.values.size)
        before, after = self.documents.take(rows[:row]), self.documents.take(rows[row:])
        head = Piece(self.queries[:-1], self.firsts[:-1], before, self.values[:row])
        tail = Piece(self.queries[-1:], np.zeros(1, np.int64), after, self.values[row:])
        return head.compact(), tail.compact()

    def only(self, queries: set[Any]) -> Piece:
        """Keep some queries."""
        kept = np.array([each in queries for each in self.queries], bool)
        sizes = np.diff(self.firsts, append=self.values.size)[kept]
        rows = joined_ranges(self.firsts[kept], sizes)
        ids = list(itertools.compress(self.queries, kept))
        documents = copied(self.documents.take(rows))
        return Piece(ids, offsets_of(sizes)[:-1], documents, self.values[rows])


def assemble(pieces: Sequence[Piece]) -> QueryTable:
    """Join pieces, and the parts of queries that come in several."""
    pieces = pieces or [Piece([], np.empty(0, np.int64), NO_TEXTS, np.empty(0))]
    offsets = offsets_of([each.values.size for each in pieces]).tolist()
    firsts = [each.firsts + at for each, at in zip(pieces, offsets, strict=False)]
    return QueryTable.from_groups(
        list(itertools.chain.from_iterable(each.queries for each in pieces)),
        np.concatenate(firsts),
        join_ids([each.documents for each in pieces]),
        np.concatenate([each.values for each in pieces]),
    )
