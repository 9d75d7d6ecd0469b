"""TREC's text formats: ``query iter document grade`` and ``query Q0 document rank score tag``.

As in trec_eval, the columns ``iter``, ``Q0`` and ``rank`` are ignored (score decides the order),
blank lines are skipped, and so are words after a run's tag and lines whose first word starts with
``#``, which trec_eval 10 reads as comments.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from os import PathLike

from irbatch.errors import LISTED_PROBLEMS, InputError, raise_problems
from irbatch.formats.streams import numbered_lines
from irbatch.qrels import Qrels
from irbatch.runs import Run

__all__ = ["read_qrels", "read_run"]

_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.I)
# Only space and tab separate; CR before the line's end belongs to the line's end.
_SPACES = re.compile(rb"[ \t]+")
# Bytes that mean the file is no text of lines.
_NUL = b"\x00"

Table = dict[str, dict[str, float]]


def read_qrels(path: str | PathLike[str]) -> Qrels:
    """Read judgments in TREC format: ``query iter document grade``.

    Args:
        path: a file, plain or compressed (gzip, bzip2, xz); ``-`` is standard input.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_qrels("examples/data/qrels.txt")  # doctest: +SKIP
    <Qrels 'examples/data/qrels.txt': 120 queries, 5731 judgments>
    """
    table = _read(path, "qrels", 4, lambda columns: (columns[0], columns[2], columns[3], "grade"))
    return Qrels(table, name=str(path))


def read_run(path: str | PathLike[str], name: str | None = None) -> Run:
    """Read a run in TREC format: ``query Q0 document rank score tag``.

    Args:
        path: a file, plain or compressed (gzip, bzip2, xz); ``-`` is standard input.
        name: what to call the run; default: its path.

    Raises:
        InputError: listing the first 20 problems by line; nothing is returned then.

    >>> read_run("examples/data/pca10.run", name="pca10")  # doctest: +SKIP
    <Run 'pca10': 116 queries>
    """
    table = _read(path, "run", 6, lambda columns: (columns[0], columns[2], columns[4], "score"))
    return Run(table, name=name or str(path))


def _read(
    path: str | PathLike[str],
    source: str,
    width: int,
    pick: Callable[[list[bytes]], tuple[bytes, bytes, bytes, str]],
) -> Table:
    table: Table = {}
    problems: list[InputError] = []
    for number, line in numbered_lines(path, source):
        columns = _columns(line)
        if not columns or columns[0].startswith(b"#"):
            continue
        try:
            query, document, value = _parse(columns, source, width, pick)
            documents = table.setdefault(query, {})
            if document in documents:
                raise InputError(
                    f"document {document!r} was given before", query=query, document=document
                )
            documents[document] = value
        except InputError as problem:
            problems.append(_placed(problem, source, str(path), number))
            if len(problems) == LISTED_PROBLEMS:
                break
    raise_problems(problems)
    if not table:
        raise InputError("there are no data lines", source=source, path=str(path))
    return table


def _columns(line: bytes) -> list[bytes]:
    # bytes.split is fast, but also splits at vertical tab, form feed and CR.
    if b"\x0b" in line or b"\x0c" in line or b"\r" in line[:-2]:
        line = line.rstrip(b"\r\n").strip(b" \t")
        return _SPACES.split(line) if line else []
    return line.split()


def _parse(
    columns: list[bytes],
    source: str,
    width: int,
    pick: Callable[[list[bytes]], tuple[bytes, bytes, bytes, str]],
) -> tuple[str, str, float]:
    if len(columns) < width or (len(columns) > width and not _only_remarks(columns, source)):
        hint = "; does an id contain a space?" if len(columns) > width else ""
        raise InputError(
            f"{len(columns)} columns where {width} are expected: "
            f"{_text(b' '.join(columns))[:80]!r}{hint}"
        )
    query, document, value, what = pick(columns)
    if _NUL in query or _NUL in document:
        raise InputError("contains a NUL byte: this is no text")
    return _id(query), _id(document), _number(value, what)


def _only_remarks(columns: list[bytes], source: str) -> bool:
    """Tell whether a run's extra words follow its tag, where trec_eval ignores them.

    Had an id brought them in by a space, a word would stand in the rank's place.
    """
    return source == "run" and bool(_NUMBER.fullmatch(columns[3]))


def _id(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InputError(f"id {raw!r} is not UTF-8 text", value=raw) from None


def _number(raw: bytes, what: str) -> float:
    text = _text(raw)
    if not _NUMBER.fullmatch(raw):
        comma = re.fullmatch(rb"[+-]?\d+,\d+", raw)
        hint = "; is it written with a decimal comma?" if comma else ""
        raise InputError(f"{what} {text!r} is not a number{hint}", value=text)
    value = float(raw)
    if value in (float("inf"), float("-inf")) and b"inf" not in raw.lower():
        raise InputError(f"{what} {text} overflows float64", value=text)
    return value


def _text(raw: bytes) -> str:
    return raw.decode(errors="backslashreplace")


def _placed(problem: InputError, source: str, path: str, line: int) -> InputError:
    return InputError(
        problem.message,
        source=source,
        path=path,
        line=line,
        query=problem.query,
        value=problem.value,
        document=problem.document,
    )
