"""Printing results for programs, with every digit: TSV, CSV, JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from irbatch.errors import on_one_line
from irbatch.evaluation.results import Results

AllResults = Mapping[str, Results]
ALL = "all"  # what trec_eval calls the row of means
VALUE = ("run", "query", "measure", "value")


def print_tsv(results: AllResults, style: str, per_query: bool) -> None:
    r"""Print ``run  query  measure  value``, one value a line; the mean's query is ``all``.

    Control characters of names, tabs and line ends among them, are written as ``\t``.
    """
    print("\t".join(VALUE))
    for record in _values(results, style, per_query):
        print("\t".join(map(on_one_line, record.values())))


def print_csv(results: AllResults, style: str, per_query: bool) -> None:
    """Print the same, separated by commas."""
    from irbatch.report.records import write_csv  # here: most want neither this nor JSON

    print(write_csv(VALUE, _values(results, style, per_query), None), end="")


def print_json(results: AllResults, style: str, per_query: bool) -> None:
    """Print one object: run to signature, counts, means, and values per query if asked."""
    from dataclasses import asdict

    from irbatch.report.records import write_json

    everything: dict[str, Any] = {}
    for name, each in results.items():
        everything[name] = {
            "signature": each.signature,
            "counts": asdict(each.counts),
            "mean": each.mean(style),
        }
        if per_query:
            everything[name]["per_query"] = each.to_dict(style)
    print(write_json(everything, None), end="")


def _values(results: AllResults, style: str, per_query: bool) -> Iterator[dict[str, Any]]:
    """Yield run, query, measure and value, the value with every digit."""
    for run, each in results.items():
        rows = each.to_dict(style) if per_query else {}
        summed = dict(zip(each.mean(style), each.summed(), strict=True))
        for query, row in [*rows.items(), (ALL, each.mean(style))]:
            for name, value in row.items():
                count = summed[name]
                number: Any = int(value) if count and value.is_integer() else value
                yield dict(zip(VALUE, (run, str(query), name, number), strict=True))
