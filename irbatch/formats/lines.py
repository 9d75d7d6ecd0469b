"""Reading lines by all the rules, and saying what is wrong with one.

As in trec_eval, the columns ``iter``, ``Q0`` and ``rank`` are ignored (score decides the order),
and so are blank lines, words after a run's tag, and, as in its version 10, comment lines: those
whose first word is ``#``, or starts with it on a line that is not data.
"""

from __future__ import annotations

import itertools
import operator
import re
from collections.abc import Iterable, Iterator

import numpy as np

from irbatch.array_types import Ints
from irbatch.errors import LISTED_PROBLEMS, LONGEST_ID, InputError, raise_problems, shown
from irbatch.formats.forms import QRELS, RUN, LineForm, split_line
from irbatch.formats.streams import LONGEST_LINE
from irbatch.runtime.numbers import DECIMAL

_NUMBER = re.compile(rf"{DECIMAL}|[+-]?inf(?:inity)?".encode(), re.I)

Lookup = dict[str, dict[str, float]]


class ParsedLines:
    """What lines of some form hold, as columns."""

    def __init__(self, form: LineForm, path: str | None = None) -> None:
        self.form, self.path = form, path
        self.numbers: list[int] = []  # of the lines that are data
        self.queries: list[str] = []
        self.documents: list[str] = []
        self.values: list[float] = []  # ranks are negated
        self.ranks: list[int] = []  # beside scores; -1 for those that are not whole numbers
        self.fractions = 0  # ranks with a point
        self.tags: dict[bytes, None] = {}  # of the first lines of queries
        self.last_tag = b""
        self.problems: list[InputError] = []  # at most as many as are listed

    def read(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Read numbered lines; stop when there are as many problems as are listed."""
        for number, line in lines:
            columns: list[bytes] = []
            try:
                if len(line) > LONGEST_LINE:
                    raise InputError(f"longer than {LONGEST_LINE >> 20} MiB: this is no line")
                columns = split_line(line, self.form)
                if columns and (columns[0] != b"#" or not self.form.has_comments):
                    self._add(number, line, columns)
            except InputError as problem:
                self._note(number, columns, problem)
                if len(self.problems) == LISTED_PROBLEMS:
                    return

    def _add(self, number: int, line: bytes, columns: list[bytes]) -> None:
        form = self.form
        if len(columns) != form.width and not _only_remarks(columns, form):
            truncated = self.path is not None and not line.endswith(b"\n")
            shown_line = _text(b" ".join(columns))[:80]
            counted, hint = explain_width(columns, form, truncated=truncated)
            raise InputError(f"{counted}: {shown_line!r}{hint}")
        query, document = read_id(columns[form.query_at]), read_id(columns[form.document_at])
        try:
            value = read_number(columns[form.value_at], form) if form.value_at >= 0 else form.grade
        except InputError as problem:
            raise problem.with_fields(document=document) from None
        self.numbers.append(number)
        self.queries.append(query)
        self.documents.append(document)
        self.values.append(-value if form.is_ranked else value)
        if form.tag_at >= 0:
            self.last_tag = columns[form.tag_at]
            if len(self.queries) == 1 or self.queries[-2] != query:
                self.tags[self.last_tag] = None
        if form.rank_at >= 0:
            rank = columns[form.rank_at]
            self.ranks.append(int(rank) if len(rank) < 18 and rank.isdigit() else -1)
            self.fractions += b"." in rank

    def _note(self, number: int, columns: list[bytes], problem: InputError) -> None:
        """Keep a problem, unless its line is a comment."""
        if self.form.has_comments and columns and columns[0].startswith(b"#"):
            return
        at = self.form.query_at
        query = _text(columns[at]) if len(columns) > at else None
        place = {"source": self.form.source, "path": self.path, "line": number}
        self.problems.append(problem.with_fields(**place, query=query))

    def firsts(self) -> Ints:
        """Return the rows, int64 ``(groups,)``, that have another query than the one before."""
        others = map(operator.ne, self.queries[1:], self.queries)
        changes = itertools.chain((True,), others) if self.queries else ()
        return np.flatnonzero(np.fromiter(changes, bool, len(self.queries)))

    def contradicting(self) -> list[str]:
        """Return queries in which a line has a lower rank than the one before and scores higher.

        Of a query's first two lines the other way round counts, too: all ranks may be reversed.
        """
        return [self.queries[row] for row in self._contradicting_rows()]

    def reversed(self) -> bool:
        """Tell whether the first query is `contradicting` by its first two lines alone."""
        rows = self._contradicting_rows()
        only = [row for row in rows if self.queries[row] == self.queries[0]]
        return only == [1] and self.values[1] < self.values[0]

    def _contradicting_rows(self) -> list[int]:
        if not self.ranks:
            return []
        ranks, values = np.array(self.ranks), np.array(self.values)
        known = (ranks[:-1] >= 0) & (ranks[1:] >= 0)
        wrong = known & (ranks[1:] > ranks[:-1]) & (values[1:] > values[:-1])
        firsts = self.firsts()
        seconds = firsts[firsts < wrong.size]
        wrong[seconds] |= (known & (ranks[1:] < ranks[:-1]) & (values[1:] < values[:-1]))[seconds]
        wrong[firsts[1:] - 1] = False
        return (np.flatnonzero(wrong) + 1).tolist()

    @property
    def fractional(self) -> bool:
        """Whether all ranks are numbers with a point."""
        return bool(self.ranks) and self.fractions == len(self.ranks)

    def lookup(self) -> Lookup:
        """Return query to document to value; or raise the first 20 problems, repeats among them."""
        table: Lookup = {}
        repeats: list[InputError] = []
        for pair, line, value in zip(self.pairs(), self.numbers, self.values, strict=True):
            query, document = pair
            documents = table.setdefault(query, {})
            if document in documents:
                lines = zip(self.pairs(), self.numbers, strict=True)
                first = next(number for each, number in lines if each == pair)
                repeats.append(self.repeated(query, document, line, first))
                if len(repeats) == LISTED_PROBLEMS:
                    break
            documents[document] = value
        raise_by_line([*self.problems, *repeats])
        if not table:
            raise InputError("there are no data lines", source=self.form.source, path=self.path)
        return table

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return the query and the document of each line."""
        return zip(self.queries, self.documents, strict=True)

    def repeated(self, query: str, document: str, line: int, first: int) -> InputError:
        """Say that a document was given in two lines."""
        problem = f"this document was given before, in line {first}"
        error = InputError(problem, source=self.form.source, path=self.path, line=line)
        return error.with_fields(query=query, document=document)


def raise_by_line(problems: list[InputError]) -> None:
    """Raise the first problems of a file."""
    raise_problems(sorted(problems, key=lambda each: each.line or 0)[:LISTED_PROBLEMS])


def parse_table(
    lines: Iterable[tuple[int, bytes]], form: LineForm, path: str | None = None
) -> Lookup:
    """Read numbered lines as query to document to value; see `ParsedLines.lookup`."""
    rows = ParsedLines(form, path)
    rows.read(lines)
    return rows.lookup()


def read_number(raw: bytes, form: LineForm) -> float:
    """Read a grade, score or rank, or refuse it."""
    text = _text(raw)
    if not _NUMBER.fullmatch(raw):
        comma = re.fullmatch(rb"[+-]?\d+,\d+", raw)
        hint = "; is it written with a decimal comma?" if comma else ""
        raise InputError(f"{form.value} {shown(text)} is not a number{hint}", value=text)
    value = float(raw)
    if abs(value) == float("inf") and b"inf" not in raw.lower():
        raise InputError(f"{form.value} {text:.80} overflows float64", value=text)
    if abs(value) > form.largest or (abs(value) == form.largest and not _is_largest(text, form)):
        problem = f"{form.value} {text:.80} is beyond 2^53, where {form.value}s are no longer exact"
        raise InputError(problem, value=text)
    if form.is_ranked and (value < 0 or value % 1):
        raise InputError(f"rank {text:.80} is not a whole number from 0", value=text)
    return value


def _is_largest(text: str, form: LineForm) -> bool:
    """Tell whether a number that float64 rounds to the largest is that: 2^53 + 1 isn't."""
    from decimal import Decimal  # here: few files need it

    return form.largest == float("inf") or Decimal(text).copy_abs() <= form.largest


def _only_remarks(columns: list[bytes], form: LineForm) -> bool:
    """Tell whether a run's extra words follow its tag, where trec_eval ignores them.

    Had an id brought them in by a space, a word would stand in the rank's place, or a number in
    the tag's.
    """
    if form.tag_at < 0 or len(columns) <= form.width or any(b"\r" in each for each in columns):
        return False
    return bool(_NUMBER.fullmatch(columns[3]) and not _NUMBER.fullmatch(columns[form.tag_at]))


def explain_width(
    columns: list[bytes], form: LineForm, *, truncated: bool = False
) -> tuple[str, str]:
    """Say that a line has another number of columns, and what that may come from."""
    other = QRELS if form.source == "run" else RUN
    if any(b"\r" in each for each in columns):
        hint = "; are its line ends those of old Macs, CR alone?"
    elif len(columns) == other.width and not form.separator:
        hint = f"; is this a {other.source} file?"
    elif len(columns) > form.width:
        hint = "; does an id contain a space?"
    elif len(columns) == 1 and (other_sign := _separator(columns[0])):
        expected = {b"": "spaces or tabs", b"\t": "tabs", b",": "commas"}[form.separator]
        hint = f"; {other_sign} separate here, where {expected} are expected"
        if not form.separator and other_sign == "commas":
            hint += ", or a header that names the columns: query_id,doc_id,score"
    elif len(columns) == 3 and not form.separator:
        hint = "; three columns need a header with tabs or commas: query-id, corpus-id, score"
    else:
        hint = ""
    if truncated and len(columns) < form.width:
        hint += f"; {'or ' * bool(hint)}is the file truncated? This line has no end"
    found = f"{len(columns)} column{'s' * (len(columns) != 1)}"
    return f"{found} where {form.width} are expected", hint


def _separator(line: bytes) -> str | None:
    """Name what seems to separate the columns of a line that has one only."""
    signs = {"tabs": b"\t", "commas": b",", "semicolons": b";", "bars": b"|", "colons": b"::"}
    return next((name for name, sign in signs.items() if sign in line), None)


def read_id(raw: bytes) -> str:
    """Read an id, or refuse it."""
    if b"\x00" in raw:
        raise InputError(f"contains a NUL byte: this is no text: {shown(raw)}")
    if not raw:
        raise InputError("an id is empty")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"id {shown(raw, LONGEST_ID)} is not UTF-8 text", value=raw) from None


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")
