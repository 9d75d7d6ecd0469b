"""Every row of the table at every entrance that can be given it, and generated problems."""

from __future__ import annotations

import math
import re
import tempfile
import warnings
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bad_input.entrances import ENTRANCES, CommandError, Entrance, InexpressibleError
from bad_input.problem import MEAN, Found, Problem, Rejected, Row, Values, reciprocal_ranks
from bad_input.table import BASE, GOOD, ROWS
from irbatch import InputError, InputWarning

Error = InputError | CommandError


def wanted_at(row: Row, name: str) -> Values | Rejected | None:
    """Return what an entrance is to make of a row; None if the row is not for it."""
    entrance = ENTRANCES[name]
    if row.about in entrance.lacks:
        return None
    for trait in (name, *sorted(entrance.traits)):
        if trait in row.but:
            return row.but[trait]
    compares = row.about == "scores" and isinstance(row.wanted, Values)
    if compares and row.problem.run_file is None:
        compared = {"compared": entrance.compared, "expected": entrance.expected}
        return Values(reciprocal_ranks(row.problem, **compared))
    return row.wanted


def complaint(problem: Problem, wanted: Values | Rejected, name: str) -> str | None:
    """Say what is wrong with what comes of a problem; "" if nothing is, None if it can't be given.

    A container that cannot hold it raises whatever its library does.
    """
    entrance = ENTRANCES[name]
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            sides = entrance.make(problem, Path(folder))
        except InputError:
            raise
        except Exception:
            return None
        try:
            found = entrance.take(*sides, problem)
        except InexpressibleError:
            return None
        except (InputError, CommandError) as error:
            return of_error(error, wanted, entrance, problem)
    if isinstance(wanted, Rejected):
        return f"not rejected, but {found}"
    return of_values(found, [str(each.message) for each in caught], wanted, entrance, problem)


def of_values(
    found: Found, warned: list[str], wanted: Values, entrance: Entrance, problem: Problem
) -> str:
    expected = wanted.of(problem.measures)
    if not found or not found.keys() <= expected.keys():
        return f"values of {list(found)}"
    within = 1e-15 if entrance.digits is None else 0.5000001 / 10**entrance.digits
    for measure, values in found.items():
        right = expected[measure]
        if "means" in entrance.traits:
            right = {MEAN: math.fsum(right.values()) / len(right)}
        if values.keys() != right.keys():
            return f"{measure} of {list(values)}, not of {list(right)}"
        if any(abs(values[query] - right[query]) > within for query in right):
            return f"{measure} is {values}, not {right}"
    quiet = "trec_eval" in entrance.traits
    if (not quiet and bool(wanted.warns) != bool(warned)) or (
        warned and not re.search(wanted.warns, warned[0])
    ):
        return f"warned {warned}, not {wanted.warns!r}"
    return ""


def of_error(error: Error, wanted: Values | Rejected, entrance: Entrance, problem: Problem) -> str:
    text = str(error)
    if isinstance(error, CommandError):
        status, text, printed = error.args
        if (status, printed) != (2, "") or not text.startswith("irbatch: error: "):
            return f"status {status}, said {text!r}, printed {printed!r}"
    if isinstance(wanted, Values):
        return f"rejected: {text}"
    if "terse" not in entrance.traits and not re.search(wanted.says, text):
        return f"{text!r} does not say {wanted.says!r}"
    if wanted.line is not None and f"line {wanted.line}" not in text:
        return f"{text!r} does not name line {wanted.line}"
    if wanted.at is not None and (missing := misplaced(error, text, wanted, entrance, problem)):
        return f"{text!r} {missing}"
    return ""


def misplaced(
    error: Error, text: str, wanted: Rejected, entrance: Entrance, problem: Problem
) -> str:
    """Say what an error doesn't tell of the place."""
    assert wanted.at is not None
    triples = problem.judged if wanted.side == "qrels" else problem.ranked
    query, document, cell = triples[wanted.at]
    if entrance.place == "line":
        line = wanted.at + 1 + ("header" in entrance.traits)
        exact = isinstance(error, CommandError) or error.line == line
        return "" if exact and f"line {line}" in text else f"does not name line {line}"
    assert isinstance(error, InputError)
    fields = error.query, error.document
    if entrance.place == "row" and fields != (query, document):
        told = re.search(rf"\brows? (\d+ and )?{wanted.at}\b", text)
        return "" if told else f"does not name row {wanted.at}"
    if entrance.place in ("query", "batch"):
        place = problem.queries().index(query) if entrance.place == "query" else 0
        named = {query, 0 if "update" in str(entrance.take) else place}
        told = error.query in named or any(f"query {each!r}" in text for each in named)
        return "" if told else f"does not name query {query!r}"
    if fields != (query, document):
        return f"is of {fields}, not of {(query, document)}"
    if error.source != wanted.side and "columns" not in entrance.traits:
        return f"is of {error.source}, not of {wanted.side}"
    values = {repr(cell), repr(query), repr(document), "None", *(["nan"] * (cell is None))}
    return "" if repr(error.value) in values or "before" in text else f"has {error.value!r}"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_row(row: Row) -> None:
    wanted = {name: wanted_at(row, name) for name in ENTRANCES}
    said = {name: complaint(row.problem, want, name) for name, want in wanted.items() if want}
    assert any(each == "" for each in said.values())
    assert not {name: each for name, each in said.items() if each}


def test_exceptions_are_of_entrances_that_there_are() -> None:
    known = {*ENTRANCES, *(trait for each in ENTRANCES.values() for trait in each.traits)}
    assert {name for row in ROWS for name in row.but} <= known
    assert len({row.what for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("name", ENTRANCES)
def test_every_entrance_can_be_given_what_is_good(name: str) -> None:
    """No container is made wrongly, which would leave its entrance out of every row."""
    problem = Problem(measures=("AP",)) if name == "BEIR" else BASE
    assert complaint(problem, GOOD, name) == ""


# ---------------------------------------------------------------- generated

NUMBERS = st.sampled_from([0.0, -0.0, 1, 2, 1 + 1e-9, 2**24, 2**24 + 1, -1, 0.5, 1e300, math.inf])
WORDS = st.sampled_from(["d1", "d2", "D1", "é", "e\u0301", "10", "9", "-", "#"])
RANKINGS = st.dictionaries(WORDS, NUMBERS, min_size=1)


@settings(max_examples=15)
@given(
    rankings=st.tuples(RANKINGS, RANKINGS),
    grades=st.lists(st.sampled_from([0, 0, 1, 2]), min_size=18, max_size=18),
)
def test_any_scores_and_ids(
    rankings: tuple[dict[str, float], dict[str, float]], grades: list[int]
) -> None:
    """All entrances break ties as they say, whatever scores and ids there are."""
    ranked = tuple((f"q{i}", d, x) for i, each in enumerate(rankings) for d, x in each.items())
    judged = tuple((q, d, grade) for (q, d, _), grade in zip(ranked, grades, strict=False))
    problem = Problem(judged, ranked)
    for name, entrance in ENTRANCES.items():
        if "scores" not in entrance.lacks and name != "BEIR" and not name.startswith("irbatch "):
            compared = {"compared": entrance.compared, "expected": entrance.expected}
            wanted = Values(reciprocal_ranks(problem, **compared))
            assert not complaint(problem, wanted, name), name
