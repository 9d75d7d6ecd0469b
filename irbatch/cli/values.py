"""Printing results for programs, with every digit, one value a line."""

from __future__ import annotations

from collections.abc import Mapping

from irbatch.errors import on_one_line
from irbatch.evaluation.results import Results
from irbatch.evaluation.system_results import VALUE, list_values

AllResults = Mapping[str, Results]


def print_tsv(results: AllResults, names: str, per_query: bool) -> None:
    r"""Print ``run  query  measure  value``, one value a line; the mean's query is ``all``.

    Control characters of names, tabs and line ends among them, are written as ``\t``.
    """
    print("\t".join(VALUE))
    for record in list_values(results, names, per_query):
        print("\t".join(map(on_one_line, record.values())))
