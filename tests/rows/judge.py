"""Whether an entrance does what a row wants of it."""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path

from irbatch import InputError, InputWarning
from rows.entrances import Entrance, FoundRefusalError
from rows.entrances_of_files import trec_names
from rows.problem import MEAN, Found, Problem, Refused, Row, Values, Wanted, demands

DIGITS = {"trec names": 4, "mrr": 5, "beir": 5}  # of entrances that round


@dataclass
class Outcome:
    """What came of a problem at an entrance."""

    found: Found | None = None
    refusal: InputError | FoundRefusalError | None = None
    warned: list[str] = field(default_factory=list)


def cannot(row: Row, entrance: Entrance) -> str:
    """Say why a row cannot be expressed at an entrance; "" if it can."""
    for each in (entrance.name, *sorted(entrance.traits)):
        if each in row.cannot:
            return row.cannot[each]
    if reason := entrance.reason_against(row.problem):
        return reason
    measures = row.problem.measures
    if "mrr" in entrance.traits and "RR" not in measures:
        return "it has the reciprocal rank alone"
    if "beir" in entrance.traits and not {"nDCG", "AP"} & set(map(str, measures)):
        return "it has four families of measures"
    if "trec names" in entrance.traits and not trec_names(row.problem):
        return "trec_eval has no such measure"
    return ""


def wanted_at(row: Row, entrance: Entrance) -> Wanted:
    """Return what is wanted of an entrance, where need be other than of most."""
    for each in (entrance.name, *sorted(entrance.traits)):
        if each in row.but:
            return row.but[each][0]
    if "expected" in entrance.traits and "ties" in demands(row.problem):
        raise LookupError(f"row {row.id} does not say what is expected over orders of ties")
    return row.wanted


def outcome(entrance: Entrance, problem: Problem) -> Outcome:
    """Take a problem in at an entrance."""
    came = Outcome()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)  # others are errors, or to be ignored
        try:
            came.found = entrance.call(problem, Path(folder))
        except (InputError, FoundRefusalError) as problem_found:
            came.refusal = problem_found
    came.warned = [str(each.message) for each in caught]
    return came


def complaint(row: Row, entrance: Entrance) -> str:
    """Say what is wrong with what comes of a row at an entrance; "" if nothing is."""
    wanted = wanted_at(row, entrance)
    came = outcome(entrance, row.problem)
    if isinstance(wanted, Refused):
        if came.refusal is None:
            return f"not refused, but {came.found}"
        return _of_refusal(wanted, came.refusal, entrance, row.problem)
    if came.refusal is not None:
        return f"refused: {came.refusal.args}"
    assert came.found is not None
    return _of_values(wanted, came, entrance, row.problem)


def _of_values(wanted: Values, came: Outcome, entrance: Entrance, problem: Problem) -> str:
    digits = next((DIGITS[each] for each in sorted(entrance.traits) if each in DIGITS), None)
    for measure, values in (came.found or {}).items():
        expected = wanted.of(problem.measures).get(measure)
        if expected is None:
            return f"{measure} is not asked for"
        if "means" in entrance.traits:
            expected = {MEAN: math.fsum(expected.values()) / len(expected)}
        near = values == expected
        if "expected" in entrance.traits and values.keys() == expected.keys():
            near = all(math.isclose(values[q], expected[q], rel_tol=1e-15) for q in values)
        if digits is not None and values.keys() == expected.keys():
            near = all(abs(values[q] - expected[q]) <= 0.5000001 / 10**digits for q in values)
        if not near:
            return f"{measure} is {values}, not {expected}"
    if not came.found:
        return "nothing was found"
    if bool(wanted.warns) != bool(came.warned) and "trec names" not in entrance.traits:
        return f"warned {came.warned}, not {wanted.warns!r}"
    if came.warned and not re.search(wanted.warns, came.warned[0]):
        return f"warned {came.warned}, not {wanted.warns!r}"
    return ""


def _of_refusal(
    wanted: Refused, found: InputError | FoundRefusalError, entrance: Entrance, problem: Problem
) -> str:
    text = str(found.args[1] if isinstance(found, FoundRefusalError) else found)
    if isinstance(found, FoundRefusalError) and (found.args[0], found.args[2]) != (2, ""):
        return f"status {found.args[0]}, and printed {found.args[2]!r}"
    if isinstance(found, FoundRefusalError) and not text.startswith("irbatch: error: "):
        return f"said {text!r}"
    if not re.search(wanted.says, text):
        return f"{text!r} does not say {wanted.says!r}"
    line = wanted.line
    if wanted.at is not None and (missing := _misplaced(wanted, found, text, entrance, problem)):
        return f"{text!r} {missing}"
    if line is not None and entrance.place == "line" and f"line {line}" not in text:
        return f"{text!r} does not name line {line}"
    return ""


def _misplaced(
    wanted: Refused,
    found: InputError | FoundRefusalError,
    text: str,
    entrance: Entrance,
    problem: Problem,
) -> str:
    """Say what a refusal doesn't name of the place."""
    assert wanted.at is not None
    triples = problem.judged if wanted.side == "qrels" else problem.ranked
    query, document, cell = triples[wanted.at]
    if entrance.place == "line":
        line = wanted.at + 1 + ("header" in entrance.traits)
        exact = isinstance(found, FoundRefusalError) or found.line == line
        return "" if exact and f"line {line}" in text else f"does not name line {line}"
    if not entrance.place:
        return ""
    fields = found.query, found.document
    if entrance.place == "row" and fields != (query, document):
        named = re.search(rf"\brows? (\d+ and )?{wanted.at}\b", text)
        return "" if named else f"does not name row {wanted.at}"
    if entrance.place == "query":
        # The place in a batch, where batches are of one query.
        names = {query, 0 if "batches" in entrance.traits else problem.queries().index(query)}
        named = found.query in names or any(f"query {n!r}" in text for n in names)
        return "" if named else f"does not name query {query!r}"
    if fields != (query, document):
        return f"is of {fields}, not of {(query, document)}"
    if found.source != wanted.side and "arguments" not in entrance.traits:
        return f"is of {found.source}, not of {wanted.side}"
    known = (repr(cell), repr(query), repr(document), "None")
    known += ("nan",) * (cell is None)  # as pandas keeps it
    if repr(found.value) not in known and "before" not in text:
        return f"has the value {found.value!r}"
    return ""
