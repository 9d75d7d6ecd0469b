"""A file of judgments or rankings, read from one end to the other.

A small file is read line by line into dictionaries. Of a large one each piece is parsed into
columns, several pieces at once. What is wrong is collected until there is enough to be said.
"""

from __future__ import annotations

import functools
import io
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from irbatch.data.columns import QueryTable
from irbatch.errors import LISTED_PROBLEMS, ErrorsIn, InputError
from irbatch.formats.byte_kernels import Parsed
from irbatch.formats.byte_parser import is_ready
from irbatch.formats.file_warnings import FileWarnings
from irbatch.formats.forms import NOTHING, find_data, recognise
from irbatch.formats.lines import Lookup, ParsedLines, raise_by_line
from irbatch.formats.pieces import Piece
from irbatch.formats.streams import Input, cut_at_lines
from irbatch.formats.table_reader import Done, Outcome, TableReader, Work, attempt
from irbatch.runtime.progress import Progress
from irbatch.runtime.threads import map_items

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
