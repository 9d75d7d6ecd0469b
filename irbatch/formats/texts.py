"""Texts of queries and documents, from files: lines of ``id<TAB>text``, or JSON objects.

Collections are large and few of their texts are wanted: a file is read line by line, and of each
text that is wanted the beginning is kept.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from os import PathLike, fspath
from typing import Any

from irbatch.errors import LISTED_PROBLEMS, InputError, raise_problems, shown

LONGEST_TEXT = 1000  # characters of a text that are kept
ID_KEYS = ("_id", "id", "docid", "doc_id", "docno", "qid", "query_id", "query-id")
TEXT_KEYS = ("text", "contents", "body")


def read_texts(path: str | PathLike[str], ids: Collection[str], source: str) -> dict[str, str]:
    """Return the texts that a file has of some ids.

    Args:
        path: lines of ``id<TAB>text``, or of JSON as BEIR's ``{"_id": …, "title": …, "text": …}``;
            plain or compressed, ``-`` is standard input.
        ids: whose texts to return; others' are passed over, but not their mistakes.
        source: what errors call the file.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.
    """
    from irbatch.formats.streams import numbered_lines

    texts: dict[str, str] = {}
    problems: list[InputError] = []
    read = None
    for number, line in numbered_lines(path, source):
        if not line.strip():
            continue
        read = read or (_of_object if line.lstrip().startswith(b"{") else _of_columns)
        try:
            name, text = read(line, ids)
            if text is not None:
                if name in texts:
                    raise InputError(f"the text of {shown(name)} was given before")
                texts[name] = text
        except InputError as problem:
            problems.append(problem.with_fields(source=source, path=fspath(path), line=number))
            if len(problems) == LISTED_PROBLEMS:
                break
    raise_problems(problems)
    return texts


def _of_columns(line: bytes, ids: Collection[str]) -> tuple[str, str | None]:
    try:
        name, tab, text = line.decode().rstrip("\r\n").partition("\t")
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text") from None
    if not tab or not name:
        raise InputError(f"a line is of an id, a tab and a text, not {shown(name)}")
    return name, shorten_text(text) if name in ids else None


def _of_object(line: bytes, ids: Collection[str]) -> tuple[str, str | None]:
    from irbatch.formats.lines import load_object

    record = load_object(line)
    name = next((record[key] for key in ID_KEYS if key in record), None)
    if isinstance(name, bool) or not isinstance(name, str | int):
        raise InputError(f"an object has '_id' and 'text', not {shown(list(record))}")
    text = join_text(record)
    return str(name), text if str(name) in ids else None


def join_text(fields: Mapping[str, Any]) -> str:
    """Return a document's title, if it has one, and its text.

    Raises:
        InputError: if there is no text, or it is something else.
    """
    text: Any = next((fields[key] for key in TEXT_KEYS if key in fields), None)
    title: Any = fields.get("title") or ""
    for key, value in (("text", text), ("title", title)):
        if not isinstance(value, str):
            raise InputError(f"{key!r} is {shown(value)}, not text")
    return shorten_text(f"{title}: {text}" if title.strip() else text)


def shorten_text(text: str) -> str:
    """Return the beginning of a text, on one line."""
    return " ".join(text[: 2 * LONGEST_TEXT].split())[:LONGEST_TEXT]
