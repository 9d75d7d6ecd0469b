"""The forms in which files hold judgments and runs, and how to tell them apart.

TREC's qrels and runs are told by having neither a header nor three columns. Three columns of a run
are MS MARCO's ``query document rank``; a header whose names are known, as in BEIR's
``query-id corpus-id score``, says itself what columns hold; and so do JSON objects, one a line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, cast

from irbatch.data.column_names import find_columns
from irbatch.errors import InputError, shown
from irbatch.runtime.numbers import LARGEST_WHOLE

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
    value_at: int
    value: str  # what it is called
    largest: float = float("inf")  # the largest absolute value that is exact
    rank_at: int = -1
    tag_at: int = -1
    tabs: bool = False  # whether only tabs separate; else spaces do, too, and there are comments
    keys: tuple[str, str, str] | None = None  # of JSON objects: of query, document and value

    @property
    def has_comments(self) -> bool:
        """Whether there may be comment lines."""
        return not self.tabs and self.keys is None

    @property
    def is_ranked(self) -> bool:
        """Whether the value is a rank, 1 the best."""
        return self.value == "rank"

    def by_rank(self) -> LineForm:
        """Return the form that reads the rank in place of the score."""
        if self.is_ranked:
            return self
        if self.rank_at < 0:
            problem = "order_by='rank' is for runs in the forms of TREC and MS MARCO"
            raise InputError(problem, source=self.source)
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


def recognise(text: bytes | bytearray, source: str, end: int | None = None) -> tuple[LineForm, int]:
    """Tell a file's form by its beginning, whole lines; and its header's bytes, 0 without one."""
    plain = QRELS if source == "qrels" else RUN
    end = len(text) if end is None else end
    start = find_data(text, source, end)
    if start < 0:
        return plain, 0
    stop = text.find(b"\n", start, end) + 1 or end
    line = bytes(text[start:stop]).strip()
    columns = line.split()
    if line.startswith(b"{") and (keys := _keys_of(line)):
        try:
            return _named(plain, keys, keys=True), 0
        except InputError:
            known = "known are 'query-id', 'corpus-id' and 'score', and others' names for these"
            roles = f"query, document and {plain.value}"
            problem = f"the keys {keys!r:.200} are none of {roles}; {known}"
            raise InputError(problem, source=source) from None
    names = [each.strip() for each in line.decode(errors="replace").split("\t")]
    if len(names) > 2:
        with suppress(InputError):  # no header, then
            return _named(plain, names), stop
    if source == "run" and len(columns) == MARCO_RUN.width and columns[2].isdigit():
        return MARCO_RUN, 0
    return plain, 0


def _named(plain: LineForm, names: Sequence[str], *, keys: bool = False) -> LineForm:
    """Return the form of a file that names its columns."""
    found = find_columns(names, plain.source, {})
    roles = ("query", "document", plain.value)
    query, document, value = (found[role] for role in roles)
    at = names.index(query), names.index(document), names.index(value)
    form = LineForm(plain.source, len(names), *at, plain.value, plain.largest)
    return replace(form, keys=(query, document, value)) if keys else replace(form, tabs=True)


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
    if form.tabs:
        return line.split(b"\t") if line.strip(b" \t") else []
    # bytes.split is fast, but also splits at vertical tab, form feed and CR.
    if b"\x0b" in line or b"\x0c" in line or b"\r" in line:
        line = line.strip(b" \t")
        return SPACES.split(line) if line else []
    return line.split()


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
    for key, place in zip(form.keys or (), places, strict=True):
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
