"""The forms in which files hold judgments and runs, and how to tell them apart.

TREC's qrels and runs are told by having neither a header nor three columns. Three columns of a run
are MS MARCO's ``query document rank``; a header whose names are known, as in BEIR's
``query-id corpus-id score``, says itself what columns hold; and so do JSON objects, one a line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from irbatch.data.column_names import find_columns
from irbatch.errors import InputError
from irbatch.runtime.numbers import LARGEST_WHOLE

__all__ = ["MARCO_RUN", "QRELS", "RUN", "Form", "recognise"]


@dataclass(frozen=True)
class Form:
    """What a line holds.

    Args:
        source: what the file is, ``"qrels"`` or ``"run"``, for errors.
        width: number of columns.
        query_at, document_at, value_at: where they stand, from 0.
        rank_at, tag_at: where rank and tag stand; -1 for none.
        value: what the value is called.
        largest: the largest absolute value that is exact.
        tabs: whether only tabs separate; else spaces and tabs do, and there are comments.
        keys: of JSON objects, their keys of query, document and value.
    """

    source: str
    width: int
    query_at: int
    document_at: int
    value_at: int
    value: str
    largest: float = float("inf")
    rank_at: int = -1
    tag_at: int = -1
    tabs: bool = False
    keys: tuple[str, str, str] | None = None

    @property
    def has_comments(self) -> bool:
        """Whether there may be comment lines."""
        return not self.tabs and self.keys is None

    @property
    def is_ranked(self) -> bool:
        """Whether the value is a rank, 1 the best."""
        return self.value == "rank"

    def by_rank(self) -> Form:
        """Return the form that reads the rank in place of the score."""
        if self.rank_at < 0 and not self.is_ranked:
            raise InputError(
                "order_by='rank' is for runs in the forms of TREC and MS MARCO", source=self.source
            )
        return self if self.is_ranked else replace(
            self, value_at=self.rank_at, value="rank", largest=LARGEST_WHOLE, rank_at=-1
        )  # fmt: skip


QRELS = Form("qrels", 4, 0, 2, 3, "grade", LARGEST_WHOLE)
RUN = Form("run", 6, 0, 2, 4, "score", rank_at=3, tag_at=5)
MARCO_RUN = Form("run", 3, 0, 1, 2, "rank", LARGEST_WHOLE)


def recognise(text: bytes | bytearray, source: str) -> tuple[Form, int]:
    """Tell a file's form by its first line that is neither blank nor a comment.

    Args:
        text: its beginning, whole lines.
        source: ``"qrels"`` or ``"run"``.

    Returns:
        The form, and how many bytes a header takes, 0 without one.

    Raises:
        InputError: for a header or an object whose names are not known.
    """
    plain = QRELS if source == "qrels" else RUN
    start = 0
    while start < len(text):
        stop = text.find(b"\n", start) + 1 or len(text)
        line = bytes(text[start:stop]).strip()
        columns = line.split()
        if columns and (not columns[0].startswith(b"#") or len(columns) == plain.width):
            break
        start = stop
    else:
        return plain, 0
    if line.startswith(b"{") and (keys := _keys_of(line)):
        try:
            return _named(plain, keys, keys=True), 0
        except InputError:
            raise InputError(
                f"the keys {keys!r:.200} are none of query, document and {plain.value}; known are "
                "'query-id', 'corpus-id' and 'score', and others' names for these",
                source=source,
            ) from None
    names = [each.strip() for each in line.decode(errors="replace").split("\t")]
    if len(names) > 2:
        with suppress(InputError):  # no header, then
            return _named(plain, names), stop
    if source == "run" and len(columns) == MARCO_RUN.width and columns[2].isdigit():
        return MARCO_RUN, 0
    return plain, 0


def _named(plain: Form, names: Sequence[str], *, keys: bool = False) -> Form:
    """Return the form of a file that names its columns."""
    found = find_columns(names, plain.source, {})
    roles = ("query", "document", plain.value)
    at = [names.index(found[role]) for role in roles]
    return Form(
        plain.source, len(names), at[0], at[1], at[2], plain.value, plain.largest,
        tabs=not keys, keys=(names[at[0]], names[at[1]], names[at[2]]) if keys else None,
    )  # fmt: skip


def _keys_of(line: bytes) -> list[str]:
    """Return the keys of a JSON object; none when it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return []
    return list(found) if isinstance(found, dict) else []
