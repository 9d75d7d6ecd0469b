"""Lines of judgments that say something besides the grade: a subtopic, a stratum, a probability."""

from __future__ import annotations

import os
from dataclasses import dataclass
from os import PathLike
from typing import Any

from irbatch.errors import LISTED_PROBLEMS, InputError
from irbatch.formats.forms import QRELS, LineForm
from irbatch.formats.lines import ParsedLines, raise_by_line, read_id, read_number
from irbatch.formats.parts import is_file
from irbatch.formats.streams import numbered_lines
from irbatch.runtime.numbers import LARGEST_WHOLE

Columns = tuple[list[str], list[Any], list[str], list[float]]


@dataclass(frozen=True)
class MarkedForm:
    """What a line holds, and where the mark stands, from 0."""

    line: LineForm
    mark_at: int
    several: bool = False  # whether a document may have several marks


SUBTOPICS = MarkedForm(QRELS, 1, several=True)
STRATA = MarkedForm(LineForm("qrels", 5, 0, 2, 4, "grade", LARGEST_WHOLE), 3)
PROBABILITIES = MarkedForm(LineForm("qrels", 5, 0, 1, 2, "grade", LARGEST_WHOLE), 4)
PROBABILITY = LineForm("qrels", 5, 0, 1, 4, "probability")
METHOD_AT = 3
JUDGED_ANYWAY = (b"0", b"2")  # methods of choosing documents that statAP takes for certain
UNKNOWN = b"NA"  # in place of a probability: the document is no part of the sample


class _MarkedLines(ParsedLines):
    """Lines by all the rules of judgments, and their marks."""

    def __init__(self, form: MarkedForm, path: str) -> None:
        super().__init__(form.line, path)
        self.marked = form
        self.marks: list[Any] = []

    def _add(self, number: int, line: bytes, columns: list[bytes]) -> None:
        of_probability = self.marked is PROBABILITIES and len(columns) == self.form.width
        if of_probability and columns[self.marked.mark_at] == UNKNOWN:
            return
        super()._add(number, line, columns)
        raw = columns[self.marked.mark_at]
        if of_probability:
            certain = columns[METHOD_AT] in JUDGED_ANYWAY
            self.marks.append(1.0 if certain else self._probability(raw))
        else:
            self.marks.append(read_id(raw))

    def _probability(self, raw: bytes) -> float:
        try:
            value = read_number(raw, PROBABILITY)
            if not 0 < value <= 1:
                problem = f"probability {value:g} is not above 0 and at most 1"
                raise InputError(problem, value=value)
        except InputError as problem:
            raise problem.with_fields(document=self.documents[-1]) from None
        return value


def read_marked_lines(path: str | PathLike[str], form: MarkedForm) -> Columns:
    """Read queries, marks, documents and grades; InputError that names lines."""
    lines = _MarkedLines(form, os.fspath(path))
    lines.read(numbered_lines(path, QRELS.source))
    raise_by_line([*lines.problems, *_repeats(lines)])
    if not lines.queries:
        raise InputError("there are no data lines", source=QRELS.source, path=lines.path)
    return lines.queries, lines.marks, lines.documents, lines.values


def _repeats(lines: _MarkedLines) -> list[InputError]:
    """Find the first lines that judge a document once more, where marks tell no difference."""
    first: dict[tuple[str, str, object], int] = {}
    found = []
    marks = lines.marks if lines.marked.several else [None] * len(lines.marks)
    triples = zip(lines.queries, lines.documents, marks, strict=False)
    for triple, number in zip(triples, lines.numbers, strict=False):
        if first.setdefault(triple, number) != number:
            found.append(lines.repeated(triple[0], triple[1], number, first[triple]))
            if len(found) == LISTED_PROBLEMS:
                break
    return found


def told_of_subtopics(problem: InputError, path: object) -> InputError:
    """Return a file's problem; if its documents come again for other subtopics alone, say that."""
    first = problem.problems[0]
    if "given before" not in first.message or not is_file(path) or os.fspath(path) == "-":
        return problem
    try:
        read_marked_lines(path, SUBTOPICS)
    except (InputError, OSError):
        return problem
    asked = (
        "are these judgments of subtopics? Then give alpha_nDCG and the like, or the ad hoc ones"
    )
    said = f"{first.message}, with another second column: {asked}"
    return InputError(
        said, source=first.source, query=first.query, document=first.document, path=first.path,
        line=first.line,
    )  # fmt: skip
