"""A file of judgments or rankings, read from one end to the other.

A small file is read line by line into dictionaries. Of a large one each piece is parsed into
columns, several pieces at once. What is wrong is collected until there is enough to be said.
"""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Iterable, Iterator

from irbatch.data.query_table import QueryTable
from irbatch.errors import LISTED_PROBLEMS, ErrorsIn, InputError
from irbatch.formats.byte_parser import is_ready
from irbatch.formats.file_warnings import FileWarnings
from irbatch.formats.forms import recognise
from irbatch.formats.lines import Lookup, ParsedLines, raise_by_line
from irbatch.formats.pieces import Piece, assemble
from irbatch.formats.streams import Input
from irbatch.runtime.threads import map_items

# Bytes from which the byte parser is worth compiling, and from which it is worth using when its
# machine code is at hand. Reading lines in Python takes about 30 ns a byte
# (benchmarks/test_files.py).
LARGE = 24 << 20
LARGE_WHEN_READY = 128 << 10

LONGEST_QUERY = 256  # bytes of an id that are looked at to cut between queries
MOST_REPEATS = 1000  # documents given twice that are looked for once more, to name their lines

Progress = Callable[[int, int], object]  # done, and all there is
Text = bytearray | InputError  # a piece of a file, or why it cannot be read on


class Reader:
    """Reads a file of judgments or rankings, small or large; with `by_rank`, ranks for scores.

    A file whose header or JSON objects have unknown names is refused here; reading it raises what
    is wrong with it, the first 20 problems by line. `progress` is called with bytes read and all.
    """

    query_kind = "str"  # this and `name` as of a `Run`

    def __init__(
        self, file: Input, *, by_rank: bool = False, progress: Progress | None = None
    ) -> None:
        self.file, self._progress = file, progress
        self.name = file.path
        self._rest = _with_its_error(file.pieces())
        self._begun: list[Text] = []
        size, limit = 0, LARGE_WHEN_READY
        for piece in self._rest:
            self._begun.append(piece)
            size += len(piece) if isinstance(piece, bytearray) else 0
            if limit == LARGE_WHEN_READY <= size and not is_ready():
                limit = LARGE
            if size >= limit:
                break
        self.is_large = size >= limit  # then read a table, else a lookup
        first = self._begun[0] if self._begun else b""
        text = first if isinstance(first, bytearray) else b""
        with ErrorsIn(path=file.path):
            form, self._header = recognise(text, file.source)
            self.form = form.by_rank() if by_rank else form
        if self.form.query_at == 0 and self.form.keys is None:
            file.cut = self._query_start
        self._lines = text.count(b"\n", 0, self._header)
        self.warnings = FileWarnings()  # complete once all was read
        self._problems: list[InputError] = []
        self._repeats: list[tuple[str, str]] = []  # queries and documents

    @property
    def tag(self) -> str | None:
        """What the system called itself on the last line read."""
        return self.warnings.last_tag

    def lookup(self) -> Lookup:
        """Read a small file as query to document to value."""
        rows = ParsedLines(self.form, self.file.path)
        for piece in self._without_header(self._all()):
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
        table = self._assembled(list(self._parsed(self._all())))
        self._raise_problems()
        return table

    def tables(self) -> Iterator[QueryTable]:
        """Read a large file and yield the queries that are complete, some at a time.

        A query that returns after others comes once more, whole: the last time counts.
        """
        seen: set[str] = set()
        returned: set[str] = set()
        for pieces in self._complete(self._parsed(self._all(), alone=True)):
            table = self._assembled(pieces)
            returned.update(seen.intersection(table))
            seen.update(table)
            if not self._problems and not self._repeats:
                yield table
        if returned:
            again = self._parsed(_with_its_error(self.file.pieces()), again=True)
            table = self._assembled([each.only(returned) for each in again])
            if not self._problems and not self._repeats:
                yield table
        self._raise_problems()

    def _complete(self, pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
        """Yield pieces, or parts of them, that end where a query does."""
        held: list[Piece] = []  # whose last query may go on
        for piece in pieces:
            if not held:
                held = [piece]
            elif piece.queries[0] != held[-1].queries[-1]:  # as a rule: see `_query_start`
                yield held
                held = [piece]
            elif len(piece.queries) == 1:
                held.append(piece)
            else:
                head, tail = piece.split()
                yield [*held, head]
                held = [tail]
        if held:
            yield held

    def _query_start(self, piece: bytearray, end: int) -> int:
        """Return where the lines of the last query begin: its piece should have all of it.

        Lines of a query are taken to stand together. Where they don't, pieces are cut elsewhere;
        but never in their first half: what is left over must not grow from piece to piece.
        """
        high = piece.rfind(b"\n", 0, end - 1) + 1
        last = self._query_at(piece, high)
        low = 0
        while high - low > 1:  # the line that begins at `high` is the query's, that of `low` not
            middle = (low + high) // 2
            start = piece.rfind(b"\n", 0, middle) + 1
            if self._query_at(piece, start) == last:
                high = start
            else:
                low = middle
        return high if 2 * high >= end else end

    def _query_at(self, piece: bytearray, start: int) -> bytes:
        """Return the query of the line that begins somewhere."""
        begin = bytes(piece[start : start + LONGEST_QUERY])
        return begin.split(b"\t" if self.form.tabs else None, 1)[0] if begin.strip() else b""

    def _assembled(self, pieces: list[Piece]) -> QueryTable:
        table = pieces[0].table if len(pieces) == 1 else assemble(pieces)
        if table.repeated >= 0:
            self._repeats += table.repeats(MOST_REPEATS - len(self._repeats))
        return table

    def _parsed(
        self, texts: Iterable[Text], *, again: bool = False, alone: bool = False
    ) -> Iterator[Piece]:
        """Parse pieces, some at once; the first time, not `again`, collect what is wrong with them.

        Where each is needed `alone`, its table is made at the same time.
        """
        work = functools.partial(self._parse, alone=alone)
        for piece in map_items(work, self._without_header(texts)):
            if isinstance(piece, InputError):
                self._problems += () if again else (self._with_line(piece),)
                break
            if not again:
                self._problems += map(self._with_line, piece.problems)
                self.warnings.add_piece(piece)
                self._lines += piece.lines
                if self._progress is not None:
                    self._progress(self.file.done, self.file.size)
            if piece.values.size:
                yield piece
            if not again and len(self._problems) >= LISTED_PROBLEMS:
                break

    def _parse(self, text: Text, alone: bool) -> Piece | InputError:
        if isinstance(text, InputError):
            return text
        piece = Piece.parse(text, self.form, self.file.path)
        if alone and piece.queries:
            _ = piece.table  # is made here, and kept
        return piece

    def _with_line(self, problem: InputError) -> InputError:
        """Count a problem's line from where the file begins, not from where its piece does."""
        return problem.with_fields(line=self._lines + (problem.line or 0) or None)

    def _all(self) -> Iterator[Text]:
        """Yield what was read to know the file's form and size, and the rest."""
        while self._begun:
            yield self._begun.pop(0)
        yield from self._rest

    def _without_header(self, texts: Iterable[Text]) -> Iterator[Text]:
        for number, text in enumerate(texts):
            if number == 0 and isinstance(text, bytearray):
                del text[: self._header]
            yield text

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
        wanted = dict.fromkeys(self._repeats)
        firsts: dict[tuple[str, str], int] = {}
        number = found = 0
        for piece in self.file.pieces():
            rows = ParsedLines(self.form, self.file.path)
            rows.read(enumerate(io.BytesIO(piece), number + 1))
            number += piece.count(b"\n")
            for pair, line in zip(rows.pairs(), rows.numbers, strict=True):
                if pair in wanted and firsts.setdefault(pair, line) != line:
                    found += 1
                    yield rows.repeated(*pair, line, firsts[pair])
            if found >= LISTED_PROBLEMS:
                return


def _with_its_error(pieces: Iterator[bytearray]) -> Iterator[Text]:
    """Yield pieces and, after the last one, why the file cannot be read on, if so."""
    try:
        yield from pieces
    except InputError as problem:
        yield problem
