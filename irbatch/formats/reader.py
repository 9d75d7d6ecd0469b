"""Files of judgments or rankings, read from one end to the other, in pieces.

Each piece, some megabytes of lines, is parsed into columns, several pieces at once. What is wrong
is collected until there is enough to be said. `TableReader` makes tables of pieces, whatever they
come from; `Reader` reads files of text.
"""

from __future__ import annotations

import functools
import io
import itertools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.ids import NO_TEXTS, IdColumn, TextColumn, copied, join_ids
from irbatch.errors import LISTED_PROBLEMS, InputError, keyword, many, raise_problems, shown, warn
from irbatch.formats import bytes as kernels
from irbatch.formats.bytes import Parsed, is_ready, parse_bytes
from irbatch.formats.lines import LineForm, ParsedLines, find_data, raise_by_line, repeated
from irbatch.formats.streams import Input, open_input
from irbatch.runtime.progress import Progress
from irbatch.runtime.ragged import joined_ranges, offsets_of
from irbatch.runtime.threads import cached_property, map_items

# Bytes of text from which the byte parser is worth compiling, where its machine code is not at
# hand. Reading lines in Python takes about 30 ns a byte.
LARGE = 24 << 20
# Lines in a list from which the byte parser is sooner done, loading its machine code included.
MANY = 100
FEW = 3  # queries of a piece that is not worked on alone
MOST_REPEATS = 1000  # documents given twice that are looked for once more, to name where


@dataclass(frozen=True, eq=False)
class Piece:
    """Columns, and what else was seen; `ParsedLines` says more of most fields."""

    queries: list[Any]  # of each group of consecutive rows with one query
    firsts: Ints  # (groups,), the first row of each
    documents: IdColumn
    values: Floats
    lines: int = 0  # data or not
    tags: tuple[bytes, bytes] = b"", b""  # of the first line and of the last one
    contradicting: tuple[str, ...] = ()
    fractional: bool = False
    problems: tuple[InputError, ...] = ()  # lines are numbered from 1 here

    @classmethod
    def parse(
        cls, text: bytearray, form: LineForm, path: str | None = None, *, by_bytes: bool = True
    ) -> Piece:
        """Parse whole lines: by the byte parser, if wanted, where all is as it should be."""
        if by_bytes and (parsed := parse_bytes(text, form)) is not None:
            return cls.from_bytes(text, parsed, form)
        lines = ParsedLines(form, path)
        lines.read(enumerate(io.BytesIO(text), 1))
        return cls.from_lines(lines, text.count(b"\n"))

    @classmethod
    def from_bytes(cls, text: bytearray, parsed: Parsed, form: LineForm) -> Piece:
        """Take what the byte parser found in a text."""
        groups = parsed.groups
        queries = [text[start:stop].decode() for _, start, stop, _ in groups.tolist()]
        tags = [bytes(text[at[0] : at[1]]) if form.tag_at >= 0 else b"" for at in parsed.tags]
        return cls(
            queries,
            groups[:, 0].copy(),
            TextColumn(np.frombuffer(text, np.uint8), parsed.starts, parsed.lengths),
            -parsed.values if form.is_ranked else parsed.values,
            lines=int(parsed.lines[0]),
            tags=(tags[0], tags[1]),
            contradicting=tuple(itertools.compress(queries, groups[:, 3].tolist())),
            fractional=bool(queries) and parsed.fractions[0] == len(queries),
        )

    @classmethod
    def from_lines(cls, lines: ParsedLines, count: int) -> Piece:
        """Take what lines hold, of so many, data or not."""
        firsts = lines.firsts()
        return cls(
            [lines.queries[row] for row in firsts],
            firsts,
            TextColumn.encode(lines.documents),
            np.array(lines.values, np.float64),
            lines=count,
            tags=lines.tags,
            contradicting=tuple(lines.contradicting()),
            fractional=lines.fractional,
            problems=tuple(lines.problems),
        )

    @cached_property
    def table(self) -> QueryTable:
        """A table of this piece alone, made by the thread that asks for it first."""
        return QueryTable.from_runs(
            self.queries, self.firsts, self.documents, self.values, threads=1
        )

    def compact(self) -> Piece:
        """Return it in memory of its own, without the text around the ids."""
        return replace(
            self,
            firsts=self.firsts.copy(),
            documents=copied(self.documents),
            values=self.values.copy(),
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
        kept = np.array([query in queries for query in self.queries], bool)
        sizes = np.diff(self.firsts, append=self.values.size)[kept]
        rows = joined_ranges(self.firsts[kept], sizes)
        ids = list(itertools.compress(self.queries, kept))
        documents = copied(self.documents.take(rows))
        return Piece(ids, offsets_of(sizes)[:-1], documents, self.values[rows])


def assemble(pieces: Sequence[Piece]) -> QueryTable:
    """Join pieces, and the parts of queries that come in several."""
    pieces = pieces or [Piece([], np.empty(0, np.int64), NO_TEXTS, np.empty(0))]
    offsets = offsets_of([piece.values.size for piece in pieces]).tolist()
    return QueryTable.from_runs(
        list(itertools.chain.from_iterable(piece.queries for piece in pieces)),
        np.concatenate([piece.firsts + at for piece, at in zip(pieces, offsets, strict=False)]),
        join_ids([piece.documents for piece in pieces]),
        np.concatenate([piece.values for piece in pieces]),
    )


Done = TypeVar("Done")
Outcome = Callable[[], Done]  # what work came to, or raises why it failed
Work = Callable[[QueryTable], Done]


class TableReader:
    """Reads what may be too large to be held: subclasses say where pieces come from."""

    name: str
    query_kind: str  # this, `name` and `tag` as of a `Run`
    is_large: bool  # whether it is more than a piece
    is_dense: bool  # whether few bytes make very many rows

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
            queries = dict.fromkeys(itertools.chain.from_iterable(part.queries for part in pieces))
            returned.update(seen.intersection(queries))
            seen.update(queries)
            done = done or functools.partial(work, self._assembled(pieces))
            if not self._problems and not self._repeats:
                yield done()
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

    def _is_due(self, held: int) -> bool:
        """Tell whether to look for documents given twice before all is read.

        They are looked for whenever twice as many pieces are held.
        """
        return self.is_dense and held & (held - 1) == 0

    def _look_early(self, held: list[Piece]) -> None:
        if self._is_due(len(held)):
            self._assembled(held)
            if self._repeats:
                self._raise_problems()

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
            if len(held) == 1:
                held = [held[0].compact()]
            held_done = None
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
        self.rows = 0
        self.tags = b"", b""  # of the first line and of the last one
        self._contradicting: dict[str, None] = {}
        self._fractional = True  # whether all ranks have a point, so far
        self._query = None  # the last one

    def add_piece(self, piece: Piece) -> None:
        """Take note of the next piece of a file."""
        if piece.queries:
            self.rows += piece.values.size
            self.tags = self.tags[0] or piece.tags[0], piece.tags[1] or self.tags[1]
            # The second row of a query that goes on is not that of the piece.
            goes_on = piece.queries[0] if piece.queries[0] == self._query else None
            doubtful = (query for query in piece.contradicting if query != goes_on)
            self._contradicting.update(dict.fromkeys(doubtful))
            self._fractional &= piece.fractional
            self._query = piece.queries[-1]

    def issue(self, path: str) -> None:
        """Warn of what is doubtful."""
        if self._fractional and self.rows:
            warn(f"run {path!r}: ranks are numbers with a point: are rank and score swapped?")
        elif self._contradicting:
            first, n = next(iter(self._contradicting)), len(self._contradicting)
            others = f" and {many(n - 1, 'other query')}" if n > 1 else ""
            problem = f"in query {first!r}{others} ranks and scores contradict each other"
            by_rank = keyword("order_by", "rank")
            warn(f"run {path!r}: {problem}; scores decide, or ranks with {by_rank}")
        if self.tags[0] != self.tags[1]:
            one, other = (tag.decode(errors="backslashreplace") for tag in self.tags)
            warn(f"run {path!r}: lines of several systems, {one!r} and {other!r}")


@dataclass(eq=False)
class _Part:
    """A file whose beginning has told its form."""

    file: Input
    form: LineForm
    lines: int  # in front of the next piece
    done: int  # bytes that have been read, of the files before it, too


Text = bytearray | InputError  # a piece of a file, or why it cannot be read on


class Reader(TableReader):
    """Reads files of judgments or rankings, one after the other; each has its own header, if any.

    A file whose header or JSON objects have unknown names is rejected here; reading it raises what
    is wrong with it, the first 20 problems by file and line.

    Args:
        first: the first of the files.
        paths: of all files.
        recognise: tells the form of a file by its beginning, and its header's bytes.
        progress: called with bytes read and bytes in all.
    """

    query_kind = "str"

    def __init__(
        self,
        first: Input,
        paths: Sequence[str],
        name: str,
        recognise: Callable[[bytearray], tuple[LineForm, int]],
        progress: Progress | None = None,
    ) -> None:
        super().__init__()
        self.name = name
        self._first, self._paths = first, paths
        self._recognise, self._progress = recognise, progress
        self._size = first.size
        if len(paths) > 1:
            self._size = sum(map(os.path.getsize, paths))
        self._made = 0  # bytes, unpacked
        self._by_bytes = is_ready() or self._size >= LARGE
        self._warnings = FileWarnings()  # complete once all was read
        texts = self._texts()
        begun = list(itertools.islice(texts, 2))
        self.is_large = len(begun) > 1
        self._once = itertools.chain((begun.pop(0) for _ in range(len(begun))), texts)

    @property
    def is_dense(self) -> bool:  # type: ignore[override]
        """Whether an archive makes very many bytes of few, as far as it has been read."""
        return self._first.is_dense

    @property
    def tag(self) -> str | None:
        """What the system called itself on the last line read."""
        return self._warnings.tags[1].decode(errors="backslashreplace") or None

    def warn(self) -> None:
        """Warn of what was doubtful, once all was read."""
        self._warnings.issue(self.name)

    def table(self) -> QueryTable:
        """Read all of it as columns."""
        table = self._gathered(piece for piece, _ in self._parsed(None))
        self._raise_problems()
        return table

    def _texts(self) -> Iterator[tuple[_Part, Text]]:
        """Yield pieces of all files, without headers."""
        before = 0
        for path in self._paths:
            is_first = path == self._first.path
            opened = nullcontext(self._first) if is_first else open_input(path, self._first.source)
            with opened as file:
                if file.is_parquet:  # the first of the files isn't
                    problem = "is Parquet among text files: a folder is of one form"
                    raise InputError(problem, source=file.source, path=path)
                yield from self._texts_of(file, before)
                before += file.size

    def _texts_of(self, file: Input, before: int) -> Iterator[tuple[_Part, Text]]:
        part, lines = None, 0
        for text in _with_its_error(file.pieces()):
            size = len(text) if isinstance(text, bytearray) else 0
            if part is None:
                begin = text if isinstance(text, bytearray) else bytearray()
                blank = not begin.strip(b" \t\n")  # sooner told than by `find_data`
                if size and (blank or find_data(begin, file.source) < 0):
                    lines += begin.count(b"\n")  # of nothing but blank lines and comments
                    continue
                try:
                    form, header = self._recognise(begin)
                except InputError as problem:
                    raise _placed(problem, file.path, lines) from None
                part = _Part(file, form, lines + begin.count(b"\n", 0, header), before)
                del begin[:header]
            self._made += size
            self._by_bytes |= self._made >= LARGE
            part.done = before + file.done
            yield part, text

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Outcome[Done] | None]]:
        """Parse pieces, some at once, and collect what is wrong with them.

        With `work` also yield what comes of it, called with the table of a piece alone.
        """
        parse = functools.partial(self._parse, work=work)
        for part, piece, done in map_items(parse, self._once):
            path = part.file.path
            if isinstance(piece, InputError):
                self._problems.append(_placed(piece, path, part.lines))
                continue
            self._problems += (_placed(problem, path, part.lines) for problem in piece.problems)
            self._warnings.add_piece(piece)
            part.lines += piece.lines
            if self._progress is not None:
                self._progress(part.done, self._size)
            if piece.values.size:
                yield piece, done
            if len(self._problems) >= LISTED_PROBLEMS:
                break

    def _parsed_again(self) -> Iterator[Piece]:
        for part, piece, _ in map_items(self._parse, self._texts()):
            if isinstance(piece, Piece):
                yield piece
            elif not self._problems:  # it could be read before
                raise _placed(piece, part.file.path)

    def _parse(
        self, text_of: tuple[_Part, Text], work: Work[Done] | None = None
    ) -> tuple[_Part, Piece | InputError, Outcome[Done] | None]:
        part, text = text_of
        if isinstance(text, InputError):
            return part, text, None
        piece = Piece.parse(text, part.form, part.file.path, by_bytes=self._by_bytes)
        if work is None:
            return part, piece.compact(), None
        # A piece of few queries is mostly cut within one: it is worked on when that is complete.
        if len(piece.queries) < FEW or piece.problems or piece.table.repeated >= 0:
            return part, piece, None
        return part, piece, attempt(work, piece.table)

    def _raise_problems(self) -> None:
        """Raise what was collected, with the lines of documents given twice."""
        if self._repeats:
            self._problems += itertools.islice(self._repeated_lines(), LISTED_PROBLEMS)
        places = {path: place for place, path in enumerate(self._paths)}
        self._problems.sort(key=lambda problem: (places[str(problem.path)], problem.line or 0))
        raise_problems(self._problems[:LISTED_PROBLEMS])
        if not self._warnings.rows:
            problem = "there are no data lines"
            raise InputError(problem, source=self._first.source, path=self.name)

    def _repeated_lines(self) -> Iterator[InputError]:
        """Say in which lines of which files documents stand that their queries have twice."""
        pairs = set(self._repeats)
        firsts: dict[tuple[str, str], tuple[str, int]] = {}
        for part, text in self._texts():
            if isinstance(text, InputError):
                if not self._problems:  # it could be read before
                    raise _placed(text, part.file.path)
                continue
            rows = ParsedLines(part.form, part.file.path)
            rows.read(enumerate(io.BytesIO(text), part.lines + 1))
            part.lines += text.count(b"\n")
            for pair, line in zip(rows.pairs(), rows.numbers, strict=True):
                place = part.file.path, line
                if pair in pairs and (first := firsts.setdefault(pair, place)) != place:
                    yield repeated(part.form, pair, place, first)


def _with_its_error(pieces: Iterator[bytearray]) -> Iterator[Text]:
    """Yield pieces and, after the last one, why the file cannot be read on, if so."""
    fault = None
    try:
        yield from pieces
    except InputError as problem:
        fault = problem.with_traceback(None)  # whose frames hold pieces
    if fault is not None:
        yield fault


def _placed(problem: InputError, path: str, lines: int = 0) -> InputError:
    """Count a problem's line from where the file begins, not from where its piece does."""
    return problem.with_fields(path=path, line=lines + (problem.line or 0) or None)


def read_lines(
    lines: Sequence[str | bytes], form: LineForm, *, whole: bool = False
) -> dict[str, dict[str, Any]]:
    """Return query to document to value of lines in memory; values are ints if they are `whole`.

    Raises:
        InputError: if a line has another form, a value is not whole, or a query has the same
            document twice.
    """
    if not lines:
        return {}
    text = _join(lines) if len(lines) >= MANY and is_ready() else None
    parsed = None if text is None else parse_bytes(text, form)
    if text is not None and parsed is not None:
        piece = Piece.from_bytes(text, parsed, form)
    else:
        rows = ParsedLines(form)
        rows.read(_numbered(lines))
        piece = Piece.from_lines(rows, len(lines))
    raise_by_line(list(piece.problems))
    if not piece.queries:
        raise InputError("there are no data lines", source=form.source)
    documents, numbers = piece.documents.tolist(), piece.values
    ends = [*piece.firsts[1:].tolist(), numbers.size]
    if whole and (odd := np.flatnonzero(numbers % 1 != 0)).size:
        row = int(odd[0])
        query = piece.queries[int(np.searchsorted(ends, row, side="right"))]
        problem = f"{form.value} {numbers[row]} is not a whole number"
        fields = {"query": query, "document": documents[row], "value": float(numbers[row])}
        raise InputError(problem, source=form.source, **fields)
    values = (numbers.astype(np.int64) if whole else numbers).tolist()
    table: dict[str, dict[str, Any]] = {}
    for query, first, end in zip(piece.queries, piece.firsts.tolist(), ends, strict=True):
        ranking = dict(zip(documents[first:end], values[first:end], strict=True))
        if table.setdefault(query, ranking) is not ranking:  # it comes back after another
            table[query].update(ranking)
    if sum(map(len, table.values())) < numbers.size:
        rows = ParsedLines(form)
        rows.read(_numbered(lines))
        raise_by_line(rows.repeats())
    return table


def _join(lines: Sequence[Any]) -> bytearray | None:
    """Return lines, all of one type, as one text; None if one of them is several, or not text."""
    try:
        if isinstance(lines[0], str):
            text = "".join(lines)
            if not text.isascii():
                return _join(list(map(str.encode, lines)))
            joined = text.encode()
        else:
            joined = b"".join(lines)
    except (TypeError, UnicodeEncodeError):
        return None
    ends = np.flatnonzero(np.frombuffer(joined, np.uint8) == kernels.NEWLINE) + 1
    if not ends.size:
        return _join([line + (b"\n" if isinstance(line, bytes) else "\n") for line in lines])
    starts = offsets_of(np.fromiter(map(len, lines), np.int64, len(lines)))
    if not joined.endswith(b"\n"):
        ends = np.append(ends, len(joined))
    return bytearray(joined) if np.array_equal(ends, starts[1:]) else None


def _numbered(lines: Sequence[str | bytes]) -> Iterator[tuple[int, bytes]]:
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str | bytes):
            raise InputError(f"{shown(line)} is not a line of text", line=number)
        yield number, line if isinstance(line, bytes) else line.encode(errors="surrogatepass")
