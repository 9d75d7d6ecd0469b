"""Lines of judgments of subtopics: ``query subtopic document grade``."""

from __future__ import annotations

import os
from os import PathLike

from irbatch.errors import LISTED_PROBLEMS, InputError
from irbatch.formats.forms import QRELS
from irbatch.formats.lines import ParsedLines, raise_by_line, read_id
from irbatch.formats.streams import numbered_lines

Columns = tuple[list[str], list[str], list[str], list[float]]

SUBTOPIC_AT = 1  # where other judgments have a column that is ignored


class _SubtopicLines(ParsedLines):
    """Lines by all the rules of judgments, and their subtopics."""

    def __init__(self, path: str) -> None:
        super().__init__(QRELS, path)
        self.subtopics: list[str] = []

    def _add(self, number: int, line: bytes, columns: list[bytes]) -> None:
        super()._add(number, line, columns)
        self.subtopics.append(read_id(columns[SUBTOPIC_AT]))


def read_subtopic_lines(path: str | PathLike[str]) -> Columns:
    """Read queries, subtopics, documents and grades; InputError that names lines."""
    lines = _SubtopicLines(os.fspath(path))
    lines.read(numbered_lines(path, QRELS.source))
    raise_by_line([*lines.problems, *_repeats(lines)])
    if not lines.queries:
        raise InputError("there are no data lines", source=QRELS.source, path=lines.path)
    return lines.queries, lines.subtopics, lines.documents, lines.values


def _repeats(lines: _SubtopicLines) -> list[InputError]:
    """Find the first lines that judge a document once more for the same subtopic."""
    first: dict[tuple[str, str, str], int] = {}
    found = []
    triples = zip(lines.queries, lines.subtopics, lines.documents, strict=True)
    for triple, number in zip(triples, lines.numbers, strict=True):
        if first.setdefault(triple, number) != number:
            query, _, document = triple
            found.append(lines.repeated(query, document, number, first[triple]))
            if len(found) == LISTED_PROBLEMS:
                break
    return found
