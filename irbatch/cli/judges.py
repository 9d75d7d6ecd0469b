"""Compare judgments of the same documents with the first ones, people's and models'.

That is by kappa, Krippendorff's alpha, grades against grades. With runs: the order of systems under
each judge, whom a judge is kinder to, and means of people's judgments of some queries and a model's
of all together.

example: irbatch judges people.qrels model.qrels --runs bm25.run dense.run
"""

from __future__ import annotations

import argparse

from irbatch.cli.inputs import name_runs
from irbatch.cli.options import add_measures
from irbatch.cli.writing import Output, add_output
from irbatch.comparing.judges import compare_judges
from irbatch.measures import parse_measures


def declare(parser: argparse.ArgumentParser) -> None:
    parser.usage = "irbatch judges QRELS QRELS [QRELS ...] [--runs RUN ...] [options]"
    add = parser.add_argument
    add("judges", metavar="QRELS", nargs="+", help="judgments, people's first; or NAME=QRELS")
    add("--runs", metavar="RUN", nargs="+", default=[], help="systems that were judged")
    add_measures(parser, "nDCG@10", names=False)
    text = "the grade from which documents are relevant (default: 1)"
    add("--rel", metavar="GRADE", type=float, default=1.0, help=text)
    text = "of intervals, and of significance (default: 0.05)"
    add("--level", metavar="P", type=float, default=0.05, help=text)
    add_output(parser, digits=None)


def run(options: argparse.Namespace) -> None:
    measures = parse_measures(options.measures or "nDCG@10")
    judges, runs = name_runs(options.judges, "qrels"), name_runs(options.runs)
    output = Output(options, {"qrels": judges.values(), "run": runs.values()})
    shape = {"rel": options.rel, "level": options.level}
    output.write(compare_judges(judges, runs or None, measures, **shape))
