"""Text files of judgments or rankings, read from one end to the other.

A small file is read line by line into dictionaries. Of a large one each piece, some megabytes of
lines, is parsed into columns, several pieces at once. What is wrong is collected until there is
enough to be said.
"""

from __future__ import annotations

import functools
import io
import itertools
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.ids import NO_TEXTS, IdColumn, TextColumn, copied, join_ids
from irbatch.errors import LISTED_PROBLEMS, ErrorsIn, InputError, many, raise_problems, warn
from irbatch.formats import bytes as kernels
from irbatch.formats.bytes import Parsed, is_ready, parse_bytes
from irbatch.formats.lines import (
    NOTHING,
    LineForm,
    Lookup,
    ParsedLines,
    find_data,
    raise_by_line,
    recognise,
)
from irbatch.formats.streams import Input, cut_at_lines, open_input
from irbatch.runtime.progress import Progress
from irbatch.runtime.ragged import joined_ranges, offsets_of
from irbatch.runtime.threads import cached_property, map_items


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


MOST_REPEATS = 1000  # documents given twice that are looked for once more, to name where

Done = TypeVar("Done")
Outcome = Callable[[], Done]  # what work came to, or raises why it failed
Work = Callable[[QueryTable], Done]


class TableReader:
    """Reads what is too large to be held: subclasses say where pieces come from."""

    name: str
    query_kind: str  # this, `name` and `tag` as of a `Run`
    is_large: bool  # then read a table, else a lookup

    def __init__(self) -> None:
        self._problems: list[InputError] = []
        self._repeats: list[tuple[Any, Any]] = []  # queries and documents

    @property
    def tag(self) -> str | None:
        """What the system called itself, once all was read."""
        return None

    def table(self) -> QueryTable:
        """Read all of it as columns."""
        raise NotImplementedError

    def lookup(self) -> Mapping[Any, Mapping[Any, float]]:
        """Read what is small as query to document to value."""
        return self.table()

    def warn(self) -> None:
        """Warn of what was doubtful in all that was read."""

    def map_tables(self, work: Work[Done]) -> Iterator[Done]:
        """Yield what comes of calling ``work(table)`` with tables of complete queries, in order.

        It is called in threads, perhaps for nothing: with queries that turn out to go on. A query
        that returns after others comes once more, whole: the last time counts. Tables are read
        only until `work` returns.
        """
        seen: set[Any] = set()
        returned: set[Any] = set()
        for pieces, done in self._complete(self._parsed(work)):
            queries = dict.fromkeys(itertools.chain.from_iterable(each.queries for each in pieces))
            returned.update(seen.intersection(queries))
            seen.update(queries)
            done = done or functools.partial(work, self._assembled(pieces))
            if not self._problems and not self._repeats:
                yield done()
            self._release(pieces)
            del pieces
        if returned:
            table = self._gathered(piece.only(returned) for piece in self._parsed_again())
            if not self._problems and not self._repeats:
                yield work(table)
        self._raise_problems()

    def _parsed(self, work: Work[Done]) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        """Read pieces, some at once, collect what is wrong with them; and what comes of `work`.

        That is called with the table of a piece alone.
        """
        raise NotImplementedError

    def _parsed_again(self) -> Iterator[Piece]:
        """Read the same pieces once more."""
        raise NotImplementedError

    def _raise_problems(self) -> None:
        """Raise what was collected, and where the documents stand that were given twice."""
        raise NotImplementedError

    def _release(self, pieces: list[Piece]) -> None:
        """Take back the memory of pieces that are done with."""

    def _look_early(self, held: list[Piece]) -> None:
        """Refuse what is wrong with pieces of which more and more are held."""

    def _complete(
        self, pieces: Iterable[tuple[Piece, Outcome[Done] | None]]
    ) -> Iterator[tuple[list[Piece], Outcome[Done] | None]]:
        """Yield pieces, or parts of them, that end where a query does; and what came of them."""
        held: list[Piece] = []  # whose last query may go on
        held_done: Outcome[Done] | None = None
        for piece, done in pieces:
            if not held or piece.queries[0] != held[-1].queries[-1]:  # as a rule: see `cut`
                if held:
                    yield held, held_done
                held, held_done = [piece], done
                continue
            # A query goes on, which may be long: of its pieces nothing else is kept.
            held, held_done = [each.compact() if each.memory else each for each in held], None
            if len(piece.queries) > 1:
                head, tail = piece.split()
                yield [*held, head], None
                held = [tail]
            else:
                held.append(piece.compact())
                self._look_early(held)
        if held:
            yield held, held_done

    def _gathered(self, pieces: Iterable[Piece]) -> QueryTable:
        """Assemble all pieces there are."""
        held: list[Piece] = []
        for piece in pieces:
            held.append(piece)
            self._look_early(held)
        return self._assembled(held)

    def _assembled(self, pieces: list[Piece]) -> QueryTable:
        table = pieces[0].table if len(pieces) == 1 else assemble(pieces)
        if table.repeated >= 0:
            self._repeats += table.repeats(MOST_REPEATS - len(self._repeats))
        return table


def attempt(work: Work[Done], table: QueryTable) -> Outcome[Done]:
    """Do some work; return what returns what came of it, or raises it."""
    try:
        done = work(table)
    except Exception as problem:
        return functools.partial(_raise, problem)
    return lambda: done


def _raise(problem: Exception) -> Any:
    raise problem


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


# Bytes from which the byte parser is worth compiling, and from which it is worth using when its
# machine code is at hand. Reading lines in Python takes about 30 ns a byte
# (benchmarks/test_files.py).
LARGE = 24 << 20
LARGE_WHEN_READY = 128 << 10

FEW = 3  # queries
LONGEST_QUERY = 256  # bytes of an id that are looked at to cut between queries
LINES_AT_ONCE = 10_000  # looked through for them

Text = bytearray | InputError  # a piece of a file, or why it cannot be read on


class Reader(TableReader):
    """Reads a file of judgments or rankings, small or large; with `by_rank`, ranks for scores.

    A file whose header or JSON objects have unknown names, which `given` doesn't have either, is
    refused here; reading it raises what is wrong with it, the first 20 problems by line. `progress`
    is called with bytes read and all.
    """

    query_kind = "str"

    def __init__(
        self,
        file: Input,
        given: Mapping[str, Any] = NOTHING,
        *,
        by_rank: bool = False,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.file, self._progress = file, progress
        self._recognise = functools.partial(
            recognise, source=file.source, given=given, by_rank=by_rank
        )
        self.name = file.path
        file.cut = self._first_cut
        self._lines = self._before = 0  # lines read, and bytes before the data
        self._rest = self._from_data_on(_with_its_error(file.pieces()))
        self._begun: list[Text] = []
        size, limit = 0, LARGE_WHEN_READY
        for piece in self._rest:
            self._begun.append(piece)
            size += len(piece) if isinstance(piece, bytearray) else 0
            if limit == LARGE_WHEN_READY <= size and not is_ready():
                limit = LARGE
            if size >= limit:
                break
        self.is_large = size >= limit
        first = self._begun[0] if self._begun else b""
        text = first if isinstance(first, bytearray) else b""
        with ErrorsIn(path=file.path):
            try:
                form, self._header = self._recognise(text)
            except InputError as problem:
                raise self._with_line(problem) from None
            self.form = form.by_rank() if by_rank else form
        if self.form.query_at == 0 and self.form.keys is None:
            file.cut = functools.partial(_query_start, separator=form.separator)
        else:
            file.cut = cut_at_lines
        self._lines += text.count(b"\n", 0, self._header)
        self._before += self._header
        self.warnings = FileWarnings()  # complete once all was read
        self._rooms: list[Parsed] = []  # that pieces can be parsed into

    @property
    def tag(self) -> str | None:
        """What the system called itself on the last line read."""
        return self.warnings.last_tag

    def warn(self) -> None:
        """Warn of what was doubtful, once all was read."""
        self.warnings.issue(self.name, ranked=self.form.rank_at >= 0)

    def lookup(self) -> Lookup:
        """Read a small file as query to document to value."""
        rows = ParsedLines(self.form, self.file.path)
        for piece in self._all():
            if isinstance(piece, InputError):
                rows.problems.append(self._with_line(piece))
                break
            rows.read(enumerate(io.BytesIO(piece), self._lines + 1))
            if len(rows.problems) >= LISTED_PROBLEMS:
                break
            self._lines += piece.count(b"\n")
        self.warnings.add_lines(rows)
        return rows.lookup()

    def table(self) -> QueryTable:
        """Read a large file as columns."""
        table = self._gathered(piece for piece, _ in self._read(self._all()))
        self._raise_problems()
        return table

    def _release(self, pieces: list[Piece]) -> None:
        for text, room in filter(None, [each.memory for each in pieces]):
            self.file.spare.append(text)
            self._rooms.append(room)

    def _first_cut(self, piece: bytearray, end: int) -> int:
        """Cut the first piece, of which the form is not known yet and must be told by its rest."""
        with suppress(InputError):
            form, header = self._recognise(piece, end=end)
            if form.query_at == 0 and form.keys is None:
                start = _query_start(piece, end, separator=form.separator)
                if self._recognise(piece, end=start) == (form, header):
                    return start
        return end

    def _look_early(self, held: list[Piece]) -> None:
        """Refuse documents given twice before all is read, if an archive makes much of little.

        They are looked for whenever twice as many pieces are held.
        """
        if self.file.is_dense and len(held) & (len(held) - 1) == 0:
            self._assembled(held)
            if self._repeats:
                self._raise_problems()

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        return self._read(self._all(), work)

    def _parsed_again(self) -> Iterator[Piece]:
        texts = _without_first(self._before, _with_its_error(self.file.pieces()))
        again: Iterator[tuple[Piece, Any]] = self._read(texts, again=True)
        return (piece for piece, _ in again)

    def _read(
        self, texts: Iterable[Text], work: Work[Done] | None = None, *, again: bool = False
    ) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        """Parse pieces, some at once; the first time, not `again`, collect what is wrong with them.

        With `work` also yield what comes of it, called with the table of a piece alone.
        """
        parse = functools.partial(self._parse, work=work)
        for piece, done in map_items(parse, texts):
            if isinstance(piece, InputError):
                if not again:
                    self._problems.append(self._with_line(piece))
                elif not self._problems:  # it could be read before
                    raise piece.with_fields(line=None)
                break
            if not again:
                self._problems += map(self._with_line, piece.problems)
                self.warnings.add_piece(piece)
                self._lines += piece.lines
                if self._progress is not None:
                    self._progress(self.file.done, self.file.size)
            if piece.values.size:
                yield piece, done
            if not again and len(self._problems) >= LISTED_PROBLEMS:
                break

    def _parse(
        self, text: Text, work: Work[Done] | None
    ) -> tuple[Piece | InputError, Outcome[Done] | None]:
        if isinstance(text, InputError):
            return text, None
        if not self.is_large:
            return Piece.parse_lines(text, self.form, self.file.path), None
        if work is None:
            return Piece.parse(text, self.form, self.file.path).compact(), None
        room = None
        with suppress(IndexError):
            room = self._rooms.pop()
        piece = Piece.parse(text, self.form, self.file.path, room)
        # A piece of few queries is mostly cut within one: it is worked on when that is complete.
        if len(piece.queries) < FEW or piece.problems or piece.table.repeated >= 0:
            return piece, None
        return piece, attempt(work, piece.table)

    def _with_line(self, problem: InputError) -> InputError:
        """Count a problem's line from where the file begins, not from where its piece does."""
        return problem.with_fields(line=self._lines + (problem.line or 0) or None)

    def _from_data_on(self, texts: Iterator[Text]) -> Iterator[Text]:
        """Leave out pieces of nothing but blank lines and comments, which may be any number."""
        for text in texts:
            if isinstance(text, InputError) or find_data(text, self.file.source) >= 0:
                yield text
                break
            self._before += len(text)
            self._lines += text.count(b"\n")
        yield from texts

    def _all(self) -> Iterator[Text]:
        """Yield what was read to know the file's form and size, and the rest; but no header."""
        begun = (self._begun.pop(0) for _ in range(len(self._begun)))
        yield from _without_first(self._header, itertools.chain(begun, self._rest))

    def _raise_problems(self) -> None:
        """Raise what was collected, with the lines of documents given twice."""
        if self._repeats:
            self._problems += self._repeated_lines()
        raise_by_line(self._problems)
        if not self.warnings.rows:
            problem = "there are no data lines"
            raise InputError(problem, source=self.file.source, path=self.file.path)

    def _repeated_lines(self) -> Iterator[InputError]:
        """Say in which lines documents stand that their queries have twice."""
        firsts: dict[tuple[str, str], int] = {}
        rows, found = ParsedLines(self.form, self.file.path), 0
        for pair, line in self.places(dict.fromkeys(self._repeats)):
            if firsts.setdefault(pair, line) != line:
                yield rows.repeated(*pair, line, firsts[pair])
                found += 1
                if found == LISTED_PROBLEMS:
                    return

    def places(self, wanted: Collection[tuple[Any, Any]]) -> Iterator[tuple[tuple[str, str], int]]:
        """Yield some queries' documents with the lines in which they stand."""
        number = 0
        for piece in self.file.pieces():
            lines = enumerate(io.BytesIO(piece), number + 1)
            number += piece.count(b"\n")
            while some := list(itertools.islice(lines, LINES_AT_ONCE)):
                rows = ParsedLines(self.form, self.file.path)
                rows.read(some)
                for pair, line in zip(rows.pairs(), rows.numbers, strict=True):
                    if pair in wanted:
                        yield pair, line


def _query_start(piece: bytearray, end: int, *, separator: bytes) -> int:
    """Return where the lines of the last query begin: its piece should have all of it.

    Lines of a query are taken to stand together. Where they don't, pieces are cut elsewhere; but
    never in their first half: what is left over must not grow from piece to piece.
    """
    high = piece.rfind(b"\n", 0, end - 1) + 1
    last = _query_at(piece, high, separator)
    low = 0
    while high - low > 1:  # the line that begins at `high` is the query's, that of `low` not
        middle = (low + high) // 2
        start = piece.rfind(b"\n", 0, middle) + 1
        if _query_at(piece, start, separator) == last:
            high = start
        else:
            low = middle
    return high if 2 * high >= end else end


def _query_at(piece: bytearray, start: int, separator: bytes) -> bytes:
    """Return the query of the line that begins somewhere."""
    begin = bytes(piece[start : start + LONGEST_QUERY])
    return begin.split(separator or None, 1)[0] if begin.strip() else b""


def _without_first(count: int, texts: Iterable[Text]) -> Iterator[Text]:
    """Leave out the first bytes."""
    for text in texts:
        if count and isinstance(text, bytearray):
            length = len(text)
            del text[:count]
            count = max(count - length, 0)
        yield text


def _with_its_error(pieces: Iterator[bytearray]) -> Iterator[Text]:
    """Yield pieces and, after the last one, why the file cannot be read on, if so."""
    fault = None
    try:
        yield from pieces
    except InputError as problem:
        fault = problem.with_traceback(None)  # whose frames hold pieces
    if fault is not None:
        yield fault


Open = Callable[[Input, Progress | None], Reader]


class TextParts(TableReader):
    """Reads files one after the other; each has its own header, if any. `open_part` opens one."""

    query_kind = "str"
    is_large = True

    def __init__(
        self,
        paths: Sequence[str],
        name: str,
        source: str,
        open_part: Open,
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._paths, self._source, self._open_part = paths, source, open_part
        self._progress = progress
        self._warnings = FileWarnings()
        self._has_ranks = False

    @property
    def tag(self) -> str | None:
        """What the system called itself on the last line read."""
        return self._warnings.last_tag

    def warn(self) -> None:
        """Warn of what was doubtful, once all was read."""
        self._warnings.issue(self.name, ranked=self._has_ranks)

    def table(self) -> QueryTable:
        """Read all files as columns."""
        table = self._gathered(piece for piece, _ in self._parsed(None))
        self._raise_problems()
        return table

    def _readers(self) -> Iterator[Reader]:
        """Open one file after the other; what is wrong with any, or doubtful, is collected here."""
        sizes = [os.path.getsize(path) for path in self._paths]  # noqa: PTH202 - see `parts`
        for part, path in enumerate(self._paths):
            told = functools.partial(self._tell, sum(sizes[:part]), sum(sizes))
            with open_input(path, self._source) as file:
                if file.is_parquet:  # the first of the parts is none
                    problem = "is Parquet among text files: a folder is of one form"
                    raise InputError(problem, source=self._source, path=path)
                reader = self._open_part(file, told)
                reader._problems, reader.warnings = self._problems, self._warnings
                self._has_ranks |= reader.form.rank_at >= 0
                yield reader

    def _tell(self, before: int, size: int, done: int, _: int) -> None:
        if self._progress is not None:
            self._progress(before + done, size)

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        for reader in self._readers():
            yield from reader._parsed(work)
            if len(self._problems) >= LISTED_PROBLEMS:
                break

    def _parsed_again(self) -> Iterator[Piece]:
        for reader in self._readers():
            yield from reader._parsed_again()

    def _raise_problems(self) -> None:
        if self._repeats:
            self._problems += self._repeated_lines()
        raise_problems(self._problems[:LISTED_PROBLEMS])
        if not self._warnings.rows:
            raise InputError("there are no data lines", source=self._source, path=self.name)

    def _repeated_lines(self) -> Iterator[InputError]:
        """Say in which lines of which files documents stand that their queries have twice."""
        wanted = dict.fromkeys(self._repeats)
        firsts: dict[tuple[str, str], tuple[str, int]] = {}
        found = 0
        for reader in self._readers():
            for pair, line in reader.places(wanted):
                path, first = firsts.setdefault(pair, (reader.name, line))
                if (path, first) == (reader.name, line):
                    continue
                where = f" of {path!r}" if path != reader.name else ""
                problem = f"this document was given before, in line {first}{where}"
                fields: dict[str, Any] = {"query": pair[0], "document": pair[1], "line": line}
                yield InputError(problem, source=self._source, path=reader.name, **fields)
                found += 1
                if found == LISTED_PROBLEMS:
                    return
