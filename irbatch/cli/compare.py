"""Tell which differences between runs are more than chance.

All queries of the qrels count, of which those that a run lacks are 0 (--missing says otherwise):
means with intervals, differences, tests, corrected p-values.

example: irbatch compare qrels.txt old.run new.run -m nDCG@10 --baseline old
--fail-if 'nDCG@10 drops 1% p<0.05' (exit status 3 if so)
"""

from __future__ import annotations

import argparse
from dataclasses import fields, replace

from irbatch import compare
from irbatch.cli.inputs import name_runs, read_groups
from irbatch.cli.options import (
    SETTINGS,
    add_gate,
    add_measures,
    add_rows,
    add_settings,
    check_sort,
    judge,
    measures_of,
)
from irbatch.cli.writing import Output, add_output, add_paper, chosen
from irbatch.comparing import Comparison
from irbatch.comparing.rows import ComparisonOptions, ComparisonSettings, tell_queries
from irbatch.measures import measure
from irbatch.report import axes


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch compare QRELS RUN RUN [RUN ...] [-m MEASURE ...] [options]"
    add = parser.add_argument
    add("qrels", metavar="QRELS", help="lines of: query iter document grade")
    text = (
        "a run, or results that `irbatch eval -q -o FILE.json` saved; NAME=RUN says what to call it"
    )
    add("runs", metavar="RUN", nargs="+", help=text)
    text = "lines of: query group, or query,group in a .csv; tables are broken down by group"
    add("--groups", metavar="FILE", help=text)
    add_measures(parser)
    own = {row.name: row.metadata["option"] for row in fields(ComparisonSettings)}
    add_rows(parser.add_argument_group("tests and intervals"), own)
    add = add_output(
        parser,
        digits="means and differences",
        plot="draw differences on the first measure",
        sort=True,
    )
    add("--intervals", action="store_true", help="means with their intervals, in tables")
    text = "list every pair of systems (default: with a baseline); in LaTeX in place of means, "
    text += "and only if asked for"
    add("--pairs", action="store_true", default=None, help=text)
    text = "which difference so many queries show, and how many the one seen takes"
    add("--power", action="store_true", help=text)
    add_gate(
        parser,
        "'nDCG@10 drops 1%% p<0.05', p being corrected; 'in every group: AP worsens 5%%'; "
        "'nDCG@10 < 0.35'",
        "'nDCG@10 not worse than baseline by 1%%', 'nDCG@10 equivalent to baseline within 1%%', "
        "'nDCG@10 lower bound >= 0.35', 'missing queries <= 5'",
    )
    add_settings(parser)
    add_paper(parser)


def run(options: argparse.Namespace) -> int:
    measures = measures_of(options)
    runs = name_runs(options.runs)
    check_sort(options.sort, measures)
    output = Output(options, {"qrels": [options.qrels], "run": runs.values()})
    settings = chosen(options, (*ComparisonOptions.__annotations__, *SETTINGS))
    groups = None if options.groups is None else read_groups(options.groups)
    comparison = compare(options.qrels, runs, measures, groups=groups, **settings)
    # First: a report that cannot be written must not hide it.
    outcomes, status = judge(options, comparison)
    names = {str(parsed): parsed.spelled(options.names) for parsed in measures}
    if options.sort is not None:
        options.sort = names[str(measure(options.sort))]
    shown = _renamed(comparison, [names[name] for name in comparison.measures])
    output.write(shown, {"json": {"gates": outcomes}})
    if options.plot is not None:
        axes.save(shown.plot(), options.plot)
    output.add_notes(tell_queries(comparison))
    return status


def _renamed(comparison: Comparison, names: list[str]) -> Comparison:
    """Call the measures otherwise, in groups too."""
    groups = {group: _renamed(of_group, names) for group, of_group in comparison.groups.items()}
    return replace(comparison, measures=names, groups=groups)
