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
from contextlib import nullcontext, suppress
from typing import Any, TypeVar

import numpy as np

from irbatch.array_types import Floats, Ints
from irbatch.data.columns import QueryTable
from irbatch.data.ids import NO_TEXTS, IdColumn, TextColumn, item_of, join_ids
from irbatch.data.lookup import first_rows
from irbatch.errors import LISTED_PROBLEMS, InputError, keyword, raise_problems, shown
from irbatch.formats.bytes import Parsed, parse_bytes
from irbatch.formats.lines import LineForm, ParsedLines, Place, find_data, repeated
from irbatch.formats.streams import Input, open_input
from irbatch.runtime.progress import Progress
from irbatch.runtime.ragged import joined_ranges, offsets_of
from irbatch.runtime.threads import cached_property, map_items

FEW = 3  # queries of a piece that is not worked on alone
HEAD = 1 << 9  # bytes of a run in which ranks are compared with scores: 10 lines or more
MOST_REPEATS = 1000  # documents given twice that are looked for once more, to name where


class Piece:
    """Columns, and what else was seen; `ParsedLines` says more of most fields.

    `queries` are of each group of consecutive rows with one query, `firsts`, ``(groups,)``, the
    first row of each; `problems` number lines from 1.
    """

    def __init__(
        self, queries: IdColumn, firsts: Ints, documents: IdColumn, values: Floats,
        *, lines: int = 0, tag: bytes = b"", problems: Sequence[InputError] = (),
    ) -> None:  # fmt: skip
        # Not a dataclass, as importing these takes 3 ms.
        self.queries, self.firsts, self.documents, self.values = queries, firsts, documents, values
        self.lines, self.tag, self.problems = lines, tag, problems

    @classmethod
    def parse(cls, text: bytearray, form: LineForm, path: str | None = None) -> Piece:
        """Parse whole lines: by the byte parser, where all is as it should be."""
        if (parsed := parse_bytes(text, form)) is not None:
            return cls.from_bytes(text, parsed, form)
        lines = ParsedLines(form, path)
        lines.read(enumerate(io.BytesIO(text), 1))
        firsts = lines.firsts()
        return cls(
            TextColumn.encode([lines.queries[row] for row in firsts]),
            firsts,
            TextColumn.encode(lines.documents),
            np.array(lines.values, np.float64),
            lines=text.count(b"\n"),
            tag=lines.tag,
            problems=lines.problems,
        )

    @classmethod
    def from_bytes(cls, text: bytearray, parsed: Parsed, form: LineForm) -> Piece:
        """Take what the byte parser found in a text."""
        groups, bytes_of = parsed.groups, np.frombuffer(text, np.uint8)
        sizes = (groups[:, 2] - groups[:, 1]).astype(np.int32)
        queries = TextColumn(bytes_of, groups[:, 1], sizes).copy()
        begin, end = parsed.tag.tolist()
        return cls(
            queries,
            groups[:, 0].copy(),
            TextColumn(bytes_of, parsed.starts, parsed.lengths),
            -parsed.values if form.is_ranked else parsed.values,
            lines=int(parsed.lines[0]),
            tag=bytes(text[begin:end]),
        )

    @classmethod
    def join(cls, pieces: Sequence[Piece]) -> Piece:
        """Put the rows of pieces one after the other; a query that goes on is one group."""
        if not pieces:
            return cls(NO_TEXTS, np.empty(0, np.int64), NO_TEXTS, np.empty(0))
        if len(pieces) == 1:
            return pieces[0]
        offsets = offsets_of([piece.values.size for piece in pieces]).tolist()
        firsts = [piece.firsts + at for piece, at in zip(pieces, offsets, strict=False)]
        queries = join_ids([piece.queries for piece in pieces])
        changes = first_rows(queries)
        return cls(
            queries.take(changes),
            np.concatenate(firsts)[changes],
            join_ids([piece.documents for piece in pieces]),
            np.concatenate([piece.values for piece in pieces]),
        )

    @cached_property
    def table(self) -> QueryTable:
        """A table of this piece alone, made by the thread that asks for it first."""
        return QueryTable.from_runs(self.queries, self.firsts, self.documents, self.values)

    def compact(self) -> Piece:
        """Return it in memory of its own, without the text around the ids."""
        columns = self.queries.copy(), self.firsts.copy(), self.documents.copy(), self.values.copy()
        return Piece(*columns, lines=self.lines, tag=self.tag, problems=self.problems)

    def of_groups(self, picks: Ints) -> Piece:
        """Return the rows of some groups, in memory of their own."""
        sizes = np.diff(self.firsts, append=self.values.size)[picks]
        rows = joined_ranges(self.firsts[picks], sizes)
        documents, queries = self.documents.take(rows).copy(), self.queries.take(picks).copy()
        return Piece(queries, offsets_of(sizes)[:-1], documents, self.values[rows])


Done = TypeVar("Done")
Work = Callable[[QueryTable], Done]  # returns something else than None


class TableReader:
    """Reads what may be too large to be held: subclasses say where pieces come from."""

    query_kind: str  # this, `name` and `tag` as of a `Run`
    tag: str | None = None  # what the system called itself, once all was read
    is_large: bool  # whether it is more than a piece
    unit = "line"  # what places are counted in
    may_repeat = False  # whether a query may have a document twice

    def __init__(
        self, name: str, source: str, paths: Sequence[str], progress: Progress | None
    ) -> None:
        self.name, self._source, self._paths, self._progress = name, source, paths, progress
        self._problems: list[InputError] = []
        self._repeats: list[tuple[Any, Any]] = []  # queries and documents

    def table(self) -> QueryTable:
        """Read all of it as columns."""
        table = self._gathered(self._parsed(None))
        self._raise_problems()
        return table

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
            queries = {query for piece in pieces for query in piece.queries.tolist()}
            returned |= seen & queries
            seen |= queries
            table = self._assembled(pieces) if done is None else pieces[0].table
            if not self._problems and not self._repeats:
                yield work(table) if done is None else done
            del pieces, table
        if returned:
            self._problems.clear()  # which are collected once more
            table = self._gathered(self._parsed(None), returned)
            if not self._problems and not self._repeats:
                yield work(table)
        self._raise_problems()

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Done | None]]:
        """Read pieces, some at once, collect what is wrong with them; and what comes of `work`.

        As often as it is called; without `work` pieces are to be kept.
        """
        raise NotImplementedError

    def _places(self, queries: set[Any]) -> Iterator[tuple[tuple[Any, Any], Place]]:
        """Yield the query and the document of rows, of some queries all, and where these stand."""
        raise NotImplementedError

    def _raise_problems(self) -> None:
        """Raise what was collected, and where the documents stand that were given twice."""
        if self._repeats:
            self._problems += itertools.islice(self._repeated(), LISTED_PROBLEMS)
        places = {path: place for place, path in enumerate(self._paths)}
        self._problems.sort(key=lambda problem: (places[str(problem.path)], problem.line or 0))
        raise_problems(self._problems[:LISTED_PROBLEMS])

    def _repeated(self) -> Iterator[InputError]:
        pairs = set(self._repeats)
        hint = f"; {keyword('repeats', 'max')}, or 'sum' or 'first', makes them one"
        hint = hint if self._source == "qrels" else ""
        firsts: dict[tuple[Any, Any], Place] = {}
        for pair, place in self._places({query for query, _ in pairs}):
            if pair in pairs and (first := firsts.setdefault(pair, place)) != place:
                yield repeated(self._source, pair, place, first, self.unit, hint)

    def _attempt(self, piece: Piece, work: Work[Done] | None) -> Done | None:
        """Return what comes of work on a piece; None if it is to be done when all is known.

        A piece of few queries is mostly cut within one.
        """
        few = len(piece.queries) < FEW
        if work is None or few or piece.problems or piece.table.repeated >= 0:
            return None
        with suppress(Exception):  # which is raised again then
            return work(piece.table)
        return None

    def _complete(
        self, pieces: Iterable[tuple[Piece, Done | None]]
    ) -> Iterator[tuple[list[Piece], Done | None]]:
        """Yield pieces, or parts of them, that end where a query does; and what came of them."""
        held: list[Piece] = []  # whose last query may go on
        held_done: Done | None = None
        for piece, done in pieces:
            if not held or item_of(piece.queries, 0) != item_of(held[-1].queries, -1):  # as a rule
                if held:
                    yield held, held_done
                held, held_done = [piece], done
                continue
            # A query goes on, which may be long: of its pieces nothing else is kept.
            if len(held) == 1:
                held = [held[0].compact()]
            held_done = None
            if (last := len(piece.queries) - 1) > 0:
                yield [*held, piece.of_groups(np.arange(last))], None
                held = [piece.of_groups(np.array([last]))]
            else:
                held.append(piece.compact())
        if held:
            yield held, held_done

    def _gathered(
        self, pieces: Iterable[tuple[Piece, object]], queries: set[Any] | None = None
    ) -> QueryTable:
        """Assemble all pieces, or what they have of some queries."""
        held: list[Piece] = []
        for piece, _ in pieces:
            if queries is not None:
                chosen = [query in queries for query in piece.queries.tolist()]
                piece = piece.of_groups(np.flatnonzero(chosen))
            held.append(piece)
        return self._assembled(held)

    def _assembled(self, pieces: list[Piece]) -> QueryTable:
        table = Piece.join(pieces).table
        if table.repeated >= 0 and not self.may_repeat:
            self._repeats += table.repeats(MOST_REPEATS - len(self._repeats))
        return table


class _Part:
    """A file whose beginning has told its form, and why it cannot be read on, if so.

    `lines` are in front of its next piece; `done` counts bytes of the files before it, too.
    """

    fault: InputError | None = None

    def __init__(self, file: Input, form: LineForm, lines: int, done: int) -> None:
        self.file, self.form, self.lines, self.done = file, form, lines, done


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
        super().__init__(name, first.source, paths, progress)
        self._first, self._recognise = first, recognise
        self._size = first.size if len(paths) == 1 else sum(map(os.path.getsize, paths))
        self._rows = 0
        self._head: ParsedLines | None = None  # the first lines
        self._parts: list[_Part] = []  # as far as files have been read
        texts = self._texts()
        begun = list(itertools.islice(texts, 2))
        self.is_large = len(begun) > 1
        first_two = (begun.pop(0) for _ in range(len(begun)))
        self._once: Iterator[tuple[_Part, bytearray]] = itertools.chain(first_two, texts)

    def warn(self) -> None:
        """Warn of what was doubtful, once all was read."""
        if self._head is not None:
            self._head.warn_of_ranks(self.name)

    def _texts(self) -> Iterator[tuple[_Part, bytearray]]:
        before = 0
        self._parts.clear()
        for path in self._paths:
            is_first = path == self._first.path
            opened = nullcontext(self._first) if is_first else open_input(path, self._first.source)
            with opened as file:
                yield from self._texts_of(file, before)
                before += file.size

    def _texts_of(self, file: Input, before: int) -> Iterator[tuple[_Part, bytearray]]:
        part, lines = None, 0
        try:
            for text in file.pieces():
                if part is None:
                    blank = not text.strip(b" \t\n")  # sooner told than by `find_data`
                    if blank or find_data(text, file.source) < 0:
                        lines += text.count(b"\n")  # of nothing but blank lines and comments
                        continue
                    form, header = self._recognise(text)
                    part = _Part(file, form, lines + text.count(b"\n", 0, header), before)
                    self._parts.append(part)
                    del text[:header]
                    if self._head is None and form.rank_at >= 0:
                        self._head = ParsedLines(form)
                        head = bytes(text[: text.rfind(b"\n", 0, HEAD) + 1])
                        self._head.read(enumerate(head.splitlines(), 1))
                part.done = before + file.done
                yield part, text
        except InputError as problem:
            if part is None:
                raise _placed(problem, file.path, lines) from None
            part.fault = problem.with_traceback(None)  # whose frames hold pieces

    def _parsed(self, work: Work[Done] | None) -> Iterator[tuple[Piece, Done | None]]:
        texts, self._once = self._once, self._texts()
        for part, piece, done in map_items(functools.partial(self._parse, work=work), texts):
            path = part.file.path
            self._problems += (_placed(problem, path, part.lines) for problem in piece.problems)
            self._rows += piece.values.size
            if piece.tag:
                self.tag = piece.tag.decode(errors="backslashreplace")
            part.lines += piece.lines
            if self._progress is not None:
                self._progress(part.done, self._size)
            if piece.values.size:
                yield piece, done
            if len(self._problems) >= LISTED_PROBLEMS:
                return
        for part in self._parts:
            if part.fault is not None:
                self._problems.append(_placed(part.fault, part.file.path, part.lines))

    def _parse(
        self, text_of: tuple[_Part, bytearray], work: Work[Done] | None
    ) -> tuple[_Part, Piece, Done | None]:
        part, text = text_of
        piece = Piece.parse(text, part.form, part.file.path)
        if work is None:
            piece = piece.compact()
        return part, piece, self._attempt(piece, work)

    def _raise_problems(self) -> None:
        super()._raise_problems()
        if not self._rows:
            problem = "there are no data lines"
            raise InputError(problem, source=self._source, path=self.name)

    def _places(self, queries: set[Any]) -> Iterator[tuple[tuple[str, str], Place]]:
        for part, text in self._texts():
            rows = ParsedLines(part.form)
            rows.read(enumerate(io.BytesIO(text), part.lines + 1))
            part.lines += text.count(b"\n")
            for pair, line in zip(rows.pairs(), rows.numbers, strict=True):
                yield pair, (part.file.path, line)


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
    text = _joined(lines)
    piece = Piece.parse(text, form)
    raise_problems(piece.problems)
    if not piece.values.size:
        raise InputError("there are no data lines", source=form.source)
    table = piece.table
    if table.repeated >= 0:
        rows = ParsedLines(form)
        rows.read(enumerate(io.BytesIO(text), 1))
        raise_problems(rows.repeats())
    documents, numbers = table.documents.tolist(), table.numbers
    if whole and (odd := np.flatnonzero(numbers % 1 != 0)).size:
        value, place = float(numbers[odd[0]]), table.where(int(odd[0]))
        problem = f"{form.value} {value} is not a whole number"
        raise InputError(problem, source=form.source, value=value, **place)
    values = (numbers.astype(np.int64) if whole else numbers).tolist()
    pairs = zip(documents, values, strict=True)
    sizes = zip(table, np.diff(table.starts).tolist(), strict=True)
    return {query: dict(itertools.islice(pairs, size)) for query, size in sizes}


def _joined(lines: Sequence[Any]) -> bytearray:
    """Return lines, whose ends may be missing, as one text."""
    if set(map(type, lines)) == {str}:
        joined = "".join(lines).encode(errors="surrogatepass")
        if joined.count(b"\n") == len(lines):
            return bytearray(joined)
    text = bytearray()
    for number, line in enumerate(lines, 1):
        if not isinstance(line, str | bytes):
            raise InputError(f"{shown(line)} is not a line of text", line=number)
        text += line.encode(errors="surrogatepass") if isinstance(line, str) else line
        text += b"" if text.endswith(b"\n") else b"\n"
    return text
