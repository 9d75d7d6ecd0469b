"""The forms in which files hold judgments and runs, and how to tell them apart.

TREC's qrels and runs are told by having neither a header nor three columns. Three columns of a run
are MS MARCO's ``query document rank``; a header of names between tabs or commas, as in BEIR's
``query-id corpus-id score``, says itself what columns hold; and so do JSON objects, one a line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from irbatch.data.column_names import VALUE, choose_columns, grade_of_all
from irbatch.errors import ErrorsIn, InputError, shown
from irbatch.runtime.numbers import DECIMAL, LARGEST_WHOLE

NOTHING: Mapping[str, Any] = {}
TIMES = range(10**8, 1 << 31)  # in seconds, since 1973
NUMBER = re.compile(rf"{DECIMAL}|[+-]?inf(?:inity)?", re.I)
SPACES = re.compile(rb"[ \t]+")  # only these separate
# Blank lines, and comments of fewer words than any line of data has.
SKIPPED = re.compile(rb"(?:[ \t]*+(?:#\S*+(?:[ \t]++\S++){0,2}+[ \t]*+)?\r*+\n)*+")


@dataclass(frozen=True)
class LineForm:
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

    @property
    def has_comments(self) -> bool:
        """Whether there may be comment lines."""
        return not self.separator and self.keys is None

    @property
    def is_ranked(self) -> bool:
        """Whether the value is a rank, 1 the best."""
        return self.value == "rank"

    def by_rank(self) -> LineForm:
        """Return the form that reads the rank in place of the score."""
        if self.is_ranked:
            return self
        if self.rank_at < 0:
            raise InputError("order_by='rank' is for runs, which have ranks", source=self.source)
        at = self.rank_at
        return replace(self, value_at=at, value="rank", largest=LARGEST_WHOLE, rank_at=-1)


QRELS = LineForm("qrels", 4, 0, 2, 3, "grade", LARGEST_WHOLE)
RUN = LineForm("run", 6, 0, 2, 4, "score", rank_at=3, tag_at=5)
MARCO_RUN = LineForm("run", 3, 0, 1, 2, "rank", LARGEST_WHOLE)


def find_data(text: bytes | bytearray, source: str, end: int | None = None) -> int:
    """Return where the first line begins that is neither blank nor a comment; -1 if none does."""
    plain = QRELS if source == "qrels" else RUN
    start, end = 0, len(text) if end is None else end
    while (start := cast(re.Match[bytes], SKIPPED.match(text, start, end)).end()) < end:
        stop = text.find(b"\n", start, end) + 1 or end
        columns = split_line(bytes(text[start:stop]), plain)
        if columns and (columns[0][:1] != b"#" or len(columns) == plain.width):
            return start
        start = stop
    return -1


def recognise(
    text: bytes | bytearray,
    source: str,
    end: int | None = None,
    given: Mapping[str, Any] = NOTHING,
    *,
    by_rank: bool = False,
) -> tuple[LineForm, int]:
    """Tell a file's form by its beginning, whole lines; and its header's bytes, 0 without one.

    `given` has the names of columns that the caller knows, by role; `by_rank` reads ranks.
    """
    plain = QRELS if source == "qrels" else RUN
    end = len(text) if end is None else end
    start = find_data(text, source, end)
    if start < 0:
        return plain, 0
    stop = text.find(b"\n", start, end) + 1 or end
    line = bytes(text[start:stop]).strip()
    columns = line.split()
    kind = "ranking" if by_rank else source
    with ErrorsIn(source=source, line=text.count(b"\n", 0, start) + 1):
        if line.startswith(b"{") and (keys := _keys_of(line)):
            form, places = _named(source, kind, keys, given)
            return replace(form, keys=tuple(keys[place] for place in places if place >= 0)), 0
        separator = b"\t" if b"\t" in line else b","
        names: list[str] = []
        try:
            names = [each.decode(errors="replace").strip() for each in _split(line, separator)]
            return replace(_named(source, kind, names, given)[0], separator=separator), stop
        except InputError as problem:
            if _are_names(names):
                problem.message += (
                    "; this line was read as a header of names, as no number is in it"
                )
                raise
        if source == "qrels":
            _refuse_times(columns)
    if source == "run" and len(columns) == MARCO_RUN.width and columns[2].isdigit():
        return MARCO_RUN, 0
    return plain, 0


def _refuse_times(columns: list[bytes]) -> None:
    """Refuse MovieLens' u.data, which would be taken for judgments with times as grades."""
    if len(columns) != QRELS.width or not all(map(bytes.isdigit, columns)):
        return
    if columns[1] != b"0" and int(columns[3]) in TIMES:
        time = columns[3].decode()
        problem = (
            f"the grade {time} looks like a time, and the line like MovieLens' user, item, "
            'rating, time: put the line "user\\titem\\trating\\ttime", with tabs, above it'
        )
        raise InputError(problem, value=time)


def _named(
    source: str, kind: str, names: Sequence[str], given: Mapping[str, Any]
) -> tuple[LineForm, tuple[int, int, int]]:
    """Return the form of a file that names its columns, and where those are that it reads."""
    found = choose_columns(names, kind, given)
    value = "rank" if "rank" in found else VALUE[source]
    roles = "query", "document", value
    query, document, last = (names.index(found[each]) if each in found else -1 for each in roles)
    largest = float("inf") if value == "score" else LARGEST_WHOLE
    form = LineForm(source, len(names), query, document, last, value, largest)
    return replace(form, grade=grade_of_all(given)), (query, document, last)


def _are_names(columns: Sequence[str]) -> bool:
    """Tell whether columns, several, may be names: no word of them is a number."""
    words = [word for each in columns for word in each.split() or [each]]
    return len(columns) > 1 and not any(NUMBER.fullmatch(word) or not word for word in words)


def _keys_of(line: bytes) -> list[str]:
    """Return the keys of a JSON object; no keys if a line is not one."""
    try:
        found = _load_json(line)
    except (ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []


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
        raise InputError(f"is no line of CSV: {problem}") from None
    return [each.encode("latin-1") for each in columns]


def _split_json(line: bytes, form: LineForm) -> list[bytes]:
    """Bring a JSON object's values into the places of columns."""
    if not line.strip() or line.lstrip().startswith(b"#"):
        return []
    try:
        found = _load_json(
            line, parse_float=str.encode, parse_constant=str.encode, object_pairs_hook=_object
        )
    except (ValueError, RecursionError) as problem:
        raise InputError(f"is no JSON: {getattr(problem, 'msg', problem)}") from None
    columns = [b""] * form.width
    places = (form.query_at, form.document_at, form.value_at)
    for key, place in zip(form.keys or (), places, strict=False):
        if not isinstance(found, dict):
            raise InputError(f"{shown(found)} is no JSON object")
        if key not in found:
            raise InputError(f"there is no {key!r}")
        value = found[key]
        kinds = str | int | bytes if place == form.value_at else str | int
        if isinstance(value, bool) or not isinstance(value, kinds):
            given = value.decode() if isinstance(value, bytes) else shown(value)
            raise InputError(f"{key!r} is {given}, no text or whole number")
        text = value if isinstance(value, bytes) else str(value).encode(errors="surrogatepass")
        columns[place] = text
    return columns


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Make a dictionary of a JSON object, in which a number with a point is still text."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in an object twice")
    return found


def _load_json(line: bytes, **hooks: Any) -> Any:
    import json  # here: it takes 2 ms to import

    return json.loads(line, **hooks)
