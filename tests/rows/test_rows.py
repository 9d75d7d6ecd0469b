"""Bad and borderline input at every public entrance: every row of the table, every entrance."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rows.judge import cannot, complaint
from rows.problem import Row
from rows.table import ELSEWHERE, ENTRANCES, NOWHERE, ROWS, counts

TESTS = Path(__file__).parents[1]
Record = Callable[[str, object], None]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.id)
def test_row(row: Row, record_property: Record) -> None:
    given = [each for each in ENTRANCES if not cannot(row, each)]
    here = [each for each in given if not each.absent()]
    wrong = {each.name: said for each in here if (said := complaint(row, each))}
    assert not wrong
    counts = len(here), len(given) - len(here), len(ENTRANCES) - len(given)
    record_property("row", (row.number, *counts))


def test_every_row_is_there() -> None:
    """The numbers are those of the list of bad input that the table was made of: 1 to 140."""
    here = {row.number for row in ROWS}
    assert sorted([*here, *ELSEWHERE, *NOWHERE]) == list(range(1, 141))
    assert len({row.id for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize("number", ELSEWHERE)
def test_rows_that_other_tests_have(number: int) -> None:
    path, name = ELSEWHERE[number]
    assert f"def {name}(" in (TESTS / path).read_text()


def test_the_table_does_not_shrink() -> None:
    found = counts()
    assert found["entrances"] >= 55
    assert found["cells"] >= 4900


def test_exceptions_are_of_entrances_that_there_are() -> None:
    known = {name for each in ENTRANCES for name in (each.name, *each.traits)}
    for row in ROWS:
        assert {*row.but, *row.cannot} <= known, row.id
