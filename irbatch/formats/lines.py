"""Lines of judgments and runs: the forms they have, reading one by all the rules, what is wrong.

TREC's qrels and runs are told by having neither a header nor three columns. Three columns of a run
are MS MARCO's ``query document rank``; a header of names between tabs or commas, as in BEIR's
``query-id corpus-id score``, says itself what columns hold; and so do JSON objects, one a line.

As in trec_eval, the columns ``iter``, ``Q0`` and ``rank`` are ignored (score decides the order),
and so are blank lines, words after a run's tag, and, as in its version 10, comment lines: those
whose first word is ``#``, or starts with it on a line that is not data.
"""

from __future__ import annotations

import itertools
import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from os import PathLike
from typing import Any, NamedTuple, cast

import numpy as np

from irbatch.array_types import Ints
from irbatch.data.column_names import VALUE, choose_columns, grade_of_all, rank_beside
from irbatch.data.columns import as_ids, compare_ranks
from irbatch.errors import (
    LISTED_PROBLEMS,
    LONGEST_ID,
    ErrorsIn,
    InputError,
    many,
    raise_problems,
    shown,
    warn,
)
from irbatch.formats.streams import BOM, LONGEST_LINE, numbered_lines
from irbatch.runtime.numbers import DECIMAL, LARGEST_WHOLE

NOTHING: Mapping[str, Any] = {}
NUMBER = re.compile(rf"{DECIMAL}|[+-]?inf(?:inity)?".encode(), re.I)
SPACES = re.compile(rb"[ \t]+")  # only these separate
# Blank lines, and comments of fewer words than any line of data has.
SKIPPED = re.compile(rb"(?:[ \t]*+(?:#\S*+(?:[ \t]++\S++){0,2}+[ \t]*+)?\r*+\n)*+")


class LineForm(NamedTuple):
    """What a line holds: where its columns stand, from 0; -1 for those it has not."""

    source: str  # "qrels" or "run", for errors
    width: int  # in columns
    query_at: int
    document_at: int
    value_at: int  # -1 for judgments of which all have the same grade
    value: str  # what it is called
    largest: float = float("inf")  # the largest absolute value that is exact
    rank_at: int = -1
    tag_at: int = -1
    # A tab or a comma that separates alone; else spaces and tabs do, and there are comments.
    separator: bytes = b""
    keys: tuple[str, ...] | None = None  # of JSON objects: of query, document and value
    grade: float = 1.0  # of judgments without one
    mark_at: int = -1  # of judgments that have one

    @property
    def has_comments(self) -> bool:
        """Whether there may be comment lines."""
        return not self.separator and self.keys is None

    @property
    def is_ranked(self) -> bool:
        """Whether the value is a rank, 1 the best."""
        return self.value == "rank"

    def by_rank(self) -> LineForm:
        """Return the form of runs that reads the rank in place of the score."""
        if self.is_ranked:
            return self
        at = self.rank_at
        return self._replace(value_at=at, value="rank", largest=LARGEST_WHOLE, rank_at=-1)


QRELS = LineForm("qrels", 4, 0, 2, 3, "grade", LARGEST_WHOLE)
RUN = LineForm("run", 6, 0, 2, 4, "score", rank_at=3, tag_at=5)
MARCO_RUN = LineForm("run", 3, 0, 1, 2, "rank", LARGEST_WHOLE)


def find_data(text: bytes | bytearray, source: str) -> int:
    """Return where the first line begins that is neither blank nor a comment; -1 if none does."""
    plain = QRELS if source == "qrels" else RUN
    start, end = 0, len(text)
    while (start := cast(re.Match[bytes], SKIPPED.match(text, start, end)).end()) < end:
        stop = text.find(b"\n", start, end) + 1 or end
        columns = split_line(bytes(text[start:stop]), plain)
        if columns and (columns[0][:1] != b"#" or len(columns) == plain.width):
            return start
        if columns and columns[0] != b"#" and _only_remarks(columns, plain):
            return start
        start = stop
    return -1


def recognise(
    text: bytes | bytearray,
    source: str,
    column_names: Mapping[str, Any] = NOTHING,
    *,
    by_rank: bool = False,
) -> tuple[LineForm, int]:
    """Tell a file's form by its beginning, whole lines; and its header's bytes, 0 without one.

    `column_names` has the names of columns that the caller knows, by role; `by_rank` reads ranks.
    """
    plain = QRELS if source == "qrels" else RUN
    start = find_data(text, source)
    if start < 0:
        return plain.by_rank() if by_rank else plain, 0
    stop = text.find(b"\n", start) + 1 or len(text)
    line = bytes(text[start:stop]).strip()
    with ErrorsIn(source=source, line=text.count(b"\n", 0, start) + 1):
        kind = "ranking" if by_rank else source
        form, has_header = _form_of(line, plain, kind, column_names)
        return form.by_rank() if by_rank else form, stop if has_header else 0


def _form_of(
    line: bytes, plain: LineForm, kind: str, column_names: Mapping[str, Any]
) -> tuple[LineForm, bool]:
    """Return the form of a file whose first line is this one, and whether that is a header."""
    source, columns = plain.source, line.split()
    keys: list[str] = []
    if line.startswith(b"{"):
        with suppress(InputError):
            keys = list(load_object(line, parse_int=str))  # of any length
    if keys:
        form = _form_by_names(source, kind, keys, column_names)
        places = form.query_at, form.document_at, form.value_at
        read = tuple(keys[place] for place in places if place >= 0)
        return form._replace(keys=read, rank_at=-1), False
    separator = b"\t" if b"\t" in line else b","
    cells: list[bytes] = []
    try:
        cells = _split(line, separator)
        names = [cell.decode(errors="replace").strip() for cell in cells]
        form = _form_by_names(source, kind, names, column_names)
        return form._replace(separator=separator), True
    except InputError:
        words = b" ".join(cells).split()
        are_words = not any(map(NUMBER.fullmatch, words)) and all(map(bytes.strip, cells))
        if len(cells) > 1 and are_words:
            raise
    if source == "run" and len(columns) == MARCO_RUN.width and columns[2].isdigit():
        return MARCO_RUN, False
    return plain, False


def _form_by_names(
    source: str, kind: str, names: Sequence[str], column_names: Mapping[str, Any]
) -> LineForm:
    chosen = choose_columns(names, kind, column_names)
    value = "rank" if "rank" in chosen else VALUE[source]
    roles = "query", "document", value
    query, document, last = (names.index(chosen[role]) if role in chosen else -1 for role in roles)
    largest = float("inf") if value == "score" else LARGEST_WHOLE
    rank = rank_beside(names, chosen)
    rank_at = -1 if rank is None else names.index(rank)
    form = LineForm(source, len(names), query, document, last, value, largest, rank_at)
    return form._replace(grade=grade_of_all(column_names))


def split_line(line: bytes, form: LineForm) -> list[bytes]:
    """Return the columns of a line, none of a blank one."""
    if form.keys:
        return _split_json(line, form)
    line = line.rstrip(b"\r\n")
    if form.separator:
        return _split(line, form.separator) if line.strip(b" \t") else []
    # bytes.split is fast, but also splits at vertical tab, form feed and CR.
    if b"\x0b" in line or b"\x0c" in line or b"\r" in line:
        line = line.strip(b" \t")
        return SPACES.split(line) if line else []
    return line.split()


def _split(line: bytes, separator: bytes) -> list[bytes]:
    """Split at tabs; or at commas, but for those between double quotes."""
    if separator != b"," or b'"' not in line:
        return line.split(separator)
    import csv  # here: few files quote

    try:
        (columns,) = csv.reader([line.decode("latin-1")], strict=True)
    except (csv.Error, ValueError) as problem:
        raise InputError(f"is not a line of CSV: {problem}") from None
    return [cell.encode("latin-1") for cell in columns]


def _split_json(line: bytes, form: LineForm) -> list[bytes]:
    """Bring a JSON object's values into the places of columns."""
    if not line.strip() or line.lstrip().startswith(b"#"):
        return []
    values = load_object(line, parse_float=str.encode, parse_constant=str.encode)
    columns = [b""] * form.width
    places = (form.query_at, form.document_at, form.value_at)
    for key, place in zip(form.keys or (), places, strict=False):
        if key not in values:
            raise InputError(f"there is no {key!r}")
        value = values[key]
        kinds = str | int | bytes if place == form.value_at else str | int
        if isinstance(value, bool) or not isinstance(value, kinds):
            text = value.decode() if isinstance(value, bytes) else shown(value)
            raise InputError(f"{key!r} is {text}, not text or a whole number")
        if not isinstance(value, bytes):
            value = str(value).encode(errors="surrogatepass")
        columns[place] = value
    return columns


def load_object(line: bytes, **hooks: Any) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        InputError: if it is not one.
    """
    import json  # here: it takes 2 ms to import

    try:
        value = json.loads(line, **hooks)
    except (ValueError, RecursionError) as problem:
        raise InputError(f"is not JSON: {getattr(problem, 'msg', problem)}") from None
    if not isinstance(value, dict):
        raise InputError(f"{shown(value)} is not a JSON object")
    return value


class ParsedLines:
    """What lines of some form hold, as columns."""

    def __init__(self, form: LineForm, path: str | None = None) -> None:
        self.form, self.path = form, path
        self.numbers: list[int] = []  # of the lines that are data
        self.queries: list[str] = []
        self.documents: list[str] = []
        self.values: list[float] = []  # ranks are negated
        self.marks: list[Any] = []  # see `Qrels`
        self.ranks: list[bytes] = []  # beside scores
        self.tag = b""  # of the last line
        self.problems: list[InputError] = []  # at most as many as are listed

    def read(self, lines: Iterable[tuple[int, bytes]]) -> None:
        """Read numbered lines; stop when there are as many problems as are listed."""
        for number, line in lines:
            columns: list[bytes] = []
            try:
                if len(line) > LONGEST_LINE:
                    raise InputError(f"longer than {LONGEST_LINE >> 20} MiB: this is not a line")
                columns = split_line(line, self.form)
                if columns and (columns[0] != b"#" or not self.form.has_comments):
                    self._add(number, columns)
            except InputError as problem:
                self._note(number, columns, problem)
                if len(self.problems) == LISTED_PROBLEMS:
                    return

    def _add(self, number: int, columns: list[bytes]) -> None:
        form = self.form
        if len(columns) != form.width and not _only_remarks(columns, form):
            line = _text(b" ".join(columns))[:80]
            problem = f"{many(len(columns), 'column')} where {form.width} are expected: {line!r}"
            raise InputError(problem)
        query, document = read_id(columns[form.query_at]), read_id(columns[form.document_at])
        try:
            value = read_number(columns[form.value_at], form) if form.value_at >= 0 else form.grade
            if form.mark_at >= 0:
                if (mark := _read_mark(columns, form)) is None:
                    return
                self.marks.append(mark)
        except InputError as problem:
            raise problem.with_fields(document=document) from None
        self.numbers.append(number)
        self.queries.append(query)
        self.documents.append(document)
        self.values.append(-value if form.is_ranked else value)
        if form.tag_at >= 0:
            self.tag = columns[form.tag_at]
        if form.rank_at >= 0:
            self.ranks.append(columns[form.rank_at])

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

    def warn_of_ranks(self, name: str) -> None:
        """Warn of ranks that contradict the scores of a run, or may be scores themselves."""
        ranks = [float(rank) if NUMBER.fullmatch(rank) else np.nan for rank in self.ranks]
        if any(rank % 1 > 0 for rank in ranks):
            warn(f"run {name!r}: ranks are numbers with a point: are rank and score swapped?")
            return
        columns = as_ids(self.queries, "query", "run"), np.array(ranks), np.array(self.values)
        compare_ranks(*columns, name)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """Return the query and the document of each line."""
        return zip(self.queries, self.documents, strict=True)

    def repeats(self, marks: Iterable[object] = itertools.repeat(None)) -> list[InputError]:
        """List the first lines that have a query's document once more, with the same mark."""
        firsts: dict[tuple[tuple[str, str], object], int] = {}
        problems: list[InputError] = []
        for pair, mark, line in zip(self.pairs(), marks, self.numbers, strict=False):
            if (first := firsts.setdefault((pair, mark), line)) != line:
                places = (self.path, line), (self.path, first)
                problems.append(repeated(self.form.source, pair, *places))
                if len(problems) == LISTED_PROBLEMS:
                    break
        return problems


Place = tuple[str | None, int]  # a file and a line of it


def repeated(
    source: str,
    pair: tuple[Any, Any],
    place: Place,
    first: Place,
    unit: str = "line",
    hint: str = "",
) -> InputError:
    """Say that a query's document was given twice, in lines or in rows."""
    where = f" of {first[0]!r}" if first[0] != place[0] else ""
    problem = f"this document was given before, in {unit} {first[1]}{where}{hint}"
    fields: dict[str, Any] = {"query": pair[0], "document": pair[1], "path": place[0]}
    if unit == "line":
        return InputError(problem, source=source, line=place[1], **fields)
    return InputError(f"{unit} {place[1]}: {problem}", source=source, **fields)


def read_number(raw: bytes, form: LineForm) -> float:
    """Read a grade, score or rank.

    Raises:
        InputError: if it is not one.
    """
    text = _text(raw)
    if not NUMBER.fullmatch(raw):
        raise InputError(f"{form.value} {shown(text)} is not a number", value=text)
    value = float(raw)
    if abs(value) == float("inf") and b"inf" not in raw.lower():
        raise InputError(f"{form.value} {text:.80} overflows float64", value=text)
    if abs(value) >= form.largest < float("inf"):
        from decimal import Decimal  # here: few files need it

        if Decimal(text).copy_abs() > form.largest:  # which float64 may have rounded to the largest
            problem = f"is beyond 2^53, where {form.value}s are no longer exact"
            raise InputError(f"{form.value} {text:.80} {problem}", value=text)
    if form.is_ranked and (value < 0 or value % 1):
        raise InputError(f"rank {text:.80} is not a whole number from 0", value=text)
    return value


def _only_remarks(columns: list[bytes], form: LineForm) -> bool:
    """Tell whether a run's extra words follow its tag, and do not come of a space in an id."""
    if form.tag_at < 0 or len(columns) <= form.width:
        return False
    if any(b"\r" in word or BOM in word for word in columns):  # the lines of two files are one
        return False
    # After a space in an id a word stands in the rank's place, or a number in the tag's.
    return bool(NUMBER.fullmatch(columns[3]) and not NUMBER.fullmatch(columns[form.tag_at]))


def read_id(raw: bytes) -> str:
    """Read an id.

    Raises:
        InputError: if it is empty, or not text.
    """
    if b"\x00" in raw:
        raise InputError(f"contains a NUL byte: this is not text: {shown(raw)}")
    if not raw:
        raise InputError("an id is empty")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"id {shown(raw, LONGEST_ID)} is not UTF-8 text", value=raw) from None


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")


SUBTOPICS = QRELS._replace(mark_at=1)
STRATA = LineForm("qrels", 5, 0, 2, 4, "grade", LARGEST_WHOLE, mark_at=3)
PROBABILITIES = LineForm("qrels", 5, 0, 1, 2, "grade", LARGEST_WHOLE, mark_at=4)
MARKED_FORMS = {"subtopics": SUBTOPICS, "strata": STRATA, "probabilities": PROBABILITIES}
METHOD_AT = 3
JUDGED_ANYWAY = (b"0", b"2")  # methods of choosing documents that statAP takes for certain
UNKNOWN = b"NA"  # in place of a probability: the document is not in the sample


def _read_mark(columns: list[bytes], form: LineForm) -> Any:
    """Read a subtopic, a stratum or a probability; None if the document is not in the sample."""
    raw = columns[form.mark_at]
    if form is not PROBABILITIES:
        return read_id(raw)
    if raw == UNKNOWN or columns[METHOD_AT] in JUDGED_ANYWAY:
        return None if raw == UNKNOWN else 1.0
    value = read_number(raw, form._replace(value="probability"))
    if not 0 < value <= 1:
        raise InputError(f"probability {value:g} is not above 0 and at most 1", value=value)
    return value


def read_marked_lines(path: str | PathLike[str], form: LineForm) -> tuple[list[Any], ...]:
    """Read queries, documents, grades and marks; InputError that names lines."""
    lines = ParsedLines(form, os.fspath(path))
    lines.read(numbered_lines(path, QRELS.source))
    # Of several subtopics a document may have one each.
    repeats = lines.repeats(lines.marks) if form is SUBTOPICS else lines.repeats()
    problems = sorted([*lines.problems, *repeats], key=lambda problem: problem.line or 0)
    raise_problems(problems[:LISTED_PROBLEMS])
    if not lines.queries:
        raise InputError("there are no data lines", source=QRELS.source, path=lines.path)
    return lines.queries, lines.documents, lines.values, lines.marks
