"""Results as the command line prints them: lines for programs, and a table for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from irbatch.errors import on_one_line
from irbatch.evaluation.results import Results
from irbatch.evaluation.systems import VALUE, list_values

AllResults = Mapping[str, Results]


def to_tsv(results: AllResults, names: str, per_query: bool) -> str:
    r"""Write ``run  query  measure  value``, one value a line; the mean's query is ``all``.

    Control characters of names, tabs and line ends among them, are written as ``\t``.
    """
    lines = ["\t".join(VALUE)]
    for record in list_values(results, names, per_query):
        lines.append("\t".join(map(on_one_line, record.values())))
    return "\n".join(lines) + "\n"


def to_table(
    results: AllResults, shown: Mapping[str, Any], names: str, per_query: bool, digits: int = 4
) -> str:
    """Write a table, `shown` as `irbatch.report.text.write_table` has it."""
    from irbatch.evaluation.systems import make_table
    from irbatch.report.text import write_table

    table = make_table(results, digits, names, False, per_query)
    return write_table(table, **shown) + "\n"
